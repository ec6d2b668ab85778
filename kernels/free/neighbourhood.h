// The tasks of blocks that do not prove: neighbourhoods of the incumbent (large neighbourhood search: Shaw, CP 1998)
// and restarts from the root, each for a limited number of failures.
//
// A neighbourhood fixes the decision variables to the incumbent's values but for a few that it sets free: at random,
// a window of the annotated order, around a variable of the constraint graph, or around variables that hold the
// objective back. Their number adapts to the time that a neighbourhood may take. One that the model states
// (relax_and_reconstruct) is drawn from the stated variables, always of the best solution, with the stated probability.
//
// Restarts fix nothing. Before the first solution there are only restarts, and one that is searched to its end is a
// proof: a probe asks for a solution far better than the incumbent, and where there is none the objective's bound
// rises. Apart from that these blocks do not affect completeness: they take no subproblem, and only publish better
// solutions.
#pragma once

#include "../core/assert.h"
#include "../core/interval.h"
#include "../core/luby.h"
#include "../core/profile.h"
#include "../core/random.h"
#include "../core/store.h"
#include "../repair/state.h"
#include "../search/branch.h"
#include "../search/incumbent.h"
#include "../search/levels.h"
#include "../search/mailbox.h"
#include "../search/schedule.h"
#include "../search/search.h"
#include "../search/task.h"
#include "../search/values.h"
#include "fixing.h"
#include "portfolio.h"
#include "repaired.h"
#include "tuning.h"

constexpr i32 SEARCH_OVER = -1;  // in the place of a strategy

// Lane 0: the objective that a neighbourhood must reach. Steps of one would take too long where the objective is large,
// so half of the neighbourhoods want up to a sixteenth of the greatest possible gain.
DEVICE i64 draw_target(const Block& b) {
  i64 best = task(b).best;
  if (best == NO_INCUMBENT || coin(next_random(b))) return NO_INCUMBENT;
  u64 gain = ((u64)best - (u64)proved_bound(b.problem->common)) / AMBITION;
  return gain == 0 ? NO_INCUMBENT : best - 1 - (i64)below(next_random(b), gain);
}

// The largest sense * objective that the root leaves.
DEVICE i64 worst_objective(const Problem* p) {
  return p->sense > 0 ? (i64)p->root_upper[p->objective] : -(i64)p->root_lower[p->objective];
}

// Lane 0: the objective that a probe asks for: a half, a quarter, an eighth ... of the gap above the proved bound.
DEVICE i64 draw_probe(const Block& b) {
  const Problem* p = b.problem;
  i64 bound = proved_bound(p->common);
  i64 worst = task(b).best != NO_INCUMBENT ? task(b).best : worst_objective(p);
  u64 gap = (u64)worst - (u64)bound;
  return bound + (i64)(gap >> (1 + below(next_random(b), PROBE_DEPTHS)));
}

// The root store, for a neighbourhood with the variables fixed that are not set free.
DEVICE void fix_part(const Block& b) {
  Neighbourhood& s = neighbourhood(b);
  i32 method = task(b).method;
  u64 draw = choice(b).noise;
  for (i32 tries = 0; tries < READ_TRIES; ++tries) {
    restore_root(b);
    if (!fixes_variables(b.problem, method)) break;
    if (lane() == 0) begin_reading(b);
    barrier();
    fix_others(b, method, draw);
    if (lane() == 0) s.whole = is_reading_whole(b);
    barrier();
    bool whole = s.whole;
    barrier();
    if (whole) break;
  }
}

// Prepares the store of a new task, not yet propagated.
DEVICE void enter_neighbourhood(const Block& b) {
  if (WALKS && task(b).method == METHOD_REPAIR) enter_walk(b);
  else fix_part(b);
  if (lane() == 0) {
    ++statistics(b).nodes;
    ++statistics(b).restarts;
    stack(b).path_size = 0;
    apply_proved_bound(b);
    bound_objective(b);
  }
  barrier();
}

