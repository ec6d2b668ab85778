// One function an operator: it tightens the intervals of x, y and z in x = y op z, never losing a solution.
//
// The functions are pure: they know intervals, no store. `propagate_row` reads the three intervals, lets the operator
// tighten copies, and writes back what changed. So the lanes of a warp diverge only in the arithmetic; they execute the
// costly part, atomics on the store, together, whatever their operators.
//
// Every rule is monotone (tighter bounds in, tighter bounds out), so that any fair order of running rows, and any
// interleaving of lanes, reaches the same fixpoint; this must stay true of every operator that is added. On fixed
// variables every rule is exact: a row is satisfied or fails. Two further rules for a new operator: a row that can
// tighten a bound of a variable watches the variable's other bound (watch.py), and a row fails on an empty interval,
// so that a domain which two lanes empty together is noticed.
#pragma once

#include "assert.h"
#include "holes.h"
#include "interval.h"
#include "model.h"
#include "retire.h"
#include "store.h"
#ifdef FLOATS
#include "float_abi.h"
#endif

// ELEMENT has no third variable.
DEVICE i32 third_var(Row r) { return r.op == OP_ELEMENT ? r.y : r.z; }
DEVICE bool names_twice(Row r) { return r.x == r.y || (r.op != OP_ELEMENT && (r.y == r.z || r.x == r.z)); }

// x = y + z
DEVICE void propagate_add(Interval& x, Interval& y, Interval& z) {
  const Interval old_x = x, old_y = y;  // sums of the ends as read fit into value_t, and depend on no other result
  raise(x, y.l + z.l);
  reduce(x, y.u + z.u);
  raise(y, old_x.l - z.u);
  reduce(y, old_x.u - z.l);
  raise(z, old_x.l - old_y.u);
  reduce(z, old_x.u - old_y.l);
}

// x = min(y, z)
DEVICE void propagate_min(Interval& x, Interval& y, Interval& z) {
  const Interval old_x = x, old_y = y;
  raise(x, minimum(y.l, z.l));
  reduce(x, minimum(y.u, z.u));
  raise(y, old_x.l);
  if (z.l > old_x.u) reduce(y, old_x.u);  // z is too large to be the minimum, so y is
  raise(z, old_x.l);
  if (old_y.l > old_x.u) reduce(z, old_x.u);
}

// x = max(y, z)
DEVICE void propagate_max(Interval& x, Interval& y, Interval& z) {
  const Interval old_x = x, old_y = y;
  raise(x, maximum(y.l, z.l));
  reduce(x, maximum(y.u, z.u));
  reduce(y, old_x.u);
  if (z.u < old_x.l) raise(y, old_x.l);  // z is too small to be the maximum, so y is
  reduce(z, old_x.u);
  if (old_y.u < old_x.l) raise(z, old_x.l);
}

// x = (y = z)
DEVICE void propagate_eq(Interval& x, Interval& y, Interval& z) {
  if (x.l == 1) {
    raise(y, z.l);
    reduce(y, z.u);
    raise(z, y.l);
    reduce(z, y.u);
  } else if (x.u == 0) {
    if (y.l == y.u) exclude(z, y.l);
    else if (z.l == z.u) exclude(y, z.l);
  } else if (y.l > z.u || z.l > y.u) {
    x.u = 0;
  } else if (y.l == y.u && z.l == z.u) {
    x.l = 1;
  }
}

// x = (y <= z)
DEVICE void propagate_leq(Interval& x, Interval& y, Interval& z) {
  if (x.l == 1) {
    reduce(y, z.u);
    raise(z, y.l);
  } else if (x.u == 0) {
    raise(y, z.l + 1);
    reduce(z, y.u - 1);
  } else if (y.l > z.u) {
    x.u = 0;
  } else if (y.u <= z.l) {
    x.l = 1;
  }
}

// y * z = x tightens y: the quotient of x and z, where z cannot be 0. If x cannot, 0 is no end of z.
DEVICE void propagate_factor(Interval& y, Interval x, Interval z) {
  if (z.l <= 0 && z.u >= 0) {
    if (!excludes_zero(x)) return;  // z = 0 = x leaves y free
    value_t most = maximum(magnitude(x.l), magnitude(x.u));  // z is of either sign, |z| >= 1
    raise(y, minus(most));
    reduce(y, most);
    return;
  }
  if (z.u < 0) {
    x = negated(x);
    z = negated(z);
  }
  raise(y, divide_ceil(x.l, x.l >= 0 ? z.u : z.l));
  reduce(y, divide_floor(x.u, x.u >= 0 ? z.l : z.u));
}

