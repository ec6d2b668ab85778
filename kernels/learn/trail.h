// The trail: every change of a side in the order of its becoming known, with its reason.
//
// The entries of one side are linked, so that "what was this side before entry t" and "which entry made it reach k
// first" are walks along few links: reasons are explained when they are asked for, not when they arise (lazy
// explanation: Gent, Miguel, Moore, PADL 2010), with the bounds of that moment.
//
// What holds at level 0 is folded into the root, and no clause names it.
#pragma once

#include "memory.h"

DEVICE Interval interval_of(const Learner& l, i32 var) {
  Interval v = {l.now[lower_side(var)], -(value_t)l.now[upper_side(var)]};
  return v;
}

DEVICE bool is_fixed(const Learner& l, i32 var) { return l.now[lower_side(var)] == -l.now[upper_side(var)]; }
DEVICE bool is_true(const Learner& l, Literal a) { return l.now[a.side] >= a.k; }
DEVICE bool is_false(const Learner& l, Literal a) { return l.now[opposite(a.side)] >= 1 - a.k; }

// The last entry of the side before entry t; -1 when it was as at the root.
DEVICE i32 entry_before(const Learner& l, i32 side, i32 t) {
  i32 i = l.last[side];
  while (i >= t) i = l.trail[i].previous;
  return i;
}

// The side before entry t.
DEVICE bound_t held(const Learner& l, i32 side, i32 t) {
  i32 i = entry_before(l, side, t);
  return i < 0 ? l.root[side] : l.trail[i].now;
}

// The entry before t that made the side reach k, which it had; -1 when it is so at the root.
DEVICE i32 entry_of(const Learner& l, Literal a, i32 t) {
  i32 i = entry_before(l, a.side, t);
  while (i >= 0 && l.trail[i].was >= a.k) i = l.trail[i].previous;
  return i;
}

DEVICE void append(Learner& l, i32 side, bound_t k, i32 reason) {
  Entry entry = {side, l.level, l.last[side], reason, k, l.now[side]};
  l.trail[l.trail_size] = entry;
  l.last[side] = l.trail_size++;
  l.now[side] = k;
}

// Makes side >= k. False when it cannot be, or when there is no room: l.outcome says which, and l.refused and
// l.refused_reason what would have changed it (analyse.h explains that).
DEVICE bool set_side(Learner& l, i32 side, value_t k, i32 reason) {
  if (k <= l.now[side]) return true;
  if (k > -(value_t)l.now[opposite(side)]) {
    l.outcome = CONFLICT;
    l.refused = side;
    l.refused_reason = reason;
    return false;
  }
  if (l.trail_size == l.trail_capacity) {
    l.outcome = FULL;
    return false;
  }
  append(l, side, (bound_t)k, reason);
  return true;
}

// Level 0: makes side >= k, for ever. What there is no room for is only not said.
OUTLINE void set_root(Learner& l, i32 side, value_t k) {
  if (!set_side(l, side, k, DECISION) && l.outcome == CONFLICT) l.exhausted = 1;
}

// Level 0 is propagated, or has at least told everybody of its changes: what holds now, holds for ever.
DEVICE void settle_root(Learner& l) {
  l.root_news |= l.trail_size > 0;
  for (i32 i = 0; i < l.trail_size; ++i) {
    i32 side = l.trail[i].side;
    l.root[side] = l.now[side];
    l.last[side] = -1;
  }
  l.trail_size = l.head = 0;
}
