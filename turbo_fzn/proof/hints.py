"""The hints of the steps of a proof, by code that is compiled with the kernels (kernels/proof): what a clause follows
from, as events, steps of rows, and chains, that a higher bound implies a lower one. It also looks through a log for its
events. Each hint is a number: its kind, whether it is the last use of what it names, and the number of that."""

from __future__ import annotations

import ctypes
from array import array
from collections.abc import Callable, Iterable
from functools import lru_cache
from itertools import chain

from turbo_fzn.engine.abi.log_records import HintKind, ProofTrim, TrimFault
from turbo_fzn.engine.library import library

EVENT, STEP, CHAIN, LAST = map(int, HintKind)
KINDS, SHIFT = LAST - 1, LAST.bit_length()  # format: the mask of the kind, the first bit of the number
_Words = ctypes.POINTER(ctypes.c_int64)
_EXPLAINER = ctypes.CFUNCTYPE(ctypes.c_int64, _Words, ctypes.c_int64)
_FAULTS = {  # the others: no memory, an error of the host, a record that names what does not exist
    TrimFault.UNPROVED: "the explanations of a clause do not contradict each other",
    TrimFault.UNKNOWN: "a premise of an explanation is not known",
    TrimFault.SILENT: "a clause implies nothing about the side that it is to explain",
}


class NotJustified(Exception):
    """No step of the proof derives a conclusion: a limit of this module, or a fault of the solver."""


@lru_cache(maxsize=2)
def _functions(bits: int) -> ctypes.CDLL:
    loaded = library(bits)
    number, pointer = ctypes.c_int64, ctypes.c_void_p
    loaded.trim_begin.argtypes, loaded.trim_begin.restype = [pointer, _EXPLAINER], pointer
    for name, *arguments in (
        ("end", pointer),
        ("clause", pointer),
        ("note_step", pointer, pointer, number),
        ("need_event", pointer, number),
        ("need_clause", pointer, number),
        ("need_step", pointer, number),
        ("need_root", pointer, number, number),
        ("show", pointer),
        ("find_events", ctypes.c_char_p, number, pointer, pointer),
    ):
        function = getattr(loaded, f"trim_{name}")
        function.argtypes, function.restype = arguments, number
    return loaded


def find_events(bits: int, piece: bytes, places: array[int]) -> tuple[int, int]:
    """Writes the places of the records of a piece of a log that are no explanations to `places`, by the kernels for
    stores of `bits` bits. Returns their number, and the place behind the last record that was looked at."""
    end = ctypes.c_int64()
    count = _functions(bits).trim_find_events(piece, len(piece) // 8, _address(places), ctypes.addressof(end))
    return count, end.value


def _address(numbers: array[int]) -> int:
    return numbers.buffer_info()[0]


class Hints:
    """The hints of one event after the other, whose `host` says what is known. `explain` returns the number of the step
    of an explanation's words: side, k, row and premises."""

    def __init__(self, bits: int, host: ProofTrim, explain: Callable[[list[int]], int]):
        self.host, self.functions = host, _functions(bits)
        self.error: BaseException | None = None

        def call(words, size: int) -> int:  # type: ignore[no-untyped-def]  # of ctypes
            try:
                return explain(words[:size])
            except BaseException as error:  # nothing passes through compiled code
                self.error = error
                return -1

        self.explainer = _EXPLAINER(call)  # kept as long as it may be called
        self.state = self.functions.trim_begin(ctypes.addressof(host), self.explainer)
        if not self.state:
            raise MemoryError

    def close(self) -> None:
        """Frees the memory, and lets go of `explain`: its owner would refer to itself, and keep its log open."""
        self.functions.trim_end(self.state)
        del self.state, self.explainer

    def note_step(self, assumed: Iterable[tuple[int, int]]) -> None:
        """Records what the next step assumes."""
        numbers = array("q", chain.from_iterable(assumed))
        if self.functions.trim_note_step(self.state, _address(numbers), len(numbers)) < 0:
            raise MemoryError

    def explain_clause(self) -> None:
        """Adds the hints of the clause that the event has learned."""
        self._demand(self.functions.trim_clause(self.state))

    def need_event(self, event: int) -> None:
        self._demand(self.functions.trim_need_event(self.state, event))

    def need_clause(self, name: int) -> None:
        self._demand(self.functions.trim_need_clause(self.state, name))

    def need_step(self, step: int) -> None:
        self._demand(self.functions.trim_need_step(self.state, step))

    def need_root(self, side: int, k: int) -> None:
        """Adds the hints by which side >= k holds at level 0."""
        self._demand(self.functions.trim_need_root(self.state, side, k))

    def _demand(self, fault: int) -> None:
        """Raises what a call that has failed has to say: NotJustified, MemoryError, LookupError, or the error of
        `explain`."""
        if fault == 0:
            return
        error, self.error = self.error, None
        if fault == TrimFault.HOST and error is not None:
            raise error
        if fault == TrimFault.MEMORY:
            raise MemoryError
        raise NotJustified(_FAULTS[TrimFault(fault)]) if fault in _FAULTS else LookupError

    def take(self) -> bytes:
        """The hints so far, packed as `unpacked` reads them; there are none afterwards."""
        self.functions.trim_show(self.state)
        hints = array("q")
        hints.frombytes(ctypes.string_at(self.host.hints, 8 * self.host.n_hints) if self.host.n_hints else b"")
        return array("I", hints).tobytes()

    def chains(self) -> list[tuple[int, int, int]]:
        """The side, higher and lower bound of each chain that hints name."""
        size = 3 * self.host.n_chains
        numbers = array("q", ctypes.string_at(self.host.chains, 8 * size) if size else b"").tolist()
        return list(zip(numbers[::3], numbers[1::3], numbers[2::3]))


def unpacked(hints: bytes) -> list[int]:
    return array("I", hints).tolist()
