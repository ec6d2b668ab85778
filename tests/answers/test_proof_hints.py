"""What compiled code finds when a log is trimmed (kernels/proof), compared with plain Python."""

from __future__ import annotations

import tracemalloc
from array import array
from collections import Counter
from io import StringIO
from random import Random
from typing import IO, Any

import pytest

from support.command import golomb
from support.plain_hints import PlainHints
from support.proofs import consistent_models, prove
from support.small_tnf import make_tnf
from turbo_fzn import solve_text
from turbo_fzn.engine.logged import WORD, Log
from turbo_fzn.process.interrupt import Interrupt
from turbo_fzn.proof import hints, log, proof, trim, writer
from turbo_fzn.proof.encoding import Encoding
from turbo_fzn.proof.hints import KINDS, NotJustified, unpacked
from turbo_fzn.proof.tuning import TUNING
from turbo_fzn.tnf.language import ADD, LEQ, TNF

N_MODELS = 120
ROLES = ("soloist", "prover", "finder")


def written(tnf: TNF, learned: Log) -> str:
    """The text of the proof, or why there is none."""
    text = StringIO()
    try:
        writer.write_proof(Encoding(tnf), learned, text, Interrupt())
    except NotJustified:
        return "not justified"
    return text.getvalue()


@pytest.mark.slow
def test_compiled_code_finds_the_hints_that_plain_python_finds(monkeypatch):
    """Letter by letter, also where the log is damaged."""
    random, several = Random(1), 0
    for number, tnf in consistent_models(N_MODELS):
        logs: list[Log] = []
        prove(tnf, random.choice(ROLES), random.choice((0, 1, 2)), damage=logs.append)
        for _ in range(3):
            with monkeypatch.context() as patch:
                patch.setattr(trim, "Hints", PlainHints)
                plain = written(tnf, logs[0])
            assert written(tnf, logs[0]) == plain, number
            several += plain.count("rup") > 2
            change(random, logs[0])
    assert several > 3


@pytest.mark.slow
def test_compiled_code_finds_every_kind_of_hint_that_plain_python_finds(monkeypatch, tmp_path):
    """In the log of a search of some hundred conflicts; also where little is remembered."""
    found, texts = Counter[int](), []
    real, take = proof.write_proof, hints.Hints.take

    def count(self: hints.Hints) -> bytes:
        taken = take(self)
        found.update(hint & KINDS for hint in unpacked(taken))
        return taken

    def write_each(encoding: Encoding, learned: Log, file: IO[str], *more: Any) -> str:
        for changes in ({}, {"clauses": 1, "explained": 2}):
            for make in (hints.Hints, PlainHints):
                with monkeypatch.context() as patch:
                    patch.setattr(trim, "Hints", make)
                    for name, value in changes.items():
                        patch.setattr(TUNING, name, value)
                    texts.append(StringIO())
                    real(encoding, learned, texts[-1], *more)
        return real(encoding, learned, file, *more)

    monkeypatch.setattr(hints.Hints, "take", count)
    monkeypatch.setattr(proof, "write_proof", write_each)
    assert solve_text(golomb(7), arch="cpu", proof=str(tmp_path / "a.pbp")).objective == 25
    assert (
        len(texts) == 4
        and len({one.getvalue() for one in texts[:2]}) == len({one.getvalue() for one in texts[2:]}) == 1
    )
    assert min(found[kind] for kind in (hints.EVENT, hints.STEP, hints.CHAIN)) > 50, found


def change(random: Random, learned: Log) -> None:
    """Changes a bound in a record."""
    words = learned.words(0, learned.n_bytes // WORD)
    places = [0]
    while places[-1] + words[places[-1]] < len(words):
        places.append(places[-1] + words[places[-1]])
    place = random.choice(places)
    at = {log.BY_ROW: 4, log.BY_CLAUSE: 4, log.LEARNED: words[place] - 1, log.ROOT: 3}.get(words[place + 1])
    if at is not None:
        words[place + at] += random.choice((-1, 1))
    learned.file.seek(0)
    learned.file.write(array("q", words).tobytes())
    learned.file.flush()


@pytest.mark.parametrize(
    "words",
    [
        [3, log.LEARNED, 1],  # nothing explains it
        [6, log.BY_ROW, 0, 99, 1, 0, 3, log.LEARNED, 1],  # no such side
        [6, log.BY_CLAUSE, 0, 1, 0, 7, 3, log.LEARNED, 1],  # no such clause
        [6, log.BY_CLAUSE, 0, 1, 0, -1, 3, log.LEARNED, 1],
        [8, log.BY_ROW, 0, 1, 0, 0, 77, 0, 3, log.LEARNED, 1],  # no such premise
        [6, log.BY_ROW, 0, 1, 0, 5, 3, log.LEARNED, 1],  # no such row
        [2, log.BY_ROW, 3, log.LEARNED, 1],  # no whole record
        [0, log.LEARNED, 1],
        [2**63 - 1, log.LEARNED, 1],
        [3, log.LEARNED, 1, 2**63 - 1, log.LEARNED, 1],  # a size that passes all numbers
        [5, log.LEARNED, 1, 99, 0],
    ],
)
def test_a_damaged_record_ends_in_a_refusal(words):
    """A log may have any numbers: nothing outside the arrays is looked at."""
    tnf = make_tnf([(0, 3), (0, 3), (0, 3)], [(int(ADD), 0, 1, 2)])
    learned = Log(tnf, 2**20)
    reason = 2  # of clause 1
    learned.file.write(array("q", [*words, 3, log.REFUTED, reason]).tobytes())
    learned.file.flush()
    with pytest.raises(NotJustified):
        writer.write_proof(Encoding(tnf), learned, StringIO(), Interrupt())


def sums(rows: int) -> TNF:
    """A model of this many rows over few variables."""
    domains = [(0, 1000)] * 40
    return make_tnf(domains, [(int((ADD, LEQ)[i % 2]), 3 * (i % 13), i % 37 + 1, i % 31 + 2) for i in range(rows)])


def held(make) -> int:
    """The bytes that are left when `make` has returned, with what it returns."""
    tracemalloc.start()
    try:
        kept = make()
        size = tracemalloc.get_traced_memory()[0]
        del kept
        return size
    finally:
        tracemalloc.stop()


def test_an_encoding_keeps_few_bytes_for_a_row(monkeypatch):
    """Its lines are in a file, and cases are made again: the lines of a row here take about 500 bytes."""
    for name, value in (("kept_rows", 16), ("kept_sums", 64), ("block_lines", 64), ("text_bytes", 1000)):
        monkeypatch.setattr(TUNING, name, value)
    few, many = sums(500), sums(2500)
    assert (held(lambda: Encoding(many)) - held(lambda: Encoding(few))) / 2000 < 40


def test_a_log_is_read_in_the_memory_of_its_events():
    """Explanations are a thousand times as many words."""
    tnf = make_tnf([(0, 3), (0, 3), (0, 3)], [(int(ADD), 0, 1, 2)])
    record = [206, log.BY_ROW, 0, 1, 0, 0, *[1, 0] * 100]
    learned = Log(tnf, 2**30)
    n_events = 2000
    for name in range(n_events):
        learned.file.write(array("q", [*record * 5, 7, log.LEARNED, name, 0, 1, 2, 1]).tobytes())
    learned.file.flush()
    encoding = Encoding(tnf)
    size = held(lambda: trim.Trimmer(encoding, learned, Interrupt()))
    assert 0 < size < 100 * n_events + 2**19
