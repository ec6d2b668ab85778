// Each row by itself explains all that it says of a box inside the root box, one threshold after the other.
#pragma once

#include "learn/learner.h"

#define RECORD_WORDS (5 + 2 * 8)

// Writes records of RECORD_WORDS numbers: row, whether it is a conflict, side, k, number of premises, and their sides
// and thresholds. In a conflict the premises alone cannot be true together.
struct Records {
  i64* words;
  i64 count, capacity;
};

DEVICE void add_record(Records* records, i32 row, bool conflict, Literal a, const Literal* premises, i32 count) {
  if (records->count == records->capacity) return;
  i64* words = records->words + RECORD_WORDS * records->count++;
  words[0] = row;
  words[1] = conflict;
  words[2] = a.side;
  words[3] = a.k;
  words[4] = count;
  for (i32 i = 0; i < count; ++i) {
    words[5 + 2 * i] = premises[i].side;
    words[6 + 2 * i] = premises[i].k;
  }
}

// Runs the row in lower..upper, and asks for each threshold of each side that it changes.
DEVICE void probe_row(Learner& l, i32 row, const bound_t* lower, const bound_t* upper, Records* records) {
  const Row r = problem(l)->rows[row];
  const i32 vars[3] = {r.x, r.y, third_var(r)};
  for (i32 i = 0; i < 3; ++i) {
    if (lower[vars[i]] > sides(l).now[lower_side(vars[i])]) suppose(l, literal(lower_side(vars[i]), lower[vars[i]]));
    if (-upper[vars[i]] > sides(l).now[upper_side(vars[i])]) suppose(l, literal(upper_side(vars[i]), -upper[vars[i]]));
  }
  if (trail(l).level == 0) suppose(l, literal(lower_side(vars[0]), sides(l).now[lower_side(vars[0])]));
  i32 first = trail(l).size;
  trail(l).outcome = CONSISTENT;
  if (!run_row(l, row)) {
    Reason why;
    get_conflict(l, why);
    add_record(records, row, true, literal(0, 0), why.own.literals, why.count);
  }
  for (i32 t = first; t < trail(l).size; ++t) {
    Entry e = trail(l).entries[t];
    for (bound_t k = e.was + 1; k <= e.now; ++k) {
      Reason why;
      explain(l, e.reason, literal(e.side, k), t, why);
      add_record(records, row, false, literal(e.side, k), why.own.literals, why.count);
    }
  }
  backtrack(l, 0);
  empty_queue(l);
}
