// Solutions on their way out of the running kernel, through a ring in memory that the host can read.
//
// A block takes a ticket, waits until the host has made room, writes the values, and then the sequence number that
// tells the host that the slot is whole. Nothing is ever dropped: the host empties the ring until every block has left.
#pragma once

#include "incumbent.h"
#include "trace.h"

// Lane 0: whether this solution is to be published. In optimisation, only one that improves on all before it.
DEVICE bool claims_improvement(const Block& b, i64* value) {
  const Problem* p = b.problem;
  *value = 0;
  if (p->sense == 0) return true;
  *value = (i64)p->sense * (i64)b.lower[p->objective];
  if (*value >= global_min(&p->common->best, *value)) return false;
  global_store(&p->common->improved_ns, task_clock(b));
  return true;
}

DEVICE void wait_for_room(const Block& b, i64 ticket) {
  for (i32 tries = 0; ticket - global_load(&b.problem->common->consumed) >= b.problem->ring_slots; ++tries) {
    pause_briefly(tries);
  }
}

// All variables are fixed: sends the solution to the host and, when neighbourhoods are searched, keeps it for them.
DEVICE void publish_solution(const Block& b) {
  const Problem* p = b.problem;
  BlockState* s = b.state;
  i64 value = 0;
  if (lane() == 0) {
    ++s->statistics.solutions;
    s->granted = claims_improvement(b, &value);
    s->value = value;
    if (s->granted) {
      s->place = global_add(&p->common->ring_head, (i64)1);
      wait_for_room(b, s->place);
    }
  }
  barrier();
  bool granted = s->granted;
  if (granted) {
    RingSlot* slot = (RingSlot*)(p->ring + (u64)(s->place % p->ring_slots) * (u64)p->ring_slot_bytes);
    bound_t* values = (bound_t*)(slot + 1);
    for (i32 i = lane(); i < p->n_exports; i += lanes()) values[i] = b.lower[p->exports[i]];
    fence_host();
    barrier();
    if (lane() == 0) {
      p->statistics[b.index] = s->statistics;
      slot->objective = (i64)p->sense * value;
      slot->block = b.index;
      slot->method = s->method;
      fence_host();
      global_store(&slot->sequence, s->place + 1);
      ++s->improvements;
    }
  }
  barrier();
  if (p->lns_percent && p->sense != 0) {
    if (granted) keep_solution(b, 0);
    if (s->island != 0) keep_solution(b, s->island);
  }
}
