// The rules for products and table look-ups: see rules.h.
#pragma once

#include "../../core/assert.h"
#include "../../core/interval.h"
#include "../state/ablation.h"
#include "../state/literal.h"
#include "../propagators/oracle.h"
#include "../state/parts.h"
#include "rules.h"
#include "../state/sides.h"
#include "../state/trail.h"

DEVICE bool is_fixed_at_root(const Learner& l, i32 var) {
  return sides(l).root[lower_side(var)] == -sides(l).root[upper_side(var)];
}

DEVICE bool is_boolean_at_root(const Learner& l, i32 var) {
  return sides(l).root[lower_side(var)] >= 0 && sides(l).root[upper_side(var)] >= -1;
}

// n / d rounded up, for d > 0.
DEVICE wide_t ratio_ceil(wide_t n, wide_t d) {
  ASSERT(d > 0);
  return n / d + (n % d > 0);
}

// x = c * y
DEVICE bool explain_multiple(const Learner& l, Premises& why, i32 x, i32 y, value_t c, Literal a, i32 t) {
  if (c == 0) return false;
  i32 d = is_upper(a.side) ^ (c < 0);
  wide_t size = magnitude(c);
  if (var_of(a.side) == x) return explain_by(l, why, 2 * y + d, ratio_ceil(a.k, size), t);
  return explain_by(l, why, 2 * x + d, size * ((wide_t)a.k - 1) + 1, t);
}

// x = y * z where y is 0 or 1: x is z, or 0.
DEVICE bool explain_gate(const Learner& l, Premises& why, i32 x, i32 y, i32 z, Literal a, i32 t) {
  i32 var = var_of(a.side), d = is_upper(a.side);
  if (var == x) {
    if (a.k <= 0) return explain_by(l, why, upper_side(y), 0, t) || explain_by(l, why, 2 * z + d, a.k, t);
    return explain_by(l, why, lower_side(y), 1, t) && explain_by(l, why, 2 * z + d, a.k, t);
  }
  if (var == z) return explain_by(l, why, lower_side(y), 1, t) && explain_by(l, why, 2 * x + d, a.k, t);
  if (a.k != 1 - d) return false;
  if (!d) return explain_by(l, why, lower_side(x), 1, t) || explain_by(l, why, upper_side(x), 1, t);
  return explain_by_sum(l, why, lower_side(x), upper_side(z), 1, t) ||
         explain_by_sum(l, why, upper_side(x), lower_side(z), 1, t);
}

// x >= k, or x <= -k with the upper sides, where no factor is negative.
DEVICE bool explain_area(const Learner& l, Premises& why, i32 y, i32 z, Literal a, i32 t) {
  if (!is_upper(a.side)) {
    wide_t by_y = held(l, lower_side(y), t), by_z = held(l, lower_side(z), t);
    if (a.k <= 0 || by_y <= 0 || by_y * by_z < a.k) return false;
    wide_t z_least = ratio_ceil(a.k, by_y), y_least = ratio_ceil(a.k, z_least);
    return explain_by(l, why, lower_side(y), y_least, t) && explain_by(l, why, lower_side(z), z_least, t);
  }
  wide_t most = -(wide_t)a.k, y_most = -(wide_t)held(l, upper_side(y), t), z_most = -(wide_t)held(l, upper_side(z), t);
  if (most < 0) return false;
  if (y_most == 0) return explain_by(l, why, upper_side(y), 0, t);
  if (z_most == 0) return explain_by(l, why, upper_side(z), 0, t);
  if (y_most * z_most > most) return false;
  z_most = most / y_most;
  y_most = z_most ? most / z_most : y_most;
  return explain_by(l, why, upper_side(y), -y_most, t) && explain_by(l, why, upper_side(z), -z_most, t);
}

// A factor of x = factor * other, where neither is negative.
DEVICE bool explain_factor(const Learner& l, Premises& why, i32 x, i32 other, Literal a, i32 t) {
  if (!is_upper(a.side)) {  // (k - 1) * other < x
    wide_t least = held(l, lower_side(x), t), most = -(wide_t)held(l, upper_side(other), t);
    if (a.k < 1 || least < 1 || ((wide_t)a.k - 1) * most >= least) return false;
    if (a.k == 1) return explain_by(l, why, lower_side(x), 1, t);
    most = (least - 1) / ((wide_t)a.k - 1);
    return explain_by(l, why, upper_side(other), -most, t) &&
           explain_by(l, why, lower_side(x), ((wide_t)a.k - 1) * most + 1, t);
  }
  wide_t above = 1 - (wide_t)a.k, least = held(l, lower_side(other), t), most = -(wide_t)held(l, upper_side(x), t);
  if (above < 1 || least < 1 || above * least <= most) return false;  // above * other > x
  least = maximum(most, (wide_t)0) / above + 1;
  return explain_by(l, why, lower_side(other), least, t) && explain_by(l, why, upper_side(x), 1 - above * least, t);
}

