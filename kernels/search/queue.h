// The pool: a bounded queue of subproblems between the blocks of an engine.
//
// Its slots have sequence numbers (after Vyukov's multi-producer multi-consumer queue): slot i is free for ticket t
// when its sequence is t, and filled with it when its sequence is t + 1 (so there must be two). A block that wants a
// subproblem draws a ticket and waits at its own slot, so that thousands of waiting blocks do not contend for each
// subproblem. The number of tickets drawn beyond the subproblems put in is that of idle blocks.
#pragma once

#include "../core/assert.h"
#include "../core/store.h"

// A subproblem that leaves the block or comes to it.
struct Transfer {
  i64 ticket;    // of the slot that is being written or read
  i32 donate;    // lane 0's answer whether a subproblem is to be given away, and to whom (Wanted)
  i32 reserved;  // lane 0's answer where a slot is reserved for it (Reserved)
  i32 arrived;   // lane 0's answer whether there is a subproblem
};

DEVICE Transfer& transfer(const Block& b);

DEVICE PoolSlot* pool_slot(const Block& b, i64 ticket) {
  const Problem* p = b.problem;
  return (PoolSlot*)(p->pool + (u64)(ticket & (p->pool_slots - 1)) * (u64)p->pool_slot_bytes);
}

DEVICE i64* slot_sequence(const Block& b, i64 ticket) {
  return &b.problem->pool_sequences[ticket & (b.problem->pool_slots - 1)];
}

DEVICE Decision* slot_path(PoolSlot* slot) { return (Decision*)(slot + 1); }

// Lane 0: reserves a slot to fill. False when the pool is full.
DEVICE bool reserve_slot(const Block& b) {
  Common* common = b.problem->common;
  for (;;) {
    i64 ticket = global_load(&common->pool_tail);
    i64 sequence = global_load(slot_sequence(b, ticket));
    ASSERT(((sequence - ticket) & (b.problem->pool_slots - 1)) <= 1);  // free or filled, for a ticket of this slot
    if (sequence < ticket) return false;
    if (sequence == ticket && global_replace(&common->pool_tail, ticket, ticket + 1)) {
      transfer(b).ticket = ticket;
      return true;
    }
  }
}
