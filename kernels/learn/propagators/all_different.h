// all_different as a whole: intervals of values that are taken.
//
// Where as many variables must lie in an interval as it has values, all others are outside of it (Hall, 1935). A row
// raises each lower end out of such intervals, which gives bounds consistency (Puget, AAAI 1998; Lopez-Ortiz, Quimper,
// Tromp, van Beek, IJCAI 2003). With the opposite sides the same code lowers the upper ends: `flip` says which.
//
// The ends of the variables cut the values into segments. Variables are placed by their upper ends, the nearest first,
// each on the least value that is left for it. Where no value up to its end is left there are too many of them. When a
// variable was placed, a run of full segments up to its end is an interval that is taken: none of those in it can be
// less than its beginning, or they would have been placed there, and none of those placed so far ends behind it. What
// ends behind it but begins in it, begins behind it.
//
// The reason for x >= k is one interval that has k - 1 in it, the variables that must lie in it, and that x does not
// begin before it.
#pragma once

#include "../../core/assert.h"
#include "../../core/interval.h"
#include "../state/literal.h"
#include "oracle.h"
#include "../state/parts.h"
#include "../state/sides.h"
#include "../state/trail.h"
#include "../tuning.h"
#include "wide.h"

// The segments between the ends of n variables, and what is left in them.
struct Segments {
  wide_t* from;  // where each begins, in order
  wide_t* room;  // values that nobody was placed on
  i32* open;     // links to the first segment with room at or behind each
  i32* full;     // of a run of full segments, links to the first one
  i32* taken;    // links to the end of the taken interval that a segment is in
  i32 count;
};

DEVICE wide_t least_of(const Learner& l, i32 side) { return sides(l).now[side]; }
DEVICE wide_t most_of(const Learner& l, i32 side) { return -(wide_t)sides(l).now[opposite(side)]; }

DEVICE Segments segments_of(const Learner& l, const i32* x, i32 n, i32 flip) {
  const Scratch& memory = scratch(l);
  Segments s = {memory.numbers, memory.numbers + 2 * n, memory.places, memory.places + 2 * n, memory.places + 4 * n, 0};
  for (i32 i = 0; i < n; ++i) {
    s.from[2 * i] = least_of(l, 2 * x[i] + flip);
    s.from[2 * i + 1] = most_of(l, 2 * x[i] + flip) + 1;
  }
  s.count = sort_distinct(s.from, 2 * n);
  return s;
}

// Nobody has a place. There is none behind the last end.
DEVICE void clear(Segments& s) {
  for (i32 k = 0; k < s.count; ++k) {
    s.room[k] = k + 1 < s.count ? s.from[k + 1] - s.from[k] : 1;
    s.open[k] = s.full[k] = s.taken[k] = k;
  }
}

// Places a variable that begins with segment `first` and ends before segment `end`. False when there is no value left.
DEVICE bool place(Segments& s, i32 first, i32 end) {
  i32 k = find_last(s.open, first);
  if (k >= end) return false;
  if (--s.room[k] == 0) s.open[k] = k + 1;
  return true;
}

// Takes the run of full segments before `end`.
DEVICE void take_run(Segments& s, i32 end) {
  if (s.room[end - 1] > 0) return;
  i32 k = end - 1;
  while (s.full[k] > 0 && s.room[s.full[k] - 1] == 0) s.full[k] = s.full[s.full[k] - 1];
  for (i32 i = s.full[k]; i < end;) {
    i32 behind = maximum(find_last(s.taken, i), i + 1);
    s.taken[i] = end;
    i = behind;
  }
}

// Lower ends of variables leave the intervals that are taken. False on a fault.
DEVICE bool leave_taken(Learner& l, i32 row, i32 flip) {
  const Wide& r = wide_at(problem(l), row);
  const i32* x = arguments_of(problem(l), r);
  i32 n = n_arguments(r);
  Segments s = segments_of(l, x, n, flip);
  i32* ends = scratch(l).places + 6 * n;
  i32* order = ends + n;
  for (i32 i = 0; i < n; ++i) ends[i] = rank_of(s.from, s.count, most_of(l, 2 * x[i] + flip) + 1);
  order_by(ends, n, s.count, s.full, order);
  clear(s);
  for (i32 i = 0; i < n; ++i) {
    i32 side = 2 * x[order[i]] + flip, end = ends[order[i]];
    wide_t least = least_of(l, side);
    i32 first = rank_of(s.from, s.count, least);
    if (!place(s, first, end)) return set_side(l, side, (value_t)s.from[end], row_reason(row));
    wide_t now = s.from[find_last(s.taken, first)];
    take_run(s, end);
    if (now > least && !set_side(l, side, (value_t)now, row_reason(row))) return false;
  }
  return true;
}

OUTLINE bool run_all_different(Learner& l, i32 row) { return leave_taken(l, row, 0) && leave_taken(l, row, 1); }

// ---- explanations

