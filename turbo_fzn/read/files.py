"""Reads the text of a file: plain, packed, or from standard input.

`model.fzn.gz` and `model.fzn.xz` are read as `model.fzn` is, and `-` is standard input. A file that is not text is
refused after the first piece, before the rest is read. Pieces are short, so that signals are handled between them even
in a gigabyte, and the size of unpacked text is limited.
"""

from __future__ import annotations

import codecs
import contextlib
import importlib
import io
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from turbo_fzn.base.errors import ModelError, UsageError
from turbo_fzn.read.tuning import TUNING

STANDARD_INPUT = "-"
PACKED = {".gz": "gzip", ".xz": "lzma", ".lzma": "lzma"}  # the modules are imported where they are needed


def suffix_of(path: str) -> str:
    """The suffix of the name that gives the language, in lower case: ".fzn" for "a.FZN.gz"."""
    name = Path(path)
    return (name.with_suffix("") if name.suffix.lower() in PACKED else name).suffix.lower()


def shown(path: str) -> str:
    """The name of the file in messages."""
    return "standard input" if path == STANDARD_INPUT else path


def read_text(path: str) -> str:
    """The text of a file. Raises UsageError if it cannot be read, or has more bytes than `most_bytes`; ModelError if it
    is not text."""
    try:
        with open_bytes(path) as stream:
            head = stream.peek()
            if b"\0" in head:
                before = head.partition(b"\0")[0].decode("utf-8", "replace")
                raise ModelError("not a text file", shown(path), *_locate(before))
            return "".join(_pieces(stream, path))
    except damage() as error:
        raise UsageError(f"cannot unpack the file: {error}", path) from None
    except OSError as error:
        raise UsageError(f"cannot read the file: {error.strerror or error}", shown(path)) from None
    except ValueError as error:
        raise UsageError(f"cannot read the file: {error}", repr(path)) from None


def _pieces(stream: io.BufferedReader, path: str) -> list[str]:
    """The text of a stream, in pieces: between two of them a signal can end the process."""
    pieces: list[str] = []
    decoder, left = codecs.getincrementaldecoder("utf-8")(), most_bytes()
    while piece := stream.read(min(TUNING.piece_bytes, left + 1)):
        left -= len(piece)
        if left < 0:
            raise UsageError(f"more text than half of the memory holds, {most_bytes() / 1e9:.1f} GB", shown(path))
        pieces.append(_decode(decoder, piece, False, pieces, path))
    pieces.append(_decode(decoder, b"", True, pieces, path))
    return pieces


def _decode(decoder: codecs.IncrementalDecoder, piece: bytes, is_last: bool, before: list[str], path: str) -> str:
    try:
        return decoder.decode(piece, is_last)
    except UnicodeDecodeError as error:  # `object` is the piece, preceded by the rest of the previous piece
        text = "".join([*before, error.object[: error.start].decode("utf-8")])
        raise ModelError("not UTF-8 text", shown(path), *_locate(text)) from None


def most_bytes() -> int:
    """The largest size of a text: half of the memory, since joining its pieces takes twice its size."""
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2


def refuse_overwriting(model: str, flag: str, path: str | None) -> None:
    """Raises UsageError if the file that the flag names for writing is the model's, by any path or link."""
    if path is None:
        return
    try:
        read = os.fstat(0) if model == STANDARD_INPUT else os.stat(model)
        same = os.path.samestat(read, os.stat(path)) and stat.S_ISREG(read.st_mode)
    except (OSError, ValueError):  # a file does not exist, which is an error elsewhere
        return
    if same:
        raise UsageError(f"{flag} {path}: this is the file of the model, which would be overwritten")


def refuse_same(written: Mapping[str, str | None]) -> None:
    """Raises UsageError where two of the files that flags name for writing are the same."""
    flags: dict[str, str] = {}
    for flag, path in written.items():
        if path is not None and (other := flags.setdefault(os.path.realpath(path), flag)) != flag:
            raise UsageError(f"{other} and {flag} would write the same file, {path}")


def model_of_proof(path: str) -> str:
    """The file of the model beside the proof: a.pbp -> a.opb, a.pbp.gz -> a.opb.gz."""
    packed = ".gz" if path.endswith(".gz") else ""
    return str(Path(path.removesuffix(".gz")).with_suffix(".opb")) + packed


def check_proof_names(model: str, path: str | None) -> None:
    """Raises UsageError if a file of a proof would be a folder, the other file or the model's file."""
    if path is None:
        return
    if not Path(path.removesuffix(".gz")).name:
        raise UsageError(f"--proof: {path!r} is no name of a file")
    if os.path.realpath(model_of_proof(path)) == os.path.realpath(path):
        raise UsageError(f"--proof {path}: the file of the encoded model has this name; end the proof's in .pbp")
    for written in (path, model_of_proof(path)):
        if os.path.isdir(written):
            raise UsageError(f"--proof: {written!r} is a folder")
        refuse_overwriting(model, "--proof", written)


def forget_proof(path: str | None) -> None:
    """Removes both files of a proof, such as the files of an earlier run: a run without a proof must leave no file of a
    proof. Other than regular files stay, and so do files that cannot be removed, which is an error when they are
    written."""
    for one in () if path is None else (path, model_of_proof(path)):
        if os.path.isfile(one):
            with contextlib.suppress(OSError):
                os.unlink(one)


def open_bytes(path: str) -> io.BufferedReader:
    """A stream of the unpacked bytes of a file."""
    module = PACKED.get(Path(path).suffix.lower())
    if module is not None:
        stream: Any = importlib.import_module(module).open(path)
    else:
        stream = io.FileIO(0, closefd=False) if path == STANDARD_INPUT else io.FileIO(path)
    return io.BufferedReader(stream, TUNING.head_bytes)


def damage() -> tuple[type[Exception], ...]:
    """The exceptions that a damaged packed file raises."""
    import gzip
    import lzma
    import zlib

    return gzip.BadGzipFile, lzma.LZMAError, zlib.error, EOFError


def _locate(before: str) -> tuple[int, int]:
    """(line, column) of the place after this text."""
    return before.count("\n") + 1, len(before) - before.rfind("\n")
