// Debug builds (-DCHECK_EXPLANATIONS): whether the relation of a wide row may hold between bounds, by plain code that
// shares nothing with the rows' propagation. May hold means that no such reason against it is known.
#pragma once

#include "../../core/interval.h"
#include "../state/literal.h"
#include "../state/parts.h"
#include "../state/sides.h"
#include "wide.h"

// Whether the variables can take different values: each value goes to one that may have it and has to take one first.
static bool may_differ(const Learner& l, const Wide& r, const bound_t* plain) {
  const i32* x = arguments_of(problem(l), r);
  i32 n = n_arguments(r), n_placed = 0;
  bool* placed = new bool[(u64)n]();
  __int128 value = -INFINITE_BOUND;
  bool good = true;
  while (good && n_placed < n) {
    i32 best = -1;
    __int128 next = INFINITE_BOUND;
    for (i32 i = 0; i < n; ++i) {
      if (placed[i]) continue;
      next = minimum(next, maximum((__int128)plain[lower_side(x[i])], value));
      bool may_take = plain[lower_side(x[i])] <= value;
      if (may_take && (best < 0 || plain[upper_side(x[i])] > plain[upper_side(x[best])])) best = i;
    }
    if (best < 0) {
      value = next;
      continue;
    }
    good = value <= -(__int128)plain[upper_side(x[best])];
    placed[best] = true;
    ++n_placed;
    ++value;
  }
  delete[] placed;
  return good;
}

// Whether each task by itself uses at most the capacity, and so do those that run for certain when one starts at the
// latest.
static bool may_fit(const Learner& l, const Wide& r, const bound_t* plain) {
  const i32* arguments = arguments_of(problem(l), r);
  i32 n = n_arguments(r);
  for (i32 j = 1; j < n; j += 3) {
    __int128 time = -(__int128)plain[upper_side(arguments[j])], used = 0;
    bool runs = plain[lower_side(arguments[j + 1])] > 0;
    if (runs && plain[lower_side(arguments[j + 2])] > -(__int128)plain[upper_side(arguments[0])]) return false;
    for (i32 i = 1; i < n; i += 3) {
      __int128 start = plain[lower_side(arguments[i])], latest = -(__int128)plain[upper_side(arguments[i])];
      __int128 length = plain[lower_side(arguments[i + 1])], use = plain[lower_side(arguments[i + 2])];
      if (latest <= time && time < start + length && use > 0) used += use;
    }
    if (used > -(__int128)plain[upper_side(arguments[0])]) return false;
  }
  return true;
}

// Whether a start is impossible, whatever its value is. Where there is room for the task, there is also room for it if
// it starts at the lowest value, or at an end of another task that is sure to run: between them it can begin earlier.
static bool has_no_start(const Learner& l, const Wide& r, bound_t* plain, i32 start) {
  const i32* arguments = arguments_of(problem(l), r);
  bound_t low = plain[lower_side(start)], negated_high = plain[upper_side(start)];
  bool any = false, is_start = false;
  for (i32 i = 1; i < n_arguments(r) && !any; i += 3) {
    is_start = is_start || arguments[i] == start;
    __int128 end = (__int128)plain[lower_side(arguments[i])] + plain[lower_side(arguments[i + 1])];
    __int128 first = arguments[i] == start ? low : end;
    if (first < low || first > -(__int128)negated_high) continue;
    plain[lower_side(start)] = (bound_t)first;
    plain[upper_side(start)] = (bound_t)-first;
    any = may_fit(l, r, plain);
    plain[lower_side(start)] = low;
    plain[upper_side(start)] = negated_high;
  }
  return is_start && !any;
}

// Whether the member whose truth holds, or else some possible member, can be the result.
static bool may_choose(const Learner& l, const Wide& r, const bound_t* plain) {
  const i32* arguments = arguments_of(problem(l), r);
  i32 result = arguments[0];
  bool any = false;
  for (i32 i = 3; i < n_arguments(r); i += 2) {
    i32 truth = arguments[i], member = arguments[i + 1];
    bool meets = plain[lower_side(result)] <= -(value_t)plain[upper_side(member)] &&
                 plain[lower_side(member)] <= -(value_t)plain[upper_side(result)];
    if (plain[lower_side(truth)] >= 1 && !meets) return false;
    __int128 value = (__int128)plain[lower_side(arguments[2])] + (i - 3) / 2;
    bool is_at = plain[lower_side(arguments[1])] <= value && value <= -(__int128)plain[upper_side(arguments[1])];
    any = any || (meets && is_at && plain[upper_side(truth)] <= -1);
  }
  return any;
}

// Whether two members of an element have one truth.
static bool has_twins(const Learner& l, const Wide& r) {
  const i32* arguments = arguments_of(problem(l), r);
  for (i32 i = 3; i < n_arguments(r); i += 2) {
    for (i32 j = 3; j < i; j += 2) {
      if (arguments[i] == arguments[j] && -sides(l).now[upper_side(arguments[i])] > 0) return true;
    }
  }
  return false;
}

// What all tasks use from a to b at least is not more than there is room for: energetic reasoning.
static bool may_fill(const Learner& l, const Wide& r, const bound_t* plain, __int128 a, __int128 b) {
  const i32* arguments = arguments_of(problem(l), r);
  __int128 room = -(b - a) * plain[upper_side(arguments[0])];
  for (i32 i = 1; i < n_arguments(r); i += 3) {
    __int128 first = plain[lower_side(arguments[i])], last = -(__int128)plain[upper_side(arguments[i])];
    __int128 length = plain[lower_side(arguments[i + 1])], use = plain[lower_side(arguments[i + 2])];
    __int128 left = maximum(minimum(first + length, b) - maximum(first, a), (__int128)0);
    __int128 right = maximum(minimum(last + length, b) - maximum(last, a), (__int128)0);
    if (use > 0 && length > 0) room -= use * minimum(left, right);
  }
  return room >= 0;
}

// If any window is too small, one of these is (Baptiste, Le Pape, Nuijten, Annals of OR 1999): from the earliest or
// latest start or the earliest end of a task to the latest end or start or the earliest end of one, or as far from the
// middle of all times that are left to a task.
static bool may_fill_all(const Learner& l, const Wide& r, const bound_t* plain) {
  const i32* arguments = arguments_of(problem(l), r);
  i32 n = (n_arguments(r) - 1) / 3;
  __int128* times = new __int128[4 * (u64)n];
  for (i32 i = 0; i < n; ++i) {
    i32 start = arguments[3 * i + 1];
    __int128 first = plain[lower_side(start)], last = -(__int128)plain[upper_side(start)];
    __int128 length = plain[lower_side(arguments[3 * i + 2])];
    const __int128 own[] = {first, last, first + length, last + length};
    for (i32 k = 0; k < 4; ++k) times[4 * i + k] = own[k];
  }
  bool good = true;
  for (i32 i = 0; good && i < 4 * n; ++i) {
    for (i32 j = 0; good && j < 4 * n; ++j) {
      __int128 other = times[j / 4 * 4] + times[j / 4 * 4 + 3] - times[i];
      if (times[i] < times[j]) good = may_fill(l, r, plain, times[i], times[j]);
      if (good && times[i] != other) good = may_fill(l, r, plain, minimum(times[i], other), maximum(times[i], other));
    }
  }
  delete[] times;
  return good;
}

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
