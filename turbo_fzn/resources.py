"""Where the files are that are no Python: the kernels and the MiniZinc library.

In the source tree they stand at the top level, beside this package; in an installed package they stand inside it
(setup.cfg maps them there). Both are looked for, the installed place first. An editable installation is a source
tree.
"""

from __future__ import annotations

from pathlib import Path

from turbo_fzn.errors import InternalError

PACKAGE = Path(__file__).resolve().parent


def kernels_folder() -> Path:
    """The folder of the kernel sources."""
    return _find("kernels")


def share_folder() -> Path:
    """The folder that holds `minizinc/turbo`, our MiniZinc library."""
    return _find("share")


def _find(name: str) -> Path:
    for parent in (PACKAGE, PACKAGE.parent):
        if (parent / name).is_dir():
            return parent / name
    raise InternalError(f"the installation is incomplete: no folder {name} in {PACKAGE}")
