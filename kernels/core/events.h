// Which rows run in a round, event-driven: those that watch a bound which has changed.
//
// Wake: walk the watch lists of the changed variables and queue the rows found. A row's bit in `queued` is cleared
// before the row reads its bounds, so a change that it misses wakes it again. The alternative is sweep.h.
#pragma once

#include "bounds.h"
#include "propagate.h"
#include "retire.h"
#include "store.h"
#include "sums.h"

// Lanes that walk one variable's watch list together: 4 of 4, 8, 16, 32 is fastest (docs/measurements/tree-search.md).
#ifndef WATCH_GROUP
#define WATCH_GROUP (WARP_LANES < 4 ? WARP_LANES : 4)
#endif

// Queues a row: long sums from the end of the queue on, others from its begin.
DEVICE void queue_row(const Block& b, i32 row) {
  u32 bit = 1u << (row & 31);
  u32* word = &b.queued[row >> 5];
  if (*(volatile u32*)word & bit) return;
  if (block_or(word, bit) & bit) return;
  bool is_long = is_long_sum(b.problem, row);
  Propagation& s = propagation(b);
  i32 place = block_add(&(is_long ? s.n_long : s.n_queue)[b.round & 1], 1), capacity = b.problem->queue_capacity;
  if (place < capacity) b.queue[is_long ? capacity - 1 - place : place] = row;
}

// Queues the watchers of `var` that its change bits concern; `member` of `group` lanes share the walk. Where rows write
// plainly, a row that has written one bound must run again, and may watch only the other one: so all watchers are
// queued.
DEVICE void wake_watchers(const Block& b, i32 var, i32 member, i32 group) {
  u32 shift = flag_shift(var), old = 0;
  if (member == 0) old = block_and(flag_word(b, var), ~(FLAG_CHANGED << shift)) >> shift;
  old = group_first(old, group);
  if (!(old & FLAG_CHANGED)) return;
  Watch w = load_constant(&b.problem->store_watches[var]);
  i32 from = ROWS_WRITE_PLAINLY || old & FLAG_LOWER ? w.start : w.both;
  i32 to = ROWS_WRITE_PLAINLY || old & FLAG_UPPER ? w.end : w.upper;
  for (i32 i = from + member; i < to; i += group) queue_row(b, load_constant(&b.problem->store_watchers[i]));
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

// Takes the rows first..end - 1 out of the i-th word of `queued` and returns their bits; those of retired rows stay,
// and are not returned.
DEVICE u32 take_queued(const Block& b, i32 i, i32 first, i32 end) {
  u32 wanted = RETIRES_ROWS ? ~b.entailed[i] : ~0u;
  if (first > i << 5) wanted &= ~0u << (first & 31);
  if (end < (i + 1) << 5) wanted &= (1u << (end & 31)) - 1;
  return block_and(&b.queued[i], ~wanted) & wanted;
}

DEVICE void run_lone_row(const Block& b, i32 row) {
  Told told = is_sum(b.problem, row) ? propagate_short_sum(b, row) : propagate_row(b, row);
  if (told & RUN_ENTAILED) retire_row(b, row);
}

// Runs the rows of the queue that a lane runs by itself; where it overflowed, every one whose bit is set.
DEVICE void run_lone_rows(const Block& b, i32 n_queue, bool overflowed) {
  const Problem* p = b.problem;
  i32 end = p->n_store_rows + p->n_short_sums, count = overflowed ? (end + 31) / 32 : n_queue;
  for (i32 i = lane(); i < count; i += lanes()) {
    u32 pending;
    i32 first;
    if (overflowed) {
      pending = take_queued(b, i, 0, end);
      first = i << 5;
    } else {
      first = b.queue[i];
      pending = 1;
      block_and(&b.queued[first >> 5], ~(1u << (first & 31)));
    }
    for (; pending; pending &= pending - 1) run_lone_row(b, first + lowest_bit(pending));
  }
}

// Runs the long sums of the queue by groups of lanes; where it overflowed, every one whose bit is set. The first group
// is that of the last lanes, which have no other row in a short round.
DEVICE void run_long_sums(const Block& b, i32 n_long, bool overflowed) {
  const Problem* p = b.problem;
  i32 member = lane() % SUM_GROUP, groups = lanes() / SUM_GROUP, group = groups - 1 - lane() / SUM_GROUP;
  i32 begin = p->n_store_rows + p->n_short_sums, end = count_rows(*p);
  i32 from = overflowed ? begin / 32 : 0, to = overflowed ? row_words(*p) : n_long;
  for (i32 i = from + group; i < to; i += groups) {
    u32 pending = 1;
    i32 first = i << 5;
    if (overflowed) {
      pending = member == 0 ? take_queued(b, i, begin, end) : 0;
      pending = group_first(pending, SUM_GROUP);
    } else {
      first = b.queue[p->queue_capacity - 1 - i];
      if (member == 0) block_and(&b.queued[first >> 5], ~(1u << (first & 31)));
    }
    for (; pending; pending &= pending - 1) {
      i32 row = first + lowest_bit(pending);
      bool entailed = propagate_long_sum(b, row) & RUN_ENTAILED;
      if (entailed && member == 0) retire_row(b, row);
    }
  }
}

DEVICE void run_rows(const Block& b, i32 n_queue, i32 n_long) {
  bool overflowed = n_queue + n_long > b.problem->queue_capacity;
  run_lone_rows(b, n_queue, overflowed);
  if (WHOLE_SUMS && n_long > 0) run_long_sums(b, n_long, overflowed);
}
