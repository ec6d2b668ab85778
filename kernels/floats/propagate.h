// Propagates rows over real variables in a store, as core/propagate.h does those over integers.
#pragma once

#include "../core/assert.h"
#include "../core/float_abi.h"
#include "../core/interval.h"
#include "../core/retire.h"
#include "../core/store.h"
#include "rows.h"

// Whether all values in the box satisfy the row, as in is_entailed, for an operator over real numbers.
DEVICE bool is_float_entailed(i32 op, Interval x, Interval y, Interval z, bool checked) {
  if (!is_single(x)) return false;
  if (checked && is_single(y) && is_single(z)) return true;
  if (op == OP_FLOAT_LEQ) return x.l ? y.u <= z.l : y.l > z.u;
  return op == OP_FLOAT_EQ && !x.l && (y.u < z.l || z.u < y.l);
}

// Propagates a row over real variables, as propagate_row does one over integers.
OUTLINE Told propagate_float_row(const Block b, i32 row, const Row r) {
  ASSERT(0 <= row && row < b.problem->n_rows && r.op >= FIRST_FLOAT_OPERATOR);
  const Interval x = interval_of(b, r.x), y = interval_of(b, r.y), z = interval_of(b, r.z);
  if (is_empty(x) || is_empty(y) || is_empty(z)) return refute(b, row);
  Interval new_x = x, new_y = y, new_z = z;
  propagate_float(r, new_x, new_y, new_z);
  if (is_beyond_store(x, new_x) || is_beyond_store(y, new_y) || is_beyond_store(z, new_z)) return overflow(b);
  if (is_empty(new_x) || is_empty(new_y) || is_empty(new_z)) return refute(b, row);
  leave_small_steps(r.op, x, new_x);
  leave_small_steps(r.op, y, new_y);
  leave_small_steps(r.op, z, new_z);
  tighten(b, r.x, x, new_x);
  tighten(b, r.y, y, new_y);
  tighten(b, r.z, z, new_z);
  bool changed = !is_same(x, new_x) || !is_same(y, new_y) || !is_same(z, new_z);
  return TELL(changed, MAY_RETIRE(changed) && is_float_entailed(r.op, new_x, new_y, new_z, !changed));
}
