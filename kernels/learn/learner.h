// A block that learns: the whole search of one learner, to the end of the space or until it is told to leave.
//
// It knows no subproblem and asks nobody for one: clauses keep it from coming back to what it has searched, so restarts
// cost little and every block may search all of the space, each in its own way (its role). What it proves it tells the
// rest by Common.bound, like restarts do: the bound of the objective that holds at level 0, and at the end, when level
// 0 itself has failed, that there is nothing better than the incumbent, or nothing at all.
//
// A learner wants finite bounds. In a model with an infinite one it leaves at once and claims nothing, for an
// explanation would have to say what "no bound" stands for.
#pragma once

#include "../solver.h"
#include "exchange.h"
#include "turns.h"

#define FIRST_REDUCTION 4000   // clauses
#define REDUCTION_STEP 300
#define MOST_FULL_RESTARTS 3   // in a row, without a conflict between

DEVICE bool has_infinite_bound(const Problem* p) {
#if BOUND_BITS == 64
  for (i32 v = 0; v < p->n_vars; ++v) {
    if (p->root_lower[v] <= -INFINITE_BOUND || p->root_upper[v] >= INFINITE_BOUND) return true;
  }
#else
  (void)p;
#endif
  return false;
}

// The values that the annotation tries first, until variables have values of their own to remember.
DEVICE void set_first_phases(Learner& l) {
  const Problem* p = l.problem;
  for (i32 v = 0; v < p->n_vars; ++v) l.phase[v] = p->root_lower[v];
  if (p->sense < 0) l.phase[p->objective] = p->root_upper[p->objective];
  for (i32 i = FIRST_ANNOTATED; i < p->n_strategies; ++i) {
    Strategy strategy = p->strategies[i];
    i32 choice = strategy.value_choice;
    bool up = choice == VALUE_MAX || choice == VALUE_REVERSE_SPLIT || choice == VALUE_OUT_MIN;
    for (i32 j = 0; j < strategy.count; ++j) {
      i32 v = strategy_var(*l.block, strategy, j);
      bound_t lower = p->root_lower[v], upper = p->root_upper[v];
      if (up) l.phase[v] = upper;
      else if (choice == VALUE_MEDIAN) l.phase[v] = (bound_t)(lower + ((wide_t)upper - lower) / 2);
    }
  }
}

// The warm start's values are as good as an incumbent's, until there is one.
DEVICE void take_hints(Learner& l) {
  const Problem* p = l.problem;
  for (i32 i = 0; i < p->n_hints; ++i) l.phase[strategy_var(*l.block, p->strategies[WARM_START], i)] = p->hints[i];
}

// Whether an earlier block has the same role: then it must not do the same.
DEVICE bool is_twin(const Problem* p, i32 block) {
  for (i32 other = 0; other < block; ++other) {
    if (p->roles[other] == p->roles[block]) return true;
  }
  return false;
}

// Ties are broken at random, until conflicts tell.
DEVICE double random_activity(const Learner& l, i32 var) {
  return fine_fraction(hash_of((u64)l.problem->seed + (u64)l.block->index * SPREAD, var));
}

DEVICE void clear_learner(Learner& l) {
  const Problem* p = l.problem;
  bool perturbed = p->seed != 0 || is_twin(p, l.block->index);
  for (i32 v = 0; v < p->n_vars; ++v) {
    l.now[lower_side(v)] = l.root[lower_side(v)] = p->root_lower[v];
    l.now[upper_side(v)] = l.root[upper_side(v)] = -p->root_upper[v];
    l.activity[v] = perturbed ? random_activity(l, v) : 0;
    l.split[v] = p->root_lower[v];  // no threshold: it is not above the lower bound
    l.place[v] = -1;
  }
  for (i32 side = 0; side < 2 * p->n_vars; ++side) {
    l.last[side] = -1;
    l.needed_at[side] = NEVER_NEEDED;
  }
  for (i32 row = 0; row < p->n_rows; ++row) l.next_row[row] = NOT_QUEUED;
  for (i32 i = 0; i < N_PRIORITIES; ++i) l.first_row[i] = -1;
  for (i32 block = 0; block < p->n_blocks; ++block) l.heard[block] = 0;
  set_first_phases(l);
  take_hints(l);
  clear_lists(l);
  sort_all_wakes(l);
  l.suspended = l.pending_level = NO_LEVEL;
  l.activity_step = 1;
  l.strategy = FIRST_ANNOTATED;
  l.cut = NO_INCUMBENT;
  l.reduce_at = FIRST_REDUCTION;
  l.probe_gap = INT64_MAX;
  l.probe_step = l.leap = 1;
  l.conflict_limit = LUBY_UNIT;
  take_part(l);
  clear_sets(l);
  take_set(l);
  for (i32 v = 0; v < p->n_vars; ++v) insert(l, v);
}

