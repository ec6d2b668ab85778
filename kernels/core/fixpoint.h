// Event-driven propagation of one store to its fixpoint.
//
// A round has two steps. Wake: walk the watch lists of the changed variables and queue the rows found. Run: propagate
// the queued rows, which changes variables. The rounds end when nothing changed, or a domain is empty, or the host says
// stop. A row's bit in `queued` is cleared before the row reads its bounds, so a change that it misses wakes it again.
//
// Counters come in pairs used in turn (see Propagation): the wake step of round r reads n_changed[r % 2] and fills
// n_queue[r % 2]; the run step then counts as round r + 1, fills n_changed[(r + 1) % 2] and clears what nobody reads.
#pragma once

#include "assert.h"
#include "propagate.h"
#include "store.h"

// Lanes that walk one variable's watch list together: 4 of 4, 8, 16, 32 is fastest (docs/measurements/tree-search.md).
#ifndef WATCH_GROUP
#define WATCH_GROUP (WARP_LANES < 4 ? WARP_LANES : 4)
#endif

constexpr i32 STOP_POLL_ROUNDS = 16;
constexpr i32 LONG_ROUND = 32;  // runs a lane: the host's stop flag is read after each round as long as that

DEVICE void queue_row(const Block& b, i32 row) {
  u32 bit = 1u << (row & 31);
  u32* word = &b.queued[row >> 5];
  if (*(volatile u32*)word & bit) return;
  if (block_or(word, bit) & bit) return;
  i32 place = block_add(&propagation(b).n_queue[b.round & 1], 1);
  if (place < b.problem->queue_capacity) b.queue[place] = row;
}

// Queues the watchers of `var` that its change bits concern; `member` of `group` lanes share the walk.
DEVICE void wake_watchers(const Block& b, i32 var, i32 member, i32 group) {
  u32 shift = flag_shift(var), old = 0;
  if (member == 0) old = block_and(flag_word(b, var), ~(FLAG_CHANGED << shift)) >> shift;
  old = group_first(old, group);
  if (!(old & FLAG_CHANGED)) return;
  Watch w = load_constant(&b.problem->watches[var]);
  i32 from = old & FLAG_LOWER ? w.start : w.both;
  i32 to = old & FLAG_UPPER ? w.end : w.upper;
  for (i32 i = from + member; i < to; i += group) queue_row(b, load_constant(&b.problem->watchers[i]));
}

DEVICE void wake_changed(const Block& b, i32 n_changed) {
  i32 group = lane() / WATCH_GROUP, groups = lanes() / WATCH_GROUP, member = lane() % WATCH_GROUP;
  if (n_changed <= b.problem->changed_capacity) {
    for (i32 i = group; i < n_changed; i += groups) wake_watchers(b, b.changed[i], member, WATCH_GROUP);
    return;
  }
  for (i32 var = group; var < b.problem->n_vars; var += groups) wake_watchers(b, var, member, WATCH_GROUP);
}

// No row is queued or retired. The lanes part the work; a barrier is the caller's.
DEVICE void clear_queue(const Block& b) {
  for (i32 i = lane(); i < row_words(b.problem->n_rows); i += lanes()) {
    b.queued[i] = 0;
    if (RETIRES_ROWS) b.entailed[i] = 0;
  }
}

// An entailed row has nothing to say until the level is left: it stays marked as queued, so that nobody queues it. Each
// row is there once at most, so the list has room.
DEVICE void retire_row(const Block& b, i32 row) {
  u32 bit = 1u << (row & 31);
  Propagation& s = propagation(b);
  ASSERT(s.n_retired < b.problem->n_rows && !(b.entailed[row >> 5] & bit));
  if (s.trailing) b.retired[block_add(&s.n_retired, 1)] = row;
  block_or(&b.entailed[row >> 5], bit);
  block_or(&b.queued[row >> 5], bit);
}

