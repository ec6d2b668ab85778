// What rows say of an assignment: the value that a definition computes, and how far a constraint is from true.
#pragma once

#include "../core/interval.h"
#include "../core/store.h"
#include "../core/sums.h"
#include "state.h"

// Numbers are cut off here, far outside of every domain (turbo_fzn/engine/layout/repair.py: MOST_VALUE).
constexpr i64 FURTHEST = BOUND_BITS == 32 ? (i64)1 << 30 : (i64)1 << 42;
constexpr i64 MARGIN = 1024;  // format: around the domain of a variable
constexpr i32 COST_STEPS = 16;  // format: of a cost, from one power of two to the next; the cost of a violation of 1
constexpr i64 MOST_VIOLATION = 1 << 20;  // format: larger ones cost the same

DEVICE i64 cut(wide_t v) { return (i64)minimum(maximum(v, (wide_t)-FURTHEST), (wide_t)FURTHEST); }

// A value that a definition computes, not further from the variable's domain than this is wide: so no sum overflows,
// since none does that is in its domains.
DEVICE bound_t cut_for(const Walk& w, i32 var, wide_t v) {
  const i64 low = w.problem->root_lower[var], high = w.problem->root_upper[var], width = high - low + MARGIN;
  return (bound_t)cut(minimum(maximum(v, (wide_t)(low - width)), (wide_t)(high + width)));
}

DEVICE i64 lookup(const Walk& w, const Row& row) {
  const Problem* p = w.problem;
  bound_t index = minimum(maximum(w.value[row.y], p->root_lower[row.y]), p->root_upper[row.y]);
  return p->tables[row.z + (i32)index];
}

// y op z.
DEVICE wide_t result_of(const Walk& w, const Row& row) {
  if (row.op == OP_ELEMENT) return lookup(w, row);
  const i64 y = w.value[row.y], z = w.value[row.z];
  switch (row.op) {
    case OP_ADD: return y + z;
    case OP_MUL: return (wide_t)y * z;
    case OP_DIV: return z == 0 ? 0 : y / z;
    case OP_MOD: return z == 0 ? 0 : y % z;
    case OP_MIN: return minimum(y, z);
    case OP_MAX: return maximum(y, z);
    case OP_EQ: return y == z;
    default: return y <= z;
  }
}

// The value that a definition computes.
DEVICE bound_t defined_value(const Walk& w, const Definition& d) {
  const Problem* p = w.problem;
  if (d.row < p->n_store_rows) return cut_for(w, d.var, result_of(w, load_constant(&p->rows[d.row])));
  const Linear sum = sum_at(p, d.row);
  const i64 total = w.sums[d.row - p->n_store_rows];
  if (sum.kind == LINEAR_AT_MOST) return total <= sum.high;
  if (sum.kind == LINEAR_EQUAL) return total == sum.high;
  return cut_for(w, d.var, d.sign * (sum.low - total));
}

// By how much y and z fail to be so related that x = (y op z).
DEVICE i64 comparison_violation(i32 op, i64 x, i64 y, i64 z) {
  if (op == OP_LEQ) return maximum((i64)0, x ? y - z : z + 1 - y);
  return x ? (y < z ? z - y : y - z) : y == z;
}

DEVICE i64 row_violation(const Walk& w, i32 index) {
  const Row row = load_constant(&w.problem->rows[index]);
  const i64 x = w.value[row.x];
  if (row.op == OP_LEQ || row.op == OP_EQ) return comparison_violation(row.op, x, w.value[row.y], w.value[row.z]);
  if ((row.op == OP_DIV || row.op == OP_MOD) && w.value[row.z] == 0) return 1;
  const i64 gap = x - cut(result_of(w, row));
  return gap < 0 ? -gap : gap;
}

DEVICE i64 outside(i64 value, i64 low, i64 high) { return value < low ? low - value : value > high ? value - high : 0; }

// By how much the terms of a sum would have to change; more than 0, they must grow.
DEVICE i64 needed_change(const Linear& sum, i64 total, bool truth) {
  switch (sum.kind) {
    case LINEAR_RANGE:
    case LINEAR_CLAUSE: return total < sum.low ? sum.low - total : total > sum.high ? sum.high - total : 0;
    case LINEAR_AT_MOST: return truth ? minimum((i64)0, sum.high - total) : maximum((i64)0, sum.high + 1 - total);
    default: return truth ? sum.high - total : total == sum.high;
  }
}

DEVICE bool truth_value(const Walk& w, const Linear& sum) { return has_truth(sum) && w.value[sum.truth] != 0; }

DEVICE i64 sum_violation(const Walk& w, i32 index) {
  const i32 number = index - w.problem->n_store_rows;
  const Linear sum = sum_at(w.problem, index);
  const i64 change = needed_change(sum, w.sums[number], truth_value(w, sum));
  const i64 scale = w.problem->sum_scales[number];
  return ((change < 0 ? -change : change) + scale - 1) / scale;
}

DEVICE i64 violation_of(const Walk& w, i32 constraint) {
  const Problem* p = w.problem;
  if (!is_domain(p, constraint)) {
    return constraint < p->n_store_rows ? row_violation(w, constraint) : sum_violation(w, constraint);
  }
  const i32 var = constraint - count_rows(*p);
  return outside(w.value[var], least_of(w, var), most_of(w, var));
}

// Where 32 bits hold a weight times a cost for most constraints, 64 bits hold their sum.
DEVICE i32 cost_of(const Walk& w, i64 violation) {
  if (violation <= 0) return 0;
  const u32 v = (u32)minimum(violation, MOST_VIOLATION);
  if (!w.manner.logarithmic) return (i32)v * COST_STEPS;
  const i32 power = highest_bit(v);
  return COST_STEPS * (power + 1) + (i32)((v << 4 >> power) & (COST_STEPS - 1));
}

DEVICE i32 current_cost(const Walk& w, i32 constraint) { return cost_of(w, violation_of(w, constraint)); }
