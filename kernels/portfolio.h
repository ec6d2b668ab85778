// Which method a block uses next: a bandit over the methods, with its books in memory that all blocks share.
//
// The share of time that a method gets follows the improvements it brought for the time it took, of late and in all
// blocks; a part is dealt out evenly, so that no method is forgotten.
#pragma once

#include "search.h"
#include "walk.h"

#define EVEN_PERCENT 30        // of the time
#define PROBE_WEIGHT 0.25f     // proofs from below are rare
#define PRIOR_NS 20000000      // a block's time that is added to each method's
#define PRIOR_TRY_NS 1000000   // what a first try is expected to take
#define RECENT_NS 500000000    // a block's time after which the recent figures are halved

// Whether any block searches the tree: else every proof is left to the restarts.
DEVICE bool searches_tree(const Problem* p) { return p->lns_percent == 0 || (p->methods >> METHOD_TREE & 1); }

DEVICE bool is_allowed(const Problem* p, i32 method, bool improve) {
  if (!(p->methods >> method & 1) || method == METHOD_TREE) return false;
  if (method == METHOD_PROBE) return p->sense != 0;
  return improve || method >= FIRST_RESTART;
}

// Improvements for a block's second, recently.
DEVICE float pay_rate(const Problem* p, i32 method) {
  const MethodBook* book = &p->books[method];
  float time = (float)global_load(&book->recent_ns) + (float)PRIOR_NS * (float)p->n_blocks;
  return ((float)global_load(&book->recent_gain) + 1) * 1e9f / time;
}

// The shares of time are odds of draws when divided by what a try takes.
DEVICE float tries_a_second(const Problem* p, i32 method) {
  const MethodBook* book = &p->books[method];
  float tries = (float)global_load(&book->tries) + 1;
  return tries * 1e9f / ((float)global_load(&book->busy_ns) + PRIOR_TRY_NS);
}

DEVICE float odds_of(const Problem* p, i32 method, bool improve, bool even) {
  if (!is_allowed(p, method, improve)) return 0;
  float odds = tries_a_second(p, method) * (even || !improve ? 1 : pay_rate(p, method));
  return method == METHOD_PROBE ? odds * PROBE_WEIGHT : odds;
}

// Lane 0: the method of the next task; `improve` when there is an incumbent to start from. Weighted restarts when no
// method is allowed.
DEVICE i32 draw_method(const Block& b, bool improve) {
  const Problem* p = b.problem;
  u64 draw = next_random(b.state);
  bool even = draw % 100 < EVEN_PERCENT;
  float total = 0;
  for (i32 method = 0; method < N_METHODS; ++method) total += odds_of(p, method, improve, even);
  float place = (float)(draw >> 40) * 0x1p-24f * total;
  i32 chosen = METHOD_WEIGHTED;
  for (i32 method = 0; method < N_METHODS; ++method) {
    float odds = odds_of(p, method, improve, even);
    if (odds == 0) continue;
    chosen = method;
    if (place < odds) break;
    place -= odds;
  }
  return chosen;
}

// Lane 0, after a task: enters what it cost and brought.
OUTLINE void keep_books(const Block b) {
  const Problem* p = b.problem;
  BlockState* s = b.state;
  MethodBook* book = &p->books[s->method];
  i64 spent = now_ns() - s->since;
  global_add(&book->tries, (i64)1);
  global_add(&book->busy_ns, spent);
  i64 recent = global_add(&book->recent_ns, spent) + spent;
  if (s->improvements) {
    global_add(&book->improvements, (i64)s->improvements);
    global_add(&book->recent_gain, (i64)s->improvements);
  }
  if (recent > (i64)RECENT_NS * p->n_blocks && global_replace(&book->recent_ns, recent, recent / 2)) {
    global_add(&book->recent_gain, -(global_load(&book->recent_gain) / 2));
  }
}
