// Vivification: learned clauses become shorter by propagation (Piette, Hamadi, Saïs, ECAI 2008; for the clauses that a
// learner keeps longest: Luo et al., IJCAI 2017).
//
// Before clauses are reduced, the literals of those of few levels are supposed to be false, one by one. Where that
// fails, or makes another literal true, before the end, a part of the clause is a clause already. The analysis finds
// it: what the fault rests on, each supposition with the threshold that is needed. The shorter clause takes the place
// of the longer one. Where all literals but one are supposed to be false the clause itself makes that one true; then
// literals are left out that the others had made false, or nothing is gained.
//
// That is worth a tenth of a learner's work (docs/measurements/learning.md#what-a-longer-run-buys). Nothing else
// changes by an attempt: neither phases nor activities, nor which clauses have been of use.
#pragma once

#include "../../core/assert.h"
#include "../../core/interval.h"
#include "../state/ablation.h"
#include "../propagators/advance.h"
#include "../tuning.h"
#include "analyse.h"
#include "../clauses/clauses.h"
#include "../exchange/exchange.h"
#include "explain.h"
#include "../state/literal.h"
#include "../../search/logged.h"
#include "../state/parts.h"
#include "../propagators/resolvent.h"
#include "../state/sides.h"
#include "../state/trail.h"
#include "../search/turns.h"
#include "../search/undo.h"
#include "../propagators/wake.h"
#ifdef CHECK_EXPLANATIONS
#include "../propagators/check.h"
#endif

constexpr i32 RESOLVED_WORK = CONFLICT_WORK / 2;  // of an attempt that is analysed: its clause is not minimised

struct Vivifier {
  i64 work;  // done so far
};

PART(Vivifier, vivifier);

// Adds what the resolvent needs of suppositions, negated, to the clause in learned(l).
DEVICE void write_suppositions(Learner& l) {
  Learned& clause = learned(l);
  Literal needed;
  for (i32 i = trail(l).size;;) {
    i = resolve_to_decision(l, i, &needed);
    if (i < 0) break;
    clause.literals[clause.size++] = negation(needed);
  }
  end_resolvent(l);
  relink(l, 0);
}

// The clause of `a`, which is true, and of the suppositions that make it so.
DEVICE void explain_true(Learner& l, Literal a) {
  begin_resolvent(l, trail(l).level);
  require(l, a);
  learned(l).literals[0] = a;
  learned(l).size = 1;
  write_suppositions(l);
}

// The clause of the suppositions that have failed.
DEVICE void explain_failure(Learner& l) {
  Reason why = reason_at(l, 0);
  get_conflict(l, why);
  begin_resolvent(l, trail(l).level);
  require_all(l, why);
  learned(l).size = 0;
  write_suppositions(l);
}

enum Attempt { RESOLVED, IN_VAIN, ASKED_TO_LEAVE };

// Level 0: supposes literals to be false, until that fails or makes one true. RESOLVED with the clause of that in
// learned(l). Suppositions stay.
DEVICE Attempt try_without(Learner& l, const Literal* literals, i32 size) {
  for (i32 i = 0; i < size; ++i) {
    if (is_false(l, literals[i])) continue;
    if (is_true(l, literals[i])) {
      explain_true(l, literals[i]);
      return RESOLVED;
    }
    if (!has_room_to_suppose(l)) return IN_VAIN;
    suppose(l, negation(literals[i]));
    Outcome outcome = propagate(l);
    if (outcome == CONFLICT) {
      explain_failure(l);
      return RESOLVED;
    }
    if (outcome == LEAVE) return ASKED_TO_LEAVE;
    if (outcome == FULL || progress(l).creeping >= 0) return IN_VAIN;
  }
  return IN_VAIN;
}

// Level 0: adds the shorter clause in learned(l), and lets the one before go.
DEVICE void replace_clause(Learner& l, Clause* before) {
  Learned& clause = learned(l);
  ASSERT(before->lbd != STATED && clause.size < before->size);
  clause.lbd = minimum(before->lbd, clause.size);
#ifdef CHECK_EXPLANATIONS
  check_learned(l);
#endif
  tell_others(l);
  add_clause(l);
  if (clauses(l).full) return;
  ++statistics(l).shortened;
  before->lbd = REPLACED;
}

// Level 0, at its fixpoint, and again afterwards, except for news. False when the learner is asked to leave.
DEVICE bool vivify_clause(Learner& l, Clause* clause) {
  Literal literals[MOST_VIVIFIED];
  for (i32 i = 0; i < clause->size; ++i) literals[i] = literals_of(clause)[i];
  clause->vivified = 1;
  resolvent(l).is_tried = true;
  Attempt attempt = try_without(l, literals, clause->size);
  resolvent(l).is_tried = false;
  backtrack(l, 0, false);
  empty_queue(l);  // of what the suppositions have woken
  if (attempt == RESOLVED) vivifier(l).work += RESOLVED_WORK;
  if (attempt == RESOLVED && learned(l).size < clause->size) replace_clause(l, clause);
  if (attempt == ASKED_TO_LEAVE) --progress(l).polls;  // so the next look is at once
  return attempt != ASKED_TO_LEAVE;
}

// Of few levels, so that it stays for long, and not tried before.
DEVICE bool is_worth_vivifying(const Clause* clause) {
  bool kept = clause->lbd != STATED && clause->lbd <= KEPT_WHILE_USED;
  return kept && !clause->vivified && clause->size > 2 && clause->size <= MOST_VIVIFIED;
}

// Level 0: whether the clause says nothing any more, so that the reduction drops it.
DEVICE bool is_idle(const Learner& l, Clause* clause) {
  for (i32 i = 0; i < clause->size; ++i) {
    if (is_true(l, literals_of(clause)[i])) return true;
  }
  return false;
}

DEVICE bool has_root_news(const Learner& l) { return trail(l).exhausted || trail(l).size > 0; }

// Level 0, at its fixpoint: shortens clauses, for its share of the work. Whether level 0 has news.
OUTLINE bool vivify(Learner& l) {
  if (IS_LOGGED || is_left_out(WITHOUT_VIVIFICATION)) return false;
  i64& work = vivifier(l).work;
  const i32 end = clauses(l).end;
  bool goes_on = !lacks_room(l);
  for (i32 c = 0; c < end && goes_on && work * VIVIFIED_SHARE < work_done(l);) {
    Clause* clause = clause_at(l, c);
    c += clause_units(clause->size);
    if (!is_worth_vivifying(clause) || is_idle(l, clause)) continue;
    const i64 before = work_done(l);
    goes_on = vivify_clause(l, clause) && !has_root_news(l) && !lacks_room(l);
    work += work_done(l) - before;
  }
  return has_root_news(l);
}
