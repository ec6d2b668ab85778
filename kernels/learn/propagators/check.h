// Debug builds (-DCHECK_EXPLANATIONS): checks of all explanations and learned clauses.
//
// An explanation must be true when it is used, and the row, from the bounds of the explanation alone, must imply the
// threshold. A learned clause must follow by propagation: from the root with all of its literals false, the rows and
// the present clauses must fail (a reverse unit propagation check: Goldberg and Novikov, DATE 2003). The check is plain
// code without watches or reasons. At a fixpoint no row may be able to tighten a bound, or one was not woken.
// `explanation_errors` counts the failed checks.
#pragma once

#include "../../core/interval.h"
#include "../../core/propagate.h"
#include "../clauses/clauses.h"
#include "../state/literal.h"
#include "../state/parts.h"
#include "../state/sides.h"
#include "../state/trail.h"
#include "../tuning.h"
#include "counters.h"
#include "linear.h"
#include "oracle.h"
#include "wide.h"
#include "wide_rows.h"

// Whether the row, run repeatedly from the premises, implies `a`.
OUTLINE bool is_reached(const Learner& l, Row r, const Premises& why, Literal a) {
  const i32 vars[3] = {r.x, r.y, third_var(r)};
  Interval v[3];
  for (i32 i = 0; i < 3; ++i) v[i] = premise_interval(l, why, vars[i]);
  for (i32 pass = 0; pass < CHECK_PASSES; ++pass) {
    for (i32 i = 0; i < 3; ++i) {
      if (is_empty(v[i])) return true;
      if (vars[i] == var_of(a.side) && reaches(v[i], is_upper(a.side), a.k)) return true;
    }
    run_operator(l, r, v);
    for (i32 i = 0; i < 3; ++i) {  // a variable that the row has twice has the tighter of both bounds
      for (i32 j = 0; j < 3; ++j) {
        if (vars[i] != vars[j]) continue;
        raise(v[i], v[j].l);
        reduce(v[i], v[j].u);
      }
    }
  }
  return false;
}

OUTLINE void check_explanation(const Learner& l, Row r, const Premises& why, Literal a, i32 t) {
  bool good = is_reached(l, r, why, a);
  for (i32 i = 0; i < why.count; ++i) good = good && held(l, why.literals[i].side, t) >= why.literals[i].k;
  if (!good) ++statistics(l).explanation_errors;
}

// Whether a linear row can still be true, or false, as far as the ends of its sum tell.
static bool may_linear_hold(const Learner& l, const Linear& r, const bound_t* plain) {
  __int128 least = 0, most = 0;
  for (i32 i = r.start; i < r.end; ++i) {
    Term t = problem(l)->terms[i];
    least += (__int128)t.factor * plain[t.side];
    most -= (__int128)t.factor * plain[opposite(t.side)];
  }
  bool has_truth = r.kind != LINEAR_RANGE;
  bool may_hold = !has_truth || plain[upper_side(r.truth)] <= -1;
  bool may_fail = has_truth && plain[lower_side(r.truth)] <= 0;
  if (r.kind == LINEAR_AT_MOST) return (may_hold && least <= r.high) || (may_fail && most > r.high);
  bool meets = (r.high >= INFINITE_BOUND || least <= r.high) && (r.low <= -INFINITE_BOUND || most >= r.low);
  return (may_hold && meets) || (may_fail && (least != r.high || most != r.high));
}

// Whether no more of a counter's literals are true than it may say.
static bool may_count_them(const Learner& l, i32 row, const bound_t* plain) {
  const Counters& s = counters(l);
  i32 counter = counter_of(problem(l), row), count = 0;
  if (counter >= s.made) return true;
  for (i32 i = s.starts[counter]; i < s.starts[counter + 1]; ++i) {
    count += plain[s.literals[i].side] >= s.literals[i].k;
  }
  return count <= -(value_t)plain[upper_side(counter_var(problem(l), counter))];
}

// Whether a row that is not ternary may have a solution between the bounds.
static bool may_hold(const Learner& l, i32 row, const bound_t* plain) {
  if (is_counter(problem(l), row)) return may_count_them(l, row, plain);
  if (is_linear(problem(l), row)) return may_linear_hold(l, linear_at(problem(l), row), plain);
  return may_wide_hold(l, wide_at(problem(l), row), plain);
}