// Random values most often: constant ones are better on some models and hopeless on others.
DEVICE i32 draw_value_mode(u64 draw) {
  i32 place = high_bits(draw, 3);
  return place < 4 ? MODE_MIXED : place < 6 ? MODE_SAVED : place == 6 ? MODE_LOWER : MODE_UPPER;
}

// The share of variables that a neighbourhood fixes: at random within SHARE_SPREAD of the learned share `usual`.
DEVICE i32 draw_share(u64 draw, i32 usual) {
  i32 share = usual + (i32)below(draw, 2 * SHARE_SPREAD, 8) - SHARE_SPREAD;
  return share < SHARE_LEAST ? SHARE_LEAST : share > SHARE_MOST ? SHARE_MOST : share;
}

// Lane 0: the share, extent and limits of the next neighbourhood. A size twice as large is half as likely, so that all
// sizes get the same time (as in Luby's sequence).
DEVICE void size_neighbourhood(const Block& b) {
  Neighbourhood& s = neighbourhood(b);
  Task& now = task(b);
  const Problem* p = b.problem;
  u64 draw = next_random(b);
  i32 doublings = heads_in_a_row(draw, MOST_DOUBLINGS);
  now.failures_left = FAILURE_LIMIT << doublings;
  now.runs_limit = statistics(b).propagations + (((i64)count_rows(*p) + WORK_UNIT) << doublings);
  s.size = doublings / 2 < N_SIZES ? doublings / 2 : N_SIZES - 1;
  s.extent = p->n_groups > 1 && now.method != METHOD_REPAIR ? (i32)below(draw, N_EXTENTS) : 0;
  s.share = draw_share(draw, global_load(&p->books[now.method].share[s.extent][s.size]));
}

// Lane 0: whether the neighbourhood starts from the record: every other one does, 31 of 32 while the record is
// improving.
DEVICE bool stays_with_record(const Block& b) {
  if (b.problem->n_islands < 2 || task(b).best == NO_INCUMBENT) return true;
  u64 draw = next_random(b);
  i64 now = task_clock(b), began = b.problem->n_blocks > 1 ? stopwatch(b).began : 0;
  bool lively = now - global_load(&b.problem->common->improved_ns) < (now - began) / LIVELY;
  return coin(draw) || (lively && high_bits(draw, 5) != 0);
}

// Lane 0: the kind of restart that settles an island, drawn from those that are allowed; METHOD_TREE where none is.
DEVICE i32 draw_settler(const Block& b) {
  const Problem* p = b.problem;
  i32 first = coin(next_random(b)) ? METHOD_WEIGHTED : METHOD_ANNOTATED;
  i32 second = first == METHOD_WEIGHTED ? METHOD_ANNOTATED : METHOD_WEIGHTED;
  return is_allowed(p, first, true) ? first : is_allowed(p, second, true) ? second : METHOD_TREE;
}

// Lane 0: goes to an island that ignores the record. When its patience is at its end, one block settles it anew.
DEVICE void go_apart(const Block& b, i32 index) {
  Task& s = task(b);
  const Problem* p = b.problem;
  Island* island = &p->islands[index];
  bool settled = global_load(&island->version) > 1;
  i32 settler = global_add(&island->patience, (i64)-1) == 0 ? draw_settler(b) : METHOD_TREE;
  if (settler != METHOD_TREE) {
    global_store(&island->patience, settled ? full_patience(p) : SETTLE_TRIES);
    s.method = settler;
    s.island = index;
    s.limit = worst_objective(p);
    island_access(b).settles = 1;
  } else if (settled) {
    s.island = island_access(b).source = index;
    s.limit = global_load(&island->value) - 1;
  }
}

// Whether a neighbourhood wants a better solution than the island's own, or any that is not too far behind the record.
DEVICE bool wants_better(u64 draw) { return coin(draw, 2) || coin(draw, 3); }

