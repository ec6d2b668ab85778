// Subproblems on their way from one block to another.
//
// A subproblem is the path of decisions that leads to it from the root. A block that sees the pool run low gives away
// its shallowest open alternatives; an idle block takes one and replays the path. This is embarrassingly parallel
// search (Régin, Rezgui, Malapert, CP 2013) with the decomposition made on demand: the first subproblem is the root
// itself. `outstanding` counts the subproblems that exist. A giver adds one before it lets go of the alternative, a
// block subtracts one when its subproblem is exhausted: at 0 nothing is open anywhere and the search is complete.
// (Where several engines share the tree, that only means that nothing is open in this engine: parcels.h.)
#pragma once

#include "../core/assert.h"
#include "../core/profile.h"
#include "../core/store.h"
#include "levels.h"
#include "parcels.h"
#include "queue.h"
#include "task.h"
#include "tuning.h"

// Whether the only subproblems are the parts that the tree is split into ahead (split.h).
#ifndef STATIC_SPLIT
#define STATIC_SPLIT 0
#endif

// One subproblem is kept ready for this many blocks, so that the end of a short one does not mean a wait.

// Whether fewer subproblems are ready than are wanted. While blocks wait, `ready` is minus their number.
DEVICE bool is_pool_low(const Block& b) {
  const Common* common = b.problem->common;
  i64 ready = global_load(&common->pool_tail) - global_load(&common->pool_head);
  return ready < b.problem->n_blocks / BLOCKS_A_RESERVE;
}

// Whether blocks or other engines wait for a subproblem, or soon would.
DEVICE Wanted who_wants(const Block& b) {
  return is_pool_low(b) ? WANTED_HERE : is_wanted_elsewhere(b.problem) ? WANTED_ELSEWHERE : UNWANTED;
}

// Lane 0: drops the alternative, which another block has now; a level without any other is never returned to.
DEVICE void forget_last_alternative(const Block& b, Level* level) {
  Stack& s = stack(b);
  level->lower[0] = level->lower[1];
  level->upper[0] = level->upper[1];
  if (--level->pending) return;
  ++s.base;
  if (s.trail_base < s.base) s.trail_base = s.base;
  propagation(b).trailing = s.level > s.trail_base;
}

// Lane 0: reserves a place for a subproblem that is one decision longer than `length`. Other engines come first: they
// have nothing, or nearly so. When they want a few, a thousand blocks see it; those that come too late keep theirs.
DEVICE i32 reserve_place(const Block& b, i32 length) {
  if (reserve_parcel(b, length)) return IN_OUTBOX;
  if (transfer(b).donate == WANTED_ELSEWHERE) return NOWHERE;
  if (length >= b.problem->pool_path || !reserve_slot(b)) return NOWHERE;
  global_add(&b.problem->common->outstanding, 1);
  return IN_POOL;
}

DEVICE Decision* reserved_path(const Block& b) {
  const Transfer& s = transfer(b);
  if (s.reserved == IN_POOL) return slot_path(pool_slot(b, s.ticket));
  return (Decision*)(parcel_of(b.problem, b.problem->outbox, s.ticket) + 1);
}

// Lane 0: publishes the subproblem, whose path is written.
DEVICE void hand_over(const Block& b, i32 length) {
  const Transfer& s = transfer(b);
  if (s.reserved == IN_OUTBOX) {
    send_parcel(b, length);
    return;
  }
  pool_slot(b, s.ticket)->length = length;
  fence();
  ASSERT(global_load(slot_sequence(b, s.ticket)) == s.ticket);
  global_store(slot_sequence(b, s.ticket), s.ticket + 1);
}

// Gives away the last open alternative of the shallowest open level. All lanes; false when it cannot be done.
DEVICE bool donate_alternative(const Block& b) {
  Transfer& s = transfer(b);
  Level* shallowest = level_at(b, stack(b).base + 1);
  i32 length = shallowest->path_start;
  if (lane() == 0) {
    ASSERT(stack(b).level > stack(b).base && shallowest->pending > 0);
    s.reserved = length <= b.problem->path_capacity ? reserve_place(b, length) : NOWHERE;
  }
  barrier();
  i32 reserved = s.reserved;
  if (reserved) {
    Decision* path = reserved_path(b);
    for (i32 i = lane(); i < length; i += lanes()) path[i] = b.path[i];
    if (lane() == 0) {
      Decision last = {shallowest->lower[0], shallowest->upper[0], shallowest->var};
      path[length] = last;
    }
    if (reserved == IN_OUTBOX) fence_host();
    else fence();
    barrier();
    if (lane() == 0) {
      hand_over(b, length + 1);
      ++statistics(b).donations;
      forget_last_alternative(b, shallowest);
    }
  }
  barrier();
  return reserved;
}

// Lane 0: waits at the slot of a ticket until there is a subproblem, or the search is over.
DEVICE void wait_for_subproblem(const Block& b) {
  Common* common = b.problem->common;
  Transfer& s = transfer(b);
  i64 since = now_ns(), ticket = global_add(&common->pool_head, (i64)1);
  s.ticket = ticket;
  for (i32 tries = 0;; ++tries) {
    s.arrived = global_load(slot_sequence(b, ticket)) == ticket + 1;
    bool stop = global_load(&common->stop);
    if (s.arrived || stop || is_search_over(common)) break;
    if (b.problem->parcels) fetch_parcel(b);
    pause_briefly(tries);
  }
  statistics(b).idle_ns += now_ns() - since;
  fence();
}

// Waits for a subproblem and copies its path into the block's. False when the search is over.
DEVICE bool take_subproblem(const Block& b) {
  Transfer& s = transfer(b);
  turn_to(b, ACTIVITY_WAIT);
  if (lane() == 0) wait_for_subproblem(b);
  barrier();
  turn_to(b, ACTIVITY_DIVE);
  bool arrived = s.arrived;
  if (arrived) {
    PoolSlot* slot = pool_slot(b, s.ticket);
    i32 length = global_load(&slot->length);
    ASSERT(0 <= length && length <= b.problem->pool_path);
    const Decision* path = slot_path(slot);
    for (i32 i = lane(); i < length; i += lanes()) {
      Decision d = {global_load(&path[i].lower), global_load(&path[i].upper), global_load(&path[i].var)};
      b.path[i] = d;
    }
    barrier();
    if (lane() == 0) {
      stack(b).path_size = length;
      fence();
      ASSERT(global_load(slot_sequence(b, s.ticket)) == s.ticket + 1);
      global_store(slot_sequence(b, s.ticket), s.ticket + b.problem->pool_slots);
    }
  }
  barrier();
  return arrived;
}

// Counts the block's subproblem as exhausted.
DEVICE void finish_subproblem(const Block& b) {
  if (lane() == 0) {
    fence();
    i32 before = global_add(&b.problem->common->outstanding, -1);
    ASSERT(before > 0);
    (void)before;
  }
}
