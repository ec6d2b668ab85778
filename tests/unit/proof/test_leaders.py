"""Orders of symmetric blocks: the checker accepts their steps, and a best solution keeps all of them."""

from __future__ import annotations

from collections.abc import Iterator
from io import StringIO
from operator import mul
from random import Random

import pytest

from support.block_models import draw_blocks, pigeons
from support.naive import solutions
from support.quick import few_or
from support.symmetric_models import draw_symmetric
from turbo_fzn.options.options import Options
from turbo_fzn.process.interrupt import Interrupt
from turbo_fzn.proof import leaders
from turbo_fzn.proof.checker import Checker
from turbo_fzn.proof.encoding import Encoding
from turbo_fzn.proof.leaders import Leaders
from turbo_fzn.proof.tuning import TUNING
from turbo_fzn.proof.writer import write_model
from turbo_fzn.read.flatzinc import parse_text
from turbo_fzn.read.model import Model
from turbo_fzn.run.arrangement import arranged
from turbo_fzn.run.driver import Run
from turbo_fzn.run.prepare import prepare
from turbo_fzn.run.proving import Proving
from turbo_fzn.symmetry.families import Block
from turbo_fzn.symmetry.tuning import TUNING as SYMMETRY
from turbo_fzn.tnf.fuse import fuse_whole
from turbo_fzn.tnf.language import TNF

MODELS = few_or(60, 400)
KEYS = (2**28, 2**28, 2, 4, 9)  # the most values of one


@pytest.fixture(autouse=True)
def every(monkeypatch):
    """Few symmetries are broken, too."""
    monkeypatch.setattr(SYMMETRY, "least_symmetries", 1)


def searched(text: str) -> TNF:
    """The model as a search gets it."""
    return arranged(prepare(parse_text(text), Options(), Interrupt())).tnf


def led(tnf: TNF) -> Leaders:
    """The leaders, whose steps are accepted, and say what they are said to say."""
    encoding, checker, model = Encoding(tnf), Checker(), StringIO()
    found = Leaders(encoding)
    write_model(encoding, model)
    checker.read_formula(model.getvalue().splitlines())
    formula = dict(checker.constraints)
    for line in found.text.splitlines():
        checker.rule(line.split())
    assert checker.count == found.count and len(found.stated) == len(found.sums)
    for number, terms in zip(found.stated, found.sums):
        least = -sum(a * encoding.lower[v] for v, a in terms)
        words = "".join(encoding.sum_of(v, a) for v, a in terms)
        wanted, stated = checker.constraint(f"{words}>= {least}".split()), checker.constraints[str(number)]
        assert dict(zip(*stated[:2])) == dict(zip(*wanted[:2])) and stated.degree == wanted.degree
    assert found.numbers.keys() == {int(number) for number in formula if number not in checker.constraints}
    for number, new in found.numbers.items():
        old, again = formula[str(number)], checker.constraints[str(new)]
        assert dict(zip(*old[:2])) == dict(zip(*again[:2])) and again.degree >= old.degree
    return found


def best(tnf: TNF, points: list[tuple[int, ...]]) -> int | None:
    return min((tnf.sense * point[tnf.objective] if tnf.sense else 0 for point in points), default=None)


def in_order(found: Leaders, points: list[tuple[int, ...]]) -> list[tuple[int, ...]]:
    return [one for one in points if all(sum(a * one[v] for v, a in terms) >= 0 for terms in found.sums)]


def small_models(count: int) -> Iterator[tuple[int, TNF]]:
    """Each third one is a matrix with all kinds of constraints."""
    for number in range(count):
        random = Random(f"leaders/{number}")
        model = draw_symmetric(random) if number % 3 == 2 else draw_blocks(random)
        tnf = searched(model.text)
        if not tnf.infeasible:
            yield number, tnf


# ---- random models


