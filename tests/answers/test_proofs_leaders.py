"""Proofs of runs that break symmetries: the right answer, whatever the model, and the checker accepts it.

The kernels that log are a build of their own, so what runs them is slow.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from random import Random

import pytest

from support.block_models import draw_blocks, pigeons
from support.oracle import all_solutions
from support.oracle import optimum as best_of
from support.proofs import consistent_models, optimum, prove
from support.symmetric_models import draw_symmetric
from turbo_fzn import solve_text
from turbo_fzn.options.options import Options
from turbo_fzn.process.interrupt import Interrupt
from turbo_fzn.proof import proof
from turbo_fzn.proof.checker import Refused, check
from turbo_fzn.proof.checking import check_files, scale_of
from turbo_fzn.proof.encoding import Encoding
from turbo_fzn.proof.hints import NotJustified
from turbo_fzn.proof.leaders import Leaders
from turbo_fzn.proof.tuning import TUNING
from turbo_fzn.read.flatzinc import parse_text
from turbo_fzn.read.model import Model
from turbo_fzn.run.arrangement import arranged
from turbo_fzn.run.prepare import prepare
from turbo_fzn.symmetry.tuning import TUNING as SYMMETRY
from turbo_fzn.tnf.language import TNF

N_MODELS, N_SYMMETRIC, N_DAMAGED = 400, 200, 100
KEYS = (2**28, 2**28, 2, 4, 9)  # the most values of one
ROLES = ("soloist", "prover finder", "prover", "finder prover follower")


@pytest.fixture(autouse=True)
def every(monkeypatch):
    """Few symmetries are broken, too."""
    monkeypatch.setattr(SYMMETRY, "least_symmetries", 1)


@pytest.fixture
def kept(monkeypatch) -> list[Leaders]:
    """The leaders of all proofs that have begun."""
    found: list[Leaders] = []

    def make(encoding: Encoding, interrupt: Interrupt | None = None) -> Leaders:
        found.append(Leaders(encoding, interrupt))
        return found[-1]

    monkeypatch.setattr(proof, "Leaders", make)
    return found


def check_proof(model: Model, path: str, status: str, objective: int | None) -> str:
    """Checks the proof of an answer. Returns the conclusion."""
    formula = path.replace(".pbp", ".opb")
    verdict = check_files(formula, path)
    words = scale_of(formula).words(verdict)
    expected = {"OPTIMAL_SOLUTION": f"OPTIMAL_SOLUTION, objective {objective}"}.get(status, status)
    assert verdict.conclusion != "NONE" and words == expected, (words, expected, model.text)
    return verdict.conclusion


# ---- random models


def drawn(kind: str) -> Iterator[tuple[int, Model]]:
    """Blocks, families and matrices; or rows and columns with all kinds of constraints."""
    draw, count = (draw_blocks, N_MODELS) if kind == "blocks" else (draw_symmetric, N_SYMMETRIC)
    for number in range(count):
        yield number, draw(Random(f"led/{number}"))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ("blocks", "lines"))
def test_symmetric_models_are_proved_with_leaders(kind, kept, monkeypatch, tmp_path):
    """By one to four threads; most of them have leaders, also where keys are cut."""
    path, counts = str(tmp_path / "a.pbp"), Counter[str]()
    for number, model in drawn(kind):
        random = Random(number)
        monkeypatch.setattr(TUNING, "key", random.choice(KEYS))
        kept.clear()
        free = {"threads": random.choice((1, 1, 2, 4)), "free_search": random.random() < 0.8, "seed": number}
        result = solve_text(model.text, arch="cpu", proof=path, symmetry="on", **free)
        solutions = all_solutions(model)
        best = best_of(model, solutions) if solutions and model.goal.method != "satisfy" else None
        assert (result.status == "UNSATISFIABLE") == (not solutions) and result.objective == best, model.text
        if kept:  # else it is refuted before the search
            counts[check_proof(model, path, result.status, best)] += 1
            counts["led"] += bool(kept[0].sums)
            counts["without a solution, led"] += bool(kept[0].sums) and not solutions
    n = counts["BOUNDS"] + counts["SAT"] + counts["UNSAT"]
    assert counts["led"] > (0.8 if kind == "blocks" else 0.4) * n, counts
    assert min(counts["BOUNDS"], counts["SAT"]) > n / 10, counts
    assert kind != "blocks" or (counts["without a solution, led"] > n / 20 and counts["UNSAT"] > n / 20), counts


@pytest.mark.slow
@pytest.mark.parametrize("threads", (1, 3))
def test_pigeons_have_a_proof_with_leaders(threads, kept, tmp_path):
    """A learner without cardinalities would look at all ways to put them into holes."""
    path, model = str(tmp_path / "a.pbp"), pigeons(7)
    result = solve_text(
        model.text, arch="cpu", proof=path, symmetry="on", free_search=True, threads=threads, relaxation="off"
    )
    assert result.status == "UNSATISFIABLE" and len(kept[0].sums) >= 6
    assert check_proof(model, path, result.status, None) == "UNSAT"


@pytest.mark.slow
def test_trees_are_proved_with_leaders():
    """Random rows, of which few are symmetric, and trees, whose links are defined again."""
    found, led, renumbered = Random(62), 0, 0
    for number, tnf in consistent_models(N_MODELS):
        kept: list[Leaders] = []
        one = prove(tnf, found.choice(ROLES), lead=kept.append)
        verdict = check(one.model.splitlines(), one.proof.splitlines())
        assert verdict.conclusion == one.conclusion != "NONE", number
        if kept[0].sums:
            assert optimum(tnf) == one.found, number
        led, renumbered = led + bool(kept[0].sums), renumbered + bool(kept[0].numbers)
    assert led > N_MODELS / 20 and renumbered > N_MODELS / 40, (led, renumbered)


# ---- damaged proofs


def damage_sign(random: Random, found: Leaders) -> None:
    """The learners take an order the other way round."""
    place = random.randrange(len(found.sums))
    found.sums[place] = [(v, -a) for v, a in found.sums[place]]


def damage_least(random: Random, found: Leaders) -> None:
    """Both take the first block to be less."""
    lines = found.text.splitlines(keepends=True)
    place = random.choice([i for i, line in enumerate(lines) if line.startswith("red") and line.count("->") > 1])
    before, after = lines[place].split(" >= ")
    least, *rest = after.split(" ")
    lines[place] = f"{before} >= {' '.join([str(int(least) + 1), *rest])}"
    found.text = "".join(lines)


def damage_witness(random: Random, found: Leaders) -> None:
    """A swap that is no symmetry: two variables have each other's image."""
    lines = found.text.splitlines(keepends=True)
    place = random.choice([i for i, line in enumerate(lines) if line.startswith("red") and line.count("->") > 1])
    words = lines[place].split(" ")
    arrows = [i for i, word in enumerate(words) if word == "->"]
    one, other = (i + 1 for i in random.sample(arrows, 2))
    words[one], words[other] = words[other].strip(), words[one].strip()
    lines[place] = " ".join(words).rstrip("\n") + "\n"
    found.text = "".join(lines)


