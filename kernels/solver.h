// The work of a block from its start to its end.
#pragma once

#include "block.h"
#include "core/profile.h"
#include "core/store.h"
#include "free/fixing.h"
#include "free/neighbourhood.h"
#include "free/portfolio.h"
#include "hybrid/remote.h"
#include "repair/repair.h"
#include "repair/state.h"
#include "search/depths.h"
#include "search/incumbent.h"
#include "search/levels.h"
#include "search/mailbox.h"
#include "search/pool.h"
#include "search/search.h"
#include "search/split.h"
#include "search/task.h"

// Sets up the next part of a tree that is split ahead. False when the search is over.
DEVICE bool start_part(Block& b) {
  if (!take_part(b)) return false;
  if (lane() == 0) {
    task(b).since = task_clock(b);
    mail(b).improvements = 0;
  }
  start_search(b, FIRST_ANNOTATED);
  return true;
}

// Sets up the block's next subproblem or neighbourhood. `walked`: it has just walked for that.
DEVICE Start start_task(Block& b, bool walked) {
  if (neighbourhood(b).warm_start) {
    start_warm_start(b);
    return STARTED;
  }
  if (claim(b).limited) return start_neighbourhood(b, WALKS && walked);
  if (STATIC_SPLIT) return start_part(b) ? STARTED : OVER;
  if (!take_subproblem(b)) return OVER;
  if (lane() == 0) {
    Task& s = task(b);
    s.first_node = statistics(b).nodes++;
    s.best = global_load(&b.problem->common->best);
    s.method = METHOD_TREE;
    s.since = task_clock(b);
    mail(b).improvements = 0;
  }
  replay_path(b, stack(b).path_size);
  start_search(b, FIRST_ANNOTATED);
  return STARTED;
}

DEVICE void finish_task(const Block& b, bool exhausted) {
  if (neighbourhood(b).warm_start) finish_warm_start(b);
  else if (claim(b).limited) finish_neighbourhood(b, exhausted);
  else if (exhausted) finish_subproblem(b);
  if (lane() == 0 && b.problem->lns_percent) keep_books(b);
}

// The loop of a task. It has one call for propagation and one for backtracking, so the code stays small, and all lanes
// are always at the same place.
DEVICE void search_task(Block& b) {
  if (lane() == 0 && b.problem->lns_percent && task(b).method == METHOD_TREE) open_books(b);
  Next next = NODE;
  while (next == NODE || next == REPLAY) {
    turn_to(b, ACTIVITY_FIXPOINT);
    Counted before = counted_so_far(b);
    bool consistent = reach_fixpoint(b);
    note_depth(b, before);
    turn_to(b, ACTIVITY_CHOICE);
    next = next == REPLAY ? end_replay(b, consistent) : visit_node(b, consistent);
    turn_to(b, ACTIVITY_BACKTRACK);
    if (next == FAILED) next = backtrack(b);
  }
  turn_to(b, ACTIVITY_DIVE);
  barrier();  // lane 0 goes on to overwrite `over`, which others may still be reading
  finish_task(b, next == EXHAUSTED);
}

// Searches until the block has to walk, or the search is over.
DEVICE Start search_tasks(Block& b, bool walked) {
  for (;; walked = false) {
    Start start = start_task(b, walked);
    if (start != STARTED) return start;
    search_task(b);
  }
}

// The first warp walks. Ends with a barrier.
DEVICE void take_walk(const Block& b) {
  if (WALKS && lane() < WARP_LANES) walk_task(b.problem, walk_memory(b), b.lower);
  barrier();
}

// Ends the block's work.
DEVICE void report_block(Block& b) {
  barrier();
  turn_to(b, ACTIVITY_DIVE);
  if (lane() == 0) {
    Statistics& counted = statistics(b);
    counted.busy_ns = now_ns() - stopwatch(b).began - counted.idle_ns;
    b.problem->statistics[b.index] = counted;
  }
}

DEVICE void run_block(Block& b) {
  clear_state(b);
  for (bool walked = false; search_tasks(b, walked) == TO_WALK; walked = true) take_walk(b);
  report_block(b);
}
