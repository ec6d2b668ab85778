// One function an operator: it tightens the bounds of x, y and z in a row x = y op z, never losing a solution.
//
// Every rule here is monotone (tighter bounds in, tighter bounds out), so that any fair order of running rows, and any
// interleaving of lanes, reaches the same fixpoint; this must stay true of every operator that is added. On fixed
// variables every rule is exact: a row is satisfied or fails. Two further rules for a new operator: a row that can
// tighten a bound of a variable watches the variable's other bound (problem.py), and it fails on an empty domain, so
// that two lanes which empty a domain between them are found out.
#pragma once

#include "store.h"

// x = y + z
DEVICE void propagate_add(const Block& b, Row r, Interval x, Interval y, Interval z) {
  raise_lower(b, r.x, x, y.l + z.l);
  reduce_upper(b, r.x, x, y.u + z.u);
  raise_lower(b, r.y, y, x.l - z.u);
  reduce_upper(b, r.y, y, x.u - z.l);
  raise_lower(b, r.z, z, x.l - y.u);
  reduce_upper(b, r.z, z, x.u - y.l);
}

// x = min(y, z)
DEVICE void propagate_min(const Block& b, Row r, Interval x, Interval y, Interval z) {
  raise_lower(b, r.x, x, minimum(y.l, z.l));
  reduce_upper(b, r.x, x, minimum(y.u, z.u));
  raise_lower(b, r.y, y, x.l);
  raise_lower(b, r.z, z, x.l);
  if (y.l > x.u) reduce_upper(b, r.z, z, x.u);  // y is too large to be the minimum, so z is
  if (z.l > x.u) reduce_upper(b, r.y, y, x.u);
}

// x = max(y, z)
DEVICE void propagate_max(const Block& b, Row r, Interval x, Interval y, Interval z) {
  raise_lower(b, r.x, x, maximum(y.l, z.l));
  reduce_upper(b, r.x, x, maximum(y.u, z.u));
  reduce_upper(b, r.y, y, x.u);
  reduce_upper(b, r.z, z, x.u);
  if (y.u < x.l) raise_lower(b, r.z, z, x.l);  // y is too small to be the maximum, so z is
  if (z.u < x.l) raise_lower(b, r.y, y, x.l);
}

// v is not k; only the ends of an interval can be cut off.
DEVICE void exclude(const Block& b, i32 var, Interval v, wide_t k) {
  if (v.l == k) raise_lower(b, var, v, k + 1);
  if (v.u == k) reduce_upper(b, var, v, k - 1);
}

// x = (y = z)
DEVICE void propagate_eq(const Block& b, Row r, Interval x, Interval y, Interval z) {
  if (x.l == 1) {
    raise_lower(b, r.y, y, z.l);
    reduce_upper(b, r.y, y, z.u);
    raise_lower(b, r.z, z, y.l);
    reduce_upper(b, r.z, z, y.u);
  } else if (x.u == 0) {
    if (y.l == y.u) exclude(b, r.z, z, y.l);
    if (z.l == z.u) exclude(b, r.y, y, z.l);
  } else if (y.l > z.u || z.l > y.u) {
    reduce_upper(b, r.x, x, 0);
  } else if (y.l == y.u && z.l == z.u) {
    raise_lower(b, r.x, x, 1);
  }
}

// x = (y <= z)
DEVICE void propagate_leq(const Block& b, Row r, Interval x, Interval y, Interval z) {
  if (x.l == 1) {
    reduce_upper(b, r.y, y, z.u);
    raise_lower(b, r.z, z, y.l);
  } else if (x.u == 0) {
    raise_lower(b, r.y, y, z.l + 1);
    reduce_upper(b, r.z, z, y.u - 1);
  } else if (y.l > z.u) {
    reduce_upper(b, r.x, x, 0);
  } else if (y.u <= z.l) {
    raise_lower(b, r.x, x, 1);
  }
}

// y * z = x tightens y, from the quotient of x and a z that cannot be 0.
DEVICE void propagate_factor(const Block& b, i32 var, Interval y, Interval x, Interval z) {
  if (z.l <= 0 && z.u >= 0) {
    if (x.l <= 0 && x.u >= 0) return;  // z = 0 = x leaves y free
    if (z.l == 0 && z.u == 0) return fail(b);
    if (z.l < 0 && z.u > 0) {  // z of either sign, |z| >= 1
      wide_t most = maximum(magnitude(x.l), magnitude(x.u));
      raise_lower(b, var, y, -most);
      reduce_upper(b, var, y, most);
      return;
    }
    if (z.l == 0) z.l = 1; else z.u = -1;
  }
  if (z.u < 0) {
    Interval negated_x = {-x.u, -x.l}, negated_z = {-z.u, -z.l};
    x = negated_x;
    z = negated_z;
  }
  raise_lower(b, var, y, divide_ceil(x.l, x.l >= 0 ? z.u : z.l));
  reduce_upper(b, var, y, divide_floor(x.u, x.u >= 0 ? z.l : z.u));
}

