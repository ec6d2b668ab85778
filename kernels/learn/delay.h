// Wide rows that wait: what costs much and finds nothing runs less often.
//
// A row whose constraint other rows say as well may be left out at any time. Where a run found nothing, 1, 3, 7, up to
// LONGEST_DELAY of the next ones are left out, except at level 0.
#pragma once

#include "../core/interval.h"
#include "parts.h"
#include "trail.h"
#include "wide.h"

constexpr i32 LONGEST_DELAY = 63;
constexpr i32 SHORT_ROW = 64;  // arguments

// How many runs of a wide row are left out, and how many of these are left.
struct Delay { i32 length, left; };
struct Delays { Delay* of_wide; };

PART(Delays, delays);

DEVICE i64 delays_bytes(const Problem* p) { return p->n_wides * (i64)sizeof(Delay); }

DEVICE void take_memory(Delays& s, const Problem* p, Room& room) { s.of_wide = take<Delay>(room, p->n_wides); }

// A short all_different costs no more than the rows that wake it.
DEVICE bool may_wait(const Wide& r) {
  return r.kind == WIDE_ENERGY || (r.kind == WIDE_ALL_DIFFERENT && n_arguments(r) > SHORT_ROW);
}

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