// Level 0: only what is better than the incumbent is wanted, and what others have proved of the objective is known.
DEVICE void tighten_objective(Learner& l) {
  const Problem* p = l.problem;
  if (p->sense == 0) return;
  l.cut = global_load(&p->common->best);
  if (l.cut != NO_INCUMBENT) set_root(l, cut_side(p), (value_t)1 - l.cut);
  if (!l.exhausted) set_root(l, goal_side(p), (value_t)proved_bound(p->common));
}

// The incumbent's values, if there are new ones and nobody is writing them.
DEVICE void read_incumbent(Learner& l) {
  const Problem* p = l.problem;
  i64 version = global_load(&p->islands[0].version);
  if (version <= 1 || version & 1 || version == l.best_version) return;
  fence();
  const bound_t* values = island_values(p, 0);
  for (i32 v = 0; v < p->n_vars; ++v) l.best[v] = global_load(&values[v]);
  fence();
  if (global_load(&p->islands[0].version) == version) l.best_version = version;
  l.has_best = 1;  // a mixture of two is still a hint
}

// Level 0 is at its fixpoint: nothing with a smaller sense * objective than what its side says is better than the
// incumbent, and better than the incumbent is all that was not cut off.
DEVICE void tell_bound(Learner& l) {
  const Problem* p = l.problem;
  if (p->sense == 0) return;
  i64 proved = l.now[goal_side(p)];
  raise_bound(*l.block, minimum(proved, global_load(&p->common->best)));
}

// The space is exhausted: nothing is better than the incumbent; without one, there is nothing.
DEVICE void tell_end(Learner& l) {
  raise_bound(*l.block, global_load(&l.problem->common->best));
}

// Level 0, at its fixpoint: what is done once a restart. Afterwards there may be something to propagate, or the end.
DEVICE void tend_root(Learner& l) {
  tell_bound(l);
  tell_root(l);
  if (l.clauses_full || l.lists_full || l.n_clauses > l.reduce_at) {
    i32 n_units = reduce_clauses(l);
    l.reduce_at += REDUCTION_STEP;
    if (n_units < 0) l.exhausted = 1;
    for (i32 i = 0; i < n_units; ++i) set_root(l, l.learned[i].side, l.learned[i].k);
  }
  if (!l.exhausted) hear_others(l);
  if (!l.exhausted) tighten_objective(l);
  read_incumbent(l);
}

// After a conflict: learns the clause and enters what it says. False at the end of the space.
DEVICE bool learn_from_conflict(Learner& l) {
  ++statistics(*l.block).failures;
  l.full_restarts = 0;
  l.pending_level = NO_LEVEL;
  i32 from = l.level, back = analyse(l);
  if (back < 0) return false;
#ifdef CHECK_EXPLANATIONS
  check_learned(l);
#endif
  ++l.statistics->nogoods;
  l.statistics->literals += l.n_learned;
  l.statistics->lbd += l.lbd;
  l.statistics->backjumps += from - back > 1;
  note_lbd(l);
  backtrack(l, back);
  tell_others(l);
  Literal first = l.learned[0];
  i32 clause = l.n_learned == 1 ? -1 : store_clause(l, l.learned, l.n_learned, l.lbd);
  if (l.n_learned == 1) {
    set_root(l, first.side, first.k);
    return !l.exhausted;
  }
  if (clause < 0) {  // no room: what it says is forgotten, and a restart makes room
    backtrack(l, 0);
    return true;
  }
  attach(l, clause);
  set_side(l, first.side, first.k, clause_reason(clause));
  return true;
}

