"""The messages of the command on stderr: log lines, and errors, of one line each.

Imports nothing heavy.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from turbo_fzn import progress
from turbo_fzn.errors import InternalError, TurboError, UnsupportedError, one_line
from turbo_fzn.process import streams
from turbo_fzn.run import output


def set_up_logging(verbose: bool) -> None:
    import logging

    handler = logging.StreamHandler(sys.stderr)
    handler.addFilter(progress.make_way)
    logging.basicConfig(handlers=[handler], format="fzn-turbo: %(message)s")
    logging.getLogger("turbo_fzn").setLevel(logging.INFO if verbose else logging.WARNING)
    if sys.stderr.isatty() and os.environ.get("TERM") != "dumb":
        progress.show(sys.stderr)


def explain(error: BaseException) -> str | None:
    """The message for the user; None for an exception that is not an error."""
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
            output.write_line(sys.stdout, output.error_line(argv, isinstance(error, UnsupportedError)))
    except OSError:
        streams.forget_stdout()
    return 1
