"""The truth of every operator and global, also negated, through the installed release of MiniZinc and the newest one.

`p <-> not G` takes other ways through MiniZinc than `p != G` does, and 2.6 takes wrong ones. So each form is stated for
each G, over sets too, and the solutions are those that enumeration in Python finds.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from functools import cache
from itertools import islice, product, repeat
from pathlib import Path
from random import Random

import pytest

from fuzz.blocks import Block
from fuzz.judge import Way
from fuzz.nested import (
    COMPARISONS,
    GLOBALS,
    OF_SETS,
    SET_OPERATIONS,
    Drawn,
    Operator,
    Puzzle,
    joined,
    judged,
    puzzle,
    releases,
)
from support.global_cases import CASES
from support.global_models import assignments, declaration, plain_name
from support.global_notation import Case
from support.minizinc_output import count_solutions
from support.needs import needs_minizinc, needs_npm
from support.quick import slow_if
from support.releases import RELEASES as RELEASES_BY_NAME
from turbo_fzn import solve_text
from turbo_fzn.base.errors import ModelError
from turbo_fzn.base.resources import share_folder

RELEASES = [
    pytest.param("installed", marks=needs_minizinc),
    pytest.param("newest", marks=[needs_npm, pytest.mark.slow]),  # its start takes seconds
]
CHUNK, SAMPLE = 60, 12
# Of these MiniZinc 2.6 defines the truth by its own negation, in its standard library, where it is negated. So it does
# of `p <-> not p`, which has no solution.
REFUSED = {"strictly_increasing", "strictly_decreasing", "xorall"}
P = Drawn("p_#[1]", lambda state: state.p[0])
FORMS: list[Operator] = [
    ("{0}", lambda g, p: g),
    ("not {0}", lambda g, p: not g),
    ("{1} <-> not {0}", lambda g, p: p != g),
    ("{1} = not {0}", lambda g, p: p != g),
    ("{1} != {0}", lambda g, p: p != g),
    ("{1} = {0}", lambda g, p: p == g),
    ("{0} -> {1}", lambda g, p: not g or p),
    ("{1} -> {0}", lambda g, p: not p or g),
    ("{1} -> not {0}", lambda g, p: not (p and g)),
    ("not ({1} <-> not {0})", lambda g, p: p == g),
    ("{1} <-> not ({1} \\/ not {0})", lambda g, p: p == (not (p or not g))),
    ("not ({1} <-> not not {0})", lambda g, p: p != g),
]
SETS = [
    Drawn("c_#", lambda s: s.c),
    Drawn("d_#", lambda s: s.d),
    Drawn("{1, 3}", lambda s: {1, 3}),
    Drawn("{}", lambda s: set()),
    Drawn("{0} union d_#", lambda s: {0} | s.d),
]
NUMBERS = [Drawn("2", lambda s: 2), Drawn("5", lambda s: 5), Drawn("x_#[1]", lambda s: s.x[0])]
IN: Operator = ("{} in {}", lambda a, b: a in b)


def operator_calls() -> Iterator[Drawn]:
    """Every operator that has a truth value: numbers, sets, an operation's operand that is its result, globals."""
    x, y = Drawn("x_#[1]", lambda s: s.x[0]), Drawn("x_#[2]", lambda s: s.x[1])
    yield from (joined(operator, x, y) for operator in COMPARISONS)
    yield from (joined(IN, number, some) for number in NUMBERS for some in SETS[:3])
    for operator, (a, b) in product(OF_SETS, ((0, 1), (1, 0), (0, 2), (2, 1), (0, 3), (4, 0), (0, 4))):
        yield joined(operator, SETS[a], SETS[b])
    for operation, (a, b) in product(SET_OPERATIONS, ((0, 1), (1, 0), (0, 2), (0, 0))):
        yield from (joined(OF_SETS[2], some, joined(operation, SETS[a], SETS[b])) for some in SETS[:2])
        yield joined(IN, x, joined(operation, SETS[a], SETS[b]))
        yield joined(COMPARISONS[0], joined(("card({})", len), joined(operation, SETS[a], SETS[b])), x)
    yield joined(OF_SETS[0], Drawn("[c_#, d_#][x_#[2]]", lambda s: (s.c, s.d)[s.x[1] - 1]), SETS[0])
    yield from GLOBALS


@cache
def operator_pairs() -> list[tuple[Operator, Drawn]]:
    return list(product(FORMS, operator_calls()))


@cache
def global_pairs() -> list[tuple[Operator, Case]]:
    """The forms of each call of a global, in which all variables are arrays or, one by one, of few values."""
    return list(product(FORMS[1:], CASES))


