// Supposing that the objective, or a part of it, is as good as is not refuted yet: if that fails, its bound rises.
//
// This is a lower bound search, as of destructive lower bounds (Klein, Scholl, EJOR 1999). An objective that is a sum
// is a tree of rows x = y + z here, whose inner nodes are variables: *subgoals*, like its terms. To refute that all of
// the sum is at its bound can take a search through all of its terms; that two or four of them are at theirs is often
// refuted soon, and each of them that rises lifts the sum. So bounds are built from below, as core-guided searches for
// sums do it (Gange, Berg, Demirović, Stuckey, CPAIOR 2020), but with the partial sums that are there instead of new
// ones.
//
// Subgoals take turns, the smallest first.
#pragma once

#include "trail.h"

#define IS_SUBGOAL (-2)  // while they are being found: the place in the heap, which is empty then

// The side that grows with the proved bound of the objective, and the opposite one, which grows with the incumbent.
DEVICE i32 goal_side(const Problem* p) { return 2 * p->objective + (p->sense < 0); }
DEVICE i32 cut_side(const Problem* p) { return opposite(goal_side(p)); }

DEVICE void add_subgoal(Learner& l, i32 side) {
  i32 var = var_of(side);
  if (is_fixed(l, var) || l.place[var] == IS_SUBGOAL) return;
  l.place[var] = IS_SUBGOAL;
  l.subgoals[l.n_subgoals++] = side;
}

// Adds the sides that make the side of r.x grow.
DEVICE void add_operands(Learner& l, Row r, i32 side) {
  i32 d = is_upper(side);
  if (r.op == OP_ADD || r.op == (d ? OP_MIN : OP_MAX)) {
    add_subgoal(l, 2 * r.y + d);
    add_subgoal(l, 2 * r.z + d);
  } else if (r.op == OP_MUL && (is_fixed(l, r.y) || is_fixed(l, r.z))) {
    i32 factor = is_fixed(l, r.y) ? r.y : r.z, other = factor == r.y ? r.z : r.y;
    add_subgoal(l, 2 * other + (d ^ (l.now[lower_side(factor)] < 0)));
  }
}

// The objective's subgoals, itself the first, in the order of their distance from it.
OUTLINE void find_subgoals(Learner& l) {
  const Problem* p = l.problem;
  l.n_subgoals = 0;
  if (p->sense == 0) return;
  add_subgoal(l, goal_side(p));
  for (i32 i = 0; i < l.n_subgoals; ++i) {
    i32 side = l.subgoals[i];
    Watch w = load_constant(&p->watches[var_of(side)]);
    for (i32 j = w.start; j < w.end; ++j) {
      Row r = load_constant(&p->rows[load_constant(&p->watchers[j])]);
      if (r.x == var_of(side)) add_operands(l, r, side);
    }
  }
  for (i32 i = 0; i < l.n_subgoals; ++i) l.place[var_of(l.subgoals[i])] = -1;
  l.subgoal = l.n_subgoals;
}

// At level 0: the objective within so many of its proved bound. The step doubles while the bound rises, and shrinks
// when a probe has left it where it was.
DEVICE Literal probe_objective(Learner& l) {
  i32 side = cut_side(l.problem);
  i64 bound = -(i64)l.now[goal_side(l.problem)], least = (i64)l.now[side] + 1;
  l.probe_step = bound < l.probe_gap ? minimum(2 * l.probe_step, (i64)1 << 60) : maximum(l.probe_step / 4, (i64)1);
  l.probe_gap = bound;
  return literal(side, (bound_t)maximum(bound - minimum(l.probe_step - 1, bound - least), least));
}

// At level 0: the next subgoal at its bound; false when all of them are fixed.
DEVICE bool probe_subgoal(Learner& l, Literal* a) {
  for (i32 tries = 0; tries < l.n_subgoals; ++tries) {
    l.subgoal = (l.subgoal == 0 ? l.n_subgoals : l.subgoal) - 1;
    i32 side = l.subgoals[l.subgoal];
    if (is_fixed(l, var_of(side))) continue;
    *a = literal(opposite(side), -l.now[side]);
    return true;
  }
  return false;
}

// At level 0: what a run that probes begins with; every second time a subgoal.
DEVICE Literal probe_literal(Learner& l) {
  Literal a;
  if (l.n_probes++ % 2 && probe_subgoal(l, &a)) return a;
  return probe_objective(l);
}
