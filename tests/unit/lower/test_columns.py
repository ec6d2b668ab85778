"""Lowering in columns makes what one constraint at a time makes: the same variables, rows and numbers."""

import io
import random
from collections.abc import Iterator

import pytest

from lab.bench.xcsp3 import write_instance
from support.places import CORPUS, DATA
from support.quick import few_or
from turbo_fzn.base.errors import TurboError
from turbo_fzn.lower import early, runs
from turbo_fzn.lower.rewrite import Lowered, lower
from turbo_fzn.lower.tuning import TUNING
from turbo_fzn.predicates.globals import ALL_DIFFERENT
from turbo_fzn.read.flatzinc import parse_text
from turbo_fzn.read.languages import parse_file
from turbo_fzn.read.model import Constraint, Expression, Model, Ref
from turbo_fzn.tnf.text import write

INSTANCES = DATA / "xcsp3"
FILES = [*sorted(CORPUS.glob("*.fzn")), *sorted(INSTANCES.glob("*.xml"))]
NEVER = 10**9


class Counter:
    """How many places were lowered together."""

    def __init__(self, monkeypatch):
        self.monkeypatch, self.places = monkeypatch, 0
        lower_columns = runs.Runs.lower_columns

        def count(some, form, run):
            n = lower_columns(some, form, run)
            self.places += n
            return n

        monkeypatch.setattr(runs.Runs, "lower_columns", count)

    def lower(self, model: Model, least: int, first: int = 4) -> Lowered:
        for name, value in (("columns_least", least), ("columns_first", first), ("columns_patience", 1)):
            self.monkeypatch.setattr(TUNING, name, value)
        return lower(model)


def told(lowered: Lowered) -> tuple:
    text = io.StringIO()
    write(lowered.tnf, text)
    return text.getvalue(), lowered.origin


@pytest.fixture
def both_ways(monkeypatch):
    return Counter(monkeypatch)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_model_is_lowered_alike_in_columns(path, both_ways):
    model = parse_file(str(path))
    alone = told(both_ways.lower(model, NEVER))
    for first in (1, 4, 1000):
        assert told(both_ways.lower(model, 1, first)) == alone


@pytest.mark.parametrize(("name", "share"), [("group", 0.5), ("slide", 0.9), ("all different", 0.9)])
def test_large_groups_are_lowered_in_columns(tmp_path, both_ways, name, share):
    path = tmp_path / "model.xml"
    write_instance(path, name, 0.05)
    model = parse_file(str(path))
    alone = told(both_ways.lower(model, NEVER))
    both_ways.places = 0
    assert told(both_ways.lower(model, 32, 256)) == alone
    assert both_ways.places >= share * len(model.constraints)


OPERATORS = ("add", "sub", "dist", "min", "max", "mul", "eq", "le", "ge", "lt", "and", "or", "imp")
OUTERMOST = ("ne", "ne", "ne", "or", "or", "or", "imp", "le", "eq")
DOMAINS = ("0..1", "0..1", "0..9", "-5..5", "-5..5", "3..12", "0..20", "{1,4,6}", "2..2", "int")


def draw_shape(rng: random.Random, depth: int) -> list:
    """The code of an expression over three operands; its integers are put in later."""
    if depth == 0 or rng.random() < 0.2:
        return [("arg", rng.randrange(3))] if rng.random() < 0.8 else [("int", 0)]
    if rng.random() < 0.2:
        return [*draw_shape(rng, depth - 1), (rng.choice(("neg", "abs")), 1)]
    return [*draw_shape(rng, depth - 1), *draw_shape(rng, depth - 1), (rng.choice(OPERATORS), 2)]


def draw_run(rng: random.Random, integers: list, booleans: list) -> Iterator[Constraint]:
    shape = [*draw_shape(rng, 2), *draw_shape(rng, 2), (rng.choice(OUTERMOST), 2)]
    name = rng.choice([*(name for name in runs.COMPARISONS if name.endswith("reif")), "int_ne", *[runs.EXPRESSION] * 9])
    name = name if rng.random() < 0.95 else rng.choice([*runs.COMPARISONS])
    for _ in range(rng.randint(1, 40)):
        x = [Ref(rng.choice(integers)) if rng.random() < 0.98 else rng.randint(-2, 9) for _ in range(3)]
        if name == runs.EXPRESSION:
            code = tuple((symbol, rng.randint(-3, 9) if symbol == "int" else k) for symbol, k in shape)
            yield Constraint(name, [Expression(code), x], [], 0)
        else:
            kinds = runs.COMPARISONS[name].kinds
            arguments = [Ref(rng.choice(booleans)) if kind == "B" else x[i] for i, kind in enumerate(kinds)]
            yield Constraint(name, arguments, [], 0)


