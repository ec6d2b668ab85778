// element as a whole: the result is one of the members that are still possible.
//
// A member is out when its truth is false. The result lies in the hull of those that are not, a truth is false when its
// member and the result have no value in common, and the member whose truth is true is the result. With the opposite
// sides the code for lower ends does upper ends: `flip` says which. The rows t = (index = v) do the rest: what the
// index's bounds exclude has a false truth.
//
// The reason for result >= k is one reason for each member: it is out, or at least k. Where the index's bounds exclude
// members, one threshold of the index stands for all of these; else the member's truth or its bound is named, whichever
// came first. All of this is lazy clause generation of the implications t -> (result = member) and of the disjunction
// over them (Ohrimenko, Stuckey, Codish, Constraints 2009), without the variables of the equations.
#pragma once

#include "../../core/interval.h"
#include "../state/literal.h"
#include "oracle.h"
#include "../state/parts.h"
#include "../state/sides.h"
#include "../state/trail.h"
#include "wide.h"

// The variables of a row: the result and the index, whose first value is that of a constant; truth and member of each.
struct Choices {
  i32 result, index, first;
  const i32* groups;
  i32 count;
};

DEVICE Choices choices_of(const Learner& l, i32 row) {
  const Wide& r = wide_at(problem(l), row);
  const i32* arguments = arguments_of(problem(l), r);
  Choices choices = {arguments[0], arguments[1], arguments[2], arguments + 3, (n_arguments(r) - 3) / 2};
  return choices;
}

DEVICE i32 truth_of(const Choices& c, i32 i) { return c.groups[2 * i]; }
DEVICE i32 member_of(const Choices& c, i32 i) { return c.groups[2 * i + 1]; }
DEVICE i32 side_of_result(const Choices& c, i32 flip) { return 2 * c.result + flip; }
DEVICE i32 side_of_member(const Choices& c, i32 i, i32 flip) { return 2 * member_of(c, i) + flip; }

// Both ends of the member and of the result are the same. False on a fault.
DEVICE bool unite(Learner& l, i32 row, const Choices& c, i32 i) {
  for (i32 flip = 0; flip < 2; ++flip) {
    i32 result = side_of_result(c, flip), member = side_of_member(c, i, flip);
    if (!set_side(l, result, sides(l).now[member], row_reason(row))) return false;
    if (!set_side(l, member, sides(l).now[result], row_reason(row))) return false;
  }
  return true;
}

// Members that have no value in common with the result are out. False on a fault.
DEVICE bool refute_members(Learner& l, i32 row, const Choices& c) {
  const bound_t* now = sides(l).now;
  wide_t low = now[lower_side(c.result)], high = -(wide_t)now[upper_side(c.result)];
  for (i32 i = 0; i < c.count; ++i) {
    if (now[upper_side(truth_of(c, i))] >= 0) continue;
    bool meets = now[lower_side(member_of(c, i))] <= high && -(wide_t)now[upper_side(member_of(c, i))] >= low;
    if (!meets && !set_side(l, upper_side(truth_of(c, i)), 0, row_reason(row))) return false;
  }
  return true;
}

// The result is not below all of the members that are left. False on a fault.
DEVICE bool raise_result(Learner& l, i32 row, const Choices& c, i32 flip) {
  const bound_t* now = sides(l).now;
  i32 result = side_of_result(c, flip);
  value_t least = 1 - (value_t)now[opposite(result)];
  for (i32 i = 0; i < c.count && least > now[result]; ++i) {
    if (now[upper_side(truth_of(c, i))] < 0) least = minimum(least, (value_t)now[side_of_member(c, i, flip)]);
  }
  return set_side(l, result, least, row_reason(row));
}

OUTLINE bool run_element(Learner& l, i32 row) {
  Choices c = choices_of(l, row);
  for (i32 i = 0; i < c.count; ++i) {
    if (sides(l).now[lower_side(truth_of(c, i))] >= 1) return unite(l, row, c, i);
  }
  return refute_members(l, row, c) && raise_result(l, row, c, 0) && raise_result(l, row, c, 1);
}

// ---- explanations

// Whether member i is out, or `a.k` at least, for ever.
DEVICE bool needs_no_reason(const Learner& l, const Choices& c, i32 i, Literal member) {
  return sides(l).root[upper_side(truth_of(c, i))] >= 0 || sides(l).root[member.side] >= member.k;
}

// Why member i is out, or is what the literal says: whichever came first. False if neither was before entry t.
DEVICE bool add_member(const Learner& l, const Choices& c, i32 i, Literal member, i32 t, Premises& why) {
  Literal out = literal(upper_side(truth_of(c, i)), 0);
  bool was_out = held(l, out.side, t) >= 0, was_beyond = held(l, member.side, t) >= member.k;
  if (!was_out && !was_beyond) return false;
  bool by_truth = was_out && (!was_beyond || entry_of(l, out, t) < entry_of(l, member, t));
  add_premise(l, why, by_truth ? out : member);
  return true;
}

