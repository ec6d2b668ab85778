"""What the command says on stderr: log lines, and what has gone wrong, which is one line.

Imports nothing heavy.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from turbo_fzn import progress
from turbo_fzn.errors import InternalError, TurboError, one_line
from turbo_fzn.process import streams
from turbo_fzn.run import styles


def set_up_logging(verbose: bool, streamed: bool = False) -> None:
    """Log lines go to stderr; `streamed`: warnings are among the answers, too."""
    import logging

    handler = logging.StreamHandler(sys.stderr)
    handler.addFilter(progress.make_way)
    logging.basicConfig(handlers=[handler], format="fzn-turbo: %(message)s")
    logger = logging.getLogger("turbo_fzn")
    logger.setLevel(logging.INFO if verbose else logging.WARNING)
    if streamed:
        from turbo_fzn.run.json_stream import Warnings

        logger.addHandler(Warnings())
    if sys.stderr.isatty() and os.environ.get("TERM") != "dumb":
        progress.show(sys.stderr)


def warn(text: str, streamed: bool) -> None:
    """A line about this run on stderr, and among the answers where these are a stream of JSON."""
    print(f"fzn-turbo: {text}", file=sys.stderr, flush=True)
    if streamed:
        from turbo_fzn.run import json_stream

        json_stream.warn(text)


def explain(error: BaseException) -> str | None:
    """What to tell the user; None for what is no error."""
    if isinstance(error, InternalError):
        return f"internal error: {error}"
    if isinstance(error, TurboError):
        return str(error)
    if isinstance(error, KeyboardInterrupt):
        return "interrupted"
    if isinstance(error, MemoryError):
        return "out of memory"
    if isinstance(error, RecursionError):
        return "the model is nested too deeply"
    if isinstance(error, OSError):
        return one_line(f"{error.filename or 'input or output'}: {error.strerror or error}")
    return unexpected(error) if isinstance(error, Exception) else None


def unexpected(error: Exception) -> str:
    import logging

    logging.getLogger("turbo_fzn").info("an unexpected error", exc_info=error)
    text = one_line(" ".join(str(error).split()))
    return f"internal error: {type(error).__name__}: {text} (-v shows where)"


def complain(message: str, argv: Sequence[str], error: BaseException) -> int:
    progress.erase()
    try:
        print(f"fzn-turbo: {message}", file=sys.stderr, flush=True)
        if not getattr(error, "answered", False):
            styles.write_error(sys.stdout, argv, message, error)
    except OSError:
        streams.forget_stdout()
    return 1
