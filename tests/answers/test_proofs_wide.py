"""Proofs of learners with wide rows of cumulatives: these are used, what they explain is accepted, and what is proved
is what trying all starts finds.

The kernels that log are a build of their own, so what runs them is slow.
"""

from __future__ import annotations

from array import array
from collections import Counter
from itertools import product
from operator import mul
from random import Random

import pytest

from support.crowd_models import Tasks, draw_tasks
from support.proofs import prove
from turbo_fzn import solve_text
from turbo_fzn.engine.logged import WORD, Log
from turbo_fzn.lower.tuning import TUNING
from turbo_fzn.options.options import Options
from turbo_fzn.process.interrupt import Interrupt
from turbo_fzn.proof import log
from turbo_fzn.proof.checker import Refused, Verdict, check
from turbo_fzn.proof.checking import check_files, scale_of
from turbo_fzn.proof.crowded import Crowded
from turbo_fzn.proof.hints import NotJustified
from turbo_fzn.read.flatzinc import parse_text
from turbo_fzn.run.prepare import prepare
from turbo_fzn.tnf.crowds import crowds
from turbo_fzn.tnf.fuse import fused_of
from turbo_fzn.tnf.language import TNF

N_MODELS, N_DAMAGED = 300, 150
ROLES = ("soloist", "prover", "finder", "follower")


@pytest.fixture(autouse=True)
def rows_are_for_pairs_of_tasks(monkeypatch):
    monkeypatch.setattr(TUNING, "time_cells", 0)


@pytest.fixture
def used(monkeypatch) -> Counter[int]:
    """Counts the explanations in proofs, by the tasks that they need."""
    counts, find = Counter[int](), Crowded._find

    def counted(self: Crowded, bounds: dict[int, int]) -> list[int]:
        found = find(self, bounds)
        counts[len(found)] += bool(found)
        return found

    monkeypatch.setattr(Crowded, "_find", counted)
    return counts


def larger_tasks(random: Random) -> Tasks:
    """Too many for trying all starts: seven to ten tasks of two resources, with a long time and some order."""
    n, top = random.randint(7, 10), random.choice((2, 3, 4))
    lengths = [random.randint(1, random.choice((3, 5))) for _ in range(n)]
    uses = [[random.randint(0, top) for _ in range(n)] for _ in range(2)]
    capacities = [max(*own, random.randint(top, 2 * top)) for own in uses]
    starts = [(random.choice((0, 0, 0, 2, -1)), sum(lengths)) for _ in range(n)]
    pairs = [(i, j) for i in range(n) for j in range(i + 1, n) if random.random() < 0.1]
    least = max(capacities[0] - random.choice((0, 0, 1)), *uses[0])
    return Tasks(starts, lengths, uses, capacities, least, pairs, random.random() < 0.1)


def proves(tnf: TNF, best: int | None, verdict: Verdict) -> bool:
    """Whether the conclusion is that this is the optimum; of a constant objective, that there is a solution."""
    if tnf.sense == 0 or tnf.lower[tnf.objective] == tnf.upper[tnf.objective]:
        return verdict.conclusion == ("UNSAT" if best is None else "SAT")
    if verdict.conclusion != "BOUNDS" or best is None:
        return verdict.conclusion == "BOUNDS" and verdict.upper is None and best is None
    value = tnf.sense * (best - int(tnf.lower[tnf.objective]))
    return verdict.lower == verdict.upper == value


@pytest.mark.slow
def test_cumulatives_are_proved_as_wide_rows(used):
    random, proved = Random(47), 0
    for number in range(N_MODELS):
        tasks = draw_tasks(Random(f"wide/{number}"))
        tnf = tasks.tnf()
        if tnf is None:
            assert tasks.best() is None, number
            continue
        one = prove(tnf, random.choice(ROLES), random.choice((0, 1, 2)), blocks=random.choice((1, 1, 2)))
        verdict = check(one.model.splitlines(), one.proof.splitlines())
        best = tasks.best()
        assert verdict.conclusion == one.conclusion and proves(tnf, best, verdict), number
        proved += 1
    assert proved > N_MODELS / 3 and used[2] > N_MODELS / 10 and used[3] > N_MODELS / 20, (proved, used)


