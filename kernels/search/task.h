// The task of a block: a subproblem of the complete search, or a search that is limited by failures and work.
//
// A limited search has an aim of its own. It may want much better solutions than the incumbent, as a probe does, or, on
// an island, some that are worse.
#pragma once

#include "../core/interval.h"
#include "../core/store.h"
#include "logged.h"
#include "tuning.h"
#ifdef FLOATS
#include "../floats/decided.h"
#endif

struct Task {
  i32 method;
  i32 over;           // the task can gain nothing any more
  i32 early;          // it began without an incumbent: it is over when there is one
  i32 island;         // that gets its solutions; 0: the record's
  i32 spent;          // lane 0's answer whether its limits are spent
  i32 failures_left;  // before a limited search is cut
  i32 failures_sure;  // the limit of work counts only when fewer failures than this are left
  i64 runs_limit;     // count of propagator runs at which its work is done
  i64 target;         // the greatest sense * objective that it wants on island 0
  i64 limit;          // and on another island
  i64 best;           // copy of Common.best that all lanes may read
  i64 since;          // when it began, in nanoseconds
  i64 first_node;     // of a subproblem, in statistics.nodes
};

DEVICE Task& task(const Block& b);

// Whether the block learns, and does not search the tree or neighbourhoods.
DEVICE bool is_learner(const Problem* p, i32 block) { return p->roles && p->roles[block] >= FIRST_LEARNER; }

// The proved lower bound of sense * objective, by the blocks or by the host.
DEVICE i64 proved_bound(const Common* common) {
  i64 own = global_load(&common->bound), told = global_load(&common->host_bound);
  return own > told ? own : told;
}

// Lane 0: raises the proved lower bound of sense * objective, and notes the method that has proved it. While
// learners log, only these do.
DEVICE void raise_bound(const Block& b, i64 bound) {
  if (lacks_derivations()) return;
  Common* common = b.problem->common;
  if (global_max(&common->bound, bound) < bound) global_store(&common->proved_by, task(b).method);
}

// Lane 0: bounds the objective to solutions better than the incumbent; in a limited search perhaps to much better ones,
// or to worse ones.
DEVICE void bound_objective(const Block& b) {
  const Problem* p = b.problem;
  const Task& s = task(b);
  if (p->sense == 0 || s.best == NO_INCUMBENT) return;
#ifdef FLOATS
  i64 better = better_than(b, s.best), most = !claim(b).limited || !s.island ? better : s.limit;
  if (claim(b).limited && !s.island) most = minimum(better, s.target);
#else
  i64 most = !claim(b).limited ? s.best - 1 : s.island ? s.limit : minimum(s.best - 1, s.target);
#endif
  if (p->sense > 0) tighten_upper(b, p->objective, (value_t)most);
  else tighten_lower(b, p->objective, (value_t)-most);
}

// Lane 0, at the root: applies the proved bound to the objective.
DEVICE void apply_proved_bound(const Block& b) {
  const Problem* p = b.problem;
  if (p->sense == 0) return;
  i64 bound = proved_bound(p->common);
  if (p->sense > 0) tighten_lower(b, p->objective, (value_t)bound);
  else tighten_upper(b, p->objective, (value_t)-bound);
}

// Whether no subproblem is left, here or in another engine that shares the tree.
DEVICE bool is_tree_exhausted(const Common* common) {
  return global_load(&common->outstanding) == 0 && !global_load(&common->shared);
}

// Whether nothing better can be found: the tree is exhausted, or the proved bound has met the incumbent.
DEVICE bool is_search_over(const Common* common) {
  return is_tree_exhausted(common) || proved_bound(common) >= global_load(&common->best);
}

// Lane 0: whether a limited search has had its share of failures, or, after a few of them, of work.
DEVICE bool is_spent(const Block& b) {
  Task& s = task(b);
  --s.failures_left;
  return s.failures_left < 0 || (s.failures_left < s.failures_sure && statistics(b).propagations > s.runs_limit);
}

// Lane 0: the best objective that is known. The first block that reads a better one from the host lowers `best` for
// all.
DEVICE i64 known_best(Common* common) {
  i64 best = global_load(&common->best), told = global_load(&common->host_best);
  return told < best ? minimum(global_min(&common->best, told), told) : best;
}

// Lane 0: reads the news of other blocks and the host that concern the task.
DEVICE void look_around(const Block& b) {
  Common* common = b.problem->common;
  Task& s = task(b);
  propagation(b).stop = global_load(&common->stop);
  s.best = known_best(common);
  bool has_first = s.early && s.best != NO_INCUMBENT;
  bool proved = proved_bound(common) >= s.best || (claim(b).limited && is_tree_exhausted(common));
  s.over = has_first || proved;
}

// Lane 0, once a node: publishes the statistics now and then, for the host to show the progress of the search.
DEVICE void tell_counts(const Block& b) {
  if (statistics(b).nodes % COUNT_NODES == 0) b.problem->statistics[b.index] = statistics(b);
}
