// The restarts that a model or a user asks for (restart_luby and its kin, --restart): the host has computed how many
// failures come before each.
#pragma once

#include "../core/assert.h"
#include "../core/interval.h"

DEVICE bool has_schedule(const Problem* p) { return p->n_restart_limits > 0; }

// The failures of the search after so many restarts.
DEVICE i32 scheduled_failures(const Problem* p, i64 restarts) {
  ASSERT(restarts >= 0 && has_schedule(p));
  return p->restart_limits[minimum(restarts, (i64)p->n_restart_limits - 1)];
}
