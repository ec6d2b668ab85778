"""How long it takes to explain why there is no solution, in two ways: `python -m lab.bench.cores`.

Today's way prepares each set of constraints as a model of its own (explain/explainer.py). The other one prepares one
model, in which a Boolean variable implies each constraint, and assumes those of the set. Both halve the constraints by
QuickXplain, and both use each solution for all sets within what holds in it. A line for each random model has sizes,
tests and processor seconds.
"""

from __future__ import annotations

import argparse
import time
from random import Random

import numpy as np

from turbo_fzn import Builder, Model
from turbo_fzn.explain.explainer import Explainer
from turbo_fzn.explain.quickxplain import Members, minimal
from turbo_fzn.options.options import Options
from turbo_fzn.process.interrupt import Interrupt

SIZES = ((12, 50), (40, 150), (100, 300), (160, 500))  # variables, constraints


def draw(random: Random, n_variables: int, n_constraints: int) -> tuple[Builder, Builder]:
    """A random model with names, and the one in which Boolean variables imply the constraints."""
    plain, implied = Builder(), Builder()
    numbers, others = (build.ints("v", 0, 9, (n_variables,)) for build in (plain, implied))
    truths = implied.bools("b", (n_constraints,))
    for place in range(n_constraints):
        at = random.sample(range(n_variables), 3)
        least = random.randrange(-3, 9), [random.choice((1, -1)), random.choice((2, -2)), random.choice((1, -3))]
        sums = [([1, 1, -1], random.randrange(-4, 5), "int_lin_eq"), (least[1], least[0], "int_lin_le")]
        kind = random.randrange(3)
        if kind == 2:
            plain.int_ne(numbers[at[0]], numbers[at[1]], name=str(place))
            implied.int_ne_imp(others[at[0]], others[at[1]], truths[place])
            continue
        coefficients, right, predicate = sums[kind]
        plain.post(predicate, coefficients, numbers[at], right, name=str(place))
        implied.post(f"{predicate}_imp", coefficients, others[at], right, truths[place])
    return plain, implied


def by_assumptions(model: Model, n_constraints: int) -> tuple[Members, int]:
    """A minimal set, and the number of tests."""
    names = [f"b[{place}]" for place in range(n_constraints)]
    solved: list[Members] = []
    n_tests = 0

    def refutes(members: Members) -> bool:
        nonlocal n_tests
        if any(members <= known for known in solved):
            return False
        n_tests += 1
        result = model.solve({names[member]: True for member in members})
        for values in result.solutions:
            solved.append(members.union(np.flatnonzero(np.array(values["b"])).tolist()))
        return result.status == "UNSATISFIABLE"

    return minimal(range(n_constraints), refutes), n_tests


def line(n_variables: int, n_constraints: int, seed: int) -> str:
    """The row of a table; empty where the model that is drawn has a solution."""
    plain, implied = draw(Random(seed), n_variables, n_constraints)
    prepared = plain.model(arch="cpu")
    if prepared.solve(time_limit=20_000).status != "UNSATISFIABLE":
        return ""
    start = time.process_time()
    today = Explainer(prepared.parsed, Options(arch="cpu"), Interrupt(), 0.1)
    core = today.run()
    middle = time.process_time()
    other, n_tests = by_assumptions(implied.model(arch="cpu"), n_constraints)
    end = time.process_time()
    parts = len(core.constraints), today.n_tests, middle - start, len(other), n_tests, end - middle
    return "| {} | {} | {} | {} | {:.2f} | {} | {} | {:.2f} |".format(n_constraints, seed, *parts)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seeds", type=int, default=3, help="random models of each size (default: 3)")
    arguments = parser.parse_args()
    print("| constraints | seed | core | tests | s | core, assumed | tests | s |\n|---|---|---|---|---|---|---|---|")
    for n_variables, n_constraints in SIZES:
        for seed in range(arguments.seeds):
            if row := line(n_variables, n_constraints, seed):
                print(row, flush=True)


if __name__ == "__main__":
    main()
