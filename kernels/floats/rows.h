// The propagators of rows over real numbers; see core/propagate.h for the rules that they keep.
//
// A store holds intervals of real numbers whose ends are doubles, so on an end < is the same as <=: between two codes
// there are numbers. When a row fails, no real numbers in the intervals satisfy it. On fixed variables a row is exact
// up to the last place: x = y op z fails unless x is within the codes round the exact result. The host decides whether
// a box of small intervals is a solution (turbo_fzn/check).
#pragma once

#include "../core/assert.h"
#include "../core/float_abi.h"
#include "../core/interval.h"
#include "codes.h"
#include "elementary.h"
#include "exact.h"
#include "tuning.h"

// x = y + z
DEVICE void propagate_float_add(Interval& x, Interval& y, Interval& z) {
  const Numbers a = numbers_of(x), b = numbers_of(y), c = numbers_of(z);
  raise(x, sum_below(b.l, c.l));
  reduce(x, sum_above(b.u, c.u));
  raise(y, sum_below(a.l, -c.u));
  reduce(y, sum_above(a.u, -c.l));
  raise(z, sum_below(a.l, -b.u));
  reduce(z, sum_above(a.u, -b.l));
}

// y * z = x tightens y. For z of both signs x / z lies outside of an interval about 0, if x cannot be 0.
DEVICE void propagate_float_factor(Interval& y, Numbers x, Numbers z) {
  ASSERT(!is_empty(y));
  if (z.l <= 0 && z.u >= 0) {
    if (x.l <= 0 && x.u >= 0) return;
    if (z.l == 0 && z.u == 0) return make_empty(y);
    double near = x.l > 0 ? x.l : x.u;  // of x, the end next to 0
    double up = x.l > 0 ? z.u : z.l, down = x.l > 0 ? z.l : z.u;
    bool positive = up != 0 && number_of(y.u) > 0, negative = down != 0 && number_of(y.l) < 0;
    value_t least = positive ? quotient_below(near, up) : 0, most = negative ? quotient_above(near, down) : 0;
    bool fits_above = positive && y.u >= least, fits_below = negative && y.l <= most;
    if (!fits_above && !fits_below) return make_empty(y);
    if (!fits_below) raise(y, least);
    if (!fits_above) reduce(y, most);
    return;
  }
  if (z.u < 0) {
    Numbers negative_x = {-x.u, -x.l}, negative_z = {-z.u, -z.l};
    x = negative_x;
    z = negative_z;
  }
  raise(y, x.l < -GREATEST ? -BEYOND : quotient_below(x.l, x.l >= 0 ? z.u : z.l));
  reduce(y, x.u > GREATEST ? BEYOND : quotient_above(x.u, x.u >= 0 ? z.l : z.u));
}

// x = y * z
DEVICE void propagate_float_mul(Interval& x, Interval& y, Interval& z) {
  const Numbers a = numbers_of(y), b = numbers_of(z);
  raise(x, minimum(minimum(product_below(a.l, b.l), product_below(a.l, b.u)),
                   minimum(product_below(a.u, b.l), product_below(a.u, b.u))));
  reduce(x, maximum(maximum(product_above(a.l, b.l), product_above(a.l, b.u)),
                    maximum(product_above(a.u, b.l), product_above(a.u, b.u))));
  if (is_empty(x)) return;
  propagate_float_factor(y, numbers_of(x), b);
  if (is_empty(y)) return;
  propagate_float_factor(z, numbers_of(x), numbers_of(y));
}

// x = y * y
DEVICE void propagate_float_square(Interval& x, Interval& y) {
  const Numbers b = numbers_of(y);
  double least = b.l > 0 ? b.l : b.u < 0 ? -b.u : 0, most = maximum(-b.l, b.u);
  ASSERT(0 <= least && least <= most);
  raise(x, product_below(least, least));
  reduce(x, product_above(most, most));
  if (is_empty(x)) return;
  const Numbers a = numbers_of(x);
  value_t root = root_above(a.u);
  raise(y, -root);
  reduce(y, root);
  if (a.l > 0) {
    root = root_below(a.l);
    if (y.l > -root) raise(y, root);
    if (y.u < root) reduce(y, -root);
  }
}