// All variables are fixed, at the fixpoint. False when one solution is enough.
DEVICE bool tell_solution(Learner& l) {
  Block* b = l.block;
  for (i32 v = 0; v < l.problem->n_vars; ++v) b->lower[v] = b->upper[v] = l.best[v] = l.now[lower_side(v)];
  l.has_best = 1;
  statistics(*b).propagations = l.runs;
  publish_solution(*b);
  if (l.problem->sense == 0) return false;
  l.leap = minimum(2 * l.leap, (i64)1 << 60);
  backtrack(l, 0);
  tighten_objective(l);
  return !l.exhausted;
}

// The trail is full: begins again, unless that was of no use before.
DEVICE bool make_room_by_restart(Learner& l) {
  l.gave_up = l.level == 0 || ++l.full_restarts > MOST_FULL_RESTARTS;
  if (l.gave_up) return false;
  restart(l);
  return true;
}

// What creeps is supposed to come half way.
DEVICE Literal creeping_literal(const Learner& l) {
  wide_t now = l.now[l.creeping], most = -(wide_t)l.now[opposite(l.creeping)];
  return literal(l.creeping, (bound_t)(now + (most - now + 1) / 2));
}

DEVICE bool has_room_to_suppose(const Learner& l) {
  return l.trail_size < l.trail_capacity && l.level < l.level_capacity;
}

// One step behind a fixpoint. False when there is nothing more to do.
DEVICE bool step(Learner& l) {
  Literal a;
  if (ends_turn(l)) wait_for_next_turn(l);
  if (l.creeping >= 0) {
    a = creeping_literal(l);
  } else {
    if (l.level == 0) tend_root(l);
    if (l.exhausted) return false;
    if (l.trail_size > l.head) return true;  // level 0 has news
    if (wants_restart(l)) {
      restart(l);
      return true;
    }
    i64 leap = l.level == 0 ? next_leap(l) : 0;
    if (l.level == 0 && l.probing && !is_fixed(l, l.problem->objective)) a = probe_literal(l);
    else if (leap > 1) a = leap_literal(l, leap);
    else if (!choose_literal(l, l.part == METHOD_FOLLOWER, &a)) return tell_solution(l);
  }
  if (!has_room_to_suppose(l)) return make_room_by_restart(l);
#ifdef CHECK_EXPLANATIONS
  check_supposed(l, a);
#endif
  suppose(l, a);
  tell_counts(*l.block);
  return true;
}

DEVICE void search_learning(Learner& l) {
  for (;;) {
    Outcome outcome = propagate(l);
    if (outcome == LEAVE) return;
    if (outcome == FULL && !make_room_by_restart(l)) return;
    if (outcome == CONFLICT && !learn_from_conflict(l)) l.exhausted = 1;
    if (l.exhausted || (outcome == CONSISTENT && !step(l))) break;
  }
  if (l.exhausted) tell_end(l);
}

// Runs a learner in `memory`, of problem->learn_bytes zeros. False when that is too little, so that the block is to
// search in another way: nothing is done, or, where the learner is alone, it has given up.
OUTLINE bool run_learner(Block& b, char* memory) {
  const Problem* p = b.problem;
  Learner l = {};
  l.block = &b;
  l.problem = p;
  l.statistics = &p->learn_statistics[b.index];
  l.role = p->roles[b.index];
  if (!lay_out(&l, memory, p->learn_bytes)) return false;
  clear_state(b);
  task(b).method = l.role;
  task(b).since = task_clock(b);
  claim(b).limited = neighbourhood(b).warm_start = 0;
  open_books(b);
  if (!has_infinite_bound(p)) {
    clear_learner(l);
    search_learning(l);
    statistics(b).propagations = l.runs;
    statistics(b).peak_level = l.peak_level;
  }
  keep_books(b);
  return !l.gave_up || p->n_blocks > 1;
}
