"""A run as a page for people: what is kept while it goes on, and how that is drawn."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from turbo_fzn.options.options import Options
    from turbo_fzn.run.answer.outcome import SearchEvent


def listener(options: Options, sense: int) -> Callable[[SearchEvent], object]:
    """The function to call with each event of the search, which has an objective of this `sense`."""
    if options.report is None:
        return lambda event: None
    from turbo_fzn.report.recorder import recorder

    return recorder(options, sense)
