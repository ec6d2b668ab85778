// What a block makes of its walk (repair/repair.h): a solution to be propagated, or a neighbourhood of an assignment
// that is none.
#pragma once

#include "../core/interval.h"
#include "../core/random.h"
#include "../core/store.h"
#include "../repair/state.h"
#include "../search/branch.h"
#include "../search/levels.h"
#include "../search/task.h"
#include "fixing.h"
#include "walk.h"

// Whether the task has propagated what a walk believed to be a solution.
DEVICE bool has_repaired(const Block& b) {
  return WALKS && task(b).method == METHOD_REPAIR && walk_header(b).found;
}

// Lane 0: tells the walk what it needs to know.
DEVICE void plan_walk(const Block& b) {
  WalkHeader& given = walk_header(b);
  given.best = task(b).best;
  given.draw = choice(b).noise;
  given.begun = neighbourhood(b).walked;
  neighbourhood(b).walked = 1;
}

// Sets what is near to the violated constraints of a walk free: their variables, and those that walks through the
// constraint graph come to from these. Ends with a barrier.
DEVICE void free_violated(const Block& b, const Walk& w, u64 draw) {
  LaneRandom random = lane_random(draw);
  const i32 n = w.header->n_violated;
  const i64 steps = freeing_steps(b) / maximum(n, 1) + 1;
  for (i32 i = lane(); i < n; i += lanes()) {
    const i32 constraint = w.violated[i], rows = count_rows(*b.problem);
    const i32 var = constraint < rows ? draw_variable(b, next_random(random), constraint) : constraint - rows;
    walk(b, random, var, (i32)steps);
  }
  barrier();
}

// Fixes all variables to the values that the block's walk has come to, in the root store; where it has come to
// no solution, all decision variables but those near to what is violated. Ends with a barrier.
DEVICE void enter_walk(const Block& b) {
  const Problem* p = b.problem;
  restore_root(b);
  if (lane() == 0) statistics(b).moves += walk_header(b).moves;
  Walk w;
  lay_out(w, p, walk_memory(b));
  const bound_t* found = w.found;
  const bool repaired = w.header->found;
  for (i32 var = lane(); repaired && var < p->n_store_vars; var += lanes()) {
    restrict_domain(b, var, interval(found[var], found[var]));
  }
  barrier();
  if (repaired) return;
  free_violated(b, w, choice(b).noise);
  fix_to(b, w.kept, METHOD_REPAIR, choice(b).noise);
}
