"""Proofs of what a learner answers: the checker accepts them, and no damaged one that proves what is false.

The kernels that log are a build of their own, so what runs them is slow.
"""

from __future__ import annotations

import gzip
import re
import signal
import subprocess
from array import array
from collections import Counter
from io import StringIO
from pathlib import Path
from random import Random

import numpy as np
import pytest

from lab.bench.proofs import COLUMNS, measure
from support.command import COMMAND, environment, finish, golomb, run, start, wait_until, write
from support.corpus import EXPECTED, has_floats, text_of
from support.naive import solutions
from support.places import CORPUS
from support.proofs import consistent_models, logged_engine, optimum, prove
from turbo_fzn import Model, solve_text
from turbo_fzn.engine.contract import Found, Roots
from turbo_fzn.engine.cpu import CpuEngine
from turbo_fzn.engine.logged import WORD, Log
from turbo_fzn.process.interrupt import Interrupt
from turbo_fzn.proof import log, writer
from turbo_fzn.proof.checker import Refused, Verdict, check
from turbo_fzn.proof.checking import Scale, check_files
from turbo_fzn.proof.encoding import Encoding
from turbo_fzn.proof.hints import NotJustified
from turbo_fzn.proof.tuning import TUNING
from turbo_fzn.tnf.language import TNF

REFUSED = {"wide"}  # a remainder of numbers up to a million
NAMES = [Path(entry["model"]).stem for entry in EXPECTED if not has_floats(text_of(entry))]
N_RANDOM, N_DAMAGED, N_TEAMS = 1000, 300, 500
ROLES = ("soloist", "prover", "finder")


def checked(model: Path, proof: Path) -> subprocess.CompletedProcess[str]:
    command = [*COMMAND, "--check-proof", str(model), str(proof)]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment())


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in NAMES if name not in REFUSED])
def test_an_example_is_proved(name, tmp_path):
    model = CORPUS / f"{name}.fzn"
    done = run(str(model), "-f", "--proof", str(tmp_path / "a.pbp.gz"))
    assert (done.code, done.errors) == (0, ""), done.errors
    verdict = check_files(str(tmp_path / "a.opb.gz"), str(tmp_path / "a.pbp.gz"))
    if done.markers == ["=====UNSATISFIABLE====="]:
        assert Scale().words(verdict) == "UNSATISFIABLE"
    elif re.search(r"^solve .*satisfy;", model.read_text(), re.MULTILINE):
        assert verdict.conclusion == "SAT"
    else:
        assert verdict.conclusion == "BOUNDS" and verdict.lower == verdict.upper


@pytest.mark.slow
def test_what_cannot_be_logged_is_refused(tmp_path):
    proof = str(tmp_path / "a.pbp")
    for name, reason in (("wide", "has more than"), ("beam", "real variables")):
        done = run(str(CORPUS / f"{name}.fzn"), "--proof", proof)
        assert done.code == 1 and reason in done.errors
    done = run(str(CORPUS / "queens.fzn"), "-a", "--proof", proof)
    assert done.code == 1 and "--proof: no thread can learn" in done.errors
    done = run(str(CORPUS / "queens.fzn"), "--proof", str(tmp_path / "missing" / "a.pbp"))
    assert done.code == 1 and "cannot write" in done.errors


@pytest.mark.slow
def test_the_command_checks_a_proof(tmp_path):
    proof, model = tmp_path / "a.pbp", tmp_path / "a.opb"
    run(str(CORPUS / "golomb.fzn"), "--proof", str(proof))
    done = checked(model, proof)
    assert done.returncode == 0
    assert re.match(r"verified: OPTIMAL_SOLUTION, objective 17 \(\d+ steps\)", done.stdout)
    proof.write_text(proof.read_text().replace("BOUNDS 11", "BOUNDS 12"))
    done = checked(model, proof)
    assert done.returncode == 1 and "the conclusion does not follow" in done.stderr
    done = checked(model, tmp_path / "missing.pbp")
    assert done.returncode == 1 and "cannot read the file" in done.stderr
    (tmp_path / "b.pbp.gz").write_bytes(gzip.compress(proof.read_bytes())[:5000])
    done = checked(model, tmp_path / "b.pbp.gz")
    assert done.returncode == 1 and "damaged" in done.stderr


@pytest.mark.slow
def test_a_log_that_is_too_long_ends_the_proof_and_not_the_search(tmp_path):
    done = run(str(CORPUS / "removal.fzn"), "-f", "--proof", str(tmp_path / "a.pbp"), "--proof-limit", "1")
    assert done.text.endswith("==========\n") and "its log has reached --proof-limit" in done.errors


