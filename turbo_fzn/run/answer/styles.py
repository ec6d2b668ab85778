"""In which style an answer is: that of a flag, else that of the language of the input."""

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
    """By the flags, by the name of the file, and by the model if that has been read: another name may have an XCSP3
    instance, too."""
    if options.json_stream:
        from turbo_fzn.run.answer.json_stream import JsonStyle  # only here: the module json takes a while

        return JsonStyle
    in_xcsp3 = _is_xcsp3(options.file) or (model is not None and model.language == "XCSP3")
    return CompetitionStyle if in_xcsp3 else MiniZincStyle


def _is_xcsp3(path: str) -> bool:
    """Whether a file is an XCSP3 instance, by its name alone: the answer must have its style also where it fails."""
    return ".xml" in [suffix.lower() for suffix in Path(path).suffixes[-2:]]


def unknown_answer(options: Options) -> Callable[[], str]:
    """Returns all that stdout says where nothing has become known, when it is called. All that it needs is imported
    before, for a signal handler in the midst of an import."""
    style = style_of(options)

    def answer() -> str:
        text = io.StringIO()
        style(text, options).unknown()
        return text.getvalue()

    return answer


def write_error(stream: TextIO, argv: Sequence[str], message: str, error: BaseException) -> None:
    """What stdout says of an error, which may be one of the command line: in the style that its words name."""
    if JSON_STREAM in argv:
        from turbo_fzn.run.answer.json_stream import send_error

        send_error(stream, message, error)
    elif any(map(_is_xcsp3, argv)):
        write_line(stream, "s UNSUPPORTED" if isinstance(error, UnsupportedError) else "s UNKNOWN")
    else:
        write_line(stream, STATUS_LINES["ERROR"])
