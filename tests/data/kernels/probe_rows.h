// Each row by itself explains all that it says of a box inside the root box, one threshold after the other.
#pragma once

#include "learn/learner.h"

#define RECORD_WORDS (5 + 2 * 20)

// Writes records of RECORD_WORDS numbers: row, what it is, side, k, number of premises, and their sides and thresholds. In
// a conflict the premises alone cannot be true together. A threshold is late where a premise of it became true after it.
enum { RECORD_THRESHOLD, RECORD_CONFLICT, RECORD_LATE };

struct Records {
  i64* words;
  i64 count, capacity;
};

DEVICE void add_record(Records* records, i32 row, i32 what, Literal a, const Literal* premises, i32 count) {
  if (records->count == records->capacity) return;
  i64* words = records->words + RECORD_WORDS * records->count++;
  words[0] = row;
  words[1] = what;
  words[2] = a.side;
  words[3] = a.k;
  words[4] = count;
  for (i32 i = 0; i < count; ++i) {
    words[5 + 2 * i] = premises[i].side;
    words[6 + 2 * i] = premises[i].k;
  }
}

// Variable i of the row, or -1 where it has no more.
DEVICE i32 variable_of(const Problem* p, i32 row, i32 i) {
  if (is_wide(p, row)) {
    const Wide& r = wide_at(p, row);
    return i < n_arguments(r) ? arguments_of(p, r)[i] : -1;
  }
  if (!is_linear(p, row)) {
    const i32 vars[] = {p->rows[row].x, p->rows[row].y, third_var(p->rows[row]), -1};
    return vars[i];
  }
  const Linear& r = linear_at(p, row);
  if (i == r.end - r.start) return r.truth;
  return i < r.end - r.start ? var_of(p->terms[r.start + i].side) : -1;
}

DEVICE bool is_late(const Learner& l, const Reason& why, i32 t) {
  for (i32 i = 0; i < why.count; ++i) {
    if (value_before(l, why.own.literals[i].side, t) < why.own.literals[i].k) return true;
  }
  return false;
}

// Supposes that the variables of the row are in lower..upper.
DEVICE void enter_box(Learner& l, i32 row, const bound_t* lower, const bound_t* upper) {
  for (i32 i = 0, v; (v = variable_of(problem(l), row, i)) >= 0; ++i) {
    if (lower[v] > sides(l).now[lower_side(v)]) suppose(l, literal(lower_side(v), lower[v]));
    if (-upper[v] > sides(l).now[upper_side(v)]) suppose(l, literal(upper_side(v), -upper[v]));
  }
}

// How many tasks of a time table may have to move in the box, after a run that moved none.
DEVICE i32 count_movers(Learner& l, i32 row, const bound_t* lower, const bound_t* upper) {
  enter_box(l, row, lower, upper);
  Table& table = table_of(l, row);
  i32 count = renew_table(l, tasks_of(l, row), table, scratch(l).places);
  table.is_settled = true;
  backtrack(l, 0);
  empty_queue(l);
  return count;
}

// Runs the row in lower..upper, and asks for each threshold of each side that it changes.
DEVICE void probe_row(Learner& l, i32 row, const bound_t* lower, const bound_t* upper, Records* records) {
  const Problem* p = problem(l);
  enter_box(l, row, lower, upper);
  i32 any = lower_side(variable_of(p, row, 0));
  if (trail(l).level == 0) suppose(l, literal(any, sides(l).now[any]));
  i32 first = trail(l).size;
  trail(l).outcome = CONSISTENT;
  if (!run_row(l, row)) {
    Reason why = reason_at(l, 0);
    get_conflict(l, why);
    add_record(records, row, RECORD_CONFLICT, literal(0, 0), why.own.literals, why.count);
  }
  for (i32 t = first; t < trail(l).size; ++t) {
    Entry e = trail(l).entries[t];
    for (bound_t k = e.was + 1; k <= e.now; ++k) {
      Reason why = reason_at(l, 0);
      explain(l, e.reason, literal(e.side, k), t, why);
      add_record(records, row, is_late(l, why, t) ? RECORD_LATE : RECORD_THRESHOLD, literal(e.side, k), why.own.literals, why.count);
    }
  }
  backtrack(l, 0);
  empty_queue(l);
}
