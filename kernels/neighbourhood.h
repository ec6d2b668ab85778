// Large neighbourhood search (Shaw, CP 1998) in the blocks that do not prove: fix a random share of the decision variables
// to the incumbent's values, search what is left with a small failure limit, adapt the share, repeat. Without an
// incumbent nothing is fixed, and this is restarted randomised search.
//
// Nothing here can touch completeness: these blocks take no subproblem, they only publish better solutions.
#pragma once

#include "search.h"

#define SHARE_LEAST 20
#define SHARE_MOST 980
#define SHARE_STEP 20
#define FAILURE_LIMIT 200
#define RESTART_UNIT 400

// Whether the i-th decision variable is kept; a hash, so that every lane decides for itself.
DEVICE bool is_kept(u64 draw, i32 i, i32 share) {
  u64 h = (draw + (u64)(i + 1) * 0x9e3779b97f4a7c15ull);  // splitmix64's finaliser
  h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9ull;
  h = (h ^ (h >> 27)) * 0x94d049bb133111ebull;
  return (h ^ (h >> 31)) % 1000 < (u64)share;
}

// Luby, Sinclair, Zuckerman 1993: 1 1 2 1 1 2 4 …, for i >= 1.
DEVICE i32 luby(i32 i) {
  for (;;) {
    i32 k = 1;
    while ((1 << k) - 1 < i) ++k;
    if ((1 << k) - 1 == i) return 1 << (k - 1);
    i -= (1 << (k - 1)) - 1;
  }
}

// The store of a new neighbourhood, its fixpoint still to be made.
DEVICE void enter_neighbourhood(const Block& b, bool has_incumbent, u64 draw) {
  const Problem* p = b.problem;
  BlockState* s = b.state;
  restore_root(b);
  i32 share = s->share;
  for (i32 i = lane(); has_incumbent && i < p->n_neighbours; i += lanes()) {
    if (!is_kept(draw, i, share)) continue;
    i32 var = p->neighbours[i];
    bound_t value = global_load(&p->incumbent[var]);
    restrict_domain(b, var, interval(value, value));
  }
  barrier();
  if (lane() == 0) {
    ++s->statistics.nodes;
    ++s->statistics.restarts;
    s->path_size = 0;
    bound_objective(b);
  }
}

// Sets up the next neighbourhood. False when the whole search is over.
DEVICE bool start_neighbourhood(const Block& b) {
  BlockState* s = b.state;
  const Common* common = b.problem->common;
  if (lane() == 0) {
    bool over = global_load(&common->stop) || global_load(&common->outstanding) == 0;
    bool has_incumbent = global_load(&common->incumbent) > 0;
    s->best = global_load(&common->best);
    s->failures_left = has_incumbent ? FAILURE_LIMIT : RESTART_UNIT * luby((i32)s->statistics.restarts + 1);
    s->place = (i64)next_random(s);
    s->granted = over ? 0 : has_incumbent ? 2 : 1;
  }
  barrier();
  i32 granted = s->granted;
  u64 draw = (u64)s->place;
  barrier();
  if (!granted) return false;
  enter_neighbourhood(b, granted == 2, draw);
  start_search(b, draw >> 63 ? FIRST_ANNOTATED : 0);
  return true;
}

// A neighbourhood that was searched to its end was too small, one that was cut too large.
DEVICE void finish_neighbourhood(const Block& b, bool exhausted) {
  if (lane() == 0) {
    BlockState* s = b.state;
    s->share += exhausted ? -SHARE_STEP : SHARE_STEP;
    if (s->share < SHARE_LEAST) s->share = SHARE_LEAST;
    if (s->share > SHARE_MOST) s->share = SHARE_MOST;
  }
  barrier();
}
