// Which rows a change of a side wakes, and when they run.
//
// The other engines know for each variable which rows to wake (watch.py). A learner sorts them anew, for each side:
//
// * Rows of a comparison with a constant, x = (y <= 5) say, wake when y's side passes the constant, not at each step:
//   of a variable with a hundred such rows a change wakes one or two. They are sorted by threshold, like the literals
//   of a lazily generated encoding (Feydy, Stuckey, CP 2009).
// * Rows that cost little run at once, without a queue: hardly ever would one have waited for a second change.
// * Sums wait until these have nothing more to say; what costs most waits for the sums. Where bounds creep it is
//   the other way round (advance.h).
//
// A row does not wake itself where one run tells all that it knows.
#pragma once

#include "oracle.h"

#define NOT_QUEUED (-2)

enum Priority { AT_ONCE, SUMS, COSTLY };

DEVICE i32 priority_of(Row r) {
  if (r.op == OP_ADD) return SUMS;
  return r.op == OP_MUL || r.op == OP_DIV || r.op == OP_MOD || r.op == OP_ELEMENT ? COSTLY : AT_ONCE;
}

// Whether a second run would change nothing.
DEVICE bool runs_once(Row r) { return r.op != OP_MUL && r.op != OP_DIV && r.op != OP_MOD && !names_twice(r); }

// Whether the row compares `var` with a constant.
DEVICE bool is_comparison(const Learner& l, Row r, i32 var) {
  if ((r.op != OP_LEQ && r.op != OP_EQ) || names_twice(r) || var == r.x) return false;
  return is_fixed(l, var == r.y ? r.z : r.y);
}

DEVICE void add_wake(Learner& l, i32* end, i32 row, bound_t k) {
  l.woken[*end] = row;
  l.woken_at[(*end)++] = k;
}

// The thresholds of the side at which the comparison may have something to say.
DEVICE void add_thresholds(Learner& l, i32* end, i32 side, i32 row) {
  Row r = load_constant(&l.problem->rows[row]);
  bool is_y = var_of(side) == r.y, upper = is_upper(side);
  bound_t c = l.now[lower_side(is_y ? r.z : r.y)], at = upper ? -c : c;
  if (r.op == OP_EQ) {
    add_wake(l, end, row, at);
    add_wake(l, end, row, at + 1);
  } else {
    add_wake(l, end, row, is_y == upper ? at : at + 1);
  }
}

// Sorts the thresholds from..end-1 (Shell, CACM 1959, with Knuth's increments).
DEVICE void sort_thresholds(Learner& l, i32 from, i32 end) {
  i32 gap = 1;
  while (gap < (end - from) / 3) gap = 3 * gap + 1;
  for (; gap > 0; gap /= 3) {
    for (i32 i = from + gap; i < end; ++i) {
      i32 row = l.woken[i], j = i;
      bound_t k = l.woken_at[i];
      for (; j >= from + gap && l.woken_at[j - gap] > k; j -= gap) {
        l.woken[j] = l.woken[j - gap];
        l.woken_at[j] = l.woken_at[j - gap];
      }
      l.woken[j] = row;
      l.woken_at[j] = k;
    }
  }
}

// The rows that the side wakes, into place `end` of the lists and behind.
DEVICE void sort_wakes(Learner& l, i32 side, i32* end) {
  Watch w = load_constant(&l.problem->watches[var_of(side)]);
  i32 from = is_upper(side) ? w.both : w.start, to = is_upper(side) ? w.end : w.upper;
  Wakes& wakes = l.wakes[side];
  for (i32 priority = AT_ONCE; priority <= COSTLY; ++priority) {
    wakes.start[priority] = *end;
    for (i32 i = from; i < to; ++i) {
      i32 row = load_constant(&l.problem->watchers[i]);
      Row r = load_constant(&l.problem->rows[row]);
      if (priority_of(r) == priority && !is_comparison(l, r, var_of(side))) add_wake(l, end, row, 0);
    }
  }
  wakes.thresholds = *end;
  for (i32 i = from; i < to; ++i) {
    i32 row = load_constant(&l.problem->watchers[i]);
    Row r = load_constant(&l.problem->rows[row]);
    if (is_comparison(l, r, var_of(side))) add_thresholds(l, end, side, row);
  }
  wakes.end = *end;
  sort_thresholds(l, wakes.thresholds, wakes.end);
}

DEVICE void sort_all_wakes(Learner& l) {
  i32 end = 0;
  for (i32 side = 0; side < 2 * l.problem->n_vars; ++side) sort_wakes(l, side, &end);
}

// The side's first threshold above k, as a place in the lists.
DEVICE i32 first_threshold_above(const Learner& l, const Wakes& wakes, bound_t k) {
  i32 from = wakes.thresholds, to = wakes.end;
  while (from < to) {
    i32 middle = (from + to) / 2;
    if (l.woken_at[middle] > k) to = middle;
    else from = middle + 1;
  }
  return from;
}

DEVICE void queue_row(Learner& l, i32 row, i32 priority) {
  if (l.next_row[row] != NOT_QUEUED) return;
  l.next_row[row] = -1;
  if (l.first_row[priority] < 0) l.first_row[priority] = row;
  else l.next_row[l.last_row[priority]] = row;
  l.last_row[priority] = row;
}

// The next row, or -1.
DEVICE i32 take_row(Learner& l, bool costly_first) {
  for (i32 i = AT_ONCE; i <= COSTLY; ++i) {
    i32 priority = costly_first ? COSTLY - i : i;
    i32 row = l.first_row[priority];
    if (row < 0) continue;
    l.first_row[priority] = l.next_row[row];
    l.next_row[row] = NOT_QUEUED;
    return row;
  }
  return -1;
}

DEVICE void queue_all_rows(Learner& l) {
  for (i32 row = 0; row < l.problem->n_rows; ++row) {
    queue_row(l, row, priority_of(load_constant(&l.problem->rows[row])));
  }
}

DEVICE void empty_queue(Learner& l) {
  while (take_row(l, false) >= 0) {}
}
