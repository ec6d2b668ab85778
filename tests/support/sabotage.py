"""Faults inside of a process that a test starts: code that runs there when a module has been imported."""

from __future__ import annotations

import os
from pathlib import Path

from turbo_fzn.base.resources import PACKAGE

# Python imports a module of this name at its start (documentation of `site`).
SITE = """\
import importlib.util
import sys


class Sabotage:
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if name != {module!r}:
            return None
        sys.meta_path.remove(cls)
        spec = importlib.util.find_spec(name)
        load = spec.loader.exec_module

        def load_and_spoil(module):
            load(module)
            exec({code!r}, vars(module))

        spec.loader.exec_module = load_and_spoil
        return spec


sys.meta_path.insert(0, Sabotage)
"""


def sabotage(folder: Path, module: str, code: str) -> str:
    """The PYTHONPATH of a process where `code` is run in the module's namespace, as soon as that is imported."""
    (folder / "sitecustomize.py").write_text(SITE.format(module=module, code=code))
    return os.pathsep.join([str(folder), str(PACKAGE.parent), *filter(None, [os.environ.get("PYTHONPATH")])])
