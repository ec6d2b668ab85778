// circuit and subcircuit as a whole: chains that must not close, and nodes that must be reached.
//
// A row has a truth for each edge between the nodes 0..n-1. One edge that is true begins in each node, and one ends in
// it; other constraints say so. Those that are no loops make one cycle, so that a node with a true loop is left out.
//
// Chains of true edges: the edge from the end of a chain to its beginning is false where some node must be visited that
// is not on the chain (Lauriere 1978; Caseau, Laburthe, ICLP 1997). Reachability: from a node that must be visited all
// others can be reached over edges that are not false, and the node from them; what cannot is left out, so its loop is
// true. An edge is explained by the chain, and a loop by the cut, that is by all edges from the nodes that are reached
// to others (Francis, Stuckey, Constraints 2014). `flip` says that edges are followed backwards.
#pragma once

#include "../../core/assert.h"
#include "../state/literal.h"
#include "oracle.h"
#include "../state/parts.h"
#include "../state/trail.h"
#include "wide.h"

// The variables of a row: the number of nodes, and the truth, beginning and end of each edge, of which the latter are
// constants.
struct Edges {
  const i32* first;
  i32 count, n_nodes;
};

DEVICE Edges edges_of(const Learner& l, i32 row) {
  const Wide& r = wide_at(problem(l), row);
  const i32* arguments = arguments_of(problem(l), r);
  Edges edges = {arguments + 1, (n_arguments(r) - 1) / 3, number_in(l, arguments[0])};
  ASSERT(0 < edges.n_nodes && edges.n_nodes <= edges.count);
  return edges;
}

DEVICE i32 truth_of(const Edges& edges, i32 e) { return edges.first[3 * e]; }
DEVICE i32 beginning_of(const Learner& l, const Edges& edges, i32 e) { return number_in(l, edges.first[3 * e + 1]); }
DEVICE i32 end_of(const Learner& l, const Edges& edges, i32 e) { return number_in(l, edges.first[3 * e + 2]); }
DEVICE bool is_loop(const Learner& l, const Edges& edges, i32 e) {
  return beginning_of(l, edges, e) == end_of(l, edges, e);
}

DEVICE bool was_true(const Learner& l, const Edges& edges, i32 e, i32 t) {
  return was_reached(l, lower_side(truth_of(edges, e)), 1, t);
}
DEVICE bool was_false(const Learner& l, const Edges& edges, i32 e, i32 t) {
  return was_reached(l, upper_side(truth_of(edges, e)), 0, t);
}

// What is left of the edges: those that are not false, k for short, and the chains of those that are true.
struct Graph {
  i32 *edge, *from, *to;  // of each k; those from one node follow each other
  i32* start;             // for each node the first k behind those from the nodes before it
  i32* loop;              // its loop, a k, or -1: then it must be visited
  i32* next;              // the true k to the next node, or -1
  i32 *first, *last;      // `last` of the first node of a chain is its last node, whose `first` is that one
  i32* behind;            // memory for other things
  i32 n_edges, n_nodes, n_needed;
};

DEVICE Graph graph_in(i32* places, const Edges& edges) {
  i32 n = edges.n_nodes, *nodes = places + 3 * edges.count;
  Graph g = {places, places + edges.count, places + 2 * edges.count, nodes, nodes + n + 1, nodes + 2 * n + 1,
             nodes + 3 * n + 1, nodes + 4 * n + 1, nodes + 5 * n + 1, 0, n, n};
  for (i32 i = 0; i < n; ++i) {
    g.loop[i] = g.next[i] = -1;
    g.first[i] = g.last[i] = i;
  }
  return g;
}

// Whether an edge between different nodes would close a chain.
DEVICE bool closes(const Graph& g, i32 from, i32 to) {
  return from != to && g.last[to] == from && g.first[from] == to;
}

// Joins the chain that ends where the edge begins and the one that begins where it ends.
DEVICE void join(Graph& g, i32 k) {
  i32 from = g.from[k], to = g.to[k], first = g.first[from], last = g.last[to];
  if (g.last[first] != from || g.first[last] != to || first == to) return;
  g.next[from] = k;
  g.last[first] = last;
  g.first[last] = first;
}

// The graph before entry t, or now; of the edges that are no loops, perhaps only those that are true.
DEVICE Graph graph_at(const Learner& l, const Edges& edges, bool only_chains, i32 t) {
  Graph g = graph_in(scratch(l).places, edges);
  i32 n_begun = 0;
  for (i32 e = 0; e < edges.count; ++e) {
    if (only_chains && !is_loop(l, edges, e) ? !was_true(l, edges, e, t) : was_false(l, edges, e, t)) continue;
    i32 k = g.n_edges++, from = beginning_of(l, edges, e), to = end_of(l, edges, e);
    g.edge[k] = e;
    g.from[k] = from;
    g.to[k] = to;
    ASSERT(n_begun <= from + 1);
    while (n_begun <= from) g.start[n_begun++] = k;
    g.n_needed -= from == to;
    if (from == to) g.loop[from] = k;
    else if (was_true(l, edges, e, t)) join(g, k);
  }
  while (n_begun <= g.n_nodes) g.start[n_begun++] = g.n_edges;
  return g;
}

