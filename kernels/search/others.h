// The values, in a solution, of the variables that are not in the store (turbo_fzn/tnf/arrange.py).
//
// The rows that define them run level by level, those of one level in any order, in all lanes.
#pragma once

#include "../core/assert.h"
#include "../core/interval.h"
#include "../core/propagate.h"
#include "../core/store.h"

// Computes x of the row from the values of y and z.
DEVICE void define(const Block& b, i32 row) {
  const Problem* p = b.problem;
  Row r = load_constant(&p->rows[row]);
  Interval x = interval(p->root_lower[r.x], p->root_upper[r.x]);
  bound_t at_y = value_of(b, r.y), at_z = value_of(b, r.z);
  Interval y = interval(at_y, at_y), z = interval(at_z, at_z);
  propagate_operator(b, r, x, y, z);
  ASSERT(is_single(x) && is_single(y) && is_single(z));
  set_value(b, r.x, (bound_t)x.l);
}

// Computes all of them, when those in the store are fixed. Ends with a barrier.
OUTLINE void define_others(const Block b) {
  const Problem* p = b.problem;
  for (i32 level = 0; level < p->n_levels; ++level) {
    i32 end = p->defining_levels[level + 1];
    for (i32 i = p->defining_levels[level] + lane(); i < end; i += lanes()) define(b, p->defining_rows[i]);
    barrier();
  }
}