// x = y * y
DEVICE void propagate_square(Interval& x, Interval& y) {
  value_t least = y.l > 0 ? y.l : y.u < 0 ? minus(y.u) : 0;
  value_t most = maximum(magnitude(y.l), magnitude(y.u));
  raise(x, multiply(least, least));
  reduce(x, multiply(most, most));
  if (is_empty(x) || (i64)x.l >= SQUARE_LIMIT) return;
  if (!is_infinite(x.u)) {
    value_t root = (value_t)floor_sqrt((i64)x.u);
    raise(y, minus(root));
    reduce(y, root);
  }
  if (x.l > 0) {  // |y| is at least the root of x.l, rounded up
    value_t root = (value_t)floor_sqrt((i64)x.l - 1) + 1;
    if (y.l > -root) raise(y, root);
    if (y.u < root) reduce(y, minus(root));
  }
}

// x = y * z
DEVICE void propagate_mul(Interval& x, Interval& y, Interval& z) {
  wide_t ll = (wide_t)y.l * z.l, lu = (wide_t)y.l * z.u, ul = (wide_t)y.u * z.l, uu = (wide_t)y.u * z.u;
  raise(x, cut_off(minimum(minimum(ll, lu), minimum(ul, uu))));
  reduce(x, cut_off(maximum(maximum(ll, lu), maximum(ul, uu))));
  if (is_empty(x)) return;
  if (excludes_zero(x)) {
    exclude(y, 0);
    exclude(z, 0);
  }
  propagate_factor(y, x, z);
  if (is_empty(y)) return;
  propagate_factor(z, x, y);
}

// Widens `range` by the values of y div d, and by the values of y with y div d in q, for a divisor interval d >= 1.
DEVICE void quotient_hull(Interval& range, Interval y, Interval d) {
  range.l = minimum(range.l, divide_truncate(y.l, y.l >= 0 ? d.u : d.l));
  range.u = maximum(range.u, divide_truncate(y.u, y.u >= 0 ? d.l : d.u));
}
DEVICE void dividend_hull(Interval& range, Interval q, Interval d) {
  range.l = minimum(range.l, cut_off(q.l > 0 ? (wide_t)q.l * d.l : (wide_t)q.l * d.u - (d.u - 1)));
  range.u = maximum(range.u, cut_off(q.u < 0 ? (wide_t)q.u * d.l : (wide_t)q.u * d.u + (d.u - 1)));
}

// x = y div z, truncated: the positive and the negative divisors apart, since y div -d = -y div d = -(y div d)
DEVICE void propagate_div(Interval& x, Interval& y, Interval& z) {
  exclude(z, 0);
  if (is_empty(z)) return;
  Interval quotient = {BEYOND, -BEYOND}, dividend = {BEYOND, -BEYOND};
  if (z.u > 0) {
    Interval d = {maximum(z.l, (value_t)1), z.u};
    quotient_hull(quotient, y, d);
    dividend_hull(dividend, x, d);
  }
  if (z.l < 0) {
    Interval d = {maximum(minus(z.u), (value_t)1), minus(z.l)};
    quotient_hull(quotient, negated(y), d);
    dividend_hull(dividend, negated(x), d);
  }
  if (excludes_zero(x)) {  // |z| <= |y| / |x|
    value_t most = divide_floor(maximum(magnitude(y.l), magnitude(y.u)), x.l > 0 ? x.l : minus(x.u));
    raise(z, minus(most));
    reduce(z, most);
  }
  raise(x, quotient.l);
  reduce(x, quotient.u);
  raise(y, dividend.l);
  reduce(y, dividend.u);
}

// x = y mod z where |z| = d is fixed and y is finite
DEVICE void propagate_mod_fixed(Interval& x, Interval& y, value_t d) {
  value_t multiple = divide_truncate(y.l, d) * d;
  if (multiple == divide_truncate(y.u, d) * d) {  // y stays within one period: x = y - multiple
    raise(x, y.l - multiple);
    reduce(x, y.u - multiple);
    raise(y, x.l + multiple);
    reduce(y, x.u + multiple);
  } else if (x.l == x.u) {  // y - x is a multiple of d
    value_t below = (value_t)(((wide_t)y.l - x.l) % d), above = (value_t)(((wide_t)y.u - x.l) % d);
    raise(y, y.l + (below > 0 ? d - below : minus(below)));
    reduce(y, y.u - (above < 0 ? d + above : above));
  }
}

