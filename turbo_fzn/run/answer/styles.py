"""The style of an answer: the style of a flag, else the style of the language of the input."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from turbo_fzn.base.errors import UnsupportedError
from turbo_fzn.options.options import JSON_STREAM
from turbo_fzn.run.answer.competition import CompetitionStyle
from turbo_fzn.run.answer.output import STATUS_LINES, MiniZincStyle, write_line

if TYPE_CHECKING:
    from turbo_fzn.options.options import Options
    from turbo_fzn.read.model import Model


def style_of(options: Options, model: Model | None = None) -> type[MiniZincStyle]:
    """The style by the flags, the name of the file, and the model if it has been read: a file of any name may be an
    XCSP3 instance."""
    if options.json_stream:
        from turbo_fzn.run.answer.json_stream import JsonStyle  # only here: the module json takes a while

        return JsonStyle
    in_xcsp3 = _is_xcsp3(options.file) or (model is not None and model.language == "XCSP3")
    return CompetitionStyle if in_xcsp3 else MiniZincStyle


def _is_xcsp3(path: str) -> bool:
    """Whether a file is an XCSP3 instance, by its name alone: the answer must have its style also where it fails."""
    return ".xml" in [suffix.lower() for suffix in Path(path).suffixes[-2:]]


def unknown_answer(options: Options) -> Callable[[], str]:
    """Returns a function that returns the text of stdout for an unknown answer. All its modules are imported before,
    for a signal handler in the midst of an import."""
    style = style_of(options)

    def answer() -> str:
        text = io.StringIO()
        style(text, options).unknown()
        return text.getvalue()

    return answer


def write_error(stream: TextIO, argv: Sequence[str], message: str, error: BaseException) -> None:
    """Writes the text of stdout for an error, which may be in the command line: in the style that its words name."""
    if JSON_STREAM in argv:
        from turbo_fzn.run.answer.json_stream import send_error

        send_error(stream, message, error)
    elif any(map(_is_xcsp3, argv)):
        write_line(stream, "s UNSUPPORTED" if isinstance(error, UnsupportedError) else "s UNKNOWN")
    else:
        write_line(stream, STATUS_LINES["ERROR"])
