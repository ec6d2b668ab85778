// Cycles of differences, which are looked for where propagation to a fixpoint takes many rounds.
//
// x < y and y < x push each other by one, through domains of any width; no row sees that this never ends. Each of them
// is a difference, `side >= other side + gain`, and the gains along the cycle add up to more than 0: a contradiction,
// whatever the domains (Feydy, Schutt, Stuckey, Global difference constraint propagation for finite domain solvers,
// PPDP 2008). A side is a variable or its negation. A row of more variables is a difference of two of them while the
// others are at a bound, and a comparison is one while its truth is known, so what is found holds in this store.
//
// The search is Bellman and Ford's for longest paths from all sides at once: along a cycle of positive length the
// parents of sides soon form a cycle. It has memory of its own, by the block's one lane. Without a cycle that lasts,
// n variables need at most n rounds, so most fixpoints never come here.
#pragma once

#include <stdlib.h>

#include "interval.h"
#include "model.h"
#include "store.h"
#include "sums.h"
#include "tuning.h"

constexpr i64 MOST_GAIN = (i64)1 << 40;  // formula: of a difference; larger are left out, so that nothing overflows
constexpr i64 MOST_FAR = (i64)1 << 60;  // formula: longer paths are left out, so that nothing overflows

// The paths found so far, by the side where they end.
struct Paths {
  i64* length;
  i64* gain;    // of the last difference
  i32* before;  // the side where the last difference begins, or -1
  i32* seen;    // by which walk
  bool longer;  // a path has become longer in this pass
};

DEVICE i32 side_of(i32 var, bool falls) { return 2 * var + falls; }

DEVICE value_t most_of(const Block& b, i32 side) {
  const Interval v = interval_of(b, side >> 1);
  return side & 1 ? minus(v.l) : v.u;
}

// to >= from + gain.
DEVICE void follow(Paths& p, i32 from, i32 to, wide_t gain) {
  if (gain > MOST_GAIN || gain < -MOST_GAIN) return;
  i64 length = p.length[from] + (i64)gain;
  if (length <= p.length[to] || length > MOST_FAR) return;
  p.length[to] = length;
  p.gain[to] = (i64)gain;
  p.before[to] = from;
  p.longer = true;
}

// The differences of any two terms of equal factors in: sum of terms >= least.
DEVICE void follow_sum(const Block& b, Paths& p, const Term* terms, i32 n, wide_t least) {
  for (i32 i = 0; i < n; ++i) {
    for (i32 j = 0; j < n; ++j) {
      if (i == j || terms[i].factor != terms[j].factor) continue;
      wide_t rest = least;
      bool bounded = true;
      for (i32 k = 0; k < n; ++k) {
        if (k == i || k == j) continue;
        const value_t most = most_of(b, terms[k].side);
        bounded &= !is_infinite(most);
        rest -= (wide_t)most * terms[k].factor;
      }
      const i32 factor = terms[i].factor;
      if (bounded) follow(p, terms[j].side ^ 1, terms[i].side, rest / factor + (rest % factor > 0));
    }
  }
}

// Follows: greater >= less + gain.
DEVICE void follow_pair(const Block& b, Paths& p, i32 less, i32 greater, i32 gain) {
  const Term terms[2] = {{side_of(less, true), 1}, {side_of(greater, false), 1}};
  follow_sum(b, p, terms, 2, gain);
}

DEVICE void follow_row(const Block& b, Paths& p, const Row r) {
  const Interval x = interval_of(b, r.x);
  if (r.op == OP_ADD) {
    const Term up[3] = {{side_of(r.x, true), 1}, {side_of(r.y, false), 1}, {side_of(r.z, false), 1}};
    const Term down[3] = {{side_of(r.x, false), 1}, {side_of(r.y, true), 1}, {side_of(r.z, true), 1}};
    follow_sum(b, p, up, 3, 0);
    follow_sum(b, p, down, 3, 0);
  } else if (r.op == OP_MIN) {
    follow_pair(b, p, r.x, r.y, 0);
    follow_pair(b, p, r.x, r.z, 0);
  } else if (r.op == OP_MAX) {
    follow_pair(b, p, r.y, r.x, 0);
    follow_pair(b, p, r.z, r.x, 0);
  } else if (r.op == OP_LEQ || r.op == OP_EQ) {
    if (x.l >= 1) follow_pair(b, p, r.y, r.z, 0);
    if (x.l >= 1 && r.op == OP_EQ) follow_pair(b, p, r.z, r.y, 0);
    if (x.u <= 0 && r.op == OP_LEQ) follow_pair(b, p, r.z, r.y, 1);
  }
}

