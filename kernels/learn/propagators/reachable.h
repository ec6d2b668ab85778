// Reachability in a graph that is chosen: each node that is in is reached, over edges that are true and nodes that
// are in, from a root, or, where edges have no direction, from each other.
//
// A node that is not reached over edges and nodes that may be in is out. A node without which some node that is in
// would not be reached, since it dominates it, is in, and an edge without which it would not be reached is true
// (Quesada, Van Roy, Deville, Collet, PADL 2006). All of these are cuts: of the nodes that are reached without what
// is explained, each edge to another node is false or leads to a node that is out, and one of the others must be
// reached (Francis, Stuckey, Constraints 2014). Dominators are found by iteration (Cooper, Harvey, Kennedy, 2001).
#pragma once

#include "../../core/assert.h"
#include "../state/literal.h"
#include "../state/parts.h"
#include "../state/sides.h"
#include "../state/trail.h"
#include "oracle.h"
#include "wide.h"

// The variables of a row: the number of nodes and the root, which are constants; then a group for each node, whose
// truth is that it is in, and one for each edge. The root is -1 where edges have no direction.
struct Network {
  const i32* nodes;
  const i32* edges;
  i32 n_nodes, n_edges, root;
};

DEVICE Network network_of(const Learner& l, i32 row) {
  const Wide& r = wide_at(problem(l), row);
  const i32* arguments = arguments_of(problem(l), r);
  i32 n = number_in(l, arguments[0]);
  Network g = {arguments + 2, arguments + 2 + 3 * n, n, (n_arguments(r) - 2) / 3 - n, number_in(l, arguments[1])};
  ASSERT(0 <= n && 0 <= g.n_edges && g.root < n);
  return g;
}

DEVICE i32 node_truth(const Network& g, i32 i) { return g.nodes[3 * i]; }
DEVICE i32 edge_truth(const Network& g, i32 e) { return g.edges[3 * e]; }

// An edge e is the arc 2 e, and without a direction also the arc 2 e + 1, backwards.
DEVICE i32 n_arcs(const Network& g) { return 2 * g.n_edges; }
DEVICE bool is_arc(const Network& g, i32 arc) { return g.root < 0 || arc % 2 == 0; }
DEVICE i32 tail_of(const Learner& l, const Network& g, i32 arc) {
  return number_in(l, g.edges[3 * (arc / 2) + 1 + arc % 2]);
}
DEVICE i32 head_of(const Learner& l, const Network& g, i32 arc) {
  return number_in(l, g.edges[3 * (arc / 2) + 2 - arc % 2]);
}

DEVICE bool is_held(const Learner& l, Literal a, i32 t) { return was_reached(l, a.side, a.k, t); }
DEVICE Literal is_true(i32 truth) { return literal(lower_side(truth), 1); }
DEVICE Literal is_false(i32 truth) { return literal(upper_side(truth), 0); }

// Lists of arcs by the node where they begin or end, and a walk over what is left of the graph. `place` is the order in
// which nodes are left for the last time, from 1, and 0 where a node is not reached: the source has the greatest.
struct Flow {
  i32 *begins, *next_begin;  // the first arc from each node, and the next one from the same
  i32 *ends, *next_end;      // likewise of arcs to a node
  i32 *place, *node;         // of each node, and the node of each place
  i32 *stack, *above;        // the nodes on the way, and the dominator next above each node
  i32 count;
};

DEVICE Flow flow_in(const Learner& l, const Network& g) {
  i32 n = g.n_nodes, *memory = scratch(l).places;
  Flow w = {memory, memory + n, 0, 0, 0, 0, 0, 0, 0};
  w.ends = w.next_begin + n_arcs(g);
  w.next_end = w.ends + n;
  w.place = w.next_end + n_arcs(g);
  w.node = w.place + n;
  w.stack = w.node + n + 1;
  w.above = w.stack + n;
  for (i32 i = 0; i < n; ++i) {
    w.begins[i] = w.ends[i] = -1;
    w.place[i] = 0;
  }
  return w;
}

// Whether the arc can be passed before entry t, or now, while what has the truth `own` is out.
DEVICE bool is_passable(const Learner& l, const Network& g, i32 arc, i32 own, i32 t) {
  i32 truth = edge_truth(g, arc / 2), node = node_truth(g, head_of(l, g, arc));
  return truth != own && node != own && !is_held(l, is_false(truth), t) && !is_held(l, is_false(node), t);
}

DEVICE void list_arcs(const Learner& l, const Network& g, i32 own, i32 t, Flow& w) {
  for (i32 arc = 0; arc < n_arcs(g); ++arc) {
    if (!is_arc(g, arc) || !is_passable(l, g, arc, own, t)) continue;
    i32 from = tail_of(l, g, arc), to = head_of(l, g, arc);
    w.next_begin[arc] = w.begins[from];
    w.begins[from] = arc;
    w.next_end[arc] = w.ends[to];
    w.ends[to] = arc;
  }
}

