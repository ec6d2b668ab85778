"""The places of the kernels and the MiniZinc library, and the commands that install missing packages.

In the source tree these files are at the top level, beside this package; in an installed package they are inside it
(setup.cfg maps them there). The installed place is tried first. An editable installation is a source tree.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from turbo_fzn.base.errors import InternalError

PACKAGE = Path(__file__).resolve().parent.parent


def kernels_folder() -> Path:
    """The folder of the kernel sources."""
    return _find("kernels")


def share_folder() -> Path:
    """The folder that holds `minizinc/turbo`, the MiniZinc library of the solver."""
    return _find("share")


def wanted_cache_folder() -> Path:
    """The path of the cache folder: $TURBO_FZN_CACHE, else `turbo_fzn` in the user's cache folder."""
    named = os.environ.get("TURBO_FZN_CACHE")
    return Path(named) if named else Path(user_cache_folder(), "turbo_fzn")


def user_cache_folder() -> str:
    """The folder of the user's caches, by the XDG Base Directory Specification."""
    named = os.environ.get("XDG_CACHE_HOME", "")
    return named if os.path.isabs(named) else os.path.expanduser("~/.cache")


def pip(*words: str) -> str:
    """The command that has the pip of this Python do something. The packages that it is to install are named
    themselves: `turbo_fzn[gpu]` is on no index, and nobody knows where its wheel or source tree is."""
    import shlex

    return shlex.join([sys.executable, "-m", "pip", *words])


def _find(name: str) -> Path:
    for parent in (PACKAGE, PACKAGE.parent):
        if (parent / name).is_dir():
            return parent / name
    raise InternalError(f"the installation is incomplete: no folder {name} in {PACKAGE}")
