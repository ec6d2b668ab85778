// Reasons: of a row, by its rules or by the oracle; of a clause, whose other literals are all false.
#pragma once

#include "../../core/assert.h"
#include "../../core/interval.h"
#include "../../core/propagate.h"
#include "../../core/room.h"
#include "../state/ablation.h"
#include "../clauses/clauses.h"
#include "../propagators/counters.h"
#include "../propagators/linear.h"
#include "../state/literal.h"
#include "../state/log.h"
#include "../propagators/oracle.h"
#include "../state/parts.h"
#include "../propagators/posted.h"
#include "../propagators/wide_rows.h"
#include "../propagators/resolvent.h"
#include "../tuning.h"
#include "rules.h"
#include "rules_product.h"
#include "../state/sides.h"
#include "../state/trail.h"
#ifdef CHECK_EXPLANATIONS
#include "../propagators/check.h"
#endif

constexpr i32 N_REASONS = DEEPEST_MINIMISATION + 2;  // in use at the same time, one for each depth of the recursion

// Memory for the premises of reasons, for each depth.
struct Reasons {
  Literal* premises;
  i32 room;  // of a reason
};

PART(Reasons, reasons);

// A linear row names both sides of each term at most, and its truth; a wide row both sides of each variable. And there
// is what a conflict contradicts. A counter names each of its literals.
DEVICE i32 most_premises(const Problem* p) {
  i32 most = 2 * maximum(p->most_terms, p->most_arguments);
  return maximum(MOST_PREMISES, maximum(most, most_counted(p)) + 2);
}
DEVICE i64 reasons_bytes(const Problem* p) {
  return N_REASONS * (i64)most_premises(p) * (i64)sizeof(Literal);
}

DEVICE void take_memory(Reasons& s, const Problem* p, Room& room) {
  s.room = most_premises(p);
  s.premises = take<Literal>(room, N_REASONS * (i64)s.room);
}

// True literals that imply another one. Those of a clause are not copied: `get_premise` reads and negates them.
struct Reason {
  Premises own;
  const Literal* clause;
  i32 count, skipped;  // of a clause: the side of the literal that is implied
};

// An empty reason with the memory of this depth, which no other may be using.
DEVICE Reason reason_at(const Learner& l, i32 depth) {
  ASSERT(0 <= depth && depth < N_REASONS);
  const Reasons& s = reasons(l);
  Reason why = {{s.premises + (i64)depth * s.room, 0, s.room}, 0, 0, -1};
  return why;
}

// Literal i of the reason. False where literal i of a clause is the implied one.
DEVICE bool get_premise(const Reason& why, i32 i, Literal* a) {
  ASSERT(0 <= i && i < why.count);
  if (!why.clause) {
    *a = why.own.literals[i];
    return true;
  }
  *a = negation(why.clause[i]);
  return why.clause[i].side != why.skipped;
}

DEVICE bool explain_by_rule(const Learner& l, Premises& why, Row r, Literal a, i32 t) {
  if (names_twice(r)) return false;
  switch (r.op) {
    case OP_ADD: return explain_add(l, why, r, a, t);
    case OP_MIN: return explain_min(l, why, r, 0, a, t);
    case OP_MAX: return explain_min(l, why, r, 1, a, t);
    case OP_LEQ: return explain_leq(l, why, r, a, t);
    case OP_EQ: return explain_eq(l, why, r, a, t);
    case OP_MUL: return explain_mul(l, why, r, a, t);
    case OP_ELEMENT: return explain_element(l, why, r, a, t);
    default: return false;
  }
}

// Whether all premises were true before entry t.
DEVICE bool were_true(const Learner& l, const Reason& why, i32 t) {
  bool good = true;
  for (i32 i = 0; good && i < why.count; ++i) {
    Literal a;
    good = !get_premise(why, i, &a) || held(l, a.side, t) >= a.k;
  }
  return good;
}

// A row that is not ternary.
DEVICE void explain_whole(const Learner& l, i32 row, Literal a, i32 t, Premises& why) {
  bool good = is_wide(problem(l), row)      ? explain_wide(l, row, a, t, why)
              : is_counter(problem(l), row) ? explain_counter(l, row, a, t, why)
                                            : explain_linear(l, row, a, t, why);
  ASSERT(good);
#ifdef CHECK_EXPLANATIONS
  check_whole(l, row, why, a, t);
#endif
  count_use(l, row);
  statistics(l).explanations += good;
  statistics(l).premises += why.count;
}

OUTLINE void explain_row(const Learner& l, i32 row, Literal a, i32 t, Premises& why) {
  ASSERT(0 <= row && row < n_all_rows(problem(l)) && is_side(l, a.side));
  why.count = 0;
  if (row >= problem(l)->n_rows) return explain_whole(l, row, a, t, why);
  Row r = load_constant(&problem(l)->rows[row]);
  bool by_rule = !is_left_out(WITHOUT_RULES) && explain_by_rule(l, why, r, a, t);
  if (!by_rule) explain_by_oracle(l, r, a, t, why);
#ifdef CHECK_EXPLANATIONS
  check_explanation(l, r, why, a, t);
#endif
#ifdef COUNTED_OPERATOR  // docs/measurements/learning.md: the number and length of one operator's explanations
  if (r.op != COUNTED_OPERATOR) return;
#endif
  ++statistics(l).explanations;
  statistics(l).premises += why.count;
}

// The reason why `a` became true at entry t, or would have.
DEVICE void explain(const Learner& l, i32 reason, Literal a, i32 t, Reason& why) {
  ASSERT(reason != DECISION);
  if (is_row_reason(reason)) {
    explain_row(l, reason >> 1, a, t, why.own);
    why.clause = 0;
    why.count = why.own.count;
    ASSERT(were_true(l, why, t));
    log_by_row(l, reason >> 1, a, t, why.own.literals, why.count);
    return;
  }
#ifdef PROOF
  log_by_clause(clause_at(l, reason >> 1)->name, a, t);
#endif
  Clause* clause = clause_at(l, reason >> 1);
  if (!resolvent(l).is_tried) clause->used = 1;
  why.clause = literals_of(clause);
  why.count = clause->size;
  why.skipped = a.side;
  ASSERT(were_true(l, why, t));
}
