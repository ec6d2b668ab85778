// A log of what learners conclude, from which the host writes a proof that others can check (docs/design/proofs.md).
// Only PROOF builds of the CPU engine have it; elsewhere these functions are empty.
//
// A record is a few words: its size, its kind (abi.h, LogKind), and what the kind says. Explanations stay in the batch
// of their learner, as the analysis of a conflict asks for them (the host finds out which of them a clause needs),
// until an event, which is any other record: one learner at a time appends its batch and the event to the log. So all
// learners have one order, in which clauses are named, and a clause lies behind its explanations. A learner takes from
// others only what the log has; so a use lies behind the derivation, and needs no record of its own.
//
// The words go through a ring that the host empties while the learners work; a full one makes them wait.
#pragma once

#include "../../core/interval.h"
#include "../../core/port.h"
#include "../../search/logged.h"
#include "literal.h"
#include "parts.h"

#ifdef PROOF

// The name of a clause in the log, a field of what describes a clause.
#define NAMED_CLAUSE i64 name = 0;

// ---- the batch

// Appends words to the batch. Null without memory: then there is no proof.
static i64* add_words(i64 size) {
  if (batch.size + size > batch.room) {
    i64 room = 2 * (batch.size + size);
    i64* moved = (i64*)realloc(batch.words, (size_t)room * sizeof(i64));
    if (!moved) {
      stop_log();
      return nullptr;
    }
    batch.words = moved;
    batch.room = room;
  }
  batch.size += size;
  return batch.words + batch.size - size;
}

// Appends a record of this kind. Returns where its words are to be written, or null where nothing is logged.
static i64* add_record(i64 kind, i64 size) {
  i64* at = batch.is_open && is_logging() ? add_words(size + 2) : nullptr;
  if (!at) return nullptr;
  at[0] = size + 2;
  at[1] = kind;
  return at + 2;
}

// Writes the literals, each as its side and its threshold.
static void put_literals(i64* at, const Literal* literals, i32 size) {
  for (i32 i = 0; i < size; ++i) {
    *at++ = literals[i].side;
    *at++ = literals[i].k;
  }
}

// The number of a row in the log: that of learners with fused rows, which come before wide ones.
static i32 logged_row(const Learner& l, i32 row) {
  const Problem* own = problem(l);
  return row < own->n_rows + own->n_linears ? row : row + block(l).problem->n_linears - own->n_linears;
}

static void log_by_row(const Learner& l, i32 row, Literal a, i32 t, const Literal* premises, i32 size) {
  i64* at = add_record(LOG_BY_ROW, 4 + 2 * (i64)size);
  if (!at) return;
  at[0] = t;
  at[1] = a.side;
  at[2] = a.k;
  at[3] = logged_row(l, row);
  put_literals(at + 4, premises, size);
}

static void log_by_clause(i64 name, Literal a, i32 t) {
  i64* at = add_record(LOG_BY_CLAUSE, 4);
  if (!at) return;
  at[0] = t;
  at[1] = a.side;
  at[2] = a.k;
  at[3] = name;
}

// ---- the log

static bool is_wanted(const Learner& l) { return is_logging() && !global_load(&problem(l)->common->stop); }

// Waits until no other learner appends. False where no more is wanted.
static bool lock_log(const Learner& l) {
  for (i32 tries = 0; is_wanted(l); ++tries) {
    if (global_replace(&proof_log->writer, 0, 1)) return true;
    pause_briefly(tries);
  }
  return false;
}

static void unlock_log() { global_store(&proof_log->writer, (i64)0); }

// Appends words to the log, no more than its ring has. False where no more is wanted.
static bool put_words(const Learner& l, const i64* words, i64 size) {
  for (i32 tries = 0; proof_log->written + size - global_load(&proof_log->taken) > proof_log->capacity; ++tries) {
    if (!is_wanted(l)) return false;
    pause_briefly(tries);
  }
  for (i64 i = 0; i < size; ++i) proof_log->words[(proof_log->written + i) & (proof_log->capacity - 1)] = words[i];
  fence_host();
  global_store(&proof_log->written, proof_log->written + size);
  return true;
}

