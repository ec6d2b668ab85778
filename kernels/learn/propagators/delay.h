// Wide rows that wait: what costs much and finds nothing runs less often.
//
// A row whose constraint other rows say as well may be left out at any time. Where a run found nothing, 1, 3, 7, up to
// LONGEST_DELAY of the next ones are left out, except at level 0.
//
// What a row finds wakes it, too, unless its run is known to have said all that another one would.
#pragma once

#include "../../core/interval.h"
#include "../../core/room.h"
#include "../state/literal.h"
#include "../state/parts.h"
#include "../state/sides.h"
#include "../state/trail.h"
#include "../tuning.h"
#include "wide.h"

enum Names : i32 { NAMES_UNKNOWN, NAMES_ONCE, NAMES_TWICE };

// How many runs of a wide row are left out, and how many of these are left; whether its last run has said all; whether
// it names a variable that is no constant twice.
struct Delay {
  i32 length, left, has_said_all;
  Names names;
};
struct Delays { Delay* of_wide; };

PART(Delays, delays);

DEVICE i64 delays_bytes(const Problem* p) { return p->n_wides * (i64)sizeof(Delay); }

DEVICE void take_memory(Delays& s, const Problem* p, Room& room) { s.of_wide = take<Delay>(room, p->n_wides); }

DEVICE Delay& delay_of(Learner& l, i32 row) {
  return delays(l).of_wide[row - problem(l)->n_rows - problem(l)->n_linears];
}

// Whether this run of the row is left out.
DEVICE bool waits(Learner& l, i32 row) {
  Delay& delay = delay_of(l, row);
  if (trail(l).level == 0 || delay.left == 0) return false;
  --delay.left;
  return true;
}

// How many runs are left out after one that has found something or not.
DEVICE i32 next_delay(i32 last, bool found) { return found ? 0 : minimum(2 * last + 1, LONGEST_DELAY); }

DEVICE void note_run(Learner& l, i32 row, bool found) {
  Delay& delay = delay_of(l, row);
  delay.left = delay.length = next_delay(delay.length, found);
}

// Whether the last run of a wide row said all that another one would.
DEVICE bool has_said_all(const Learner& l, i32 row) {
  i32 wide = row - problem(l)->n_rows - problem(l)->n_linears;
  return is_wide(problem(l), row) && delays(l).of_wide[wide].has_said_all;
}

// Whether a variable that is no constant stands at two places of the row.
DEVICE bool names_twice(Learner& l, i32 row) {
  Delay& delay = delay_of(l, row);
  if (delay.names == NAMES_UNKNOWN) {
    const Wide& r = wide_at(problem(l), row);
    wide_t* numbers = scratch(l).numbers;
    i32 count = 0;
    for (i32 i = 0; i < n_arguments(r); ++i) {
      i32 v = arguments_of(problem(l), r)[i];
      if (-(value_t)sides(l).root[upper_side(v)] > sides(l).root[lower_side(v)]) numbers[count++] = v;
    }
    delay.names = sort_distinct(numbers, count) < count ? NAMES_TWICE : NAMES_ONCE;
  }
  return delay.names == NAMES_TWICE;
}
