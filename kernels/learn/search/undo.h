// Levels: decisions and backtracking.
#pragma once

#include "../../core/assert.h"
#include "../../core/interval.h"
#include "../propagators/advance.h"
#include "decide.h"
#include "../state/heap.h"
#include "../state/literal.h"
#include "../state/parts.h"
#include "../state/sides.h"
#include "../state/trail.h"
#include "../propagators/wake.h"

// Backtracks to the level. The value of a fixed variable becomes its phase (phase saving: Pipatsrisawat, Darwiche, SAT
// 2007), unless it was only tried.
OUTLINE void backtrack(Learner& l, i32 level, bool saves_phases = true) {
  Trail& t = trail(l);
  if (t.level <= level) return;
  ASSERT(level >= 0);
  Mark mark = t.marks[level];
  ASSERT(mark.trail_size <= t.size && t.entries[mark.trail_size].level == level + 1);
  for (i32 i = t.size - 1; i >= mark.trail_size; --i) {
    const Entry& e = t.entries[i];
    i32 var = var_of(e.side);
    ASSERT(t.last[e.side] == i && sides(l).now[e.side] == e.now && e.level > level);
    if (saves_phases && is_fixed(l, var)) guidance(l).phase[var] = sides(l).now[lower_side(var)];
    insert(l, var);
    sides(l).now[e.side] = e.was;
    t.last[e.side] = e.previous;
  }
  t.size = t.head = mark.trail_size;
  guidance(l).strategy = mark.strategy;
  guidance(l).position = mark.position;
  t.level = level;
  if (level < progress(l).suspended) progress(l).suspended = NO_LEVEL;
  else queue_all_rows(l);
}

DEVICE bool has_room_to_suppose(const Learner& l) {
  const Trail& t = trail(l);
  return t.size < t.capacity && t.level < t.level_capacity;
}

// Opens a level with the decision `a`. The caller has checked that there is room.
DEVICE void suppose(Learner& l, Literal a) {
  Trail& t = trail(l);
  ASSERT(!is_false(l, a) && t.level < t.level_capacity);
  Mark mark = {t.size, guidance(l).strategy, guidance(l).position};
  t.marks[t.level++] = mark;
  t.peak_level = maximum(t.peak_level, t.level);
  append(l, a.side, a.k, DECISION);
  ++statistics(block(l)).nodes;
}