// x = y * y
DEVICE void propagate_square(const Block& b, Row r, Interval x, Interval y) {
  wide_t least = y.l > 0 ? y.l : y.u < 0 ? -y.u : 0;
  wide_t most = maximum(magnitude(y.l), magnitude(y.u));
  raise_lower(b, r.x, x, least * least);
  reduce_upper(b, r.x, x, most * most);
  if (x.u < 0) return fail(b);
  if (!is_infinite(x.u)) {
    wide_t root = floor_sqrt((i64)x.u);
    raise_lower(b, r.y, y, -root);
    reduce_upper(b, r.y, y, root);
  }
  if (x.l > 0) {  // |y| is at least the root of x.l, rounded up
    wide_t root = (wide_t)floor_sqrt((i64)x.l - 1) + 1;
    if (y.l > -root) raise_lower(b, r.y, y, root);
    if (y.u < root) reduce_upper(b, r.y, y, -root);
  }
}

// x = y * z
DEVICE void propagate_mul(const Block& b, Row r, Interval x, Interval y, Interval z) {
  if (r.y == r.z) return propagate_square(b, r, x, y);
  wide_t ll = y.l * z.l, lu = y.l * z.u, ul = y.u * z.l, uu = y.u * z.u;
  raise_lower(b, r.x, x, minimum(minimum(ll, lu), minimum(ul, uu)));
  reduce_upper(b, r.x, x, maximum(maximum(ll, lu), maximum(ul, uu)));
  if (x.l > 0 || x.u < 0) {
    exclude(b, r.y, y, 0);
    exclude(b, r.z, z, 0);
  }
  propagate_factor(b, r.y, y, x, z);
  propagate_factor(b, r.z, z, x, y);
}

// The values of y div d and the values of y with y div d in q, for d in p..m, 1 <= p: widened into *range.
DEVICE void quotient_hull(Interval* range, Interval y, Interval d) {
  range->l = minimum(range->l, divide_truncate(y.l, y.l >= 0 ? d.u : d.l));
  range->u = maximum(range->u, divide_truncate(y.u, y.u >= 0 ? d.l : d.u));
}
DEVICE void dividend_hull(Interval* range, Interval q, Interval d) {
  range->l = minimum(range->l, q.l > 0 ? q.l * d.l : q.l * d.u - (d.u - 1));
  range->u = maximum(range->u, q.u < 0 ? q.u * d.l : q.u * d.u + (d.u - 1));
}

// z != 0: cuts 0 off the ends of z, also of the caller's copy. False when z is 0.
DEVICE bool exclude_zero_divisor(const Block& b, i32 var, Interval* z) {
  if (z->l == 0 && z->u == 0) {
    fail(b);
    return false;
  }
  exclude(b, var, *z, 0);
  if (z->l == 0) z->l = 1;
  if (z->u == 0) z->u = -1;
  return true;
}

// x = y div z, truncated: the positive and the negative divisors apart, since y div -d = -y div d = -(y div d)
DEVICE void propagate_div(const Block& b, Row r, Interval x, Interval y, Interval z) {
  if (!exclude_zero_divisor(b, r.z, &z)) return;
  Interval quotient = {BEYOND, -BEYOND}, dividend = {BEYOND, -BEYOND};
  if (z.u > 0) {
    Interval d = {maximum(z.l, 1), z.u};
    quotient_hull(&quotient, y, d);
    dividend_hull(&dividend, x, d);
  }
  if (z.l < 0) {
    Interval d = {maximum(-z.u, 1), -z.l}, negated_y = {-y.u, -y.l}, negated_x = {-x.u, -x.l};
    quotient_hull(&quotient, negated_y, d);
    dividend_hull(&dividend, negated_x, d);
  }
  raise_lower(b, r.x, x, quotient.l);
  reduce_upper(b, r.x, x, quotient.u);
  raise_lower(b, r.y, y, dividend.l);
  reduce_upper(b, r.y, y, dividend.u);
  if (x.l > 0 || x.u < 0) {  // |z| <= |y| / |x|
    wide_t most = divide_floor(maximum(magnitude(y.l), magnitude(y.u)), x.l > 0 ? x.l : -x.u);
    raise_lower(b, r.z, z, -most);
    reduce_upper(b, r.z, z, most);
  }
}

