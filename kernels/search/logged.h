// The log of a learner (learn/state/log.h). What other blocks prove has no derivation there, so it alone may conclude.
#pragma once

#include "../core/abi.h"
#include "../core/port.h"

#ifdef PROOF

static ProofLog* proof_log;
#define IS_LOGGED true  // so that a learner takes only solutions from others

static bool is_logging() { return proof_log && !global_load(&proof_log->stopped); }

// The learner gives up: there will be no proof, and any block may conclude.
static void abandon_log() {
  if (proof_log) global_store(&proof_log->stopped, 1);
}

#else

#define IS_LOGGED false

DEVICE bool is_logging() { return false; }
DEVICE void abandon_log() {}

#endif
