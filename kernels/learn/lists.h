// Lists of watchers by literal, in a pool of cells.
//
// Each side has a list of nodes, sorted by threshold: the literals that some clause watches. A side that grows from
// `was` to `now` makes those in (was, now] true, so only their watchers are told; one flat list a side, whose
// thresholds are compared one by one, is up to twice as slow. A list has a power of two of cells; an outgrown one
// leaves its cells to others of that size (segregated free lists: Knuth, TAOCP 1, 2.5).
#pragma once

#include "trail.h"

DEVICE void clear_lists(Learner& l) {
  List none = {0, 0, -1};
  for (i32 side = 0; side < 2 * l.problem->n_vars; ++side) l.nodes[side] = none;
  for (i32 log = 0; log < N_LOGS; ++log) l.free_cells[log] = -1;
  l.pool_size = 0;
  l.lists_full = 0;
}

// The first of 1 << log cells, or -1 when the pool is full.
DEVICE i32 take_cells(Learner& l, i32 log) {
  i32 start = l.free_cells[log];
  if (start >= 0) {
    l.free_cells[log] = l.pool[start].next_free;
    return start;
  }
  if (log >= N_LOGS - 1 || l.pool_capacity - l.pool_size < 1 << log) return -1;
  start = l.pool_size;
  l.pool_size += 1 << log;
  return start;
}

// Room for one more cell at the end of the list. False when the pool is full.
DEVICE bool make_room(Learner& l, List* list) {
  if (list->log >= 0 && list->size < 1 << list->log) return true;
  i32 start = take_cells(l, list->log + 1);
  if (start < 0) {
    l.lists_full = 1;
    return false;
  }
  for (i32 i = 0; i < list->size; ++i) l.pool[start + i] = l.pool[list->start + i];
  if (list->log >= 0) {
    l.pool[list->start].next_free = l.free_cells[list->log];
    l.free_cells[list->log] = list->start;
  }
  list->start = start;
  ++list->log;
  return true;
}

DEVICE Node* node_at(const Learner& l, i32 side, i32 i) { return &l.pool[l.nodes[side].start + i].node; }

// The place of the side's first node with a threshold above k.
DEVICE i32 first_node_above(const Learner& l, i32 side, wide_t k) {
  i32 from = 0, to = l.nodes[side].size;
  while (from < to) {
    i32 middle = (from + to) / 2;
    if (node_at(l, side, middle)->k > k) to = middle;
    else from = middle + 1;
  }
  return from;
}

// `watcher` is to be told when `a` becomes true. False when the pool is full.
OUTLINE bool watch(Learner& l, Literal a, Watcher watcher) {
  i32 place = first_node_above(l, a.side, (wide_t)a.k - 1);
  if (place == l.nodes[a.side].size || node_at(l, a.side, place)->k != a.k) {
    if (!make_room(l, &l.nodes[a.side])) return false;
    for (i32 i = l.nodes[a.side].size++; i > place; --i) *node_at(l, a.side, i) = *node_at(l, a.side, i - 1);
    Node node = {a.k, {0, 0, -1}};
    *node_at(l, a.side, place) = node;
  }
  List* list = &node_at(l, a.side, place)->watchers;
  if (!make_room(l, list)) return false;
  l.pool[list->start + list->size++].watcher = watcher;
  return true;
}