def puzzle_of(number: int, form: Operator, call: Drawn) -> Puzzle:
    return puzzle(number, [joined(form, call, P)])


def puzzle_of_global(number: int, form: Operator, case: Case) -> Puzzle:
    """The block of a call of a global, whose variables have the block's number in their names."""
    text, function = form
    lines = [declaration(name, variables) for name, variables in case.variables.items()]
    names = [plain_name(name, variables) for name, variables in case.variables.items()]
    lines += ["array[1..1] of var bool: truth;", f"constraint {text.format(f'({case.call})', 'truth[1]')};"]
    new = {name: f"{re.sub('[^a-z]', '', name.lower())}_{number}" for name in ("truth", *names, *case.variables)}
    renamed = [re.sub(rf"\b({'|'.join(new)})\b", lambda found: new[found[0]], line) for line in lines]
    solutions = [
        {new[name]: str(value).lower() for name, value in zip((*names, "truth"), (*values.values(), [truth]))}
        for values in assignments(case)
        for truth in (False, True)
        if function(case.meaning(*values.values()), truth)
    ]
    return Puzzle(Block(number, renamed, [new[name] for name in (*names, "truth")]), solutions)


def faults(puzzles: list[Puzzle], release: str) -> list[str]:
    """Each puzzle that is wrong, or refused without a reason that is known."""
    found: list[str] = []
    for one, verdict in zip(puzzles, judged(puzzles, releases()[release], repeat(Way()))):
        may_be = not one.solutions or any(map(one.block.text.count, REFUSED))
        is_known = release == "installed" and verdict.kind == "undecided" and may_be
        if verdict.kind != "right" and not is_known:
            found.append(f"{verdict}\n{one.block.text}")
    return found


def chunks(count: int) -> list:
    """All in some chunks, which are slow."""
    return [pytest.param(start, id=f"from-{start}", marks=pytest.mark.slow) for start in range(0, count, CHUNK)]


def sample(puzzles: Iterator[Puzzle]) -> list[Puzzle]:
    """The first puzzles that have solutions: one without is flattened alone, which takes as long as many together."""
    return list(islice((one for one in puzzles if one.solutions), SAMPLE))


@pytest.mark.parametrize("release", RELEASES)
def test_the_truth_of_some_calls_is_their_own_in_every_form(release):
    every = [(puzzle_of, pair) for pair in operator_pairs()] + [(puzzle_of_global, pair) for pair in global_pairs()]
    some = Random(release).sample(every, 2 * SAMPLE)
    assert faults(sample(make(number, *pair) for number, (make, pair) in enumerate(some)), release) == []


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("start", chunks(len(operator_pairs())))
def test_the_truth_of_an_operator_is_its_own_in_every_form(release, start):
    some = operator_pairs()[start : start + CHUNK]
    assert faults([puzzle_of(number, *pair) for number, pair in enumerate(some)], release) == []


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("start", chunks(len(global_pairs())))
def test_the_truth_of_a_global_is_its_own_in_every_form(release, start):
    some = global_pairs()[start : start + CHUNK]
    assert faults([puzzle_of_global(number, *pair) for number, pair in enumerate(some)], release) == []


UNEQUAL = "predicate int_lin_ne_imp(array [int] of int: c, array [int] of var int: x, int: k, var bool: b)"
REIFIED = "predicate turbo_all_different_reif(array [int] of var int: x, var bool: b);"
BROKEN = {  # a file of the library, and the text in the place of another
    "an implication of another sign": ("redefinitions.mzn", f"{UNEQUAL};", f"{UNEQUAL} = int_lin_eq_imp(c, x, k, b);"),
    "a declaration is missing": ("turbo_globals.mzn", REIFIED, ""),
    "a disjunction is a conjunction": ("nosets.mzn", "array_bool_or([b, c], a)", "array_bool_and([b, c], a)"),
}


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("fault", [pytest.param(fault, marks=slow_if(i > 0)) for i, fault in enumerate(BROKEN)])
def test_a_broken_library_is_seen(monkeypatch, tmp_path: Path, release, fault):
    file, text, other = BROKEN[fault]
    library = shutil.copytree(share_folder() / "minizinc" / "turbo", tmp_path / "turbo")
    assert text in (library / file).read_text()
    x, y = Drawn("x_#[1]", lambda s: s.x[0]), Drawn("x_#[2]", lambda s: s.x[1])
    union = joined(SET_OPERATIONS[0], SETS[0], SETS[1])
    calls = [joined(COMPARISONS[1], x, y), GLOBALS[0], joined(OF_SETS[2], SETS[0], union)]
    some = [puzzle_of(number, form, call) for number, (form, call) in enumerate(product(FORMS[6:8], calls))]
    assert faults(some, release) == []
    (library / file).write_text((library / file).read_text().replace(text, other))
    broken = RELEASES_BY_NAME[release](library)
    monkeypatch.setitem(releases(), release, broken)
    assert faults(some, release)
    broken.close()


