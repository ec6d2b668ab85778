"""Checks a proof that is in files, which may be packed."""

from __future__ import annotations

import gzip
import zlib
from typing import IO

from turbo_fzn.proof.checker import Refused, Verdict, check


def check_files(formula: str, proof: str) -> Verdict:
    """Checks the files, packed where their names end with .gz. Raises Refused, and OSError where they cannot be
    read."""
    try:
        with open_text(formula) as first, open_text(proof) as second:
            return check(first, second)
    except (UnicodeDecodeError, EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise Refused(f"the file is damaged: {error}") from None


def open_text(path: str) -> IO[str]:
    return gzip.open(path, "rt", encoding="ascii") if path.endswith(".gz") else open(path, encoding="ascii")
