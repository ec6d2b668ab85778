"""The front end as a whole: simplification loses no propagation, work grows with the model, and `-v` names the stages.

No loss of propagation shows in two ways. Along any branch, the simplified model has bounds at least as tight as the
plain one; and with a fixed order of labelling and one block it needs as many nodes to the proof. The models of the
second test label all their decision variables, since simplification is free to remove others, and what is labelled by
default then differs; and they label in the order given: the size of a domain, which `first_fail` goes by, is smaller
where simplification has made `x != c` a hole of the domain. Growth is counted in rows and in calls of functions: a
clock would make it a matter of chance.
"""

from __future__ import annotations

import os
import random
import sys
from collections.abc import Callable, Sequence
from itertools import combinations
from pathlib import Path

import pytest

from lab.bench.front import (
    GROWTH_LIMIT,
    PASSES,
    STAGES,
    growing_model,
    line,
    markdown,
    measure_apart,
    summary,
)
from support.both_ways import read_by_lark, typed
from support.command import run
from support.corpus import has_floats
from support.places import CORPUS
from turbo_fzn import solve_text
from turbo_fzn.engine import root
from turbo_fzn.lower.rewrite import lower
from turbo_fzn.read.flatzinc import parse_text
from turbo_fzn.tnf.simplify import simplify

MODEL_FILES = sorted(CORPUS.glob("*.fzn"))
if "TURBO_FZN_MODELS" in os.environ:  # a folder of larger ones
    MODEL_FILES += sorted(Path(os.environ["TURBO_FZN_MODELS"]).glob("*.fzn"))
SIZES = (1, 2, 4, 8)
SMALLEST = 400
DECISIONS = 20  # along a branch


def join(names: Sequence[str]) -> str:
    return "[" + ",".join(names) + "]"


def integers(values: Sequence[int]) -> str:
    return join([str(value) for value in values])


def model(declarations: Sequence[str], constraints: Sequence[str], labels: Sequence[str], goal: str) -> str:
    """A model that labels integer variables in the order given, least value first."""
    search = f"int_search({join(labels)},input_order,indomain_min,complete)"
    lines = [f"{item};" for item in declarations] + [f"constraint {item};" for item in constraints]
    return "\n".join([*lines, f"solve :: {search} {goal};", ""])


def variables(prefix: str, n: int, domain: str) -> tuple[list[str], list[str]]:
    """Names and declarations of output variables."""
    names = [f"{prefix}{i}" for i in range(n)]
    return names, [f"var {domain}: {name} :: output_var" for name in names]


def queens(n: int) -> str:
    q, declarations = variables("q", n, f"1..{n}")
    constraints = [
        f"int_lin_ne([1,-1],[{q[i]},{q[j]}],{offset})"
        for i, j in combinations(range(n), 2)
        for offset in (0, j - i, i - j)
    ]
    return model(declarations, constraints, q, "satisfy")


def pigeons(n: int) -> str:
    """One hole too few."""
    p, declarations = variables("p", n, f"1..{n - 1}")
    return model(declarations, [f"int_ne({x},{y})" for x, y in combinations(p, 2)], p, "satisfy")


def knapsack(n: int) -> str:
    draw = random.Random(1)
    x, declarations = variables("x", n, "0..2")
    weights = [draw.randint(10, 30) for _ in x]
    profits = [weight + draw.randint(-4, 4) for weight in weights]
    constraints = [
        f"int_lin_le({integers(weights)},{join(x)},{sum(weights)})",
        f"int_lin_eq({integers([*profits, -1])},{join([*x, 'profit'])},0)",
    ]
    declarations.append(f"var 0..{2 * sum(profits)}: profit :: output_var")
    return model(declarations, constraints, x, "maximize profit")


def clauses(n: int, n_clauses: int) -> str:
    """A random satisfiability problem over 0..1, linked to Booleans."""
    draw = random.Random(2)
    x, declarations = variables("x", n, "0..1")
    b = [f"b{i}" for i in range(n)]
    declarations += [f"var bool: {name}" for name in b]
    constraints = [f"bool2int({literal},{value})" for literal, value in zip(b, x)]
    for _ in range(n_clauses):
        chosen = draw.sample(b, 3)
        cut = draw.randint(0, 3)
        constraints.append(f"bool_clause({join(chosen[:cut])},{join(chosen[cut:])})")
    return model(declarations, constraints, x, "satisfy")


