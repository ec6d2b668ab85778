// A block that learns: the whole search of one learner, until the space is exhausted or the host asks it to leave.
//
// A learner takes no subproblems: clauses keep it from searching a part of the space twice, so restarts cost little,
// and every learner searches the whole space, each in its own way (its role). It publishes its proofs by Common.bound,
// as restarts do: the bound of the objective at level 0, and when level 0 itself has failed, that there is no better
// solution than the incumbent, or none at all.
//
// A learner needs finite bounds. In a model with an infinite one it leaves at once without a proof, since explanations
// have no literal for "no bound".
#pragma once

#include "../block.h"
#include "../core/assert.h"
#include "../core/interval.h"
#include "../core/random.h"
#include "../core/store.h"
#include "../free/fixing.h"
#include "../free/portfolio.h"
#include "../search/incumbent.h"
#include "../search/logged.h"
#include "../search/mailbox.h"
#include "../search/others.h"
#include "../search/task.h"
#include "state/ablation.h"
#include "propagators/advance.h"
#include "analysis/analyse.h"
#include "clauses/clauses.h"
#include "analysis/cores.h"
#include "propagators/counters.h"
#include "search/decide.h"
#include "exchange/exchange.h"
#include "state/heap.h"
#include "state/lists.h"
#include "state/literal.h"
#include "state/log.h"
#include "memory.h"
#include "state/parts.h"
#include "propagators/posted.h"
#include "propagators/resolvent.h"
#include "search/restart.h"
#include "state/sides.h"
#include "state/trail.h"
#include "search/turns.h"
#include "search/undo.h"
#include "analysis/vivify.h"
#include "propagators/wake.h"
#include "tuning.h"
#ifdef CHECK_EXPLANATIONS
#include "propagators/check.h"
#endif

DEVICE bool has_infinite_bound(const Problem* p) {
#if BOUND_BITS == 64
  for (i32 v = 0; v < p->n_vars; ++v) {
    if (is_link(p, v)) continue;
    if (p->root_lower[v] <= -INFINITE_BOUND || p->root_upper[v] >= INFINITE_BOUND) return true;
  }
#else
  (void)p;
#endif
  return false;
}

// Whether an earlier block has the same role; then this one must search differently.
DEVICE bool is_twin(const Problem* p, i32 block) {
  for (i32 other = 0; other < block; ++other) {
    if (p->roles[other] == p->roles[block]) return true;
  }
  return false;
}

// Breaks ties at random, until conflicts have given activities.
DEVICE double random_activity(const Learner& l, i32 var) {
  return fine_fraction(hash_of((u64)problem(l)->seed + (u64)block(l).index * SPREAD, var));
}

// Seeds and twins make learners differ; one for cores may be a prover's twin.
DEVICE void set_first_activities(Learner& l) {
  const Problem* p = problem(l);
  bool perturbed = p->seed != 0 || is_twin(p, block(l).index) || restarts(l).role == METHOD_CORES;
  for (i32 v = 0; perturbed && v < p->n_vars; ++v) heap(l).activity[v] = random_activity(l, v);
}

// Sets all parts, whose memory is zeros, to the state of the root with nothing learned. False when the clauses of the
// model are too many for the memory.
DEVICE bool clear_learner(Learner& l) {
  clear_sides(l);
  clear_trail(l);
  clear_queue(l);
  clear_progress(l);
  clear_lists(l);
  clear_clauses(l);
  clear_resolvent(l);
  clear_heap(l);
  clear_guidance(l);
  clear_restarts(l);
  clear_counters(l);
  clear_cores(l);
  sort_all_wakes(l);
  set_first_activities(l);
  take_part(l);
  take_set(l);
  for (i32 v = 0; v < problem(l)->n_vars; ++v) {
    if (!is_link(problem(l), v)) insert(l, v);
  }
  queue_other_rows(l);
  return state_clauses(l);
}

// Copies the incumbent's values, if there are new ones and no block is writing them. Returns whether they are those of
// one solution.
DEVICE bool read_incumbent(Learner& l) {
  const Problem* p = problem(l);
  i64 version = global_load(&p->islands[0].version);
  Guidance& s = guidance(l);
  if (version <= 1 || version & 1 || version == s.best_version) return false;
  fence();
  const bound_t* values = island_values(p, 0);
  for (i32 v = 0; v < p->n_vars; ++v) s.best[v] = global_load(&values[v]);
  fence();
  bool whole = global_load(&p->islands[0].version) == version;
  if (whole) s.best_version = version;
  s.has_best = true;  // even a mixture of two incumbents is a hint
  return whole;
}

#ifdef PROOF
// Logs the solution in guidance(l).best, if it is better than those in the log.
static void log_best(const Learner& l) {
  const Problem* p = problem(l);
  i64 value = p->sense ? (i64)p->sense * guidance(l).best[p->objective] : 0;
  if (p->sense == 0 || value < logged_best()) log_solution(l, guidance(l).best, value);
}
#else
DEVICE void log_best(const Learner&) {}
#endif

