"""Proofs of several learners: one order of what all of them have concluded, in which they may use each other's.

The kernels that log are a build of their own, so what runs them is slow.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Iterator
from io import StringIO
from random import Random

import numpy as np
import pytest

from support.command import golomb
from support.proofs import consistent_models, logged_engine, optimum, prove
from support.small_tnf import make_tnf
from support.tree_models import random_trees
from turbo_fzn import solve_text
from turbo_fzn.engine.abi.abi import EXCHANGE_LITERALS, EXCHANGE_SLOTS
from turbo_fzn.engine.cpu import CpuEngine
from turbo_fzn.engine.layout.learners import first_exchange
from turbo_fzn.engine.logged import WORD, Log
from turbo_fzn.engine.tuning import TUNING
from turbo_fzn.process.interrupt import Interrupt
from turbo_fzn.proof import log, proof, writer
from turbo_fzn.proof.checker import Refused, check
from turbo_fzn.proof.checking import check_files
from turbo_fzn.proof.encoding import Encoding
from turbo_fzn.proof.hints import EVENT, KINDS, SHIFT, NotJustified, unpacked
from turbo_fzn.proof.trim import Trimmer
from turbo_fzn.tnf.language import LEQ, TNF

N_RANDOM, N_MERGED, N_DAMAGED = 400, 200, 200
ROLES = ("soloist", "prover", "finder", "follower", "cores")
Words = list[int]


def draw_roles(random: Random) -> str:
    return " ".join(random.choices(ROLES, k=random.choice((2, 3, 4))))


@pytest.mark.slow
def test_random_models_are_proved_by_several_learners():
    """With and without blocks that only find solutions; of each fourth one enumeration finds the same
    optimum."""
    random, counts = Random(47), Counter[str]()
    for number, tnf in consistent_models(N_RANDOM):
        one = prove(tnf, draw_roles(random), random.choice((0, 1, 2)), blocks=random.choice((1, 1, 5)))
        verdict = check(one.model.splitlines(), one.proof.splitlines())
        assert verdict.conclusion == one.conclusion != "NONE", number
        assert number % 4 or optimum(tnf) == one.found, number
        if verdict.conclusion == "BOUNDS" and one.found is not None:
            value = tnf.sense * (one.found - int(tnf.lower[tnf.objective]))
            assert verdict.lower == verdict.upper == value, number
        counts[verdict.conclusion] += 1
    assert counts["BOUNDS"] > N_RANDOM / 10, counts


@pytest.mark.slow
def test_explanations_that_the_ring_has_no_room_for_are_logged_in_pieces(monkeypatch):
    """A ring of the least size, for which several learners wait."""
    monkeypatch.setattr(TUNING, "log_words", 1)
    random, longest = Random(51), 0
    for number, tnf in consistent_models(N_DAMAGED):
        logs: list[Log] = []
        one = prove(tnf, draw_roles(random), damage=logs.append)
        assert check(one.model.splitlines(), one.proof.splitlines()).conclusion == one.conclusion != "NONE", number
        longest += any(len(batch) > len(logs[0].ring) // 2 for batch, _ in events_of(logs[0]))
    assert longest > 5, longest


def least_bytes(begins: Callable[[int], bool]) -> int:
    """The least memory that suffices, to within a few bytes."""
    low, high = 0, 2**20
    while high - low > 8:
        middle = (low + high) // 2
        low, high = (low, middle) if begins(middle) else (middle, high)
    return high


@pytest.mark.slow
def test_a_learner_that_lacks_memory_leaves_the_proof_to_the_others():
    """One of two, whose rows take more. It goes on as other blocks do: restarts of so small models are complete, and do
    not say so."""
    left, proved_late = 0, 0
    for number in range(24):
        tnf = random_trees(Random(f"memory/{number}"))
        if tnf is None or not tnf.sense:
            continue
        logs: list[Log] = []

        def begins(learn_bytes: int, tnf: TNF = tnf, logs: list[Log] = logs) -> bool:
            prove(tnf, "prover finder", damage=logs.append, learn_bytes=learn_bytes)
            return logs[-1].shared.learners > 0

        least = least_bytes(begins)
        one = prove(tnf, "prover finder", damage=logs.append, learn_bytes=least)
        if logs[-1].shared.learners == 1:
            left += 1
            assert check(one.model.splitlines(), one.proof.splitlines()).conclusion == one.conclusion != "NONE", number
            proved_late += waits_for_a_learner(tnf, least)
            assert waits_for_a_learner(tnf, least, lns=False), number
    assert left > 2 and proved_late > 0, (left, proved_late)


def waits_for_a_learner(tnf: TNF, learn_bytes: int, lns: bool = True) -> bool:
    """Whether hundreds of restarts, by the one of two blocks that lacks memory to learn, leave the end to the other.
    Without `lns` it would search the tree, so it ends at once."""
    engine = logged_engine(tnf, "prover finder", 2, learn_bytes=learn_bytes, lns=lns)
    first, second = engine.threads
    first.start()
    while engine.methods()[:, 0].sum() < 300 and engine.running:
        engine.poll()
    assert engine.log is not None
    is_left = engine.running == lns and not engine.common.is_complete
    is_waiting = is_left and engine.log.shared.learners == 1
    second.start()
    while engine.running:
        engine.poll()
    assert engine.complete
    engine.close()
    return is_waiting


# ---- what others have learned


def told(engine: CpuEngine) -> dict[int, int]:
    """The block that has told each clause, by the clause's name: what the rings of the exchange still have."""
    words, exporters = engine.memory["exchange"].view(np.int64), {}
    slot = (16 + EXCHANGE_LITERALS * 2 * engine.layout.bits // 8) // WORD + 1
    ring = len(first_exchange(1, engine.layout.bits, True)) // WORD
    for block in range(engine.layout.settings.blocks):
        for place in range(EXCHANGE_SLOTS):
            at = block * ring + 1 + place * slot
            if words[at] > 0:
                exporters[int(words[at + slot - 1])] = block
    return exporters


def uses(trimmer: Trimmer) -> Iterator[tuple[int, int]]:
    """The names of learned clauses of the proof, each with that of a clause that it is derived from."""
    names = {event: name for name, event in enumerate(trimmer.clauses)}
    for event, hints in trimmer.found.items():
        for hint in unpacked(hints):
            if hint & KINDS == EVENT and {event, hint >> SHIFT} <= names.keys():
                yield names[event], names[hint >> SHIFT]


@pytest.mark.slow
def test_a_clause_of_another_learner_is_used_in_the_proof(monkeypatch, tmp_path):
    """A clause that one learner has told is among the hints of a clause that another has learned and told."""
    engines: list[CpuEngine] = []
    trimmers: list[Trimmer] = []
    real = writer.Trimmer
    begin = CpuEngine.start

    def start(self: CpuEngine, *arguments: object) -> None:
        engines.append(self)
        begin(self, *arguments)

    monkeypatch.setattr(CpuEngine, "start", start)
    monkeypatch.setattr(writer, "Trimmer", lambda *arguments: trimmers.append(real(*arguments)) or trimmers[-1])
    imported = 0
    for seed in range(8):
        path = str(tmp_path / f"{seed}.pbp")
        team = {"threads": 3, "learn": "prover,prover,finder", "free_search": True, "seed": seed}
        assert solve_text(golomb(8), arch="cpu", proof=path, **team).objective == 34
        verdict = check_files(path.replace(".pbp", ".opb"), path)
        assert verdict.conclusion == "BOUNDS" and verdict.lower == verdict.upper, seed
        exporters = told(engines[-1])
        pairs = [(exporters.get(name), exporters.get(other)) for name, other in uses(trimmers[-1])]
        imported += sum(None not in pair and len(set(pair)) == 2 for pair in pairs)
    assert imported > 10, imported


@pytest.mark.slow
def test_learners_that_log_hear_each_other():
    random, heard, told_clauses = Random(48), 0, 0
    for _, tnf in consistent_models(N_DAMAGED):
        engine = logged_engine(tnf, "prover prover prover", 3, random.choice((0, 1, 2)))
        engine.start()
        while engine.running:
            engine.poll()
        counted = engine.statistics()
        heard, told_clauses = heard + counted["heard"], told_clauses + counted["told"]
        engine.close()
    assert heard > 0 and told_clauses > 0


@pytest.mark.slow
def test_a_solution_is_to_be_beaten_once_it_is_published():
    """A learner logs it before; another must not claim meanwhile that there is nothing as good."""
    found_again = 0
    for number, tnf in consistent_models(N_DAMAGED):
        best = optimum(tnf) if tnf.sense else None
        if best is None:
            continue
        engine, found = logged_engine(tnf, "prover", 1), []
        assert engine.log is not None
        engine.log.shared.best = tnf.sense * best
        engine.start()
        while engine.running:
            found += engine.poll()
        found += engine.poll()
        assert engine.complete and {one.objective for one in found[-1:]} == {best}, number
        engine.close()
        found_again += 1
    assert found_again > 10


# ---- merged logs


def events_of(learned: Log) -> list[tuple[Words, Words]]:
    """The events of a log, each with the words of the explanations before it."""
    found, end = [], 0
    for place, words in log.events(learned):
        found.append((learned.words(end, place), words))
        end = place + len(words)
    return found


def log_of(tnf: TNF, events: list[tuple[Words, Words]]) -> Log:
    written = Log(tnf, 2**30)
    words = [word for batch, event in events for word in (*batch, *event)]
    written.file.write(array("q", words).tobytes())
    written.file.flush()
    written.n_bytes = len(words) * WORD
    return written


def renamed(events: list[tuple[Words, Words]], names: dict[int, int]) -> list[tuple[Words, Words]]:
    """The events with other names of clauses."""
    changed = []
    for batch, event in events:
        batch, event, place = batch[:], event[:], 0
        while place < len(batch):
            if batch[place + 1] == log.BY_CLAUSE:
                batch[place + 5] = names.get(batch[place + 5], batch[place + 5])
            place += batch[place]
        if event[1] == log.LEARNED:
            event[2] = names[event[2]]
        if event[1] in (log.ROOT, log.REFUTED) and event[-1] >= 0 and event[-1] % 2 == 0:
            event[-1] = 2 * names.get(event[-1] // 2, event[-1] // 2)
        changed.append((batch, event))
    return changed


def merged(order: list[int], logs: list[list[tuple[Words, Words]]]) -> list[tuple[Words, Words]]:
    """The next event of the log that the order names, again and again; clauses are named in this order."""
    places, names, count = [0] * len(logs), [dict[int, int]() for _ in logs], 0
    for which in order:
        event = logs[which][places[which]][1]
        places[which] += 1
        if event[1] == log.LEARNED:
            count += 1
            names[which][event[2]] = count
    waiting = [iter(renamed(events, names[which])) for which, events in enumerate(logs)]
    return [next(waiting[which]) for which in order]


def proved(tnf: TNF, learned: Log, answer: Words | None) -> str:
    text = StringIO()
    writer.write_proof(Encoding(tnf), learned, text, Interrupt(), answer)
    return text.getvalue()


def last_solution(events: list[tuple[Words, Words]]) -> Words | None:
    found = [event[log.HEAD :] for _, event in events if event[1] == log.SOLUTION]
    return found[-1] if found else None


@pytest.mark.slow
def test_logs_of_learners_are_one_log_in_whatever_order_they_are_merged():
    """Each learner knows less of level 0 and of solutions than the log has. All is proved, as by each of them."""
    random, late, clauses = Random(49), 0, 0
    for number, tnf in consistent_models(N_MERGED):
        logs: list[Log] = []
        whole = [prove(tnf, role, seed, damage=logs.append) for seed, role in enumerate(("prover", "finder"))]
        parts = [events_of(one) for one in logs]
        answer = last_solution(parts[0])
        order = [which for which, events in enumerate(parts) for _ in events]
        for _ in range(3):
            random.shuffle(order)
            events = merged(order, parts)
            verdict = check(whole[0].model.splitlines(), proved(tnf, log_of(tnf, events), answer).splitlines())
            assert verdict.conclusion == whole[0].conclusion, number
            if verdict.conclusion == "BOUNDS" and whole[0].found is not None:
                assert verdict.lower == verdict.upper is not None, number
            late += has_late_solution(tnf, events)
            clauses += sum(event[1] == log.LEARNED for _, event in events)
    assert late > 10 and clauses > 300, (late, clauses)


def rulers(monkeypatch: pytest.MonkeyPatch, path: str) -> tuple[TNF, list[list[tuple[Words, Words]]]]:
    """The model of a ruler, and the events of two learners that have proved it apart."""
    models: list[TNF] = []
    parts: list[list[tuple[Words, Words]]] = []

    def keep(encoding: Encoding, learned: Log, *more: object) -> str:
        models.append(learned.tnf)
        parts.append(events_of(learned))
        return "BOUNDS"

    with monkeypatch.context() as patch:
        patch.setattr(proof, "write_proof", keep)
        for learn in ("prover", "finder"):
            solve_text(golomb(7), arch="cpu", proof=path, learn=learn, free_search=True, threads=1)
    return models[0], parts


class Demanding(Trimmer):
    """Keeps every learned clause, as if the conclusion needed it."""

    def trim(self) -> list[tuple[int, bytes]]:
        for event in self.clauses[1:]:
            self.needed[event] = 1
        return super().trim()


@pytest.mark.slow
def test_each_clause_that_a_learner_has_learned_follows_behind_what_others_have_logged(monkeypatch, tmp_path):
    """A second learner's, behind the whole log of the first, and both mixed: also those that have become true at level
    0 before."""
    tnf, parts = rulers(monkeypatch, str(tmp_path / "a.pbp"))
    monkeypatch.setattr(writer, "Trimmer", Demanding)
    random, model = Random(52), StringIO()
    writer.write_model(Encoding(tnf), model)
    parts[0].pop()  # which refutes
    order = [0] * len(parts[0]) + [1] * len(parts[1])
    for _ in range(4):
        events = merged(order, parts)
        text = proved(tnf, log_of(tnf, events), last_solution(parts[1]))
        verdict = check(model.getvalue().splitlines(), text.splitlines())
        assert verdict.conclusion == "BOUNDS" and verdict.lower == verdict.upper is not None
        random.shuffle(order)


def has_late_solution(tnf: TNF, events: list[tuple[Words, Words]]) -> bool:
    """Whether a solution comes after one that is as good."""
    values = [tnf.sense * event[log.HEAD + tnf.objective] for _, event in events if event[1] == log.SOLUTION]
    return any(value >= before for before, value in zip(values, values[1:]))


@pytest.mark.slow
def test_what_another_learner_has_not_logged_before_is_not_used():
    """Clauses that another log of the model has under this name, or that come later in the log, and bounds of level 0
    that vanish: no such proof is written, or it is refused, or what it proves is true."""
    random, noticed = Random(50), Counter[int]()
    for number, tnf in consistent_models(N_DAMAGED):
        logs: list[Log] = []
        whole = prove(tnf, "prover finder", random.choice((0, 1, 2)), damage=logs.append)
        events = events_of(logs[0])
        names = [event[2] for _, event in events if event[1] == log.LEARNED]
        if len(names) < 2:
            continue
        for kind in range(3):
            if kind == 0:  # each name is that of another clause
                others = dict(zip(names, random.sample(names, len(names))))
                wrong = [(renamed([(batch, [2, 0])], others)[0][0], event) for batch, event in events]
            elif kind == 1:  # the clauses are named backwards, and come in this order
                places = [place for place, (_, event) in enumerate(events) if event[1] == log.LEARNED]
                wrong = events[:]
                for place, other in zip(places, reversed(places)):
                    wrong[place] = events[other]
                wrong = renamed(wrong, dict(zip(names, reversed(names))))
            else:
                wrong = [one for one in events if one[1][1] != log.ROOT]
            try:
                verdict = check(
                    whole.model.splitlines(), proved(tnf, log_of(tnf, wrong), last_solution(events)).splitlines()
                )
                right = check(whole.model.splitlines(), whole.proof.splitlines())
                assert verdict.conclusion == "NONE" or verdict[:3] == right[:3], number  # by other steps, perhaps
            except (NotJustified, Refused):
                noticed[kind] += 1
    assert all(noticed[kind] > 0 for kind in range(3)), noticed


def test_clauses_that_follow_from_each_other_are_refused():
    """x is 0; that it is 1 follows from a later clause, which follows from this one."""
    tnf = make_tnf([(0, 0), (0, 1), (0, 1)], [(int(LEQ), 1, 0, 2)])
    rest = [([6, log.BY_CLAUSE, 0, 0, 1, 3 - name], [5, log.LEARNED, name, 0, 1]) for name in (1, 2)]
    for events in (rest, [*rest, ([], [3, log.REFUTED, 2])]):
        with pytest.raises(NotJustified):
            proved(tnf, log_of(tnf, events), None)