// What the others were before entry t, in order of their ends.
struct Others {
  wide_t* low;
  wide_t* high;
  i32* x;
  i32 count;
};

DEVICE Others others_of(const Learner& l, const Wide& r, i32 own, i32 flip, i32 t) {
  const i32* x = arguments_of(problem(l), r);
  i32 n = n_arguments(r);
  Others s = {scratch(l).numbers, scratch(l).numbers + n, scratch(l).places, 0};
  for (i32 i = 0; i < n; ++i) {
    if (i == own) continue;
    wide_t low = held(l, 2 * x[i] + flip, t), high = -(wide_t)held(l, 2 * x[i] + 1 - flip, t);
    i32 j = s.count++;
    for (; j > 0 && s.high[j - 1] > high; --j) {
      s.low[j] = s.low[j - 1];
      s.high[j] = s.high[j - 1];
      s.x[j] = s.x[j - 1];
    }
    s.low[j] = low;
    s.high[j] = high;
    s.x[j] = x[i];
  }
  return s;
}

// The end of an interval from `from` on that has k - 1 in it and that the others fill; k - 2 if there is none.
DEVICE wide_t end_of_taken(const Others& s, wide_t from, wide_t k) {
  i32 inside = 0;
  for (i32 i = 0; i < s.count; ++i) {
    inside += s.low[i] >= from;
    wide_t end = maximum(s.high[i], k - 1);
    if (inside > end - from) return end;
  }
  return k - 2;
}

// The greatest beginning below `before` of the others; `before` itself if there is none.
DEVICE wide_t beginning_below(const Others& s, wide_t before) {
  wide_t found = before;
  for (i32 i = 0; i < s.count; ++i) {
    if (s.low[i] < before && (found == before || s.low[i] > found)) found = s.low[i];
  }
  return found;
}

// As many of the others that lie in from..end as fill it.
DEVICE void add_inside(const Learner& l, const Others& s, i32 flip, wide_t from, wide_t end, Premises& why) {
  wide_t missing = end - from + 1;
  for (i32 i = 0; i < s.count && missing > 0; ++i) {
    if (s.low[i] < from || s.high[i] > end) continue;
    add_premise(l, why, literal(2 * s.x[i] + flip, (bound_t)from));
    add_premise(l, why, literal(2 * s.x[i] + 1 - flip, (bound_t)-end));
    --missing;
  }
  ASSERT(missing == 0);
}

OUTLINE bool explain_all_different(const Learner& l, i32 row, Literal a, i32 t, Premises& why) {
  const Wide& r = wide_at(problem(l), row);
  i32 flip = is_upper(a.side), own = 0;
  while (arguments_of(problem(l), r)[own] != var_of(a.side)) ++own;
  Others s = others_of(l, r, own, flip, t);
  wide_t from = (wide_t)held(l, a.side, t) + 1, end = (wide_t)a.k - 2;
  while (end < (wide_t)a.k - 1) {
    wide_t next = beginning_below(s, from);
    if (next == from) return false;
    from = next;
    end = end_of_taken(s, from, a.k);
  }
  add_premise(l, why, literal(a.side, (bound_t)from));
  add_inside(l, s, flip, from, end, why);
  return true;
}

#ifdef CHECK_EXPLANATIONS
// The check of debug builds, which shares nothing with the propagation above.

// Whether the variables can take different values: each value goes to one that may have it and has to take one first.
static bool may_differ(const Learner& l, const Wide& r, const bound_t* plain) {
  const i32* x = arguments_of(problem(l), r);
  i32 n = n_arguments(r), n_placed = 0;
  bool* placed = new bool[(u64)n]();
  __int128 value = -INFINITE_BOUND;
  bool good = true;
  while (good && n_placed < n) {
    i32 best = -1;
    __int128 next = INFINITE_BOUND;
    for (i32 i = 0; i < n; ++i) {
      if (placed[i]) continue;
      next = minimum(next, maximum((__int128)plain[lower_side(x[i])], value));
      bool may_take = plain[lower_side(x[i])] <= value;
      if (may_take && (best < 0 || plain[upper_side(x[i])] > plain[upper_side(x[best])])) best = i;
    }
    if (best < 0) {
      value = next;
      continue;
    }
    good = value <= -(__int128)plain[upper_side(x[best])];
    placed[best] = true;
    ++n_placed;
    ++value;
  }
  delete[] placed;
  return good;
}
#endif

struct AllDifferent : WideRow {
  // A short one costs no more than the rows that wake it.
  DEVICE bool is_costly(const Wide& r) { return n_arguments(r) > SHORT_ROW; }
  DEVICE bool run(Learner& l, i32 row) { return run_all_different(l, row); }
  DEVICE bool reason(const Learner& l, i32 row, Literal a, i32 t, Premises& why) {
    return explain_all_different(l, row, a, t, why);
  }
#ifdef CHECK_EXPLANATIONS
  static bool allows(const Learner& l, const Wide& r, const bound_t* plain) { return may_differ(l, r, plain); }
#endif
};
