"""regular and mdd: states and nodes have names in XCSP3, and numbers in the solver's constraints.

The solver's constraints are deterministic. If several steps leave a state with the same value, states are replaced by
sets of states (Rabin and Scott 1959), for automata and for diagrams.
"""

from __future__ import annotations

from collections.abc import Iterable

from turbo_fzn.base.domains import IntSet
from turbo_fzn.base.errors import ModelError, UnsupportedError
from turbo_fzn.read.model import Array, Ref
from turbo_fzn.read.tuning import TUNING
from turbo_fzn.read.xcsp3.arguments import Arguments
from turbo_fzn.read.xcsp3.document import Element
from turbo_fzn.read.xcsp3.emitter import Emitter
from turbo_fzn.read.xcsp3.tokens import Scope, as_set

Step = tuple[str, int, str]


def _read_transitions(scope: Scope, child: Element) -> list[Step]:
    text = "".join(child.text.split())
    if not text:
        return []
    if text[0] != "(" or text[-1] != ")":
        raise ModelError(f"`{text[:30]}` is no list of transitions (state, value, state)")
    known: dict[str, IntSet] = {}
    steps: list[Step] = []
    for one in text[1:-1].split(")("):
        words = one.split(",")
        if len(words) != 3 or not all(words) or "(" in one or ")" in one:
            raise ModelError(f"`({one[:30]})` is no transition (state, value, state)")
        source, word, target = words
        if word not in known:
            known[word] = as_set(scope.item(word))
        values = known[word]
        if values.size == 1:
            steps.append((source, values.lower, target))
        elif values.size > TUNING.list_items or len(steps) > TUNING.list_items:
            raise UnsupportedError("transitions by more than ten million values")
        else:
            steps.extend((source, value, target) for value in values)
    return steps


def _determinised(steps: Iterable[Step], first: str) -> tuple[dict[frozenset[str], int], list[tuple[int, int, int]]]:
    """Sets of states, numbered from 1 (the set of the first state), and the steps between them."""
    leaving = _steps_from(steps)
    start = frozenset([first])
    numbers, found, waiting = {start: 1}, [], [start]
    while waiting:
        states = waiting.pop()
        number = numbers[states]
        for value, targets in _steps_together([leaving[state] for state in states if state in leaving]).items():
            target = numbers.get(targets)
            if target is None:
                target = numbers[targets] = len(numbers) + 1
                waiting.append(targets)
                if target > TUNING.states:
                    raise UnsupportedError(f"an automaton of more than {TUNING.states} states")
            found.append((number, value, target))
    return numbers, found


def _steps_from(steps: Iterable[Step]) -> dict[str, dict[int, frozenset[str]]]:
    """For each state, the successors by value."""
    leaving: dict[str, dict[int, frozenset[str]]] = {}
    alone: dict[str, frozenset[str]] = {}
    for source, value, target in steps:
        ahead = leaving.get(source)
        if ahead is None:
            ahead = leaving[source] = {}
        if target not in alone:
            alone[target] = frozenset([target])
        ahead[value] = ahead[value] | alone[target] if value in ahead else alone[target]
    return leaving


def _steps_together(every: list[dict[int, frozenset[str]]]) -> dict[int, frozenset[str]]:
    """The common successors of several states, by value."""
    if len(every) == 1:
        return every[0]
    together: dict[int, frozenset[str]] = {}
    for ahead in every:
        for value, targets in ahead.items():
            together[value] = together[value] | targets if value in together else targets
    return together


def keep(e: Emitter, kind: str, elements: list) -> Ref:
    """The elements as an array of the model, so that constraints of a group share it."""
    name = Ref(f"#{len(e.model.arrays)}")
    e.model.arrays[name] = Array(name, kind, False, None, elements, [], e.position)
    return name


def regular(a: Arguments) -> None:
    child = a.needed("transitions")
    if child.parsed is None:
        child.parsed = _automaton(a, child)
    a.emitter.add("turbo_regular", a.scalars(), *child.parsed)


