// Which rows run in a round, event-driven: those that watch a bound which has changed.
//
// Wake: walk the watch lists of the changed variables and queue the rows found. A row's bit in `queued` is cleared
// before the row reads its bounds, so a change that it misses wakes it again. The alternative is sweep.h.
#pragma once

#include "bounds.h"
#include "propagate.h"
#include "retire.h"
#include "store.h"

// Lanes that walk one variable's watch list together: 4 of 4, 8, 16, 32 is fastest (docs/measurements/tree-search.md).
#ifndef WATCH_GROUP
#define WATCH_GROUP (WARP_LANES < 4 ? WARP_LANES : 4)
#endif

DEVICE void queue_row(const Block& b, i32 row) {
  u32 bit = 1u << (row & 31);
  u32* word = &b.queued[row >> 5];
  if (*(volatile u32*)word & bit) return;
  if (block_or(word, bit) & bit) return;
  i32 place = block_add(&propagation(b).n_queue[b.round & 1], 1);
  if (place < b.problem->queue_capacity) b.queue[place] = row;
}

// Queues the watchers of `var` that its change bits concern; `member` of `group` lanes share the walk. Where rows write
// plainly, a row that has written one bound must run again, and may watch only the other one: so all watchers are
// queued.
DEVICE void wake_watchers(const Block& b, i32 var, i32 member, i32 group) {
  u32 shift = flag_shift(var), old = 0;
  if (member == 0) old = block_and(flag_word(b, var), ~(FLAG_CHANGED << shift)) >> shift;
  old = group_first(old, group);
  if (!(old & FLAG_CHANGED)) return;
  Watch w = load_constant(&b.problem->watches[var]);
  i32 from = ROWS_WRITE_PLAINLY || old & FLAG_LOWER ? w.start : w.both;
  i32 to = ROWS_WRITE_PLAINLY || old & FLAG_UPPER ? w.end : w.upper;
  for (i32 i = from + member; i < to; i += group) queue_row(b, load_constant(&b.problem->watchers[i]));
}

DEVICE void begin_rounds(const Block&) {}

DEVICE void wake_changed(const Block& b, i32 n_changed) {
  i32 group = lane() / WATCH_GROUP, groups = lanes() / WATCH_GROUP, member = lane() % WATCH_GROUP;
  if (n_changed <= b.problem->changed_capacity) {
    for (i32 i = group; i < n_changed; i += groups) wake_watchers(b, b.changed[i], member, WATCH_GROUP);
    return;
  }
  for (i32 var = group; var < store_vars(*b.problem); var += groups) wake_watchers(b, var, member, WATCH_GROUP);
}

// Takes the i-th word out of `queued` and returns it; the bits of retired rows stay, and are not returned.
DEVICE u32 take_queued(const Block& b, i32 i) {
  u32 retired = RETIRES_ROWS ? b.entailed[i] : 0;
  return block_exchange(&b.queued[i], retired) & ~retired;
}

// Runs the queue, or, when it overflowed, every row whose bit is set.
DEVICE void run_rows(const Block& b, i32 n_queue) {
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
      if (propagate_row(b, row) & RUN_ENTAILED) retire_row(b, row);
    }
  }
}
