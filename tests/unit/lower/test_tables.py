"""Tables: every form has the rows as its solutions, keeps the supports that it is to keep, and costs what it may."""

from __future__ import annotations

from itertools import combinations, product
from random import Random

import pytest

from support.table_models import KINDS, Row, expected, model_text, solutions
from turbo_fzn.base.domains import IntSet
from turbo_fzn.engine import root
from turbo_fzn.lower.rewrite import lower
from turbo_fzn.lower.tuning import TUNING
from turbo_fzn.read.flatzinc import parse_text
from turbo_fzn.read.model import Model

VALUES = (-2, 0, 1, 3, 4)
WEAK, STRONG = 0, TUNING.table_rows


def draw(random: Random) -> tuple[list[list[int]], set[Row], list[tuple[str, list[int]]]]:
    """Some constraints over one table, which has few rows, many, or nearly all."""
    width = random.randint(1, 4)
    n = random.randint(width, 4)
    values = [sorted(random.sample(VALUES, random.randint(2, 5))) for _ in range(n)]
    if random.random() < 0.5:
        values = [list(VALUES[:4])] * n
    possible = list(product(VALUES, repeat=width))
    rows = set(random.sample(possible, int(len(possible) * random.choice((0.1, 0.3, 0.6, 0.9)))))
    if width > 1 and random.random() < 0.2:  # a function
        rows = {(*row[:-1], sum(row) % 3 + 1) for row in rows}
    kinds = [random.choice(list(KINDS)) for _ in range(random.randint(1, 3))]
    pick = random.choices if random.random() < 0.2 else random.sample
    return values, rows, [(kind, pick(range(n), k=width)) for kind in kinds]


@pytest.mark.parametrize("limit", [STRONG, WEAK, 150])
@pytest.mark.parametrize("seed", range(25))
def test_constraints_over_one_table_have_its_rows_as_solutions(monkeypatch, seed, limit):
    """By truth values, without any, and where they are enough for some of the constraints."""
    monkeypatch.setattr(TUNING, "table_rows", limit)
    monkeypatch.setattr(TUNING, "few_cells", 0)
    case = draw(Random(seed))
    assert solutions(model_text(*case)) == expected(*case)


# Strength