def _automaton(a: Arguments, child: Element) -> tuple[int, IntSet, Ref, int, IntSet]:
    """(number of states, letters, targets, first state, final states): the arguments of turbo_regular."""
    final = set(a.needed("final").text.split())
    numbers, steps = _determinised(_read_transitions(a.scope, child), a.needed("start").text)
    letters = [value for _, value, _ in steps] or [0]
    low, width = min(letters), max(letters) - min(letters) + 1
    if width * len(numbers) > TUNING.list_items:
        raise UnsupportedError("an automaton with more than ten million pairs of a state and a value")
    targets = [0] * (width * len(numbers))
    for source, value, target in steps:
        targets[(source - 1) * width + value - low] = target
    accepting = IntSet.of_values(number for states, number in numbers.items() if states & final)
    return len(numbers), IntSet.interval(low, low + width - 1), keep(a.emitter, "int", targets), 1, accepting


def mdd(a: Arguments) -> None:
    items, child = a.scalars(), a.needed("transitions")
    if child.parsed is None:
        child.parsed = _diagram(a, child, len(items))
    a.emitter.add("turbo_mdd", items, *child.parsed)


def _diagram(a: Arguments, child: Element, n: int) -> tuple[int, Ref, int, Ref, Ref, Ref]:
    """(nodes, their levels, edges, source, labels, target): the arguments of turbo_mdd; node 0 is the end.

    By the specification the root is the source of the first transition.
    """
    steps = _read_transitions(a.scope, child)
    if not steps:
        raise ModelError("a decision diagram without transitions")
    _, edges = _determinised(steps, steps[0][0])
    ahead: dict[int, dict[int, list[int]]] = {}
    for source, value, target in edges:
        ahead.setdefault(source, {}).setdefault(target, []).append(value)
    level, order = {1: 1}, [1]
    for node in order:
        for target in ahead.get(node, {}):
            if target not in level:
                level[target] = level[node] + 1
                order.append(target)
            if level[target] != level[node] + 1:
                raise ModelError("the paths of a decision diagram have different lengths")
    if any(node in ahead and level[node] > n for node in order):
        raise ModelError("the paths of a decision diagram do not have the length of its list")
    _without_dead_ends(order, ahead, level, n)
    return _numbered(a.emitter, [node for node in order if node in ahead], ahead, level)


def _without_dead_ends(order: list[int], ahead: dict[int, dict[int, list[int]]], level: dict[int, int], n: int) -> None:
    """Removes edges and nodes from which the end, the level after the n-th, cannot be reached; `order` is by level."""
    for node in reversed(order):
        if level[node] <= n:
            ahead[node] = {
                target: values for target, values in ahead.get(node, {}).items() if level[target] > n or target in ahead
            }
            if not ahead[node] and level[node] > 1:
                del ahead[node]


def _numbered(
    e: Emitter, nodes: list[int], ahead: dict[int, dict[int, list[int]]], level: dict[int, int]
) -> tuple[int, Ref, int, Ref, Ref, Ref]:
    """The diagram renumbered: nodes with edges from 1 on, and 0 for the end."""
    number = {node: i for i, node in enumerate(nodes, 1)}
    source, label, target = [], [], []
    intervals: dict[tuple[int, int], IntSet] = {}
    for node in nodes:
        for other, values in ahead[node].items():
            if len(values) == 1:  # the usual case
                in_a_row: tuple[tuple[int, int], ...] = ((values[0], values[0]),)
            else:
                in_a_row = IntSet.of_values(values).ranges  # an interval needs fewer rows than a set
            for one in in_a_row:
                if one not in intervals:
                    intervals[one] = IntSet((one,))
                source.append(number[node])
                label.append(intervals[one])
                target.append(number.get(other, 0))
    levels = keep(e, "int", [level[node] for node in nodes])
    sides = keep(e, "int", source), keep(e, "set", label), keep(e, "int", target)
    return len(nodes), levels, len(source), *sides
