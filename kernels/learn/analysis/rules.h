// Explanations by rules: few and weak literals, true at that time, from which a row alone implies a threshold of a
// side.
//
// The explanation is of the threshold that is needed, not of the value that the row set. So the premises can be weaker
// than the bounds of that time (lifting; in the literature, generalised or relaxed explanations), and a clause learned
// from them prunes more. A side whose root bound is enough is left out; of two sides, one is lowered to a threshold
// that the resolvent has anyway, or as far as possible.
//
// There is a function for each operator, which gives the cheapest premises; other cases are left to the oracle
// (oracle.h), as are all rows that have a variable twice. -DCHECK_EXPLANATIONS checks each explanation (check.h).
#pragma once

#include "../../core/assert.h"
#include "../../core/interval.h"
#include "../state/ablation.h"
#include "../state/literal.h"
#include "../propagators/oracle.h"
#include "../state/parts.h"
#include "../propagators/resolvent.h"
#include "../state/sides.h"
#include "../state/trail.h"

// Two sides whose sum has to reach k, and the least threshold to which p may be lowered.
struct Sum {
  i32 p, q;
  wide_t k, floor;
};

// Whether to lower p rather than q, when either can give up all the slack.
DEVICE bool prefers_lower_p(const Learner& l, Literal p, Literal q, bound_t p_low, bound_t q_low, i32 t) {
  if (p_low <= sides(l).root[p.side]) return true;
  if (q_low <= sides(l).root[q.side]) return false;
  bool p_free = is_needed(l, p.side, p_low), q_free = is_needed(l, q.side, q_low);
  if (p_free != q_free) {
    if (q_free) return is_needed(l, q.side, q.k);
    return !is_needed(l, p.side, p.k);
  }
  i32 by_p = maximum(entry_of(l, literal(p.side, p_low), t), entry_of(l, q, t));
  i32 by_q = maximum(entry_of(l, p, t), entry_of(l, literal(q.side, q_low), t));
  return by_p != by_q ? by_p < by_q : entry_of(l, p, t) >= entry_of(l, q, t);
}

// Adds premises for p + q >= k from the sides before t. False when they do not imply it.
OUTLINE bool explain_sum(const Learner& l, Premises& why, Sum sum, i32 t) {
  ASSERT(is_side(l, sum.p) && is_side(l, sum.q));
  Literal p = literal(sum.p, held(l, sum.p, t)), q = literal(sum.q, held(l, sum.q, t));
  wide_t slack = (wide_t)p.k + q.k - sum.k;
  if (slack < 0 || p.k < sum.floor) return false;
  if (slack > 0 && !is_left_out(WITHOUT_LIFTING)) {
    wide_t least_p = maximum(maximum((wide_t)p.k - slack, sum.floor), (wide_t)sides(l).root[p.side]);
    wide_t least_q = maximum((wide_t)q.k - slack, (wide_t)sides(l).root[q.side]);
    bound_t p_low = (bound_t)minimum(least_p, (wide_t)p.k), q_low = (bound_t)minimum(least_q, (wide_t)q.k);
    if (prefers_lower_p(l, p, q, p_low, q_low, t)) {
      p.k = p_low;
      q.k = (bound_t)maximum((wide_t)q_low, sum.k - p.k);
    } else {
      q.k = q_low;
      p.k = (bound_t)maximum((wide_t)p_low, sum.k - q.k);
    }
  }
  ASSERT((wide_t)p.k + q.k >= sum.k && p.k >= sum.floor);
  add_premise(l, why, p);
  add_premise(l, why, q);
  return true;
}

DEVICE bool explain_by_sum(const Learner& l, Premises& why, i32 p, i32 q, wide_t k, i32 t) {
  Sum sum = {p, q, k, -BEYOND};
  return explain_sum(l, why, sum, t);
}

// Adds the premise side >= k. False when it was not true before t.
OUTLINE bool explain_by(const Learner& l, Premises& why, i32 side, wide_t k, i32 t) {
  if (held(l, side, t) < k) return false;
  if (k > sides(l).root[side]) add_premise(l, why, literal(side, (bound_t)k));
  return true;
}

