"""Proofs of small models that Python's `proof=` writes, by one to four threads: the checker accepts them,
and what they prove is true.

A run leaves both files, or neither and the reason in its log. What the files prove of the model is what enumeration
says; so is the answer, which is judged as that of any run (judge.py). Small models hardly have the sums that a learner
fuses, so some are trees of rows (tree_models.py), and some are tasks (crowd_models.py), whose proofs are compared with
enumeration, too.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, replace
from io import StringIO
from pathlib import Path
from random import Random
from unittest.mock import patch

from fuzz.judge import SECONDS, TEAMS, Expected, Verdict, Way, compare, draw_way
from fuzz.shapes import draw_any
from support.crowd_models import draw_tasks
from support.flatzinc_text import with_text
from support.oracle import WindowTooSmall
from support.proofs import optimum, prove
from support.tree_models import random_trees
from turbo_fzn import Result, solve_text
from turbo_fzn.base.errors import InternalError, TurboError
from turbo_fzn.lower.tuning import TUNING
from turbo_fzn.proof.checker import Refused
from turbo_fzn.proof.checking import check_files, scale_of
from turbo_fzn.tnf.language import TNF
from turbo_fzn.tnf.text import write

NAMES = ("a.pbp", "a.pbp.gz")
OF_TREES = 0.2  # share of the models
OF_TASKS = 0.4  # share of these and of models of tasks
RELAXED = 0.5  # share of both whose proof begins with the relaxation's bound
ROLES = ("soloist", "prover", "finder", "follower", "cores")
REASON = "--proof: no proof is written"
WITHOUT_CLAIM = "--proof: the proof ends without a conclusion"


@dataclass
class Proved:
    """The answer to a model, the names of the files that the run has left, and the lines of its log. `words`: the
    status and the objective that the files prove; empty without files, or with what the checker objects to."""

    result: Result
    files: list[str]
    lines: list[str]
    words: str = ""
    objection: str = ""


def draw_proof_way(random: Random) -> Way:
    """One that a proof can be written in: one solution is enough, and a thread can learn, to which others may bring
    solutions."""
    learn, blocks = random.choice(("auto", *TEAMS)), random.randint(1, 4)
    way = replace(draw_way(random), learn=learn, blocks=blocks)
    return replace(way, n_solutions=1, n_optimal=None, team="", by_text=True)


def solve_with_proof(text: str, way: Way, name: str = NAMES[0]) -> Proved:
    """Raises the errors of solve_text."""
    lines: list[str] = []
    with tempfile.TemporaryDirectory(prefix="turbo-proof-") as folder, way.surroundings():
        proof = Path(folder, name)
        settings = {**way.settings(), "time_limit": 1000 * SECONDS, "on_log": lines.append}
        proved = Proved(solve_text(text, proof=str(proof), **settings), [], lines)
        proved.files = sorted(path.name for path in Path(folder).iterdir())
        if proved.files:
            try:
                formula = str(proof).replace(".pbp", ".opb")
                proved.words = scale_of(formula).words(check_files(formula, str(proof)))
            except (Refused, OSError) as objection:
                proved.objection = str(objection)
    return proved


def judge_proof(proved: Proved, way: Way, expected: Expected) -> Verdict:
    verdict = compare(proved.result, way, expected)
    if verdict.kind != "right":
        return verdict
    if not proved.files:
        told = any(REASON in line for line in proved.lines)
        return Verdict("unproved") if told else Verdict("wrong", "neither a proof nor the reason why there is none")
    if proved.objection:
        return Verdict("wrong", f"{', '.join(proved.files)}: {proved.objection}")
    if proved.words == "UNKNOWN" and any(WITHOUT_CLAIM in line for line in proved.lines):
        return Verdict("unclaimed")
    wanted = words_of(expected)
    return Verdict("right") if proved.words == wanted else Verdict("wrong", f"proves {proved.words}, not {wanted}")


def words_of(expected: Expected) -> str:
    """The words of proof.checking for what enumeration finds."""
    if not expected.objectives:
        return "UNSATISFIABLE"
    return f"OPTIMAL_SOLUTION, objective {expected.optimum}" if expected.optimise else "SATISFIED"


def try_proof(random: Random) -> tuple[Verdict, str]:
    """The verdict on the proof of a random model, solved in a random way, and the model's text."""
    drawn = random.random()
    return try_trees(random) if drawn < OF_TREES else try_tasks(random) if drawn < OF_TASKS else try_text(random)


def try_trees(random: Random) -> tuple[Verdict, str]:
    """The verdict on trees in ternary normal form, and their text."""
    tnf, text = random_trees(random), StringIO()
    if tnf is None:
        return Verdict("undecided"), ""
    write(tnf, text)
    return judge_log(random, tnf, optimum(tnf)), text.getvalue()


def try_tasks(random: Random) -> tuple[Verdict, str]:
    """The verdict on tasks that are stated by pairs, and their FlatZinc."""
    tasks = draw_tasks(random)
    with patch.object(TUNING, "time_cells", 0):
        tnf = tasks.tnf()
    return Verdict("undecided") if tnf is None else judge_log(random, tnf, tasks.best()), tasks.text()


def judge_log(random: Random, tnf: TNF, best: int | None) -> Verdict:
    """The verdict on the proof that a learner logs for a model with this optimum, in a random way."""
    relax = (lambda relaxed: None) if random.random() < RELAXED else None
    roles = " ".join(random.choices(ROLES, k=random.choice((1, 1, 2, 3))))
    one = prove(tnf, roles, random.randrange(9), blocks=random.choice((1, 1, 2, 4)), relax=relax)
    with tempfile.TemporaryDirectory(prefix="turbo-proof-") as folder:
        formula, proof = Path(folder, "a.opb"), Path(folder, "a.pbp")
        formula.write_text(one.model)
        proof.write_text(one.proof)
        try:
            found = scale_of(str(formula)).words(check_files(str(formula), str(proof)))
        except Refused as objection:
            return Verdict("wrong", str(objection))
    wanted = "UNSATISFIABLE" if best is None else f"OPTIMAL_SOLUTION, objective {best}" if tnf.sense else "SATISFIED"
    is_right = found == wanted and one.found == best
    return Verdict("right") if is_right else Verdict("wrong", f"{found}, {one.found}, not {wanted}")


def try_text(random: Random) -> tuple[Verdict, str]:
    """The verdict on FlatZinc, and its text."""
    model, way, name = draw_any(random), draw_proof_way(random), random.choice(NAMES)
    text = with_text(model).text
    try:
        expected = Expected(model)
    except WindowTooSmall:
        return Verdict("undecided"), text
    try:
        verdict = judge_proof(solve_with_proof(text, way, name), way, expected)
    except InternalError as error:
        verdict = Verdict("wrong", str(error))
    except TurboError as error:
        is_about_proofs = str(error).startswith("--proof: ")
        may_be = is_about_proofs or expected.may_be_refused
        verdict = Verdict("refused") if may_be else Verdict("without need", f"refused: {error}")
    except Exception as error:
        verdict = Verdict("crash", f"{type(error).__name__}: {error}")
    return Verdict(verdict.kind, f"{verdict.fault} ({way})" if verdict.is_fault else ""), text
