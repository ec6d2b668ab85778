"""The errors that a user can see. Each formats itself as one line with the place and the reason."""

from __future__ import annotations

LONGEST_MESSAGE = 400  # format: names in a model can be very long; messages begin with the reason


def one_line(text: str) -> str:
    """The text with an escape for each character that would end the line, or that cannot be shown."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


class TurboError(Exception):
    """Base of every error shown to the user; `str(error)` is one line, without a traceback.

    `file`, `line` and `column` (both from 1) are the place, if it is known.
    """

    def __init__(self, message: str, file: str | None = None, line: int | None = None, column: int | None = None):
        super().__init__(message)
        self.message = message
        self.file = file
        self.line = line
        self.column = column

    def __str__(self) -> str:
        place = [one_line(str(part)) for part in (self.file, self.line, self.column) if part not in (None, "")]
        return ":".join(place) + ": " + self.without_place if place else self.without_place

    @property
    def without_place(self) -> str:
        """The line less where it is."""
        text = one_line(" ".join(self.message.split()))
        return text if len(text) <= LONGEST_MESSAGE else text[: LONGEST_MESSAGE - 1] + "…"


class UsageError(TurboError):
    """The command line is wrong: unknown flag, missing file, bad value."""


class ModelError(TurboError):
    """The model text is wrong: syntax, undefined identifier, unknown predicate, arity, type."""


class UnsupportedError(ModelError):
    """The model is correct, but uses a feature that this solver does not support."""


class EngineError(TurboError):
    """An engine cannot run: no compiler, no GPU, out of device memory."""


class InternalError(TurboError):
    """A fault of the solver, such as a solution that fails its check."""
