// Bounds from cores: terms of an objective that cannot all be small.
//
// Where the objective is a sum of many terms, a probe of the whole sum fails for a reason that is long and says little.
// So a learner with the role `cores` supposes of each term that it is small. The reason against that is a *core*, a
// clause over a few terms, of which at least one is larger. This raises the proved bound by the least cost of the
// core's literals; a counter of them (counters.h) takes their place, since one of them is paid for (OLL: Andres et al.,
// ICLP 2012; for learners over bounds: Gange et al., CP 2020).
//
// The analysis asks a supposition only for the threshold that it needs, so a literal of the core, side >= k, may cost
// many steps at once. Of a core that costs w each literal has w less to pay (softs.h).
//
// At first a term is supposed to cost less than a large *stratum*, so that cores cost much; then, when that has a
// solution or is not refuted for long, less than half as much, and so on down to nothing (stratification: Ansótegui et
// al., SAT 2012, here by cost instead of by weight). A core is made smaller: it is tried again in reverse order as long
// as that helps, then without one literal after the other, for as much work as it took to find it.
#pragma once

#include "../../core/assert.h"
#include "../../core/interval.h"
#include "../../core/room.h"
#include "../../core/store.h"
#include "../state/ablation.h"
#include "../tuning.h"
#include "analyse.h"
#include "../clauses/clauses.h"
#include "../propagators/counters.h"
#include "../state/literal.h"
#include "../../search/logged.h"
#include "../state/parts.h"
#include "../search/restart.h"
#include "../state/sides.h"
#include "softs.h"
#include "../state/trail.h"
#include "../search/turns.h"
#include "../search/undo.h"

// A literal that costs something, and is supposed to be false. `kept` if the core was not refuted without it.
struct Supposition {
  Literal literal;
  i32 soft, kept;
};

struct Cores {
  Supposition* supposed;  // by a run, in order
  Supposition* core;
  i32 n_supposed, n_core;
  i32 tried;       // the member of the core that is tried to be left out, or -1
  i64 trial_end;   // the number of conflicts at which that has failed
  i64 shrink_end;  // the work at which the core is taken as it is: as much again as it took to find it
  i64 work_since;  // when the last core was taken, or the run began
  i32 level;       // from which on all suppositions hold, or NO_LEVEL
  i32 next;        // those before this one hold,
  i32 next_level;  // from this level on
  i64 stratum;
  i64 conflicts;   // while cores were sought
  i64 since;       // these, when the stratum or the last core began
  i64 run;         // the last run with suppositions, from 1 on
  i64 idle_run;    // the last one in which a decision of another kind was in the way
  bool satisfied;  // a solution was found under all suppositions of a stratum
};

PART(Cores, cores);

DEVICE i64 cores_bytes(const Problem* p) { return most_softs(p) * 2 * (i64)sizeof(Supposition); }

DEVICE void take_memory(Cores& s, const Problem* p, Room& room) {
  s.supposed = take<Supposition>(room, most_softs(p));
  s.core = take<Supposition>(room, most_softs(p));
}

// Whether a block can seek cores in its model: the objective is a sum of variables that it has.
DEVICE bool may_seek_cores(const Block& b, const Problem& own) {
  i32 role = own.roles[b.index];
  if ((role != METHOD_CORES && role != METHOD_SOLOIST) || own.n_goal_terms == 0) return false;
  if (IS_LOGGED || is_left_out(WITHOUT_CORES)) return false;
  for (i32 i = 0; i < own.n_goal_terms; ++i) {
    if (is_link(&own, var_of(own.goal_terms[i].side))) return false;
  }
  return true;
}

// The number of the current run.
DEVICE i64 run_of(const Learner& l) { return statistics(block(l)).restarts + 1; }

// Whether it makes suppositions.
DEVICE bool seeks_cores(const Learner& l) {
  if (!problem(l)->n_counters || restarts(l).part != METHOD_CORES) return false;
  return cores(l).idle_run != run_of(l);
}

// ---- suppositions

// The objective: what its terms cost at least, and a piece for each of them.
DEVICE void clear_cores(Learner& l) {
  const Problem* p = problem(l);
  if (!p->n_counters) return;
  Cores& s = cores(l);
  s.level = NO_LEVEL;
  softs(l).free = -1;
  softs(l).base = *p->goal_constant;
  for (i32 i = 0; i < p->n_goal_terms; ++i) {
    Term t = p->goal_terms[i];
    bound_t least = sides(l).root[t.side], most = -sides(l).root[opposite(t.side)];
    softs(l).base += (i64)t.factor * least;
    if (least == most) continue;
    add_soft(l, t.side, least + 1, most, t.factor);
    s.stratum = maximum(s.stratum, (i64)t.factor);
  }
}