// ---- reachability

DEVICE i32 first_needed(const Graph& g) {
  i32 i = 0;
  while (g.loop[i] >= 0) ++i;
  ASSERT(i < g.n_nodes);
  return i;
}

// The nodes that are reached, as marks and in the order in which they are.
struct Reached {
  i32* marks;
  i32* order;
  i32 count;
};

// The edges that end in each node, as lists.
struct Ending {
  i32* first;
  i32* next;
};

DEVICE Ending edges_by_end(const Graph& g, i32* memory) {
  Ending ending = {memory, memory + g.n_nodes};
  for (i32 i = 0; i < g.n_nodes; ++i) ending.first[i] = -1;
  for (i32 k = 0; k < g.n_edges; ++k) {
    ending.next[k] = ending.first[g.to[k]];
    ending.first[g.to[k]] = k;
  }
  return ending;
}

DEVICE void mark_reached(Reached& r, i32 node) {
  if (r.marks[node]) return;
  r.marks[node] = 1;
  r.order[r.count++] = node;
}

// What can be reached from the first node that must be visited, over edges that do not have the truth `own`.
DEVICE Reached find_reached(const Edges& edges, const Graph& g, i32 flip, i32 own) {
  Reached r = {g.behind, g.behind + g.n_nodes, 0};
  Ending ending = {0, 0};
  if (flip) ending = edges_by_end(g, g.behind + 2 * g.n_nodes);
  for (i32 i = 0; i < g.n_nodes; ++i) r.marks[i] = 0;
  mark_reached(r, first_needed(g));
  for (i32 i = 0; i < r.count && r.count < g.n_nodes; ++i) {
    i32 at = r.order[i], k = flip ? ending.first[at] : g.start[at], end = flip ? -1 : g.start[at + 1];
    for (; k != end; k = flip ? ending.next[k] : k + 1) {
      if (truth_of(edges, g.edge[k]) != own) mark_reached(r, flip ? g.from[k] : g.to[k]);
    }
  }
  return r;
}

// Whether the edge leads from a node that is reached to one that is not.
DEVICE bool is_cut(const Learner& l, const Edges& edges, const Reached& r, i32 e, i32 flip) {
  i32 from = beginning_of(l, edges, e), to = end_of(l, edges, e);
  return r.marks[flip ? to : from] && !r.marks[flip ? from : to];
}

// A contradiction: an edge of the cut must be true, and all are false. Without any, a truth must be more than true.
DEVICE bool refuse(Learner& l, i32 row, const Edges& edges, const Reached& r, i32 flip) {
  i32 e = 0;
  while (e < edges.count && !is_cut(l, edges, r, e, flip)) ++e;
  bool found = e < edges.count;
  return set_side(l, lower_side(truth_of(edges, found ? e : 0)), found ? 1 : 2, row_reason(row));
}

// What is not reached is left out. False on a fault.
DEVICE bool leave_out(Learner& l, i32 row, const Edges& edges, const Graph& g, i32 flip) {
  Reached r = find_reached(edges, g, flip, -1);
  for (i32 i = 0; r.count < g.n_nodes && i < g.n_nodes; ++i) {
    if (r.marks[i]) continue;
    if (g.loop[i] < 0) return refuse(l, row, edges, r, flip);
    if (!set_side(l, lower_side(truth_of(edges, g.edge[g.loop[i]])), 1, row_reason(row))) return false;
  }
  return true;
}

// ---- chains

// A node that must be visited and is not on the chain, which leads from `first` to `last`; -1 if there is none.
DEVICE i32 needed_beside(const Graph& g, i32 first, i32 last) {
  i32 *on = g.behind, other = 0;
  for (i32 i = 0; i < g.n_nodes; ++i) on[i] = i == last;
  for (i32 i = first; i != last; i = g.to[g.next[i]]) on[i] = 1;
  while (other < g.n_nodes && (on[other] || g.loop[other] >= 0)) ++other;
  return other < g.n_nodes ? other : -1;
}

// No chain closes before all nodes that must be visited are on it. False on a fault.
DEVICE bool keep_open(Learner& l, i32 row, const Edges& edges, const Graph& g) {
  for (i32 k = 0; k < g.n_edges; ++k) {
    if (!closes(g, g.from[k], g.to[k]) || needed_beside(g, g.to[k], g.from[k]) < 0) continue;
    if (!set_side(l, upper_side(truth_of(edges, g.edge[k])), 0, row_reason(row))) return false;
  }
  return true;
}

