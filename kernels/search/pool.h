// Subproblems on their way from one block to another.
//
// A subproblem is the path of decisions that leads to it from the root. A block that sees the pool run low gives away
// its shallowest open alternatives; an idle block takes one and replays the path. This is embarrassingly parallel
// search (Régin, Rezgui, Malapert, CP 2013) with the decomposition made on demand: the first subproblem is the root
// itself. `outstanding` counts the subproblems that exist. A giver adds one before it lets go of the alternative, a
// block subtracts one when its subproblem is exhausted: at 0 nothing is open anywhere and the search is complete.
//
// The pool is a bounded queue of slots with sequence numbers (after Vyukov's multi-producer multi-consumer queue): slot
// i is free for ticket t when its sequence is t, and filled with it when its sequence is t + 1 (so there must be two).
// Who wants a subproblem draws a ticket and waits at its own slot, so that thousands who wait do not fight for each
// subproblem. More tickets drawn than subproblems put in: so many blocks are idle.
#pragma once

#include "branch.h"

#define BLOCKS_A_RESERVE 16  // one subproblem is kept ready for so many blocks, or a short one's end would mean a wait

// What sense * objective is proved to be at least, by the blocks or by the host.
DEVICE i64 proved_bound(const Common* common) {
  i64 own = global_load(&common->bound), told = global_load(&common->host_bound);
  return own > told ? own : told;
}

// Whether nothing better can be found: the tree is exhausted, or the proved bound has met the incumbent.
DEVICE bool is_search_over(const Common* common) {
  return global_load(&common->outstanding) == 0 || proved_bound(common) >= global_load(&common->best);
}

DEVICE PoolSlot* pool_slot(const Block& b, i64 ticket) {
  const Problem* p = b.problem;
  return (PoolSlot*)(p->pool + (u64)(ticket & (p->pool_slots - 1)) * (u64)p->pool_slot_bytes);
}

DEVICE i64* slot_sequence(const Block& b, i64 ticket) {
  return &b.problem->pool_sequences[ticket & (b.problem->pool_slots - 1)];
}

DEVICE Decision* slot_path(PoolSlot* slot) { return (Decision*)(slot + 1); }

// Lane 0: reserves a slot to fill, in state->place. False when the pool is full.
DEVICE bool reserve_slot(const Block& b) {
  Common* common = b.problem->common;
  for (;;) {
    i64 ticket = global_load(&common->pool_tail);
    i64 sequence = global_load(slot_sequence(b, ticket));
    if (sequence < ticket) return false;
    if (sequence == ticket && global_replace(&common->pool_tail, ticket, ticket + 1)) {
      b.state->place = ticket;
      return true;
    }
  }
}

// Whether fewer subproblems are ready than are wanted. It is below 0 by as many as blocks wait.
DEVICE bool is_pool_low(const Block& b) {
  const Common* common = b.problem->common;
  i64 ready = global_load(&common->pool_tail) - global_load(&common->pool_head);
  return ready < b.problem->n_blocks / BLOCKS_A_RESERVE;
}

DEVICE Level* level_at(const Block& b, i32 level) { return &b.levels[level & (b.problem->level_capacity - 1)]; }

// Gives away the last open alternative of the shallowest open level. All lanes; false when it cannot be done.
DEVICE bool donate_alternative(const Block& b) {
  BlockState* s = b.state;
  Level* shallowest = level_at(b, s->base + 1);
  i32 length = shallowest->path_start;
  if (lane() == 0) {
    s->granted = length < b.problem->pool_path && length <= b.problem->path_capacity && reserve_slot(b);
    if (s->granted) global_add(&b.problem->common->outstanding, 1);
  }
  barrier();
  bool granted = s->granted;
  if (granted) {
    PoolSlot* slot = pool_slot(b, s->place);
    Decision* path = slot_path(slot);
    for (i32 i = lane(); i < length; i += lanes()) path[i] = b.path[i];
    if (lane() == 0) {
      Decision last = {shallowest->lower[0], shallowest->upper[0], shallowest->var};
      path[length] = last;
      slot->length = length + 1;
    }
    fence();
    barrier();
    if (lane() == 0) {
      fence();
      global_store(slot_sequence(b, s->place), s->place + 1);
      shallowest->lower[0] = shallowest->lower[1];
      shallowest->upper[0] = shallowest->upper[1];
      ++s->statistics.donations;
      if (--shallowest->pending == 0) {  // nothing open is left there: that level is never returned to
        ++s->base;
        if (s->trail_base < s->base) s->trail_base = s->base;
        s->trailing = s->level > s->trail_base;
      }
    }
  }
  barrier();
  return granted;
}

// Waits for a subproblem and copies its path into the block's. False when the search is over.
DEVICE bool take_subproblem(const Block& b) {
  BlockState* s = b.state;
  Common* common = b.problem->common;
  enter_phase(b, PHASE_WAIT);
  if (lane() == 0) {
    i64 since = now_ns(), ticket = global_add(&common->pool_head, (i64)1);
    s->place = ticket;
    for (i32 tries = 0;; ++tries) {
      s->granted = global_load(slot_sequence(b, ticket)) == ticket + 1;
      s->stop = global_load(&common->stop);
      if (s->granted || s->stop || is_search_over(common)) break;
      pause_briefly(tries);
    }
    s->statistics.idle_ns += now_ns() - since;
    fence();
  }
  barrier();
  enter_phase(b, PHASE_DIVE);
  bool granted = s->granted;
  if (granted) {
    PoolSlot* slot = pool_slot(b, s->place);
    i32 length = global_load(&slot->length);
    const Decision* path = slot_path(slot);
    for (i32 i = lane(); i < length; i += lanes()) {
      Decision d = {global_load(&path[i].lower), global_load(&path[i].upper), global_load(&path[i].var)};
      b.path[i] = d;
    }
    barrier();
    if (lane() == 0) {
      s->path_size = length;
      fence();
      global_store(slot_sequence(b, s->place), s->place + b.problem->pool_slots);
    }
  }
  barrier();
  return granted;
}

// The block's subproblem is exhausted.
DEVICE void finish_subproblem(const Block& b) {
  if (lane() == 0) {
    fence();
    global_add(&b.problem->common->outstanding, -1);
  }
}