// Lane 0: goes to an island that follows the record. The neighbourhood mostly wants a better solution than the
// island's, and now and then any that is not too far behind the record. An island too far behind is settled anew from
// the record.
DEVICE void go_along(const Block& b, i32 index) {
  Task& s = task(b);
  const Island* island = &b.problem->islands[index];
  i64 gap = (i64)(((u64)s.best - (u64)proved_bound(b.problem->common)) >> 1);
  i64 furthest = s.best + (gap >> (4 + index % DISTANCES * 2)), value = global_load(&island->value);
  bool settled = global_load(&island->version) > 1 && value <= furthest;
  s.island = index;
  if (settled) island_access(b).source = index;
  s.limit = settled && wants_better(next_random(b)) ? value - 1 : furthest;
}

// Lane 0: chooses the island that the neighbourhood starts from. It becomes a restart when it is to settle an island.
DEVICE void choose_island(const Block& b) {
  if (stays_with_record(b)) return;
  i32 place = (i32)((i64)b.index * b.problem->lns_percent / 100);  // among the blocks that are no provers
  i32 index = 1 + place % (b.problem->n_islands - 1);
  if (is_apart(index)) go_apart(b, index);
  else go_along(b, index);
}

// Lane 0: sets the limits of the next restart.
DEVICE void size_restart(const Block& b) {
  i32 units = luby((i32)(statistics(b).restarts % RESTART_CYCLE) + 1);
  i64 work = ((i64)count_rows(*b.problem) + WORK_UNIT) * RESTART_WORK * units;
  task(b).failures_left = RESTART_UNIT * units;
  task(b).runs_limit = MANY_BLOCKS ? INT64_MAX : statistics(b).propagations + work;
}

// Lane 0: sets the limits of a restart, or of a neighbourhood that the model states, where a schedule was asked for.
// One without restarts is for learners alone: a task without an end would leave no time to the other methods.
DEVICE void follow_schedule(const Block& b) {
  Task& s = task(b);
  if (s.method < FIRST_RESTART && s.method != METHOD_STATED) return;
  i32 failures = scheduled_failures(b.problem, statistics(b).restarts);
  if (failures == INT32_MAX) return;
  s.failures_left = failures;
  s.runs_limit = INT64_MAX;
}

// Lane 0: sets the limits and aims of the task that the block is about to begin.
DEVICE void set_limits(const Block& b, bool improve) {
  Task& s = task(b);
  if (s.method < METHOD_STATED) choose_island(b);
  bool restart = s.method >= FIRST_RESTART, settles = island_access(b).settles;
  if (restart) size_restart(b);
  else size_neighbourhood(b);
  if (STATES && has_schedule(b.problem)) follow_schedule(b);
  ASSERT(s.failures_left > 0 && 0 <= s.island && s.island < b.problem->n_islands);
  s.failures_sure = s.failures_left - FAILURES_SURE;
  bool aims = improve && s.island == 0 && s.method != METHOD_REPAIR;  // a walk has its own aim
  s.target = s.method == METHOD_PROBE ? draw_probe(b) : aims ? draw_target(b) : NO_INCUMBENT;
  value_order(b).mode = settles ? MODE_FRESH : restart ? draw_value_mode(next_random(b)) : MODE_MIXED;
  bool flips = s.method == METHOD_ANNOTATED;
  value_order(b).flips = !flips ? 0 : settles ? SETTLE_FLIPS : 1 << below(next_random(b), FLIP_SIZES);
  choice(b).noise = next_random(b);
}

// Lane 0: chooses the method of the next task, its limits and aims, and the strategy that it follows.
DEVICE void plan_task(const Block& b) {
  Task& s = task(b);
  const Common* common = b.problem->common;
  bool over = global_load(&common->stop) || is_search_over(common);
  bool improve = b.problem->sense != 0 && has_incumbent(b.problem);
  s.best = global_load(&common->best);
  s.method = draw_method(b, improve);
  s.island = 0;
  s.early = b.problem->sense != 0 && !improve;
  claim(b).given_up = mail(b).improvements = island_access(b).source = island_access(b).settles = 0;
  choice(b).conflict_var = coin(next_random(b)) ? -1 : NOT_KEPT;
  neighbourhood(b).solutions_before = statistics(b).solutions;
  s.since = task_clock(b);
  set_limits(b, improve);
  bool annotated = s.method == METHOD_ANNOTATED || (s.method != METHOD_WEIGHTED && coin(next_random(b)));
  if (WALKS && s.method == METHOD_REPAIR) plan_walk(b);
  neighbourhood(b).strategy = over ? SEARCH_OVER : annotated ? FIRST_ANNOTATED : FREE_STRATEGY;
  if (!over) open_books(b);
}

