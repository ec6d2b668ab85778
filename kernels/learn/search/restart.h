// Restarts: when they happen, and what changes with them.
//
// A run is the search between two restarts. A finder restarts by Luby's sequence (luby.h), so that some of its runs
// are long; where a schedule was asked for (search/schedule.h), it restarts by that. A prover restarts when recent
// clauses have come from more levels than usual (Audemard, Simon, CP 2012), which means that it learns badly there.
// Every third of its runs begins with a probe, the decision that the objective is at its proved bound or a little
// above it: if that fails, the bound rises, and the step grows (a lower bound search, as in destructive lower bounds:
// Klein, Scholl, EJOR 1999). Probes find fewer solutions, so only the prover makes them.
//
// Phases lead to solutions near the incumbent, which may be better by only 1 where the objective has a range of
// 100,000. A prover may find hundreds of these in one run, which no conflict ends. So after each solution all but
// followers, and those that have terms of the objective to suppose (cores.h), begin with a leap, the decision that the
// objective improves by more at once. Each solution doubles the leap, and each restart halves it; what is decided is at
// most half of the distance to the proved bound. A leap that fails proves a bound.
//
// Until there is an incumbent, and then in every fourth of a finder's runs, the phases are the values that a linear
// relaxation suggests, if there are any: where constraints are tight this leads to solutions that learning does not
// find (CP-SAT tries the values of its linear programs: Perron, Didier, Gay, CP 2023).
//
// The decision set changes from run to run (abi.h, DecisionSet): on some models proofs need decisions on the variables
// that the model declares, on others on truths or on inner links of sums, and no set is best. Each gets the same work,
// not the same number of conflicts: those of one set may take twenty times as long. More turns for the set whose
// clauses come from the fewest levels were worse (docs/measurements/learning.md).
//
// A soloist is the only learner, so it takes the roles of the others in turn, with the same clauses and activities, as
// SAT solvers alternate between long and short runs (Oh, SAT 2015; Biere, Fleury 2020). Turns are counted in conflicts
// and become longer, so that each role gets its share of any time, and in the end enough time.
#pragma once

#include "../../core/assert.h"
#include "../../core/interval.h"
#include "../../core/luby.h"
#include "../../search/schedule.h"
#include "../../search/task.h"
#include "../state/ablation.h"
#include "../clauses/clauses.h"
#include "../tuning.h"
#include "decide.h"
#include "../state/heap.h"
#include "../state/literal.h"
#include "../state/parts.h"
#include "../state/sides.h"
#include "../state/trail.h"
#include "turns.h"
#include "undo.h"

constexpr i32 N_TURNS = 5;  // format: of a soloist, before it starts over with longer ones
constexpr i64 LONGEST_LEAP = (i64)1 << 60;  // formula: a longer one could overflow

struct Restarts {
  i32 role, part;  // `part` is its current role, which differs from `role` for a soloist only
  i32 turns, luby_runs, prover_runs, wish_runs;
  i64 conflicts_in_turn;  // of a soloist
  i64 turn_since, last_turn;  // the work done when the turn began, and the work of the turn before it
  i32 conflicts_here, conflict_limit;
  double recent_lbd, usual_lbd;
  i32 full_restarts;  // in succession, because the trail was full
  bool gave_up;       // the trail was full even after restarts
  bool no_more_cores;  // nothing is left to pay (cores.h)
  i64 cut;            // only solutions better than this value of sense * objective are wanted
  bool probing;       // the run begins with a probe
  i64 probe_step;     // how far above the proved bound a probe is
  i64 probe_gap;      // minus the proved bound at the last probe
  i64 leap;           // the improvement that is decided on at level 0
  i64 set_since;      // the work done when the heap's set became the current one
  i64 set_work[N_DECISION_SETS];  // the work of each set before that
};

PART(Restarts, restarts);

// The conflicts before the next restart of a finder or follower.
DEVICE i32 next_limit(const Learner& l) {
  i32 runs = restarts(l).luby_runs;
  if (has_schedule(problem(l))) return scheduled_failures(problem(l), runs);
  return luby(runs % RESTART_CYCLE + 1) * LUBY_UNIT;
}

