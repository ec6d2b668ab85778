"""Our own models in PyCSP3, of which the instances beside this file were compiled.

    python tests/data/xcsp3/models.py             # writes them all again (pip install pycsp3)
    python tests/tools/xcsp3_ace.py tests/data/xcsp3/*.xml   # their status and optimum by ACE, for expected.json

A model is a function that says its variables and constraints; together they have every constraint of
docs/guide/xcsp3.md that PyCSP3 writes.
"""

# ruff: noqa: F403, F405
import sys
from collections.abc import Callable
from itertools import combinations
from pathlib import Path

from pycsp3 import *

HERE = Path(__file__).resolve().parent
MODELS: dict[str, Callable[[], None]] = {}


def model(function: Callable[[], None]) -> Callable[[], None]:
    MODELS[function.__name__] = function
    return function


# Puzzles


@model
def queens() -> None:
    q = VarArray(size=10, dom=range(10))
    satisfy(AllDifferent(q), AllDifferent(q[i] + i for i in range(10)), AllDifferent(q[i] - i for i in range(10)))


@model
def queens_by_pairs() -> None:
    q = VarArray(size=8, dom=range(8))
    satisfy((q[i] != q[j]) & (abs(q[i] - q[j]) != j - i) for i, j in combinations(range(8), 2))


@model
def send_more_money() -> None:
    letters = s, e, n, d, m, o, r, y = VarArray(size=8, dom=range(10))
    satisfy(
        AllDifferent(letters),
        s > 0,
        m > 0,
        Sum([s, e, n, d, m, o, r, e] * [1000, 100, 10, 1, 1000, 100, 10, 1])
        == Sum([m, o, n, e, y] * [10000, 1000, 100, 10, 1]),
    )


@model
def magic_square() -> None:
    x = VarArray(size=[3, 3], dom=range(1, 10))
    satisfy(
        AllDifferent(x),
        [Sum(row) == 15 for row in x],
        [Sum(column) == 15 for column in columns(x)],
        Sum(diagonal_down(x)) == 15,
        Sum(diagonal_up(x)) == 15,
        x[0][0] < x[0][2],
        x[0][0] < x[2][0],
    )


@model
def sudoku() -> None:
    given = {(0, 0): 1, (0, 3): 4, (1, 2): 2, (2, 1): 3, (3, 3): 1}
    x = VarArray(size=[4, 4], dom=range(1, 5))
    satisfy(
        AllDifferent(x, matrix=True),
        [AllDifferent(x[i : i + 2, j : j + 2]) for i in (0, 2) for j in (0, 2)],
        [x[i][j] == v for (i, j), v in given.items() if (i, j) in ((0, 0), (1, 2))],
    )


@model
def latin_square_lex() -> None:
    x = VarArray(size=[4, 4], dom=range(4))
    satisfy(AllDifferent(x, matrix=True), LexIncreasing(x, matrix=True, strict=True))


@model
def magic_sequence() -> None:
    x = VarArray(size=8, dom=range(8))
    satisfy(Cardinality(x, occurrences={i: x[i] for i in range(8)}), Sum(i * x[i] for i in range(8)) == 8)


@model
def all_interval() -> None:
    x = VarArray(size=9, dom=range(9))
    d = VarArray(size=8, dom=range(1, 9))
    satisfy(AllDifferent(x), AllDifferent(d), [d[i] == abs(x[i] - x[i + 1]) for i in range(8)], x[0] < x[-1])


@model
def pigeons() -> None:
    x = VarArray(size=6, dom=range(5))
    satisfy(x[i] != x[j] for i, j in combinations(range(6), 2))


@model
def zebra() -> None:
    nation = VarArray(size=4, dom=range(4))
    colour = VarArray(size=4, dom=range(4))
    drink = VarArray(size=4, dom=range(4))
    satisfy(
        AllDifferent(nation),
        AllDifferent(colour),
        AllDifferent(drink),
        nation[0] == colour[1],
        nation[1] == 0,
        abs(nation[1] - colour[2]) == 1,
        drink[0] == colour[3],
        (drink[1] == nation[2]) | (drink[2] == nation[3]),
    )


# Graphs and routes


@model
def colouring() -> None:
    edges = [(0, 1), (0, 2), (1, 2), (1, 3), (2, 4), (3, 4), (3, 5), (4, 5), (0, 5), (2, 5)]
    x = VarArray(size=6, dom=range(6))
    satisfy(x[i] != x[j] for i, j in edges)
    minimize(Maximum(x))


@model
def colouring_by_values() -> None:
    edges = [(0, 1), (0, 2), (1, 2), (1, 3), (2, 4), (3, 4), (3, 5), (4, 5), (0, 5)]
    x = VarArray(size=6, dom=range(4))
    satisfy([x[i] != x[j] for i, j in edges], Precedence(x))
    minimize(NValues(x))


