// Linear rows, which replace trees of ternary sums in a learner (turbo_fzn/tnf/fuse.py).
//
// A term is a factor times a side. The sum grows as sides grow; over the opposite sides it is the negated sum, so the
// same code propagates and explains both ends of a range: with `flip` 0 for the sum itself, 1 for its negation. A sum
// of at most `limit` bounds each term:
//
//     factor * side <= limit - (the least sum of the other terms)
//
// which is bounds consistency on an inequality (Harvey, Schimpf, 2002). The reason for such a threshold is the least
// sum of the others. It may be larger than needed: the slack is given to one term after the other, whose premises
// become weaker (Ohrimenko, Stuckey, Codish, Constraints 2009; Feydy, Stuckey, CP 2009). The host puts terms with small
// factors first, so that the slack is enough for many of them and clauses have few variables.
#pragma once

#include "../../core/assert.h"
#include "../../core/interval.h"
#include "../../core/sums.h"
#include "../state/ablation.h"
#include "../state/literal.h"
#include "oracle.h"
#include "../state/parts.h"
#include "resolvent.h"
#include "../state/sides.h"
#include "../state/trail.h"

constexpr i64 NO_LIMIT = INT64_MAX;

DEVICE const Linear& linear_at(const Problem* p, i32 row) {
  ASSERT(is_linear(p, row));
  return p->linears[row - p->n_rows];
}

// The upper limit of the sum (flip 0) or its negation (1) if the row's truth is `truth`.
DEVICE i64 limit_of(const Linear& r, i32 flip, bool truth) {
  if (!truth) return r.kind == LINEAR_AT_MOST && flip ? -r.high - 1 : NO_LIMIT;
  if (flip == 0) return r.high >= INFINITE_BOUND ? NO_LIMIT : r.high;
  return r.kind == LINEAR_AT_MOST || r.low <= -INFINITE_BOUND ? NO_LIMIT : -r.low;
}

// Whether a second run would change nothing: the row moves other sides than it reads.
DEVICE bool runs_once(const Linear& r) {
  if (r.kind != LINEAR_RANGE) return r.kind == LINEAR_AT_MOST;
  return r.low <= -INFINITE_BOUND || r.high >= INFINITE_BOUND;
}

DEVICE i64 floor_quotient(i64 n, i64 d) { return n / d - (n % d < 0); }  // d > 0

DEVICE Truth truth_of(const Learner& l, const Linear& r) {
  if (r.kind == LINEAR_RANGE || sides(l).now[lower_side(r.truth)] >= 1) return TRUE_ROW;
  return sides(l).now[upper_side(r.truth)] >= 0 ? FALSE_ROW : OPEN_ROW;
}

// The least value of the sum (flip 0) or its negation (1).
DEVICE i64 least_sum(const Learner& l, const Linear& r, i32 flip) {
  const bound_t* now = sides(l).now;
  i64 sum = 0;
  for (i32 i = r.start; i < r.end; ++i) {
    Term t = problem(l)->terms[i];
    sum += (i64)t.factor * now[t.side ^ flip];
  }
  return sum;
}

// Bounds every term by the limit less the other terms. False on a fault.
DEVICE bool keep_below(Learner& l, i32 row, i32 flip, i64 least, i64 limit) {
  if (limit == NO_LIMIT) return true;
  const Linear& r = linear_at(problem(l), row);
  const bound_t* now = sides(l).now;
  i64 slack = limit - least;
  for (i32 i = r.start; i < r.end; ++i) {
    Term t = problem(l)->terms[i];
    i32 side = t.side ^ flip;
    i64 open = -(i64)now[opposite(side)] - now[side];
    if (open * t.factor <= slack) continue;
    i64 most = now[side] + maximum(floor_quotient(slack, t.factor), (i64)-1);  // one too few is a fault already
    if (!set_side(l, opposite(side), (value_t)-most, row_reason(row))) return false;
  }
  return true;
}

// Sets the row's truth, if the sum implies it. False on a fault.
DEVICE bool decide_truth(Learner& l, i32 row, i64 least, i64 most) {
  const Linear& r = linear_at(problem(l), row);
  bool equal = r.kind == LINEAR_EQUAL;
  if (least > r.high || (equal && most < r.high)) return set_side(l, upper_side(r.truth), 0, row_reason(row));
  if (equal ? least == r.high && most == r.high : most <= r.high) {
    return set_side(l, lower_side(r.truth), 1, row_reason(row));
  }
  return true;
}

// The sum is not `high`: removes a bound of the only term that is not fixed, if there is one. False on a fault.
DEVICE bool keep_apart(Learner& l, i32 row, i64 least, i64 most) {
  const Linear& r = linear_at(problem(l), row);
  if (least == most) return least != r.high || set_side(l, lower_side(r.truth), 1, row_reason(row));
  const bound_t* now = sides(l).now;
  i32 open = -1;
  for (i32 i = r.start; i < r.end; ++i) {
    if (is_fixed(l, var_of(problem(l)->terms[i].side))) continue;
    if (open >= 0) return true;
    open = i;
  }
  Term t = problem(l)->terms[open];
  i64 rest = r.high - (least - (i64)t.factor * now[t.side]), value = rest / t.factor;
  if (rest % t.factor != 0) return true;
  if (value == now[t.side]) return set_side(l, t.side, (value_t)value + 1, row_reason(row));
  if (value == -(i64)now[opposite(t.side)]) return set_side(l, opposite(t.side), (value_t)-value + 1, row_reason(row));
  return true;
}