DEVICE void clear_restarts(Learner& l) {
  Restarts& s = restarts(l);
  s.cut = NO_INCUMBENT;
  s.conflict_limit = next_limit(l);
  s.probe_gap = INT64_MAX;
  s.probe_step = s.leap = 1;
}

DEVICE bool is_prover(const Learner& l) { return restarts(l).part == METHOD_PROVER; }
DEVICE bool restarts_by_levels(const Learner& l) { return is_prover(l) || restarts(l).part == METHOD_CORES; }

DEVICE void note_lbd(Learner& l) {
  ASSERT(learned(l).lbd > 0);
  Restarts& s = restarts(l);
  ++s.conflicts_here;
  ++s.conflicts_in_turn;
  s.recent_lbd += (learned(l).lbd - s.recent_lbd) * RECENT_SHARE;
  s.usual_lbd += (learned(l).lbd - s.usual_lbd) * USUAL_SHARE;
}

// Whether no other block learns.
DEVICE bool is_only_learner(const Learner& l) {
  i32 count = 0;
  for (i32 other = 0; other < problem(l)->n_blocks; ++other) count += is_learner(problem(l), other);
  return count == 1;
}

// Whether the learner takes other roles in turn.
DEVICE bool takes_turns(const Learner& l) {
  i32 role = restarts(l).role;
  return role == METHOD_SOLOIST || (role == METHOD_FOLLOWER && is_only_learner(l));
}

// Whether the turn for cores has lasted as long as the turn before it: with ten thousands of terms its conflicts cost
// hundreds of times as much.
DEVICE bool has_had_its_turn(const Learner& l) {
  const Restarts& s = restarts(l);
  return takes_turns(l) && s.part == METHOD_CORES && work_done(l) - s.turn_since > s.last_turn;
}

DEVICE bool wants_restart(const Learner& l) {
  if (trail(l).level == 0) return false;
  if (lacks_room(l) || has_had_its_turn(l)) return true;
  const Restarts& s = restarts(l);
  if (!restarts_by_levels(l)) return s.conflicts_here >= s.conflict_limit;
  bool learns_badly = s.conflicts_here > GLUCOSE_LEAST && s.recent_lbd > GLUCOSE_EXCESS * s.usual_lbd;
  bool leaps_too_far = s.leap > 1 && s.conflicts_here >= LUBY_UNIT;
  return learns_badly || leaps_too_far;
}

// Who proves bounds by cores, where the learner can have any, else by probes.
DEVICE i32 seeker_of_bounds(const Learner& l) {
  return problem(l)->n_counters && !restarts(l).no_more_cores ? METHOD_CORES : METHOD_PROVER;
}

// The role of a soloist, or of a follower that is the only learner, in its next turn. Without an annotation a soloist's
// turn as a follower is left out.
DEVICE i32 next_part(Learner& l) {
  if (restarts(l).role == METHOD_FOLLOWER) return restarts(l).turns++ % 2 ? METHOD_PROVER : METHOD_FOLLOWER;
  const i32 parts[N_TURNS] = {METHOD_FINDER, METHOD_PROVER, METHOD_FINDER, seeker_of_bounds(l), METHOD_FOLLOWER};
  i32 part = parts[restarts(l).turns++ % N_TURNS];
  if (part != METHOD_FOLLOWER || problem(l)->n_strategies > FIRST_ANNOTATED) return part;
  return parts[restarts(l).turns++ % N_TURNS];
}

DEVICE void take_part(Learner& l) {
  Restarts& s = restarts(l);
  ASSERT(FIRST_LEARNER <= s.role && s.role < N_METHODS);
  i64 enough = (i64)TURN_CONFLICTS * (1 + s.turns / N_TURNS);
  if (!takes_turns(l)) s.part = s.role == METHOD_CORES ? seeker_of_bounds(l) : s.role;
  else if (s.turns > 0 && s.conflicts_in_turn < enough && !has_had_its_turn(l)) return;
  else s.part = next_part(l);
  s.conflicts_in_turn = 0;
  s.last_turn = work_done(l) - s.turn_since;
  s.turn_since = work_done(l);
}

