// Rows of many variables that stand for trees of ternary ones: linear rows (turbo_fzn/tnf/arrange.py), in builds with
// WHOLE_SUMS.
//
// They are numbered behind the ternary rows. Short ones come first, which a lane runs by itself; SUM_GROUP lanes run a
// long one together, each some of its terms. A row has no state: what it finds follows from the bounds that its lanes
// have read, each of which holds. Where other rows tighten bounds meanwhile, it wakes again. It bounds each term by the
// limit less the other terms (bounds consistency on inequalities: Harvey, Schimpf, 2002); a clause is a sum of at least
// one.
#pragma once

#include "bounds.h"
#include "interval.h"
#include "retire.h"
#include "store.h"

#ifndef WHOLE_SUMS
#define WHOLE_SUMS (WARP_LANES == 1)
#endif
#ifndef SUM_GROUP
#define SUM_GROUP WARP_LANES  // lanes that run a long row together
#endif

// A term's bound that is read again, beside a sum that had the bound of the first time, must not be looser.
static_assert(!WHOLE_SUMS || !ROWS_WRITE_PLAINLY || WARP_LANES == 1, "a lost bound makes others too tight");

constexpr i64 NO_END = INT64_MAX;  // of a sum
constexpr i32 NO_LITERAL = -1;

enum Truth { FALSE_ROW, TRUE_ROW, OPEN_ROW };

DEVICE bool is_sum(const Problem* p, i32 row) { return WHOLE_SUMS && row >= p->n_store_rows; }
DEVICE bool is_long_sum(const Problem* p, i32 row) { return WHOLE_SUMS && row >= p->n_store_rows + p->n_short_sums; }
DEVICE Linear sum_at(const Problem* p, i32 row) { return load_constant(&p->sums[row - p->n_store_rows]); }

DEVICE bool has_truth(const Linear& r) { return r.truth >= 0; }

DEVICE Truth truth_of(Interval x) { return x.l >= 1 ? TRUE_ROW : x.u <= 0 ? FALSE_ROW : OPEN_ROW; }

// n / d rounded down, for n >= 0 and d > 0.
DEVICE i64 quotient(i64 n, i32 d) {
  if (d == 1) return n;
  return n >> 32 == 0 ? (i64)((u32)n / (u32)d) : n / d;  // a division of 32 bits is much cheaper
}

// Restricts `var`, which had the bounds `before`, for a row; fails where nothing is left of it.
DEVICE void tell_bounds(const Block& b, i32 row, i32 var, Interval before, Interval after) {
  if (is_empty(after)) refute(b, row);
  else tighten(b, var, before, after);
}

// The ends of a sum.
struct Ends { i64 least, most; };

// The ends of a row's sum. Sets `empty` where one of its domains is.
template <i32 GROUP> DEVICE Ends ends_of(const Block& b, const Linear& r, bool* empty) {
  Ends own = {0, 0};
  for (i32 i = r.start + lane() % GROUP; i < r.end; i += GROUP) {
    Term t = load_constant(&b.problem->sum_terms[i]);
    const Interval y = interval_of(b, t.side >> 1);
    *empty |= is_empty(y);
    bool falls = t.side & 1;
    own.least += t.factor * (falls ? -(i64)y.u : (i64)y.l);
    own.most += t.factor * (falls ? -(i64)y.l : (i64)y.u);
  }
  return {group_sum(own.least, GROUP), group_sum(own.most, GROUP)};
}

// Bounds each term of a sum with these ends so that it can stay within low..high.
template <i32 GROUP> DEVICE void keep_within(const Block& b, i32 row, const Linear& r, Ends sum, i64 low, i64 high) {
  const i64 below = high == NO_END ? NO_END : high - sum.least, above = low == -NO_END ? NO_END : sum.most - low;
  for (i32 i = r.start + lane() % GROUP; i < r.end; i += GROUP) {
    Term t = load_constant(&b.problem->sum_terms[i]);
    i32 var = t.side >> 1;
    const Interval before = interval_of(b, var);
    i64 room = ((i64)before.u - before.l) * t.factor;
    bool falls = t.side & 1;
    Interval after = before;
    if (room > below) {  // the side may rise by no more than that
      i64 most = quotient(below, t.factor);
      if (falls) raise(after, (value_t)(before.u - most));
      else reduce(after, (value_t)(before.l + most));
    }
    if (room > above) {
      i64 most = quotient(above, t.factor);
      if (falls) reduce(after, (value_t)(before.l + most));
      else raise(after, (value_t)(before.u - most));
    }
    if (room > below || room > above) tell_bounds(b, row, var, before, after);
  }
}

