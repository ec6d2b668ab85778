// The search tree, for a profiler to draw: one record a node, in the order of the search. Only TRACE builds of the CPU
// engine have it, with one block; elsewhere these functions are empty.
//
// The records go through a ring that the host empties while the search runs; a full one makes the block wait.
#pragma once

#include "../core/store.h"
#include "levels.h"

#ifdef TRACE

static Trace* trace;

static TraceBranch* trace_branch_at(const Block& b, i32 level) {
  return &trace->branches[level & (b.problem->level_capacity - 1)];
}

// Lane 0: writes a record of the current node. Returns its number.
static i32 trace_node(const Block& b, i32 status, i32 children) {
  for (i32 tries = 0; trace->written - global_load(&trace->taken) >= trace->capacity; ++tries) {
    if (global_load(&b.problem->common->stop)) return -1;
    pause_briefly(tries);
  }
  TraceRecord record = {trace->lower, trace->upper, trace->tree, trace->next++, trace->parent, trace->alternative,
                        children, status, trace->var};
  trace->records[trace->written % trace->capacity] = record;
  global_store(&trace->written, trace->written + 1);
  return record.node;
}

static void trace_decision(i32 parent, i32 alternative, Decision d) {
  trace->parent = parent;
  trace->alternative = alternative;
  trace->lower = d.lower;
  trace->upper = d.upper;
  trace->var = d.var;
}

// Records that a new tree begins.
static void trace_root(const Block&) {
  if (!trace) return;
  ++trace->tree;
  trace->next = 0;
  Decision none = {0, 0, -1};
  trace_decision(-1, -1, none);
}

static void trace_leaf(const Block& b, i32 status) {
  if (trace) trace_node(b, status, 0);
}

// Records that the current node becomes the choice point of a level, whose first branch is entered.
static void trace_branch(const Block& b, i32 level, i32 children, Decision first) {
  if (!trace) return;
  TraceBranch branch = {trace_node(b, TRACE_BRANCH, children), children};
  *trace_branch_at(b, level) = branch;
  trace_decision(branch.node, 0, first);
}

// Records that the alternative in `place` of the level is entered.
static void trace_alternative(const Block& b, i32 level, i32 place, Decision d) {
  if (!trace) return;
  TraceBranch* branch = trace_branch_at(b, level);
  trace_decision(branch->node, branch->children - 1 - place, d);
}

// Records that the alternatives of the level are skipped.
static void trace_skip(const Block& b, i32 level) {
  if (!trace) return;
  Level* top = level_at(b, level);
  for (i32 place = top->pending - 1; place >= 0; --place) {
    Decision d = {top->lower[place], top->upper[place], top->var};
    trace_alternative(b, level, place, d);
    trace_node(b, TRACE_SKIPPED, 0);
  }
}

#else

DEVICE void trace_root(const Block&) {}
DEVICE void trace_leaf(const Block&, i32) {}
DEVICE void trace_branch(const Block&, i32, i32, Decision) {}
DEVICE void trace_alternative(const Block&, i32, i32, Decision) {}
DEVICE void trace_skip(const Block&, i32) {}

#endif