// The set with the least work among `sets` (bits); among equals the next one after `last` in cyclic order.
DEVICE i32 least_worked_set(const i64* work, i32 sets, i32 last) {
  ASSERT(0 < sets && sets < 1 << N_DECISION_SETS);
  i32 next = -1;
  for (i32 i = 1; i <= N_DECISION_SETS; ++i) {
    i32 set = (last + i) % N_DECISION_SETS;
    if ((sets >> set & 1) && (next < 0 || work[set] < work[next])) next = set;
  }
  return next;
}

// Adds the work since the last restart to the current set, and takes the next one.
DEVICE void take_set(Learner& l) {
  Restarts& s = restarts(l);
  i64 now = work_done(l);
  s.set_work[heap(l).set] += now - s.set_since;
  s.set_since = now;
  i32 sets = problem(l)->learners[block(l).index].sets;
  i32 next = least_worked_set(s.set_work, sets, heap(l).set);
  ASSERT(sets >> next & 1);
  decide_first(l, next);
}

DEVICE bool tries_wishes(Learner& l) {
  if (!global_load(&problem(l)->common->wished)) return false;
  return !guidance(l).has_best || (restarts(l).part == METHOD_FINDER && ++restarts(l).wish_runs % WISH_EVERY == 0);
}

// Sets phases to the suggested values that are within the root bounds.
DEVICE void take_wishes(Learner& l) {
  const Problem* p = problem(l);
  for (i32 v = 0; v < p->n_vars; ++v) {
    bound_t wish = global_load(&p->wishes[v]);
    if (wish >= p->root_lower[v] && wish <= p->root_upper[v]) guidance(l).phase[v] = wish;
  }
}

DEVICE void restart(Learner& l) {
  Restarts& s = restarts(l);
  backtrack(l, 0);
  leave_warm_start(l);
  take_part(l);
  take_set(l);
  guidance(l).by_wish = tries_wishes(l);
  if (guidance(l).by_wish) take_wishes(l);
  ++statistics(block(l)).restarts;
  s.conflicts_here = 0;
  s.leap = maximum(s.leap / 2, (i64)1);
  if (!restarts_by_levels(l)) {
    ++s.luby_runs;
    s.conflict_limit = next_limit(l);
  }
  s.recent_lbd = s.usual_lbd;
  guidance(l).pending_level = NO_LEVEL;
  bool may_probe = is_prover(l) && problem(l)->sense != 0 && !is_left_out(WITHOUT_PROBES);
  s.probing = may_probe && ++s.prover_runs % PROBE_EVERY == PROBE_EVERY - 1;
}

// The side that grows with the proved bound of the objective, and the opposite one, which grows with the incumbent.
DEVICE i32 goal_side(const Problem* p) { return 2 * p->objective + (p->sense < 0); }
DEVICE i32 cut_side(const Problem* p) { return opposite(goal_side(p)); }

// At level 0: the decision that the objective is within the step of its proved bound. The step doubles while the bound
// rises, and shrinks when a probe has not raised it.
DEVICE Literal probe_literal(Learner& l) {
  Restarts& s = restarts(l);
  ASSERT(trail(l).level == 0 && s.probe_step > 0);
  i32 side = cut_side(problem(l));
  i64 bound = -(i64)sides(l).now[goal_side(problem(l))], least = (i64)sides(l).now[side] + 1;
  s.probe_step = bound < s.probe_gap ? minimum(2 * s.probe_step, LONGEST_LEAP) : maximum(s.probe_step / 4, (i64)1);
  s.probe_gap = bound;
  return literal(side, (bound_t)maximum(bound - minimum(s.probe_step - 1, bound - least), least));
}

// At level 0: the improvement beyond the required one to decide on; 0 without an incumbent. At most half of the
// objective's range, so that the decision is neither true nor false already.
DEVICE i64 next_leap(const Learner& l) {
  const Restarts& s = restarts(l);
  if (s.part == METHOD_FOLLOWER || problem(l)->sense == 0 || s.cut == NO_INCUMBENT) return 0;
  if (is_left_out(WITHOUT_LEAPS)) return 0;
  ASSERT(s.leap > 0);
  i64 open = -(i64)sides(l).now[cut_side(problem(l))] - (i64)sides(l).now[goal_side(problem(l))];
  return minimum(s.leap, open / 2);
}

DEVICE Literal leap_literal(const Learner& l, i64 leap) {
  i32 side = cut_side(problem(l));
  return literal(side, (bound_t)((i64)sides(l).now[side] + leap));
}
