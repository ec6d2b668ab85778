// The variables by activity: how often they were in recent conflicts.
//
// VSIDS (Moskewicz et al., DAC 2001) as in MiniSat (Eén, Sörensson, SAT 2003): a variable gains when it enters a
// resolvent, and the gain grows with each conflict, so that old gains fade: by a twentieth at first, and in a long run
// by a hundredth, so that more conflicts count (as in Glucose: Audemard, Simon, SAT 2013). A binary heap holds the
// variables that may be unfixed: those of the current decision set (abi.h, DecisionSet), then all others, each the most
// active first. Auxiliary variables of the normal form are in it too: clauses may name the inner nodes of a long sum.
#pragma once

#include "../../core/assert.h"
#include "../../core/interval.h"
#include "../../core/room.h"
#include "../tuning.h"
#include "parts.h"
#include "sides.h"

constexpr double ACTIVITY_MOST = 1e100;  // formula: beyond it all activities are divided

struct Heap {
  double* activity;  // of each variable
  i32* vars;         // the heap
  i32* place;        // of each variable in it, or -1
  i32 size;
  i32 set;           // the decision set that comes first
  double step;       // the gain of a variable
};

PART(Heap, heap);

// The factor by which the gain grows with the conflict of this number.
DEVICE double gain_growth(i64 conflicts) {
  double late = minimum((double)conflicts / FADING_CONFLICTS, 1.0);
  return 1 / (1 - FIRST_FADING + (FIRST_FADING - LAST_FADING) * late);
}

DEVICE i64 heap_bytes(const Problem* p) { return n_all_vars(p) * (i64)(sizeof(double) + 2 * sizeof(i32)); }

DEVICE void take_memory(Heap& s, const Problem* p, Room& room) {
  s.activity = take<double>(room, n_all_vars(p));
  s.vars = take<i32>(room, n_all_vars(p));
  s.place = take<i32>(room, n_all_vars(p));
}

DEVICE void clear_heap(Learner& l) {
  Heap& s = heap(l);
  for (i32 v = 0; v < n_all_vars(problem(l)); ++v) {
    s.activity[v] = 0;
    s.place[v] = -1;
  }
  s.step = 1;
  s.set = N_DECISION_SETS - 1;
}

// Whether the variable is in the current decision set.
DEVICE bool is_first(const Learner& l, i32 var) { return problem(l)->decision_sets[var] >> heap(l).set & 1; }

// Whether a comes before b in the heap. All other variables follow those of the set, so every search is complete.
DEVICE bool goes_before(const Learner& l, i32 a, i32 b) {
  bool first = is_first(l, a);
  return first != is_first(l, b) ? first : heap(l).activity[a] > heap(l).activity[b];
}

DEVICE void put_at(Learner& l, i32 i, i32 var) {
  Heap& s = heap(l);
  ASSERT(0 <= i && i < s.size && is_variable(l, var));
  s.vars[i] = var;
  s.place[var] = i;
}

DEVICE void rise(Learner& l, i32 i) {
  i32 var = heap(l).vars[i];
  ASSERT(heap(l).place[var] == i);
  for (; i > 0; i = (i - 1) / 2) {
    i32 parent = heap(l).vars[(i - 1) / 2];
    if (!goes_before(l, var, parent)) break;
    put_at(l, i, parent);
  }
  put_at(l, i, var);
}

DEVICE void sink(Learner& l, i32 i) {
  const Heap& s = heap(l);
  i32 var = s.vars[i];
  ASSERT(s.place[var] == i);
  for (i32 child = 2 * i + 1; child < s.size; child = 2 * i + 1) {
    if (child + 1 < s.size && goes_before(l, s.vars[child + 1], s.vars[child])) ++child;
    if (!goes_before(l, s.vars[child], var)) break;
    put_at(l, i, s.vars[child]);
    i = child;
  }
  put_at(l, i, var);
}

// Puts a variable of the model into the heap; no activity decides on a counter.
DEVICE void insert(Learner& l, i32 var) {
  if (var >= problem(l)->n_vars || heap(l).place[var] >= 0) return;
  put_at(l, heap(l).size++, var);
  rise(l, heap(l).place[var]);
}

// Changes the decision set that comes first.
DEVICE void decide_first(Learner& l, i32 set) {
  ASSERT(0 <= set && set < N_DECISION_SETS);
  if (heap(l).set == set) return;
  heap(l).set = set;
  for (i32 i = heap(l).size / 2 - 1; i >= 0; --i) sink(l, i);
}

DEVICE bool are_all_fixed(const Learner& l) {
  bool fixed = true;
  for (i32 v = 0; fixed && v < problem(l)->n_vars; ++v) fixed = is_fixed(l, v) || is_link(problem(l), v);
  return fixed;
}

// The first unfixed variable of the heap, or -1. Fixed ones before it leave the heap; `backtrack` inserts them again.
DEVICE i32 most_active(Learner& l) {
  Heap& s = heap(l);
  while (s.size > 0) {
    i32 var = s.vars[0];
    if (!is_fixed(l, var)) return var;
    s.place[var] = -1;
    if (--s.size > 0) {
      put_at(l, 0, s.vars[s.size]);
      sink(l, 0);
    }
  }
  ASSERT(are_all_fixed(l));
  return -1;
}

DEVICE void bump(Learner& l, i32 var) {
  Heap& s = heap(l);
  ASSERT(is_variable(l, var) && s.step > 0 && s.activity[var] >= 0);
  s.activity[var] += s.step;
  if (s.activity[var] > ACTIVITY_MOST) {
    for (i32 v = 0; v < n_all_vars(problem(l)); ++v) s.activity[v] /= ACTIVITY_MOST;
    s.step /= ACTIVITY_MOST;
  }
  if (s.place[var] >= 0) rise(l, s.place[var]);
}
