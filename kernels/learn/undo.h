// Levels: what is supposed on a new one, and how it is taken back.
#pragma once

#include "advance.h"
#include "heap.h"

// Takes back all above the level. A fixed variable remembers its value (phase saving: Pipatsrisawat, Darwiche, SAT
// 2007).
OUTLINE void backtrack(Learner& l, i32 level) {
  if (l.level <= level) return;
  Mark mark = l.marks[level];
  for (i32 i = l.trail_size - 1; i >= mark.trail_size; --i) {
    const Entry& e = l.trail[i];
    i32 var = var_of(e.side);
    if (is_fixed(l, var)) l.phase[var] = l.now[lower_side(var)];
    insert(l, var);
    l.now[e.side] = e.was;
    l.last[e.side] = e.previous;
  }
  l.trail_size = l.head = mark.trail_size;
  l.strategy = mark.strategy;
  l.position = mark.position;
  l.level = level;
  if (level < l.suspended) l.suspended = NO_LEVEL;
  else queue_all_rows(l);
}

// A new level, on which `a` is supposed. The caller sees to it that there is room.
DEVICE void suppose(Learner& l, Literal a) {
  Mark mark = {l.trail_size, l.strategy, l.position};
  l.marks[l.level++] = mark;
  l.peak_level = maximum(l.peak_level, l.level);
  append(l, a.side, a.k, DECISION);
  ++statistics(*l.block).nodes;
}
