"""Global constraints and functions of CPMpy that have a predicate of the same meaning.

The meanings are defined by `value()` in CPMpy, and by turbo_fzn/check/. Where they differ, further facts are added:
tasks of a negative duration or demand violate a constraint of CPMpy, and tasks may be absent. CPMpy decomposes
constraints that are in no table here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from cpmpy.expressions.utils import STAR, get_bounds

from turbo_fzn.cpmpy.facts import Fact, Facts, whole

Translation = Callable[[Facts, Any], list[Fact]]


def _of_list(predicate: str, turned: bool = False) -> Translation:
    """Translates a constraint on one list of integers."""

    def translate(facts: Facts, expression: Any) -> list[Fact]:
        return [Fact(predicate, [facts.numbers(expression.args[::-1] if turned else expression.args)])]

    return translate


def _of_lists(predicate: str) -> Translation:
    """Translates a constraint on several lists of integers."""
    return lambda facts, expression: [Fact(predicate, [facts.numbers(part) for part in expression.args])]


def _different_except(facts: Facts, expression: Any) -> list[Fact]:
    variables, values = expression.args
    return [Fact("all_different_except", [facts.numbers(variables), list(map(whole, values))])]


def _circuit(facts: Facts, expression: Any) -> list[Fact]:
    return [Fact("circuit", [facts.numbers(expression.args), 0])]


def _inverse(facts: Facts, expression: Any) -> list[Fact]:
    forward, back = map(facts.numbers, expression.args)
    return [Fact("inverse", [forward, 0, back, 0])]


def _xor(facts: Facts, expression: Any) -> list[Fact]:
    return [Fact("array_bool_xor", [facts.literals(expression.args)])]


def _in_domain(facts: Facts, expression: Any) -> list[Fact]:
    variable, values = expression.args
    return [Fact("set_in", [facts.number(variable), list(map(whole, values))])]


def _precedence(facts: Facts, expression: Any) -> list[Fact]:
    variables, values = expression.args
    return [Fact("value_precede_chain", [list(map(whole, values)), facts.numbers(variables)])]


def _cardinality(facts: Facts, expression: Any) -> list[Fact]:
    variables, values, counts = expression.args
    predicate = "global_cardinality_closed" if expression.closed else "global_cardinality"
    return [Fact(predicate, [facts.numbers(variables), list(map(whole, values)), facts.numbers(counts)])]


# Tables and automata


def _table(facts: Facts, expression: Any, holds: bool = True) -> list[Fact]:
    variables, rows = expression.args
    cells = np.asarray(rows, np.int64)
    return [Fact("table_int", [facts.numbers(variables), len(cells), cells], holds)]


def _negative_table(facts: Facts, expression: Any) -> list[Fact]:
    return _table(facts, expression, holds=False)


def _short_table(facts: Facts, expression: Any) -> list[Fact]:
    """A star is the interval of all values that its variable may have."""
    variables, rows = expression.args
    least, most = (np.broadcast_to(bounds, np.shape(rows)) for bounds in get_bounds(list(variables)))
    stars = np.asarray(rows, object) == STAR
    low, high = (np.where(stars, bounds, rows).astype(np.int64) for bounds in (least, most))
    return [Fact("turbo_table_interval", [facts.numbers(variables), len(low), low, high])]


def _regular(facts: Facts, expression: Any) -> list[Fact]:
    """States are numbered from 1; 0 means no transition. Letters that no variable takes are left out."""
    variables, _, start, accepting = expression.args
    least, most = (np.array(bounds, object) for bounds in get_bounds(list(variables)))
    steps = {
        step: state
        for step, state in expression.trans_dict.items()
        if not len(variables) or least.min() <= step[1] <= most.max()
    }
    taken = {letter for _, letter in steps} or {0}
    letters = range(min(taken), max(taken) + 1)
    number = {state: place for place, state in enumerate({start: 0, **dict.fromkeys(expression.nodes)}, 1)}
    cells = np.zeros((len(number), len(letters)), np.int64)
    for (source, letter), target in steps.items():
        cells[number[source] - 1, letter - letters.start] = number[target]
    final = [number[state] for state in accepting if state in number]
    return [Fact("regular", [facts.numbers(variables), len(number), letters, cells, number[start], final])]


def _diagram(facts: Facts, expression: Any) -> list[Fact]:
    """Nodes are numbered from 1, level by level: a node that paths of different lengths reach becomes several nodes. 0
    is the end."""
    (variables,) = expression.args
    levels: list[int] = []
    edges: list[tuple[int, int, int]] = []
    layer = {expression.root_node: 1}
    for level in range(1, len(variables) + 1):
        levels += [level] * len(layer)
        following: dict[Any, int] = {}
        for node, number in layer.items():
            for value, target in expression.mapping.get(node, {}).items():
                target_number = following.setdefault(target, len(levels) + 1 + len(following))
                edges.append((number, whole(value), target_number if level < len(variables) else 0))
        layer = following
    sources, values, targets = ([edge[side] for edge in edges] for side in range(3))
    labels = [[value] for value in values]
    return [Fact("mdd", [facts.numbers(variables), len(levels), levels, len(edges), sources, labels, targets])]


# Time


def _not_negative(facts: Facts, expressions: Iterable[Any]) -> list[Fact]:
    """The facts that values are not negative, for values that may be."""
    return [Fact("int_le", [0, facts.number(one)]) for one in expressions if get_bounds(one)[0] < 0]


def _ends(facts: Facts, starts: Sequence[Any], durations: Sequence[Any], ends: Sequence[Any]) -> list[Fact]:
    tasks = zip(starts, durations, ends)
    return [Fact("int_plus", [facts.number(start), facts.number(d), facts.number(end)]) for start, d, end in tasks]


def _cumulative(facts: Facts, expression: Any) -> list[Fact]:
    starts, durations, *ends, demands, capacity = expression.args
    tasks = [facts.numbers(starts), facts.numbers(durations), facts.numbers(demands), facts.number(capacity)]
    sizes = _not_negative(facts, [*durations, *demands])
    return [Fact("cumulative", tasks), *sizes, *(_ends(facts, starts, durations, ends[0]) if ends else [])]


def _no_overlap(facts: Facts, expression: Any) -> list[Fact]:
    starts, durations, *ends = expression.args
    tasks = [facts.numbers(starts), facts.numbers(durations)]
    return [Fact("disjunctive", tasks), *(_ends(facts, starts, durations, ends[0]) if ends else [])]


def _where_present(facts: Facts, sizes: Sequence[Any], present: Sequence[Any]) -> list[Any]:
    """The sizes of tasks, 0 for absent tasks."""
    products = []
    for size, is_present in zip(sizes, present):
        least, most = get_bounds(size)
        product = facts.builder.ints(facts.name("size"), min(int(least), 0), max(int(most), 0))
        facts.builder.int_times(facts.number(is_present), facts.number(size), product)
        products.append(product)
    return products


def _ends_where_present(facts: Facts, present: Sequence[Any], ends: list[Fact]) -> list[Fact]:
    truths = [facts.truth() for _ in ends]
    for truth, end in zip(truths, ends):
        facts.equate(truth, [end])
    return [Fact("bool_clause", [[truth], [facts.literal(one)]]) for truth, one in zip(truths, present)]


def _cumulative_optional(facts: Facts, expression: Any) -> list[Fact]:
    starts, durations, *ends, demands, capacity, present = expression.args
    sizes = [_where_present(facts, part, present) for part in (durations, demands)]
    found = [Fact("int_le", [0, size]) for size in (*sizes[0], *sizes[1])]
    if ends:
        found += _ends_where_present(facts, present, _ends(facts, starts, durations, ends[0]))
    return [Fact("cumulative", [facts.numbers(starts), *sizes, facts.number(capacity)]), *found]


def _no_overlap_optional(facts: Facts, expression: Any) -> list[Fact]:
    starts, durations, *ends, present = expression.args
    tasks = [facts.numbers(starts), _where_present(facts, durations, present)]
    found = _ends_where_present(facts, present, _ends(facts, starts, durations, ends[0])) if ends else []
    return [Fact("disjunctive", tasks), *found]


CONSTRAINTS: dict[str, Translation] = {
    "alldifferent": _of_list("all_different"),
    "alldifferent_except_0": _different_except,
    "alldifferent_except_n": _different_except,
    "allequal": _of_list("all_equal"),
    "circuit": _circuit,
    "cumulative": _cumulative,
    "cumulative_optional": _cumulative_optional,
    "decreasing": _of_list("increasing_int", turned=True),
    "gcc": _cardinality,
    "increasing": _of_list("increasing_int"),
    "indomain": _in_domain,
    "inverse": _inverse,
    "lex_less": _of_lists("lex_less_int"),
    "lex_lesseq": _of_lists("lex_lesseq_int"),
    "mdd": _diagram,
    "negative_table": _negative_table,
    "no_overlap": _no_overlap,
    "no_overlap_optional": _no_overlap_optional,
    "precedence": _precedence,
    "regular": _regular,
    "short_table": _short_table,
    "strictly_decreasing": _of_list("strictly_increasing_int", turned=True),
    "strictly_increasing": _of_list("strictly_increasing_int"),
    "table": _table,
    "xor": _xor,
}

# Functions: what says that one equals a value.


def _of_numbers(predicate: str) -> Callable[[Facts, Any, Any], Fact]:
    return lambda facts, expression, value: Fact(predicate, [*facts.numbers(expression.args), value])


def _of_value_first(predicate: str) -> Callable[[Facts, Any, Any], Fact]:
    return lambda facts, expression, value: Fact(predicate, [value, facts.numbers(expression.args)])


def _element(facts: Facts, expression: Any, value: Any) -> Fact:
    array, index = expression.args
    return Fact("turbo_element", [facts.numbers(array), 0, facts.number(index), value])


def _among(facts: Facts, expression: Any, value: Any) -> Fact:
    array, values = expression.args
    return Fact("among", [value, facts.numbers(array), list(map(whole, values))])


FUNCTIONS: dict[str, Callable[[Facts, Any, Any], Fact]] = {
    "abs": _of_numbers("int_abs"),
    "among": _among,
    "div": _of_numbers("int_div"),
    "element": _element,
    "max": _of_value_first("array_int_maximum"),
    "min": _of_value_first("array_int_minimum"),
    "mod": _of_numbers("int_mod"),
    "mul": _of_numbers("int_times"),
    "nvalue": _of_value_first("nvalue"),
    "pow": _of_numbers("int_pow_fixed"),
}
# How often a value is taken, compared with a number: the predicate, which has the number on the left.
COUNTS = {
    "==": "count_eq", "!=": "count_neq", "<": "count_gt", "<=": "count_geq", ">": "count_lt", ">=": "count_leq",
}  # fmt: skip