// The value of sense * objective that solutions have to beat: the incumbent's. Where learners log, that of the last
// solution in the log, to which the incumbent of others is added first, unless its finder has not published it yet.
DEVICE i64 value_to_beat(Learner& l) {
#ifdef PROOF
  if (read_incumbent(l)) log_best(l);
  return maximum(logged_best(), global_load(&problem(l)->common->best));
#else
  return global_load(&problem(l)->common->best);
#endif
}

// The bound that others have proved; where learners log, that of the host, which a proof can state: those of learners
// are heard as units.
DEVICE i64 told_bound(const Problem* p) {
  return IS_LOGGED ? global_load(&p->common->host_bound) : proved_bound(p->common);
}

// Level 0: requires an objective better than the incumbent's, and takes the bound that others have proved.
DEVICE void tighten_objective(Learner& l) {
  const Problem* p = problem(l);
  if (p->sense == 0) return;
  i64 cut = restarts(l).cut = value_to_beat(l);
  if (cut != NO_INCUMBENT) set_root(l, cut_side(p), (value_t)1 - cut);
  if (!trail(l).exhausted) set_root(l, goal_side(p), (value_t)told_bound(p));
}

// Level 0, at its fixpoint: publishes the bound of the objective. No solution better than the incumbent was cut off, so
// none of these has a sense * objective below the objective's side.
DEVICE void tell_bound(Learner& l) {
  const Problem* p = problem(l);
  if (p->sense == 0) return;
  ASSERT(trail(l).level == 0);
  i64 proved = sides(l).now[goal_side(p)];
  raise_bound(block(l), minimum(proved, global_load(&p->common->best)));
}

// The space is exhausted: no solution is better than the incumbent; without one, there is none.
DEVICE void tell_end(Learner& l) {
  log_end(l);
  raise_bound(block(l), global_load(&problem(l)->common->best));
}

// Level 0, at its fixpoint: the work of each restart. Afterwards there may be bounds to propagate, or the space is
// exhausted.
DEVICE void tend_root(Learner& l) {
  tell_bound(l);
  tell_root(l);
  if (wants_reduction(l)) {
    if (vivify(l)) return;
    const Literal* units = learned(l).literals;
    i32 n_units = reduce_clauses(l);
    if (n_units < 0) trail(l).exhausted = true;
    for (i32 i = 0; i < n_units; ++i) set_root(l, units[i].side, units[i].k);
  }
  if (!trail(l).exhausted) hear_others(l);
  if (!trail(l).exhausted) tighten_objective(l);
  if (!IS_LOGGED && !trail(l).exhausted) hear_rows(l);
  tell_use(l);
  if (!IS_LOGGED) read_incumbent(l);  // else tighten_objective has: one read here would never be logged
}

// Counts a learned clause and the number of levels that it goes back.
DEVICE void count_clause(Learner& l, i32 levels) {
  LearnStatistics& counted = statistics(l);
  ++counted.nogoods;
  counted.literals += learned(l).size;
  counted.lbd += learned(l).lbd;
  counted.backjumps += levels > 1;
}

// After a conflict: learns the clause and sets its first literal. False when the space is exhausted.
DEVICE bool learn_from_conflict(Learner& l) {
  ++statistics(block(l)).failures;
  restarts(l).full_restarts = 0;
  guidance(l).pending_level = NO_LEVEL;
  i32 from = trail(l).level, back = analyse(l);
  if (back < 0) return false;
#ifdef CHECK_EXPLANATIONS
  check_learned(l);
#endif
  const Learned& s = learned(l);
  log_clause(l);
  count_clause(l, from - back);
  note_lbd(l);
  note_conflict(l);
  backtrack(l, back);
  tell_others(l);
  Literal first = s.literals[0];
  ASSERT(is_open(l, first) && (s.size == 1 || is_false(l, s.literals[1])));
  if (s.size == 1) {
    set_root(l, first.side, first.k);
    return !trail(l).exhausted;
  }
  i32 clause = store_clause(l, s.literals, s.size, s.lbd);
  if (clause < 0) {  // no room: the clause is lost, and a restart makes room
    backtrack(l, 0);
    return true;
  }
  attach(l, clause);
  set_side(l, first.side, first.k, clause_reason(clause));
  return true;
}

// Sets the links, when all other variables are fixed, by the rows that define them.
DEVICE void fix_links(const Learner& l) {
  const Problem* p = problem(l);
  for (i32 i = 0; i < p->n_links; ++i) define(block(l), p->link_rows[i]);
}

// Publishes a solution: all variables are fixed, at the fixpoint. False when one solution is enough.
DEVICE bool tell_solution(Learner& l) {
  ASSERT(are_all_fixed(l) && is_queue_empty(l));
  note_solution(l);
  const Block& b = block(l);
  Guidance& s = guidance(l);
  for (i32 v = 0; v < problem(l)->n_vars; ++v) set_value(b, v, sides(l).now[lower_side(v)]);
  fix_links(l);
  for (i32 v = 0; v < problem(l)->n_vars; ++v) s.best[v] = value_of(b, v);
  for (i32 v = 0; v < problem(l)->n_store_vars; ++v) b.upper[v] = b.lower[v];
  s.has_best = true;
  log_best(l);
  statistics(b).propagations = progress(l).runs;
  publish_solution(b);
  if (problem(l)->sense == 0) return false;
  restarts(l).leap = minimum(2 * restarts(l).leap, LONGEST_LEAP);
  backtrack(l, 0);
  tighten_objective(l);
  return !trail(l).exhausted;
}