@model
def travelling() -> None:
    distance = [[abs(3 * i - 7 * j) % 11 + (i + j) % 5 for j in range(7)] for i in range(7)]
    x = VarArray(size=7, dom=range(7))
    d = VarArray(size=7, dom=range(20))
    satisfy(Circuit(x), [x[i] != i for i in range(7)], [cp_array(distance[i])[x[i]] == d[i] for i in range(7)])
    minimize(Sum(d))


@model
def prize_tour() -> None:
    prizes = [4, 9, 2, 7, 5, 3]
    x = VarArray(size=6, dom=range(6))
    on = VarArray(size=6, dom={0, 1})
    satisfy(Circuit(x), [on[i] == (x[i] != i) for i in range(6)], Sum(on) <= 4)
    maximize(Sum(on * prizes))


@model
def matching() -> None:
    men = VarArray(size=5, dom=range(5))
    women = VarArray(size=5, dom=range(5))
    liking = [[(2 * i + 3 * j) % 5 for j in range(5)] for i in range(5)]
    joy = VarArray(size=5, dom=range(5))
    satisfy(Channel(men, women), [cp_array(liking[i])[men[i]] == joy[i] for i in range(5)])
    maximize(Minimum(joy))


@model
def golomb() -> None:
    x = VarArray(size=5, dom=range(13))
    satisfy(x[0] == 0, Increasing(x, strict=True), AllDifferent(abs(x[i] - x[j]) for i, j in combinations(range(5), 2)))
    minimize(x[4])


# Tables and automata

WORDS = ("cat", "cot", "tan", "toe", "ant", "one", "nap", "ten", "ace")


@model
def crossword() -> None:
    words = [tuple(ord(c) - 97 for c in word) for word in WORDS]
    x = VarArray(size=[3, 3], dom=range(26))
    satisfy([row in words for row in x], [column in words + [(0, 0, 4)] for column in columns(x)])


@model
def short_tables() -> None:
    x = VarArray(size=[3, 4], dom=range(4))
    rows = [(0, ANY, ANY, 3), (1, 2, ANY, 0), (ANY, ANY, 1, 1), (2, 3, 3, ANY)]
    satisfy([row in rows for row in x], [column not in [(0, 0, 0), (1, 1, 1), (2, 2, 2)] for column in columns(x)])
    maximize(Sum(x))


@model
def conflicts() -> None:
    x = VarArray(size=6, dom=range(3))
    satisfy((x[i], x[i + 1]) not in [(0, 0), (1, 2), (2, 1)] for i in range(5))
    minimize(Sum(x[i] * (i + 1) for i in range(6)))


@model
def shifts() -> None:
    steps = [("a", 0, "a"), ("a", 1, "b"), ("b", 1, "c"), ("c", 0, "a"), ("b", 2, "c"), ("c", 2, "c")]
    automaton = Automaton(start="a", transitions=steps, final=["a", "c"])
    x = VarArray(size=[3, 6], dom=range(3))
    satisfy([row in automaton for row in x], [Count(column, value=0) == 1 for column in columns(x)])
    maximize(Sum(x[i][j] * (i + j) for i in range(3) for j in range(6)))


@model
def diagram() -> None:
    steps = [("r", 0, "a"), ("r", 1, "b"), ("a", 1, "c"), ("a", 2, "d"), ("b", 0, "d"), ("c", 0, "t"), ("d", 2, "t")]
    steps.append(("d", 1, "t"))
    x = VarArray(size=5, dom=range(3))
    satisfy(x[:3] in MDD(steps), x[2:] in MDD(steps))
    maximize(Sum(x * [1, 5, 2, 4, 3]))


# Counting


@model
def rota() -> None:
    x = VarArray(size=[4, 5], dom=range(3))
    satisfy(
        [Cardinality(column, occurrences={0: range(1, 3), 1: 1, 2: range(3)}, closed=True) for column in columns(x)],
        [Count(row, value=1) <= 2 for row in x],
        [NValues(row) == 3 for row in x],
    )
    minimize(Sum(x[i][j] * ((i * j + i) % 4) for i in range(4) for j in range(5)))


@model
def different_but_for_zero() -> None:
    x = VarArray(size=6, dom=range(4))
    satisfy(AllDifferent(x, excepting=0), Count(x, value=0) <= 3, Increasing(x))


@model
def equal_loads() -> None:
    x = VarArray(size=6, dom=range(3))
    load = VarArray(size=3, dom=range(30))
    satisfy(BinPacking(x, sizes=[7, 5, 4, 3, 6, 2], loads=load), AllEqual(load))


@model
def shelves() -> None:
    x = VarArray(size=7, dom=range(4))
    satisfy(BinPacking(x, sizes=[5, 4, 4, 3, 3, 2, 2]) <= 8)
    minimize(Maximum(x))


@model
def shelves_of_sizes() -> None:
    x = VarArray(size=6, dom=range(3))
    satisfy(BinPacking(x, sizes=[5, 4, 4, 3, 3, 2], limits=[9, 8, 6]), Precedence(x[:3], values=[0, 1, 2]))