// With one threshold more, which is not against what is known already.
static bool may_hold_with(const Learner& l, i32 row, bound_t* plain, Literal a) {
  bound_t before = plain[a.side];
  if (a.k > -(value_t)plain[opposite(a.side)]) return false;
  plain[a.side] = maximum(before, a.k);
  bool good = may_hold(l, row, plain);
  plain[a.side] = before;
  return good;
}

// The side moves, value by value, out of what the row refutes.
static void shave_side(const Learner& l, i32 row, bound_t* plain, i32 side, bool* changed) {
  for (i32 steps = 0; steps < SHAVED_AT_ONCE && plain[side] <= -(value_t)plain[opposite(side)]; ++steps) {
    if (may_hold_with(l, row, plain, literal(opposite(side), -plain[side]))) return;
    ++plain[side];
    *changed = true;
  }
}

static void shave_variable(const Learner& l, i32 row, bound_t* plain, i32 var, bool* changed) {
  for (i32 upper = 0; upper < 2; ++upper) shave_side(l, row, plain, 2 * var + upper, changed);
}

static void shave_linear(const Learner& l, i32 row, bound_t* plain, bool* changed) {
  const Linear& r = linear_at(problem(l), row);
  for (i32 i = r.start; i < r.end; ++i) shave_variable(l, row, plain, var_of(problem(l)->terms[i].side), changed);
  if (r.kind != LINEAR_RANGE) shave_variable(l, row, plain, r.truth, changed);
}

// The variables of the literals, and the counter's own.
static void shave_counter(const Learner& l, i32 row, bound_t* plain, bool* changed) {
  const Counters& s = counters(l);
  i32 counter = counter_of(problem(l), row);
  if (counter >= s.made) return;
  for (i32 i = s.starts[counter]; i < s.starts[counter + 1]; ++i) {
    shave_side(l, row, plain, opposite(s.literals[i].side), changed);
  }
  shave_side(l, row, plain, lower_side(counter_var(problem(l), counter)), changed);
}

// The sides that a wide row moves.
static void shave_wide(const Learner& l, i32 row, bound_t* plain, bool* changed) {
  const Wide& r = wide_at(problem(l), row);
  const i32* arguments = arguments_of(problem(l), r);
  shave_of_kind(l, r, plain, changed);
  for (i32 i = 0; i < n_arguments(r); ++i) {
    for (i32 upper = 0; upper < 2; ++upper) {
      if (moves_argument(r, i, upper)) shave_side(l, row, plain, 2 * arguments[i] + upper, changed);
    }
  }
}

// One run of a row that is not ternary over `plain`. Whether it is consistent; `changed` when something grew.
static bool run_whole_plainly(const Learner& l, i32 row, bound_t* plain, bool* changed) {
  if (is_linear(problem(l), row)) shave_linear(l, row, plain, changed);
  else if (is_counter(problem(l), row)) shave_counter(l, row, plain, changed);
  else shave_wide(l, row, plain, changed);
  return may_hold(l, row, plain);
}

// The premises were true before t, and with them the row refutes that `a` is false.
OUTLINE void check_whole(const Learner& l, i32 row, const Premises& why, Literal a, i32 t) {
  bound_t* plain = new bound_t[(u64)n_sides(problem(l))];
  for (i32 side = 0; side < n_sides(problem(l)); ++side) plain[side] = sides(l).root[side];
  bool good = true;
  for (i32 i = 0; i < why.count; ++i) {
    Literal b = why.literals[i];
    good = good && held(l, b.side, t) >= b.k;
    plain[b.side] = maximum(plain[b.side], b.k);
  }
  bool refuted = !may_hold_with(l, row, plain, negation(a));
  if (!refuted && is_wide(problem(l), row)) refuted = is_place_refuted(l, wide_at(problem(l), row), plain, negation(a));
  if (!good || !refuted) ++statistics(l).explanation_errors;
  delete[] plain;
}

// Whether a variable that is no constant stands at two places of the row. The row looks at one place at a time, and the
// plain check moves both.
static bool stands_twice(const Learner& l, const Wide& r) {
  const i32* arguments = arguments_of(problem(l), r);
  for (i32 i = 0; i < n_arguments(r); ++i) {
    bool is_constant = sides(l).root[lower_side(arguments[i])] == -sides(l).root[upper_side(arguments[i])];
    for (i32 j = 0; j < i && !is_constant; ++j) {
      if (arguments[j] == arguments[i]) return true;
    }
  }
  return false;
}

