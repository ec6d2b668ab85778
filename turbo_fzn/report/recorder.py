"""Records the events of a search for `--report`, and writes the page after the answer.

A file that cannot be written is an error before the search begins. Later errors in making the page do not affect the
answer: they are a line on stderr.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

from turbo_fzn.base.errors import UsageError
from turbo_fzn.options.options import Options
from turbo_fzn.report.origin import origin_of
from turbo_fzn.report.record import Record
from turbo_fzn.run.answer.outcome import Finished, SearchEvent

log = logging.getLogger("turbo_fzn")


def recorder(options: Options, sense: int) -> Callable[[SearchEvent], object]:
    """What is to be called with each event of the search, which has an objective of this `sense`; the last one writes
    the page, which is wanted."""
    assert options.report is not None
    try:
        open(options.report, "a").close()
    except OSError as error:
        raise UsageError(f"cannot write {options.report}: {error.strerror}") from error
    record = Record(options, sense, origin=origin_of(options.file))

    def note(event: SearchEvent) -> None:
        record.note(event)
        if isinstance(event, Finished):
            _write_page(record)

    return note


def _write_page(record: Record) -> None:
    from turbo_fzn.report.page import page

    assert record.options.report is not None
    try:
        with open(record.options.report, "w", encoding="utf-8") as file:
            file.write(page(record))
    except Exception as error:  # the answer is printed already, and a fault here must not affect it
        log.warning("cannot write %s: %s", record.options.report, error)
