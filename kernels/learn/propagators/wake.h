// The rows that a change of a side wakes, and their order.
//
// The other engines have a list of rows for each variable (watch.py). A learner makes lists for each side:
//
// * Rows of a comparison with a constant, x = (y <= 5) say, wake when y's side passes the constant, not at each step:
//   of a variable with a hundred such rows a change wakes one or two. They are sorted by threshold, like the literals
//   of a lazily generated encoding (Feydy, Stuckey, CP 2009).
// * Rows that cost little run at once, without a queue: hardly ever would one have waited for a second change.
// * Sums wait until these have nothing more to say; what costs more waits for the sums, and wide rows for all others.
//   Where bounds creep it is the other way round (advance.h).
//
// A row does not wake itself if a second run would change nothing.
#pragma once

#include "../../core/assert.h"
#include "../../core/propagate.h"
#include "../../core/room.h"
#include "linear.h"
#include "../state/literal.h"
#include "../state/parts.h"
#include "../state/sides.h"
#include "priority.h"
#include "wide.h"
#include "wide_rows.h"

constexpr i32 NOT_QUEUED = -2;

// The rows that a side wakes: the places in the lists where each priority, the thresholds, and the end are.
struct SideWakes { i32 start[N_PRIORITIES], thresholds, end; };

struct Wakes {
  SideWakes* of_side;
  i32* rows;    // the lists of rows
  bound_t* at;  // of each element of the lists: the threshold, or the place of a wide row that is asked
};

// A queue of rows for each priority.
struct Queue {
  i32* next;  // for each row: the one behind it in its queue, -1 at the end, or NOT_QUEUED
  i32 first[N_PRIORITIES], last[N_PRIORITIES];
};

PART(Wakes, wakes);
PART(Queue, queue);

// The most elements of all lists: an EQ row with a constant has two thresholds for each side.
DEVICE i64 most_wakes(const Problem* p) {
  i64 count = 0;
  for (i32 v = 0; v < p->n_vars; ++v) {
    Watch w = load_constant(&p->watches[v]);
    for (i32 i = w.start; i < w.end; ++i) {
      i32 op = load_constant(&p->rows[load_constant(&p->watchers[i])]).op;
      count += (1 + (w.both <= i && i < w.upper)) * (1 + (op == OP_EQ));
    }
  }
  if (p->linear_wakes) count += p->linear_wakes[n_model_sides(p)] - p->linear_wakes[0];
  if (p->n_wides) count += p->wide_wakes[n_model_sides(p)] - p->wide_wakes[0];
  return count;
}

DEVICE i64 wakes_bytes(const Problem* p) {
  return n_sides(p) * (i64)sizeof(SideWakes) + most_wakes(p) * (i64)(sizeof(i32) + sizeof(bound_t));
}

DEVICE void take_memory(Wakes& s, const Problem* p, Room& room) {
  s.of_side = take<SideWakes>(room, n_sides(p));
  s.rows = take<i32>(room, most_wakes(p));
  s.at = take<bound_t>(room, most_wakes(p));
}

DEVICE i64 queue_bytes(const Problem* p) { return n_all_rows(p) * (i64)sizeof(i32); }

DEVICE void take_memory(Queue& s, const Problem* p, Room& room) { s.next = take<i32>(room, n_all_rows(p)); }

DEVICE void clear_queue(Learner& l) {
  for (i32 row = 0; row < n_all_rows(problem(l)); ++row) queue(l).next[row] = NOT_QUEUED;
  for (i32 i = 0; i < N_PRIORITIES; ++i) queue(l).first[i] = -1;
}

DEVICE i32 priority_of(Row r) {
  if (r.op == OP_ADD) return SUMS;
  return r.op == OP_MUL || r.op == OP_DIV || r.op == OP_MOD || r.op == OP_ELEMENT ? COSTLY : AT_ONCE;
}

DEVICE i32 priority_of(const Problem* p, i32 row) {
  if (row < p->n_rows) return priority_of(load_constant(&p->rows[row]));
  if (is_linear(p, row) || is_counter(p, row)) return SUMS;
  return priority_of_wide(wide_at(p, row));
}