def draw_lists(rng: random.Random, integers: list) -> Iterator[Constraint]:
    """all_different, mostly of fewer variables than these have values."""
    length = rng.choice((2, 2, 3, 3, 4, 9))
    for _ in range(rng.randint(1, 40)):
        x = [Ref(rng.choice(integers)) if rng.random() < 0.99 else rng.randint(-2, 9) for _ in range(length)]
        yield Constraint(ALL_DIFFERENT, [x], [], 0)


def draw_model(rng: random.Random) -> Model:
    """Few variables, some Boolean, some known: much is shared, and places are odd for many reasons."""
    integers, booleans = [f"x{i}" for i in range(rng.randint(4, 30))], [f"b{i}" for i in range(10)]
    lines = [f"var {rng.choice(DOMAINS)}: {name};" for name in integers] + [f"var bool: {name};" for name in booleans]
    model = parse_text("\n".join([*lines, "solve satisfy;", ""]))
    for _ in range(rng.randint(1, 4)):
        model.constraints.extend(draw_run(rng, integers, booleans))
    if rng.random() < 0.3:
        model.constraints.extend(draw_lists(rng, integers))
    return model


def test_random_lists_are_lowered_alike(both_ways):
    """Some of them have as many variables as values, or fewer values, or variables with holes, or with one value."""
    rng, n = random.Random(2), 0
    for _ in range(300):
        names = [f"x{i}" for i in range(rng.randint(4, 30))]
        domains = rng.choices((*DOMAINS, "0..1", "{1,3,5,7,9,11,13,15,17,19}"), k=3)
        lines = [f"var {rng.choice(domains)}: {name};" for name in names]
        model = parse_text("\n".join([*lines, "solve satisfy;", ""]))
        model.constraints.extend(draw_lists(rng, names))
        alone, both_ways.places = outcome(both_ways, model, NEVER), 0
        assert outcome(both_ways, model, 1) == alone
        n += both_ways.places
    assert n > 1000


def draw_sums(rng: random.Random, names: list) -> Iterator[Constraint]:
    """Inequalities whose coefficients have the same signs; the first half of them is made of few coefficients."""
    n = rng.choice((2, 2, 3, 4, 8, 9))
    signs = [rng.choice(rng.choice(((1,), (-1,), (1, -1)))) for _ in range(n)]
    bounds = [rng.randint(-30, 60) for _ in range(rng.choice((1, 1, 3)))]
    factor = rng.choice((1, 1, 1, 2))
    for i in range(rng.randint(1, 60)):
        variables = rng.choices(names, k=n) if rng.random() < 0.05 else rng.sample(names, n)
        coefficients = [factor * sign * rng.choice((1, 2, 3) if i < 30 else (1, 1, 5)) for sign in signs]
        yield Constraint(runs.SUM, [coefficients, list(map(Ref, variables)), rng.choice(bounds)], [], 0)


@pytest.mark.parametrize("number", few_or(25, 400))
def test_random_sums_are_lowered_alike(both_ways, monkeypatch, number):
    """In some sums known pairs are searched, some are clauses, some have Booleans and their negations as terms."""
    rng, n = random.Random(4), 0
    for _ in range(number):
        monkeypatch.setattr(TUNING, "known_results", rng.choice((0, 0, 0, 20)))
        names = [f"x{i}" for i in range(rng.randint(9, 30))]
        domains = rng.choices((*DOMAINS, "0..9", "-90..90", f"{-LARGE}..{LARGE}"), k=3)
        lines = [f"var {rng.choice(domains)}: {name};" for name in names]
        lines += ["var 0..1: y;", "var 0..1: z;", "var bool: b;"]
        lines += ["constraint int_eq_reif(y,0,b);", "constraint bool2int(b,z);"]
        model = parse_text("\n".join([*lines, "solve satisfy;", ""]))
        for _ in range(rng.randint(1, 3)):
            model.constraints.extend(draw_sums(rng, [*names, "y", "z"]))
        alone, both_ways.places = outcome(both_ways, model, NEVER), 0
        assert outcome(both_ways, model, 1) == alone
        n += both_ways.places
    assert n > 2 * number