@needs_minizinc
@pytest.mark.parametrize("operator", ["union", "intersect", "diff", "symdiff"])
def test_a_set_that_is_an_operand_and_the_result_is_printed(minizinc, tmp_path: Path, operator):
    """MiniZinc 2.6 must find no definition of the set by itself in what it prints."""
    count = {"union": 27, "intersect": 27, "diff": 27, "symdiff": 8}[operator]
    for sides in (f"C = C {operator} D", f"C {operator} D = C"):
        model = tmp_path / "model.mzn"
        model.write_text(f"var set of 1..3: C;\nvar set of 1..3: D;\nconstraint {sides};\nsolve satisfy;\n")
        run = minizinc("-a", model)
        assert run.returncode == 0, run.stderr
        assert count_solutions(run) == count


@pytest.mark.covers("G14")
@needs_minizinc
@pytest.mark.parametrize("call", ["strictly_increasing(x)", "strictly_decreasing(x)", "xorall(y)"])
def test_what_the_standard_library_defines_by_its_own_negation_is_right_or_refused(call):
    """2.6.4 writes it; a release that does not gives all 16 solutions."""
    text = 'include "globals.mzn";\narray[1..2] of var 1..2: x;\narray[1..2] of var bool: y;\nvar bool: p;\n'
    flat = releases()["installed"].flatten(f"{text}constraint p <-> not {call};\nsolve satisfy;\n")
    try:
        assert len(solve_text(flat, arch="cpu", all_solutions=True).solutions) == 16
    except ModelError as error:
        assert "`p` is defined by its own negation" in str(error)


@pytest.mark.covers("G14")
@needs_minizinc
def test_a_negation_of_which_a_direction_is_lost_is_right_or_refused():
    """2.6.4 and 2.10.0 lose it, with any library; what they write has a solution where p holds and q does not."""
    text = "var bool: p;\nvar bool: q;\nconstraint (not (not (forall([p, q])))) <- p;\nsolve satisfy;\n"
    flat = releases()["installed"].flatten(text)
    try:
        assert len(solve_text(flat, arch="cpu", all_solutions=True).solutions) == 3
    except ModelError as error:
        assert "nothing needs this definition" in str(error)


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize(
    "items, count",
    [
        ("array[1..2] of var bool: p; constraint p[1] -> q; constraint p[1] -> r;", 10),
        ("array[1..3] of var bool: p; constraint not (p[1] /\\ p[2]); constraint not (p[1] /\\ p[3]);", 20),
        ("constraint let {var bool: t} in (t -> q) /\\ (t -> r);", 4),
        ("constraint let {var bool: t} in (t -> (q \\/ r)) /\\ (t -> not q);", 4),
        ("predicate f(var bool: a) = let {var bool: t} in (t -> a) /\\ (t -> not a); constraint f(q);", 4),
        ("constraint let {var bool: t = exists([q, r])} in not t; constraint q -> r;", 1),
        ("array[1..2] of var bool: p; var 0..3: x; constraint p[1] -> x <= 2; constraint p[1] -> x >= 1;", 48),
        ("var 0..3: x; constraint let {var bool: t} in (t -> x <= 2) /\\ (t -> x != 1) /\\ (t -> q);", 16),
        ("var 0..3: x; constraint q -> let {var bool: t} in (t -> x <= 2) /\\ (t \\/ x = 3);", 16),
    ],
)
def test_models_that_restrict_a_truth_in_one_direction_are_not_refused(release, items, count):
    """Elements of arrays and local variables are introduced by MiniZinc, too. Counted are solutions without them."""
    flat = releases()[release].flatten(f"var bool: q;\nvar bool: r;\n{items}\nsolve satisfy;\n")
    assert len(solve_text(flat, arch="cpu", all_solutions=True).solutions) == count


@pytest.mark.covers("A4")
@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("shape", ["1..2", "1..2, 1..1"])
def test_a_search_of_sets_is_one_of_truths(release, shape):
    """2.10 prefers the standard library's annotation where ours is of any shape, and its sets stay in the FlatZinc."""
    search = "set_search(s, input_order, indomain_min, complete)"
    flat = releases()[release].flatten(f"array[{shape}] of var set of 1..2: s;\nsolve :: {search} satisfy;\n")
    assert "var set" not in flat and flat.count("bool_search(") == 2
    assert len(solve_text(flat, arch="cpu", all_solutions=True).solutions) == 16
