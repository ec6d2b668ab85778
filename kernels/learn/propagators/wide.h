// Wide rows: constraints that reason as a whole, beside the ternary rows that say the same (turbo_fzn/tnf/wide.py).
//
// A wide row is a kind and a list of variables. It has no state: it reads the sides, and its reasons, asked for later,
// are found anew from what held before the entry (lazy explanation, see trail.h). Each kind has a header of its own:
// one function that propagates, one that explains. This one has what they share: numbers in order, and the sets of
// segments that their boundaries make.
#pragma once

#include "../../core/assert.h"
#include "../../core/interval.h"
#include "../../core/room.h"
#include "../state/parts.h"

DEVICE const Wide& wide_at(const Problem* p, i32 row) {
  ASSERT(is_wide(p, row));
  return p->wides[row - p->n_rows - p->n_linears];
}
DEVICE const i32* arguments_of(const Problem* p, const Wide& r) { return p->wide_arguments + r.start; }
DEVICE i32 n_arguments(const Wide& r) { return r.end - r.start; }

// Memory that a row uses while it runs, or explains: PLACES and NUMBERS of each for an argument.
struct Scratch {
  i32* places;
  wide_t* numbers;
};

PART(Scratch, scratch);

constexpr i32 PLACES = 8, NUMBERS = 4;

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