def cut(n: int) -> str:
    """The edges between two classes of the nodes of a random graph, as many as possible."""
    draw = random.Random(3)
    x, declarations = variables("x", n, "0..1")
    edges = [edge for edge in combinations(range(n), 2) if draw.random() < 0.5]
    crossing = [f"c{i}_{j}" for i, j in edges]
    declarations += [f"var bool: {name}" for name in crossing]
    declarations += [f"var 0..1: i{name} :: is_defined_var" for name in crossing]
    declarations.append(f"var 0..{len(edges)}: total :: output_var")
    constraints = [f"int_ne_reif({x[i]},{x[j]},{name})" for (i, j), name in zip(edges, crossing)]
    constraints += [f"bool2int({name},i{name}) :: defines_var(i{name})" for name in crossing]
    counted = [f"i{name}" for name in crossing]
    constraints.append(f"int_lin_eq({integers([1] * len(edges) + [-1])},{join([*counted, 'total'])},0)")
    return model(declarations, constraints, x, "maximize total")


def jobs(n: int) -> str:
    """Jobs on one machine, with releases; the sum of the starts is to be least."""
    draw = random.Random(4)
    lengths = [draw.randint(2, 6) for _ in range(n)]
    releases = [draw.randint(0, 8) for _ in range(n)]
    horizon = max(releases) + sum(lengths)
    s, declarations = variables("s", n, f"0..{horizon}")
    declarations.append(f"var 0..{n * horizon}: total :: output_var")
    constraints = [f"int_le({release},{start})" for release, start in zip(releases, s)]
    for i, j in combinations(range(n), 2):
        declarations += [f"var bool: b{i}_{j}", f"var bool: b{j}_{i}"]
        constraints += [
            f"int_lin_le_reif([1,-1],[{s[first]},{s[second]}],{-lengths[first]},b{first}_{second})"
            for first, second in ((i, j), (j, i))
        ]
        constraints.append(f"bool_clause([b{i}_{j},b{j}_{i}],[])")
    constraints.append(f"int_lin_eq({integers([1] * n + [-1])},{join([*s, 'total'])},0)")
    return model(declarations, constraints, s, "minimize total")


def assignment(n: int) -> str:
    """Different columns for the rows of a table; the sum of the entries is to be least."""
    draw = random.Random(5)
    x, declarations = variables("x", n, f"1..{n}")
    costs = [f"c{i}" for i in range(n)]
    declarations += [f"var 0..99: {name} :: is_defined_var" for name in costs]
    declarations.append(f"var 0..{99 * n}: total :: output_var")
    constraints = [f"int_ne({first},{second})" for first, second in combinations(x, 2)]
    for name, variable in zip(costs, x):
        entries = integers([draw.randint(1, 99) for _ in x])
        constraints.append(f"array_int_element({variable},{entries},{name}) :: defines_var({name})")
    constraints.append(f"int_lin_eq({integers([1] * n + [-1])},{join([*costs, 'total'])},0)")
    return model(declarations, constraints, x, "minimize total")


def products(n: int) -> str:
    """x * y + z = w * w with a bound, all solutions: products, minima and maxima."""
    names, declarations = variables("v", 4, f"1..{n}")
    x, y, z, w = names
    declarations += [f"var 0..{n * n}: {name}" for name in ("p", "r")] + [
        f"var 1..{n}: {name}" for name in ("low", "high")
    ]
    constraints = [f"int_times({x},{y},p)", f"int_times({w},{w},r)", f"int_lin_eq([1,1,-1],[p,{z},r],0)"]
    constraints += [f"int_min({x},{z},low)", f"int_max({y},{z},high)", "int_lin_le([2,-1],[low,high],0)"]
    return model(declarations, constraints, names, "satisfy")


def example(name: str) -> str:
    return (CORPUS / f"{name}.fzn").read_text(encoding="utf-8")