// x = y + z
DEVICE bool explain_add(const Learner& l, Premises& why, Row r, Literal a, i32 t) {
  i32 var = var_of(a.side), d = is_upper(a.side);
  if (var == r.x) return explain_by_sum(l, why, 2 * r.y + d, 2 * r.z + d, a.k, t);
  i32 other = var == r.y ? r.z : r.y;
  return explain_by_sum(l, why, 2 * r.x + d, 2 * other + (d ^ 1), a.k, t);
}

// x = min(y, z); with d = 1 for the negated variables, which is max.
DEVICE bool explain_min(const Learner& l, Premises& why, Row r, i32 d, Literal a, i32 t) {
  i32 x = 2 * r.x + d, y = 2 * r.y + d, z = 2 * r.z + d;
  if (a.side == x) return explain_by(l, why, y, a.k, t) && explain_by(l, why, z, a.k, t);
  if (a.side == opposite(x)) {
    Literal by_y = literal(opposite(y), a.k), by_z = literal(opposite(z), a.k);
    bool y_can = held(l, by_y.side, t) >= a.k, z_can = held(l, by_z.side, t) >= a.k;
    if (y_can && z_can) {
      if (is_needed(l, by_y.side, a.k)) z_can = false;
      else if (is_needed(l, by_z.side, a.k)) y_can = false;
      else if (entry_of(l, by_y, t) > entry_of(l, by_z, t)) y_can = false;
    }
    return explain_by(l, why, y_can ? by_y.side : by_z.side, a.k, t);
  }
  if (a.side == y || a.side == z) return explain_by(l, why, x, a.k, t);
  // y <= k since x <= m and z >= m + 1 for an m <= k
  Sum sum = {opposite(x), a.side == opposite(y) ? z : y, 1, a.k};
  return explain_sum(l, why, sum, t);
}

// x = (y <= z)
DEVICE bool explain_leq(const Learner& l, Premises& why, Row r, Literal a, i32 t) {
  i32 d = is_upper(a.side);
  if (var_of(a.side) == r.x) {
    if (a.k != 1 - d) return false;
    if (d) return explain_by_sum(l, why, lower_side(r.y), upper_side(r.z), 1, t);
    return explain_by_sum(l, why, upper_side(r.y), lower_side(r.z), 0, t);
  }
  i32 is_y = var_of(a.side) == r.y, other = is_y ? r.z : r.y;
  if (held(l, lower_side(r.x), t) >= 1) {  // y <= z: y's upper side, z's lower side
    return is_y == d && explain_by(l, why, lower_side(r.x), 1, t) && explain_by(l, why, 2 * other + d, a.k, t);
  }
  return is_y != d && explain_by(l, why, upper_side(r.x), 0, t) &&
         explain_by(l, why, 2 * other + d, (wide_t)a.k - 1, t);
}

// x = (y = z) where x is 0: `a` follows as the side is at least k - 1 and the variable does not have that value.
DEVICE bool explain_unequal(const Learner& l, Premises& why, Row r, Literal a, i32 t) {
  i32 other = 2 * (var_of(a.side) == r.y ? r.z : r.y) + is_upper(a.side);
  bound_t k = a.k - 1;
  return explain_by(l, why, upper_side(r.x), 0, t) && explain_by(l, why, other, k, t) &&
         explain_by(l, why, opposite(other), -(wide_t)k, t) && explain_by(l, why, a.side, k, t);
}

// x = (y = z)
DEVICE bool explain_eq(const Learner& l, Premises& why, Row r, Literal a, i32 t) {
  i32 d = is_upper(a.side), y = lower_side(r.y), z = lower_side(r.z);
  if (var_of(a.side) == r.x) {
    if (a.k != 1 - d) return false;
    if (d) {
      bool above = (wide_t)held(l, y, t) + held(l, opposite(z), t) >= 1;
      return above ? explain_by_sum(l, why, y, opposite(z), 1, t) : explain_by_sum(l, why, z, opposite(y), 1, t);
    }
    wide_t v = held(l, y, t);
    return explain_by(l, why, y, v, t) && explain_by(l, why, z, v, t) && explain_by(l, why, opposite(y), -v, t) &&
           explain_by(l, why, opposite(z), -v, t);
  }
  if (held(l, lower_side(r.x), t) < 1) return explain_unequal(l, why, r, a, t);
  i32 other = var_of(a.side) == r.y ? r.z : r.y;
  return explain_by(l, why, lower_side(r.x), 1, t) && explain_by(l, why, 2 * other + d, a.k, t);
}
