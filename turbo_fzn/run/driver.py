"""One run, from a file or a model to the last answer, as a sequence of events.

    for event in events_of("model.fzn", options, interrupt): ...

The first event is the `Prepared` model. Then come a `Solution` for each answer to print, a `Sample` at intervals if a
report or the caller asks for them, and at last one `Finished` with the outcome. The command (answering.py), the Python
function (api.py) and the benches process these events, and may stop early. Work after the last event is done by
`Run.conclude`, which `Run.close` calls.
"""

from __future__ import annotations

import time
from collections.abc import Generator
from contextlib import closing
from functools import cached_property
from typing import Union

from turbo_fzn.base.errors import UsageError
from turbo_fzn.options.options import Options
from turbo_fzn.process.interrupt import Interrupt
from turbo_fzn.read.files import suffix_of
from turbo_fzn.read.model import Model
from turbo_fzn.read.several import Several, several_of, without_several
from turbo_fzn.run.answer.live import sample_seconds
from turbo_fzn.run.answer.outcome import Finished, SearchEvent
from turbo_fzn.run.arrangement import arranged
from turbo_fzn.run.policy import breaks_symmetry, check_names
from turbo_fzn.run.prepare import log, prepare, set_precision, settle_root
from turbo_fzn.run.prepared import Prepared
from turbo_fzn.run.proving import Proving
from turbo_fzn.run.search import Search
from turbo_fzn.tnf.text import write_file

Event = Union[Prepared, SearchEvent]


def events_of(source: str | Model, options: Options, interrupt: Interrupt) -> Generator[Event, None, None]:
    """The events of a `Run`, which is closed with the iterator, however it ends."""
    with closing(Run(source, options, interrupt)) as run:
        yield from run.events()


class Run:
    """One run. `source` is a parsed model, or the path of a file, whose name in messages is `options.file`. `started`
    is the start of the process, on the clock of time.monotonic, if statistics shall include it.

    Raises UsageError for unknown names in the options, whatever the model.
    """

    def __init__(self, source: str | Model, options: Options, interrupt: Interrupt, started: float | None = None):
        check_names(options)
        self.source, self.options, self.interrupt, self.started = source, options, interrupt, started
        self.prepared: Prepared | None = None
        self.search: Search | None = None
        self.proving = Proving(self.options)
        self.is_finished = False  # whether the last event is out
        self.sample_seconds = sample_seconds(options)
        self.parse_seconds: float | None = None  # None if no file was parsed

    @cached_property
    def model(self) -> Model | None:
        """The parsed model, without an objective that is constant; None for a model in ternary normal form. Raises the
        errors of the file or the model."""
        model = self._parsed() if isinstance(self.source, str) else self.source
        several = None if model is None else several_of(model)
        if model is None or several is None or several.goals:
            return model
        return without_several(model)  # every solution is a best solution

    def _parsed(self) -> Model | None:
        assert isinstance(self.source, str), "a file"
        if suffix_of(self.source) == ".tnf":
            return None
        from turbo_fzn.read.languages import parse_file

        start = time.monotonic()
        model = parse_file(self.source, self.options.file)
        self.parse_seconds = time.monotonic() - start
        sizes = len(model.variables), len(model.constraints), len(model.text) / 1e6
        log.info("parse: %.2f s, %d variables, %d constraints, %.1f MB", self.parse_seconds, *sizes)
        return model

    def several(self) -> Several | None:
        """The objectives that the options or the model ask for, if there are several. Raises UsageError, and the errors
        of the file or the model."""
        options = self.options
        if options.lexicographic is not None and options.front is not None:
            raise UsageError("--lexicographic and --front exclude each other")
        if options.front is not None or options.lexicographic is not None:
            return Several((options.front or options.lexicographic or "").split(","), options.front is not None)
        return None if self.model is None else several_of(self.model)

    def prepare(self, for_once: bool = True) -> Prepared:
        """The model at its root fixpoint; `for_once` as of prepare.prepare. Raises Interrupted, and the errors of the
        file or the model."""
        model = self.model
        prepared = self._read_tnf() if model is None else prepare(model, self.options, self.interrupt, for_once)
        if self.parse_seconds is not None:
            prepared.times["parseTime"] = self.parse_seconds
        prepared.started = self.started
        self.prepared = prepared
        return prepared

    def _read_tnf(self) -> Prepared:
        from turbo_fzn.tnf.text import read

        assert isinstance(self.source, str), "a file"
        if self.options.project is not None:
            raise UsageError("--project: a model in ternary normal form has no variables with names")
        tnf = read(self.source)
        set_precision(tnf, self.options.float_precision)
        return settle_root(Prepared(tnf), self.interrupt)

    def events(self) -> Generator[Event, None, None]:
        """The events described above. Prepares the model unless `prepare` has; after the first event, the model is
        arranged, and the search begins."""
        prepared = self.prepared or self.prepare()
        yield prepared
        self.prepared = prepared = arranged(prepared)
        self.search = Search(prepared, self.options, self.interrupt, self.sample_seconds)
        model = prepared.model
        breaks = model is not None and breaks_symmetry(model, self.options)
        self.proving.begin(prepared.tnf, breaks, self.interrupt)
        self.search.proof = self.proving.proof
        for event in self.search.events():
            self.is_finished = isinstance(event, Finished)
            yield event

    def dump(self, prepared: Prepared, path: str) -> None:
        """Writes the prepared model to a file, if the options ask for this instead of a search."""
        write_file(prepared.tnf, path)
        self.proving.give_up("--dump-tnf writes the model instead of searching")

    def conclude(self) -> None:
        """Writes the proof of a search that has finished, or warns why there is none. A search that was abandoned
        leaves no file of a proof."""
        if self.is_finished and self.search is not None:
            self.proving.end(self.search.engine, self.search.last, self.interrupt)
        else:
            self.proving.discard()

    def so_far(self, n_solutions: int, best: float | None) -> Finished:
        """The result of Search.so_far; the search must have begun."""
        assert self.search is not None, "there is nothing to tell before"
        return self.search.so_far(n_solutions, best)

    def close(self) -> None:
        """Concludes the run, and frees the resources of the search."""
        try:
            self.conclude()
        finally:
            if self.search is not None:
                self.search.close()