// With the log locked: appends the batch, whose last `size` words are an event. False where no more is wanted; then the
// log stays locked, since it may end within an explanation.
static bool put_batch(const Learner& l, i64 size) {
  i64 before = batch.size - size, done = 0;
  while (done < before) {
    i64 piece = minimum(before - done, proof_log->capacity / 2);
    if (!put_words(l, batch.words + done, piece)) return false;
    done += piece;
  }
  return put_words(l, batch.words + done, size);
}

// Logs an event that needs no explanations. Returns whether the log has it; it is locked then.
static bool lock_with_event(const Learner& l, i64 kind, const i64* numbers, i64 count) {
  batch.size = 0;
  i64* at = add_record(kind, count);
  for (i64 i = 0; at && i < count; ++i) at[i] = numbers[i];
  bool done = at && lock_log(l) && put_batch(l, count + 2);
  batch.size = 0;
  return done;
}

static void log_numbers(const Learner& l, i64 kind, const i64* numbers, i64 count) {
  if (lock_with_event(l, kind, numbers, count)) unlock_log();
}

// A clause that was just learned gets the next name, which is returned.
static i64 log_learned(const Learner& l, const Literal* literals, i32 size) {
  i64 name = 0, words = 1 + 2 * (i64)size;
  i64* at = add_record(LOG_LEARNED, words);
  if (at && lock_log(l)) {
    put_literals(at + 1, literals, size);
    at[0] = name = proof_log->clauses + 1;
    if (put_batch(l, words + 2)) {
      proof_log->clauses = name;
      unlock_log();
    }
  }
  batch.size = 0;
  return name;
}

// The best bound of a side at level 0 that the log has, and the number of those that were logged.
static i64 logged_root(i32 side) { return global_load(&proof_log->roots[side]); }
static i64 logged_roots() { return global_load(&proof_log->n_roots); }

// A bound of level 0, unless the log has it. The reason is DECISION, or that of a row, or of the clause of this name.
static void log_root(const Learner& l, Literal a, i64 reason) {
  if (!proof_log || a.k <= logged_root(a.side)) return;
  const i64 numbers[] = {a.side, a.k, reason};
  if (!lock_with_event(l, LOG_ROOT, numbers, 3)) return;
  global_max(&proof_log->roots[a.side], (i64)a.k);
  global_store(&proof_log->n_roots, proof_log->n_roots + 1);
  unlock_log();
}

static void log_refuted(const Learner& l, i64 reason) { log_numbers(l, LOG_REFUTED, &reason, 1); }
static void log_end(const Learner& l) { log_numbers(l, LOG_ENDED, nullptr, 0); }

// The least sense * objective of the solutions that were logged. It goes on where nothing more is logged.
static i64 logged_best() { return global_load(&proof_log->best); }

// A solution, with its sense * objective.
static void log_solution(const Learner& l, const bound_t* values, i64 value) {
  batch.size = 0;
  i32 n = problem(l)->n_vars;
  i64* at = add_record(LOG_SOLUTION, n);
  for (i32 v = 0; at && v < n; ++v) at[v] = values[v];
  bool is_locked = at && lock_log(l);
  bool is_news = problem(l)->sense == 0 || value < logged_best();
  if (is_locked && is_news) is_locked = put_batch(l, n + 2);
  global_min(&proof_log->best, value);
  if (is_locked) unlock_log();
  batch.size = 0;
}

#else

#define NAMED_CLAUSE

DEVICE void log_by_row(const Learner&, i32, Literal, i32, const Literal*, i32) {}
DEVICE void log_root(const Learner&, Literal, i64) {}
DEVICE void log_end(const Learner&) {}

#endif
