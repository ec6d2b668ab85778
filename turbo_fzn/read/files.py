"""The text in a file: plain, packed, or from standard input.

`model.fzn.gz` and `model.fzn.xz` are read as `model.fzn` is, and `-` is standard input. What is no text is found in the
first piece, before the rest is read.
"""

from __future__ import annotations

import importlib
import io
import os
import stat
from pathlib import Path
from typing import Any

from turbo_fzn.errors import ModelError, UsageError

STANDARD_INPUT = "-"
HEAD_BYTES = 2**16  # looked at before the rest of a file is read
PACKED = {".gz": "gzip", ".xz": "lzma", ".lzma": "lzma"}  # the modules are imported where they are needed


def suffix_of(path: str) -> str:
    """The end of the name that says which language the text is in, in small letters: ".fzn" of "a.FZN.gz"."""
    name = Path(path)
    return (name.with_suffix("") if name.suffix.lower() in PACKED else name).suffix.lower()


def shown(path: str) -> str:
    """The name of the file in messages."""
    return "standard input" if path == STANDARD_INPUT else path


def read_text(path: str) -> str:
    """The text in a file. UsageError when it cannot be read, ModelError when it is no text."""
    try:
        with open_bytes(path) as stream:
            head = stream.peek()
            if b"\0" in head:
                raise ModelError("not a text file", shown(path), *_locate_byte(head, head.index(b"\0")))
            data = stream.read()
    except damage() as error:
        raise UsageError(f"cannot unpack the file: {error}", path) from None
    except OSError as error:
        raise UsageError(f"cannot read the file: {error.strerror or error}", shown(path)) from None
    except ValueError as error:
        raise UsageError(f"cannot read the file: {error}", repr(path)) from None
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ModelError("not UTF-8 text", shown(path), *_locate_byte(data, error.start)) from None


def refuse_overwriting(model: str, flag: str, path: str | None) -> None:
    """Raises UsageError where the file that the flag wants written is the model's, by whatever path or link."""
    if path is None:
        return
    try:
        read = os.fstat(0) if model == STANDARD_INPUT else os.stat(model)
        same = os.path.samestat(read, os.stat(path)) and stat.S_ISREG(read.st_mode)
    except (OSError, ValueError):  # one of them is not there, which is told elsewhere
        return
    if same:
        raise UsageError(f"{flag} {path}: this is the file of the model, which would be overwritten")


def open_bytes(path: str) -> io.BufferedReader:
    """A stream of the bytes in a file, unpacked."""
    module = PACKED.get(Path(path).suffix.lower())
    if module is not None:
        stream: Any = importlib.import_module(module).open(path)
    else:
        stream = io.FileIO(0, closefd=False) if path == STANDARD_INPUT else io.FileIO(path)
    return io.BufferedReader(stream, HEAD_BYTES)


def damage() -> tuple[type[Exception], ...]:
    """What is raised where a packed file is damaged."""
    import gzip
    import lzma
    import zlib

    return gzip.BadGzipFile, lzma.LZMAError, zlib.error, EOFError


def _locate_byte(data: bytes, offset: int) -> tuple[int, int]:
    """(line, column) of a byte, the column in characters."""
    line_start = data.rfind(b"\n", 0, offset) + 1
    return data.count(b"\n", 0, offset) + 1, len(data[line_start:offset].decode("utf-8", "replace")) + 1
