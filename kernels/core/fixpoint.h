// Propagation of one store to its fixpoint.
//
// A round has two steps. Wake: find the rows that may tighten a bound since the last round. Run: propagate them, which
// changes variables. The rounds end when nothing changed, or a domain is empty, or the host asks for a stop. By default
// the rows that watch a changed bound run (events.h), in variants all rows (sweep.h).
//
// Counters come in pairs used in turn (see Propagation): the wake step of round r reads n_changed[r % 2] and fills
// n_queue[r % 2]; the run step then counts as round r + 1, fills n_changed[(r + 1) % 2] and clears the counter that no
// step reads.
#pragma once

#include "assert.h"
#include "propagate.h"
#include "retire.h"
#include "store.h"
#include "sums.h"
#include "tuning.h"
#if SWEEP
#include "sweep.h"
#else
#include "events.h"
#endif

#if WARP_LANES == 1 && !defined(FLOATS)
#define FINDS_CYCLES 1  // of differences, where bounds creep
#include "differences.h"
#else
#define FINDS_CYCLES 0
#endif

// Makes no row queued or retired. The lanes divide the work; the caller adds the barrier.
DEVICE void clear_queue(const Block& b) {
  for (i32 i = lane(); i < row_words(*b.problem); i += lanes()) {
    b.queued[i] = 0;
    if (RETIRES_ROWS) b.entailed[i] = 0;
  }
}

// After a failure: clears all marks of changes, since the watchers will not be walked.
DEVICE void forget_changes(const Block& b) {
  i32& counter = propagation(b).n_changed[b.round & 1];
  clear_changes(b, counter);
  barrier();
  if (lane() == 0) counter = 0;
  barrier();
}

#ifdef CHECK_FIXPOINT
// Debug builds: no row may be able to tighten anything at a fixpoint.
DEVICE void check_fixpoint(Block& b) {
  barrier();
  for (i32 i = lane(); i < b.problem->n_store_rows; i += lanes()) propagate_row(b, i);
  for (i32 i = b.problem->n_store_rows + lane(); i < count_rows(*b.problem); i += lanes()) propagate_short_sum(b, i);
  barrier();
  Propagation& s = propagation(b);
  if (lane() == 0 && (s.failed || s.n_changed[b.round & 1])) {
    ++statistics(b).fixpoint_errors;
    s.failed = 0;
  }
  barrier();
  forget_changes(b);
}
#endif

#ifdef CHECK_ASSERTIONS
// Asserts that at a fixpoint no row waits to be woken or run, no domain is empty, and the trail has not overflowed.
DEVICE void assert_at_rest(const Block& b) {
  const Propagation& s = propagation(b);
  ASSERT(0 <= s.trail_size && s.trail_size <= b.problem->trail_capacity);
  ASSERT(0 <= s.n_retired && s.n_retired <= count_rows(*b.problem));
  for (i32 i = lane(); i < row_words(*b.problem); i += lanes()) {
    ASSERT(b.queued[i] == (RETIRES_ROWS ? b.entailed[i] : 0));
  }
  for (i32 var = lane(); var < store_vars(*b.problem); var += lanes()) {
    ASSERT(lower_of(b, var) <= upper_of(b, var));
    ASSERT(!(*flag_word(b, var) >> flag_shift(var) & FLAG_CHANGED));
  }
  barrier();
}
#endif

#if FINDS_CYCLES
// Fails where bounds creep for ever. `rounds` have passed since the fixpoint was begun; sets when to look again.
DEVICE void look_for_cycle(const Block& b, i64 rounds, i64* next) {
  if (rounds == 0) *next = CREEP_ROUNDS + (i64)ROUNDS_A_ROW * count_rows(*b.problem);
  if (rounds < *next) return;
  *next = 2 * rounds;
  if (has_cycle_of_differences(b)) fail(b);
}
#endif

// One round, of a store with changes: wakes the rows that watch them, and runs these.
DEVICE void run_round(Block& b, i32 n_changed) {
  Propagation& s = propagation(b);
  i32 parity = b.round & 1;
  ASSERT(lane() != 0 || s.n_changed[parity ^ 1] == 0);
  wake_changed(b, n_changed);
  barrier();
  ++b.round;
  i32 n_queue = s.n_queue[parity], n_long = s.n_long[parity];
  if (lane() == 0) {
    s.n_changed[parity] = 0;
    s.n_queue[parity ^ 1] = s.n_long[parity ^ 1] = 0;
    statistics(b).propagations += n_queue + n_long;
    ++statistics(b).iterations;
    bool look = b.round % STOP_POLL_ROUNDS == 0 || n_queue + n_long >= LONG_ROUND * lanes();
    if (look) s.stop = global_load(&b.problem->common->stop);
  }
  run_rows(b, n_queue, n_long);
}

// Propagates from the changed variables on. Returns, to all lanes alike, whether the store is consistent; at a stop
// the store is left as it is, and propagation(b).stop is set. Ends with a barrier.
DEVICE bool fixpoint(Block& b) {
  Propagation& s = propagation(b);
  begin_rounds(b);
#if FINDS_CYCLES
  i64 rounds = 0, next = 0;
#endif
  for (;;) {
    ASSERT(lane() != 0 || s.n_queue[b.round & 1] + s.n_long[b.round & 1] == 0);
    barrier();
    i32 n_changed = s.n_changed[b.round & 1];
#if FINDS_CYCLES
    look_for_cycle(b, rounds++, &next);
#endif
    bool failed = s.failed, stop = s.stop;
    if (failed || stop || n_changed == 0) {
      barrier();
      if (failed) forget_changes(b);
#ifdef CHECK_FIXPOINT
      if (!failed && !stop) check_fixpoint(b);
#endif
#ifdef CHECK_ASSERTIONS
      if (!failed && !stop) assert_at_rest(b);
#endif
      return !failed;
    }
    run_round(b, n_changed);
  }
}