@pytest.mark.slow
@pytest.mark.parametrize("solve", ["solve_text", "Model"])
@pytest.mark.parametrize("name", ["golomb", "queens"])
def test_python_writes_the_proof_that_the_command_writes(tmp_path, name, solve):
    text, proof = (CORPUS / f"{name}.fzn").read_text(), str(tmp_path / "a.pbp")
    calls = {"solve_text": solve_text, "Model": lambda text, **settings: Model(text, **settings).solve()}
    result = calls[solve](text, arch="cpu", proof=proof)
    verdict = check_files(str(tmp_path / "a.opb"), proof)
    if result.objective is None:
        assert (result.status, verdict.conclusion) == ("SATISFIED", "SAT")
    else:
        assert result.status == "OPTIMAL_SOLUTION" and verdict.lower == verdict.upper is not None


@pytest.mark.slow
def test_a_listener_that_leaves_early_leaves_no_part_of_a_proof(tmp_path):
    def refuse(*heard: object) -> None:
        raise LookupError

    with pytest.raises(LookupError):
        solve_text(golomb(8), arch="cpu", proof=str(tmp_path / "a.pbp"), on_solution=refuse)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_a_stop_before_the_proof_leaves_no_file_of_it_and_is_told(tmp_path):
    """While kernels are loaded, or the search goes on: the file of the model is written before."""
    model = write(tmp_path, golomb(13), "model.fzn")
    process = start("--arch", "cpu", "--proof", tmp_path / "a.pbp", model)
    wait_until((tmp_path / "a.opb").exists)
    process.send_signal(signal.SIGTERM)
    done = finish(process)
    assert done.code == 0 and "no proof is written: the run has been stopped before that" in done.errors
    assert [path.name for path in tmp_path.iterdir()] == ["model.fzn"]


def is_true(tnf: TNF, best: int | None, verdict: Verdict) -> bool:
    """Whether the conclusion holds, of a model with this optimum."""
    if verdict.conclusion in ("NONE", "SAT", "UNSAT"):
        return verdict.conclusion == "NONE" or (verdict.conclusion == "SAT") == (best is not None)
    if best is None:
        return verdict.upper is None
    value = tnf.sense * (best - int(tnf.lower[tnf.objective]))
    return verdict.lower is not None and verdict.lower <= value and (verdict.upper is None or value <= verdict.upper)


@pytest.mark.slow
def test_random_models_are_proved():
    random, proved = Random(42), 0
    for number, tnf in consistent_models(N_RANDOM):
        one = prove(tnf, random.choice(ROLES), random.choice((0, 1, 2)))
        verdict = check(one.model.splitlines(), one.proof.splitlines())
        assert verdict.conclusion == one.conclusion != "NONE", number
        proved += 1
        if number % 4 == 0:
            best = optimum(tnf)
            assert best == one.found and is_true(tnf, best, verdict), number
    assert proved > N_RANDOM / 2


@pytest.mark.slow
def test_random_models_are_proved_where_other_blocks_find_the_solutions():
    """What they find is a step of the proof, also where it is the optimum."""
    random, by_others = Random(43), 0
    for number, tnf in consistent_models(N_TEAMS):
        one = prove(tnf, random.choice(ROLES), random.choice((0, 1, 2)), blocks=random.choice((2, 3, 4)))
        verdict = check(one.model.splitlines(), one.proof.splitlines())
        assert verdict.conclusion == one.conclusion != "NONE", number
        by_others += one.method not in ("", *ROLES)
        if number % 4 == 0:
            best = optimum(tnf)
            assert best == one.found and is_true(tnf, best, verdict), number
    assert by_others > 20, by_others


@pytest.mark.slow
def test_only_the_learner_that_logs_ends_the_search():
    """Restarts of so small models are complete: hundreds of them prove the optimum before the learner begins, and do
    not say so."""
    proved_late = 0
    for tnf in [tnf for _, tnf in consistent_models(N_TEAMS) if tnf.sense]:
        engine = logged_engine(tnf, "prover", blocks=3)
        *others, learner = engine.threads
        for thread in others:
            thread.start()
        while engine.methods()[:, 0].sum() < 300 and engine.running:
            engine.poll()
        assert engine.bound == engine.layout.root_bound(), "which may be met"
        proved_late += engine.running
        learner.start()
        while engine.running:
            engine.poll()
        assert engine.complete
        engine.close()
    assert proved_late > 5, proved_late


