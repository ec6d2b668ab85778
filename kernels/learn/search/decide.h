// Decisions: by activity, or by the search annotation.
//
// By activity, the most active variable of the current decision set (then, of all others) is split at the threshold at
// which it was in the last conflict: the conflict's literal is decided, not some value of the domain. The branch is the
// one of the incumbent's value, for good solutions lie near good ones (as in Demirović, Chu, Stuckey, CP 2018), else of
// the variable's last value.
//
// The first run begins with the variables of the warm start, in its order, so that its solution is found if it is one.
//
// The annotation is followed as in the tree (branch.h), but after a failed branch the learned clause decides what
// follows, not the other branch.
#pragma once

#include "../../core/assert.h"
#include "../../core/interval.h"
#include "../../core/room.h"
#include "../../search/branch.h"
#include "../state/ablation.h"
#include "../state/heap.h"
#include "../state/literal.h"
#include "../state/parts.h"
#include "../state/sides.h"
#include "../state/trail.h"

struct Guidance {
  bound_t* phase;    // for each variable: its last value, or the one that the annotation prefers
  bound_t* split;    // for each variable: its threshold in the last conflict that it was in
  bound_t* best;     // the values of the incumbent
  i64 best_version;  // of that incumbent
  bool has_best;
  bool by_wish;            // the run tries values suggested by a relaxation, not the incumbent's
  i32 strategy, position;  // how far the annotation has been followed
  i32 pending_level;       // the level at which the second half of a decision follows, or NO_LEVEL
  i32 pending_side;
  bound_t pending_k;
};

PART(Guidance, guidance);

DEVICE i64 guidance_bytes(const Problem* p) { return n_all_vars(p) * 3 * (i64)sizeof(bound_t); }

DEVICE void take_memory(Guidance& s, const Problem* p, Room& room) {
  s.phase = take<bound_t>(room, n_all_vars(p));
  s.split = take<bound_t>(room, n_all_vars(p));
  s.best = take<bound_t>(room, n_all_vars(p));
}

// Sets the phases to the values that the annotation tries first.
DEVICE void set_first_phases(Learner& l) {
  const Problem* p = problem(l);
  bound_t* phase = guidance(l).phase;
  for (i32 v = 0; v < p->n_vars; ++v) phase[v] = p->root_lower[v];
  if (p->sense < 0) phase[p->objective] = p->root_upper[p->objective];
  for (i32 i = FIRST_ANNOTATED; i < p->n_strategies; ++i) {
    Strategy strategy = p->strategies[i];
    i32 choice = strategy.value_choice;
    bool up = choice == VALUE_MAX || choice == VALUE_REVERSE_SPLIT || choice == VALUE_OUT_MIN;
    for (i32 j = 0; j < strategy.count; ++j) {
      i32 v = strategy_var(block(l), strategy, j);
      bound_t lower = p->root_lower[v], upper = p->root_upper[v];
      if (up) phase[v] = upper;
      else if (choice == VALUE_MEDIAN) phase[v] = (bound_t)(lower + ((wide_t)upper - lower) / 2);
    }
  }
}

// Sets the phases of the warm start's variables to its values.
DEVICE void take_hints(Learner& l) {
  const Problem* p = problem(l);
  for (i32 i = 0; i < p->n_hints; ++i) {
    guidance(l).phase[strategy_var(block(l), p->strategies[WARM_START], i)] = p->hints[i];
  }
}

DEVICE void clear_guidance(Learner& l) {
  Guidance& s = guidance(l);
  for (i32 v = 0; v < problem(l)->n_vars; ++v) s.split[v] = problem(l)->root_lower[v];  // not above it: no threshold
  set_first_phases(l);
  take_hints(l);
  s.strategy = problem(l)->n_hints > 0 ? WARM_START : FIRST_ANNOTATED;
  s.pending_level = NO_LEVEL;
}

// Ends the decisions along the warm start, after the first run; its values remain as phases.
DEVICE void leave_warm_start(Learner& l) {
  Guidance& s = guidance(l);
  if (s.strategy != WARM_START) return;
  s.strategy = FIRST_ANNOTATED;
  s.position = 0;
}

DEVICE bool is_splitting(const Learner& l, i32 var) {
  bound_t k = guidance(l).split[var];
  return !is_left_out(WITHOUT_SPLITS) && k > sides(l).now[lower_side(var)] && k <= -sides(l).now[upper_side(var)];
}

DEVICE bound_t wanted_value(const Learner& l, i32 var) {
  if (is_left_out(WITHOUT_PHASES)) return sides(l).now[lower_side(var)];
  const Guidance& s = guidance(l);
  return s.has_best && !s.by_wish ? s.best[var] : s.phase[var];
}

// The literal by which an unfixed variable is split.
DEVICE Literal split_literal(const Learner& l, i32 var) {
  bound_t wanted = wanted_value(l, var), k = guidance(l).split[var];
  if (is_splitting(l, var)) return wanted >= k ? literal(lower_side(var), k) : literal(upper_side(var), 1 - k);
  bound_t lower = sides(l).now[lower_side(var)], upper = -sides(l).now[upper_side(var)];
  ASSERT(lower < upper);
  if (wanted <= lower) return literal(upper_side(var), -lower);
  if (wanted >= upper) return literal(lower_side(var), upper);
  return literal(lower_side(var), wanted);  // the upper side comes next, when the value is the lower bound
}