def rows_of(kind: str) -> set[Row]:
    """Tables over 0..4 that take each form of table_forms.py."""
    random = Random(kind)
    cells = {"pairs": 2, "function": 2, "heads": 3, "rows": 3, "full": 2}[kind]
    every = list(product(range(5), repeat=cells))
    return {
        "pairs": lambda: set(random.sample(every, 11)),
        "function": lambda: {(i, i * i % 3) for i in range(5)},
        "heads": lambda: {row for row in every if (row[0] * 3 + row[1] * row[1] + row[2]) % 5 in (0, 1, 3)},
        "rows": lambda: {(i % 5, i * i % 5, (i * 7 + i // 5) % 5) for i in range(9)},
        "full": lambda: set(every) - set(random.sample(every, 4)),
    }[kind]()


def supported(rows: set[Row], left: list[set[int]]) -> list[set[int]] | None:
    """The values that some row has all of whose values are left."""
    alive = [row for row in rows if all(value in values for value, values in zip(row, left))]
    return [set(column) for column in zip(*alive)] if alive else None


@pytest.mark.parametrize("limit", [TUNING.table_rows_alone, 0])
@pytest.mark.parametrize("kind", ["pairs", "function", "heads", "rows", "full"])
def test_a_value_without_a_row_is_lost_at_once(monkeypatch, kind, limit):
    """Whatever values are removed, also by a diagram: by conflicts only where the table is nearly full, which is
    weaker."""
    monkeypatch.setattr(TUNING, "table_rows_alone", limit)
    rows = rows_of(kind)
    width = len(next(iter(rows)))
    random = Random(kind)
    for _ in range(30):
        left = [set(random.sample(range(5), random.randint(2, 4))) for _ in range(width)]
        bounds = root_bounds(rows, left)
        wanted = supported(rows, left)
        if wanted is None:
            assert bounds is None
            continue
        hull = [(min(values), max(values)) for values in wanted]
        assert bounds == hull or kind == "full"


def root_bounds(rows: set[Row], left: list[set[int]]) -> list[tuple[int, int]] | None:
    """The bounds at the root of the variables over 0..4 of one table, when the truths of x = v that all constraints
    share say that just these values are left."""
    width = len(left)
    text = model_text([list(range(5))] * width, rows, [("rows", list(range(width)))])
    truths = {f"e{i}_{value}": (i, value) for i in range(width) for value in range(5)}
    declared = "".join(f"var bool: {name};\n" for name in truths)
    defined = "".join(f"constraint int_eq_reif(x{i}, {value}, {name});\n" for name, (i, value) in truths.items())
    before, constraints = text.split("constraint", 1)
    lowered = lower(parse_text(f"{before}{declared}{defined}constraint{constraints}"))
    lower_bounds, upper_bounds = lowered.tnf.lower.copy(), lowered.tnf.upper.copy()
    upper_bounds[[lowered.origin[name] for name, (i, value) in truths.items() if value not in left[i]]] = 0
    if (lower_bounds > upper_bounds).any():
        return None
    outcome = root.Propagator(lowered.tnf)(lower_bounds, upper_bounds)
    x = [lowered.origin[f"x{i}"] for i in range(width)]
    return None if outcome is None else [(int(outcome[0][v]), int(outcome[1][v])) for v in x]


# Size


def shared(members: list[Row], rows: list[Row], kind: str, names: int = 1) -> Model:
    """Variables over 0..19, of which these have one table, under so many names."""
    cells, reified = ", ".join(str(value) for row in rows for value in row), kind == "no rows"
    size = len(rows) * len(rows[0])
    lines = [f"array [1..{size}] of int: t{name} = [{cells}];" for name in range(names)]
    lines += [f"var 0..19: x{i};" for i in sorted({i for some in members for i in some})]
    for number, some in enumerate(members):
        x = ", ".join(f"x{i}" for i in some)
        predicate, end = ("turbo_table_int_reif", ", false") if reified else ("turbo_table_int", "")
        lines.append(f"constraint {predicate}([{x}], {len(rows)}, t{number % names}{end});")
    return parse_text("\n".join([*lines, "solve satisfy;"]))


def neighbours(n: int) -> list[Row]:
    return [(i, i + 1, i + 2) for i in range(n)]


def random_rows(width: int, n: int) -> list[Row]:
    random = Random(n)
    return sorted({tuple(random.randrange(20) for _ in range(width)) for _ in range(n)})


@pytest.mark.parametrize("kind", ["rows", "no rows"])
def test_tables_of_many_constraints_have_no_more_truth_values_than_all_may_have(monkeypatch, kind):
    """100 constraints over 2,000 rows: a truth for each row of each constraint would be 200,000, in five times as many
    rows. The others share three arrays of 2,000 values, or one."""
    assert TUNING.table_rows <= 2**20
    monkeypatch.setattr(TUNING, "table_rows", 2**16)
    tnf = lower(shared(neighbours(100), random_rows(3, 2000), kind)).tnf
    assert 2**15 < tnf.n_rows < 2**16 + 50 * 100
    assert len(tnf.tables) < 10_000


def test_constraints_with_domains_of_their_own_share_the_limit(monkeypatch):
    monkeypatch.setattr(TUNING, "table_rows", 2**14)
    model = shared(neighbours(40), random_rows(3, 1000), "rows")
    for i, variable in enumerate(model.variables.values()):
        variable.domain = IntSet.interval(0, 19 - i % 7)
    assert lower(model).tnf.n_rows < 2**14 + 100 * 40


@pytest.mark.parametrize("kind", ["rows", "no rows"])
def test_a_further_constraint_on_variables_of_a_table_has_a_row_for_each_value(kind):
    """However many rows the table has, since the disjunctions of values are there already."""
    some, more = [(0, 1), (1, 2), (2, 3)], [(0, 2), (0, 3), (1, 3)]
    rows = random_rows(2, 150)
    one, both = (lower(shared(members, rows, kind)).tnf.n_rows for members in (some, some + more))
    assert both - one <= len(more) * 2 * 20


def test_tables_with_the_same_rows_are_one_table():
    """They share the disjunctions of a variable's values."""
    members, rows = list(combinations(range(5), 2)), random_rows(2, 150)
    alone, named = (lower(shared(members, rows, "rows", names)).tnf for names in (1, 3))
    assert named.n_rows == alone.n_rows
    assert len(named.lower) == len(alone.lower)


# Tables of intervals


def interval_text(low: list[Row], high: list[Row], members: list[Row], values: str) -> str:
    """FlatZinc: variables over these values, of which the members lie within some row."""
    lines = []
    for name, side in (("low", low), ("high", high)):
        cells = [cell for row in side for cell in row]
        lines.append(f"array [1..{len(cells)}] of int: {name} = {cells};")
    lines += [f"var {values}: x{i} :: output_var;" for i in sorted({i for some in members for i in some})]
    for some in members:
        x = ", ".join(f"x{i}" for i in some)
        lines.append(f"constraint turbo_table_interval([{x}], {len(low)}, low, high);")
    return "\n".join([*lines, "solve satisfy;"])


def draw_boxes(random: Random, n: int, width: int, most: int) -> tuple[list[Row], list[Row]]:
    """The least and the greatest corners of some boxes."""
    pairs = [[sorted(random.choices(range(most), k=2)) for _ in range(width)] for _ in range(n)]
    return [tuple(low for low, _ in row) for row in pairs], [tuple(high for _, high in row) for row in pairs]


@pytest.mark.parametrize("limit", [STRONG, WEAK])
@pytest.mark.parametrize("seed", range(8))
def test_constraints_over_one_table_of_intervals_have_what_lies_within_a_row_as_solutions(monkeypatch, seed, limit):
    monkeypatch.setattr(TUNING, "table_rows", limit)
    low, high = draw_boxes(Random(seed), 5, 2, 7)
    members = [(0, 1), (1, 2), (2, 0)]

    def is_within(x: Row, some: Row) -> bool:
        return any(all(p <= x[i] <= q for i, p, q in zip(some, *row)) for row in zip(low, high))

    wanted = [x for x in product(range(6), repeat=3) if all(is_within(x, some) for some in members)]
    assert solutions(interval_text(low, high, members, "0..5")) == wanted


def test_tables_of_intervals_have_no_more_truth_values_than_all_may_have(monkeypatch):
    monkeypatch.setattr(TUNING, "table_rows", 2**14)
    low, high = draw_boxes(Random(1), 200, 3, 20)
    tnf = lower(parse_text(interval_text(low, high, neighbours(40), "0..19"))).tnf
    assert 2**12 < tnf.n_rows < 2**14 + 50 * 40
    assert len(tnf.tables) < 6 * 200 + 100
