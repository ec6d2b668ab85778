"""`--explain`: the constraints that are named have no solution together, and with one less there is one.

The judges know nothing of the groups that the solver makes: enumeration and Gecode solve what belongs to the names as
the drawer of the models wrote it down.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from itertools import combinations
from random import Random

import pytest

from support.command import core_line, processor_seconds
from support.flatzinc_text import write as flatzinc
from support.infeasible_models import NamedModel, draw
from support.needs import needs_gecode, needs_minizinc
from support.oracle import all_solutions
from support.places import DATA
from turbo_fzn import solve_text
from turbo_fzn.read.model import Model
from turbo_fzn.run.answer.outcome import Core

INFEASIBLE = {path.stem: path for path in sorted((DATA / "infeasible").glob("*.mzn"))}


def core_of(text: str, arch: str, **settings: object) -> Core:
    result = solve_text(text, arch=arch, explain=True, **settings)
    assert result.status == "UNSATISFIABLE" and result.core is not None
    return result.core


def judge(named: NamedModel, core: Core, has_solution: Callable[[Model], bool]) -> None:
    titles = core.titles
    assert core.minimal and len(set(titles)) == len(titles)
    assert not has_solution(named.only(titles))
    for title in titles:
        assert has_solution(named.only(other for other in titles if other != title)), title


@pytest.mark.parametrize("seeds", [range(12), pytest.param(range(12, 200), marks=pytest.mark.slow)], ids=str)
def test_a_core_is_minimal_by_enumeration(seeds, engine):
    for seed in seeds:
        named = draw(Random(seed))
        judge(named, core_of(named.model.text, engine), lambda model: bool(all_solutions(model)))


@needs_gecode
@pytest.mark.parametrize("seeds", [range(200, 204), pytest.param(range(204, 230), marks=pytest.mark.slow)], ids=str)
def test_a_core_is_minimal_as_gecode_solves_it(seeds, engine, tmp_path):
    def has_solution(model: Model) -> bool:
        path = tmp_path / "part.fzn"
        path.write_text(flatzinc(model).replace("turbo_all_different", "all_different_int"))
        said = subprocess.run(["fzn-gecode", path], capture_output=True, text=True, check=True).stdout
        assert ("----------" in said) != ("UNSATISFIABLE" in said)
        return "----------" in said

    for seed in seeds:
        named = draw(Random(seed))
        judge(named, core_of(named.model.text, engine), has_solution)


def test_the_drawn_models_have_cores_of_several_sizes_and_share_definitions():
    """That the tests above see something."""
    drawn = [draw(Random(seed)) for seed in range(20)]
    assert len({len(core_of(named.model.text, "cpu").constraints) for named in drawn}) >= 3
    pairs = (pair for named in drawn for pair in combinations(named.needed.values(), 2))
    assert any(one & other for one, other in pairs)


# ---- MiniZinc's names


CORES = {  # model -> what is to blame
    "bag": ["the bag holds 15", "worth 20"],
    "budget": ["seats for 17", "no more than 1500"],
    "colouring": [
        *(f"neighbours on the rim differ [i={i}]" for i in range(1, 8)),
        *(f"the hub differs from all [i={i}]" for i in range(1, 8)),
    ],
    "magic": [
        "all numbers differ",
        *("rows sum to 15 [i=1]", "rows sum to 15 [i=2]", "columns sum to 15 [j=1]", "columns sum to 15 [j=2]"),
        *("the corner is odd", "the diagonals sum to 15"),
    ],
    "project": ["build what is designed", "test what is built", "ship what is tested", "the fair is on day 14"],
    "roster": ["two nurses a day [d=2]", "Ann has Monday and Tuesday off", "Cid has Tuesday off"],
    "route": ["one tour", "from the mill to the bridge", "from the bridge to the inn", "the inn before the mill"],
    "seating": ["one guest a seat", "Ada beside Ben", "Ada beside Cleo", "Ada beside Dan"],
    "sets": ["three members each [c=1]", "three members each [c=2]", "one in common at most [c=1, d=2]"],
    "timetable": ["everybody has a seat [l=1]", "everybody has a seat [l=3]", "one lecture in a room at a time"],
}


OTHERS = [name for name in CORES if name != "project"]


@pytest.mark.covers("F21")
@needs_minizinc
@pytest.mark.parametrize("name", ["project", *(pytest.param(one, marks=pytest.mark.slow) for one in OTHERS)])
def test_a_model_of_minizinc_is_explained_in_its_own_words(name, minizinc):
    before = processor_seconds()
    done = minizinc("--explain", "-g", "--keep-paths", "--arch", "cpu", INFEASIBLE[name])
    assert processor_seconds() - before < 10
    assert (done.returncode, core_line(done.stdout)) == (0, CORES[name])
    assert f"({name}.mzn:" in done.stdout and done.stdout.endswith("=====UNSATISFIABLE=====\n")


@needs_minizinc
def test_a_name_is_enough_without_paths(minizinc, model):
    text = """
    array [1..3] of var 1..3: s;
    constraint :: "rise" forall(i in 1..2)(s[i] < s[i + 1]);
    constraint :: "not 2" s[2] != 2;
    constraint s[1] + s[3] > 2;
    solve satisfy;
    """
    assert core_line(minizinc("--explain", "-g", "--arch", "cpu", model(text)).stdout) == ["rise", "not 2"]


def test_every_model_without_a_solution_is_tried():
    assert set(CORES) == set(INFEASIBLE)