@pytest.mark.parametrize("count", MODELS)
def test_a_best_solution_is_in_all_orders(count, monkeypatch):
    """By enumeration; most models get orders, and these leave solutions out."""
    n = ordered = fewer = 0
    for number, tnf in small_models(count):
        monkeypatch.setattr(TUNING, "key", KEYS[number % len(KEYS)])
        found, points = led(tnf), list(solutions(tnf))
        kept = in_order(found, points)
        assert best(tnf, kept) == best(tnf, points), number
        n, ordered, fewer = n + 1, ordered + bool(found.sums), fewer + (len(kept) < len(points))
    assert ordered > 0.6 * n > 0.3 * count and fewer > 0.3 * n, (n, ordered, fewer)


@pytest.mark.parametrize("count", MODELS)
def test_blocks_that_are_not_interchangeable_get_no_order_that_loses_the_optimum(count, monkeypatch):
    """Whatever is taken for families: each swap is checked."""
    random, ordered, refused = Random(61), 0, 0
    guessed: list[list[Block]] = []
    monkeypatch.setattr(leaders, "families", lambda swaps, rank: guessed)
    for number, tnf in small_models(count):
        points = list(solutions(tnf))
        for _ in range(4):
            guessed[:] = guess(tnf, random)
            found = led(tnf)
            assert best(tnf, in_order(found, points)) == best(tnf, points), (number, guessed)
            ordered, refused = ordered + bool(found.sums), refused + (not found.sums)
    assert ordered > count / 20 and refused > count / 2, (ordered, refused)


def guess(tnf: TNF, random: Random) -> list[list[Block]]:
    """Two families of two or three blocks, of variables with the same domains; links have no symmetries."""
    links = fuse_whole(tnf).links.tolist()
    ends = list(zip(tnf.lower.tolist(), tnf.upper.tolist()))
    pool = [v for v, (low, high) in enumerate(ends) if low < high and not links[v]]
    found = []
    for _ in range(2):
        n, size = random.choice((2, 2, 3)), random.choice((1, 1, 2))
        columns = []
        for _ in range(size):
            domain = ends[random.choice(pool)] if pool else None
            alike = [v for v in pool if ends[v] == domain and not any(v in column for column in columns)]
            columns.append(random.sample(alike, n) if len(alike) >= n else [])
        found.append(list(zip(*columns)))
    return [family for family in found if family]


# ---- keys


def blocks(n: int, *sizes: int) -> TNF:
    """n blocks of variables, with so many values each. Not all of a block, and not all together, are largest."""
    lines, names = [], []
    for i in range(n):
        own = [f"x{i}_{place}" for place in range(len(sizes))]
        lines += [f"var 1..{size}: {name};" for size, name in zip(sizes, own)]
        factors = range(3, 3 + len(sizes))
        most = sum(map(mul, factors, sizes)) - 1
        lines.append(f"constraint int_lin_le({list(factors)},[{','.join(own)}],{most});")
        names += own
    lines.append(f"constraint int_lin_le({[1] * len(names)},[{','.join(names)}],{n * sum(sizes) - 1});")
    lines.sort(key=lambda line: line.startswith("constraint"))
    goal = f"solve :: int_search([{','.join(names)}],input_order,indomain_min) satisfy;\n"
    return searched("\n".join([*lines, goal]))


@pytest.mark.parametrize(
    ("sizes", "weights"),
    [
        ((3, 4), [1, 4]),
        ((4, 3), [1, 3]),
        ((3, 4, 5), [1, 5, 20]),
        ((2**14, 2**14), [1, 2**14]),
        ((2**14, 2**14 + 1), [1]),
        ((2**13, 2**15, 3), [1, 2**15]),
        ((2**27, 9), [1]),
        ((2**28 + 1, 3), None),
    ],
)
def test_each_variable_of_a_key_outweighs_those_behind_it_and_what_is_too_large_is_cut(sizes, weights):
    tnf = blocks(4, *sizes)
    found = led(tnf)
    if weights is None:
        assert found.sums == [] and found.text == "" and found.count == Encoding(tnf).count
        return
    assert len(found.sums) == 3
    order = tnf.strategies[0].variables.reshape(4, len(sizes)).tolist()
    for first, second, terms in zip(order, order[1:], found.sums):
        heaviest_first = list(reversed(weights))
        wanted = [*zip(first, (-a for a in heaviest_first)), *zip(second, heaviest_first)]
        assert sorted(terms) == sorted(wanted)


