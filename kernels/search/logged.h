// The log of learners (learn/state/log.h). What other blocks prove has no derivation there, so only learners that log
// may conclude.
#pragma once

#include "../core/abi.h"
#include "../core/port.h"

#ifdef PROOF

#include <stdlib.h>

static ProofLog* proof_log;
#define IS_LOGGED true  // so that a learner takes nothing from others that is not in the log

// What the learner of this thread has not logged yet, in the order in which it was concluded. A block is a thread.
struct Batch {
  i64* words;
  i64 size, room;
  bool is_open;  // the block is a learner that logs
};
static thread_local Batch batch;

static bool is_logging() { return proof_log && !global_load(&proof_log->stopped); }

// Whether what this block proves has no derivation, but the proof is to have one.
static bool lacks_derivations() { return is_logging() && !batch.is_open; }

static void stop_log() {
  if (proof_log) global_store(&proof_log->stopped, 1);
}

static void open_batch() { batch.is_open = proof_log != nullptr; }

// The learner ends; `has_given_up`: for lack of memory. Without any learner there will be no proof, and any block may
// conclude.
static void close_batch(bool has_given_up) {
  if (batch.is_open && has_given_up && global_add(&proof_log->learners, -1) == 1) stop_log();
  free(batch.words);
  batch = {};
}

#else

#define IS_LOGGED false

DEVICE bool is_logging() { return false; }
DEVICE bool lacks_derivations() { return false; }
DEVICE void open_batch() {}
DEVICE void close_batch(bool) {}

#endif