// Walks from the source, depth first. `begins` is used up.
DEVICE void go_through(const Learner& l, const Network& g, i32 source, Flow& w) {
  constexpr i32 ON_THE_WAY = -1;
  i32 depth = 0;
  w.stack[0] = source;
  w.place[source] = ON_THE_WAY;
  while (depth >= 0) {
    i32 at = w.stack[depth], arc = w.begins[at];
    if (arc < 0) {
      w.place[at] = ++w.count;
      w.node[w.count] = at;
      --depth;
      continue;
    }
    w.begins[at] = w.next_begin[arc];
    i32 to = head_of(l, g, arc);
    if (w.place[to]) continue;
    w.place[to] = ON_THE_WAY;
    w.stack[++depth] = to;
  }
}

// Where all nodes that are in must be reached from: the root, or the first of them; -1 if there is none.
DEVICE i32 source_of(const Learner& l, const Network& g, i32 t) {
  if (g.root >= 0) return g.root;
  for (i32 i = 0; i < g.n_nodes; ++i) {
    if (is_held(l, is_true(node_truth(g, i)), t)) return i;
  }
  return -1;
}

// The walk before entry t, or now, from the source, while what has the truth `own` is out.
DEVICE Flow flow_from(const Learner& l, const Network& g, i32 source, i32 own, i32 t) {
  Flow w = flow_in(l, g);
  list_arcs(l, g, own, t, w);
  go_through(l, g, source, w);
  return w;
}

// ---- propagation

// What is not reached is out. False on a fault.
DEVICE bool leave_unreached(Learner& l, i32 row, const Network& g, const Flow& w) {
  for (i32 i = 0; w.count < g.n_nodes && i < g.n_nodes; ++i) {
    if (!w.place[i] && !set_side(l, upper_side(node_truth(g, i)), 0, row_reason(row))) return false;
  }
  return true;
}

// The nearest node that dominates both.
DEVICE i32 meet(const Flow& w, i32 i, i32 j) {
  while (i != j) {
    while (w.place[i] < w.place[j]) i = w.above[i];
    while (w.place[j] < w.place[i]) j = w.above[j];
  }
  return i;
}

// For each node that is reached the dominator next above it; the source has itself.
DEVICE void find_dominators(const Learner& l, const Network& g, Flow& w) {
  i32 source = w.node[w.count];
  for (i32 i = 0; i < g.n_nodes; ++i) w.above[i] = -1;
  w.above[source] = source;
  for (bool changed = true; changed;) {
    changed = false;
    for (i32 place = w.count - 1; place >= 1; --place) {
      i32 at = w.node[place], above = -1;
      for (i32 arc = w.ends[at]; arc >= 0; arc = w.next_end[arc]) {
        i32 from = tail_of(l, g, arc);
        if (!w.place[from] || w.above[from] < 0) continue;
        above = above < 0 ? from : meet(w, above, from);
      }
      changed = changed || above != w.above[at];
      w.above[at] = above;
    }
  }
}

DEVICE bool dominates(const Flow& w, i32 i, i32 j) {
  while (w.place[j] < w.place[i]) j = w.above[j];
  return i == j;
}

// The only arc by which the node is reached first, or -1.
DEVICE i32 only_way(const Learner& l, const Network& g, const Flow& w, i32 node) {
  i32 found = -1;
  for (i32 arc = w.ends[node]; arc >= 0; arc = w.next_end[arc]) {
    i32 from = tail_of(l, g, arc);
    if (!w.place[from] || dominates(w, node, from)) continue;
    if (found >= 0) return -1;
    found = arc;
  }
  return found;
}

// What dominates a node that is in is in, and true. False on a fault.
DEVICE bool keep_ways(Learner& l, i32 row, const Network& g, Flow& w) {
  i32 source = w.node[w.count], *kept = w.stack;
  find_dominators(l, g, w);
  for (i32 i = 0; i < g.n_nodes; ++i) kept[i] = i == source;
  for (i32 i = 0; i < g.n_nodes; ++i) {
    if (!is_held(l, is_true(node_truth(g, i)), NOW)) continue;
    for (i32 at = i; !kept[at]; at = w.above[at]) kept[at] = 1;
  }
  for (i32 i = 0; i < g.n_nodes; ++i) {
    if (!kept[i] || i == source) continue;
    if (!set_side(l, lower_side(node_truth(g, i)), 1, row_reason(row))) return false;
    i32 arc = only_way(l, g, w, i);
    if (arc >= 0 && !set_side(l, lower_side(edge_truth(g, arc / 2)), 1, row_reason(row))) return false;
  }
  return true;
}

OUTLINE bool run_reachable(Learner& l, i32 row) {
  Network g = network_of(l, row);
  i32 source = source_of(l, g, NOW);
  if (source < 0) return true;
  Flow w = flow_from(l, g, source, -1, NOW);
  return leave_unreached(l, row, g, w) && keep_ways(l, row, g, w);
}