OUTLINE bool run_linear(Learner& l, i32 row) {
  const Linear& r = linear_at(problem(l), row);
  i64 least = least_sum(l, r, 0), most = -least_sum(l, r, 1);
  Truth truth = truth_of(l, r);
  if (truth == OPEN_ROW) return decide_truth(l, row, least, most);
  if (truth == FALSE_ROW && r.kind == LINEAR_EQUAL) return keep_apart(l, row, least, most);
  return keep_below(l, row, 0, least, limit_of(r, 0, truth)) && keep_below(l, row, 1, -most, limit_of(r, 1, truth));
}

// ---- explanations

// The term of the variable.
DEVICE i32 find_term(const Learner& l, const Linear& r, i32 var) {
  i32 i = r.start;
  while (var_of(problem(l)->terms[i].side) != var) ++i;
  ASSERT(i < r.end);
  return i;
}

// The threshold to which a premise can be lowered at no further cost: the root's, or one that the resolvent holds.
DEVICE bound_t free_threshold(const Learner& l, i32 side, bound_t held_k) {
  bound_t root = sides(l).root[side];
  if (resolvent(l).entry[side] < 0) return root;
  return minimum(maximum(root, resolvent(l).k[side]), held_k);
}

// Adds premises for "the terms but `skip`, in the direction of `flip`, summed up to at least `need` before entry t".
// False when they did not.
DEVICE bool explain_least(const Learner& l, const Linear& r, i32 flip, i32 skip, wide_t need, i32 t, Premises& why) {
  const Term* terms = problem(l)->terms;
  wide_t slack = -need;
  for (i32 i = r.start; i < r.end; ++i) {
    if (i != skip) slack += (wide_t)terms[i].factor * held(l, terms[i].side ^ flip, t);
  }
  if (slack < 0) return false;
  if (is_left_out(WITHOUT_LIFTING)) slack = 0;
  for (i32 i = r.start; i < r.end; ++i) {
    if (i == skip) continue;
    i32 side = terms[i].side ^ flip;
    bound_t k = held(l, side, t);
    wide_t back = minimum((wide_t)k - free_threshold(l, side, k), slack / terms[i].factor);
    slack -= back * terms[i].factor;
    add_premise(l, why, literal(side, (bound_t)(k - back)));
  }
  return true;
}

// The reason of a literal of the row's truth.
DEVICE bool explain_truth(const Learner& l, const Linear& r, Literal a, i32 t, Premises& why) {
  bool equal = r.kind == LINEAR_EQUAL;
  if (is_upper(a.side)) {
    if (explain_least(l, r, 0, -1, (wide_t)r.high + 1, t, why)) return true;
    return equal && explain_least(l, r, 1, -1, 1 - (wide_t)r.high, t, why);
  }
  bool below = explain_least(l, r, 1, -1, -(wide_t)r.high, t, why);
  return below && (!equal || explain_least(l, r, 0, -1, r.high, t, why));
}

// The reason from "the sum is not `high`": all other terms are fixed, and the term of `a` was at the excluded value.
DEVICE bool explain_apart(const Learner& l, const Linear& r, i32 own, Literal a, i32 t, Premises& why) {
  for (i32 i = r.start; i < r.end; ++i) {
    for (i32 flip = 0; i != own && flip < 2; ++flip) {
      i32 side = problem(l)->terms[i].side ^ flip;
      add_premise(l, why, literal(side, held(l, side, t)));
    }
  }
  add_premise(l, why, literal(a.side, a.k - 1));
  return true;
}

OUTLINE bool explain_linear(const Learner& l, i32 row, Literal a, i32 t, Premises& why) {
  const Linear& r = linear_at(problem(l), row);
  i32 var = var_of(a.side);
  if (var == r.truth) return explain_truth(l, r, a, t, why);
  bool truth = true;
  if (r.kind != LINEAR_RANGE) {
    truth = held(l, lower_side(r.truth), t) >= 1;
    add_premise(l, why, truth ? literal(lower_side(r.truth), 1) : literal(upper_side(r.truth), 0));
  }
  i32 own = find_term(l, r, var);
  if (r.kind == LINEAR_EQUAL && !truth) return explain_apart(l, r, own, a, t, why);
  i32 flip = problem(l)->terms[own].side == a.side;  // the limit is on the side opposite to that of `a`
  i64 limit = limit_of(r, flip, truth);
  wide_t need = (wide_t)limit + 1 - (wide_t)problem(l)->terms[own].factor * (1 - (wide_t)a.k);
  return limit != NO_LIMIT && explain_least(l, r, flip, own, need, t, why);
}
