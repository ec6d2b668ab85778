// Turns of a learner that is alone: what it hears of the host, it hears at moments that are counted.
//
// Beside a search a linear relaxation is at work, in a thread of the host. When its bounds and solutions arrive depends
// on the machine, so equal runs would not do the same. Where they are to, the host says how much work the learner may
// do. When that is done it waits, and the host, which has had its own share of work done meanwhile, tells what came of
// it (turbo_fzn/run/turns.py). Work is counted in nanoseconds that it would take on some machine.
#pragma once

#include "../core/assert.h"
#include "advance.h"
#include "parts.h"

constexpr i32 RUN_WORK = 40;  // of a row, the clauses that it wakes included
constexpr i32 NODE_WORK = 500;
constexpr i32 CONFLICT_WORK = 20000;

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
  fence();  // what was found before is in the ring
  global_store(&common->turn_over, end);
  while (global_load(&common->turn_end) == end && !global_load(&common->stop)) pause_briefly(0);
  fence();
}