// x = y * z: constant or Boolean factors, and factors that are never negative.
DEVICE bool explain_mul(const Learner& l, Premises& why, Row r, Literal a, i32 t) {
  i32 y = r.y, z = r.z, var = var_of(a.side);
  if (is_fixed_at_root(l, y) || (is_boolean_at_root(l, z) && !is_fixed_at_root(l, z))) {
    y = r.z;
    z = r.y;
  }
  if (is_fixed_at_root(l, z)) return var != z && explain_multiple(l, why, r.x, y, sides(l).root[lower_side(z)], a, t);
  if (is_boolean_at_root(l, y)) return explain_gate(l, why, r.x, y, z, a, t);
  if (sides(l).root[lower_side(y)] < 0 || sides(l).root[lower_side(z)] < 0) return false;
  if (var == r.x) return explain_area(l, why, y, z, a, t);
  return explain_factor(l, why, r.x, var == y ? z : y, a, t);
}

// The condition on an entry in an explanation of x = table[y]: x cannot have it, or it reaches the threshold.
struct Entries {
  const bound_t* table;
  value_t least, most;  // the bounds of x
  i32 of_x, upper;
  bound_t k;
};

DEVICE bool is_beyond(const Entries& e, bound_t value) { return value < e.least || value > e.most; }
DEVICE bool gives_threshold(const Entries& e, bound_t value) {
  return e.of_x && (e.upper ? -(value_t)value >= e.k : value >= e.k);
}
DEVICE bool is_harmless(const Entries& e, bound_t value) { return is_beyond(e, value) || gives_threshold(e, value); }

// Adds premises on x, lowered to the nearest excluded entries of first..last.
DEVICE void explain_excluded(const Learner& l, Premises& why, i32 x, const Entries& e, bound_t first, bound_t last) {
  ASSERT(sides(l).root[lower_side(x)] <= e.least && e.most <= -(value_t)sides(l).root[upper_side(x)]);
  value_t below = -BEYOND, above = BEYOND;
  for (bound_t i = first; i <= last; ++i) {
    bound_t value = e.table[i];
    if (gives_threshold(e, value)) continue;
    if (value < e.least) below = maximum(below, (value_t)value);
    else above = minimum(above, (value_t)value);
  }
  if (is_left_out(WITHOUT_LIFTING)) {
    if (below > -BEYOND) below = e.least - 1;
    if (above < BEYOND) above = e.most + 1;
  }
  if (below > -BEYOND) add_premise(l, why, literal(lower_side(x), (bound_t)(below + 1)));
  if (above < BEYOND) add_premise(l, why, literal(upper_side(x), (bound_t)(1 - above)));
}

// x = table[y]: all entries in the range of y are harmless; the range is widened towards the root while they are.
DEVICE bool explain_element(const Learner& l, Premises& why, Row r, Literal a, i32 t) {
  bool of_x = var_of(a.side) == r.x, upper = is_upper(a.side);
  value_t least = held(l, lower_side(r.x), t), most = -(value_t)held(l, upper_side(r.x), t);
  Entries e = {problem(l)->tables + r.z, least, most, of_x, upper, a.k};
  bound_t root_first = sides(l).root[lower_side(r.y)], root_last = -sides(l).root[upper_side(r.y)];
  value_t first = held(l, lower_side(r.y), t), last = -(value_t)held(l, upper_side(r.y), t);
  if (!of_x && !upper) last = minimum((value_t)root_last, (value_t)a.k - 1);
  if (!of_x && upper) first = maximum((value_t)root_first, 1 - (value_t)a.k);
  ASSERT(root_first <= first && last <= root_last);
  for (value_t i = first; i <= last; ++i) {
    if (!is_harmless(e, e.table[i])) return false;
  }
  bool from_first = of_x || !upper, to_last = of_x || upper;
  if (!is_left_out(WITHOUT_LIFTING)) {
    while (from_first && first > root_first && is_harmless(e, e.table[first - 1])) --first;
    while (to_last && last < root_last && is_harmless(e, e.table[last + 1])) ++last;
  }
  explain_excluded(l, why, r.x, e, (bound_t)first, (bound_t)last);
  if (from_first) add_premise(l, why, literal(lower_side(r.y), (bound_t)first));
  if (to_last) add_premise(l, why, literal(upper_side(r.y), (bound_t)-last));
  return true;
}
