"""The symmetries that are found in a model, and what must hold of them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from support.flatzinc_text import make_model
from support.oracle import all_solutions, objective_of
from turbo_fzn.base.domains import BOOLEAN
from turbo_fzn.read.model import Model, Ref
from turbo_fzn.symmetry import breaking
from turbo_fzn.symmetry.automorphisms import Automorphisms
from turbo_fzn.symmetry.breaking import leaders
from turbo_fzn.symmetry.graph import graph_of


def swaps(model: Model) -> list[dict[str, str]]:
    """The variables that each swap moves, by name."""
    found = graph_of(model)
    assert found is not None
    names = found.names
    return [
        {names[one]: names[other] for one, other in zip(*map(np.ndarray.tolist, swap)) if one != other}
        for swap in Automorphisms(found).swaps()
    ]


def check_swap(model: Model, moves: dict[str, str], solutions: list[dict[str, int]]) -> None:
    """It takes the set of all solutions to itself, and no solution to one with another objective."""
    known = {tuple(solution.values()): solution for solution in solutions}
    for solution in solutions:
        image = known.get(tuple(solution[moves.get(name, name)] for name in solution))
        assert image is not None, f"{moves}\n{solution}\n{model.text}"
        if model.goal.method != "satisfy":
            assert objective_of(model, solution) == objective_of(model, image), f"{moves}\n{model.text}"


def classes(solutions: list[dict[str, int]], moves: list[dict[str, str]]) -> Iterator[list[dict[str, int]]]:
    """The classes of solutions that sequences of swaps map to each other."""
    left = {tuple(solution.values()): solution for solution in solutions}
    while left:
        found = [left.popitem()[1]]
        for solution in found:  # which grows meanwhile
            for swap in moves:
                image = tuple(solution[swap.get(name, name)] for name in solution)
                found.extend([left.pop(image)] if image in left else [])
        yield found


def is_least(solution: dict[str, int], orders: list[breaking.Order]) -> bool:
    return all([solution[x] for x in one] <= [solution[x] for x in other] for one, other in orders)


def check_model(model: Model) -> int:
    """How many swaps there are, all of which are right."""
    moves, solutions = swaps(model), all_solutions(model)
    for swap in moves:
        check_swap(model, swap, solutions)
    orders = leaders(model)
    for members in classes(solutions, moves):
        assert any(is_least(solution, orders) for solution in members), f"{orders}\n{members}\n{model.text}"
    return len(moves)


def refs(*names: str) -> list[Ref]:
    return list(map(Ref, names))


X, Y, Z, W = refs("x", "y", "z", "w")


def boolean_matrix(n_rows: int, n_columns: int) -> Model:
    grid = [[Ref(f"x{i}_{j}") for j in range(n_columns)] for i in range(n_rows)]
    rows = [("bool_lin_le", [1] * n_columns, row, 2) for row in grid]
    columns = [("bool_lin_le", [1] * n_rows, list(column), 3) for column in zip(*grid)]
    return make_model({name: BOOLEAN for row in grid for name in row}, [*rows, *columns])