// The next smaller stratum by which something is supposed that was not before.
DEVICE void lower_stratum(Learner& l) {
  Cores& s = cores(l);
  i64 next = 1;
  for (i32 i = 0; i < softs(l).count; ++i) next = maximum(next, most_below(l, softs(l).of_side[i], s.stratum / 2));
  s.stratum = next;
  s.since = s.conflicts;
}

// Supposes the opposite of all literals of the core but the one that is tried: those first that came last, since the
// core has been found from the end of the trail.
DEVICE void suppose_core(Learner& l) {
  Cores& s = cores(l);
  for (i32 i = 0; i < s.n_core; ++i) {
    if (i != s.tried) s.supposed[s.n_supposed++] = s.core[i];
  }
}

DEVICE void suppose_stratum(Learner& l) {
  Cores& s = cores(l);
  for (i32 i = 0; i < softs(l).count; ++i) {
    bound_t k;
    if (!find_threshold(l, softs(l).of_side[i], s.stratum, &k)) continue;
    Supposition own = {literal(softs(l).of_side[i].side, k), i, 0};
    s.supposed[s.n_supposed++] = own;
  }
}

// Level 0: nothing is supposed. What was may be out of date when a core has been paid, and the first decision behind
// level 0 need not be a supposition.
DEVICE void drop_suppositions(Learner& l) {
  backtrack(l, 0);
  cores(l).n_supposed = 0;
  cores(l).level = cores(l).next_level = NO_LEVEL;
}

// Level 0: requires that the objective is at least what it costs. False when that is news.
DEVICE bool tell_base(Learner& l) {
  i32 side = goal_side(problem(l));
  if (softs(l).base <= sides(l).now[side]) return true;
  set_root(l, side, (value_t)minimum(softs(l).base, 1 - (i64)sides(l).now[opposite(side)]));
  return false;
}

// Level 0: what the run supposes. False when that has changed level 0.
DEVICE bool take_suppositions(Learner& l) {
  Cores& s = cores(l);
  ASSERT(trail(l).level == 0);
  drop_suppositions(l);
  if (s.run != run_of(l)) s.work_since = work_done(l);
  s.run = run_of(l);
  if (s.n_core > 0) {
    suppose_core(l);
    return true;
  }
  settle_softs(l);
  if (!tell_base(l)) return false;
  bool for_long = s.conflicts - s.since > STRATUM_CONFLICTS;
  if ((s.satisfied || for_long) && s.stratum > 1) lower_stratum(l);
  s.satisfied = false;
  suppose_stratum(l);
  while (s.n_supposed == 0 && s.stratum > 1) {
    lower_stratum(l);
    suppose_stratum(l);
  }
  if (s.n_supposed == 0) restarts(l).no_more_cores = true;
  return true;
}

// A solution was found: whether under all suppositions of the stratum.
DEVICE void note_solution(Learner& l) {
  Cores& s = cores(l);
  if (seeks_cores(l) && s.n_core == 0 && s.n_supposed > 0 && trail(l).level >= s.level) s.satisfied = true;
}

DEVICE void note_conflict(Learner& l) {
  if (seeks_cores(l)) ++cores(l).conflicts;
}

enum Supposing { SUPPOSED, HOLDING, REFUTED, AT_ROOT };

// The next supposition: SUPPOSED with the decision; HOLDING when all are decided; REFUTED when one is false already.
DEVICE Supposing next_supposition(Learner& l, Literal* a, Supposition* refuted) {
  Cores& s = cores(l);
  if (trail(l).level >= s.level) return HOLDING;
  if (trail(l).level < s.next_level) s.next = 0;
  s.next_level = trail(l).level;
  for (; s.next < s.n_supposed; ++s.next) {
    *refuted = s.supposed[s.next];
    *a = negation(refuted->literal);
    if (is_false(l, *a)) return REFUTED;
    if (!is_true(l, *a)) return SUPPOSED;
  }
  s.level = trail(l).level;
  return HOLDING;
}

// The supposition that the entry decided, or null.
DEVICE const Supposition* supposition_of(const Learner& l, const Entry& e) {
  const Cores& s = cores(l);
  for (i32 i = 0; i < s.n_supposed; ++i) {
    Literal a = negation(s.supposed[i].literal);
    if (a.side == e.side && a.k == e.now) return &s.supposed[i];
  }
  return 0;
}

