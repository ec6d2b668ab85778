// The variables by activity: which were in conflicts of late.
//
// VSIDS (Moskewicz et al., DAC 2001) as in MiniSat (Eén, Sörensson, SAT 2003): a variable gains when it enters a
// resolvent, and the gain grows by a twentieth with each conflict, so that old gains fade. A binary heap holds the
// variables that may be unfixed: those of the set that this run decides first (abi.h, DecisionSet), then all others,
// each the most active first. Auxiliary variables of the normal form are in it too, since the inner nodes of a long sum
// are what clauses can name.
#pragma once

#include "trail.h"

#define ACTIVITY_GROWTH (1 / 0.95)
#define ACTIVITY_MOST 1e100

// In the set that this run decides first.
DEVICE bool is_first(const Learner& l, i32 var) { return l.problem->decision_sets[var] >> l.set & 1; }

// Behind the last variable of the set come the others, so that every search is complete.
DEVICE bool goes_before(const Learner& l, i32 a, i32 b) {
  bool first = is_first(l, a);
  return first != is_first(l, b) ? first : l.activity[a] > l.activity[b];
}

DEVICE void put_at(Learner& l, i32 i, i32 var) {
  l.heap[i] = var;
  l.place[var] = i;
}

DEVICE void rise(Learner& l, i32 i) {
  i32 var = l.heap[i];
  for (; i > 0; i = (i - 1) / 2) {
    i32 parent = l.heap[(i - 1) / 2];
    if (!goes_before(l, var, parent)) break;
    put_at(l, i, parent);
  }
  put_at(l, i, var);
}

DEVICE void sink(Learner& l, i32 i) {
  i32 var = l.heap[i];
  for (i32 child = 2 * i + 1; child < l.heap_size; child = 2 * i + 1) {
    if (child + 1 < l.heap_size && goes_before(l, l.heap[child + 1], l.heap[child])) ++child;
    if (!goes_before(l, l.heap[child], var)) break;
    put_at(l, i, l.heap[child]);
    i = child;
  }
  put_at(l, i, var);
}

DEVICE void insert(Learner& l, i32 var) {
  if (l.place[var] >= 0) return;
  put_at(l, l.heap_size++, var);
  rise(l, l.place[var]);
}

// Another set is decided first from now on.
DEVICE void decide_first(Learner& l, i32 set) {
  if (l.set == set) return;
  l.set = set;
  for (i32 i = l.heap_size / 2 - 1; i >= 0; --i) sink(l, i);
}

// The first unfixed variable, the most active of its kind, or -1. Fixed ones before it leave the heap; `backtrack`
// brings them back.
DEVICE i32 most_active(Learner& l) {
  while (l.heap_size > 0) {
    i32 var = l.heap[0];
    if (!is_fixed(l, var)) return var;
    l.place[var] = -1;
    if (--l.heap_size > 0) {
      put_at(l, 0, l.heap[l.heap_size]);
      sink(l, 0);
    }
  }
  return -1;
}

DEVICE void bump(Learner& l, i32 var) {
  l.activity[var] += l.activity_step;
  if (l.activity[var] > ACTIVITY_MOST) {
    for (i32 v = 0; v < l.problem->n_vars; ++v) l.activity[v] /= ACTIVITY_MOST;
    l.activity_step /= ACTIVITY_MOST;
  }
  if (l.place[var] >= 0) rise(l, l.place[var]);
}
