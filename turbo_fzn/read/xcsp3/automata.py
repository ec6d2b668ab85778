"""regular and mdd: states and nodes have names in XCSP3, and numbers in ours.

Ours are deterministic. Where several steps leave a state with the same value, sets of states take the place of states
(Rabin and Scott 1959), for automata and for diagrams alike.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from turbo_fzn.domains import IntSet
from turbo_fzn.errors import ModelError, UnsupportedError
from turbo_fzn.read.model import Array, Ref
from turbo_fzn.read.xcsp3.arguments import Arguments
from turbo_fzn.read.xcsp3.document import Element
from turbo_fzn.read.xcsp3.emitter import Emitter
from turbo_fzn.read.xcsp3.tokens import Scope, as_set

TRANSITION = re.compile(r"\(\s*([^\s,()]+)\s*,\s*([^,()]+?)\s*,\s*([^\s,()]+)\s*\)\s*")
MAX_STATES = 100_000
MAX_CELLS = 10**7

Step = tuple[str, int, str]


def read_transitions(scope: Scope, child: Element) -> list[Step]:
    steps: list[Step] = []
    position, text = 0, child.text
    while position < len(text):
        match = TRANSITION.match(text, position)
        if match is None:
            raise ModelError(f"`{text[position : position + 30]}` is no transition (state, value, state)")
        source, word, target = match.groups()
        values = as_set(scope.item(word))
        if values.size > MAX_CELLS:
            raise UnsupportedError("a transition by more than ten million values")
        steps.extend((source, value, target) for value in values)
        position = match.end()
    return steps


def determinised(steps: Iterable[Step], first: str) -> tuple[dict[frozenset[str], int], list[tuple[int, int, int]]]:
    """Sets of states, numbered from 1 (that of the first state), and the steps between them."""
    leaving: dict[str, dict[int, set[str]]] = {}
    for source, value, target in steps:
        leaving.setdefault(source, {}).setdefault(value, set()).add(target)
    start = frozenset([first])
    numbers, found, waiting = {start: 1}, [], [start]
    while waiting:
        states = waiting.pop()
        ahead: dict[int, set[str]] = {}
        for state in states:
            for value, targets in leaving.get(state, {}).items():
                ahead.setdefault(value, set()).update(targets)
        for value, targets in ahead.items():
            together = frozenset(targets)
            if together not in numbers:
                numbers[together] = len(numbers) + 1
                waiting.append(together)
                if len(numbers) > MAX_STATES:
                    raise UnsupportedError(f"an automaton of more than {MAX_STATES} states")
            found.append((numbers[states], value, numbers[together]))
    return numbers, found


def keep(e: Emitter, kind: str, elements: list) -> Ref:
    """The elements as an array of the model, so that constraints of a group share it."""
    name = Ref(f"#{len(e.model.arrays)}")
    e.model.arrays[name] = Array(name, kind, False, None, elements, [], e.position)
    return name


def regular(a: Arguments) -> None:
    child = a.needed("transitions")
    if child.parsed is None:
        child.parsed = automaton(a, child)
    a.emitter.add("turbo_regular", a.scalars(), *child.parsed)


def automaton(a: Arguments, child: Element) -> tuple[int, IntSet, Ref, int, IntSet]:
    """(number of states, letters, targets, first state, final states), as turbo_regular takes them."""
    final = set(a.needed("final").text.split())
    numbers, steps = determinised(read_transitions(a.scope, child), a.needed("start").text)
    letters = [value for _, value, _ in steps] or [0]
    low, width = min(letters), max(letters) - min(letters) + 1
    if width * len(numbers) > MAX_CELLS:
        raise UnsupportedError("an automaton with more than ten million pairs of a state and a value")
    targets = [0] * (width * len(numbers))
    for source, value, target in steps:
        targets[(source - 1) * width + value - low] = target
    accepting = IntSet.of_values(number for states, number in numbers.items() if states & final)
    return len(numbers), IntSet.interval(low, low + width - 1), keep(a.emitter, "int", targets), 1, accepting


def mdd(a: Arguments) -> None:
    items, child = a.scalars(), a.needed("transitions")
    if child.parsed is None:
        child.parsed = diagram(a, child, len(items))
    a.emitter.add("turbo_mdd", items, *child.parsed)


def diagram(a: Arguments, child: Element, n: int) -> tuple[int, Ref, int, Ref, Ref, Ref]:
    """(nodes, their levels, edges, source, labels, target), as turbo_mdd takes them; node 0 is the end.

    The root is where the first transition starts, as the specification has it.
    """
    steps = read_transitions(a.scope, child)
    if not steps:
        raise ModelError("a decision diagram without transitions")
    _, edges = determinised(steps, steps[0][0])
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
    without_dead_ends(order, ahead, level, n)
    return numbered(a.emitter, [node for node in order if node in ahead], ahead, level)


def without_dead_ends(
    order: list[int], ahead: dict[int, dict[int, list[int]]], level: dict[int, int], n: int
) -> None:
    """Takes away what does not lead to the end, the level behind the n-th; nodes come in the order of their levels."""
    for node in reversed(order):
        if level[node] <= n:
            ahead[node] = {
                target: values
                for target, values in ahead.get(node, {}).items()
                if level[target] > n or target in ahead
            }
            if not ahead[node] and level[node] > 1:
                del ahead[node]


def numbered(
    e: Emitter, nodes: list[int], ahead: dict[int, dict[int, list[int]]], level: dict[int, int]
) -> tuple[int, Ref, int, Ref, Ref, Ref]:
    """The diagram in our numbers: the nodes with edges from 1, and 0 for the end."""
    number = {node: i for i, node in enumerate(nodes, 1)}
    source, label, target = [], [], []
    for node in nodes:
        for other, values in ahead[node].items():
            source.append(number[node])
            label.append(IntSet.of_values(values))
            target.append(number.get(other, 0))
    levels = keep(e, "int", [level[node] for node in nodes])
    sides = keep(e, "int", source), keep(e, "set", label), keep(e, "int", target)
    return len(nodes), levels, len(source), *sides
