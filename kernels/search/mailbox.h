// Solutions on their way out of the running kernel, through a ring in memory that the host can read.
//
// A block takes a ticket, waits until the host has made room, writes the values, and then the sequence number, by which
// the host knows that the slot is complete. No solution is dropped: the host empties the ring until all blocks have
// left.
#pragma once

#include "../core/assert.h"
#include "../core/store.h"
#include "incumbent.h"
#include "task.h"
#ifdef FLOATS
#include "../floats/decided.h"
#endif

struct Mail {
  i64 ticket;        // of the ring's slot that is being written
  i32 sends;         // lane 0's answer whether this solution is to be published
  i32 improvements;  // solutions published in this task
};

DEVICE Mail& mail(const Block& b);

// Lane 0: whether this solution is to be published. In optimisation, only one that improves on all before it.
DEVICE bool claims_improvement(const Block& b, i64* value) {
  const Problem* p = b.problem;
  *value = 0;
  if (p->sense == 0) return true;
#ifdef FLOATS
  *value = p->sense * (i64)best_end(b, p->objective);
#else
  *value = (i64)p->sense * (i64)lower_of(b, p->objective);
#endif
  if (*value >= global_min(&p->common->best, *value)) return false;
  global_store(&p->common->improved_ns, task_clock(b));
  return true;
}

DEVICE void wait_for_room(const Block& b, i64 ticket) {
  for (i32 tries = 0; ticket - global_load(&b.problem->common->consumed) >= b.problem->ring_slots; ++tries) {
    pause_briefly(tries);
  }
}

// Writes the solution to the slot of the block's ticket, then its sequence number. All lanes.
DEVICE void write_solution(const Block& b) {
  const Problem* p = b.problem;
  i64 ticket = mail(b).ticket;
  RingSlot* slot = (RingSlot*)(p->ring + (u64)(ticket % p->ring_slots) * (u64)p->ring_slot_bytes);
  bound_t* values = (bound_t*)(slot + 1);
  for (i32 i = lane(); i < p->n_exports; i += lanes()) {
#ifdef FLOATS  // a box: all lower ends, then all upper ones
    values[i] = p->exports[i] < p->n_vars ? b.lower[p->exports[i]] : b.upper[p->exports[i] - p->n_vars];
#else
    ASSERT(p->exports[i] >= p->n_store_vars || is_fixed(b, p->exports[i]));
    values[i] = value_of(b, p->exports[i]);
#endif
  }
  fence_host();
  barrier();
  if (lane() == 0) {
    p->statistics[b.index] = statistics(b);
    slot->objective = (i64)p->sense * island_access(b).value;
    slot->block = b.index;
    slot->method = task(b).method;
    fence_host();
    ASSERT(slot->sequence == (ticket < p->ring_slots ? 0 : ticket + 1 - p->ring_slots));
    global_store(&slot->sequence, ticket + 1);
    ++mail(b).improvements;
  }
}

// Sends the solution, in which all variables are fixed, to the host and, when neighbourhoods or learners search, keeps
// it for them.
DEVICE void publish_solution(const Block& b) {
  const Problem* p = b.problem;
  Mail& s = mail(b);
  if (lane() == 0) {
    ++statistics(b).solutions;
    s.sends = claims_improvement(b, &island_access(b).value);
    if (s.sends) {
      s.ticket = global_add(&p->common->ring_head, (i64)1);
      wait_for_room(b, s.ticket);
    }
  }
  barrier();
  bool sends = s.sends;
  if (sends) write_solution(b);
  barrier();
  if (keeps_incumbents(p)) {
    if (sends) keep_solution(b, 0);
    if (task(b).island != 0) keep_solution(b, task(b).island);
  }
}