// Whether a second run would change nothing.
DEVICE bool runs_once(Row r) { return r.op != OP_MUL && r.op != OP_DIV && r.op != OP_MOD && !names_twice(r); }
DEVICE bool tells_all_at_once(const Problem* p, i32 row) {
  if (row < p->n_rows) return runs_once(load_constant(&p->rows[row]));
  return is_counter(p, row) || (is_linear(p, row) && runs_once(linear_at(p, row)));
}

// Whether the row compares `var` with a constant.
DEVICE bool is_comparison(const Learner& l, Row r, i32 var) {
  if ((r.op != OP_LEQ && r.op != OP_EQ) || names_twice(r) || var == r.x) return false;
  return is_fixed(l, var == r.y ? r.z : r.y);
}

DEVICE void add_wake(Learner& l, i32* end, i32 row, bound_t k) {
  wakes(l).rows[*end] = row;
  wakes(l).at[(*end)++] = k;
}

// Adds the thresholds of the side at which the comparison may tighten something.
DEVICE void add_thresholds(Learner& l, i32* end, i32 side, i32 row) {
  Row r = load_constant(&problem(l)->rows[row]);
  bool is_y = var_of(side) == r.y, upper = is_upper(side);
  bound_t c = sides(l).now[lower_side(is_y ? r.z : r.y)], at = upper ? -c : c;
  if (r.op == OP_EQ) {
    add_wake(l, end, row, at);
    add_wake(l, end, row, at + 1);
  } else {
    add_wake(l, end, row, is_y == upper ? at : at + 1);
  }
}

// Whether the thresholds from..end-1 are in ascending order.
DEVICE bool is_sorted(const Wakes& s, i32 from, i32 end) {
  for (i32 i = from + 1; i < end; ++i) {
    if (s.at[i - 1] > s.at[i]) return false;
  }
  return true;
}

// Sorts the thresholds from..end-1 (Shell, CACM 1959, with Knuth's increments).
DEVICE void sort_thresholds(Learner& l, i32 from, i32 end) {
  Wakes& s = wakes(l);
  i32 gap = 1;
  while (gap < (end - from) / 3) gap = 3 * gap + 1;
  for (; gap > 0; gap /= 3) {
    for (i32 i = from + gap; i < end; ++i) {
      i32 row = s.rows[i], j = i;
      bound_t k = s.at[i];
      for (; j >= from + gap && s.at[j - gap] > k; j -= gap) {
        s.rows[j] = s.rows[j - gap];
        s.at[j] = s.at[j - gap];
      }
      s.rows[j] = row;
      s.at[j] = k;
    }
  }
  ASSERT(is_sorted(s, from, end));
}

// The place of the variable among the arguments of a row that is asked before it is woken; or ANYWHERE, for a row that
// is not asked, or has the variable twice.
constexpr i32 ANYWHERE = -1;
DEVICE i32 place_of(const Problem* p, i32 row, i32 var) {
  if (!is_wide(p, row) || !is_choosy(wide_at(p, row))) return ANYWHERE;
  const Wide& r = wide_at(p, row);
  i32 place = ANYWHERE;
  for (i32 i = 0; i < n_arguments(r); ++i) {
    if (arguments_of(p, r)[i] != var) continue;
    if (place != ANYWHERE) return ANYWHERE;
    place = i;
  }
  return place;
}

// Adds the rows of the priority that `wakes` has for the side, of those that are numbered from `first` on.
DEVICE void add_listed_wakes(Learner& l, i32* end, const i32* wakes, i32 side, i32 first, i32 priority) {
  for (i32 i = wakes[side]; i < wakes[side + 1]; ++i) {
    i32 row = first + wakes[i];
    if (priority_of(problem(l), row) == priority) add_wake(l, end, row, place_of(problem(l), row, var_of(side)));
  }
}