@pytest.mark.slow
def test_a_learner_that_logs_takes_nothing_but_solutions_of_others():
    """A solution, from which the rest follows, is a step of its proof. Bounds of all solutions that are better have
    none, so it has to find out by itself. (A bound of the objective is test_proofs_relaxed.py's.)"""
    random, told = Random(44), 0
    for number, tnf in consistent_models(N_TEAMS):
        values = sorted(solutions(tnf), key=lambda one: tnf.sense * one[tnf.objective]) if tnf.sense else []
        objectives = [tnf.sense * one[tnf.objective] for one in values]
        if not values or objectives[0] == objectives[-1]:
            continue
        known = random.choice([place for place, value in enumerate(objectives) if value > objectives[0]])
        better = np.array([one for one, value in zip(values, objectives) if value < objectives[known]])
        roots = Roots(np.stack((better.min(0), -better.max(0)), 1).reshape(-1), objectives[known])
        found = Found(tnf.sense * objectives[known], 0, "told", np.array(values[known]))

        def tell(engine: CpuEngine, found=found, roots=roots) -> Found:
            engine.adopt(found)
            engine.tighten(roots)
            return found

        one = prove(tnf, random.choice(ROLES), tell=tell)
        verdict = check(one.model.splitlines(), one.proof.splitlines())
        assert verdict.conclusion == "BOUNDS" and is_true(tnf, tnf.sense * objectives[0], verdict), number
        told += verdict.lower == verdict.upper is not None
    assert told > N_TEAMS / 10


@pytest.mark.slow
def test_a_solution_that_ends_the_search_before_it_is_logged_is_a_step_behind_the_log():
    """The log up to any record, and the best solution, as where another block has found it: the optimum is proved where
    the bounds until then are as good, and nothing is where they are not."""
    random, counts = Random(45), Counter[str]()
    for number, tnf in consistent_models(N_TEAMS):
        logs: list[Log] = []
        whole = prove(tnf, damage=logs.append)
        events = list(log.events(logs[0]))
        solutions_logged = [words[log.HEAD :] for _, words in events if words[1] == log.SOLUTION]
        if not solutions_logged:
            continue
        short, text = shortened(logs[0], random.choice(events)[0]), StringIO()
        conclusion = writer.write_proof(Encoding(tnf), short, text, Interrupt(), solutions_logged[-1])
        verdict = check(whole.model.splitlines(), text.getvalue().splitlines())
        assert verdict.conclusion == conclusion in (whole.conclusion, "NONE"), number
        assert is_true(tnf, whole.found, verdict), number
        counts[conclusion] += 1
    assert min(counts[one] for one in ("SAT", "BOUNDS", "NONE")) > 3, counts


def shortened(learned: Log, words: int) -> Log:
    """The first words of a log."""
    short = Log(learned.tnf, 2**20)
    short.file.write(array("q", learned.words(0, words)).tobytes())
    short.file.flush()
    short.n_bytes = words * WORD
    return short


@pytest.mark.slow
def test_an_answer_that_the_log_contradicts_has_no_proof():
    """One that is better than the proved bound, and one that is worse than what was logged."""
    refused = 0
    for _, tnf in consistent_models(200):
        logs: list[Log] = []
        is_bounded = prove(tnf, damage=logs.append).conclusion == "BOUNDS"
        if not is_bounded or tnf.lower[tnf.objective] == tnf.upper[tnf.objective]:
            continue
        best = optimum(tnf)
        for value in (best - 1, best + 1) if best is not None else (0,):
            answer = [0] * tnf.n_vars
            answer[tnf.objective] = value
            with pytest.raises(NotJustified, match="not the answer"):
                writer.write_proof(Encoding(tnf), logs[0], StringIO(), Interrupt(), answer)
            refused += 1
    assert refused > 20


class Counting(Interrupt):
    """Counts how often it is looked at."""

    looks = 0

    def __bool__(self) -> bool:
        self.looks += 1
        return False