@model
def picnic() -> None:
    x = VarArray(size=6, dom=range(3))
    satisfy(Knapsack(x, weights=[3, 4, 5, 9, 4, 2], wlimit=17, profits=[3, 4, 4, 10, 4, 1]) >= 15)
    maximize(Sum(x * [3, 4, 4, 10, 4, 1]))


@model
def budgets() -> None:
    x = VarArray(size=4, dom=range(5))
    price = VarArray(size=4, dom=range(1, 4))
    satisfy(Sum(x * price) <= 14, AllDifferent(x), Sum(price) in {7, 9})
    maximize(Sum(x[i] * price[i] * (i + 1) for i in range(4)))


# Time and space


@model
def workshop() -> None:
    s = VarArray(size=6, dom=range(20))
    lengths, heights = [3, 4, 2, 5, 3, 1], [2, 1, 3, 2, 1, 3]
    tasks = [Task(origin=s[i], length=lengths[i], height=heights[i]) for i in range(6)]
    satisfy(Cumulative(tasks=tasks) <= 3, s[0] + 3 <= s[3])
    minimize(Maximum(s[i] + lengths[i] for i in range(6)))


@model
def flexible_tasks() -> None:
    s = VarArray(size=4, dom=range(9))
    d = VarArray(size=4, dom=range(1, 4))
    satisfy(Cumulative(origins=s, lengths=d, heights=[2, 2, 1, 1]) <= 3, Sum(d) == 9, s[1] > s[0])
    minimize(Maximum(s[i] + d[i] for i in range(4)))


@model
def job_shop() -> None:
    machines = [[0, 1, 2], [1, 2, 0], [2, 0, 1]]
    lengths = [[3, 2, 2], [2, 4, 1], [4, 3, 2]]
    s = VarArray(size=[3, 3], dom=range(25))
    satisfy(
        [s[j][k] + lengths[j][k] <= s[j][k + 1] for j in range(3) for k in range(2)],
        [
            NoOverlap(
                origins=[s[j][machines[j].index(m)] for j in range(3)],
                lengths=[lengths[j][machines[j].index(m)] for j in range(3)],
            )
            for m in range(3)
        ],
    )
    minimize(Maximum(s[j][2] + lengths[j][2] for j in range(3)))


@model
def squares() -> None:
    sizes = [3, 2, 2, 1, 1]
    x = VarArray(size=5, dom=range(5))
    y = VarArray(size=5, dom=range(4))
    satisfy(
        NoOverlap(origins=[(x[i], y[i]) for i in range(5)], lengths=[(k, k) for k in sizes]),
        [(x[i] + sizes[i] <= 5) & (y[i] + sizes[i] <= 4) for i in range(5)],
        LexIncreasing([x[1], y[1]], [x[2], y[2]]),
    )


# Expressions and objectives


@model
def taxicab() -> None:
    a, b, c, d = VarArray(size=4, dom=range(1, 13))
    satisfy(a**3 + b**3 == c**3 + d**3, a < b, c < d, a < c)


@model
def remainders() -> None:
    n = Var(dom=range(1, 400))
    satisfy(n % 3 == 2, n % 5 == 3, n % 7 == 2, n // 10 != 2)
    minimize(n)


@model
def logic() -> None:
    b = VarArray(size=5, dom={0, 1})
    k = Var(dom=range(10))
    satisfy(
        b[0] == (k > 3), imply(b[1], k < 6), iff(b[2], b[0] & ~b[1]), xor(b[3], b[4]), b[1] | b[3], k == ift(b[3], 5, 2)
    )
    maximize(Sum(b) + k)


@model
def places() -> None:
    x = VarArray(size=6, dom=range(8))
    i = Var(dom=range(6))
    satisfy(AllDifferent(x), x[i] == Maximum(x), Minimum(x) >= 1, x[0] > x[1], Sum(x) <= 25, i > 2)
    maximize(x[0] * 3 - x[i])


@model
def matrix_places() -> None:
    m = [[(3 * i + 5 * j) % 7 for j in range(5)] for i in range(5)]
    r = Var(dom=range(5))
    c = Var(dom=range(5))
    v = Var(dom=range(7))
    satisfy(cp_array(m)[r, c] == v, r < c, v > 2)
    minimize(r + c - v)


@model
def product_of_three() -> None:
    x = VarArray(size=3, dom=range(1, 10))
    satisfy(Sum(x) == 17, x[0] <= x[1], x[1] <= x[2])
    maximize(Product(x))


@model
def neighbours() -> None:
    x = VarArray(size=12, dom=range(4))
    satisfy(Slide(x[i] + x[i + 1] + x[i + 2] <= 5 for i in range(10)), [x[i] != x[i + 1] for i in range(11)])
    maximize(Sum(x))


@model
def no_way() -> None:
    x = VarArray(size=4, dom=range(6))
    satisfy(AllDifferent(x), Sum(x) == 14, Maximum(x) <= 4)
    minimize(x[0])


def main(names: list[str]) -> None:
    for name in names or MODELS:
        clear()
        MODELS[name]()
        compile(str(HERE / f"{name}.xml"))


if __name__ == "__main__":
    main(sys.argv[1:])
