"""Texts of gigabytes: a stop waits for no long step, and what a small file unpacks to has a bound."""

from __future__ import annotations

import gzip
import lzma
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from turbo_fzn.base.errors import ModelError, UsageError
from turbo_fzn.read import files
from turbo_fzn.read.files import read_text
from turbo_fzn.read.tuning import TUNING
from turbo_fzn.read.xcsp3 import document

TICK_SECONDS = 0.002  # of processor time
LINES = 500_000


class Ticks:
    """The processor times at which Python obeyed a signal."""

    def __init__(self) -> None:
        self.times: list[float] = []

    def longest_gap(self) -> float:
        return max(after - before for before, after in zip(self.times, self.times[1:]))

    def whole(self) -> float:
        return self.times[-1] - self.times[0]


@contextmanager
def ticking() -> Iterator[Ticks]:
    """A signal comes again and again, and its handler notes when it could run."""
    ticks = Ticks()

    def note(*_: object) -> None:
        ticks.times.append(time.process_time())

    before = signal.signal(signal.SIGPROF, note)
    note()
    signal.setitimer(signal.ITIMER_PROF, TICK_SECONDS, TICK_SECONDS)
    try:
        yield ticks
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
        note()


@pytest.mark.parametrize(("name", "pack"), [("a.fzn.gz", gzip.compress), ("a.fzn", bytes)])
def test_no_step_of_reading_is_longer_than_a_piece(tmp_path, monkeypatch, name, pack):
    """A signal is obeyed between two of them only: one `read` of a gigabyte takes seconds."""
    path = tmp_path / name
    path.write_bytes(pack("% é€ and words\n".encode() * LINES))
    sizes = count_bytes(monkeypatch)
    assert read_text(str(path)) == "% é€ and words\n" * LINES
    assert max(sizes) <= TUNING.piece_bytes == 2**22
    assert len(sizes) > 2


def test_a_signal_is_obeyed_in_the_midst_of_an_instance():
    """An instance without elements never calls the reader's function."""
    text = "<instance>" + "  ≤     \n" * LINES + "</instance>"
    reader = document.Document(text, "model.xml", lambda section, element: None)
    with ticking() as ticks:
        with pytest.raises(ModelError):
            reader.read()
    assert ticks.longest_gap() < ticks.whole() / 3


@pytest.mark.parametrize(("name", "pack"), [("a.fzn.gz", gzip.compress), ("a.fzn.xz", lzma.compress), ("a.fzn", bytes)])
def test_a_text_larger_than_memory_is_refused_as_soon_as_that_is_plain(tmp_path, monkeypatch, name, pack):
    path = tmp_path / name
    path.write_bytes(pack(b" " * 10**7))
    monkeypatch.setattr(files, "most_bytes", lambda: 10**6)
    read = count_bytes(monkeypatch)
    with pytest.raises(UsageError, match="more text than half of the memory holds, 0.0 GB"):
        read_text(str(path))
    assert sum(read) <= 2 * 10**6


def count_bytes(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How much each call of `read` gives, from now on."""
    sizes: list[int] = []
    opened = files.open_bytes

    class Counted:
        def __init__(self, stream):
            self.stream, self.peek = stream, stream.peek

        def __enter__(self):
            return self

        def __exit__(self, *_):
            self.stream.close()

        def read(self, *size):
            data = self.stream.read(*size)
            sizes.append(len(data))
            return data

    monkeypatch.setattr(files, "open_bytes", lambda path: Counted(opened(path)))
    return sizes


@pytest.mark.parametrize("size", [1, 2, 3, 5, 100])
def test_a_text_is_the_same_in_pieces_of_any_size(tmp_path, monkeypatch, size):
    monkeypatch.setattr(TUNING, "piece_bytes", size)
    path = tmp_path / "model.fzn"
    path.write_text("% é€𝄞\nvar 1..2: x;\nsolve satisfy;\n", encoding="utf-8")
    assert read_text(str(path)) == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("size", [1, 2, 3, 5, 100])
@pytest.mark.parametrize("bad", [b"\xff", b"\xe2\x82", b"\xe2\x82\n"])
def test_what_is_no_text_has_its_place_in_pieces_of_any_size(tmp_path, monkeypatch, size, bad):
    monkeypatch.setattr(TUNING, "piece_bytes", size)
    path = tmp_path / "model.fzn"
    path.write_bytes("% é\n€€ ".encode() + bad)
    with pytest.raises(ModelError) as error:
        read_text(str(path))
    assert (error.value.line, error.value.column) == (2, 4)