// Whether the row says all that its plain check sees. Rows that wait do so above level 0.
static bool says_all(const Learner& l, i32 row) {
  if (!is_wide(problem(l), row)) return true;
  const Wide& r = wide_at(problem(l), row);
  return says_all_of_kind(l, r) && !(may_wait(r) && trail(l).level > 0) && !stands_twice(l, r);
}

// Propagates all rows once over `plain`, or those alone that say all. Whether they are consistent; `changed` is set
// when a side grew.
static bool run_rows_plainly(const Learner& l, bound_t* plain, bool* changed, bool all) {
  for (i32 row = problem(l)->n_rows; row < n_all_rows(problem(l)); ++row) {
    if (!all && !says_all(l, row)) continue;
    if (!run_whole_plainly(l, row, plain, changed)) return false;
  }
  for (i32 row = 0; row < problem(l)->n_rows; ++row) {
    if (is_absorbed(problem(l), row)) continue;
    const Row r = problem(l)->rows[row];
    const i32 vars[3] = {r.x, r.y, third_var(r)};
    Interval v[3];
    for (i32 i = 0; i < 3; ++i) {
      Interval of_var = {plain[lower_side(vars[i])], -(value_t)plain[upper_side(vars[i])]};
      v[i] = of_var;
    }
    run_operator(l, r, v);
    for (i32 i = 0; i < 3; ++i) {
      bound_t* lower = &plain[lower_side(vars[i])];
      bound_t* upper = &plain[upper_side(vars[i])];
      if (is_empty(v[i]) || v[i].l > -(value_t)*upper || -v[i].u > -(value_t)*lower) return false;
      *changed = *changed || v[i].l > *lower || -v[i].u > *upper;
      *lower = (bound_t)maximum((value_t)*lower, v[i].l);
      *upper = (bound_t)maximum((value_t)*upper, -v[i].u);
    }
  }
  return true;
}

static bool run_clauses_plainly(const Learner& l, bound_t* plain, bool* changed) {
  for (i32 c = 0; c < clauses(l).end; c += clause_units(clause_at(l, c)->size)) {
    const Literal* literals = literals_of(clause_at(l, c));
    i32 open = -1, n_open = 0;
    for (i32 i = 0; i < clause_at(l, c)->size; ++i) {
      Literal a = literals[i];
      if (plain[opposite(a.side)] >= 1 - a.k) continue;
      open = i;
      n_open += plain[a.side] >= a.k ? 2 : 1;
    }
    if (n_open == 0) return false;
    if (n_open > 1) continue;
    plain[literals[open].side] = literals[open].k;
    *changed = true;
  }
  return true;
}

// Whether propagation alone fails from the root with all literals of the learned clause false.
static bool is_refuted(const Learner& l, bound_t* plain) {
  for (i32 side = 0; side < n_sides(problem(l)); ++side) plain[side] = sides(l).root[side];
  for (i32 i = 0; i < learned(l).size; ++i) {
    Literal a = negation(learned(l).literals[i]);
    plain[a.side] = maximum(plain[a.side], a.k);
    if (plain[a.side] > -plain[opposite(a.side)]) return true;
  }
  for (bool changed = true; changed;) {
    changed = false;
    if (!run_rows_plainly(l, plain, &changed, true) || !run_clauses_plainly(l, plain, &changed)) return true;
  }
  return false;
}

// Checks the clause in learned(l), before it is stored.
OUTLINE void check_learned(const Learner& l) {
  bound_t* plain = new bound_t[(u64)n_sides(problem(l))];
  if (!is_refuted(l, plain)) ++statistics(l).explanation_errors;
  delete[] plain;
}

// Checks that at a fixpoint of propagation no row can tighten a bound.
OUTLINE void check_fixpoint(const Learner& l) {
  u64 n = (u64)n_sides(problem(l));
  bound_t* plain = new bound_t[n];
  for (u64 side = 0; side < n; ++side) plain[side] = sides(l).now[side];
  bool changed = false;
  if (!run_rows_plainly(l, plain, &changed, false) || changed) ++statistics(l).explanation_errors;
  delete[] plain;
}

// Checks that a decision is neither true nor false already.
OUTLINE void check_supposed(const Learner& l, Literal a) {
  if (sides(l).now[a.side] >= a.k || sides(l).now[opposite(a.side)] >= 1 - a.k) ++statistics(l).explanation_errors;
}
