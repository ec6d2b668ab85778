// The stack of choice points, the trail that undoes them, and the path that leads to them.
//
// The first change of a variable at a level appends its old bounds to the trail; leaving the level writes them back. A
// level is a choice point with at least one alternative left: when the last one is taken the level is dropped and the
// decision joins the level below, so the stack is as deep as there are left branches, however many values were refuted
// on the way. Each segment of the trail holds a variable at most once.
//
// When the trail lacks room for one more segment it is forgotten (`trail_base` rises to the current level): the levels
// below can then not be undone, but are replayed from the root along the path, as a subproblem from another block is
// anyway. So a full trail costs time. Only where the path was not kept either, an alternative is given up, and
// `incomplete` is set.
#pragma once

#include "../core/assert.h"
#include "../core/fixpoint.h"
#include "../core/interval.h"
#include "../core/store.h"
#include "../hybrid/mirror.h"
#include "task.h"
#include "units.h"

struct Stack {
  i32 level, base, trail_base;  // base: no open alternative at or below; trail_base: no trail at or below
  i32 path_size;
  i32 last_var;                 // the variable decided last
  i32 output_position;          // no output variable before this place is unfixed
  i32 keep_level;               // levels above it are left without a look at their alternatives
};

DEVICE Stack& stack(const Block& b);

DEVICE Level* level_at(const Block& b, i32 level) { return &b.levels[level & (b.problem->level_capacity - 1)]; }

#ifdef CHECK_ASSERTIONS
// Lane 0: asserts that the levels lie one above the other in the trail, in the list of retired rows and in the path,
// and that the marks of the variables are those of the current level's segment.
DEVICE void assert_order(const Block& b) {
  const Stack& s = stack(b);
  const Propagation& now = propagation(b);
  ASSERT(0 <= s.base && s.base <= s.trail_base && s.trail_base <= s.level);
  ASSERT(s.level - s.base < b.problem->level_capacity);
  for (i32 level = s.base + 1; level <= s.level; ++level) {
    const Level* here = level_at(b, level);
    ASSERT(here->pending == 1 || here->pending == 2);
    for (i32 i = 0; i < here->pending; ++i) ASSERT(here->lower[i] <= here->upper[i]);
    bool last = level == s.level;
    ASSERT(here->path_start <= (last ? s.path_size : level_at(b, level + 1)->path_start));
    if (level <= s.trail_base) continue;
    ASSERT(0 <= here->trail_start && 0 <= here->retired_start);
    ASSERT(here->trail_start <= (last ? now.trail_size : level_at(b, level + 1)->trail_start));
    ASSERT(here->retired_start <= (last ? now.n_retired : level_at(b, level + 1)->retired_start));
  }
  ASSERT(now.trailing == (s.level > s.trail_base));
  i32 saved = 0;
  for (i32 var = 0; var < store_vars(*b.problem); ++var) {
    saved += (*flag_word(b, var) >> flag_shift(var) & FLAG_SAVED) != 0;
  }
  ASSERT(saved == (now.trailing ? now.trail_size - level_at(b, s.level)->trail_start : 0));
}
#else
DEVICE void assert_order(const Block&) {}
#endif

// Lane 0: appends a decision to the path; one on the variable decided last, within the same level, replaces the last.
DEVICE void extend_path(const Block& b, i32 level_start, Decision d) {
  Stack& s = stack(b);
  i32 capacity = b.problem->path_capacity, size = s.path_size;
  ASSERT(0 <= level_start && level_start <= size && d.lower <= d.upper);
  if (size > level_start && size <= capacity && b.path[size - 1].var == d.var) {
    ASSERT(b.path[size - 1].lower <= d.lower && d.upper <= b.path[size - 1].upper);
    b.path[size - 1] = d;  // alternatives are parts of the interval that the earlier decision left
    return;
  }
  if (size < capacity) b.path[size] = d;
  s.path_size = size + 1;
}

// Lane 0: enters a node.
DEVICE void decide(const Block& b, i32 var, bound_t lower, bound_t upper) {
  propagation(b).failed = 0;
  propagation(b).culprit = -1;
  stack(b).last_var = var;
  ++statistics(b).nodes;
  restrict_domain(b, var, interval(lower, upper));
  bound_objective(b);
}

// Copies the root store, with no row queued. Ends with a barrier.
DEVICE void take_root(const Block& b) {
  const Problem* p = b.problem;
  write_store(b, p->root_lower, p->root_upper);
  clear_queue(b);
  if (lane() == 0) {
    Propagation& s = propagation(b);
    s.n_changed[0] = s.n_changed[1] = s.n_queue[0] = s.n_queue[1] = 0;
    s.n_long[0] = s.n_long[1] = 0;
    s.failed = 0;
    s.culprit = -1;
    s.trail_size = s.n_retired = 0;
    s.trailing = 0;
  }
  barrier();
}

// Copies the root store and applies the units, whose changes wake rows. Ends with a barrier.
DEVICE void restore_root(const Block& b) {
  take_root(b);
  note_root(b);
  apply_units(b);
}

// Applies the first `length` decisions of the path, all at once, to the root store; the caller propagates.
DEVICE void replay_path(const Block& b, i32 length) {
  ASSERT(0 <= length && length <= b.problem->path_capacity);
  restore_root(b);
  for (i32 i = lane(); i < length; i += lanes()) {
    Decision d = b.path[i];
    restrict_domain(b, d.var, interval(d.lower, d.upper));
  }
  barrier();  // so that the bound sees the path's decisions on the objective
  if (lane() == 0) {
    apply_proved_bound(b);
    bound_objective(b);
  }
}

// Writes back the bounds that the segment of the current level holds, and brings back its retired rows. Ends with a
// barrier.
DEVICE void undo_segment(const Block& b, const Level* level) {
  const Propagation& s = propagation(b);
  ASSERT(0 <= level->trail_start && level->trail_start <= s.trail_size && level->retired_start <= s.n_retired);
  for (i32 i = level->trail_start + lane(); i < s.trail_size; i += lanes()) {
    TrailEntry entry = b.trail[i];
    restore_bounds(b, entry);
    note_restored(b, entry.var);
  }
  for (i32 i = level->retired_start + lane(); i < s.n_retired; i += lanes()) {
    i32 row = b.retired[i];
    u32 bit = 1u << (row & 31);
    ASSERT(b.entailed[row >> 5] & bit);
    block_and(&b.entailed[row >> 5], ~bit);
    block_and(&b.queued[row >> 5], ~bit);
  }
  barrier();
}

// Sets or clears the flags of a segment's variables: the segment is the current one again, or no more. Ends with a
// barrier.
DEVICE void mark_segment(const Block& b, i32 start, i32 end, bool current) {
  ASSERT(0 <= start && start <= end && end <= propagation(b).trail_size);
  for (i32 i = start + lane(); i < end; i += lanes()) {
    i32 var = b.trail[i].var;
    u32 bit = FLAG_SAVED << flag_shift(var);
    if (current) block_or(flag_word(b, var), bit);
    else block_and(flag_word(b, var), ~bit);
  }
  barrier();
}