def test_blocks_are_in_lexicographic_order():
    tnf = blocks(3, 3, 3)
    found, points = led(tnf), list(solutions(tnf))
    order = tnf.strategies[0].variables.tolist()
    pairs = list(zip(order[::2], order[1::2]))
    kept = in_order(found, points)
    assert kept and kept == [one for one in points if is_sorted([(one[x], one[y]) for x, y in pairs])]
    assert len(kept) < len(points)


def is_sorted(values: list) -> bool:
    return values == sorted(values)


def test_swaps_that_touch_too_much_are_not_used(monkeypatch):
    tnf = searched(pigeons(4).text)
    assert led(tnf).sums
    monkeypatch.setattr(TUNING, "swapped", 3)
    assert led(tnf).sums == []


def test_few_symmetries_are_left_alone(monkeypatch):
    tnf = blocks(4, 3, 3)
    for least, n in (3, 3), (4, 0):
        monkeypatch.setattr(SYMMETRY, "least_symmetries", least)
        assert len(led(tnf).sums) == n


def test_an_objective_that_tells_blocks_apart_is_kept():
    text = "var 0..3: x;\nvar 0..3: y;\nvar 0..9: z;\nconstraint int_lin_eq([1,{a},-1],[x,y,z],0);\nsolve minimize z;\n"
    assert len(led(searched(text.format(a=1))).sums) == 1
    assert led(searched(text.format(a=2))).sums == []


# ---- when


class _Begun(Exception):
    """The proof of a run is about to begin."""


MODEL = "var 0..3: x;\nvar 0..3: y;\nconstraint int_lin_le([1,1],[x,y],4);\nsolve {goal};\n"
WARM = ":: warm_start([x,y],[3,1]) satisfy"


@pytest.mark.parametrize(
    ("goal", "options", "wanted"),
    [
        ("satisfy", {"free_search": True}, True),
        ("satisfy", {"symmetry": "on"}, True),
        ("minimize x", {"free_search": True}, True),
        ("satisfy", {}, False),
        ("satisfy", {"free_search": True, "symmetry": "off"}, False),
        ("satisfy", {"free_search": True, "n_solutions": 2}, False),
        ("satisfy", {"symmetry": "on", "n_solutions": 2}, False),
        ("satisfy", {"symmetry": "on", "all_solutions": True}, False),
        ("minimize x", {"symmetry": "on", "n_optimal": 2}, False),
        (WARM, {"free_search": True}, False),
        (WARM, {"symmetry": "on"}, True),
    ],
)
def test_a_proof_has_leaders_where_symmetries_are_broken_and_nowhere_else(goal, options, wanted, monkeypatch, tmp_path):
    """Nor does its model have rows that break symmetries without a proof."""
    told: list[bool] = []

    def begin(self: Proving, tnf: TNF, breaks_symmetry: bool, interrupt: Interrupt) -> None:
        told.append(breaks_symmetry)
        raise _Begun

    monkeypatch.setattr(Proving, "begin", begin)
    model: Model = parse_text(MODEL.format(goal=goal))
    run = Run(model, Options(arch="cpu", proof=str(tmp_path / "a.pbp"), **options), Interrupt())
    with pytest.raises(_Begun):
        list(run.events())
    assert told == [wanted]
    assert run.prepared is not None and len(list(solutions(run.prepared.tnf))) == 13