// The trail is full: restarts, or gives up after too many restarts in vain.
DEVICE bool make_room_by_restart(Learner& l) {
  Restarts& s = restarts(l);
  s.gave_up = trail(l).level == 0 || ++s.full_restarts > MOST_FULL_RESTARTS;
  if (s.gave_up) return false;
  restart(l);
  return true;
}

// The decision that moves the creeping side half way to the opposite bound.
DEVICE Literal creeping_literal(const Learner& l) {
  i32 side = progress(l).creeping;
  wide_t now = sides(l).now[side], most = -(wide_t)sides(l).now[opposite(side)];
  ASSERT(now < most);
  return literal(side, (bound_t)(now + (most - now + 1) / 2));
}

// Opens a level with a decision. False when the search is over, for lack of room.
DEVICE bool decide(Learner& l, Literal a) {
  ASSERT(is_open(l, a) && trail(l).head == trail(l).size);
  if (!has_room_to_suppose(l)) return make_room_by_restart(l);
#ifdef CHECK_EXPLANATIONS
  check_supposed(l, a);
#endif
  suppose(l, a);
  tell_counts(block(l));
  return true;
}

// The next decision or restart after a fixpoint. False when the search is over.
DEVICE bool step(Learner& l) {
  Literal a;
  const Trail& t = trail(l);
  if (ends_turn(l)) wait_for_next_turn(l);
  if (progress(l).creeping >= 0) {
    a = creeping_literal(l);
  } else {
    if (t.level == 0) tend_root(l);
    if (t.exhausted) return false;
    if (t.size > t.head || !is_queue_empty(l)) return true;  // level 0 has news
    if (wants_restart(l)) {
      restart(l);
      return true;
    }
    i64 leap = t.level == 0 ? next_leap(l) : 0;
    if (seeks_cores(l)) {
      Supposing next = seek_core(l, &a);
      if (next == AT_ROOT) return !t.exhausted;
      if (next == SUPPOSED) return decide(l, a);
    }
    if (t.level == 0 && restarts(l).probing && !is_fixed(l, problem(l)->objective)) a = probe_literal(l);
    else if (leap > 1) a = leap_literal(l, leap);
    else if (!choose_literal(l, restarts(l).part == METHOD_FOLLOWER, &a)) {
      return are_stated_clauses_true(l) ? tell_solution(l) : make_room_by_restart(l);
    }
  }
  return decide(l, a);
}

DEVICE void search_learning(Learner& l) {
  for (;;) {
    Outcome outcome = propagate(l);
    if (outcome == LEAVE) return;
    if (outcome == FULL && !make_room_by_restart(l)) return;
    if (outcome == CONFLICT && !learn_from_conflict(l)) trail(l).exhausted = true;
    if (trail(l).exhausted || (outcome == CONSISTENT && !step(l))) break;
  }
  if (trail(l).exhausted) tell_end(l);
}

// Whether the learner has fused rows (turbo_fzn/tnf/fuse.py), as the host has decided.
DEVICE bool has_fused_rows(const Block& b) {
  bool may = !is_left_out(WITHOUT_FUSION) && !is_left_out(WITHOUT_WIDE);
  return may && b.problem->learners[b.index].is_fused;
}

// The model of this learner: a copy, which may be without fused rows, and has room for posted ones.
DEVICE Problem rows_of(const Block& b) {
  Problem own = *b.problem;
  if (!has_fused_rows(b)) {
    own.n_linears = own.n_terms = own.n_links = own.n_clauses = own.most_terms = 0;
    own.linear_wakes = 0;
  }
  if (is_left_out(WITHOUT_WIDE)) own.n_wides = own.most_arguments = 0;
  expect_rows(own);
  if (may_seek_cores(b, own)) own.n_counters = counters_in(own.learn_bytes);
  return own;
}

// Runs a learner in `memory`, of problem->learn_bytes zeros. False when that is too little, so that the block must
// search in another way: the learner has not begun, or has given up.
OUTLINE bool run_learner(Block& b, char* memory) {
  Problem own = rows_of(b);
  const Problem* p = &own;
  WholeLearner l = {};
  l.block = &b;
  l.problem = p;
  l.statistics = &p->learn_statistics[b.index];
  restarts(l).role = p->roles[b.index];
  if (!lay_out(l, memory, p->learn_bytes)) return false;
  own_linears(l, own);
  clear_state(b);
  bool finite = !has_infinite_bound(p);
  if (finite && !clear_learner(l)) return false;
  task(b).method = restarts(l).role;
  task(b).since = task_clock(b);
  claim(b).limited = neighbourhood(b).warm_start = 0;
  open_books(b);
  if (finite) {
    search_learning(l);
    statistics(b).propagations = progress(l).runs;
    statistics(b).peak_level = trail(l).peak_level;
  }
  keep_books(b);
  return !restarts(l).gave_up;
}