// Follows a linear row; `falls`: sum <= limit, else sum >= limit.
DEVICE void follow_linear(const Block& b, Paths& p, const Linear& r, bool falls, i64 limit) {
  Term open[CYCLE_TERMS];
  i32 n = 0;
  wide_t rest = falls ? -limit : limit;
  for (i32 i = r.start; i < r.end; ++i) {
    Term t = load_constant(&b.problem->sum_terms[i]);
    t.side ^= falls;
    if (is_fixed(b, t.side >> 1)) rest -= (wide_t)most_of(b, t.side) * t.factor;
    else if (n == CYCLE_TERMS) return;
    else open[n++] = t;
  }
  follow_sum(b, p, open, n, rest);
}

DEVICE void follow_sum_row(const Block& b, Paths& p, const Linear& r) {
  if (r.kind == LINEAR_CLAUSE) return;
  const Truth truth = has_truth(r) ? truth_of(interval_of(b, r.truth)) : TRUE_ROW;
  if (truth == FALSE_ROW && r.kind == LINEAR_AT_MOST) follow_linear(b, p, r, false, r.high + 1);
  if (truth != TRUE_ROW) return;
  if (r.high < INFINITE_BOUND) follow_linear(b, p, r, true, r.high);
  const i64 low = r.kind == LINEAR_EQUAL ? r.high : has_truth(r) ? -INFINITE_BOUND : r.low;
  if (low > -INFINITE_BOUND) follow_linear(b, p, r, false, low);
}

// The sum of the gains along the cycle of parents through `side`.
DEVICE i64 length_of_cycle(const Paths& p, i32 side) {
  i64 length = 0;
  i32 at = side;
  do {
    length += p.gain[at];
    at = p.before[at];
  } while (at != side);
  return length;
}

// Whether the parents have a cycle of positive length.
DEVICE bool has_cycle(Paths& p, i32 n_sides) {
  for (i32 side = 0; side < n_sides; ++side) p.seen[side] = -1;
  for (i32 first = 0; first < n_sides; ++first) {
    i32 side = first;
    while (side >= 0 && p.seen[side] < 0) {
      p.seen[side] = first;
      side = p.before[side];
    }
    if (side >= 0 && p.seen[side] == first && length_of_cycle(p, side) > 0) return true;
  }
  return false;
}

DEVICE bool find_cycle(const Block& b, Paths& p, i32 n_sides) {
  for (i32 pass = 0; pass < CYCLE_PASSES; ++pass) {
    p.longer = false;
    for (i32 row = 0; row < b.problem->n_store_rows; ++row) follow_row(b, p, row_at(b, row));
    for (i32 row = b.problem->n_store_rows; row < count_rows(*b.problem); ++row) {
      follow_sum_row(b, p, sum_at(b.problem, row));
    }
    if (!p.longer) return false;
    if (has_cycle(p, n_sides)) return true;
  }
  return false;
}

// Whether differences contradict each other in this store. No, where they were not looked at, or there is no memory.
OUTLINE bool has_cycle_of_differences(const Block& b) {
  const i32 n_sides = 2 * b.problem->n_store_vars;
  char* memory = (char*)calloc((size_t)n_sides, 2 * sizeof(i64) + 2 * sizeof(i32));
  if (!memory) return false;
  Paths p = {(i64*)memory, (i64*)memory + n_sides, (i32*)((i64*)memory + 2 * n_sides), 0, false};
  p.seen = p.before + n_sides;
  for (i32 side = 0; side < n_sides; ++side) p.before[side] = -1;
  bool found = find_cycle(b, p, n_sides);
  free(memory);
  return found;
}