def test_domains_with_holes_are_defined_alike(both_ways, monkeypatch):
    """All together, but for those that have lost values; some are the domains of variables that are the same."""
    rng = random.Random(3)
    holes = ["{1,4,6}", "{1,4,6}", "{0,2,4,5}", "{-9,-8,3}", "{1,2,3,9}", "0..9", "int", "2..2"]
    for _ in range(100):
        names = [f"x{i}" for i in range(rng.randint(4, 30))]
        lines = [f"var {rng.choice(holes)}: {name};" for name in names]
        for _ in range(rng.randint(0, 20)):
            x, y, v = rng.choice(names), rng.choice(names), rng.randint(0, 6)
            known = (f"set_in({x},{{{v},{v + 1},{v + 4}}})", f"int_ne({x},{v})", f"int_eq({x},{y})", f"int_le({x},{v})")
            lines.append(f"constraint {rng.choice(known)};")
        model = parse_text("\n".join([*lines, "solve satisfy;", ""]))
        together = outcome(both_ways, model, NEVER)
        with monkeypatch.context() as patch:
            patch.setattr(early, "is_table", lambda _: False)
            assert outcome(both_ways, model, NEVER) == together


def outcome(both_ways: Counter, model: Model, least: int) -> tuple:
    try:
        return told(both_ways.lower(model, least))
    except TurboError as error:
        return type(error), error.message


def test_a_difference_of_a_variable_with_itself_is_known(both_ways):
    """0 = x + (-x) is what states -x."""
    model = parse_text("".join(f"var 0..9: x{i};\n" for i in range(8)) + "solve satisfy;\n")
    code = (("arg", 0), ("arg", 1), ("arg", 1), ("sub", 2), ("arg", 1), ("ge", 2), ("ne", 2))
    model.constraints.extend(
        Constraint(runs.EXPRESSION, [Expression(code), [Ref(f"x{i}"), Ref(f"x{7 - i}")]], [], 0) for i in range(8)
    )
    assert outcome(both_ways, model, 1) == outcome(both_ways, model, NEVER)


def arg(*places: int) -> list[tuple[str, int]]:
    return [("arg", place) for place in places]


SUM_IS_NOT_7 = [*arg(0, 1), ("add", 2), ("int", 7), ("ne", 2)]
SIZE_IS_NOT_4 = [*arg(0), ("abs", 1), ("int", 4), ("ne", 2)]
EITHER = [*arg(0, 1), ("or", 2)]
NEGATED = "".join(f"constraint int_eq_reif(x{i},0,b{i});\nconstraint bool2int(b{i},x{i + 6});\n" for i in range(6))
LARGE = 2**62 - 1


@pytest.mark.parametrize(
    ("domain", "first", "code"),
    [
        ("0..9", [*arg(0, 1), ("eq", 2)], SUM_IS_NOT_7),  # variables that were merged behind the first constraints
        ("0..1", NEGATED, EITHER),
        ("int", "", SUM_IS_NOT_7),
        (f"0..{LARGE}", "", SUM_IS_NOT_7),
        (f"{-LARGE}..0", "", SUM_IS_NOT_7),
        (f"{2**61}..{LARGE}", "", SUM_IS_NOT_7),
        ("3..12", "", SIZE_IS_NOT_4),
        ("-12..-3", "", SIZE_IS_NOT_4),
        ("-5..5", "", SIZE_IS_NOT_4),
    ],
)
def test_runs_of_unusual_variables_are_lowered_alike(both_ways, domain, first, code):
    text = "".join(f"var {domain}: x{i};\n" for i in range(12)) + "".join(f"var bool: b{i};\n" for i in range(6))
    model = parse_text(text + (first if isinstance(first, str) else "") + "solve satisfy;\n")
    codes = [(code, (i * 5 % 12, (i * 5 + 4) % 12)) for i in range(10)]
    codes[:0] = [] if isinstance(first, str) else [(first, (2 * i, 2 * i + 1)) for i in range(4)]
    for one, places in codes:
        operands = [Ref(f"x{place}") for place in places]
        model.constraints.append(Constraint(runs.EXPRESSION, [Expression(tuple(one)), operands], [], 0))
    assert outcome(both_ways, model, 1) == outcome(both_ways, model, NEVER)


@pytest.mark.parametrize("number", few_or(60, 300))
def test_random_runs_are_lowered_alike(both_ways, number):
    rng, n = random.Random(1), 0
    for _ in range(number):
        model = draw_model(rng)
        alone, both_ways.places = outcome(both_ways, model, NEVER), 0
        assert outcome(both_ways, model, 1) == alone
        n += both_ways.places
    assert n > 10 * number / 3
