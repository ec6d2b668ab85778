// The current sides, and those of level 0.
#pragma once

#include "../../core/assert.h"
#include "../../core/interval.h"
#include "../../core/room.h"
#include "literal.h"
#include "parts.h"

struct Sides {  // one element a side
  bound_t* now;
  bound_t* root;  // at level 0
};

PART(Sides, sides);

DEVICE i64 sides_bytes(const Problem* p) { return n_sides(p) * 2 * (i64)sizeof(bound_t); }

DEVICE void take_memory(Sides& s, const Problem* p, Room& room) {
  s.now = take<bound_t>(room, n_sides(p));
  s.root = take<bound_t>(room, n_sides(p));
}

DEVICE void clear_sides(Learner& l) {
  const Problem* p = problem(l);
  Sides& s = sides(l);
  for (i32 v = 0; v < p->n_vars; ++v) {
    s.now[lower_side(v)] = s.root[lower_side(v)] = p->root_lower[v];
    s.now[upper_side(v)] = s.root[upper_side(v)] = -p->root_upper[v];
  }
}

DEVICE bool is_variable(const Learner& l, i32 var) { return 0 <= var && var < n_all_vars(problem(l)); }
DEVICE bool is_side(const Learner& l, i32 side) { return 0 <= side && side < n_sides(problem(l)); }

DEVICE Interval interval_of(const Learner& l, i32 var) {
  ASSERT(is_variable(l, var));
  const Sides& s = sides(l);
  Interval v = {s.now[lower_side(var)], minus(s.now[upper_side(var)])};
  return v;
}

DEVICE bool is_fixed(const Learner& l, i32 var) {
  return sides(l).now[lower_side(var)] == -sides(l).now[upper_side(var)];
}

DEVICE bool is_true(const Learner& l, Literal a) {
  ASSERT(is_side(l, a.side));
  return sides(l).now[a.side] >= a.k;
}

DEVICE bool is_false(const Learner& l, Literal a) {
  ASSERT(is_side(l, a.side));
  return sides(l).now[opposite(a.side)] >= 1 - a.k;
}

// Whether the literal is neither true nor false, so that it may be decided.
DEVICE bool is_open(const Learner& l, Literal a) { return !is_true(l, a) && !is_false(l, a); }