// x = (y <= z): not <= is >, which is the same as >= on the ends.
DEVICE void propagate_float_leq(Interval& x, Interval& y, Interval& z) {
  if (x.l == 1) {
    reduce(y, z.u);
    raise(z, y.l);
  } else if (x.u == 0) {
    if (y.u <= z.l) return make_empty(x);
    raise(y, z.l);
    reduce(z, y.u);
  } else if (y.l > z.u) {
    x.u = 0;
  } else if (y.u <= z.l) {
    x.l = 1;
  }
}

// x = (y = z)
DEVICE void propagate_float_eq(Interval& x, Interval& y, Interval& z) {
  bool apart = y.l > z.u || z.l > y.u, same = y.l == z.u && z.l == y.u;
  if (x.l == 1) {
    raise(y, z.l);
    reduce(y, z.u);
    raise(z, y.l);
    reduce(z, y.u);
  } else if (x.u == 0) {
    if (same) make_empty(x);
  } else if (apart) {
    x.u = 0;
  } else if (same) {
    x.l = 1;
  }
}

// x = y for a real x and an integer y
DEVICE void propagate_int2float(Interval& x, Interval& y) {
  raise(x, integer_below(y.l));
  reduce(x, integer_above(y.u));
  if (is_empty(x)) return;
  const Numbers a = numbers_of(x);
  if (a.l >= -GREATEST) raise(y, ceiling_of(a.l));
  if (a.u <= GREATEST) reduce(y, floor_of(a.u));
}

// x = e^y
DEVICE void propagate_float_exp(Interval& x, Interval& y) {
  const Numbers b = numbers_of(y);
  if (x.u <= 0) return make_empty(x);
  raise(x, function_below(OP_FLOAT_EXP, b.l));
  reduce(x, function_above(OP_FLOAT_EXP, b.u));
  if (is_empty(x)) return;
  value_t limit = code_below(EXP_LIMIT);
  Interval argument = {maximum(y.l, -limit), minimum(y.u, limit)};
  if (is_empty(argument)) return;
  const Monotone exponential = {OP_FLOAT_EXP, false};
  cut_upper_end(exponential, x.u, argument);
  if (!is_empty(argument)) cut_lower_end(exponential, x.l, argument);
  if (is_empty(argument)) return make_empty(y);
  if (argument.l > -limit) raise(y, argument.l);
  if (argument.u < limit) reduce(y, argument.u);
}

// x = f(y) where f is monotone on the whole of y
DEVICE void propagate_monotone(Monotone f, Interval& x, Interval& y) {
  ASSERT(!is_empty(y));
  Interval image = f.falls ? negated(x) : x;
  raise(image, value_below(f, y.l));
  reduce(image, value_above(f, y.u));
  if (!is_empty(image)) cut_lower_end(f, image.l, y);
  if (!is_empty(image) && !is_empty(y)) cut_upper_end(f, image.u, y);
  x = f.falls ? negated(image) : image;
}

DEVICE bool is_trigonometric(Numbers y) { return y.l >= -TRIG_LIMIT && y.u <= TRIG_LIMIT; }

// x = sin(y)
DEVICE void propagate_float_sin(Interval& x, Interval& y) {
  const Numbers b = numbers_of(y);
  const value_t one = code_below(1);
  raise(x, -one);
  reduce(x, one);
  if (!is_trigonometric(b)) return;
  i64 first = branch_of(angle_of(b.l)), last = branch_of(angle_of(b.u));
  bool falls = first & 1;
  Monotone f = {OP_FLOAT_SIN, falls};
  if (first == last) return propagate_monotone(f, x, y);
  if (last - first > 1) return;
  if (falls) reduce(x, maximum(function_above(OP_FLOAT_SIN, b.l), function_above(OP_FLOAT_SIN, b.u)));
  else raise(x, minimum(function_below(OP_FLOAT_SIN, b.l), function_below(OP_FLOAT_SIN, b.u)));
}