MODELS: dict[str, Callable[[], str]] = {
    "all_interval": lambda: example("all_interval"),
    "demo": lambda: example("demo"),
    "workshop": lambda: example("workshop"),
    "steiner_triples": lambda: example("steiner_triples"),
    "queens": lambda: queens(9),
    "pigeons": lambda: pigeons(8),
    "knapsack": lambda: knapsack(10),
    "clauses": lambda: clauses(50, 205),
    "cut": lambda: cut(14),
    "jobs": lambda: jobs(7),
    "assignment": lambda: assignment(12),
    "products": lambda: products(30),
}


def nodes_to_the_proof(text: str, simplified: bool) -> tuple[int, int, int]:
    """(nodes, failures, objective or number of solutions) of one block in the order of the annotations.

    Of solutions that arrive together only the best is passed on, so their number says nothing where there is an
    objective.
    """
    every = "satisfy;" in text
    result = solve_text(text, arch="cpu", blocks=1, lns="off", learn="off", simplify=simplified, all_solutions=every)
    assert result.complete
    figure = len(result.solutions) if result.objective is None else result.objective
    return result.statistics["nodes"], result.statistics["failures"], figure


@pytest.mark.parametrize("name", MODELS)
def test_a_simplified_model_needs_as_many_nodes_to_the_proof(name, no_probing):
    text = MODELS[name]()
    nodes, failures, figure = nodes_to_the_proof(text, simplified=True)
    assert 10**3 <= nodes <= 10**6
    assert (nodes, failures, figure) == nodes_to_the_proof(text, simplified=False)


@pytest.mark.parametrize("name", ["houses", "sudoku"])
@pytest.mark.parametrize("value_choice", ["indomain_min", "indomain_max", "indomain_split"])
def test_where_first_fail_counts_holes_the_order_alone_makes_the_difference(name, value_choice):
    text = example(name)
    assert text.count("first_fail,indomain_min") == 1
    text = text.replace("first_fail,indomain_min", f"input_order,{value_choice}")
    assert nodes_to_the_proof(text, simplified=True) == nodes_to_the_proof(text, simplified=False)


class Branch:
    """A model at its root, and then below decisions on the variables of the FlatZinc text."""

    def __init__(self, text: str, simplified: bool):
        lowered = lower(parse_text(text), share=simplified)
        self.tnf, self.variable = lowered.tnf, lowered.origin
        if simplified:
            small = simplify(lowered.tnf, root.propagate)
            position = small.reconstruction.position[small.reconstruction.representative]
            self.tnf = small.tnf
            self.variable = {name: int(position[number]) for name, number in lowered.origin.items()}

    def propagate(self) -> bool:
        """To the fixpoint; whether there is one."""
        bounds = None if self.tnf.infeasible else root.propagate(self.tnf)
        if bounds is not None:
            self.tnf.lower, self.tnf.upper = bounds
        return bounds is not None

    def bounds(self, name: str) -> tuple[int, int]:
        number = self.variable[name]
        return int(self.tnf.lower[number]), int(self.tnf.upper[number])

    def decide(self, name: str, low: int, high: int) -> bool:
        """Propagates low <= name <= high; a variable that simplification has fixed takes no decision."""
        number = self.variable[name]
        self.tnf.lower, self.tnf.upper = self.tnf.lower.copy(), self.tnf.upper.copy()
        self.tnf.lower[number] = max(self.tnf.lower[number], low)
        self.tnf.upper[number] = min(self.tnf.upper[number], high)
        return bool(self.tnf.lower[number] <= self.tnf.upper[number]) and self.propagate()


# Rows of floats leave small steps alone, so that their order matters.
INTEGER_FILES = [path for path in MODEL_FILES if not has_floats(path.read_text(encoding="utf-8"))]


@pytest.mark.parametrize("path", INTEGER_FILES, ids=lambda path: path.stem)
def test_a_simplified_model_has_bounds_as_tight_along_a_branch(path):
    text = path.read_text(encoding="utf-8")
    for seed in range(3):
        compare_along_a_branch(text, random.Random(seed))