// The first unfixed variable from `position` on, or NO_PLACE.
DEVICE i32 first_unfixed(const Learner& l, Strategy strategy) {
  ASSERT(guidance(l).position >= 0);
  for (i32 i = guidance(l).position; i < strategy.count; ++i) {
    if (!is_fixed(l, strategy_var(block(l), strategy, i))) return i;
  }
  return NO_PLACE;
}

// The next decision along the warm start. False where there is none, or where all its variables are fixed.
DEVICE bool hinted_literal(Learner& l, Literal* a) {
  if (guidance(l).strategy != WARM_START) return false;
  Strategy strategy = problem(l)->strategies[WARM_START];
  i32 place = first_unfixed(l, strategy);
  if (place == NO_PLACE) {
    leave_warm_start(l);
    return false;
  }
  guidance(l).position = place;
  *a = split_literal(l, strategy_var(block(l), strategy, place));
  return true;
}

// The score of the i-th variable of a strategy, which is not fixed: the lower the better. The measured variable may
// differ from the labelled one; activities serve as failure weights.
DEVICE double strategy_score(const Learner& l, Strategy strategy, i32 i, i32 var) {
  i32 measured = problem(l)->strategy_vars[strategy.start + strategy.count + i];
  double lower = (double)sides(l).now[lower_side(measured)], upper = -(double)sides(l).now[upper_side(measured)];
  switch (strategy.var_choice) {
    case VAR_FIRST_FAIL: return upper - lower;
    case VAR_ANTI_FIRST_FAIL: return lower - upper;
    case VAR_SMALLEST: return lower;
    case VAR_LARGEST: return -upper;
    case VAR_MAX_REGRET: return -(double)regret(block(l), strategy, i, sides(l).now[lower_side(measured)]);
    default: return (upper - lower + 1) / (1 + heap(l).activity[var] / heap(l).step);
  }
}

DEVICE i32 best_unfixed(const Learner& l, Strategy strategy) {
  i32 best = NO_PLACE;
  double least = 0;
  for (i32 i = 0; i < strategy.count; ++i) {
    i32 var = strategy_var(block(l), strategy, i);
    if (is_fixed(l, var)) continue;
    double score = strategy_score(l, strategy, i, var);
    if (best != NO_PLACE && score >= least) continue;
    best = i;
    least = score;
  }
  return best;
}

// As in branch.h.
DEVICE i32 best_of_rows(const Learner& l, Strategy strategy) {
  const RowMembers rows = members_of_rows(problem(l), strategy);
  auto lower = [&](i32 var) { return sides(l).now[lower_side(var)]; };
  auto upper = [&](i32 var) { return -sides(l).now[upper_side(var)]; };
  OpenRow best = {NO_PLACE, 0};
  for (i32 i = 0; i < strategy.count; i = rows.end[i]) {
    OpenRow row = open_row(rows, i, lower, upper);
    if (row.place != NO_PLACE && (best.place == NO_PLACE || row.ratio < best.ratio)) best = row;
  }
  return best.place;
}

DEVICE i32 next_place(const Learner& l, Strategy strategy) {
  switch (strategy.var_choice) {
    case VAR_INPUT_ORDER: return first_unfixed(l, strategy);
    case VAR_ROW: return best_of_rows(l, strategy);
    default: return best_unfixed(l, strategy);
  }
}

// The annotation's first branch on `var`. An interval inside the domain takes two decisions: the second one is kept.
DEVICE Literal branch_literal(Learner& l, i32 var, i32 value_choice) {
  bound_t lower = sides(l).now[lower_side(var)], upper = -sides(l).now[upper_side(var)];
  Branches branches = split_interval(block(l), value_choice, lower, upper, 0);
  bound_t first = branches.lower[0], last = branches.upper[0];
  ASSERT(lower <= first && first <= last && last <= upper);
  if (first == lower) return literal(upper_side(var), -last);
  Guidance& s = guidance(l);
  s.pending_level = last == upper ? NO_LEVEL : trail(l).level + 1;
  s.pending_side = upper_side(var);
  s.pending_k = -last;
  return literal(lower_side(var), first);
}

// The next decision of the model's strategies. False when all their variables are fixed.
DEVICE bool annotated_literal(Learner& l, Literal* a) {
  Guidance& s = guidance(l);
  Literal pending = literal(s.pending_side, s.pending_k);
  bool waits = s.pending_level == trail(l).level;
  s.pending_level = NO_LEVEL;
  if (waits && !is_true(l, pending) && !is_false(l, pending)) {
    *a = pending;
    return true;
  }
  for (; s.strategy < problem(l)->n_strategies; ++s.strategy, s.position = 0) {
    Strategy strategy = problem(l)->strategies[s.strategy];
    bool in_order = strategy.var_choice == VAR_INPUT_ORDER;
    i32 place = next_place(l, strategy);
    if (place == NO_PLACE) continue;
    if (in_order) s.position = place;
    *a = branch_literal(l, strategy_var(block(l), strategy, place), strategy.value_choice);
    return true;
  }
  return false;
}

// Whether a variable of the decision set is not fixed.
DEVICE bool has_open_first(const Learner& l) {
  for (i32 v = 0; v < problem(l)->n_vars; ++v) {
    if (is_first(l, v) && !is_fixed(l, v) && !is_link(problem(l), v)) return true;
  }
  return false;
}

// The next literal to decide. False when all variables are fixed.
DEVICE bool choose_literal(Learner& l, bool annotated, Literal* a) {
  if (hinted_literal(l, a) || (annotated && annotated_literal(l, a))) return true;
  i32 var = most_active(l);
  if (var < 0) return false;
  ASSERT(is_first(l, var) || !has_open_first(l));
  *a = split_literal(l, var);
  return true;
}
