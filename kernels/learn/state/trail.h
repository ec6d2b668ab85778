// The trail: every change of a side in chronological order, with its reason.
//
// The entries of one side are linked, so that "the value of this side before entry t" and "the entry that first made it
// reach k" are found along few links: reasons are computed when they are needed, not when they arise (lazy explanation:
// Gent, Miguel, Moore, PADL 2010), with the bounds of that time.
//
// The bounds of level 0 become the root's, and no clause has literals for them.
#pragma once

#include "../../core/assert.h"
#include "../../core/interval.h"
#include "../../core/room.h"
#include "literal.h"
#include "log.h"
#include "parts.h"
#include "sides.h"

// A change of a side: from `was` to `now`. `previous` is the entry of the same side before it, or -1.
struct Entry {
  i32 side, level, previous, reason;
  bound_t now, was;
};

// Reasons: a decision, 2 * row + 1, or 2 * clause.
constexpr i32 DECISION = -1;
DEVICE i32 row_reason(i32 row) { return 2 * row + 1; }
DEVICE i32 clause_reason(i32 clause) { return 2 * clause; }
DEVICE bool is_row_reason(i32 reason) { return reason & 1; }

constexpr i32 NO_LEVEL = INT32_MAX;

// The beginning of a level, and how far the annotation had been followed then.
struct Mark { i32 trail_size, strategy, position; };

// The results of `propagate` and its parts.
enum Outcome { CONSISTENT, CONFLICT, FULL, LEAVE };

struct Trail {
  i32* last;  // for each side: its last entry, or -1
  Entry* entries;
  Mark* marks;  // one for each level
  i32 size, capacity;
  i32 head;  // clauses and rows have been woken for the entries before it
  i32 level, level_capacity, peak_level;
  Outcome outcome;              // why the last change was refused
  i32 refused, refused_reason;  // the side that could not grow, and the reason that required it
  bool exhausted;               // level 0 has failed: the space has no solution that is wanted
  bool root_news;               // level 0 has bounds that have not been sent to other blocks
};

PART(Trail, trail);

constexpr i64 ENTRY_BYTES = (i64)(sizeof(Entry) + sizeof(Mark));  // each level has at least one entry
DEVICE i64 trail_bytes(const Problem* p) { return n_sides(p) * (i64)sizeof(i32); }

DEVICE void take_memory(Trail& t, const Problem* p, i32 capacity, Room& room) {
  t.capacity = capacity;
  t.level_capacity = capacity - 1;
  t.last = take<i32>(room, n_sides(p));
  t.marks = take<Mark>(room, capacity);
  t.entries = take<Entry>(room, capacity);
}

DEVICE void clear_trail(Learner& l) {
  for (i32 side = 0; side < n_sides(problem(l)); ++side) trail(l).last[side] = -1;
}

// The last entry of the side before entry t; -1 when it had its root value.
DEVICE i32 entry_before(const Learner& l, i32 side, i32 t) {
  const Trail& s = trail(l);
  ASSERT(is_side(l, side) && t >= 0 && s.last[side] < s.size);
  i32 i = s.last[side];
  while (i >= t) i = s.entries[i].previous;
  return i;
}

// The value of the side before entry t.
DEVICE bound_t held(const Learner& l, i32 side, i32 t) {
  i32 i = entry_before(l, side, t);
  return i < 0 ? sides(l).root[side] : trail(l).entries[i].now;
}

// Likewise, and for the present, with t behind the trail, at once.
DEVICE bound_t value_before(const Learner& l, i32 side, i32 t) {
  return t < trail(l).size ? held(l, side, t) : sides(l).now[side];
}

// The entry that made `a` true, which was before t; -1 when it is true at the root.
DEVICE i32 entry_of(const Learner& l, Literal a, i32 t) {
  i32 i = entry_before(l, a.side, t);
  while (i >= 0 && trail(l).entries[i].was >= a.k) i = trail(l).entries[i].previous;
  ASSERT(i < 0 ? sides(l).root[a.side] >= a.k : trail(l).entries[i].now >= a.k);
  return i;
}

DEVICE void append(Learner& l, i32 side, bound_t k, i32 reason) {
  Trail& t = trail(l);
  ASSERT(is_side(l, side) && !is_link(problem(l), var_of(side)) && t.size < t.capacity && t.last[side] < t.size);
  ASSERT(sides(l).now[side] <= k && (value_t)k <= -(value_t)sides(l).now[opposite(side)]);
  ASSERT(t.size == 0 || t.entries[t.size - 1].level <= t.level);
  Entry entry = {side, t.level, t.last[side], reason, k, sides(l).now[side]};
  t.entries[t.size] = entry;
  t.last[side] = t.size++;
  sides(l).now[side] = k;
}

// Sets side >= k. False when that is a contradiction or the trail is full, by `outcome`; `refused` and `refused_reason`
// are then the change that was refused, for analyse.h.
DEVICE bool set_side(Learner& l, i32 side, value_t k, i32 reason) {
  ASSERT(is_side(l, side) && reason >= DECISION);
  if (k <= sides(l).now[side]) return true;
  Trail& t = trail(l);
  if (k > -(value_t)sides(l).now[opposite(side)]) {
    t.outcome = CONFLICT;
    t.refused = side;
    t.refused_reason = reason;
    return false;
  }
  if (t.size == t.capacity) {
    t.outcome = FULL;
    return false;
  }
  append(l, side, (bound_t)k, reason);
  return true;
}

// Level 0: sets side >= k for ever. It is lost if the trail is full, which is no error.
OUTLINE void set_root(Learner& l, i32 side, value_t k) {
  ASSERT(trail(l).level == 0);
  if (k > sides(l).now[side]) log_root(l, literal(side, (bound_t)k), DECISION);
  if (!set_side(l, side, k, DECISION) && trail(l).outcome == CONFLICT) trail(l).exhausted = true;
}

// Level 0 is propagated, or at least clauses and rows have been woken for all entries: its bounds become the root's.
DEVICE void settle_root(Learner& l) {
  Trail& t = trail(l);
  ASSERT(t.level == 0);
  t.root_news |= t.size > 0;
  for (i32 i = 0; i < t.size; ++i) {
    i32 side = t.entries[i].side;
    sides(l).root[side] = sides(l).now[side];
    t.last[side] = -1;
  }
  t.size = t.head = 0;
}
