"""Instances of our own, as FlatZinc with a search annotation, so that engines can be measured from a clone alone.

    python -m lab.bench.instances FOLDER --seed 1

Each kind is drawn from the seed and its own name. The projects have the shape of the instances of PSPLIB (Kolisch and
Sprecher, EJOR 1996) of 30 and 60 tasks: a network of precedences in layers, four resources of which each task takes
some. The other kinds propagate in other ways: disjunctions in pairs, long sums, truth values, products and remainders.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from random import Random


class Text:
    """FlatZinc that is being written: variables first, then constraints."""

    def __init__(self) -> None:
        self.variables: list[str] = []
        self.constraints: list[str] = []

    def variable(self, name: str, domain: str, shown: bool = False) -> str:
        self.variables.append(f"var {domain}: {name}{' :: output_var' * shown};")
        return name

    def state(self, predicate: str, *arguments: object) -> None:
        self.constraints.append(f"constraint {predicate}({','.join(map(written, arguments))});")

    def bounded(self, terms: Sequence[tuple[int, str]], most: int) -> None:
        """The sum of the terms is at most that."""
        self.state("int_lin_le", [factor for factor, _ in terms], [name for _, name in terms], most)

    def solved(self, names: Iterable[str], order: str, value: str, goal: str) -> str:
        search = f":: int_search([{','.join(names)}],{order},{value},complete)"
        return "\n".join([*self.variables, *self.constraints, f"solve {search} {goal};", ""])


def written(argument: object) -> str:
    return f"[{','.join(map(str, argument))}]" if isinstance(argument, list) else str(argument)


def project(random: Random, tasks: int, resources: int = 4) -> str:
    """Least makespan under precedences and resources (RCPSP)."""
    durations = [random.randint(1, 10) for _ in range(tasks)]
    text, end = Text(), sum(durations)
    starts = [text.variable(f"start{i}", f"0..{end}", shown=True) for i in range(tasks)]
    makespan = text.variable("makespan", f"0..{end}", shown=True)
    for j in range(4, tasks):
        for i in random.sample(range(max(0, j - 12), j), random.randint(1, 3)):
            text.bounded([(1, starts[i]), (-1, starts[j])], -durations[i])
    for _ in range(resources):
        needs = [random.choice((0, 0, random.randint(1, 10))) for _ in range(tasks)]
        capacity = max(max(needs), round(sum(map(int.__mul__, needs, durations)) / end * 5))
        text.state("turbo_cumulative", starts, durations, needs, capacity)
    for start, duration in zip(starts, durations):
        text.bounded([(1, start), (-1, makespan)], -duration)
    return text.solved(starts, "smallest", "indomain_min", "minimize makespan")


def job_shop(random: Random, jobs: int, machines: int) -> str:
    """Least makespan, where each job visits each machine once; a truth value for each pair on a machine."""
    durations = [[random.randint(1, 20) for _ in range(machines)] for _ in range(jobs)]
    routes = [random.sample(range(machines), machines) for _ in range(jobs)]
    text, end = Text(), sum(map(sum, durations))
    starts = [[text.variable(f"start{j}_{k}", f"0..{end}", shown=True) for k in range(machines)] for j in range(jobs)]
    makespan = text.variable("makespan", f"0..{end}", shown=True)
    for own, lengths in zip(starts, durations):
        for k, after in enumerate([*own[1:], makespan]):
            text.bounded([(1, own[k]), (-1, after)], -lengths[k])
    for machine in range(machines):
        visits = [(own[route.index(machine)], lengths[route.index(machine)])
                  for own, lengths, route in zip(starts, durations, routes)]  # fmt: skip
        for i, (one, length) in enumerate(visits):
            for other, its_length in visits[i + 1 :]:
                first = text.variable(f"first_{one}_{other}", "bool")
                text.state("int_lin_le_imp", [1, -1], [one, other], -length, first)
                last = text.variable(f"last_{one}_{other}", "bool")
                text.state("int_lin_le_imp", [1, -1], [other, one], -its_length, last)
                text.state("bool_clause", [first, last], [])
    every = [start for own in starts for start in own]
    return text.solved(every, "smallest", "indomain_min", "minimize makespan")


def knapsack(random: Random, items: int, sides: int) -> str:
    """The most valuable choice of items under several weights."""
    text = Text()
    taken = [text.variable(f"taken{i}", "0..1", shown=True) for i in range(items)]
    values = [random.randint(10, 100) for _ in range(items)]
    for _ in range(sides):
        weights = [random.randint(5, 60) for _ in range(items)]
        text.bounded(list(zip(weights, taken)), sum(weights) // 2)
    value = text.variable("value", f"0..{sum(values)}", shown=True)
    text.state("int_lin_eq", [*values, -1], [*taken, value], 0)
    return text.solved(taken, "input_order", "indomain_max", "maximize value")


def _colouring(random: Random, nodes: int, edges: int) -> str:
    """The fewest colours of a random graph, of which neighbours have different ones."""
    text, most = Text(), 20
    colours = [text.variable(f"colour{i}", f"1..{most}", shown=True) for i in range(nodes)]
    used = text.variable("used", f"1..{most}", shown=True)
    pairs = [(i, j) for i in range(nodes) for j in range(i)]
    for i, j in sorted(random.sample(pairs, edges)):
        text.state("int_ne", colours[i], colours[j])
    for colour in colours:
        text.state("int_le", colour, used)
    return text.solved(colours, "first_fail", "indomain_min", "minimize used")


def remainders(random: Random, variables: int) -> str:
    """The least numbers whose products in a ring have given remainders."""
    text = Text()
    names = [text.variable(f"x{i}", "1..60", shown=True) for i in range(variables)]
    secret = [random.randint(1, 60) for _ in range(variables)]
    for i in range(variables):
        one, other = i, (i + 1) % variables
        product = text.variable(f"product{i}", "1..3600")
        text.state("int_times", names[one], names[other], product)
        modulus = random.randint(7, 23)
        text.state("int_mod", product, modulus, secret[one] * secret[other] % modulus)
    total = text.variable("total", f"0..{60 * variables}", shown=True)
    text.state("int_lin_eq", [*[1] * variables, -1], [*names, total], 0)
    return text.solved(names, "first_fail", "indomain_split", "minimize total")


KINDS: dict[str, Callable[[Random], str]] = {
    "rcpsp30": lambda random: project(random, 30),
    "rcpsp60": lambda random: project(random, 60),
    "job_shop6x6": lambda random: job_shop(random, 6, 6),
    "job_shop10x5": lambda random: job_shop(random, 10, 5),
    "knapsack40": lambda random: knapsack(random, 40, 5),
    "colouring60": lambda random: _colouring(random, 60, 700),
    "remainders9": lambda random: remainders(random, 9),
}


def write_all(folder: Path, seed: int) -> list[Path]:
    """An instance of each kind."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for name, make in KINDS.items():
        path = folder / f"{name}_{seed}.fzn"
        path.write_text(make(Random(f"{name}/{seed}")), encoding="utf-8")
        written.append(path)
    return written


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    for path in write_all(arguments.folder, arguments.seed):
        print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