def compare_along_a_branch(text: str, draw: random.Random) -> None:
    """Decides at random what both models are to decide, until one of them fails or all is fixed."""
    simple, plain = Branch(text, simplified=True), Branch(text, simplified=False)
    assert simple.propagate() and plain.propagate()
    kept = [name for name, number in simple.variable.items() if number >= 0]
    for _ in range(DECISIONS):
        unfixed = [name for name in kept if simple.bounds(name)[0] < simple.bounds(name)[1]]
        if not unfixed:
            return
        name = draw.choice(unfixed)
        low, high = simple.bounds(name)
        middle = draw.choice([low, (low + high) // 2])
        decision = draw.choice([(low, middle), (middle + 1, high)])
        found, wanted = simple.decide(name, *decision), plain.decide(name, *decision)
        assert wanted or not found, "only the plain model fails"
        if not found:
            return
        for name in kept:
            (low, high), (plain_low, plain_high) = simple.bounds(name), plain.bounds(name)
            assert plain_low <= low <= high <= plain_high


# Growth


def calls_of_functions(work: Callable[[], object]) -> int:
    """How many functions `work` calls, those of C included."""
    count = 0

    def hook(frame: object, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(hook)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


def test_a_model_n_times_as_large_has_at_most_n_times_the_rows():
    sizes = []
    for size in SIZES:
        lowered = lower(parse_text(growing_model(SMALLEST * size))).tnf
        simplified = simplify(lowered, root.propagate).tnf
        assert not simplified.infeasible
        sizes.append((lowered.n_vars, lowered.n_rows, simplified.n_vars, simplified.n_rows))
    assert min(sizes[0]) > SMALLEST / 2
    for size, counts in zip(SIZES, sizes):
        assert all(count <= GROWTH_LIMIT * size * first for count, first in zip(counts, sizes[0]))


@pytest.mark.parametrize("stage", ["parse", "lower", "simplify"])
def test_a_model_n_times_as_large_takes_at_most_n_times_the_calls(stage):
    counts = []
    for size in SIZES:
        text = growing_model(SMALLEST * size)
        lowered = lower(parse_text(text)).tnf  # the imports and caches are not what is counted
        parsed = parse_text(text)
        work: dict[str, Callable[[], object]] = {
            "parse": lambda text=text: parse_text(text),
            "lower": lambda parsed=parsed: lower(parsed),
            "simplify": lambda lowered=lowered: simplify(lowered, root.propagate),
        }
        counts.append(calls_of_functions(work[stage]))
    assert all(count <= GROWTH_LIMIT * size * counts[0] for size, count in zip(SIZES, counts))


# The two ways of reading, and what is told


@pytest.mark.parametrize("path", MODEL_FILES, ids=lambda path: path.stem)
def test_the_scan_and_lark_read_an_example_alike(path):
    """Whole files that a compiler has written; test_parse_both_ways.py tests generated items of every kind."""
    text = path.read_text(encoding="utf-8")
    assert typed(parse_text(text)) == typed(read_by_lark(text))


def test_the_benchmark_tells_the_sizes_after_every_pass(tmp_path):
    path = tmp_path / "growing.fzn"
    path.write_text(growing_model(SMALLEST), encoding="utf-8")
    result = measure_apart(str(path), repeats=2)
    rows = [result["lowered"][1], *(rows for _, _, rows in result["passes"])]
    assert rows == sorted(rows, reverse=True) and rows[-1] == result["final"][1]
    assert {name for name, _, _ in result["passes"]} == set(PASSES)
    assert set(result["seconds"]) == set(STAGES)
    assert f"{result['final'][0]}/{result['final'][1]}" in line(result)
    assert result["total"] >= result["seconds"]["start"] > 0 and result["peak"] > 1
    larger = {**result, "name": "larger", "megabytes": 2 * result["megabytes"], "peak": result["peak"] + 5}
    assert "5 largest" in summary([result] * 5 + [larger])[0]
    table = markdown([result], "the command")
    assert f"| {result['final'][0]} / {result['final'][1]} | {len(result['passes']) // len(PASSES)} |" in table


def test_verbose_names_the_stages_with_their_times_and_sizes():
    answer = run("-v", "--arch", "cpu", CORPUS / "queens.fzn")
    for stage in ("parse", "lower", "simplify", "root", "engine"):
        (told,) = [text for text in answer.errors.splitlines() if text.startswith(f"fzn-turbo: {stage}: ")]
        assert " s, " in told and " variables, " in told
    assert not run("--arch", "cpu", CORPUS / "queens.fzn").errors
