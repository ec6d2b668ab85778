"""regular, cost_regular, mdd and cost_mdd: a word is a path through a layered graph.

The states between the letters, and the steps from one to the next, have truth values (Pesant 2004; as Booleans Quimper
and Walsh 2006). A state is true if a step leads to it; a step is true if the state before it is and its letter is read.
So all are functions of the word, also if it is not accepted. If it is accepted, each true state has a step that leaves
it and each letter a step that reads it, so letters on no remaining path are removed. Only states and steps on paths
from the first state to a final state have variables.

An automaton with too many steps has a variable for each intermediate state and ELEMENT rows for the transitions
instead. The cost of each place has a truth value for each amount, so that its bounds follow from the remaining steps.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from turbo_fzn.base.domains import IntSet
from turbo_fzn.lower import bulk, linear
from turbo_fzn.lower import constraints_bool as boolean
from turbo_fzn.lower import constraints_int as integer
from turbo_fzn.lower.builder import RowBuilder
from turbo_fzn.lower.narrow import Left, Narrower
from turbo_fzn.lower.tuning import TUNING
from turbo_fzn.lower.variables import Infeasible
from turbo_fzn.tnf.arrays import distinct, ranked
from turbo_fzn.tnf.language import ADD, EQ, MAX, MIN, MUL


@dataclass
class Layer:
    """The steps that read one letter: states before and behind (numbered from 0), number of the label, cost."""

    before: np.ndarray
    behind: np.ndarray
    label: np.ndarray
    cost: np.ndarray

    def select(self, kept: np.ndarray) -> Layer:
        return Layer(self.before[kept], self.behind[kept], self.label[kept], self.cost[kept])


def _on_paths(layers: list[Layer], n_states: int, first: int, final: np.ndarray) -> list[Layer]:
    """The steps on paths from the first state to a final one; `final` is a mask of states."""
    reached = np.zeros(n_states, dtype=bool)
    reached[first] = True
    kept = []
    for layer in layers:
        layer = layer.select(reached[layer.before])
        reached = np.zeros(n_states, dtype=bool)
        reached[layer.behind] = True
        kept.append(layer)
    useful = reached & final
    for number in range(len(kept) - 1, -1, -1):
        kept[number] = kept[number].select(useful[kept[number].behind])
        useful = np.zeros(n_states, dtype=bool)
        useful[kept[number].before] = True
    return kept


@dataclass(eq=False, repr=False)
class Graph:
    """The layers, and the truth of each label in each layer."""

    layers: list[Layer]
    labels: list[np.ndarray]
    n_states: int
    labels_are_values: bool = True

    def run(self, b: RowBuilder, first: int, is_path: bool) -> tuple[list[np.ndarray], np.ndarray]:
        """The truths of the steps of each layer, and of the states at the end (-1: cannot be reached).

        If `is_path`, the word is accepted: then each true state or label must have a true step.
        """
        at = np.full(self.n_states, -1)
        at[first] = b.true
        steps = []
        for layer, labels in zip(self.layers, self.labels):
            step = bulk.truths(b, MIN, at[layer.before], labels[layer.label])
            if is_path:
                self.support(b, step, layer.before, at)
                if self.labels_are_values:
                    self.support(b, step, layer.label, labels)
            at = bulk.grouped(b, MAX, step, layer.behind, self.n_states)
            steps.append(step)
        return steps, at

    @staticmethod
    def support(b: RowBuilder, step: np.ndarray, of: np.ndarray, truths: np.ndarray) -> None:
        """States that a state or label is true exactly if one of its steps is."""
        some = bulk.grouped(b, MAX, step, of, len(truths))
        bulk.merge(b, some[some >= 0], truths[some >= 0])


# regular


def regular(
    b: RowBuilder, x: Sequence[int], n_states: int, letters: IntSet, d: Sequence[int], first: int, final: IntSet, r: int
) -> None:
    """r = (the automaton with the transitions d[state, letter], 0 for none, accepts x)."""
    _automaton(b, x, n_states, letters, d, first, final, None, None, r)


def cost_regular(
    b: RowBuilder,
    x: Sequence[int],
    n_states: int,
    letters: IntSet,
    d: Sequence[int],
    first: int,
    final: IntSet,
    costs: Sequence[int],
    total: int,
    r: int,
) -> None:
    """r = (the automaton accepts x, and the costs of its steps, costs[state, letter], sum up to `total`)."""
    _automaton(b, x, n_states, letters, d, first, final, costs, total, r)


def _automaton(
    b: RowBuilder,
    x: Sequence[int],
    n_states: int,
    letters: IntSet,
    d: Sequence[int],
    first: int,
    final: IntSet,
    costs: Sequence[int] | None,
    total: int | None,
    r: int,
) -> None:
    accepting = np.array([state + 1 in final for state in range(n_states)], dtype=bool)
    if not 1 <= first <= n_states:
        return b.merge(r, b.false)
    layers = paths(b, x, [_steps(n_states, letters, d, costs)] * len(x), n_states, first - 1, accepting)
    if b.value(r) == 1:
        if (x and not all(len(layer.before) for layer in layers)) or not (x or accepting[first - 1]):
            raise Infeasible
        for v, layer in zip(x, layers):
            bulk.restrict_to(b, v, distinct(layer.label))
        if total is None and sum(len(layer.before) for layer in layers) > TUNING.automaton_steps:
            target = np.array(d, np.int64).reshape(n_states, letters.size) - 1
            return elements(b, x, target, letters.lower, first - 1, accepting)
    accept(b, graph_of_values(b, x, layers, n_states), first - 1, accepting, total, r)
    return None


def _steps(n_states: int, letters: IntSet, d: Sequence[int], costs: Sequence[int] | None) -> Layer:
    """The steps of an automaton, from any state."""
    shape = (n_states, letters.size)
    target = np.array(d, np.int64).reshape(shape) - 1
    cost = np.array(costs or np.zeros(len(d)), np.int64).reshape(shape)
    before, letter = np.nonzero((target >= 0) & (target < n_states))
    return Layer(before, target[before, letter], letter + (letters.lower if letters else 0), cost[before, letter])


def letters_left(
    b: RowBuilder,
    x: Sequence[int],
    n_states: int,
    letters: IntSet,
    d: Sequence[int],
    first: int,
    final: IntSet,
    *_: Any,
) -> Left:
    """The letters at each place of accepted words."""
    if 1 <= first <= n_states:
        accepting = np.array([state + 1 in final for state in range(n_states)], dtype=bool)
        every = [_steps(n_states, letters, d, None)] * len(x)
        yield from labels_left(x, paths(b, x, every, n_states, first - 1, accepting))


def labels_left(x: Sequence[int], layers: Sequence[Layer]) -> Left:
    for v, layer in zip(x, layers):
        yield v, IntSet.of_values(distinct(layer.label).tolist())


def paths(
    b: RowBuilder, x: Sequence[int], every: Sequence[Layer], n_states: int, first: int, accepting: np.ndarray
) -> list[Layer]:
    """The steps of each letter that are on paths of values of the variables, their labels; `accepting` is a mask."""
    can = [layer.select(bulk.possible(b, v, layer.label)) for v, layer in zip(x, every)]
    return _on_paths(can, n_states, first, accepting)


def graph_of_values(b: RowBuilder, x: Sequence[int], layers: Sequence[Layer], n_states: int) -> Graph:
    """The graph of these steps, whose labels are values."""
    numbered, labels = [], []
    for v, layer in zip(x, layers):
        values, label = ranked(layer.label)
        numbered.append(replace(layer, label=label))
        labels.append(bulk.truths_of_values(b, v, values))
    return Graph(numbered, labels, n_states)


def accept(
    b: RowBuilder, graph: Graph, first: int, accepting: np.ndarray, total: int | None, r: int
) -> list[np.ndarray]:
    """r = (the path ends in an accepting state, and the costs of its steps sum up to `total`, if given).

    Returns the truths of the steps of each layer.
    """
    steps, at = graph.run(b, first, b.value(r) == 1)
    ends = at[accepting & (at >= 0)]
    if total is None or b.value(r) == 1:
        boolean.disjunction(b, ends.tolist(), r)
        if total is not None:
            _state_costs(b, graph, steps, total)
        return steps
    accepted, right = b.variable(0, 1), b.variable(0, 1)
    boolean.disjunction(b, ends.tolist(), accepted)
    every = [int(cost) for layer in graph.layers for cost in layer.cost]
    linear.eq_variable(b, every, [v for step in steps for v in step.tolist()], total, right)
    b.define(r, MIN, accepted, right)
    return steps


def _state_costs(b: RowBuilder, graph: Graph, steps: list[np.ndarray], total: int) -> None:
    """States that `total` is the sum of a cost for each layer, with a truth value for each amount."""
    places = []
    for layer, step in zip(graph.layers, steps):
        amounts, place = np.unique(layer.cost, return_inverse=True)
        cost = b.variable(int(amounts[0]), int(amounts[-1]))
        bulk.restrict_to(b, cost, amounts)
        some = bulk.grouped(b, MAX, step, place.reshape(-1), len(amounts))
        bulk.merge(b, some, bulk.truths_of_values(b, cost, amounts))
        places.append(b.find(cost))
    linear.eq_variable(b, [1] * len(places), places, total, b.true)


def elements(
    b: RowBuilder, x: Sequence[int], target: np.ndarray, least: int, first: int, accepting: np.ndarray
) -> None:
    """States acceptance with a variable for each intermediate state, and target[state, letter] as elements of a
    table."""
    n_states, n_letters = target.shape
    cells = target.reshape(-1).tolist()
    state = b.constant(first)
    for letter in x:
        begin = b.row(MUL, state, b.constant(n_letters))
        index = b.row(ADD, begin, letter if least == 0 else b.row(ADD, letter, b.constant(-least)))
        state = b.variable(0, n_states - 1)
        b.define_element(state, index, cells, 0)
    bulk.restrict_to(b, state, np.flatnonzero(accepting))


# Decision diagrams


def mdd(
    b: RowBuilder,
    x: Sequence[int],
    n_nodes: int,
    level: Sequence[int],
    n_edges: int,
    source: Sequence[int],
    label: Sequence[IntSet],
    target: Sequence[int],
    r: int,
) -> None:
    """r = (x is a path from node 1 to node 0); the labels of the edges that leave one node have no value in common."""
    _diagram(b, x, n_nodes, level, source, label, [0] * n_edges, target, None, r)


def cost_mdd(
    b: RowBuilder,
    x: Sequence[int],
    n_nodes: int,
    level: Sequence[int],
    n_edges: int,
    source: Sequence[int],
    label: Sequence[IntSet],
    cost: Sequence[int],
    target: Sequence[int],
    total: int,
    r: int,
) -> None:
    """r = (x is a path from node 1 to node 0, and the costs of its edges sum up to `total`)."""
    _diagram(b, x, n_nodes, level, source, label, cost, target, total, r)


def _diagram(
    b: RowBuilder,
    x: Sequence[int],
    n_nodes: int,
    level: Sequence[int],
    source: Sequence[int],
    label: Sequence[IntSet],
    cost: Sequence[int],
    target: Sequence[int],
    total: int | None,
    r: int,
) -> None:
    letters = list(dict.fromkeys(label))
    can = _edges_that_can(b, x, letters, level, source, label, cost, target)
    accepting = np.zeros(n_nodes + 1, dtype=bool)
    accepting[0] = True
    layers = _on_paths(can, n_nodes + 1, 1, accepting) if x and n_nodes else []
    if not layers or not all(len(layer.before) for layer in layers):
        return b.merge(r, b.false)
    labels, sets = [], []
    for v, layer in zip(x, layers):
        present, layer.label = ranked(layer.label)
        sets.append([letters[i] for i in present])
        if b.value(r) == 1:
            bulk.restrict_to(b, v, IntSet.of_ranges(pair for values in sets[-1] for pair in values.ranges))
        labels.append(np.array([_truth_of_set(b, v, values) for values in sets[-1]], np.int64))
    steps = accept(b, Graph(layers, labels, n_nodes + 1, False), 1, accepting, total, r)
    if b.value(r) == 1:
        for v, layer, read, step in zip(x, layers, sets, steps):
            _state_readers(b, v, layer, read, step)
    return None


def _edges_that_can(
    b: RowBuilder,
    x: Sequence[int],
    letters: Sequence[IntSet],
    level: Sequence[int],
    source: Sequence[int],
    label: Sequence[IntSet],
    cost: Sequence[int],
    target: Sequence[int],
) -> list[Layer]:
    """For each variable the edges of its level whose labels contain a value of its domain."""
    here = np.array(level, np.int64)[np.array(source, np.int64) - 1] if source else np.zeros(0, np.int64)
    number = {values: i for i, values in enumerate(letters)}
    every = Layer(*(np.array(side, np.int64) for side in (source, target, [number[values] for values in label], cost)))
    can = []
    for place, v in enumerate(x, 1):
        values = bulk.domain(b, v)
        open_ = np.array([bool(one & values) for one in letters], dtype=bool)
        can.append(every.select((here == place) & open_[every.label]))
    return can


def _truth_of_set(b: RowBuilder, v: int, values: IntSet) -> int:
    truth = b.variable(0, 1)
    integer.member(b, v, values, truth)
    return b.find(truth)


def _state_readers(b: RowBuilder, v: int, layer: Layer, sets: list[IntSet], step: np.ndarray) -> None:
    """States that each value has an edge that reads it, if the labels have few values in all."""
    allowed = bulk.domain(b, v)
    if sum((values & allowed).size for values in sets) > TUNING.automaton_steps:
        return
    for value in sorted({value for values in sets for value in values & allowed}):
        reads = np.array([value in values for values in sets])[layer.label]
        bulk.imply(b, bulk.shared(b, EQ, v, b.constant(value)), bulk.tree(b, MAX, step[reads]))


def values_on_paths(
    b: RowBuilder,
    x: Sequence[int],
    n_nodes: int,
    level: Sequence[int],
    n_edges: int,
    source: Sequence[int],
    label: Sequence[IntSet],
    *rest: Any,
) -> Left:
    """The values at each place of paths in a decision diagram."""
    if x and n_nodes:
        letters = list(dict.fromkeys(label))
        can = _edges_that_can(b, x, letters, level, source, label, [0] * n_edges, rest[-1])
        accepting = np.arange(n_nodes + 1) == 0
        for v, layer in zip(x, _on_paths(can, n_nodes + 1, 1, accepting)):
            sets = (letters[number] for number in distinct(layer.label).tolist())
            yield v, IntSet.of_ranges(pair for values in sets for pair in values.ranges)


NARROWERS: dict[str, Narrower] = {
    "turbo_regular": letters_left,
    "turbo_cost_regular": letters_left,
    "turbo_mdd": values_on_paths,
    "turbo_cost_mdd": lambda b, *arguments: values_on_paths(b, *arguments[:-1]),  # without the total cost
}
LOWERINGS: dict[str, Callable[..., None]] = {
    "turbo_regular": regular,
    "turbo_cost_regular": cost_regular,
    "turbo_mdd": mdd,
    "turbo_cost_mdd": cost_mdd,
}
