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
#define FAILURES_SURE 10
#define WORK_SIZES 5  // a neighbourhood may cost 1, 2, 4, 8 or 16 times as many propagator runs as there are rows
#define AMBITION 16
#define RESTART_UNIT 400

// Whether the i-th decision variable is kept; a hash, so that every lane decides for itself.
DEVICE bool is_kept(u64 draw, i32 i, i32 share) {
  return hash(draw + (u64)(i + 1) * 0x9e3779b97f4a7c15ull) % 1000 < (u64)share;
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

// Whether the i-th of n decision variables lies outside the window, in the annotated order, that is set free.
DEVICE bool is_outside_window(u64 draw, i32 i, i32 n, i32 share) {
  i32 length = (i32)((i64)n * (1000 - share) / 1000) + 1;
  i32 start = (i32)((draw >> 20) % (u64)n), place = i - start;
  return (place < 0 ? place + n : place) >= length;
}

// Lane 0: how good a solution the next neighbourhood must have. Steps of one would take for ever where the objective is
// large, so half of them want up to a sixteenth of what there is to gain at most.
DEVICE i64 draw_target(const Block& b) {
  const Problem* p = b.problem;
  BlockState* s = b.state;
  if (s->best == NO_INCUMBENT || next_random(s) >> 63) return NO_INCUMBENT;
  i64 least = p->sense > 0 ? (i64)p->root_lower[p->objective] : -(i64)p->root_upper[p->objective];
  u64 gain = ((u64)s->best - (u64)least) / AMBITION;
  return gain == 0 ? NO_INCUMBENT : s->best - 1 - (i64)(next_random(s) % gain);
}

// The store of a new neighbourhood, its fixpoint still to be made.
DEVICE void enter_neighbourhood(const Block& b, bool has_incumbent, u64 draw) {
  const Problem* p = b.problem;
  BlockState* s = b.state;
  restore_root(b);
  i32 share = s->share;
  for (i32 i = lane(); has_incumbent && i < p->n_neighbours; i += lanes()) {
    bool window = draw >> 62 & 1;
    if (!(window ? is_outside_window(draw, i, p->n_neighbours, share) : is_kept(draw, i, share))) continue;
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
  const Problem* p = b.problem;
  const Common* common = p->common;
  if (lane() == 0) {
    bool over = global_load(&common->stop) || global_load(&common->outstanding) == 0;
    bool has_incumbent = global_load(&common->incumbent) > 0;
    s->best = global_load(&common->best);
    s->failures_left = has_incumbent ? FAILURE_LIMIT : RESTART_UNIT * luby((i32)s->statistics.restarts + 1);
    s->failures_sure = s->failures_left - FAILURES_SURE;
    i64 work = ((i64)p->n_rows + 64) << next_random(s) % WORK_SIZES;
    s->runs_limit = has_incumbent ? s->statistics.propagations + work : INT64_MAX;
    s->target = draw_target(b);
    s->place = (i64)next_random(s);
    s->noise = next_random(s);
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
