"""Random models with interchangeable parts: variables, blocks of variables, two families of them, matrices, pigeons.

Each is small enough for an oracle that enumerates; some have an objective that the symmetries keep, or one that they
do not.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from support.flatzinc_text import make_model
from turbo_fzn.base.domains import BOOLEAN, IntSet
from turbo_fzn.read.model import Goal, Model, Ref

Block = list[Ref]
MOST = 4000  # assignments of the variables that nothing defines


class _Drawn:
    """A model that is being drawn. `free`: how many assignments there are, but for variables that others define."""

    def __init__(self, random: Random):
        self.random = random
        self.domains: dict[str, IntSet | None] = {}
        self.constraints: list[tuple] = []
        self.priced: list[Block] = []  # variables of which an objective may have the sum
        self.free = 1

    def variable(self, name: str, low: int, high: int, is_free: bool = True) -> Ref:
        self.domains[name] = IntSet.interval(low, high)
        self.free *= high - low + 1 if is_free else 1
        return Ref(name)

    def truth(self, name: str) -> Ref:
        self.domains[name] = BOOLEAN
        return Ref(name)

    def add(self, name: str, *arguments: object) -> None:
        self.constraints.append((name, *arguments))

    # ---- blocks

    def family(self, name: str) -> None:
        """Blocks that are alike, and constraints of all of them that do not tell them apart."""
        random = self.random
        n_free, low = random.choice((1, 1, 2)), random.choice((0, 0, 1, -2))
        size = random.choice((2, 3, 4)) if n_free == 1 else 2
        most = max(n for n in (2, 3, 4, 5) if n == 2 or size ** (n * n_free) * self.free <= MOST)
        make, factor = random.choice(DEFINED), random.choice((1, 2, 3))
        values = [random.randint(-2, 5) for _ in range(size + 2)]
        blocks = []
        for number in range(random.choice((most, most, max(most - 1, 2)))):
            own = [self.variable(f"{name}{number}_{place}", low, low + size - 1) for place in range(n_free)]
            blocks.append(own + make(self, f"{name}{number}", own, (factor, low, values)))
        columns = [list(column) for column in zip(*blocks)]
        for column in columns[:n_free]:
            self.join(column, low, size)
        self.priced += columns[:n_free]

    def join(self, column: Block, low: int, size: int) -> None:
        """What a column of the blocks has to satisfy: it may be impossible."""
        random, n = self.random, len(column)
        kind = random.randrange(5)
        if kind == 0:
            for place, one in enumerate(column):
                for other in column[:place]:
                    self.add("int_ne", one, other)
        elif kind <= 2:
            middle = n * (2 * low + size - 1) // 2
            name = random.choice(("int_lin_le", "int_lin_eq", "int_lin_ne"))
            self.add(name, [random.choice((1, 1, 3))] * n, column, middle + random.choice((-1, 0, 1)))
            if random.random() < 0.5:
                truth = self.truth(f"t{column[0]}")
                form = random.choice(("int_lin_le_reif", "int_lin_eq_reif"))
                self.add(form, [1] * n, column, middle + random.choice((0, 1)), truth)
        elif kind == 3:
            self.add("int_lin_le", [-1] * n, column, -low * n - random.choice((1, 2)))
        else:
            end = self.variable(f"m{column[0]}", low, low + size - 1, is_free=False)
            self.add(random.choice(("array_int_minimum", "array_int_maximum")), end, column)

    # ---- matrices

    def matrix(self) -> None:
        """Truths whose rows count alike, and so do the columns."""
        random = self.random
        n_rows, n_columns = random.choice(((2, 3), (3, 3), (3, 4), (4, 2), (4, 3), (5, 2)))
        grid = [[self.variable(f"g{i}_{j}", 0, 1) for j in range(n_columns)] for i in range(n_rows)]
        for lines in (grid, list(zip(*grid))):
            name, most = random.choice(("int_lin_le", "int_lin_eq", "int_lin_le")), random.choice((1, 1, 2))
            sign = random.choice((1, 1, -1)) if name == "int_lin_le" else 1
            for line in lines:
                self.add(name, [sign] * len(line), list(line), sign * most)
        self.priced.append([cell for row in grid for cell in row])

    # ---- the whole

    def goal(self) -> Goal:
        random = self.random
        if random.random() < 0.3:
            return Goal("satisfy", None, [], 0)
        terms = [name for column in self.priced for name in column]
        factors = [random.choice((1, 1, 2)) for _ in self.priced]
        prices = [factor for factor, column in zip(factors, self.priced) for _ in column]
        if random.random() < 0.15:
            prices[0] += 1  # which one of them is dearer
        ends = [sum(price * end for price, end in zip(prices, map(bound, terms))) for bound in (self.low, self.high)]
        total = self.variable("total", *ends, is_free=False)
        self.add("int_lin_eq", [*prices, -1], [*terms, total], 0)
        return Goal(random.choice(("minimize", "maximize")), total, [], 0)

    def low(self, name: str) -> int:
        return self.domains[name].lower  # type: ignore[union-attr]

    def high(self, name: str) -> int:
        return self.domains[name].upper  # type: ignore[union-attr]


# ---- what a block has beside its first variables

Constants = tuple[int, int, list[int]]  # a factor, the least value, a table


def nothing(drawn: _Drawn, name: str, own: Block, constants: Constants) -> Block:
    return []


def element(drawn: _Drawn, name: str, own: Block, constants: Constants) -> Block:
    _, low, values = constants
    cost = drawn.variable(f"{name}c", -9, 9, False)
    place = drawn.variable(f"{name}p", 1, len(values), False)
    drawn.add("int_lin_eq", [1, -1], [own[0], place], low - 1)
    drawn.add("array_int_element", place, values, cost)
    return [place, cost]


def product(drawn: _Drawn, name: str, own: Block, constants: Constants) -> Block:
    area = drawn.variable(f"{name}a", -40, 40, False)
    drawn.add("int_times", own[0], own[-1], area)
    drawn.add("int_le", area, 6)
    return [area]


def extremes(drawn: _Drawn, name: str, own: Block, constants: Constants) -> Block:
    factor, low, _ = constants
    top, least = (drawn.variable(f"{name}{end}", -9, 9, False) for end in "tb")
    drawn.add("int_max", own[0], factor, top)
    drawn.add("int_min", own[-1], low + 1, least)
    drawn.add("int_lin_le", [1, 1], [top, least], 2 * low + 6)
    return [top, least]


def compared(drawn: _Drawn, name: str, own: Block, constants: Constants) -> Block:
    factor, low, _ = constants
    truth, other = drawn.truth(f"{name}t"), drawn.truth(f"{name}u")
    drawn.add("int_le_reif", own[0], low + 1, truth)
    drawn.add(*(("int_eq_reif", *own) if len(own) == 2 else ("int_eq_reif", own[0], low + factor)), other)
    drawn.add("bool_clause", [truth, other], [])
    return [truth, other]


DEFINED: tuple[Callable[[_Drawn, str, Block, Constants], Block], ...] = (nothing, element, product, extremes, compared)


def draw_blocks(random: Random) -> Model:
    """A model of one family or two, or a matrix, or both."""
    drawn = _Drawn(random)
    kind = random.randrange(8)
    if kind >= 6:
        drawn.matrix()
    if kind < 7:
        drawn.family("a")
    if kind in (0, 1):
        drawn.family("b")
    return make_model(drawn.domains, drawn.constraints, drawn.goal())


def pigeons(n: int) -> Model:
    """n + 1 pigeons, each in one of n holes, which have room for one."""
    grid = [[Ref(f"x{i}_{j}") for j in range(n)] for i in range(n + 1)]
    rows = [("int_lin_eq", [1] * n, row, 1) for row in grid]
    columns = [("int_lin_le", [1] * (n + 1), list(column), 1) for column in zip(*grid)]
    return make_model({name: IntSet.interval(0, 1) for row in grid for name in row}, [*rows, *columns])
