// Wide rows: constraints that reason as a whole, beside the ternary rows that say the same (turbo_fzn/tnf/wide.py).
//
// A wide row is a kind and a list of variables. It has no state that a return to a level would have to restore: it
// reads the sides (time_table.h compares what it keeps with them), and its reasons, asked for later, are found anew
// from what held before the entry (lazy explanation, see trail.h). Each kind has a header of its own with all of it:
// propagation, explanation, cost, and the check of debug builds. It ends with a struct of the kind's name, derived
// from WideRow. This header has what the kinds share: the defaults of that struct, numbers in order, and the sets of
// segments that their boundaries make.
#pragma once

#include "../../core/assert.h"
#include "../../core/interval.h"
#include "../../core/room.h"
#include "../state/literal.h"
#include "../state/parts.h"
#include "../state/sides.h"
#include "../state/trail.h"
#include "../tuning.h"
#include "priority.h"

DEVICE const Wide& wide_at(const Problem* p, i32 row) {
  ASSERT(is_wide(p, row));
  return p->wides[row - p->n_rows - p->n_linears];
}
DEVICE const i32* arguments_of(const Problem* p, const Wide& r) { return p->wide_arguments + r.start; }
DEVICE i32 n_arguments(const Wide& r) { return r.end - r.start; }

// The value of an argument that is a constant.
DEVICE i32 number_in(const Learner& l, i32 constant) { return (i32)sides(l).root[lower_side(constant)]; }

// Whether the side had reached k before entry t of the trail, or has now.
constexpr i32 NOW = INT32_MAX;
DEVICE bool was_reached(const Learner& l, i32 side, bound_t k, i32 t) {
  return sides(l).now[side] >= k && (t == NOW || held(l, side, t) >= k);
}

// A kind of wide row, as wide_rows.h calls it. A kind has besides
//   run(l, row): propagates; false on a conflict
//   reason(l, row, a, t, why): the premises of `a`, which became true at entry t; false where there are none
//   allows(l, r, plain): whether the relation may hold between the bounds `plain`, by plain code that shares nothing
//     with `run`; true means that no such reason against it is known (in builds with CHECK_EXPLANATIONS alone)
// and redefines what differs from this.
struct WideRow {
  static constexpr Priority PRIORITY = WHOLE;
  static constexpr bool IS_CHOOSY = false;  // whether it is asked before a change wakes it
  // Whether it may have something to say after a change of its argument at the place, its only one of the variable.
  DEVICE bool concerns(const Learner&, i32, i32) { return true; }
  DEVICE i64 runs(i64 n) { return n / ARGUMENTS_A_RUN; }  // the work of a run, in runs of a ternary row
  DEVICE bool is_costly(const Wide&) { return false; }    // so that it waits where it finds nothing (delay.h)
#ifdef CHECK_EXPLANATIONS
  // Whether a run moves this side of an argument.
  static bool moves(i32, bool) { return true; }
  // Moves what the row refutes in a way of its own, where `moves` says nothing.
  static void shave(const Learner&, const Wide&, bound_t*, bool*) {}
  // Whether the row has no place for an edge or a task where the literal says.
  static bool refutes_place(const Learner&, const Wide&, bound_t*, Literal) { return false; }
  // Whether a run finds all that `allows` does.
  static bool is_exact(const Learner&, const Wide&) { return true; }
#endif
};

// Memory that a row uses while it runs, or explains: PLACES and NUMBERS of each for an argument.
struct Scratch {
  i32* places;
  wide_t* numbers;
};

PART(Scratch, scratch);

constexpr i32 PLACES = 8, NUMBERS = 4;  // format: for each argument

DEVICE i64 scratch_places(const Problem* p) { return p->n_wides ? PLACES * ((i64)p->most_arguments + 1) : 0; }
DEVICE i64 scratch_numbers(const Problem* p) { return p->n_wides ? NUMBERS * ((i64)p->most_arguments + 1) : 0; }
DEVICE i64 scratch_bytes(const Problem* p) {
  return scratch_places(p) * (i64)sizeof(i32) + scratch_numbers(p) * (i64)sizeof(wide_t);
}

DEVICE void take_memory(Scratch& s, const Problem* p, Room& room) {
  s.places = take<i32>(room, scratch_places(p));
  s.numbers = take<wide_t>(room, scratch_numbers(p));
}

// Sorts the numbers (Shell, CACM 1959, with Knuth's increments) and leaves each once; how many are left.
DEVICE i32 sort_distinct(wide_t* numbers, i32 n) {
  i32 gap = 1;
  while (gap < n / 3) gap = 3 * gap + 1;
  for (; gap > 0; gap /= 3) {
    for (i32 i = gap; i < n; ++i) {
      wide_t number = numbers[i];
      i32 j = i;
      for (; j >= gap && numbers[j - gap] > number; j -= gap) numbers[j] = numbers[j - gap];
      numbers[j] = number;
    }
  }
  i32 kept = 0;
  for (i32 i = 0; i < n; ++i) {
    if (kept == 0 || numbers[kept - 1] < numbers[i]) numbers[kept++] = numbers[i];
  }
  return kept;
}

// The place of a number among sorted ones, of which it is one.
DEVICE i32 rank_of(const wide_t* numbers, i32 n, wide_t number) {
  i32 from = 0, to = n - 1;
  while (from < to) {
    i32 middle = (from + to) / 2;
    if (numbers[middle] < number) from = middle + 1;
    else to = middle;
  }
  ASSERT(n > 0 && numbers[from] == number);
  return from;
}

// The place of the first of sorted numbers that is above this one; n where there is none.
DEVICE i32 first_above(const wide_t* numbers, i32 n, wide_t number) {
  i32 from = 0, to = n;
  while (from < to) {
    i32 middle = (from + to) / 2;
    if (numbers[middle] > number) to = middle;
    else from = middle + 1;
  }
  return from;
}

// Places 0..n-1 by the `keys` of them, which are less than n_keys; `starts` has room for n_keys + 1.
DEVICE void order_by(const i32* keys, i32 n, i32 n_keys, i32* starts, i32* ordered) {
  for (i32 k = 0; k <= n_keys; ++k) starts[k] = 0;
  for (i32 i = 0; i < n; ++i) ++starts[keys[i] + 1];
  for (i32 k = 0; k < n_keys; ++k) starts[k + 1] += starts[k];
  for (i32 i = 0; i < n; ++i) ordered[starts[keys[i]]++] = i;
}

// Disjoint sets as links to an element of the same set (Galler, Fischer, CACM 1964), where paths are halved: the last
// element behind i.
DEVICE i32 find_last(i32* links, i32 i) {
  while (links[i] != i) {
    links[i] = links[links[i]];
    i = links[i];
  }
  return i;
}
