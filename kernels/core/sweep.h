// Rounds without events: all rows run, round after round, until a round has changed nothing.
//
// SWEEP_ROWS is AC-1 (Mackworth, Artificial Intelligence 8, 1977) on a GPU: the lanes divide the rows, and there are
// neither watch lists nor a queue (Talbot, Pinel, Bouvry: A Variant of Concurrent Constraint Programming on GPU, AAAI
// 2022, from which Turbo comes). SWEEP_WARPS is Turbo's WAC-1: each warp brings 32 rows to their local fixpoint before
// it goes on, since neighbouring rows often share variables.
//
// SYNC_ROWS: after each row the lanes of a warp wait for each other. Without it they diverge where rows have different
// operators, and may stay so.
//
// Where rows retire, a sweep passes over them; SCAN_ROWS has it run over a list of the others instead, which a scan
// makes before the rounds of each node begin (Turbo 1.2.3).
#pragma once

#include "interval.h"
#include "propagate.h"
#include "retire.h"
#include "store.h"
#include "tuning.h"

#ifndef SYNC_ROWS
#define SYNC_ROWS 1
#endif
#ifndef SCAN_ROWS
#define SCAN_ROWS 0
#endif

constexpr i32 ROWS_TOGETHER = 32;  // format: that a warp brings to their local fixpoint, one a lane

// Lists the rows that have not retired, in the memory of the queue.
DEVICE void begin_rounds(const Block& b) {
  if (!SCAN_ROWS) return;
  i32& count = propagation(b).n_listed;
  barrier();
  if (lane() == 0) count = 0;
  barrier();
  i32 words = row_words(*b.problem);
  for (i32 first = lane() - warp_lane(); first < words; first += lanes()) {
    i32 i = first + warp_lane();
    u32 active = i < words ? ~b.entailed[i] : 0;
    if (i == words - 1) active &= ~0u >> (31 - (count_rows(*b.problem) - 1) % 32);
    i32 own = count_bits(active), before = warp_sum_before(own), all = warp_last(before + own);
    i32 base = warp_lane() == 0 ? block_add(&count, all) : 0;
    i32 place = (i32)group_first((u32)base, WARP_LANES) + before;
    for (; active; active &= active - 1, ++place) {
      if (place < b.problem->queue_capacity) b.queue[place] = (i << 5) + lowest_bit(active);
    }
  }
  barrier();
}

DEVICE bool has_list(const Block& b) { return SCAN_ROWS && propagation(b).n_listed <= b.problem->queue_capacity; }

// Clears the marks of changes, since all rows will run. Later changes are marked anew.
DEVICE void wake_changed(const Block& b, i32 n_changed) {
  clear_changes(b, n_changed);
  if (lane() != 0) return;
  Propagation& s = propagation(b);
  s.n_queue[b.round & 1] = has_list(b) ? s.n_listed : count_rows(*b.problem);
  statistics(b).propagations += s.extra_runs;
  s.extra_runs = 0;
}

// Runs the i-th row of a sweep, unless it has retired. Returns whether it has changed a bound.
DEVICE bool run_row(const Block& b, i32 i) {
  i32 row = has_list(b) ? b.queue[i] : i;
  if (RETIRES_ROWS && is_retired(b, row)) return false;
  i32 told = propagate_row(b, row);
  if (told & RUN_ENTAILED) retire_row(b, row);
  return told & RUN_CHANGED;
}

// Propagates rows first..end - 1, by a warp, to their local fixpoint.
DEVICE void run_together(const Block& b, i32 first, i32 end) {
  i32 pass = 0;
  for (bool changed = true; changed && pass < LOCAL_PASSES; ++pass) {
    changed = false;
    for (i32 i = first + warp_lane(); i < end; i += WARP_LANES) changed |= run_row(b, i);
    changed = warp_any(changed);
  }
  if (warp_lane() == 0 && pass > 1) block_add(&propagation(b).extra_runs, (pass - 1) * (end - first));
}

DEVICE void run_rows(const Block& b, i32 n, i32) {
#if SWEEP == SWEEP_WARPS
  i32 warp = lane() / WARP_LANES, warps = lanes() / WARP_LANES;
  for (i32 first = warp * ROWS_TOGETHER; first < n; first += warps * ROWS_TOGETHER) {
    run_together(b, first, minimum(first + ROWS_TOGETHER, n));
  }
#else
  for (i32 first = lane() - warp_lane(); first < n; first += lanes()) {
    if (first + warp_lane() < n) run_row(b, first + warp_lane());
    if (SYNC_ROWS) warp_barrier();
  }
#endif
}
