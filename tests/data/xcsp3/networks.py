"""More of our own models in PyCSP3, as in models.py: `python tests/data/xcsp3/networks.py` writes their instances."""

# ruff: noqa: F403, F405
from models import main, model
from pycsp3 import *


@model
def pipes() -> None:
    """The cheapest way to bring 9 from the first node to the last."""
    arcs = [(0, 1), (0, 2), (1, 2), (1, 3), (2, 3), (2, 4), (3, 5), (4, 5), (4, 3)]
    f = VarArray(size=len(arcs), dom=range(8))
    cost = Var(range(500))
    satisfy(Flow(f, balance=[9, 0, 0, 0, 0, -9], arcs=arcs, weights=[3, 5, 1, 4, 2, 7, 1, 6, 2]) == cost)
    minimize(cost)


if __name__ == "__main__":
    main(["pipes"])
