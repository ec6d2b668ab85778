"""The cache of files that can be made again: compiled kernels, and the tables of the grammar.

They are loaded as machine code or unpickled, so a person who could write them would run code as the user. Therefore

- the folder must belong to the user, and no one else may be able to write to it; otherwise it is not used;
- the same holds for each file, and its last bytes are the SHA-256 digest of those before: a file that is damaged or
  incomplete is made again.

Loaders of shared libraries, of cubins and of pickles ignore bytes after their data.

Reading does not need a writable folder: a folder that was filled and then made read-only, as in an image or on a
cluster, can be used.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
from pathlib import Path

from turbo_fzn.base.errors import EngineError
from turbo_fzn.base.resources import wanted_cache_folder

MARK = b"\nturbo_fzn sha256 "
TRAILER_BYTES = len(MARK) + 64
OTHERS_MAY_WRITE = stat.S_IWGRP | stat.S_IWOTH


class NoRoom(EngineError):
    """A folder that does not take a compiled file."""

    def __init__(self, folder: object, reason: str):
        self.reason, self.place = reason, f"{folder}: {reason}"
        super().__init__(f"cannot write compiled kernels to {self.place}")


_told: set[Path] = set()  # the folders that a warning of this process has named


def find_folder() -> Path | None:
    """The cache folder to read from, made if missing; None if that fails, or if others can write to it."""
    folder = wanted_cache_folder()
    with contextlib.suppress(OSError):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if is_private(os.stat(folder)):
            return folder
        warn_of(folder, "is not used: it must belong to you, and nobody else may write to it")
    return None


def writable_folder() -> Path | None:
    """The cache folder to write to; None if `find_folder` returns None, or if it is not writable."""
    folder = find_folder()
    return folder if folder is not None and os.access(folder, os.R_OK | os.W_OK | os.X_OK) else None


def warn_of(folder: Path, what: str) -> None:
    """Warns the user of a problem with a cache folder: of the first problem of each folder, once in a process."""
    import logging

    if folder not in _told:
        _told.add(folder)
        logging.getLogger("turbo_fzn").warning("the cache folder %s %s", folder, what)


def is_private(status: os.stat_result) -> bool:
    """Whether the file belongs to the user, and no one else may write to it."""
    return status.st_uid == os.geteuid() and not status.st_mode & OTHERS_MAY_WRITE


def seal(path: Path) -> None:
    """Appends its digest to a file that was just written, and removes the permissions of other users."""
    os.chmod(path, 0o600)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    with open(path, "ab") as file:
        file.write(MARK + digest.encode())


def read(path: Path) -> bytes | None:
    """The contents of a sealed file; None if the file does not exist or must not be used."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return None
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode) or not is_private(status):
            return None
        with open(handle, "rb", closefd=False) as file:
            content = file.read()
    finally:
        os.close(handle)
    data, trailer = content[:-TRAILER_BYTES], content[-TRAILER_BYTES:]
    return data if trailer == MARK + hashlib.sha256(data).hexdigest().encode() else None
