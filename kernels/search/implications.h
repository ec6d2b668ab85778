// Literals that imply each other: the strongly connected components of a graph of implications (Tarjan, SIAM Journal on
// Computing 1972), by a stack of its own, since a path may have millions of literals. Host code, for one thread.
#pragma once

#include "../core/port.h"

// A graph of n literals: those that literal i implies are targets[starts[i]], ..., targets[starts[i + 1] - 1].
struct Implications {
  i32* starts;
  i32* targets;
  i32 n;
};

// Makes the graph of pairs of literals, each of which says that the first implies the second, and so that the negation
// of the second implies that of the first. `starts` has n + 1 zeros, `targets` has room for two numbers a pair.
DEVICE void fill_graph(const Implications& graph, const i32* pairs, i64 n_pairs) {
  for (i64 i = 0; i < n_pairs; ++i) {
    ++graph.starts[pairs[2 * i]];
    ++graph.starts[pairs[2 * i + 1] ^ 1];
  }
  for (i32 literal = 0; literal < graph.n; ++literal) graph.starts[literal + 1] += graph.starts[literal];
  for (i64 i = 0; i < n_pairs; ++i) {  // from the end of each part to its start
    i32 literal = pairs[2 * i], implied = pairs[2 * i + 1];
    graph.targets[--graph.starts[literal]] = implied;
    graph.targets[--graph.starts[implied ^ 1]] = literal ^ 1;
  }
}

// The working memory of the search for components, n numbers each but for `component`, which is the result.
struct Components {
  i32* component;  // the number of each literal's component, -1 while that is unknown
  i32* reached;    // when the literal was reached, counted from 1; 0: not yet
  i32* low;        // the earliest literal known to be in its component
  i32* next;       // the place of its next implication
  i32* path;       // from the literal where the search began
  i32* open;       // literals that were reached and whose component is unknown
  i32 n_path, n_open, n_reached, n_components;
};

constexpr i32 COMPONENT_ARRAYS = 5;  // format: of working memory

// Goes to a literal that was not reached before.
DEVICE void enter_literal(Components& s, const Implications& graph, i32 literal) {
  s.reached[literal] = s.low[literal] = ++s.n_reached;
  s.next[literal] = graph.starts[literal];
  s.path[s.n_path++] = s.open[s.n_open++] = literal;
}

// Leaves the last literal of the path, of which all implications are known. It closes its component if it is the
// earliest one of that.
DEVICE void leave_literal(Components& s) {
  i32 literal = s.path[--s.n_path];
  if (s.low[literal] == s.reached[literal]) {
    i32 member;
    do {
      member = s.open[--s.n_open];
      s.component[member] = s.n_components;
    } while (member != literal);
    ++s.n_components;
  }
  if (s.n_path > 0) {
    i32 before = s.path[s.n_path - 1];
    if (s.low[literal] < s.low[before]) s.low[before] = s.low[literal];
  }
}

// Numbers the components.
DEVICE void find_components(Components& s, const Implications& graph) {
  for (i32 literal = 0; literal < graph.n; ++literal) {
    if (s.reached[literal]) continue;
    enter_literal(s, graph, literal);
    while (s.n_path > 0) {
      i32 here = s.path[s.n_path - 1];
      if (s.next[here] == graph.starts[here + 1]) {
        leave_literal(s);
        continue;
      }
      i32 target = graph.targets[s.next[here]++];
      if (!s.reached[target]) enter_literal(s, graph, target);
      else if (s.component[target] < 0 && s.reached[target] < s.low[here]) s.low[here] = s.reached[target];
    }
  }
}