// The result reaches the threshold, since all members do that were possible.
DEVICE bool explain_by_all(const Learner& l, const Choices& c, Literal a, i32 t, Premises& why) {
  i32 flip = is_upper(a.side);
  wide_t first = sides(l).now[lower_side(c.first)];
  wide_t from = held(l, lower_side(c.index), t), to = -(wide_t)held(l, upper_side(c.index), t);
  wide_t begin = first, end = first + c.count - 1;
  for (i32 i = 0; i < c.count; ++i) {
    Literal member = literal(side_of_member(c, i, flip), a.k);
    if (needs_no_reason(l, c, i, member)) continue;
    if (first + i < from) begin = first + i + 1;
    else if (first + i > to) end = minimum(end, first + i - 1);
    else if (!add_member(l, c, i, member, t, why)) return false;
  }
  add_premise(l, why, literal(lower_side(c.index), (bound_t)begin));
  add_premise(l, why, literal(upper_side(c.index), (bound_t)-end));
  return true;
}

// One of member i and the result reaches the threshold, since the other one does and they are the same.
DEVICE bool explain_by_choice(const Learner& l, const Choices& c, i32 i, i32 other, Literal a, i32 t, Premises& why) {
  i32 truth = lower_side(truth_of(c, i));
  if (held(l, truth, t) < 1 || held(l, other, t) < a.k) return false;
  add_premise(l, why, literal(truth, 1));
  add_premise(l, why, literal(other, a.k));
  return true;
}

// Member i is out: one of it and the result is at least k, the other one at most k - 1.
DEVICE bool explain_apart(const Learner& l, const Choices& c, i32 i, i32 t, Premises& why) {
  for (i32 flip = 0; flip < 2; ++flip) {
    i32 above = side_of_result(c, flip), below = opposite(side_of_member(c, i, flip));
    wide_t least = 1 - (wide_t)held(l, below, t), most = held(l, above, t);
    if (least > most) continue;
    wide_t k = minimum(maximum(least, maximum((wide_t)sides(l).root[above], 1 - (wide_t)sides(l).root[below])), most);
    add_premise(l, why, literal(above, (bound_t)k));
    add_premise(l, why, literal(below, (bound_t)(1 - k)));
    return true;
  }
  return false;
}

OUTLINE bool explain_wide_element(const Learner& l, i32 row, Literal a, i32 t, Premises& why) {
  Choices c = choices_of(l, row);
  i32 flip = is_upper(a.side);
  for (i32 i = 0; i < c.count; ++i) {
    bool is_result = a.side == side_of_result(c, flip), is_member = a.side == side_of_member(c, i, flip);
    if (is_result && explain_by_choice(l, c, i, side_of_member(c, i, flip), a, t, why)) return true;
    if (is_member && explain_by_choice(l, c, i, side_of_result(c, flip), a, t, why)) return true;
    if (a.side == upper_side(truth_of(c, i)) && a.k == 0 && explain_apart(l, c, i, t, why)) return true;
  }
  return a.side == side_of_result(c, flip) && explain_by_all(l, c, a, t, why);
}

#ifdef CHECK_EXPLANATIONS
// The check of debug builds, which shares nothing with the propagation above.

// Whether the member whose truth holds, or else some possible member, can be the result.
static bool may_choose(const Learner& l, const Wide& r, const bound_t* plain) {
  const i32* arguments = arguments_of(problem(l), r);
  i32 result = arguments[0];
  bool any = false;
  for (i32 i = 3; i < n_arguments(r); i += 2) {
    i32 truth = arguments[i], member = arguments[i + 1];
    bool meets = plain[lower_side(result)] <= -(value_t)plain[upper_side(member)] &&
                 plain[lower_side(member)] <= -(value_t)plain[upper_side(result)];
    if (plain[lower_side(truth)] >= 1 && !meets) return false;
    __int128 value = (__int128)plain[lower_side(arguments[2])] + (i - 3) / 2;
    bool is_at = plain[lower_side(arguments[1])] <= value && value <= -(__int128)plain[upper_side(arguments[1])];
    any = any || (meets && is_at && plain[upper_side(truth)] <= -1);
  }
  return any;
}

// Whether two members of an element have one truth.
static bool has_twins(const Learner& l, const Wide& r) {
  const i32* arguments = arguments_of(problem(l), r);
  for (i32 i = 3; i < n_arguments(r); i += 2) {
    for (i32 j = 3; j < i; j += 2) {
      if (arguments[i] == arguments[j] && -sides(l).now[upper_side(arguments[i])] > 0) return true;
    }
  }
  return false;
}
#endif

struct Element : WideRow {
  DEVICE bool run(Learner& l, i32 row) { return run_element(l, row); }
  DEVICE bool reason(const Learner& l, i32 row, Literal a, i32 t, Premises& why) {
    return explain_wide_element(l, row, a, t, why);
  }
#ifdef CHECK_EXPLANATIONS
  static bool allows(const Learner& l, const Wide& r, const bound_t* plain) { return may_choose(l, r, plain); }
  // The last member becomes true by rows of its truth alone, which do not see it where two members share the truth.
  static bool is_exact(const Learner& l, const Wide& r) { return !has_twins(l, r); }
#endif
};
