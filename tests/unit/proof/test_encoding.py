"""Rows as 0-1 inequalities: they have the solutions of the rows; what refutes bounds is right, and is found wherever a
row of intervals fails."""

from __future__ import annotations

from io import StringIO
from itertools import product
from random import Random

import pytest

from support.naive import holds
from support.proofs import OPERATORS
from support.small_tnf import make_tnf
from turbo_fzn.base.errors import UnsupportedError
from turbo_fzn.proof.checker import check
from turbo_fzn.proof.encoding import Encoding
from turbo_fzn.proof.refutation import Step, refute
from turbo_fzn.proof.writer import HEADER, Writer, write_model
from turbo_fzn.read.files import model_of_proof
from turbo_fzn.tnf.language import DIV, ELEMENT, EQ, LEQ, MOD, MUL, TNF

CASES = [(op, seed) for op in OPERATORS for seed in range(12)]

Lines = list[tuple[list[tuple[int, int]], int]]


def a_row(op: int, seed: int) -> TNF:
    """A model of one row, whose variables may coincide, over small domains."""
    random = Random(f"{op} {seed}")
    x, y, z = (0, 1, 2) if random.random() < 0.7 else random.choices(range(3), k=3)
    domains = [(low, low + random.choice((0, 1, 2, 5))) for low in (random.randint(-4, 2) for _ in range(3))]
    if op in (DIV, MOD) and seed % 3 == 0:  # by the cases of a quotient, some of them negative
        divisor = random.choice((-3, -2, 2, 3))
        x, y, z, domains = 0, 1, 2, [(-2, 2), (-7, 6), (divisor, divisor)]
    if op in (EQ, LEQ):
        domains[x] = random.choice(((0, 1), (0, 1), (1, 1), (0, 0)))
    tables = [random.randint(-4, 5) for _ in range(12)]
    if op == ELEMENT:
        z = -domains[y][0]
    return make_tnf(domains, [(op, x, y, z)], tables)


def boxes(tnf: TNF) -> list[range]:
    return [range(low, high + 1) for low, high in zip(tnf.lower.tolist(), tnf.upper.tolist())]


def constraints(encoding: Encoding) -> Lines:
    """The lines as (terms of (coefficient, literal), degree)."""
    numbers = literals_of(encoding)
    encoding.text.seek(0)
    lines = [line.split() for line in encoding.text.read().decode().splitlines()]
    return [
        ([(int(a), numbers[name]) for a, name in zip(words[:-3:2], words[1:-3:2])], int(words[-2])) for words in lines
    ]


def literals_of(encoding: Encoding) -> dict[str, int]:
    return {encoding.spell(literal): literal for literal in range(2 * encoding.n_names)}


def is_satisfied(encoding: Encoding, lines: Lines, values: list[int]) -> bool:
    """Whether the lines hold there, for some values of what tells cases apart."""
    numbers = literals_of(encoding)
    true = {numbers[word] for word in encoding.assignment(values)}
    chosen = list(encoding.selectors.values())
    for flips in product((0, 1), repeat=len(chosen)):
        now = (true - {2 * one + flip for one in chosen for flip in (0, 1)}) | {
            2 * one + flip for one, flip in zip(chosen, flips)
        }
        if all(sum(a for a, literal in terms if literal in now) >= degree for terms, degree in lines):
            return True
    return False


@pytest.mark.parametrize(("op", "seed"), CASES)
def test_the_inequalities_have_the_solutions_of_the_row(op, seed):
    tnf = a_row(op, seed)
    encoding = Encoding(tnf)
    lines = constraints(encoding)
    for point in product(*boxes(tnf)):
        assert is_satisfied(encoding, lines, list(point)) == holds(tnf, list(point)), point
        if holds(tnf, list(point)):
            numbers = literals_of(encoding)
            true = {numbers[word] for word in encoding.assignment(list(point))}
            assert all(sum(a for a, one in terms if one in true) >= least for terms, least in lines)


@pytest.mark.parametrize(("op", "seed"), CASES)
def test_what_refutes_bounds_is_right(op, seed):
    """Also its parts: each is implied by the row where what it names is assumed."""
    tnf = a_row(op, seed)
    encoding, random = Encoding(tnf), Random(seed)
    points = [point for point in product(*boxes(tnf)) if holds(tnf, list(point))]
    found = 0
    for _ in range(40):
        ends = [sorted(random.choices(list(box), k=2)) for box in boxes(tnf)]
        bounds = {2 * v + i: (-1) ** i * ends[v][i] for v in range(3) for i in (0, 1)}
        step = refute(encoding, encoding.rows[0], bounds)
        if step is not None:
            found += 1
            assert all(bounds[side] == k for side, k in step.assumed)
            assert not any(is_within(point, step) for point in points)
    assert found or points


@pytest.mark.parametrize(("op", "seed"), CASES)
def test_the_checker_accepts_each_step(op, seed):
    tnf = a_row(op, seed)
    encoding, random = Encoding(tnf), Random(seed)
    proof = [HEADER + "\n"]
    writer = Writer(encoding, proof.append)
    for _ in range(40):
        ends = [sorted(random.choices(list(box), k=2)) for box in boxes(tnf)]
        step = refute(encoding, encoding.rows[0], {2 * v + i: (-1) ** i * ends[v][i] for v in range(3) for i in (0, 1)})
        if step is not None:
            number = writer.derive(step)
            writer.rup([(side ^ 1, 1 - k) for side, k in step.assumed], [str(number)])
    model = StringIO()
    write_model(encoding, model)
    proof.append("output NONE\nconclusion NONE\nend pseudo-Boolean proof\n")
    assert check(model.getvalue().splitlines(), "".join(proof).splitlines()).conclusion == "NONE"


def is_within(point: tuple[int, ...], step: Step) -> bool:
    return all((-1) ** (side & 1) * point[side >> 1] >= k for side, k in step.assumed)


def test_single_points_are_refuted():
    """A row refutes every point that is none of its solutions."""
    for op, seed in CASES:
        tnf = a_row(op, seed)
        encoding = Encoding(tnf)
        for point in list(product(*boxes(tnf)))[::5]:
            bounds = {2 * v + i: (-1) ** i * point[v] for v in range(3) for i in (0, 1)}
            assert (refute(encoding, encoding.rows[0], bounds) is None) == holds(tnf, list(point)), (op, seed, point)


def test_sums_of_large_numbers_take_few_lines():
    tnf = make_tnf([(0, 10**6), (0, 10**6), (-(10**6), 0)], [(0, 0, 1, 2)])
    encoding = Encoding(tnf)
    assert encoding.count == 5
    step = refute(encoding, encoding.rows[0], {0: 700_000, 1: -(10**6), 2: 0, 3: -600_000, 4: -(10**6), 5: 0})
    assert step is not None and set(step.assumed) == {(0, 700_000), (3, -600_000)}


@pytest.mark.parametrize("op", [MUL, DIV, MOD])
def test_what_has_too_many_cases_is_refused(op):
    tnf = make_tnf([(0, 10**6), (-(10**4), 10**4), (1, 10**4)], [(op, 0, 1, 2)])
    with pytest.raises(UnsupportedError, match="has more than"):
        Encoding(tnf)


def test_the_model_is_beside_the_proof():
    names = {"a.b/c.pbp": "a.b/c.opb", "c.pbp.gz": "c.opb.gz", "c": "c.opb"}
    assert {name: model_of_proof(name) for name in names} == names
