// Turns of a learner that is the only block, so that it gets the host's messages at reproducible moments.
//
// A linear relaxation works beside the search, in a thread of the host. The time when its bounds and solutions arrive
// depends on the machine, so runs would not be reproducible. Where they must be, the host limits the work of a turn. At
// the end of a turn the learner waits until the host has delivered the results of the relaxation's work meanwhile
// (turbo_fzn/run/turns.py). Work is counted as an estimate in nanoseconds.
#pragma once

#include "../../core/assert.h"
#include "../propagators/advance.h"
#include "../state/parts.h"
#include "../tuning.h"

DEVICE i64 work_done(const Learner& l) {
  const Statistics& done = statistics(block(l));
  ASSERT(progress(l).runs >= 0 && done.nodes >= 0 && done.failures >= 0);
  return progress(l).runs * RUN_WORK + done.nodes * NODE_WORK + done.failures * CONFLICT_WORK;
}

DEVICE bool ends_turn(const Learner& l) {
  i64 end = global_load(&problem(l)->common->turn_end);
  return end && work_done(l) >= end;
}

DEVICE void wait_for_next_turn(const Learner& l) {
  Common* common = problem(l)->common;
  i64 end = global_load(&common->turn_end);
  fence();  // solutions found before are in the ring
  global_store(&common->turn_over, end);
  while (global_load(&common->turn_end) == end && !global_load(&common->stop)) pause_briefly(0);
  fence();
}
