// A block: the parts of its state put together, and its memory laid out.
#pragma once

#include "core/fixpoint.h"
#include "core/profile.h"
#include "core/random.h"
#include "core/retire.h"
#include "core/store.h"
#include "free/fixing.h"
#include "free/neighbourhood.h"
#include "free/portfolio.h"
#include "repair/state.h"
#include "search/branch.h"
#include "search/incumbent.h"
#include "search/levels.h"
#include "search/mailbox.h"
#include "search/queue.h"
#include "search/task.h"
#include "search/values.h"
#ifdef FLOATS
#include "floats/propagate.h"
#endif

struct BlockState {
  Propagation propagation;
  Claim claim;
  Choice choice;
  Task task;
  Stack stack;
  Transfer transfer;
  IslandAccess island_access;
  ValueOrder value_order;
  Mail mail;
  Neighbourhood neighbourhood;
  Stopwatch stopwatch;
  Random random;
  Statistics statistics;
};
static_assert(sizeof(BlockState) <= STATE_BYTES, "the host leaves STATE_BYTES (engine/abi/abi.py) for a block's state");

DEVICE Propagation& propagation(const Block& b) { return b.state->propagation; }
DEVICE Claim& claim(const Block& b) { return b.state->claim; }
DEVICE Choice& choice(const Block& b) { return b.state->choice; }
DEVICE Task& task(const Block& b) { return b.state->task; }
DEVICE Stack& stack(const Block& b) { return b.state->stack; }
DEVICE Transfer& transfer(const Block& b) { return b.state->transfer; }
DEVICE IslandAccess& island_access(const Block& b) { return b.state->island_access; }
DEVICE ValueOrder& value_order(const Block& b) { return b.state->value_order; }
DEVICE Mail& mail(const Block& b) { return b.state->mail; }
DEVICE Neighbourhood& neighbourhood(const Block& b) { return b.state->neighbourhood; }
DEVICE Stopwatch& stopwatch(const Block& b) { return b.state->stopwatch; }
DEVICE Random& block_random(const Block& b) { return b.state->random; }
DEVICE Statistics& statistics(const Block& b) { return b.state->statistics; }

// The bytes of the parts of a block's memory, in this order; turbo_fzn/engine/layout/layout.py has equal sums.
// Every build knows all stores, since the host asks the usual one.
DEVICE i64 store_bytes(const Problem& p, bool retires = RETIRES_ROWS, bool packed = PACKED) {
  i32 n = p.n_store_vars + p.n_hole_words, wide = packed ? p.n_wide_vars : n;
  return 2 * align16((i64)wide * (i64)sizeof(bound_t)) + align16((i64)flag_words(n, packed) * 4) +
         (1 + retires) * align16((i64)row_words(p) * 4);
}
DEVICE i64 list_bytes(const Problem& p) {
  return align16((i64)p.changed_capacity * 4) + align16((i64)p.queue_capacity * 4);
}
DEVICE i64 stack_bytes(const Problem& p) {
  return align16((i64)p.trail_capacity * (i64)sizeof(TrailEntry)) + align16((i64)count_rows(p) * 4) +
         align16((i64)p.level_capacity * (i64)sizeof(Level)) + align16((i64)p.path_capacity * (i64)sizeof(Decision)) +
         align16((i64)(p.n_vars - p.n_store_vars) * (i64)sizeof(bound_t)) + walk_bytes(p);
}

// Lays out a block: the store, the two lists, and the trail, stack, path and walk in its workspace.
DEVICE Block make_block(const Problem* p, BlockState* state, char* store, char* lists, char* stacks, i32 index) {
  Block b;
  b.problem = p;
  b.state = state;
  const i64 bounds = align16((i64)(PACKED ? p->n_wide_vars : store_vars(*p)) * (i64)sizeof(bound_t));
  b.lower = (bound_t*)store;
  b.upper = (bound_t*)(store + bounds);
  store += 2 * bounds;
  b.flags = (u32*)store;
  store += align16((i64)flag_words(store_vars(*p)) * 4);
  b.queued = (u32*)store;
  store += align16((i64)row_words(*p) * 4);
  b.entailed = (u32*)store;
  b.changed = (i32*)lists;
  b.queue = (i32*)(lists + align16((i64)p->changed_capacity * 4));
  b.trail = (TrailEntry*)stacks;
  stacks += align16((i64)p->trail_capacity * (i64)sizeof(TrailEntry));
  b.retired = (i32*)stacks;
  stacks += align16((i64)count_rows(*p) * 4);
  b.levels = (Level*)stacks;
  stacks += align16((i64)p->level_capacity * (i64)sizeof(Level));
  b.path = (Decision*)stacks;
  stacks += align16((i64)p->path_capacity * (i64)sizeof(Decision));
  b.others = (bound_t*)stacks;
  b.index = index;
  b.round = 0;
  return b;
}

// Whether the block searches neighbourhoods and restarts, by its share of them. A learner that has no memory to learn
// does not: somebody has to complete the proof.
DEVICE bool is_free_searcher(const Problem* p, i32 index) {
  if (is_learner(p, index)) return false;
  return (i64)index * p->lns_percent / 100 != (i64)(index + 1) * p->lns_percent / 100;
}

// Ends with a barrier.
DEVICE void zero_state(const Block& b) {
  u32* words = (u32*)b.state;
  for (i32 i = lane(); i < (i32)(sizeof(BlockState) / 4); i += lanes()) words[i] = 0;
  barrier();
}

DEVICE void clear_state(const Block& b) {
  clear_queue(b);
  zero_state(b);
  if (lane() == 0) {
    task(b).best = NO_INCUMBENT;
    stack(b).last_var = -1;
    choice(b).conflict_var = NOT_KEPT;
    stopwatch(b).activity = ACTIVITY_DIVE;
    stopwatch(b).since = ticks();
    stopwatch(b).began = now_ns();
    seed_random(block_random(b), b.problem->seed, b.index);
    claim(b).limited = is_free_searcher(b.problem, b.index);
    if (b.index == 0) {  // one block must search the root, unless others prove; it may try the warm start before
      neighbourhood(b).warm_start = b.problem->n_hints > 0;
      claim(b).limited = neighbourhood(b).warm_start || (claim(b).limited && b.problem->learn_bytes > 0);
    }
    if (!searches_tree(b.problem)) claim(b).limited = 1;
  }
  barrier();
}