// The i-th word of `queued`, taken out of it but for the retired rows.
DEVICE u32 take_queued(const Block& b, i32 i) {
  u32 retired = RETIRES_ROWS ? b.entailed[i] : 0;
  return block_exchange(&b.queued[i], retired) & ~retired;
}

// Runs the queue, or, when it overflowed, every row whose bit is set.
DEVICE void run_queue(const Block& b, i32 n_queue) {
  bool sweep = n_queue > b.problem->queue_capacity;
  i32 count = sweep ? row_words(b.problem->n_rows) : n_queue;
  for (i32 i = lane(); i < count; i += lanes()) {
    u32 pending;
    i32 first;
    if (sweep) {
      pending = take_queued(b, i);
      first = i << 5;
    } else {
      first = b.queue[i];
      pending = 1;
      block_and(&b.queued[first >> 5], ~(1u << (first & 31)));
    }
    for (; pending; pending &= pending - 1) {
      i32 row = first + lowest_bit(pending);
      if (propagate_row(b, row) && RETIRES_ROWS) retire_row(b, row);
    }
  }
}

// After a failure: the change bits of variables whose watchers will not be walked.
DEVICE void forget_changes(const Block& b) {
  i32& counter = propagation(b).n_changed[b.round & 1];
  i32 n_changed = counter;
  if (n_changed <= b.problem->changed_capacity) {
    for (i32 i = lane(); i < n_changed; i += lanes()) {
      block_and(flag_word(b, b.changed[i]), ~(FLAG_CHANGED << flag_shift(b.changed[i])));
    }
  } else {
    for (i32 i = lane(); i < flag_words(b.problem->n_vars); i += lanes()) block_and(&b.flags[i], ALL_SAVED_FLAGS);
  }
  barrier();
  if (lane() == 0) counter = 0;
  barrier();
}

#ifdef CHECK_FIXPOINT
// Debug builds: no row may be able to tighten anything at a fixpoint.
DEVICE void check_fixpoint(Block& b) {
  barrier();
  for (i32 i = lane(); i < b.problem->n_rows; i += lanes()) propagate_row(b, i);
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
// At a fixpoint nothing waits to be woken or run, no domain is empty, and the trail has room for what it holds.
DEVICE void assert_at_rest(const Block& b) {
  const Propagation& s = propagation(b);
  ASSERT(0 <= s.trail_size && s.trail_size <= b.problem->trail_capacity);
  ASSERT(0 <= s.n_retired && s.n_retired <= b.problem->n_rows);
  for (i32 i = lane(); i < row_words(b.problem->n_rows); i += lanes()) {
    ASSERT(b.queued[i] == (RETIRES_ROWS ? b.entailed[i] : 0));
  }
  for (i32 var = lane(); var < b.problem->n_vars; var += lanes()) {
    ASSERT(b.lower[var] <= b.upper[var]);
    ASSERT(!(*flag_word(b, var) >> flag_shift(var) & FLAG_CHANGED));
  }
  barrier();
}
#endif

// Propagates from the changed variables on. Returns, to all lanes alike, whether the store is consistent; at a stop
// the store is left as it is, and propagation(b).stop says so. Ends with a barrier behind it.
DEVICE bool fixpoint(Block& b) {
  Propagation& s = propagation(b);
  for (;;) {
    ASSERT(lane() != 0 || s.n_queue[b.round & 1] == 0);
    barrier();
    i32 parity = b.round & 1;
    i32 n_changed = s.n_changed[parity];
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
    ASSERT(lane() != 0 || s.n_changed[parity ^ 1] == 0);
    wake_changed(b, n_changed);
    barrier();
    ++b.round;
    i32 n_queue = s.n_queue[parity];
    if (lane() == 0) {
      s.n_changed[parity] = 0;
      s.n_queue[parity ^ 1] = 0;
      statistics(b).propagations += n_queue;
      ++statistics(b).iterations;
      bool look = b.round % STOP_POLL_ROUNDS == 0 || n_queue >= LONG_ROUND * lanes();
      if (look) s.stop = global_load(&b.problem->common->stop);
    }
    run_queue(b, n_queue);
  }
}
