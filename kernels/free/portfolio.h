// The choice of a block's next method: a bandit over the methods, with its books in memory that all blocks share.
//
// The share of time that a method gets follows its recent improvements per time in all blocks; a part of the time is
// divided evenly, so that no method is forgotten.
#pragma once

#include "../core/assert.h"
#include "../core/random.h"
#include "../core/store.h"
#include "../repair/state.h"
#include "../search/branch.h"
#include "../search/incumbent.h"
#include "../search/mailbox.h"
#include "../search/task.h"
#include "tuning.h"

// Whether any block searches the tree: else every proof is left to the restarts.
DEVICE bool searches_tree(const Problem* p) { return p->lns_percent == 0 || (p->methods >> METHOD_TREE & 1); }

DEVICE bool is_allowed(const Problem* p, i32 method, bool improve) {
  if (!(p->methods >> method & 1) || method == METHOD_TREE || method >= FIRST_LEARNER) return false;
  if (method == METHOD_PROBE) return p->sense != 0;
  // The clock of a single block does not count the steps of a walk.
  if (method == METHOD_REPAIR) return WALKS && p->walks && p->n_blocks > 1;
  return improve || method >= FIRST_RESTART;
}

// The recent number of tasks that improved on the record, per second of a block.
DEVICE float pay_rate(const MethodBook* book, i32 n_blocks) {
  float time = (float)global_load(&book->recent_ns) + (float)PRIOR_NS * (float)n_blocks;
  return ((float)global_load(&book->recent_gain) + 1) * 1e9f / time;
}

// The mean time of a task.
DEVICE float usual_ns(const MethodBook* book) {
  return ((float)global_load(&book->busy_ns) + PRIOR_TRY_NS) / ((float)global_load(&book->tries) + 1);
}

// The odds of drawing a method: its share of time, divided by the time of a task. That time is known only when a task
// ends, which may be late, so a method that holds twice its share of the blocks waits.
DEVICE float odds_of(const Problem* p, i32 method, float share) {
  const MethodBook* book = &p->books[method];
  float blocks = (float)(p->n_blocks * p->lns_percent / 100);
  bool crowded = (float)global_load(&book->running) > 2 * share * blocks + 1;
  return crowded ? 0 : share / usual_ns(book);
}

DEVICE float weight_of_method(i32 method, bool improve) {
  if (method == METHOD_REPAIR) return improve ? REPAIR_WEIGHT : FIRST_REPAIR_WEIGHT;
  return method == METHOD_PROBE ? PROBE_WEIGHT : 1;
}

// Whether nobody has walked yet, or does: a short walk comes first, since restarts may take long.
DEVICE bool walks_first(const Problem* p) {
  const MethodBook* book = &p->books[METHOD_REPAIR];
  return is_allowed(p, METHOD_REPAIR, false) && global_load(&book->tries) == 0 && global_load(&book->running) == 0;
}

// Lane 0: draws the method of the next task; `improve` when there is an incumbent to start from. Weighted restarts when
// no method is allowed.
DEVICE i32 draw_method(const Block& b, bool improve) {
  const Problem* p = b.problem;
  if (walks_first(p)) return METHOD_REPAIR;
  float odds[N_METHODS], paid = 0, even = 0, total = 0;
  for (i32 method = 0; method < N_METHODS; ++method) {
    float weight = !is_allowed(p, method, improve) ? 0 : weight_of_method(method, improve);
    odds[method] = weight;
    even += weight;
    paid += weight * pay_rate(&p->books[method], p->n_blocks);
  }
  for (i32 method = 0; method < N_METHODS; ++method) {
    if (odds[method] == 0) continue;
    float rate = improve ? pay_rate(&p->books[method], p->n_blocks) / paid : 1 / even;
    odds[method] = odds_of(p, method, odds[method] * (EVEN_SHARE / even + (1 - EVEN_SHARE) * rate));
    total += odds[method];
  }
  float place = (float)fraction(next_random(b)) * total;
  i32 chosen = METHOD_WEIGHTED;
  for (i32 method = 0; method < N_METHODS; ++method) {
    if (odds[method] == 0) continue;
    chosen = method;
    if (place < odds[method]) break;
    place -= odds[method];
  }
  ASSERT(0 <= chosen && chosen < N_METHODS);
  return chosen;
}

// Lane 0, when a task is chosen.
DEVICE void open_books(const Block& b) { global_add(&b.problem->books[task(b).method].running, (i64)1); }

// Lane 0, after a task: enters its time and whether it improved. Many small improvements in one task count as one.
OUTLINE void keep_books(const Block b) {
  const Problem* p = b.problem;
  MethodBook* book = &p->books[task(b).method];
  i64 spent = task_clock(b) - task(b).since;
  global_add(&book->tries, (i64)1);
  global_add(&book->busy_ns, spent);
  i64 running = global_add(&book->running, (i64)-1);
  ASSERT(running > 0);
  (void)running;
  i64 recent = global_add(&book->recent_ns, spent) + spent;
  if (mail(b).improvements) {
    global_add(&book->improvements, (i64)mail(b).improvements);
    global_add(&book->recent_gain, (i64)1);
  }
  if (recent > (i64)RECENT_NS * p->n_blocks && global_replace(&book->recent_ns, recent, recent / 2)) {
    global_add(&book->recent_gain, -(global_load(&book->recent_gain) / 2));
  }
}