def damage_stated(random: Random, found: Leaders) -> None:
    found.stated = [number + 1 for number in found.stated]


def damage_numbers(random: Random, found: Leaders) -> None:
    found.numbers = {number: new + random.choice((-1, 1)) for number, new in found.numbers.items()}


def damage_steps(random: Random, found: Leaders) -> None:
    """A step is missing."""
    lines = found.text.splitlines(keepends=True)
    del lines[random.randrange(len(lines))]
    found.text = "".join(lines)


DAMAGES = (damage_sign, damage_least, damage_witness, damage_stated, damage_numbers, damage_steps)


def led_models(count: int) -> Iterator[tuple[int, TNF]]:
    for number in range(count):
        tnf = arranged(prepare(parse_text(draw_blocks(Random(f"led/{number}")).text), Options(), Interrupt())).tnf
        if not tnf.infeasible and Leaders(Encoding(tnf)).sums:
            yield number, tnf


@pytest.mark.slow
@pytest.mark.parametrize("damage", DAMAGES)
def test_no_damaged_leaders_prove_what_is_false(damage):
    """It is refused, or proves less, or what it proves is still true, whatever the learners have found."""
    random, noticed, tried = Random(63), 0, 0
    for number, tnf in led_models(N_DAMAGED):
        best, tried = optimum(tnf), tried + 1
        try:
            one = prove(tnf, random.choice(ROLES), lead=lambda found: damage(random, found))
            verdict = check(one.model.splitlines(), one.proof.splitlines())
        except (NotJustified, Refused):
            noticed += 1
            continue
        if verdict.conclusion == "BOUNDS":
            value = None if best is None else tnf.sense * (best - int(tnf.lower[tnf.objective]))
            assert value is None or verdict.lower is not None and verdict.lower <= value, number
            assert verdict.upper is None or (value is not None and verdict.upper >= value), number
        assert verdict.conclusion != ("SAT" if best is None else "UNSAT"), number
    assert noticed > tried / 25 and tried > N_DAMAGED / 2, (noticed, tried)
