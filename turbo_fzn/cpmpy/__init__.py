"""A solver class of CPMpy, in the same process and under assumptions. The extra `cpmpy` of setup.cfg installs CPMpy.

    import cpmpy as cp
    import turbo_fzn.cpmpy

    turbo_fzn.cpmpy.register()
    model.solve(solver="turbo")
    cp.tools.explain.mus(soft, hard, solver="turbo")

CPMpy's transformations make flat constraints of a model (solver.py). Each becomes predicates of a `Builder` (flat.py),
global constraints and functions those of the same meaning (globals.py). Nothing else in turbo_fzn imports this package.
"""

from turbo_fzn.cpmpy.solver import NAME, CPM_turbo, register

__all__ = ["NAME", "CPM_turbo", "register"]
