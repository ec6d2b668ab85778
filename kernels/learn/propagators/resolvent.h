// The resolvent of an analysis: true literals that cannot be true together, at most one for each side.
#pragma once

#include "../../core/assert.h"
#include "../../core/interval.h"
#include "../../core/room.h"
#include "../state/literal.h"
#include "../state/parts.h"
#include "../state/sides.h"

constexpr i32 NEVER_NEEDED = -1;
constexpr i32 NO_MORE_NEEDED = -2;

struct Resolvent {
  bound_t* k;    // for each side: the threshold of its literal
  i32* entry;    // for each side: the trail's entry that reached it, NEVER_NEEDED or NO_MORE_NEEDED
  i32* touched;  // sides that were in the resolvent
  i32 n_touched;
  i32 level;  // of the conflict
  i32 open;   // the number of literals of that level
  bool is_tried;  // it comes from an attempt (vivify.h), so no variable gains by it, and no clause is of use
};

PART(Resolvent, resolvent);

DEVICE i64 resolvent_bytes(const Problem* p) { return n_sides(p) * (i64)(sizeof(bound_t) + 2 * sizeof(i32)); }

DEVICE void take_memory(Resolvent& s, const Problem* p, Room& room) {
  s.k = take<bound_t>(room, n_sides(p));
  s.entry = take<i32>(room, n_sides(p));
  s.touched = take<i32>(room, n_sides(p));
}

DEVICE void clear_resolvent(Learner& l) {
  for (i32 side = 0; side < n_sides(problem(l)); ++side) resolvent(l).entry[side] = NEVER_NEEDED;
}

// Whether the resolvent has the side with a threshold of k or above.
DEVICE bool is_needed(const Learner& l, i32 side, wide_t k) {
  ASSERT(is_side(l, side));
  return resolvent(l).entry[side] >= 0 && resolvent(l).k[side] >= k;
}
