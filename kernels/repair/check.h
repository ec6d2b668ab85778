// Assertions on a walk: what was computed change by change is what is computed from the values alone.
#pragma once

#include "../core/assert.h"
#include "../core/sums.h"
#include "flow.h"
#include "state.h"
#include "violation.h"

#ifdef CHECK_ASSERTIONS

// The sum of a row's terms, without the term that the row defines.
DEVICE i64 total_of(const Walk& w, i32 row) {
  const Problem* p = w.problem;
  const Linear sum = sum_at(p, row);
  const i32 place = p->definition_places[row], defined = place < 0 ? -1 : p->definitions[place].var;
  i64 total = 0;
  for (i32 i = sum.start; i < sum.end; ++i) {
    const Term t = p->sum_terms[i];
    if (t.side >> 1 == defined) continue;
    total += (t.side & 1 ? -(i64)t.factor : (i64)t.factor) * w.value[t.side >> 1];
  }
  return total;
}

// Lane 0 of the warp.
DEVICE void assert_whole(const Walk& w) {
  const Problem* p = w.problem;
  for (i32 i = 0; i < p->n_sums; ++i) ASSERT(w.sums[i] == total_of(w, p->n_store_rows + i));
  for (i32 i = 0; i < p->n_definitions; ++i) {
    const Definition d = p->definitions[i];
    ASSERT(w.value[d.var] == defined_value(w, d));
  }
  for (i32 i = 0; i < pending_words(*p); ++i) ASSERT(w.pending[i] == 0);
  i32 n_violated = 0;
  for (i32 c = 0; c < count_constraints(*p); ++c) {
    ASSERT(w.cost[c] == (counts(w, c) ? current_cost(w, c) : 0));
    ASSERT((w.cost[c] > 0) == (w.place[c] >= 0));
    if (w.place[c] >= 0) ASSERT(w.violated[w.place[c]] == c);
    n_violated += w.cost[c] > 0;
  }
  ASSERT(n_violated == w.n_violated);
  for (i32 var = 0; var < p->n_store_vars; ++var) {
    if (reach_of(w, var).definer >= 0) continue;
    ASSERT(p->root_lower[var] <= w.value[var] && w.value[var] <= p->root_upper[var]);
  }
}

#else

DEVICE void assert_whole(const Walk&) {}

#endif
