"""The input languages: which reader makes a Model of which file, by the end of its name.

Another language (such as XCSP3) is another reader, and a row of LANGUAGES; all behind the Model stays as it is.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

from turbo_fzn.errors import ModelError, UsageError
from turbo_fzn.read.model import Model

HEAD_BYTES = 2**16  # looked at before the rest of a file is read


def parse_file(path: str) -> Model:
    """The model in a file. UsageError when it cannot be read, ModelError when it is no model."""
    read = LANGUAGES.get(Path(path).suffix.lower(), read_flatzinc)
    return read(read_text(path), path)


def read_flatzinc(text: str, file: str) -> Model:
    from turbo_fzn.read.flatzinc import parse_text

    return parse_text(text, file)


def read_flatzinc_json(text: str, file: str) -> Model:
    from turbo_fzn.read.flatzinc_json import parse_json

    return parse_json(text, file)


# What is not here is FlatZinc: MiniZinc may give any name to its files.
LANGUAGES: dict[str, Callable[[str, str], Model]] = {".json": read_flatzinc_json}


def read_text(path: str) -> str:
    """The text in a file. UsageError when it cannot be read, ModelError when it is no text."""
    try:
        with io.BufferedReader(io.FileIO(path), HEAD_BYTES) as stream:
            head = stream.peek()
            if b"\0" in head:
                raise ModelError("not a text file", path, *_locate_byte(head, head.index(b"\0")))
            data = stream.read()
    except OSError as error:
        raise UsageError(f"cannot read the file: {error.strerror or error}", path) from None
    except ValueError as error:
        raise UsageError(f"cannot read the file: {error}", repr(path)) from None
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ModelError("not UTF-8 text", path, *_locate_byte(data, error.start)) from None


def _locate_byte(data: bytes, offset: int) -> tuple[int, int]:
    """(line, column) of a byte, the column in characters."""
    line_start = data.rfind(b"\n", 0, offset) + 1
    return data.count(b"\n", 0, offset) + 1, len(data[line_start:offset].decode("utf-8", "replace")) + 1
