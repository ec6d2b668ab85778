// What to suppose next: by activity, or as the annotation says.
//
// By activity, the most active variable of the set that this run decides first (and behind the last of the set, of all
// others) is split at the threshold at which the last conflict looked at it: what it was about is decided, not some
// value of the domain. The side is the one of the incumbent's value, for good solutions lie near good ones (as in
// Demirović, Chu, Stuckey, CP 2018), else of the value that the variable had last.
//
// The annotation is followed like in the tree (branch.h), but a branch that fails is not the other one's turn: the
// learned clause says what follows.
#pragma once

#include "undo.h"

DEVICE bool is_splitting(const Learner& l, i32 var) {
  return !(LEARN_WITHOUT & WITHOUT_SPLITS) && l.split[var] > l.now[lower_side(var)] &&
         l.split[var] <= -l.now[upper_side(var)];
}

DEVICE bound_t wanted_value(const Learner& l, i32 var) {
  if (LEARN_WITHOUT & WITHOUT_PHASES) return l.now[lower_side(var)];
  return l.has_best && !l.by_wish ? l.best[var] : l.phase[var];
}

// The literal by which an unfixed variable is split.
DEVICE Literal split_literal(const Learner& l, i32 var) {
  bound_t wanted = wanted_value(l, var), k = l.split[var];
  if (is_splitting(l, var)) return wanted >= k ? literal(lower_side(var), k) : literal(upper_side(var), 1 - k);
  bound_t lower = l.now[lower_side(var)], upper = -l.now[upper_side(var)];
  if (wanted <= lower) return literal(upper_side(var), -lower);
  if (wanted >= upper) return literal(lower_side(var), upper);
  return literal(lower_side(var), wanted);  // the upper side comes next, when the value is the lower bound
}

// The first unfixed variable from l.position on, or NO_PLACE.
DEVICE i32 first_unfixed(const Learner& l, Strategy strategy) {
  for (i32 i = l.position; i < strategy.count; ++i) {
    if (!is_fixed(l, strategy_var(*l.block, strategy, i))) return i;
  }
  return NO_PLACE;
}

// The score of the i-th variable of a strategy, which is not fixed: the lower the better. What is measured may be
// another variable than the one that is labelled; failure weights are activities.
DEVICE double strategy_score(const Learner& l, Strategy strategy, i32 i, i32 var) {
  i32 measured = l.problem->strategy_vars[strategy.start + strategy.count + i];
  double lower = (double)l.now[lower_side(measured)], upper = -(double)l.now[upper_side(measured)];
  switch (strategy.var_choice) {
    case VAR_FIRST_FAIL: return upper - lower;
    case VAR_ANTI_FIRST_FAIL: return lower - upper;
    case VAR_SMALLEST: return lower;
    case VAR_LARGEST: return -upper;
    case VAR_MAX_REGRET: return -(double)regret(*l.block, strategy, i, l.now[lower_side(measured)]);
    default: return (upper - lower + 1) / (1 + l.activity[var] / l.activity_step);
  }
}

DEVICE i32 best_unfixed(const Learner& l, Strategy strategy) {
  i32 best = NO_PLACE;
  double least = 0;
  for (i32 i = 0; i < strategy.count; ++i) {
    i32 var = strategy_var(*l.block, strategy, i);
    if (is_fixed(l, var)) continue;
    double score = strategy_score(l, strategy, i, var);
    if (best != NO_PLACE && score >= least) continue;
    best = i;
    least = score;
  }
  return best;
}

// The annotation's first branch on `var`. An interval inside the domain takes two decisions: the second one waits.
DEVICE Literal branch_literal(Learner& l, i32 var, i32 value_choice) {
  bound_t lower = l.now[lower_side(var)], upper = -l.now[upper_side(var)];
  Branches branches = split_interval(*l.block, value_choice, lower, upper, 0);
  bound_t first = branches.lower[0], last = branches.upper[0];
  if (first == lower) return literal(upper_side(var), -last);
  l.pending_level = last == upper ? NO_LEVEL : l.level + 1;
  l.pending_side = upper_side(var);
  l.pending_k = -last;
  return literal(lower_side(var), first);
}

// The next decision of the model's strategies. False when all their variables are fixed.
DEVICE bool annotated_literal(Learner& l, Literal* a) {
  Literal pending = literal(l.pending_side, l.pending_k);
  bool waits = l.pending_level == l.level;
  l.pending_level = NO_LEVEL;
  if (waits && !is_true(l, pending) && !is_false(l, pending)) {
    *a = pending;
    return true;
  }
  for (; l.strategy < l.problem->n_strategies; ++l.strategy, l.position = 0) {
    Strategy strategy = l.problem->strategies[l.strategy];
    bool in_order = strategy.var_choice == VAR_INPUT_ORDER;
    i32 place = in_order ? first_unfixed(l, strategy) : best_unfixed(l, strategy);
    if (place == NO_PLACE) continue;
    if (in_order) l.position = place;
    *a = branch_literal(l, strategy_var(*l.block, strategy, place), strategy.value_choice);
    return true;
  }
  return false;
}

// Whether a variable of the set is open, so that no other one's turn has come.
DEVICE bool has_open_first(const Learner& l) {
  for (i32 v = 0; v < l.problem->n_vars; ++v) {
    if (is_first(l, v) && !is_fixed(l, v)) return true;
  }
  return false;
}

// The next literal to suppose. False when all variables are fixed.
DEVICE bool choose_literal(Learner& l, bool annotated, Literal* a) {
  if (annotated && annotated_literal(l, a)) return true;
  i32 var = most_active(l);
  if (var < 0) return false;
  ASSERT(is_first(l, var) || !has_open_first(l));
  *a = split_literal(l, var);
  return true;
}
