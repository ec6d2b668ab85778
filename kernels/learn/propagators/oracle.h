// The generic explanation: finds the bounds that an operator's interval function does not need.
//
// At most six sides are involved. One after the other, the latest first, is lowered to its root value; where the
// function then no longer reaches the threshold, bisection finds the least value with which it does. This is deletion
// filtering, as for minimal unsatisfiable sets (Chinneck, Dravnieks, ORSA J. Computing 1991), on one row.
//
// It is correct for every operator that is monotone and tightens in one run, and 1.1 to 1.7 times as costly as the
// rules of rules.h, which it checks in debug builds.
#pragma once

#include "../../core/assert.h"
#include "../../core/interval.h"
#include "../../core/propagate.h"
#include "../state/literal.h"
#include "../state/parts.h"
#include "../state/sides.h"
#include "../state/trail.h"
#include "../tuning.h"

constexpr i32 MOST_PREMISES = 7;  // formula: of a ternary row: six sides, and in a conflict the literal contradicted

// `room` is the number of literals that fit.
struct Premises {
  Literal* literals;
  i32 count, room;
};

// Adds a premise, unless it holds at the root.
DEVICE void add_premise(const Learner& l, Premises& why, Literal a) {
  ASSERT(is_side(l, a.side) && 0 <= why.count && why.count < why.room);
  if (a.k > sides(l).root[a.side]) why.literals[why.count++] = a;
}

DEVICE Interval premise_interval(const Learner& l, const Premises& why, i32 var) {
  Interval v = {sides(l).root[lower_side(var)], minus(sides(l).root[upper_side(var)])};
  for (i32 i = 0; i < why.count; ++i) {
    if (why.literals[i].side == lower_side(var)) v.l = why.literals[i].k;
    if (why.literals[i].side == upper_side(var)) v.u = minus(why.literals[i].k);
  }
  return v;
}

DEVICE bool reaches(Interval v, bool upper, bound_t k) { return upper ? -v.u >= k : v.l >= k; }

// Runs the operator on the intervals of x, y and z.
OUTLINE void run_operator(const Learner& l, Row r, Interval* v) { propagate_operator(block(l), r, v[0], v[1], v[2]); }

// Whether the row, run once from the root bounds and the premises, implies `a` or fails.
OUTLINE bool is_implied(const Learner& l, Row r, const Premises& why, Literal a) {
  const i32 vars[3] = {r.x, r.y, third_var(r)};
  Interval v[3];
  for (i32 i = 0; i < 3; ++i) {
    v[i] = premise_interval(l, why, vars[i]);
    if (is_empty(v[i])) return true;
  }
  run_operator(l, r, v);
  for (i32 i = 0; i < 3; ++i) {
    if (is_empty(v[i])) return true;
    if (vars[i] == var_of(a.side) && reaches(v[i], is_upper(a.side), a.k)) return true;
  }
  return false;
}

// The sides of the row's variables as they were before t, the latest first.
DEVICE void collect_sides(const Learner& l, Row r, i32 t, Premises& why) {
  const i32 vars[3] = {r.x, r.y, third_var(r)};
  i32 since[MOST_PREMISES];
  why.count = 0;
  for (i32 i = 0; i < 6; ++i) {
    i32 side = 2 * vars[i >> 1] + (i & 1);
    bool twice = false;
    for (i32 j = 0; j < why.count; ++j) twice = twice || why.literals[j].side == side;
    i32 entry = twice ? -1 : entry_before(l, side, t);
    if (entry < 0) continue;
    i32 place = why.count++;
    for (; place > 0 && since[place - 1] < entry; --place) {
      since[place] = since[place - 1];
      why.literals[place] = why.literals[place - 1];
    }
    since[place] = entry;
    why.literals[place] = literal(side, trail(l).entries[entry].now);
  }
}

// Lowers premise i to the least sufficient threshold that a few bisections find; the root's is not sufficient.
DEVICE void lower_premise(const Learner& l, Row r, Literal a, Premises& why, i32 i) {
  ASSERT(0 <= i && i < why.count && is_implied(l, r, why, a));
  bound_t enough = why.literals[i].k;
  wide_t too_little = sides(l).root[why.literals[i].side];
  for (i32 tries = 0; tries < BISECTIONS && enough - too_little > 1; ++tries) {
    wide_t middle = too_little + (enough - too_little) / 2;
    why.literals[i].k = (bound_t)middle;
    if (is_implied(l, r, why, a)) enough = (bound_t)middle;
    else too_little = middle;
  }
  why.literals[i].k = enough;
}

// The reason by which the row made `a` true, from the sides before t.
OUTLINE void explain_by_oracle(const Learner& l, Row r, Literal a, i32 t, Premises& why) {
  collect_sides(l, r, t, why);
  if (!is_implied(l, r, why, a)) return;  // the row took several runs: all its sides are the reason
  for (i32 i = 0; i < why.count;) {
    Literal whole = why.literals[i];
    why.literals[i].k = sides(l).root[whole.side];
    if (is_implied(l, r, why, a)) {
      for (i32 j = i + 1; j < why.count; ++j) why.literals[j - 1] = why.literals[j];
      --why.count;
      continue;
    }
    why.literals[i] = whole;
    lower_premise(l, r, a, why, i++);
  }
}