// How far a block has come with its next task.
enum Start {
  STARTED,  // it can be searched
  TO_WALK,  // the first warp has to walk before
  OVER      // there is none: the search is over
};

// Chooses the next task of a block that does not prove. False when the whole search is over.
DEVICE bool choose_task(const Block& b) {
  if (b.problem->sense != 0) take_host_solution(b);
  if (lane() == 0) plan_task(b);
  barrier();
  bool goes_on = neighbourhood(b).strategy != SEARCH_OVER;
  barrier();
  return goes_on;
}

// Sets up the next task of a block that does not prove; or the one that it has walked for.
OUTLINE Start start_neighbourhood(const Block b, bool walked) {
  if (!walked && !choose_task(b)) return OVER;
  if (WALKS && !walked && task(b).method == METHOD_REPAIR) return TO_WALK;
  enter_neighbourhood(b);
  start_search(b, neighbourhood(b).strategy);
  return STARTED;
}

// The warm start: a search that tries the suggested values first, nearest values where they do not fit, and gives up
// after some failures. It may find good solutions, and claims nothing.
DEVICE void start_warm_start(const Block& b) {
  restore_root(b);
  if (lane() == 0) {
    Task& s = task(b);
    ++statistics(b).nodes;
    ++statistics(b).restarts;
    stack(b).path_size = 0;
    s.method = METHOD_TREE;
    s.since = task_clock(b);
    s.failures_left = FAILURE_LIMIT;
    s.failures_sure = FAILURE_LIMIT;
    s.runs_limit = INT64_MAX;
    s.target = NO_INCUMBENT;
  }
  start_search(b, WARM_START);
}

// From now on the block takes part in the complete search.
DEVICE void finish_warm_start(const Block& b) {
  barrier();  // before lane 0 clears the field by which the other lanes have come here
  if (lane() == 0) {
    neighbourhood(b).warm_start = 0;
    claim(b).limited = !searches_tree(b.problem);
  }
  barrier();
}

// Lane 0: raises the bound after the whole space was searched for solutions of at most `most`, all of which have been
// published. Units excluded only solutions no better than the incumbent of the first node, and `most` is below that.
DEVICE void prove_bound(const Block& b) {
  const Task& s = task(b);
  i64 most = s.best == NO_INCUMBENT ? s.target : minimum(s.best - 1, s.target);
  raise_bound(b, most == NO_INCUMBENT ? most : most + 1);
}

// Lane 0: adapts the share: a neighbourhood that was searched to its end was too small, one that was cut too large.
// Each of many blocks makes a small step.
DEVICE void adapt_share(const Block& b, bool exhausted) {
  const Problem* p = b.problem;
  const Neighbourhood& s = neighbourhood(b);
  i32* share = &p->books[task(b).method].share[s.extent][s.size];
  i32 now = global_load(share), step = SHARE_STEP / p->n_blocks + 1;
  if (exhausted ? now > SHARE_LEAST : now < SHARE_MOST) global_add(share, exhausted ? -step : step);
}

OUTLINE void finish_neighbourhood(const Block b, bool exhausted) {
  if (lane() == 0) {
    bool fruitless = statistics(b).solutions == neighbourhood(b).solutions_before;
    if (task(b).method < FIRST_RESTART) {
      if (fruitless && has_repaired(b)) neighbourhood(b).walked = 0;  // it would find the same again: a new beginning
      else if (fruitless) adapt_share(b, exhausted);
    } else if (exhausted && !claim(b).given_up) {
      prove_bound(b);
    }
  }
  barrier();
}