@pytest.mark.slow
def test_larger_cumulatives_are_proved_as_wide_rows(used):
    """The checker agrees with a run without a proof."""
    random, n_crowds = Random(48), 0
    for number in range(N_MODELS // 10):
        tasks = larger_tasks(Random(f"larger/{number}"))
        tnf = tasks.tnf()
        if tnf is None:
            continue
        n_crowds += len(crowds(tnf))
        one = prove(tnf, random.choice(ROLES), random.choice((0, 1, 2)), blocks=random.choice((1, 1, 2)))
        verdict = check(one.model.splitlines(), one.proof.splitlines())
        result = solve_text(tasks.text(), arch="cpu", free_search=True, threads=1)
        assert verdict.conclusion == one.conclusion and proves(tnf, result.objective, verdict), number
    assert n_crowds > N_MODELS / 10 and used[2] > N_MODELS and used[3] > N_MODELS / 10 and used[4] > 0, (n_crowds, used)


def with_cost(tasks: Tasks, weights: list[int]) -> TNF | None:
    """The tasks, whose cost, a weighted sum of the starts, is to be least; None where the root fails."""
    declarations, *statements = tasks.text().split("constraint ")
    names = ",".join(f"s{i}" for i in range(len(weights)))
    statements[-1] = statements[-1].partition("solve")[0]
    cost = f"int_lin_eq([{','.join(map(str, weights))},-1],[{names},cost],0);\nsolve minimize cost;\n"
    text = "constraint ".join((f"{declarations}var -999..999: cost;\n", *statements, cost))
    tnf = prepare(parse_text(text), Options(arch="cpu"), Interrupt()).tnf
    return None if tnf.infeasible else tnf


@pytest.mark.slow
def test_learners_without_fused_rows_number_wide_rows_as_others_do():
    random, counts = Random(49), Counter[bool]()
    for number in range(N_MODELS // 10):
        tasks = draw_tasks(Random(f"cost/{number}"))
        weights = [random.randint(1, 3) for _ in tasks.starts]
        tnf = with_cost(tasks, weights)
        best = min((sum(map(mul, weights, starts)) for _, starts in tasks.solutions()), default=None)
        if tnf is None:
            assert best is None, number
            continue
        one = prove(tnf, "prover finder finder", number)  # the second one has no fused rows
        verdict = check(one.model.splitlines(), one.proof.splitlines())
        assert verdict.conclusion == one.conclusion and proves(tnf, best, verdict), number
        counts[bool(crowds(tnf)) and fused_of(tnf, is_logged=True).linears.n_rows > 0] += 1
    assert counts[True] > N_MODELS / 60, counts


def err(random: Random, learned: Log) -> int:
    """Changes a premise or the bound of some explanations of wide rows. Returns how many."""
    n_rows = learned.tnf.n_rows + fused_of(learned.tnf, is_logged=True).linears.n_rows
    words = learned.words(0, learned.n_bytes // WORD)
    place = count = 0
    while place < len(words):
        size, kind = words[place : place + log.HEAD]
        if kind == log.BY_ROW and words[place + 5] >= n_rows and random.random() < 0.3:
            literals = [place + 3, *range(place + 6, place + size, 2)]
            words[random.choice(literals) + 1] += random.choice((-2, -1, 1, 2))
            count += 1
        place += size
    learned.file.seek(0)
    learned.file.write(array("q", words).tobytes())
    learned.file.flush()
    return count


@pytest.mark.slow
def test_a_wide_row_that_errs_is_noticed():
    """No such proof is written, or it is refused, or it has no conclusion, or what it proves is true."""
    random, counts = Random(5), Counter[str]()
    for number in range(N_DAMAGED):
        tasks, errors = draw_tasks(Random(f"wide/{number}")), []
        tnf = tasks.tnf()
        if tnf is None:
            continue
        try:
            one = prove(tnf, damage=lambda learned, errors=errors: errors.append(err(random, learned)))
            verdict = check(one.model.splitlines(), one.proof.splitlines())
            if errors[0]:
                assert verdict.conclusion == "NONE" or proves(tnf, tasks.best(), verdict), number
        except (NotJustified, Refused):
            counts["noticed"] += 1
        counts["damaged"] += errors[0] > 0
    assert counts["damaged"] > N_DAMAGED / 10 and counts["noticed"] > N_DAMAGED / 50, counts


def project(random: Random) -> Tasks:
    """Twelve tasks, of which about three fit at a time on each of two resources."""
    n = 12
    lengths, *uses = ([random.randint(*ends) for _ in range(n)] for ends in ((2, 10), (1, 6), (1, 6)))
    capacities = [random.randint(10, 13) for _ in uses]
    pairs = [(i, j) for i in range(n) for j in range(i + 1, n) if random.random() < 1.2 / n]
    return Tasks([(0, sum(lengths))] * n, lengths, uses, capacities, capacities[0], pairs, False)


@pytest.mark.slow
def test_wide_rows_spare_conflicts(tmp_path, used):
    """The pairs of rows alone find out late what does not fit beside others."""
    proof, failures = str(tmp_path / "a.pbp"), Counter[bool]()
    for number, has_wide in product(range(5), (True, False)):
        text = project(Random(f"project/{number}")).text()
        with pytest.MonkeyPatch.context() as patch:
            if not has_wide:
                patch.setattr("turbo_fzn.engine.layout.learners.crowds", lambda tnf: [])
            result = solve_text(text, arch="cpu", free_search=True, threads=1, proof=proof, relaxation="off")
        model = str(tmp_path / "a.opb")
        words = scale_of(model).words(check_files(model, proof))
        assert words == f"OPTIMAL_SOLUTION, objective {result.objective}" and result.status == "OPTIMAL_SOLUTION"
        failures[has_wide] += result.statistics["failures"]
    assert failures[True] < failures[False] / 2 and used.total() > 100, (failures, used)
