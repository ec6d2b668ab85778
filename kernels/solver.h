// What a block does from its start to its end.
#pragma once

#include "free/neighbourhood.h"

// Bytes of the parts of a block's memory, in this order; turbo_fzn/problem.py has the same sums.
DEVICE i64 align16(i64 bytes) { return (bytes + 15) & ~(i64)15; }
DEVICE i64 store_bytes(const Problem& p) {
  return 2 * align16((i64)p.n_vars * (i64)sizeof(bound_t)) + align16((i64)flag_words(p.n_vars) * 4) +
         (1 + RETIRES_ROWS) * align16((i64)row_words(p.n_rows) * 4);
}
DEVICE i64 list_bytes(const Problem& p) {
  return align16((i64)p.changed_capacity * 4) + align16((i64)p.queue_capacity * 4);
}

// Lays out a block: the store, the two lists, and the trail, stack and path in its workspace.
DEVICE Block make_block(const Problem* p, BlockState* state, char* store, char* lists, char* stacks, i32 index) {
  Block b;
  b.problem = p;
  b.state = state;
  b.lower = (bound_t*)store;
  store += align16((i64)p->n_vars * (i64)sizeof(bound_t));
  b.upper = (bound_t*)store;
  store += align16((i64)p->n_vars * (i64)sizeof(bound_t));
  b.flags = (u32*)store;
  store += align16((i64)flag_words(p->n_vars) * 4);
  b.queued = (u32*)store;
  store += align16((i64)row_words(p->n_rows) * 4);
  b.entailed = (u32*)store;
  b.changed = (i32*)lists;
  b.queue = (i32*)(lists + align16((i64)p->changed_capacity * 4));
  b.trail = (TrailEntry*)stacks;
  stacks += align16((i64)p->trail_capacity * (i64)sizeof(TrailEntry));
  b.retired = (i32*)stacks;
  stacks += align16((i64)p->n_rows * 4);
  b.levels = (Level*)stacks;
  stacks += align16((i64)p->level_capacity * (i64)sizeof(Level));
  b.path = (Decision*)stacks;
  b.index = index;
  b.round = 0;
  return b;
}

DEVICE void clear_state(const Block& b) {
  clear_queue(b);
  u32* words = (u32*)b.state;
  for (i32 i = lane(); i < (i32)(sizeof(BlockState) / 4); i += lanes()) words[i] = 0;
  barrier();
  if (lane() == 0) {
    BlockState* s = b.state;
    s->best = NO_INCUMBENT;
    s->last_var = -1;
    s->conflict_var = -2;
    s->phase = PHASE_DIVE;
    s->phase_since = ticks();
    s->began = now_ns();
    s->random = ((u64)b.problem->seed + 1) * 0x9e3779b97f4a7c15ull ^ ((u64)(b.index + 1) * 0xd1342543de82ef95ull);
    if (s->random == 0) s->random = 1;
    for (i32 i = 0; i < 8; ++i) next_random(s);
    s->neighbourhood = (i64)b.index * b.problem->lns_percent / 100 != (i64)(b.index + 1) * b.problem->lns_percent / 100;
    if (b.index == 0) {  // somebody must search the root, but may try the warm start before
      s->warm_start = b.problem->n_hints > 0;
      s->neighbourhood = s->warm_start;
    }
    if (!searches_tree(b.problem)) s->neighbourhood = 1;
  }
  barrier();
}

// Sets up the block's next subproblem or neighbourhood. False when the search is over.
DEVICE bool start_task(const Block& b) {
  BlockState* s = b.state;
  if (s->warm_start) {
    start_warm_start(b);
    return true;
  }
  if (s->neighbourhood) return start_neighbourhood(b);
  if (!take_subproblem(b)) return false;
  if (lane() == 0) {
    s->first_node = s->statistics.nodes++;
    s->best = global_load(&b.problem->common->best);
    s->method = METHOD_TREE;
    s->improvements = 0;
    s->since = task_clock(b);
  }
  replay_path(b, s->path_size);
  start_search(b, FIRST_ANNOTATED);
  return true;
}

DEVICE void finish_task(const Block& b, bool exhausted) {
  if (b.state->warm_start) finish_warm_start(b);
  else if (b.state->neighbourhood) finish_neighbourhood(b, exhausted);
  else if (exhausted) finish_subproblem(b);
  if (lane() == 0 && b.problem->lns_percent) keep_books(b);
}

// One propagation site and one backtracking site: the code stays small, and every lane is always at the same place.
DEVICE void search_tasks(Block& b) {
  while (start_task(b)) {
    if (lane() == 0 && b.problem->lns_percent) open_books(b);
    Next next = NODE;
    while (next == NODE || next == REPLAY) {
      enter_phase(b, PHASE_FIXPOINT);
      bool consistent = fixpoint(b);
      enter_phase(b, PHASE_CHOICE);
      next = next == REPLAY ? end_replay(b, consistent) : visit_node(b, consistent);
      enter_phase(b, PHASE_BACKTRACK);
      if (next == FAILED) next = backtrack(b);
    }
    enter_phase(b, PHASE_DIVE);
    barrier();  // lane 0 goes on to overwrite `stop`, which others may still be reading
    finish_task(b, next == EXHAUSTED);
  }
}

DEVICE void run_block(Block& b) {
  clear_state(b);
  search_tasks(b);
  barrier();
  enter_phase(b, PHASE_DIVE);
  if (lane() == 0) {
    b.state->statistics.busy_ns = now_ns() - b.state->began - b.state->statistics.idle_ns;
    b.problem->statistics[b.index] = b.state->statistics;
  }
}

// For tests: block i propagates rows i, i + n_blocks, … each by itself to its fixpoint, or a thousand times, in a store
// of all variables that the rows do not share. consistent[row] tells whether it holds any solution.
DEVICE void propagate_rows_apart(Block& b, i32 n_blocks, i32* consistent) {
  BlockState* s = b.state;
  clear_state(b);
  for (i32 row = b.index; row < b.problem->n_rows; row += n_blocks) {
    if (lane() == 0) {  // at most three changes: the list is long enough
      s->failed = 0;
      i32 passes = 0;  // a product of large numbers can need billions to its fixpoint
      do {
        for (i32 i = 0; i < s->n_changed[0]; ++i) *flag_word(b, b.changed[i]) = 0;
        s->n_changed[0] = 0;
        propagate_row(b, row);
      } while (!s->failed && s->n_changed[0] && ++passes < 1000);
      consistent[row] = !s->failed;
    }
    barrier();
  }
}