// Writes literals to the core of which one is true: that of `refuted`, and others whose suppositions imply it. False
// when other decisions are among the reasons.
OUTLINE bool find_core(Learner& l, Supposition refuted) {
  Cores& s = cores(l);
  s.n_core = 0;
  s.core[s.n_core++] = refuted;
  begin_resolvent(l, trail(l).level);
  require(l, refuted.literal);
  Literal needed;
  bool good = true;
  for (i32 i = trail(l).size; good;) {
    i = resolve_to_decision(l, i, &needed);
    if (i < 0) break;
    const Supposition* own = supposition_of(l, trail(l).entries[i]);
    good = own;
    if (good) s.core[s.n_core++] = {negation(needed), own->soft, own->kept};
  }
  end_resolvent(l);
  relink(l, 0);
  return good;
}

// ---- what a core is worth

// Level 0: one of the core's literals is true.
DEVICE void state_core(Learner& l) {
  const Cores& s = cores(l);
  Learned& clause = learned(l);
  for (i32 i = 0; i < s.n_core; ++i) clause.literals[i] = s.core[i].literal;
  clause.size = s.n_core;
  clause.lbd = KEPT_LBD;
  add_clause(l);
}

// The least cost of the core's literals.
DEVICE i64 weight_of_core(const Learner& l) {
  const Cores& s = cores(l);
  i64 weight = INT64_MAX;
  for (i32 i = 0; i < s.n_core; ++i) {
    weight = minimum(weight, cost_of(l, softs(l).of_side[s.core[i].soft], s.core[i].literal.k));
  }
  ASSERT(weight > 0);
  return weight;
}

// Level 0: pays for the core once, and counts its literals beyond the first one, if there is room for a counter. A
// literal that costs more than the core is replaced by one that is true earlier and costs enough.
DEVICE void pay_for_core(Learner& l) {
  Cores& s = cores(l);
  Literal* literals = learned(l).literals;
  i64 weight = weight_of_core(l);
  softs(l).base += weight;
  for (i32 i = 0; i < s.n_core; ++i) {
    Soft& soft = softs(l).of_side[s.core[i].soft];
    literals[i] = s.core[i].literal;
    find_threshold(l, soft, weight, &literals[i].k);
    soft.first = reduce_cost(l, soft, literals[i].k, weight);
  }
  if (!may_count(l, s.n_core)) return;
  i32 counter = make_counter(l, literals, s.n_core);
  add_soft(l, lower_side(counter), 2, s.n_core, weight);
}

// Level 0: the core is small enough.
DEVICE void take_core(Learner& l) {
  Cores& s = cores(l);
  ASSERT(s.n_core > 0);
  drop_suppositions(l);
  state_core(l);
  if (s.n_core > 1 && !trail(l).exhausted) pay_for_core(l);
  ++statistics(l).cores;
  s.n_core = 0;
  s.since = s.conflicts;
  s.work_since = work_done(l);
}

// Level 0: tries to refute the core without its next literal, or takes it.
DEVICE void try_next(Learner& l) {
  Cores& s = cores(l);
  s.tried = 0;
  while (s.tried < s.n_core && s.core[s.tried].kept) ++s.tried;
  s.trial_end = s.conflicts + TRIAL_CONFLICTS;
  if (s.n_core < 3 || s.tried == s.n_core || work_done(l) >= s.shrink_end) take_core(l);
}

// A supposition is false: finds a core, and makes it smaller. At level 0 afterwards.
DEVICE void refute_supposition(Learner& l, Supposition refuted) {
  Cores& s = cores(l);
  i32 before = s.n_core;
  bool good = find_core(l, refuted);
  drop_suppositions(l);
  if (!good) {
    s.n_core = 0;
    s.idle_run = run_of(l);
    return;
  }
  if (before == 0) s.shrink_end = 2 * work_done(l) - s.work_since;
  if (before > 0 && (s.tried >= 0 || s.n_core == before)) return try_next(l);
  s.tried = -1;
  s.trial_end = s.conflicts + TRIAL_CONFLICTS;
}

// The core is not refuted without the literal that is tried, or not in another order. At level 0 afterwards.
DEVICE void end_trial(Learner& l) {
  Cores& s = cores(l);
  drop_suppositions(l);
  if (s.tried >= 0) s.core[s.tried].kept = 1;
  try_next(l);
}

// The next decision: SUPPOSED; HOLDING when all suppositions hold, so that any decision may follow; AT_ROOT when level
// 0 has news instead.
DEVICE Supposing seek_core(Learner& l, Literal* a) {
  Cores& s = cores(l);
  if (trail(l).level == 0 && !take_suppositions(l)) return AT_ROOT;
  Supposition refuted;
  Supposing next = next_supposition(l, a, &refuted);
  bool is_trial = s.n_core > 0;
  if (next == REFUTED) {
    refute_supposition(l, refuted);
  } else if (is_trial && (s.conflicts >= s.trial_end || (next == HOLDING && s.tried < 0))) {
    end_trial(l);
  } else {
    return next;
  }
  return AT_ROOT;
}
