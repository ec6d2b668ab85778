"""With one block the search tree is the one that the annotation says: the order of the solutions shows it.

The reference is a depth-first search on intervals without any propagation, written from the reference manual's
words on search annotations. On models without constraints the order of all solutions is then a function of the
annotation alone, also for the choices that look at the domains.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from support.command import write
from support.flatzinc_text import make_model
from support.warm import ask
from turbo_fzn import solve_text
from turbo_fzn.base.domains import IntSet
from turbo_fzn.read.model import Call, Goal, Ref

Interval = tuple[int, int]
Store = dict[str, Interval]


def size(interval: Interval) -> int:
    return interval[1] - interval[0] + 1


# Each is minimised over the variables not yet fixed; ties go to the earliest.
VARIABLE_CHOICES: dict[str, Callable[[Interval], int]] = {
    "input_order": lambda interval: 0,
    "first_fail": size,
    "anti_first_fail": lambda interval: -size(interval),
    "smallest": lambda interval: interval[0],
    "largest": lambda interval: -interval[1],
}


def halves(low: int, high: int) -> list[Interval]:
    middle = (low + high) // 2
    return [(low, middle), (middle + 1, high)]


def around_median(low: int, high: int) -> list[Interval]:
    middle = (low + high) // 2
    return [(middle, middle), (low, middle - 1), (middle + 1, high)]


VALUE_CHOICES: dict[str, Callable[[int, int], list[Interval]]] = {
    "indomain_min": lambda low, high: [(low, low), (low + 1, high)],
    "indomain_max": lambda low, high: [(high, high), (low, high - 1)],
    "indomain_median": around_median,
    "indomain_split": halves,
    "indomain_reverse_split": lambda low, high: halves(low, high)[::-1],
    "outdomain_min": lambda low, high: [(low + 1, high), (low, low)],
    "outdomain_max": lambda low, high: [(low, high - 1), (high, high)],
    "outdomain_median": lambda low, high: around_median(low, high)[1:] + around_median(low, high)[:1],
}
DOMAINS: Store = {"x": (-1, 3), "y": (0, 1), "z": (-4, -2), "w": (2, 5)}


def search(store: Store, strategies: list[tuple[list[str], str, str]]) -> Iterator[dict[str, int]]:
    """All solutions in the order of the annotation."""
    for names, variable_choice, value_choice in strategies:
        open_names = [name for name in names if size(store[name]) > 1]
        if open_names:
            chosen = min(open_names, key=lambda name: VARIABLE_CHOICES[variable_choice](store[name]))
            for low, high in VALUE_CHOICES[value_choice](*store[chosen]):
                if low <= high:
                    yield from search(store | {chosen: (low, high)}, strategies)
            return
    yield {name: low for name, (low, _) in store.items()}


def annotation(names: list[str], variable_choice: str, value_choice: str) -> Call:
    return Call("int_search", [[Ref(name) for name in names], Ref(variable_choice), Ref(value_choice), Ref("complete")])


def solve_in_order(
    store: Store, annotations: list, engine: str, simplify: bool = True, **options: object
) -> list[dict]:
    domains = {name: IntSet.interval(*interval) for name, interval in store.items()}
    model = make_model(domains, [], Goal("satisfy", None, annotations, 0))
    result = solve_text(model.text, arch=engine, blocks=1, simplify=simplify, all_solutions=True, **options)
    assert result.status == "ALL_SOLUTIONS"
    return result.solutions


@pytest.mark.covers("A5", "A6")
@pytest.mark.parametrize("value_choice", VALUE_CHOICES)
@pytest.mark.parametrize("variable_choice", VARIABLE_CHOICES)
def test_solutions_come_in_the_order_of_the_annotation(engine, variable_choice, value_choice):
    names = ["w", "x", "z", "y"]
    expected = list(search(DOMAINS, [(names, variable_choice, value_choice)]))
    for simplify in (True, False):
        found = solve_in_order(DOMAINS, [annotation(names, variable_choice, value_choice)], engine, simplify)
        assert found == expected


@pytest.mark.covers("A3")
def test_a_sequence_of_searches_is_followed_in_order(engine):
    parts = [(["z", "x"], "first_fail", "indomain_max"), (["w", "z", "y"], "largest", "indomain_split")]
    sequence = Call("seq_search", [[annotation(*part) for part in parts]])
    assert solve_in_order(DOMAINS, [sequence], engine) == list(search(DOMAINS, parts))


# ---- domains with holes: lists of values, in order

Values = tuple[int, ...]
CHOICES_AMONG_VALUES: dict[str, Callable[[Values], int]] = {
    "input_order": lambda values: 0,
    "first_fail": len,
    "anti_first_fail": lambda values: -len(values),
    "smallest": lambda values: values[0],
    "largest": lambda values: -values[-1],
    "max_regret": lambda values: values[0] - values[1],
}


def halves_of(values: Values) -> list[Values]:
    middle = (values[0] + values[-1]) // 2
    return [tuple(v for v in values if v <= middle), tuple(v for v in values if v > middle)]


def around_median_of(values: Values) -> list[Values]:
    place = (len(values) - 1) // 2
    return [values[place : place + 1], values[:place], values[place + 1 :]]


PARTS_OF_VALUES: dict[str, Callable[[Values], list[Values]]] = {
    "indomain_min": lambda values: [values[:1], values[1:]],
    "indomain_max": lambda values: [values[-1:], values[:-1]],
    "indomain_median": around_median_of,
    "indomain_split": halves_of,
    "indomain_reverse_split": lambda values: halves_of(values)[::-1],
    "outdomain_max": lambda values: [values[:-1], values[-1:]],
}
HOLES = [
    {"x": (4, 5, 9, 13), "y": (3, 14, 15, 17), "z": (5, 7, 8, 12, 13)},
    {"x": (0, 4, 8, 9), "y": (0, 1, 8, 11, 13), "z": (6, 7, 9, 10, 14)},
    {"x": (6, 7, 8, 15, 17), "y": (6, 8, 15), "z": (0, 1, 2, 3, 4)},
]


def search_values(store: dict[str, Values], variable_choice: str, value_choice: str) -> Iterator[dict[str, int]]:
    open_names = [name for name, values in store.items() if len(values) > 1]
    if not open_names:
        yield {name: value for name, (value,) in store.items()}
        return
    chosen = min(open_names, key=lambda name: CHOICES_AMONG_VALUES[variable_choice](store[name]))
    for part in PARTS_OF_VALUES[value_choice](store[chosen]):
        if part:
            yield from search_values(store | {chosen: part}, variable_choice, value_choice)


@pytest.mark.covers("A5", "A6")
@pytest.mark.parametrize("value_choice", PARTS_OF_VALUES)
@pytest.mark.parametrize("variable_choice", CHOICES_AMONG_VALUES)
def test_domains_with_holes_are_searched_by_their_values(engine, variable_choice, value_choice):
    for store in HOLES:
        domains = {name: IntSet.of_values(values) for name, values in store.items()}
        goal = Goal("satisfy", None, [annotation(list(store), variable_choice, value_choice)], 0)
        for simplify in (True, False):
            text = make_model(domains, [], goal).text
            result = solve_text(text, arch=engine, blocks=1, simplify=simplify, all_solutions=True)
            assert result.solutions == list(search_values(store, variable_choice, value_choice))


GREATER_REGRET = """\
var 1..3: x :: output_var;
var {domain}: y :: output_var;
{constraint}
solve :: int_search([x,y],max_regret,indomain_min,complete) satisfy;
"""


@pytest.mark.covers("A5")
@pytest.mark.parametrize(
    ("domain", "constraint", "least"),
    [
        ("{1,5,9}", "", 1),
        ("0..40", "constraint int_ne(y,1);", 0),
        ("0..9000", f"constraint set_in(y,{{0,{','.join(map(str, range(5, 9001)))}}});", 0),
        ("0..90000", f"constraint set_in(y,{{{','.join(map(str, range(0, 90000, 2)))}}});", 0),
    ],
    ids=["a table", "a value removed", "a gap before many values", "many gaps"],
)
def test_the_command_labels_the_variable_of_greatest_regret_first(tmp_path, domain, constraint, least):
    text = GREATER_REGRET.format(domain=domain, constraint=constraint)
    answer = ask("--arch", "cpu", "-n", 4, write(tmp_path, text))
    assert [lines[0] for lines in answer.solutions] == [f"x = {x};" for x in (1, 2, 3, 1)]
    assert [lines[1] for lines in answer.solutions[:3]] == [f"y = {least};"] * 3


def test_constraints_do_not_change_a_static_order(engine):
    names = [Ref(name) for name in ("w", "x", "z", "y")]
    domains = {name: IntSet.interval(*interval) for name, interval in DOMAINS.items()}
    items = [("int_lin_le", [1, 2, 1, -1], names, 3), ("int_lin_ne", [1, 1], names[:2], 4)]
    for value_choice in ("indomain_min", "indomain_max", "indomain_split", "indomain_reverse_split"):
        model = make_model(domains, items, Goal("satisfy", None, [annotation(names, "input_order", value_choice)], 0))
        result = solve_text(model.text, arch=engine, blocks=1, all_solutions=True)
        expected = [
            one
            for one in search(DOMAINS, [(names, "input_order", value_choice)])
            if one["w"] + 2 * one["x"] + one["z"] - one["y"] <= 3 and one["w"] + one["x"] != 4
        ]
        assert result.solutions == expected


@pytest.mark.parametrize("value_choice", VALUE_CHOICES)
def test_a_wide_domain_is_searched_to_its_end_in_order(engine, value_choice):
    wide, part = {"x": (-30, 40), "y": (0, 2)}, (["x", "y"], "input_order", value_choice)
    assert solve_in_order(wide, [annotation(*part)], engine) == list(search(wide, [part]))


@pytest.mark.parametrize("value_choice", ["indomain_random", "indomain_split_random", "outdomain_random"])
def test_a_wide_domain_is_searched_to_its_end_in_random_order(engine, value_choice):
    for seed in range(10):
        found = solve_in_order({"x": (1, 3000)}, [annotation(["x"], "input_order", value_choice)], engine, seed=seed)
        assert sorted(one["x"] for one in found) == list(range(1, 3001))


def test_equal_seeds_give_equal_runs_and_a_random_choice_depends_on_the_seed(engine):
    random = [annotation(list(DOMAINS), "input_order", "indomain_random")]
    runs = [solve_in_order(DOMAINS, random, engine, seed=seed) for seed in (1, 1, 2, 3, 4)]
    assert runs[0] == runs[1]
    assert any(run != runs[0] for run in runs[2:])
    assert all(sorted(map(repr, run)) == sorted(map(repr, runs[0])) for run in runs)


# ---- rows that want members, where a model of truths has no annotation


Row = tuple[tuple[str, ...], int]  # names, and how many of them are 1


def counted(store: Store, rows: list[Row]) -> Store | None:
    """The store after all rows are propagated: members are known where no or all others are needed. None where a row
    has no solution."""
    store = dict(store)
    while True:
        before = dict(store)
        for names, need in rows:
            least, most = (sum(store[name][side] for name in names) for side in (0, 1))
            if not least <= need <= most:
                return None
            for name in names:
                if store[name] == (0, 1) and need in (least, most):
                    store[name] = (1, 1) if need == most else (0, 0)
        if store == before:
            return store


def search_rows(store: Store | None, rows: list[Row]) -> Iterator[dict[str, int]]:
    """All solutions: the first open member of the row that has the fewest for each that it wants is 1, then it is 0."""
    if store is None:
        return
    ratios = []
    for names, need in sorted(rows, key=lambda row: [int(name[1:]) for name in row[0]]):
        members = [name for name in names if store[name] == (0, 1)]
        if members:
            ratios.append((len(members) / (need - sum(store[name][0] for name in names)), members[0]))
    if not ratios:
        yield {name: low for name, (low, _) in store.items()}
        return
    chosen = min(ratios, key=lambda pair: pair[0])[1]
    for value in (1, 0):
        yield from search_rows(counted(store | {chosen: (value, value)}, rows), rows)


def test_rows_that_want_members_come_first(engine):
    """The fewest open members first, in the order of their members, of rows and columns of a square and a row that
    arrange.py cuts into sums. No two of them share two variables, so counting is all that there is to propagate. A GPU
    takes members in their order, and finds the same solutions."""
    names = [f"t{i}" for i in range(50)]
    for seed in range(4):
        parts = [tuple(names[i:16:4]) for i in range(4)] + [tuple(names[4 * i : 4 * i + 4]) for i in range(4)]
        rows = [(part, 2 if i in (seed, 4) else 1) for i, part in enumerate(parts)] + [((names[seed], *names[16:]), 1)]
        sums = [("int_lin_eq", [1] * len(part), [Ref(name) for name in part], need) for part, need in rows]
        model = make_model({name: IntSet.interval(0, 1) for name in names}, sums)
        result = solve_text(model.text, arch=engine, blocks=1, simplify=False, all_solutions=True)
        expected = list(search_rows(counted(dict.fromkeys(names, (0, 1)), rows), rows))
        found = result.solutions
        if engine == "gpu":
            found, expected = (sorted(ones, key=lambda one: sorted(one.items())) for ones in (found, expected))
        assert len(expected) == 324 and found == expected, seed
