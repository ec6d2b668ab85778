"""The messages of the command beside the answer: log lines, and errors of one line.

Imports nothing heavy.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from turbo_fzn.base import progress
from turbo_fzn.base.errors import InternalError, TurboError, one_line
from turbo_fzn.base.resources import pip
from turbo_fzn.process import streams
from turbo_fzn.run.answer import styles
from turbo_fzn.version import __version__

if TYPE_CHECKING:
    import logging

    from turbo_fzn.command.log_file import LogFile
    from turbo_fzn.options.options import Options

_log_file: LogFile | None = None
_of_run: list[logging.Handler] = []  # further handlers of the log of this run


def set_up_logging(verbose: bool) -> None:
    """Makes the log write lines to stderr: all lines of `-v`, or warnings alone."""
    import logging

    handler = logging.StreamHandler(sys.stderr)
    handler.setLevel(logging.INFO if verbose else logging.WARNING)
    handler.addFilter(progress.make_way)
    logging.basicConfig(handlers=[handler], format="fzn-turbo: %(message)s")
    log().setLevel(handler.level)
    if sys.stderr.isatty() and os.environ.get("TERM") != "dumb":
        progress.show(sys.stderr)


def set_up_logging_of_run(options: Options, argv: Sequence[str]) -> None:
    """Sets up the log of a run, whose warnings may be wanted among the answers, and all lines in a file. Raises
    UsageError where that cannot be written."""
    global _log_file

    set_up_logging(options.verbose)
    logger = log()
    if options.json_stream:
        from turbo_fzn.run.answer.json_stream import Warnings

        _of_run.append(Warnings())
    if options.log_file is not None:
        import logging

        from turbo_fzn.command.log_file import LogFile

        _log_file = LogFile(options.log_file)
        _log_file.note(logging.INFO, f"fzn-turbo {__version__}: {' '.join(argv)}")
        _of_run.append(_log_file)
        logger.setLevel(logging.INFO)
    for handler in _of_run:
        logger.addHandler(handler)


def end_logging_of_run() -> None:
    """Removes the handlers that `set_up_logging_of_run` has added, in a process that goes on."""
    global _log_file

    _log_file = None
    while _of_run:
        handler = _of_run.pop()
        log().removeHandler(handler)
        handler.close()


def log() -> logging.Logger:
    """The logger of the package."""
    import logging

    return logging.getLogger("turbo_fzn")


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
    if isinstance(error, ModuleNotFoundError) and (missing := without_packages(error)):
        return missing
    log().info("an unexpected error", exc_info=error)
    text = one_line(" ".join(str(error).split()))
    return f"internal error: {type(error).__name__}: {text} (-v shows where)"


def without_packages(error: ModuleNotFoundError) -> str:
    """The message where the module belongs to a package that the solver needs, as in a source tree that is run without
    being installed: names all packages that are missing. Empty for other modules."""
    from turbo_fzn.command import doctor

    if (error.name or "").partition(".")[0] not in doctor.NEEDED:
        return ""
    absent = doctor.missing(doctor.NEEDED + doctor.HELPFUL)
    return f"{', '.join(absent)} cannot be found; to install: {pip('install', *absent)}" if absent else ""


def complain(message: str, argv: Sequence[str], error: BaseException) -> int:
    progress.erase()
    if _log_file is not None:
        import logging

        _log_file.note(logging.ERROR, message)
    try:
        print(f"fzn-turbo: {message}", file=sys.stderr, flush=True)
        if not getattr(error, "answered", False):
            styles.write_error(sys.stdout, argv, message, error)
    except OSError:
        streams.forget_stdout()
    return 1
