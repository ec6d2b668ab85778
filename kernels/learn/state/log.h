// A log of what a learner concludes, from which the host writes a proof that others can check (docs/design/proofs.md).
// Only PROOF builds of the CPU engine have it, with one learner; elsewhere these functions are empty.
//
// A record is a few words: its size, its kind (abi.h, LogKind), and what the kind says. They go through a ring that the
// host empties while the learner works; a full one makes it wait. Everything is logged in the order in which it was
// concluded, explanations as the analysis of a conflict asks for them: the host finds out which of them a clause needs.
#pragma once

#include "../../core/port.h"
#include "../../search/logged.h"
#include "literal.h"
#include "parts.h"

#ifdef PROOF

// The name of a clause in the log, a field of its header.
#define NAMED_CLAUSE i64 name = 0;

static void log_word(i64 place, i64 word) { proof_log->words[place & (proof_log->capacity - 1)] = word; }

// The place of the words of a record of this kind, or -1 where nothing is logged. `end_record` makes it known.
static i64 begin_record(const Learner& l, i64 kind, i64 size) {
  if (!is_logging()) return -1;
  for (i32 tries = 0;; ++tries) {
    if (global_load(&proof_log->stopped) || global_load(&problem(l)->common->stop)) return -1;
    if (proof_log->written + size + 2 - global_load(&proof_log->taken) <= proof_log->capacity) break;
    pause_briefly(tries);
  }
  log_word(proof_log->written, size + 2);
  log_word(proof_log->written + 1, kind);
  return proof_log->written + 2;
}

static void end_record(i64 place) {
  fence_host();
  global_store(&proof_log->written, place);
}

static void log_numbers(const Learner& l, i64 kind, const i64* numbers, i32 count) {
  i64 place = begin_record(l, kind, count);
  if (place < 0) return;
  for (i32 i = 0; i < count; ++i) log_word(place++, numbers[i]);
  end_record(place);
}

// The numbers and then the literals, each as its side and its threshold.
static void log_literals(const Learner& l, i64 kind, const i64* numbers, i32 count, const Literal* literals, i32 size) {
  i64 place = begin_record(l, kind, count + 2 * (i64)size);
  if (place < 0) return;
  for (i32 i = 0; i < count; ++i) log_word(place++, numbers[i]);
  for (i32 i = 0; i < size; ++i) {
    log_word(place++, literals[i].side);
    log_word(place++, literals[i].k);
  }
  end_record(place);
}

static void log_by_row(const Learner& l, i32 row, Literal a, i32 t, const Literal* premises, i32 size) {
  const i64 numbers[] = {t, a.side, a.k, row};
  log_literals(l, LOG_BY_ROW, numbers, 4, premises, size);
}

static void log_by_clause(const Learner& l, i64 name, Literal a, i32 t) {
  const i64 numbers[] = {t, a.side, a.k, name};
  log_numbers(l, LOG_BY_CLAUSE, numbers, 4);
}

// A clause that was just learned gets the next name.
static void log_learned(const Learner& l, const Literal* literals, i32 size) {
  if (!proof_log) return;
  const i64 numbers[] = {++proof_log->clauses};
  log_literals(l, LOG_LEARNED, numbers, 1, literals, size);
}

static i64 last_name() { return proof_log ? proof_log->clauses : 0; }

// A bound of level 0. The reason is DECISION, or that of a row, or of the clause of this name.
static void log_root(const Learner& l, Literal a, i64 reason) {
  const i64 numbers[] = {a.side, a.k, reason};
  log_numbers(l, LOG_ROOT, numbers, 3);
}

static void log_refuted(const Learner& l, i64 reason) { log_numbers(l, LOG_REFUTED, &reason, 1); }
static void log_end(const Learner& l) { log_numbers(l, LOG_ENDED, 0, 0); }

static void log_solution(const Learner& l, const bound_t* values) {
  i64 place = begin_record(l, LOG_SOLUTION, problem(l)->n_vars);
  if (place < 0) return;
  for (i32 v = 0; v < problem(l)->n_vars; ++v) log_word(place++, values[v]);
  end_record(place);
}

#else

#define NAMED_CLAUSE

DEVICE void log_by_row(const Learner&, i32, Literal, i32, const Literal*, i32) {}
DEVICE void log_learned(const Learner&, const Literal*, i32) {}
DEVICE void log_root(const Learner&, Literal, i64) {}
DEVICE void log_end(const Learner&) {}

#endif