// x = y mod z where |z| = d is fixed and y is finite
DEVICE void propagate_mod_fixed(const Block& b, Row r, Interval x, Interval y, wide_t d) {
  wide_t multiple = divide_truncate(y.l, d) * d;
  if (multiple == divide_truncate(y.u, d) * d) {  // y stays within one period: x = y - multiple
    raise_lower(b, r.x, x, y.l - multiple);
    reduce_upper(b, r.x, x, y.u - multiple);
    raise_lower(b, r.y, y, x.l + multiple);
    reduce_upper(b, r.y, y, x.u + multiple);
  } else if (x.l == x.u) {  // y - x is a multiple of d
    wide_t below = (y.l - x.l) % d, above = (y.u - x.l) % d;
    raise_lower(b, r.y, y, y.l + (below > 0 ? d - below : -below));
    reduce_upper(b, r.y, y, y.u - (above < 0 ? d + above : above));
  }
}

// x = y mod z, with the sign of y
DEVICE void propagate_mod(const Block& b, Row r, Interval x, Interval y, Interval z) {
  if (!exclude_zero_divisor(b, r.z, &z)) return;
  wide_t most = maximum(magnitude(z.l), magnitude(z.u)) - 1;
  wide_t least = z.l > 0 ? z.l : z.u < 0 ? -z.u : 1;
  raise_lower(b, r.x, x, maximum(-most, minimum(y.l, 0)));
  reduce_upper(b, r.x, x, minimum(most, maximum(y.u, 0)));
  if (x.l > 0) raise_lower(b, r.y, y, x.l);  // |x| <= |y|, same sign
  if (x.u < 0) reduce_upper(b, r.y, y, x.u);
  if (x.l > 0 || x.u < 0) {  // |x| < |z|
    wide_t above = (x.l > 0 ? x.l : -x.u) + 1;
    if (z.l > -above) raise_lower(b, r.z, z, above);
    if (z.u < above) reduce_upper(b, r.z, z, -above);
  }
  if (y.l > -least && y.u < least) {  // |y| < |z|: x = y
    raise_lower(b, r.x, x, y.l);
    reduce_upper(b, r.x, x, y.u);
    raise_lower(b, r.y, y, x.l);
    reduce_upper(b, r.y, y, x.u);
  } else if (least - 1 == most && !is_infinite(y.l) && !is_infinite(y.u)) {
    propagate_mod_fixed(b, r, x, y, least);
  }
}

// x = tables[z + y]: y loses the ends whose entry x cannot take, x becomes the hull of what remains
DEVICE void propagate_element(const Block& b, Row r, Interval x, Interval y) {
  const bound_t* table = b.problem->tables + r.z;
  bound_t first = (bound_t)y.l, last = (bound_t)y.u;
  while (first <= last && (table[first] < x.l || table[first] > x.u)) ++first;
  while (first <= last && (table[last] < x.l || table[last] > x.u)) --last;
  if (first > last) return fail(b);
  bound_t least = table[first], most = table[first];
  for (bound_t i = first + 1; i <= last; ++i) {
    bound_t value = table[i];
    if (value < least && value >= x.l) least = value;
    if (value > most && value <= x.u) most = value;
  }
  raise_lower(b, r.y, y, first);
  reduce_upper(b, r.y, y, last);
  raise_lower(b, r.x, x, least);
  reduce_upper(b, r.x, x, most);
}

DEVICE void propagate_row(const Block& b, Row r) {
  Interval x = interval_of(b, r.x), y = interval_of(b, r.y);
  if (x.l > x.u || y.l > y.u) return fail(b);
  if (r.op == OP_ELEMENT) return propagate_element(b, r, x, y);
  Interval z = interval_of(b, r.z);
  if (z.l > z.u) return fail(b);
  switch (r.op) {
    case OP_ADD: return propagate_add(b, r, x, y, z);
    case OP_LEQ: return propagate_leq(b, r, x, y, z);
    case OP_EQ: return propagate_eq(b, r, x, y, z);
    case OP_MIN: return propagate_min(b, r, x, y, z);
    case OP_MAX: return propagate_max(b, r, x, y, z);
    case OP_MUL: return propagate_mul(b, r, x, y, z);
    case OP_DIV: return propagate_div(b, r, x, y, z);
    default: return propagate_mod(b, r, x, y, z);
  }
}
