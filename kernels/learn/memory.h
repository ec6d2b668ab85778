// A learner: its parts put together, and its memory laid out.
//
// All arrays lie in one piece of memory whose size the host fixes. Arrays by side, variable and row have fixed sizes;
// the trail, the clauses and the lists of watchers share the rest. Nothing grows beyond it: a full list or clause store
// is reduced (clauses.h), a full trail makes the search restart, and where that does not help the learner leaves
// without a proof.
#pragma once

#include "../core/assert.h"
#include "../core/interval.h"
#include "../core/room.h"
#include "../core/store.h"
#include "propagators/advance.h"
#include "analysis/analyse.h"
#include "clauses/clauses.h"
#include "analysis/cores.h"
#include "propagators/counters.h"
#include "search/decide.h"
#include "propagators/delay.h"
#include "exchange/exchange.h"
#include "analysis/explain.h"
#include "state/heap.h"
#include "state/lists.h"
#include "state/literal.h"
#include "state/parts.h"
#include "propagators/posted.h"
#include "propagators/resolvent.h"
#include "search/restart.h"
#include "state/sides.h"
#include "analysis/softs.h"
#include "propagators/time_table.h"
#include "state/trail.h"
#include "analysis/vivify.h"
#include "propagators/wake.h"
#include "propagators/wide.h"

struct WholeLearner : Learner {
  Sides sides;
  Trail trail;
  Wakes wakes;
  Queue queue;
  Progress progress;
  Lists lists;
  Clauses clauses;
  Learned learned;
  Resolvent resolvent;
  Reasons reasons;
  Scratch scratch;
  Delays delays;
  Tables tables;
  Analysis analysis;
  Heap heap;
  Guidance guidance;
  Restarts restarts;
  Exchange exchange;
  PostedRows posted;
  Counters counters;
  Softs softs;
  Cores cores;
  Vivifier vivifier;
};

#define FOUND(Type, name)                                                     \
  DEVICE Type& name(Learner& l) { return static_cast<WholeLearner&>(l).name; } \
  DEVICE const Type& name(const Learner& l) { return static_cast<const WholeLearner&>(l).name; }

FOUND(Sides, sides)
FOUND(Trail, trail)
FOUND(Wakes, wakes)
FOUND(Queue, queue)
FOUND(Progress, progress)
FOUND(Lists, lists)
FOUND(Clauses, clauses)
FOUND(Learned, learned)
FOUND(Resolvent, resolvent)
FOUND(Reasons, reasons)
FOUND(Scratch, scratch)
FOUND(Delays, delays)
FOUND(Tables, tables)
FOUND(Analysis, analysis)
FOUND(Heap, heap)
FOUND(Guidance, guidance)
FOUND(Restarts, restarts)
FOUND(Exchange, exchange)
FOUND(PostedRows, posted)
FOUND(Counters, counters)
FOUND(Softs, softs)
FOUND(Cores, cores)
FOUND(Vivifier, vivifier)
#undef FOUND

constexpr i32 SPARE_BYTES = 4096;  // format: for alignment
constexpr i32 LEAST_ENTRIES = 256;  // format: of the trail, besides one for each side
constexpr i64 MOST_ENTRIES = (i64)1 << 28;  // format: that an i32 can count

// The bytes of the arrays of fixed sizes.
DEVICE i64 fixed_bytes(const Problem* p) {
  return SPARE_BYTES + sides_bytes(p) + trail_bytes(p) + wakes_bytes(p) + queue_bytes(p) + lists_bytes(p) +
         learned_bytes(p) + resolvent_bytes(p) + reasons_bytes(p) + scratch_bytes(p) + delays_bytes(p) +
         tables_bytes(p) + heap_bytes(p) + guidance_bytes(p) + exchange_bytes(p) + posted_bytes(p) + counters_bytes(p) +
         softs_bytes(p) + cores_bytes(p);
}

// Divides `bytes` of memory among the parts of the learner; the clauses get most of the shared rest. False when it is
// too little.
DEVICE bool lay_out(WholeLearner& l, char* memory, i64 bytes) {
  const Problem* p = l.problem;
  Room room = {memory};
  i64 rest = bytes - fixed_bytes(p), entries = rest / 5 / (ENTRY_BYTES + ANALYSIS_BYTES);
  if (rest < 0 || entries < LEAST_ENTRIES + n_sides(p)) return false;
  i32 capacity = (i32)minimum(entries, MOST_ENTRIES);
  take_memory(l.sides, p, room);
  take_memory(l.trail, p, capacity, room);
  take_memory(l.analysis, capacity, room);
  take_memory(l.resolvent, p, room);
  take_memory(l.reasons, p, room);
  take_memory(l.scratch, p, room);
  take_memory(l.delays, p, room);
  take_memory(l.tables, p, room);
  take_memory(l.learned, p, room);
  take_memory(l.clauses, rest * 2 / 5, rest / 40, room);
  take_memory(l.lists, p, rest * 7 / 20, room);
  take_memory(l.wakes, p, room);
  take_memory(l.queue, p, room);
  take_memory(l.heap, p, room);
  take_memory(l.guidance, p, room);
  take_memory(l.exchange, p, room);
  take_memory(l.posted, p, room);
  take_memory(l.counters, p, room);
  take_memory(l.softs, p, room);
  take_memory(l.cores, p, room);
  ASSERT(room.next <= memory + bytes);
  return true;
}
