"""CP-Profiler: sends the search tree as messages over TCP to the profiler of the MiniZinc IDE, which draws it.

Source: "The protocol (low level)" of the MiniZinc handbook's chapter on CP-Profiler. A message is its size (of the
rest), its type, and fields; integers have four bytes, highest first. A node is identified by its number, its restart
and its thread; the tree of each further search is a restart. The records come from kernels/search/trace.h.

A slow profiler makes the search slow, since no node is left out; if the profiler is missing, or disconnects, a warning
is logged and the search goes on.
"""

from __future__ import annotations

import json
import logging
import struct
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from turbo_fzn.options.options import Options
from turbo_fzn.process.interrupt import Interrupt
from turbo_fzn.run.prepared import Prepared
from turbo_fzn.run.tuning import TUNING

if TYPE_CHECKING:
    import socket

log = logging.getLogger("turbo_fzn")

NODE, DONE, START, RESTART = 0, 1, 2, 3  # format: of the profiler's protocol
LABEL, INFO = 0, 2  # format: of the profiler's protocol
NONE = -1  # format: of the profiler's protocol
HEAD = struct.Struct(">iB")
NODE_HEAD = struct.Struct(">iB8iB")
TEXT_HEAD = struct.Struct(">Bi")


class Profiler:
    """The connection. `names` and `bounds` are the names and bounds of the TNF's variables."""

    def __init__(self, connection: socket.socket, names: list[str], restarts: bool):
        self.connection: socket.socket | None = connection
        self.names = names
        self.restarts = restarts
        self.offset = 0  # the number of trees of earlier engines
        self.trees = 0
        self.pending = bytearray()

    @classmethod
    def connect(cls, prepared: Prepared, options: Options) -> Profiler | None:
        """Connects to the profiler; returns None, with a warning, if no profiler accepts the connection."""
        assert options.cp_profiler is not None
        import socket  # only here: it costs 4 ms

        number, port = options.cp_profiler
        try:
            connection = socket.create_connection(("127.0.0.1", port), timeout=TUNING.profiler_connect_seconds)
            connection.setblocking(False)
        except OSError as error:
            log.warning("no profiler on port %d: %s", port, error.strerror or error)
            return None
        restarts = prepared.tnf.warm_start is not None or options.optimal_limit() != 1
        profiler = cls(connection, _variable_names(prepared), restarts)
        about = {"has_restarts": restarts, "name": Path(options.file).name, "execution_id": number}
        profiler.add(START, info(about))
        return profiler

    def add(self, kind: int, fields: bytes = b"") -> None:
        self.pending += HEAD.pack(1 + len(fields), kind) + fields

    def pump(self, engine: Any) -> bool:
        """Takes the engine's records, as far as the profiler keeps up. Returns whether there may be more."""
        self.send()
        if len(self.pending) >= TUNING.profiler_bytes:
            return True
        records = engine.trace(TUNING.profiler_records)
        names = records.dtype.names
        for record in records.tolist():
            self.add_node(**dict(zip(names, record)))
        self.send()
        return len(records) > 0

    def next_engine(self) -> None:
        """Begins the records of another engine, which numbers its trees from 0."""
        self.offset = self.trees

    def add_node(
        self, lower: int, upper: int, tree: int, node: int, parent: int, alternative: int, children: int,
        status: int, var: int,
    ) -> None:  # fmt: skip
        """Appends the message of a node, after the message of a restart if its tree is new."""
        tree += self.offset
        if tree >= self.trees:
            self.trees = tree + 1
            if tree > 0:
                self.add(RESTART, info({"restart_id": tree}))
        restart = tree if self.restarts or tree else NONE
        label = b""
        if var >= 0:
            value = str(lower) if lower == upper else f"{lower}..{upper}"
            label = text(LABEL, f"{self.names[var]}{'=' if lower == upper else ' in '}{value}")
        parents = (parent, restart, NONE) if parent >= 0 else (NONE, NONE, NONE)
        size = NODE_HEAD.size - 4 + len(label)
        self.pending += NODE_HEAD.pack(size, NODE, node, restart, NONE, *parents, alternative, children, status) + label

    def send(self) -> None:
        """Sends as much as the profiler reads without waiting."""
        if self.connection is None:
            self.pending.clear()
            return
        try:
            while self.pending:
                del self.pending[: self.connection.send(self.pending)]
        except BlockingIOError:
            pass
        except OSError as error:
            log.warning("the profiler has left: %s", error.strerror or error)
            self.connection.close()
            self.connection = None
            self.pending.clear()

    def finish(self, interrupt: Interrupt) -> None:
        """Sends the end of the tree, waits a short time until all is sent, and disconnects."""
        self.add(DONE)
        limit = time.monotonic() + TUNING.profiler_end_seconds
        self.send()
        while self.pending and not interrupt and time.monotonic() < limit:
            time.sleep(0.001)
            self.send()
        if self.connection is not None:
            self.connection.close()
            self.connection = None


def text(field: int, words: str) -> bytes:
    encoded = words.encode()
    return TEXT_HEAD.pack(field, len(encoded)) + encoded


def info(values: dict[str, Any]) -> bytes:
    return text(INFO, json.dumps(values))


def _variable_names(prepared: Prepared) -> list[str]:
    """A name for each variable of the TNF: the modeller's, else the compiler's, else its number."""
    names = [f"_{number}" for number in range(prepared.tnf.n_vars)]
    if prepared.model is None:
        return names
    reconstruction = prepared.reconstruction
    numbers = np.fromiter(prepared.origin.values(), np.int64, len(prepared.origin))
    if reconstruction is not None:
        numbers = reconstruction.position[reconstruction.representative[numbers]]
    introduced = [
        any(annotation == "var_is_introduced" for annotation in prepared.model.variables[name].annotations)
        for name in prepared.origin
    ]
    for wanted in (True, False):
        for name, number, is_introduced in zip(prepared.origin, numbers.tolist(), introduced):
            if number >= 0 and is_introduced == wanted:
                names[number] = name
    return names
