// Bounds that only grow, and the literals that a learner reasons with.
//
// Lazy clause generation (Ohrimenko, Stuckey, Codish, Constraints 2009) gives a propagation engine the memory of a SAT
// solver: each change of a bound has a reason, a failure is traced back along the reasons to a clause over bounds, and
// the clause prevents the failure everywhere else. As in Feydy and Stuckey's reengineered form (CP 2009) no literal has
// an object of its own: it is a pair of numbers.
//
// Every variable has two *sides*: side 2x is the lower bound of x, side 2x + 1 is minus its upper bound. Propagation
// only makes sides grow, so one kind of literal is enough: (side, k) is "the side is at least k", and its negation is a
// literal of the opposite side. Holes of domains are rows or Booleans of the model.
//
// All bounds are finite here: a learner does not search a model with an infinite one (learner.h).
#pragma once

#include "../../core/abi.h"

struct Literal {
  bound_t k;
  i32 side;
};

DEVICE Literal literal(i32 side, bound_t k) {
  Literal a = {k, side};
  return a;
}

DEVICE i32 lower_side(i32 var) { return 2 * var; }
DEVICE i32 upper_side(i32 var) { return 2 * var + 1; }
DEVICE i32 opposite(i32 side) { return side ^ 1; }
DEVICE i32 var_of(i32 side) { return side >> 1; }
DEVICE bool is_upper(i32 side) { return side & 1; }
// Sides of the model's variables, and of all, with those that a learner makes (counters.h).
DEVICE i32 n_model_sides(const Problem* p) { return 2 * p->n_vars; }
DEVICE i32 n_sides(const Problem* p) { return n_model_sides(p) + 2 * p->n_counters; }

// x >= k or x <= 1 - k - ...: not (side >= k) is (-side >= 1 - k).
DEVICE Literal negation(Literal a) { return literal(opposite(a.side), 1 - a.k); }