// ---- explanations

// A node that is in or has the truth `node`, and is not reached; -1 if there is none.
DEVICE i32 unreached_node(const Learner& l, const Network& g, const Flow& w, i32 node, i32 t) {
  for (i32 i = 0; i < g.n_nodes; ++i) {
    if (!w.place[i] && (node_truth(g, i) == node || is_held(l, is_true(node_truth(g, i)), t))) return i;
  }
  return -1;
}

// What leads from nodes that are reached to others is out. A node that is out stands for all edges to it.
DEVICE void add_cut(const Learner& l, const Network& g, const Flow& w, i32 own, i32 t, Premises& why) {
  i32* named = w.stack;
  for (i32 i = 0; i < g.n_nodes; ++i) named[i] = 0;
  for (i32 arc = 0; arc < n_arcs(g); ++arc) {
    i32 from = tail_of(l, g, arc), to = head_of(l, g, arc), truth = edge_truth(g, arc / 2);
    if (!is_arc(g, arc) || !w.place[from] || w.place[to] || truth == own || node_truth(g, to) == own) continue;
    if (sides(l).root[upper_side(truth)] >= 0) continue;
    if (!is_held(l, is_false(node_truth(g, to)), t)) add_premise(l, why, is_false(truth));
    else if (!named[to]) add_premise(l, why, is_false(node_truth(g, to)));
    named[to] = named[to] || is_held(l, is_false(node_truth(g, to)), t);
  }
}

// If the literal were false, a node that is in would not be reached.
OUTLINE bool explain_reachable(const Learner& l, i32 row, Literal a, i32 t, Premises& why) {
  Network g = network_of(l, row);
  i32 source = source_of(l, g, t), truth = var_of(a.side), own = is_upper(a.side) ? -1 : truth;
  if (source < 0) return false;
  Flow w = flow_from(l, g, source, own, t);
  i32 node = unreached_node(l, g, w, is_upper(a.side) ? truth : -1, t);
  if (node < 0) return false;
  if (g.root < 0) add_premise(l, why, is_true(node_truth(g, source)));
  if (!is_upper(a.side) || node_truth(g, node) != truth) add_premise(l, why, is_true(node_truth(g, node)));
  add_cut(l, g, w, own, t, why);
  return true;
}

#ifdef CHECK_EXPLANATIONS
// The check of debug builds, which shares nothing with the propagation above.

static bool may_be_true(const bound_t* plain, i32 truth) { return plain[upper_side(truth)] <= -1; }
static bool must_be_true(const bound_t* plain, i32 truth) { return plain[lower_side(truth)] >= 1; }

// Marks all that is reached from the marked nodes over edges and nodes that may be true.
static void mark_all_reached(const i32* arguments, i32 n_groups, const bound_t* plain, bool* marked) {
  const i32* groups = arguments + 2;
  bool both_ways = plain[lower_side(arguments[1])] < 0;
  for (bool changed = true; changed;) {
    changed = false;
    for (i32 k = plain[lower_side(arguments[0])]; k < n_groups; ++k) {
      for (i32 back = 0; back <= both_ways && may_be_true(plain, groups[3 * k]); ++back) {
        i32 from = plain[lower_side(groups[3 * k + 1 + back])], to = plain[lower_side(groups[3 * k + 2 - back])];
        if (!marked[from] || marked[to] || !may_be_true(plain, groups[3 * to])) continue;
        marked[to] = changed = true;
      }
    }
  }
}

// Whether all nodes that must be in may be reached.
static bool may_reach_all(const Learner& l, const Wide& r, const bound_t* plain) {
  const i32* arguments = arguments_of(problem(l), r);
  i32 n = plain[lower_side(arguments[0])], source = plain[lower_side(arguments[1])];
  for (i32 i = 0; source < 0 && i < n; ++i) source = must_be_true(plain, arguments[2 + 3 * i]) ? i : -1;
  if (source < 0) return true;
  bool good = true, *marked = new bool[(u64)n];
  for (i32 i = 0; i < n; ++i) marked[i] = i == source;
  mark_all_reached(arguments, (n_arguments(r) - 2) / 3, plain, marked);
  for (i32 i = 0; i < n; ++i) good = good && (marked[i] || !must_be_true(plain, arguments[2 + 3 * i]));
  delete[] marked;
  return good;
}
#endif

struct Reachable : WideRow {
  DEVICE bool run(Learner& l, i32 row) { return run_reachable(l, row); }
  DEVICE bool reason(const Learner& l, i32 row, Literal a, i32 t, Premises& why) {
    return explain_reachable(l, row, a, t, why);
  }
#ifdef CHECK_EXPLANATIONS
  static bool allows(const Learner& l, const Wide& r, const bound_t* plain) { return may_reach_all(l, r, plain); }
  static bool moves(i32 argument, bool) { return argument >= 2 && argument % 3 == 2; }
#endif
};