// A row that moved a side of an edge runs again, since it wakes itself.
OUTLINE bool run_circuit(Learner& l, i32 row) {
  Edges edges = edges_of(l, row);
  Graph g = graph_at(l, edges, false, NOW);
  i32 size = trail(l).size;
  if (g.n_needed == 0) return true;
  if (!keep_open(l, row, edges, g)) return false;
  return trail(l).size > size || (leave_out(l, row, edges, g, 0) && leave_out(l, row, edges, g, 1));
}

// ---- explanations

DEVICE void add_false(const Learner& l, const Edges& edges, i32 e, Premises& why) {
  add_premise(l, why, literal(upper_side(truth_of(edges, e)), 0));
}

// The node must be visited, since its loop is false.
DEVICE void add_needed(const Learner& l, const Edges& edges, i32 node, Premises& why) {
  for (i32 e = 0; e < edges.count; ++e) {
    if (beginning_of(l, edges, e) == node && is_loop(l, edges, e)) add_false(l, edges, e, why);
  }
}

// The edge would close a chain, and a node that must be visited is not on it.
DEVICE bool explain_open(const Learner& l, const Edges& edges, const Graph& g, i32 e, Premises& why) {
  i32 from = beginning_of(l, edges, e), to = end_of(l, edges, e);
  i32 other = closes(g, from, to) ? needed_beside(g, to, from) : -1;
  if (other < 0) return false;
  for (i32 i = to; i != from; i = g.to[g.next[i]]) {
    add_premise(l, why, literal(lower_side(truth_of(edges, g.edge[g.next[i]])), 1));
  }
  add_needed(l, edges, other, why);
  return true;
}

// If edges with the truth `own` are false, a node is not reached that must be visited then.
DEVICE bool explain_cut(const Learner& l, const Edges& edges, const Graph& g, i32 flip, i32 own, Premises& why) {
  Reached r = find_reached(edges, g, flip, own);
  i32 i = 0;
  for (; i < g.n_nodes; ++i) {
    if (!r.marks[i] && (g.loop[i] < 0 || truth_of(edges, g.edge[g.loop[i]]) == own)) break;
  }
  if (i == g.n_nodes) return false;
  add_needed(l, edges, first_needed(g), why);
  if (g.loop[i] < 0) add_needed(l, edges, i, why);
  for (i32 e = 0; e < edges.count; ++e) {
    if (truth_of(edges, e) != own && is_cut(l, edges, r, e, flip)) add_false(l, edges, e, why);
  }
  return true;
}

OUTLINE bool explain_circuit(const Learner& l, i32 row, Literal a, i32 t, Premises& why) {
  Edges edges = edges_of(l, row);
  Graph g = graph_at(l, edges, is_upper(a.side), t);
  if (g.n_needed == 0) return false;
  if (!is_upper(a.side)) {
    i32 own = a.k <= 1 ? var_of(a.side) : -1;
    return explain_cut(l, edges, g, 0, own, why) || explain_cut(l, edges, g, 1, own, why);
  }
  for (i32 e = 0; e < edges.count; ++e) {
    if (truth_of(edges, e) == var_of(a.side) && explain_open(l, edges, g, e, why)) return true;
  }
  return false;
}

#ifdef CHECK_EXPLANATIONS
// The check of debug builds, which shares nothing with the propagation above.

// The edges of a circuit, and whether each can be false, or true, between the bounds.
struct PlainEdge { i64 from, to; bool may_fail, may_hold; };
struct PlainEdges {
  PlainEdge* of;
  i32 count;
  i64 n_nodes;
};

static PlainEdges plain_edges(const Learner& l, const Wide& r, const bound_t* plain) {
  const i32* arguments = arguments_of(problem(l), r);
  PlainEdges edges = {new PlainEdge[(u64)n_arguments(r)], (n_arguments(r) - 1) / 3, plain[lower_side(arguments[0])]};
  for (i32 e = 0; e < edges.count; ++e) {
    const i32* group = arguments + 1 + 3 * e;
    PlainEdge edge = {plain[lower_side(group[1])], plain[lower_side(group[2])], plain[lower_side(group[0])] <= 0,
                      plain[upper_side(group[0])] <= -1};
    edges.of[e] = edge;
  }
  return edges;
}