// x = tan(y)
DEVICE void propagate_float_tan(Interval& x, Interval& y) {
  const Numbers b = numbers_of(y);
  const Monotone f = {OP_FLOAT_TAN, false};
  if (is_trigonometric(b) && branch_of(angle_of(b.l)) == branch_of(angle_of(b.u))) propagate_monotone(f, x, y);
}

// x = arcsin(y) or arctan(y), by sin or tan (`op`) on the doubles between -π/2 and π/2. The last of these may stand for
// π/2 itself, where tan has no value.
DEVICE void propagate_arc(i32 op, Interval& x, Interval& y) {
  ASSERT(op == OP_FLOAT_SIN || op == OP_FLOAT_TAN);
  const value_t quarter = code_below(HALF_PI), one = code_below(1);
  const Monotone f = {op, false};
  raise(x, -quarter - 1);
  reduce(x, quarter + 1);
  if (op == OP_FLOAT_SIN) {
    raise(y, -one);
    reduce(y, one);
  }
  if (is_empty(x) || is_empty(y)) return;
  const Interval inner = {maximum(minimum(x.l, quarter), -quarter), minimum(maximum(x.u, -quarter), quarter)};
  if (op == OP_FLOAT_SIN || x.l > -quarter) raise(y, value_below(f, inner.l));
  if (op == OP_FLOAT_SIN || x.u < quarter) reduce(y, value_above(f, inner.u));
  if (is_empty(y)) return;
  Interval cut = inner;
  cut_lower_end(f, y.l, cut);
  if (is_empty(cut)) raise(x, inner.u);
  else if (cut.l > inner.l) raise(x, cut.l);
  cut = inner;
  cut_upper_end(f, y.u, cut);
  if (is_empty(cut)) reduce(x, inner.l);
  else if (cut.u < inner.u) reduce(x, cut.u);
}

// Rows in a cycle can shrink an interval by tiny steps for ever. Where a row of arithmetic cuts off less than a 16th of
// an interval (SMALL_STEP), the interval stays as it is: the next split finds what that loses.
DEVICE bool makes_small_steps(i32 op) { return op == OP_FLOAT_ADD || op == OP_FLOAT_MUL || op >= OP_FLOAT_EXP; }

DEVICE void leave_small_steps(i32 op, Interval before, Interval& after) {
  if (!makes_small_steps(op) || is_infinite(before.l) || is_infinite(before.u)) return;
  const Numbers old = numbers_of(before), now = numbers_of(after);
  ASSERT(before.l <= after.l && after.u <= before.u);
  double step = (old.u - old.l) * SMALL_STEP;
  if (now.l - old.l < step) after.l = before.l;
  if (old.u - now.u < step) after.u = before.u;
}

// Runs the row once. None of the intervals is empty before; one is afterwards if the row has no solution.
DEVICE void propagate_float(Row r, Interval& x, Interval& y, Interval& z) {
  ASSERT(FIRST_FLOAT_OPERATOR <= r.op && r.op <= OP_FLOAT_ATAN && !is_empty(x) && !is_empty(y) && !is_empty(z));
  switch (r.op) {
    case OP_FLOAT_ADD: return propagate_float_add(x, y, z);
    case OP_FLOAT_MUL: return r.y == r.z ? propagate_float_square(x, y) : propagate_float_mul(x, y, z);
    case OP_FLOAT_LEQ: return propagate_float_leq(x, y, z);
    case OP_FLOAT_EQ: return propagate_float_eq(x, y, z);
    case OP_INT2FLOAT: return propagate_int2float(x, y);
    case OP_FLOAT_EXP: return propagate_float_exp(x, y);
    case OP_FLOAT_SIN: return propagate_float_sin(x, y);
    case OP_FLOAT_TAN: return propagate_float_tan(x, y);
    case OP_FLOAT_ASIN: return propagate_arc(OP_FLOAT_SIN, x, y);
    default: return propagate_arc(OP_FLOAT_TAN, x, y);
  }
}
