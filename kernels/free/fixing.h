// The store of a neighbourhood: which decision variables are set free, and the others fixed.
#pragma once

#include "../core/interval.h"
#include "../core/random.h"
#include "../core/store.h"
#include "../search/incumbent.h"
#include "tuning.h"
#include "walk.h"

struct Neighbourhood {
  i32 extent, size;      // the groups of variables that it fixes, and the class of its limits
  i32 share;             // of their variables that it fixes, in SHARE_UNITs
  i32 warm_start;        // the block tries the warm start, after which it takes part in the complete search
  i32 whole;             // lane 0's answer whether the incumbent that was read is one solution
  i32 strategy;          // that the next search follows, or SEARCH_OVER
  i32 walked;            // whether the block has walked before (repair/state.h)
  i64 solutions_before;  // of the block, when it began
};

DEVICE Neighbourhood& neighbourhood(const Block& b);

// Whether the i-th decision variable is set free at random; a hash, so that every lane decides for itself.
DEVICE bool is_drawn_free(u64 draw, i32 i, i32 share) {
  return (i32)below(hash_of(draw, i), SHARE_UNIT) >= share;
}

// Whether the i-th of n decision variables lies in the window, in the annotated order, that is set free.
DEVICE bool is_in_window(u64 draw, i32 i, i32 n, i32 share) {
  i32 length = (i32)((i64)n * (SHARE_UNIT - share) / SHARE_UNIT) + 1;
  i32 start = (i32)below(draw, (u64)n, 20), place = i - start;
  return (place < 0 ? place + n : place) < length;
}

// Whether a neighbourhood of this extent leaves a whole array of decision variables free, since an array that follows
// from others must not keep its old values when those change. Extent 1 leaves half of the arrays free, at random.
DEVICE bool is_group_free(u64 draw, i32 extent, i32 group) {
  return extent == 1 && coin(other_hash_of(draw, group));
}

DEVICE bool is_set_free(const Block& b, i32 method, u64 draw, i32 i, i32 var) {
  const Neighbourhood& s = neighbourhood(b);
  if (is_group_free(draw, s.extent, load_constant(&b.problem->neighbour_groups[i]))) return true;
  if (method == METHOD_RANDOM) return is_drawn_free(draw, i, s.share);
  if (method == METHOD_WINDOW) return is_in_window(draw, i, b.problem->n_neighbours, s.share);
  return is_marked_free(b, var);
}

// Fixes a variable to its value, unless that is out of its bounds: then it must change in a better solution.
DEVICE void fix_variable(const Block& b, const bound_t* values, i32 var) {
  bound_t value = global_load(&values[var]);
  if (value < lower_of(b, var) || value > upper_of(b, var)) return;
  restrict_domain(b, var, interval(value, value));
}

// Fixes the decision variables that are not set free to these values, in the root store. Ends with a barrier.
DEVICE void fix_to(const Block& b, const bound_t* values, i32 method, u64 draw) {
  const Problem* p = b.problem;
  for (i32 i = lane(); i < p->n_neighbours; i += lanes()) {
    i32 var = p->neighbours[i];
    if (!is_set_free(b, method, draw, i, var)) fix_variable(b, values, var);
  }
  barrier();
}

#ifdef __CUDACC__  // the registers of the GPU's kernel are for other methods
constexpr bool STATES = false;
#else
constexpr bool STATES = true;
#endif

// Whether a task of this method fixes any variables.
DEVICE bool fixes_variables(const Problem* p, i32 method) {
  if (STATES && method == METHOD_STATED) return true;
  return method < FIRST_RESTART && p->n_neighbours > 0;
}

// Fixes each variable of the neighbourhood that the model states with its probability. Ends with a barrier.
DEVICE void fix_stated(const Block& b, const bound_t* values, u64 draw) {
  const Problem* p = b.problem;
  for (i32 i = lane(); i < p->n_stated; i += lanes())
    if (!is_drawn_free(draw, i, p->stated[i].share)) fix_variable(b, values, p->stated[i].var);
  barrier();
}

// The steps of walks through the constraint graph that set the wanted share of the decision variables free.
DEVICE i64 freeing_steps(const Block& b) {
  return (i64)b.problem->n_neighbours * (SHARE_UNIT - neighbourhood(b).share) * STEPS_A_VARIABLE / SHARE_UNIT;
}

// Fixes the variables but those set free to an incumbent's values, in the root store. Ends with a barrier.
DEVICE void fix_others(const Block& b, i32 method, u64 draw) {
  if (STATES && method == METHOD_STATED) return fix_stated(b, island_values(b.problem, 0), draw);
  const i64 steps = freeing_steps(b);
  if (method == METHOD_GRAPH) free_by_graph(b, draw, steps);
  if (method == METHOD_OBJECTIVE) free_by_objective(b, draw, steps);
  barrier();
  fix_to(b, island_values(b.problem, island_access(b).source), method, draw);
}