// Marks what follows the marked nodes over edges that can be true, or that must be; `flip`: what is before them.
static void mark_behind(const PlainEdges& edges, bool flip, bool sure, bool* marked) {
  for (bool changed = true; changed;) {
    changed = false;
    for (i32 e = 0; e < edges.count; ++e) {
      const PlainEdge& edge = edges.of[e];
      i64 from = flip ? edge.to : edge.from, to = flip ? edge.from : edge.to;
      if (!marked[from] || marked[to] || (sure ? edge.may_fail : !edge.may_hold)) continue;
      marked[to] = changed = true;
    }
  }
}

// Whether two edges that must be true begin, or end, in one node: that is for other rows to see.
static bool has_branches(const PlainEdges& edges) {
  for (i32 e = 0; e < edges.count; ++e) {
    for (i32 f = 0; f < e; ++f) {
      const PlainEdge &one = edges.of[e], &other = edges.of[f];
      if (!one.may_fail && !other.may_fail && (one.from == other.from || one.to == other.to)) return true;
    }
  }
  return false;
}

// Whether all nodes that must be visited are marked, when the first one of the marks is `from`.
static bool reaches_needed(const PlainEdges& edges, bool flip, bool sure, i64 from, const bool* needed, bool* marked) {
  for (i64 i = 0; i < edges.n_nodes; ++i) marked[i] = i == from;
  mark_behind(edges, flip, sure, marked);
  for (i64 i = 0; i < edges.n_nodes; ++i) {
    if (needed[i] && !marked[i]) return false;
  }
  return true;
}

// Whether nodes that must be visited reach each other, and no edges that must be true are a cycle without one of them.
static bool may_tour(const PlainEdges& edges) {
  i64 n = edges.n_nodes, root = 0;
  bool* needed = new bool[2 * (u64)n];
  bool* marked = needed + n;
  for (i64 i = 0; i < n; ++i) needed[i] = true;
  for (i32 e = 0; e < edges.count; ++e) {
    if (edges.of[e].from == edges.of[e].to && edges.of[e].may_hold) needed[edges.of[e].from] = false;
  }
  while (root < n && !needed[root]) ++root;
  bool good = root == n || (reaches_needed(edges, false, false, root, needed, marked) &&
                            reaches_needed(edges, true, false, root, needed, marked));
  bool is_plain = !has_branches(edges);
  for (i32 e = 0; good && is_plain && e < edges.count; ++e) {
    const PlainEdge& edge = edges.of[e];
    if (edge.from == edge.to || edge.may_fail) continue;
    good = reaches_needed(edges, false, true, edge.to, needed, marked) || !marked[edge.from];
  }
  delete[] needed;
  return good;
}

// Whether a tour may have the edge, or not; of others with the same truth nothing is said.
static bool may_tour_with(const Learner& l, const Wide& r, const bound_t* plain, i32 e, bool holds) {
  PlainEdges edges = plain_edges(l, r, plain);
  if (e >= 0) (holds ? edges.of[e].may_fail : edges.of[e].may_hold) = false;
  bool good = may_tour(edges);
  delete[] edges.of;
  return good;
}

// Whether an edge with the truth of the literal cannot be as the literal says.
static bool is_edge_refuted(const Learner& l, const Wide& r, const bound_t* plain, Literal a) {
  const i32* arguments = arguments_of(problem(l), r);
  for (i32 e = 0; e < (n_arguments(r) - 1) / 3; ++e) {
    if (arguments[1 + 3 * e] == var_of(a.side) && !may_tour_with(l, r, plain, e, !is_upper(a.side))) return true;
  }
  return false;
}
#endif

struct Circuit : WideRow {
  DEVICE bool run(Learner& l, i32 row) { return run_circuit(l, row); }
  DEVICE bool reason(const Learner& l, i32 row, Literal a, i32 t, Premises& why) {
    return explain_circuit(l, row, a, t, why);
  }
#ifdef CHECK_EXPLANATIONS
  static bool allows(const Learner& l, const Wide& r, const bound_t* plain) {
    return may_tour_with(l, r, plain, -1, false);
  }
  static bool moves(i32, bool) { return false; }
  // Edges become false, and loops true. The row looks at one edge at a time, also where two have the same truth.
  static void shave(const Learner& l, const Wide& r, bound_t* plain, bool* changed) {
    const i32* group = arguments_of(problem(l), r) + 1;
    for (i32 e = 0; e < (n_arguments(r) - 1) / 3; ++e, group += 3) {
      bool is_loop = plain[lower_side(group[1])] == plain[lower_side(group[2])];
      i32 side = is_loop ? lower_side(group[0]) : upper_side(group[0]);
      if (plain[side] >= is_loop || may_tour_with(l, r, plain, e, !is_loop)) continue;
      plain[side] = is_loop;
      *changed = true;
    }
  }
  static bool refutes_place(const Learner& l, const Wide& r, bound_t* plain, Literal a) {
    return is_edge_refuted(l, r, plain, a);
  }
#endif
};