@pytest.mark.slow
def test_a_stop_is_looked_for_where_the_log_is_read_and_trimmed_and_the_proof_written(monkeypatch):
    """Once for each record on the way forth and on the way back, and once for each step that is kept."""
    interrupt, trimmers = Counting(), []
    real = writer.Trimmer
    monkeypatch.setattr(writer, "Trimmer", lambda *arguments: trimmers.append(real(*arguments)) or trimmers[-1])
    tnf = next(tnf for _, tnf in consistent_models(1000) if prove(tnf).proof.count("rup") > 8)
    trimmers.clear()
    prove(tnf, interrupt=interrupt)
    (trimmer,) = trimmers
    records, kept = len(trimmer.places), len(trimmer.found)
    assert min(records, kept) > 4 and interrupt.looks > 2 * records + kept - 5  # the last ones are looked at apart


def damaged(random: Random, proof: str) -> str:
    """The proof with a word of a step changed, a line left out, two lines exchanged, or another conclusion."""
    lines = proof.splitlines()
    place = random.randrange(2, len(lines) - 1)
    kind = random.randrange(4)
    if kind == 0 and len(lines) > 5:
        del lines[place]
    elif kind == 1:
        other = random.randrange(2, len(lines) - 1)
        lines[place], lines[other] = lines[other], lines[place]
    else:
        words = lines[place].split()
        at = random.randrange(len(words))
        word = words[at]
        if word.lstrip("-").isdigit():
            words[at] = str(int(word) + random.choice((-2, -1, 1, 2, 10)))
        elif word[-1].isdigit():
            words[at] = word[1:] if word[0] == "~" else f"~{word}"
        else:
            words[at] = random.choice(("0", "1", ";", "s", "INF", "SAT", "UNSAT"))
        lines[place] = " ".join(words)
    return "\n".join(lines)


@pytest.mark.slow
def test_no_damaged_proof_proves_what_is_false():
    random, refused = Random(7), 0
    for number, tnf in consistent_models(N_DAMAGED):
        one, best = prove(tnf), optimum(tnf)
        for _ in range(5):
            try:
                verdict = check(one.model.splitlines(), damaged(random, one.proof).splitlines())
            except Refused:
                refused += 1
                continue
            assert is_true(tnf, best, verdict), number
    assert refused > N_DAMAGED


@pytest.mark.slow
def test_a_log_may_be_read_in_small_pieces_and_with_a_short_memory(monkeypatch):
    """Records that end in another piece than they begin, and clauses and steps that are looked for again."""
    random, several = Random(9), 0
    for number, tnf in consistent_models(400):
        logs: list[Log] = []
        whole = prove(tnf, damage=logs.append)
        with monkeypatch.context() as patch:
            for name, value in (("piece_words", random.choice((2, 3, 7, 50))), ("clauses", 1), ("explained", 2)):
                patch.setattr(TUNING, name, value)
            text = StringIO()
            conclusion = writer.write_proof(Encoding(tnf), logs[0], text, Interrupt())
        verdict = check(whole.model.splitlines(), text.getvalue().splitlines())
        assert conclusion == verdict.conclusion == whole.conclusion, number
        several += text.getvalue().count("rup") > 2
    assert several > 0


@pytest.mark.slow
def test_the_cost_of_a_proof_is_a_line_of_a_table(tmp_path):
    cells = measure(CORPUS / "golomb.fzn", 60, tmp_path)
    assert cells[0] == "golomb" and len(cells) == len(COLUMNS) and int(cells[1].replace(",", "")) > 0


def err(random: Random, learned: Log) -> None:
    """Changes a word of some records, and takes literals out of some clauses."""
    words = learned.words(0, learned.n_bytes // WORD)
    damaged, place = [], 0
    while place < len(words):
        record = words[place : place + words[place]]
        place += len(record)
        if random.random() < 0.2:
            if record[1] == log.LEARNED and len(record) > log.UNIT:
                del record[-2:]
                record[0] -= 2
            elif len(record) > log.HEAD:
                record[random.randrange(log.HEAD, len(record))] += random.choice((-2, -1, 1, 2))
        damaged += record
    learned.file.seek(0)
    learned.file.write(array("q", damaged).tobytes())
    learned.file.flush()
    learned.n_bytes = len(damaged) * WORD


@pytest.mark.slow
def test_a_learner_that_errs_is_noticed():
    """Wrong bounds, premises, reasons and solutions, and literals that vanish: no such proof is written, or it is
    refused, or what it proves is still true."""
    random, noticed = Random(3), 0
    for number, tnf in consistent_models(N_DAMAGED):
        try:
            one = prove(tnf, damage=lambda learned: err(random, learned))
            assert is_true(tnf, optimum(tnf), check(one.model.splitlines(), one.proof.splitlines())), number
        except (NotJustified, Refused):
            noticed += 1
    assert noticed > N_DAMAGED / 20
