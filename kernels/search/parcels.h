// Subproblems on their way from one engine to another, where several search one tree: other GPUs, other hosts.
//
// The host writes to `wanted` the number that it would like to have in all. A block with a subproblem to give puts it
// into the outbox, which the host reads, instead of the pool. The host puts subproblems from elsewhere into the inbox,
// and counts them in `brought`; a block that waits for work moves them into the pool, like any others. A parcel is a
// subproblem as the pool holds it: the path of decisions.
//
// A parcel in the outbox belongs to the host: `outstanding` does not count it. One in the inbox belongs to the host
// until a block has counted it, which it does before it raises `fetched`. So the engine has nothing left when, asked in
// this order, all parcels are fetched, `outstanding` is 0, and the host has taken all that were sent. While `shared` is
// set, an engine that has nothing left waits for more.
#pragma once

#include "../core/assert.h"
#include "../core/store.h"
#include "queue.h"

// Whether a subproblem is wanted: not at all, by other engines alone, or by blocks of this one, too.
enum Wanted { UNWANTED, WANTED_ELSEWHERE, WANTED_HERE };

// Where a subproblem may be put.
enum Reserved { NOWHERE, IN_POOL, IN_OUTBOX };

DEVICE Parcel* parcel_of(const Problem* p, char* box, i64 ticket) {
  return (Parcel*)(box + (u64)(ticket % p->parcels) * (u64)p->parcel_bytes);
}

// Whether the host wants a subproblem for another engine.
DEVICE bool is_wanted_elsewhere(const Problem* p) {
  return p->parcels && global_load(&p->common->sent) < global_load(&p->common->wanted);
}

// Lane 0: acquires the right to fill the next parcel, if one is wanted. The host wants no more than there is room for.
DEVICE bool reserve_parcel(const Block& b, i32 length) {
  const Problem* p = b.problem;
  if (length >= p->parcel_path || !is_wanted_elsewhere(p)) return false;
  i64 ticket = global_load(&p->common->sent);
  if (ticket >= global_load(&p->common->wanted)) return false;
  transfer(b).ticket = ticket;
  return global_replace(&p->common->sent, ticket, ticket + 1);
}

// Lane 0: gives the parcel, whose path is written, to the host.
DEVICE void send_parcel(const Block& b, i32 length) {
  Parcel* parcel = parcel_of(b.problem, b.problem->outbox, transfer(b).ticket);
  parcel->length = length;
  fence_host();
  global_store(&parcel->sequence, transfer(b).ticket + 1);
}

// Lane 0: moves the parcel with this number from the inbox to the pool. False when the pool is full.
DEVICE bool admit_parcel(const Block& b, i64 number) {
  const Problem* p = b.problem;
  Transfer& s = transfer(b);
  i64 awaited = s.ticket;
  bool reserved = reserve_slot(b);
  if (reserved) {
    global_add(&p->common->outstanding, 1);
    Parcel* parcel = parcel_of(p, p->inbox, number);
    PoolSlot* slot = pool_slot(b, s.ticket);
    i32 length = global_load(&parcel->length);
    ASSERT(0 <= length && length <= p->parcel_path);
    const Decision* path = (const Decision*)(parcel + 1);
    for (i32 i = 0; i < length; ++i) {
      Decision d = {global_load(&path[i].lower), global_load(&path[i].upper), global_load(&path[i].var)};
      slot_path(slot)[i] = d;
    }
    slot->length = length;
    fence();
    global_store(slot_sequence(b, s.ticket), s.ticket + 1);
  }
  s.ticket = awaited;
  return reserved;
}

// Lane 0, which waits for a subproblem: moves the parcels in the inbox to the pool, one block at a time. `fetched` is
// twice the number of fetched parcels, and odd while one is being fetched.
OUTLINE void fetch_parcel(const Block b) {
  Common* common = b.problem->common;
  i64 fetched = global_load(&common->fetched);
  if (fetched & 1 || fetched / 2 >= global_load(&common->brought)) return;
  if (!global_replace(&common->fetched, fetched, fetched + 1)) return;
  fence();
  bool admitted = admit_parcel(b, fetched / 2);
  fence();
  global_store(&common->fetched, fetched + (admitted ? 2 : 0));
}
