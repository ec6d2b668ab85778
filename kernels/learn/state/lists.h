// Lists of watchers by literal, in a pool of cells.
//
// Each side has a list of nodes, sorted by threshold: the literals that some clause watches. A side that grows from
// `was` to `now` makes the literals in (was, now] true, so only their watchers are visited; one flat list for each
// side, whose thresholds are compared one by one, is up to twice as slow. The capacity of a list is a power of two; a
// list that grows beyond frees its cells for others of that size (segregated free lists: Knuth, TAOCP 1, 2.5).
#pragma once

#include "../../core/assert.h"
#include "../../core/interval.h"
#include "../../core/room.h"
#include "literal.h"
#include "parts.h"
#include "sides.h"

// A growing list in 1 << log cells of the pool; log is -1 while it has none.
struct List { i32 start, size, log; };

// A clause to visit when a literal becomes true. `blocker` is another literal of the clause.
struct Watcher {
  Literal blocker;
  i32 clause;
  bool binary;
};

// A watched literal of a side: its threshold, and the list of watchers.
struct Node {
  bound_t k;
  List watchers;
};

union Cell {
  Watcher watcher;
  Node node;
  i32 next_free;
};

constexpr i32 N_LOGS = 28;  // format: the classes of lengths, by powers of two
constexpr i64 MOST_CELLS = ((i64)1 << 30) - 1;  // format: a place has 30 bits

struct Lists {
  List* nodes;  // for each side: its watched literals, by threshold
  Cell* cells;  // the pool
  i32 size, capacity, free[N_LOGS];
  bool full;  // a restart must make room
};

PART(Lists, lists);

DEVICE i64 lists_bytes(const Problem* p) { return n_sides(p) * (i64)sizeof(List); }

// The pool takes further `bytes`.
DEVICE void take_memory(Lists& s, const Problem* p, i64 bytes, Room& room) {
  s.capacity = (i32)minimum(bytes / (i64)sizeof(Cell), MOST_CELLS);
  s.nodes = take<List>(room, n_sides(p));
  s.cells = take<Cell>(room, s.capacity);
}

DEVICE void clear_lists(Learner& l) {
  List none = {0, 0, -1};
  Lists& s = lists(l);
  for (i32 side = 0; side < n_sides(problem(l)); ++side) s.nodes[side] = none;
  for (i32 log = 0; log < N_LOGS; ++log) s.free[log] = -1;
  s.size = 0;
  s.full = false;
}

// The first of 1 << log cells, or -1 when the pool is full.
DEVICE i32 take_cells(Learner& l, i32 log) {
  Lists& s = lists(l);
  ASSERT(0 <= log && log < N_LOGS);
  i32 start = s.free[log];
  if (start >= 0) {
    ASSERT(start + (1 << log) <= s.size);
    s.free[log] = s.cells[start].next_free;
    return start;
  }
  if (log >= N_LOGS - 1 || s.capacity - s.size < 1 << log) return -1;
  start = s.size;
  s.size += 1 << log;
  return start;
}

// Room for one more cell at the end of the list. False when the pool is full.
DEVICE bool make_room(Learner& l, List* list) {
  ASSERT(list->log < 0 ? list->size == 0 : list->size <= 1 << list->log);
  if (list->log >= 0 && list->size < 1 << list->log) return true;
  Lists& s = lists(l);
  i32 start = take_cells(l, list->log + 1);
  if (start < 0) {
    s.full = true;
    return false;
  }
  for (i32 i = 0; i < list->size; ++i) s.cells[start + i] = s.cells[list->start + i];
  if (list->log >= 0) {
    s.cells[list->start].next_free = s.free[list->log];
    s.free[list->log] = list->start;
  }
  list->start = start;
  ++list->log;
  return true;
}

DEVICE Node* node_at(const Learner& l, i32 side, i32 i) {
  const List& nodes = lists(l).nodes[side];
  ASSERT(0 <= i && i < nodes.size && nodes.start + i < lists(l).size);
  return &lists(l).cells[nodes.start + i].node;
}

// The place of the side's first node with a threshold above k.
DEVICE i32 first_node_above(const Learner& l, i32 side, wide_t k) {
  ASSERT(is_side(l, side));
  i32 from = 0, to = lists(l).nodes[side].size;
  while (from < to) {
    i32 middle = (from + to) / 2;
    if (node_at(l, side, middle)->k > k) to = middle;
    else from = middle + 1;
  }
  return from;
}

// Whether the thresholds of nodes `place` and its neighbours rise.
DEVICE bool is_in_order(const Learner& l, i32 side, i32 place) {
  bound_t k = node_at(l, side, place)->k;
  bool above = place == 0 || node_at(l, side, place - 1)->k < k;
  return above && (place + 1 == lists(l).nodes[side].size || k < node_at(l, side, place + 1)->k);
}

// Adds `watcher` to those visited when `a` becomes true. False when the pool is full.
OUTLINE bool watch(Learner& l, Literal a, Watcher watcher) {
  List* nodes = &lists(l).nodes[a.side];
  i32 place = first_node_above(l, a.side, (wide_t)a.k - 1);
  if (place == nodes->size || node_at(l, a.side, place)->k != a.k) {
    if (!make_room(l, nodes)) return false;
    for (i32 i = nodes->size++; i > place; --i) *node_at(l, a.side, i) = *node_at(l, a.side, i - 1);
    Node node = {a.k, {0, 0, -1}};
    *node_at(l, a.side, place) = node;
  }
  ASSERT(is_in_order(l, a.side, place));
  List* list = &node_at(l, a.side, place)->watchers;
  if (!make_room(l, list)) return false;
  lists(l).cells[list->start + list->size++].watcher = watcher;
  return true;
}