// x = y mod z, with the sign of y
DEVICE void propagate_mod(Interval& x, Interval& y, Interval& z) {
  exclude(z, 0);
  if (is_empty(z)) return;
  value_t most = maximum(magnitude(z.l), magnitude(z.u)) - 1;
  value_t least = z.l > 0 ? z.l : z.u < 0 ? minus(z.u) : 1;
  raise(x, maximum(minus(most), minimum(y.l, (value_t)0)));
  reduce(x, minimum(most, maximum(y.u, (value_t)0)));
  if (is_empty(x)) return;
  if (x.l > 0) raise(y, x.l);  // |x| <= |y|, same sign
  if (x.u < 0) reduce(y, x.u);
  if (excludes_zero(x)) {  // |x| < |z|
    value_t above = (x.l > 0 ? x.l : minus(x.u)) + 1;
    if (z.l > -above) raise(z, above);
    if (z.u < above) reduce(z, minus(above));
  }
  if (y.l > -least && y.u < least) {  // |y| < |z|: x = y
    raise(x, y.l);
    reduce(x, y.u);
    raise(y, x.l);
    reduce(y, x.u);
  } else if (least - 1 == most && !is_infinite(y.l) && !is_infinite(y.u)) {
    propagate_mod_fixed(x, y, least);
  }
}

// x = table[y]: y loses the ends whose entry x cannot take, x becomes the hull of what remains
DEVICE void propagate_element(Interval& x, Interval& y, const bound_t* table) {
  bound_t first = (bound_t)y.l, last = (bound_t)y.u;
  while (first <= last && (table[first] < x.l || table[first] > x.u)) ++first;
  while (first <= last && (table[last] < x.l || table[last] > x.u)) --last;
  if (first > last) return make_empty(y);
  const value_t low = x.l, high = x.u;
  bound_t least = table[first], most = table[first];
  for (bound_t i = first + 1; i <= last; ++i) {  // without branches, which would be mispredicted
    bound_t value = table[i];
    least = ((value < least) & (value >= low)) ? value : least;
    most = ((value > most) & (value <= high)) ? value : most;
  }
  raise(y, first);
  reduce(y, last);
  raise(x, least);
  reduce(x, most);
}

DEVICE void propagate_operator(const Block& b, Row r, Interval& x, Interval& y, Interval& z) {
  switch (r.op) {
    case OP_ADD: return propagate_add(x, y, z);
    case OP_LEQ: return propagate_leq(x, y, z);
    case OP_EQ: return propagate_eq(x, y, z);
    case OP_MIN: return propagate_min(x, y, z);
    case OP_MAX: return propagate_max(x, y, z);
    case OP_MUL: return r.y == r.z ? propagate_square(x, y) : propagate_mul(x, y, z);
    case OP_ELEMENT: return propagate_element(x, y, b.problem->tables + r.z);
    case OP_DIV: return propagate_div(x, y, z);
    default: return propagate_mod(x, y, z);
  }
}

// Whether all values in the box satisfy the row. It may be false although they do, but not true where they do not.
// `checked`: the row has run on this very box, and did not fail.
DEVICE bool is_entailed(i32 op, Interval x, Interval y, Interval z, bool checked) {
  if (!is_single(x)) return false;
  if (checked && is_single(y) && is_single(z)) return true;
  switch (op) {
    case OP_LEQ: return x.l ? y.u <= z.l : y.l > z.u;
    case OP_EQ: return !x.l && (y.u < z.l || z.u < y.l);
    case OP_MIN: return y.u == x.l || z.u == x.l;  // y, z >= x since the row has run
    case OP_MAX: return y.l == x.l || z.l == x.l;
    default: return false;
  }
}

#ifdef FLOATS
// Propagates a row over real variables (floats/propagate.h): a function of its own, to keep that of other rows small.
OUTLINE Told propagate_float_row(const Block b, i32 row, const Row r);
#endif

// Propagates the row: tightens the bounds of its variables.
DEVICE Told propagate_row(const Block& b, i32 row) {
  ASSERT(0 <= row && row < b.problem->n_store_rows);
  const Row r = row_at(b, row);
#ifdef FLOATS
  if (r.op >= FIRST_FLOAT_OPERATOR) return propagate_float_row(b, row, r);
#endif
  i32 z_var = third_var(r);
  const Interval x = interval_of(b, r.x), y = interval_of(b, r.y), z = interval_of(b, z_var);
  if (is_empty(x) || is_empty(y) || is_empty(z)) return refute(b, row);
  Interval new_x = x, new_y = y, new_z = z;
  propagate_operator(b, r, new_x, new_y, new_z);
#if BITSETS
  bool holes = propagate_holes(b, r, new_x, new_y, new_z);
#else
  constexpr bool holes = false;  // no call that would come to nothing: nvcc then gives the kernel 16 registers more
#endif
  if (is_beyond_store(x, new_x) || is_beyond_store(y, new_y) || is_beyond_store(z, new_z)) return overflow(b);
  if (is_empty(new_x) || is_empty(new_y) || is_empty(new_z)) return refute(b, row);
  tighten(b, r.x, x, new_x);
  tighten(b, r.y, y, new_y);
  tighten(b, z_var, z, new_z);
  bool changed = holes || !is_same(x, new_x) || !is_same(y, new_y) || !is_same(z, new_z);
  return TELL(changed, MAY_RETIRE(changed) && is_entailed(r.op, new_x, new_y, new_z, !changed));
}
