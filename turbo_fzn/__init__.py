"""A MiniZinc solver that runs wholly on a GPU, or on CPU threads from the same kernel sources.

From Python: `solve_text`, `solve_model` and `Result` of interface/api.py, `Model` of model.py, `Builder` of
building.py, `Cores` of cores.py, `Front` and `lexicographic` of objectives.py, all beside it. They are imported when
they are first used, so that the command, which has its own entry point, can print its version without loading NumPy.
Modules of the package import nothing from here.
"""

from typing import TYPE_CHECKING

from turbo_fzn.version import __version__

if TYPE_CHECKING:
    from turbo_fzn.interface.api import Result, solve_model, solve_text
    from turbo_fzn.interface.building import Builder
    from turbo_fzn.interface.cores import Cores
    from turbo_fzn.interface.model import Model
    from turbo_fzn.interface.objectives import Front, lexicographic

__all__ = ["Builder", "Cores", "Front", "Model", "Result", "__version__", "lexicographic", "solve_model", "solve_text"]
_MODULES = {
    "Builder": "building",
    "Cores": "cores",
    "Model": "model",
    "Front": "objectives",
    "lexicographic": "objectives",
}  # else api


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"turbo_fzn.interface.{_MODULES.get(name, 'api')}"), name)
