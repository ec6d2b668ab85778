"""A MiniZinc solver that runs wholly on a GPU, or on CPU threads from the same kernel sources.

From Python: `solve_text`, `solve_model` and `Result` of api.py. They are imported when they are first used, so that the
command, which has its own entry point, can print its version without loading NumPy.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from turbo_fzn.api import Result, solve_model, solve_text

__version__ = "0.1.0"
__all__ = ["Result", "__version__", "solve_model", "solve_text"]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from turbo_fzn import api

    return getattr(api, name)
