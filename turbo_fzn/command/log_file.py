"""The file of `--log-file`: the lines of -v, warnings and errors, each with the time (UTC) and the level.

    2026-11-25T18:30:01.250Z INFO lower: 0.02 s, 153 variables, 192 rows

Several runs may append to one file: each line is written at once.
"""

from __future__ import annotations

import logging
import time

from turbo_fzn.base.errors import UsageError, one_line


class LogFile(logging.FileHandler):
    """Raises UsageError where the file cannot be written."""

    def __init__(self, path: str):
        try:
            super().__init__(path, encoding="utf-8", errors="backslashreplace")
        except OSError as error:
            raise UsageError(f"cannot write {path}: {error.strerror}") from error

    def format(self, record: logging.LogRecord) -> str:
        second = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
        return f"{second}.{int(record.msecs):03}Z {record.levelname} {one_line(record.getMessage())}"

    def note(self, level: int, text: str) -> None:
        """Writes a line that is printed elsewhere in another form."""
        self.handle(logging.LogRecord("turbo_fzn", level, "", 0, text, None, None))
