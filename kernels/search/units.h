// Root bounds that hold in every solution better than the incumbent: words that only grow, one a side.
//
// Learners find them, and the host brings those of other engines. Word 2x is the lower bound of x, word 2x + 1 minus
// its upper one; they begin as the root's. Each word holds by itself, so they need no lock, and a reader may have older
// and newer ones mixed. A block applies them at the root of a task, like decisions: the changes wake rows, so the rest
// may rely on the root's fixpoint as before.
//
// They do not hold in solutions that are no better than the incumbent. So a search that has used them claims no more
// than that nothing is better than the current incumbent (docs/design/correctness.md), and islands, which want worse
// solutions, do not use them.
#pragma once

#include "../core/interval.h"
#include "../core/store.h"
#include "task.h"

DEVICE bound_t* unit_words(const Problem* p) { return (bound_t*)(p->units + 1); }

// Applies the units to the store, which is the root store. Ends with a barrier.
OUTLINE void apply_units(const Block b) {
  const Problem* p = b.problem;
  if (task(b).island != 0) return;
  if (global_load(&p->units->version) > 0) {
    const bound_t* words = unit_words(p);
    for (i32 v = lane(); v < p->n_store_vars; v += lanes()) {
      bound_t lower = global_load(&words[2 * (i64)v]), upper = (bound_t)minus(global_load(&words[2 * (i64)v + 1]));
      bound_t now_lower = lower_of(b, v), now_upper = upper_of(b, v);
      if (lower <= now_lower && upper >= now_upper) continue;
      if (lower <= upper) restrict_domain(b, v, interval(maximum(lower, now_lower), minimum(upper, now_upper)));
      else fail(b);
    }
  }
  barrier();  // one lane has applied both bounds of a variable, before others decide on it
}