// The sum is not `high`: removes an end of the only term that is not fixed, if there is one.
template <i32 GROUP> DEVICE void keep_apart(const Block& b, i32 row, const Linear& r) {
  i64 fixed = 0;
  i32 own_open = 0, open = 0;
  for (i32 i = r.start + lane() % GROUP; i < r.end; i += GROUP) {
    Term t = load_constant(&b.problem->sum_terms[i]);
    const Interval x = interval_of(b, t.side >> 1);
    if (is_single(x)) {
      fixed += (t.side & 1 ? -(i64)x.l : (i64)x.l) * t.factor;
    } else {
      ++own_open;
      open = i;
    }
  }
  i64 rest = r.high - group_sum(fixed, GROUP), n_open = group_sum((i64)own_open, GROUP);
  if (n_open == 0 && rest == 0) refute(b, row);
  if (n_open != 1 || own_open != 1) return;
  Term t = load_constant(&b.problem->sum_terms[open]);
  i64 value = rest / t.factor * (t.side & 1 ? -1 : 1);
  const Interval before = interval_of(b, t.side >> 1);
  if (rest % t.factor != 0 || value < before.l || value > before.u) return;
  Interval after = before;
  exclude(after, (value_t)value);
  tell_bounds(b, row, t.side >> 1, before, after);
}

// Runs a row whose truth is open: decides it, if the sum does.
template <i32 GROUP> DEVICE Told decide_truth(const Block& b, i32 row, const Linear& r, Interval x, Ends sum) {
  bool equal = r.kind == LINEAR_EQUAL;
  Interval told = x;
  if (sum.least > r.high || (equal && sum.most < r.high)) told.u = 0;
  else if (equal ? sum.least == r.high && sum.most == r.high : sum.most <= r.high) told.l = 1;
  if (lane() % GROUP == 0) tell_bounds(b, row, r.truth, x, told);
  [[maybe_unused]] bool changed = !is_same(x, told);
  return TELL(changed, MAY_RETIRE(changed) && changed);
}

// Runs a clause, by one lane: a true literal satisfies it, and two that may become true leave nothing to say. Since it
// tightens only what all its other literals leave, it sees a domain that it has emptied together with another row.
DEVICE Told propagate_clause(const Block& b, i32 row, const Linear& r) {
  i32 last = NO_LITERAL;  // that may become true
  for (i32 i = r.start; i < r.end; ++i) {
    const i32 literal = load_constant(&b.problem->sum_terms[i]).side;
    const Interval x = interval_of(b, literal >> 1);
    if (is_empty(x)) return refute(b, row);
    const Truth truth = truth_of(literal & 1 ? interval(1 - x.u, 1 - x.l) : x);
    if (truth == TRUE_ROW) return TELL(false, MAY_RETIRE(false));
    if (truth == FALSE_ROW) continue;
    if (last != NO_LITERAL) return TELL(false, false);
    last = literal;
  }
  if (last == NO_LITERAL) return refute(b, row);
  const value_t wanted = 1 - (last & 1);
  tell_bounds(b, row, last >> 1, interval(0, 1), interval(wanted, wanted));
  return TELL(true, MAY_RETIRE(true));
}

// Runs a row, by all lanes of a group. Returns whether all values left satisfy it, as propagate_row.
template <i32 GROUP> DEVICE Told propagate_sum(const Block& b, i32 row) {
  const Linear r = sum_at(b.problem, row);
  if (GROUP == 1 && r.kind == LINEAR_CLAUSE) return propagate_clause(b, row, r);
  const Interval always = {1, 1};
  const Interval x = !has_truth(r) ? always : interval_of(b, r.truth);
  bool empty = is_empty(x);
  const Ends sum = ends_of<GROUP>(b, r, &empty);
  if (group_any(empty, GROUP)) return refute(b, row);
  const Truth truth = (Truth)group_first((u32)truth_of(x), GROUP);  // the lanes of a group must not part
  if (truth == OPEN_ROW) return decide_truth<GROUP>(b, row, r, x, sum);
  i64 low = -NO_END, high = NO_END;
  if (truth == FALSE_ROW && r.kind == LINEAR_EQUAL) {
    keep_apart<GROUP>(b, row, r);
    return TELL(true, MAY_RETIRE(false) && (sum.least > r.high || sum.most < r.high));
  }
  if (truth == FALSE_ROW) {
    low = r.high + 1;
  } else {
    if (r.high < INFINITE_BOUND) high = r.high;
    if (r.kind == LINEAR_EQUAL) low = r.high;
    else if (!has_truth(r) && r.low > -INFINITE_BOUND) low = r.low;
  }
  if (sum.least > high || sum.most < low) return refute(b, row);
  if (sum.least >= low && sum.most <= high) return TELL(false, MAY_RETIRE(false));
  keep_within<GROUP>(b, row, r, sum, low, high);
  return TELL(true, false);
}

// By a lane, and by a group of them.
DEVICE Told propagate_short_sum(const Block& b, i32 row) { return propagate_sum<1>(b, row); }
DEVICE Told propagate_long_sum(const Block& b, i32 row) { return propagate_sum<SUM_GROUP>(b, row); }