// Writes the rows that the side wakes to the lists, from place `end` on.
DEVICE void sort_wakes(Learner& l, i32 side, i32* end) {
  Watch w = load_constant(&problem(l)->watches[var_of(side)]);
  i32 from = is_upper(side) ? w.both : w.start, to = is_upper(side) ? w.end : w.upper;
  SideWakes& own = wakes(l).of_side[side];
  const Problem* p = problem(l);
  for (i32 priority = AT_ONCE; priority < N_PRIORITIES; ++priority) {
    own.start[priority] = *end;
    if (p->linear_wakes) add_listed_wakes(l, end, p->linear_wakes, side, p->n_rows, priority);
    if (p->n_wides) add_listed_wakes(l, end, p->wide_wakes, side, p->n_rows + p->n_linears, priority);
    for (i32 i = from; i < to; ++i) {
      i32 row = load_constant(&problem(l)->watchers[i]);
      Row r = load_constant(&problem(l)->rows[row]);
      if (is_absorbed(problem(l), row)) continue;
      if (priority_of(r) == priority && !is_comparison(l, r, var_of(side))) add_wake(l, end, row, 0);
    }
  }
  own.thresholds = *end;
  for (i32 i = from; i < to; ++i) {
    i32 row = load_constant(&problem(l)->watchers[i]);
    Row r = load_constant(&problem(l)->rows[row]);
    if (is_absorbed(problem(l), row)) continue;
    if (is_comparison(l, r, var_of(side))) add_thresholds(l, end, side, row);
  }
  own.end = *end;
  sort_thresholds(l, own.thresholds, own.end);
}

DEVICE void sort_all_wakes(Learner& l) {
  i32 end = 0;
  for (i32 side = 0; side < n_model_sides(problem(l)); ++side) sort_wakes(l, side, &end);
  ASSERT(end <= most_wakes(problem(l)));
}

// The side's first threshold above k, as a place in the lists.
DEVICE i32 first_threshold_above(const Learner& l, const SideWakes& own, bound_t k) {
  ASSERT(own.start[AT_ONCE] <= own.start[SUMS] && own.start[LAST] <= own.thresholds && own.thresholds <= own.end);
  i32 from = own.thresholds, to = own.end;
  while (from < to) {
    i32 middle = (from + to) / 2;
    if (wakes(l).at[middle] > k) to = middle;
    else from = middle + 1;
  }
  return from;
}

DEVICE void queue_row(Learner& l, i32 row, i32 priority) {
  Queue& s = queue(l);
  ASSERT(0 <= row && row < n_all_rows(problem(l)) && AT_ONCE <= priority && priority < N_PRIORITIES);
  if (s.next[row] != NOT_QUEUED) return;
  s.next[row] = -1;
  if (s.first[priority] < 0) s.first[priority] = row;
  else s.next[s.last[priority]] = row;
  s.last[priority] = row;
}

// The next row, or -1.
DEVICE i32 take_row(Learner& l, bool costly_first) {
  Queue& s = queue(l);
  for (i32 i = AT_ONCE; i < N_PRIORITIES; ++i) {
    i32 priority = costly_first && i < LAST ? LAST - 1 - i : i;
    i32 row = s.first[priority];
    if (row < 0) continue;
    ASSERT(row < n_all_rows(problem(l)) && s.next[row] != NOT_QUEUED);
    s.first[priority] = s.next[row];
    s.next[row] = NOT_QUEUED;
    return row;
  }
  return -1;
}

DEVICE void queue_all_rows(Learner& l) {
  const Problem* p = problem(l);
  for (i32 row = 0; row < n_all_rows(p); ++row) {
    if (row >= p->n_rows || !is_absorbed(p, row)) queue_row(l, row, priority_of(p, row));
  }
}

// Linear and wide rows may say more than the ternary ones at whose fixpoint the root is.
DEVICE void queue_other_rows(Learner& l) {
  const Problem* p = problem(l);
  for (i32 row = p->n_rows; row < n_all_rows(p); ++row) queue_row(l, row, priority_of(p, row));
}

DEVICE bool is_queue_empty(const Learner& l) {
  for (i32 i = AT_ONCE; i < N_PRIORITIES; ++i) {
    if (queue(l).first[i] >= 0) return false;
  }
  return true;
}

DEVICE void empty_queue(Learner& l) {
  while (take_row(l, false) >= 0) {}
}
