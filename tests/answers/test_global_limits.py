"""Global constraints over huge and unbounded domains, and over one variable many times."""

from __future__ import annotations

import re
from math import prod
from random import Random

import pytest

from support.global_cases import CASES
from support.global_models import Compiler, model_of
from support.global_notation import Case, identify
from support.needs import needs_minizinc
from turbo_fzn import solve_text
from turbo_fzn.base.errors import UnsupportedError
from turbo_fzn.check.checker import Checker
from turbo_fzn.lower.rewrite import lower
from turbo_fzn.read.flatzinc import parse_text

pytestmark = needs_minizinc
MOST_ROWS = 20_000


@pytest.fixture(scope="module")
def flatzinc() -> list[tuple[Case, str]]:
    """The cases and their FlatZinc, without those of which MiniZinc sees that there is no solution."""
    compiler = Compiler()
    return [(case, text) for case in CASES if (text := compiler.flatten(model_of(case, "constraint {call};")))]


@pytest.mark.parametrize("kind", ["int", "-1000000000000..1000000000000", "-1073741823..1073741823"])
def test_a_global_over_huge_domains_becomes_few_rows_or_is_refused(flatzinc, kind):
    for case, text in flatzinc:
        huge = re.sub(r"^var (?:-?\d+\.\.-?\d+|\{[^}]*\}):", f"var {kind}:", text, flags=re.MULTILINE)
        try:
            lowered = lower(parse_text(huge))
        except UnsupportedError:
            continue
        assert lowered.tnf.n_rows < MOST_ROWS, case.name
        lowered.tnf.check()


def one_for_all(text: str) -> str:
    """The model with all integer variables replaced by the first one, over -1 to 4, and likewise Booleans."""
    names = re.findall(r"^var (bool|[^:]*): (\w+)", text, re.MULTILINE)
    firsts: dict[bool, str] = {}
    for kind, name in names:
        first = firsts.setdefault(kind == "bool", name)
        if name != first:
            text = re.sub(rf"^var [^\n]*: {name}\b[^\n]*\n", "", text, count=1, flags=re.MULTILINE)
            text = re.sub(rf"\b{name}\b", first, text)
    text = re.sub(r"^var (?!bool)[^:]*:", "var -1..4:", text, flags=re.MULTILINE)
    return re.sub(r"^(var [^:]*: \w+)[^;\n]*;", r"\1 :: output_var;", text, flags=re.MULTILINE)


def test_a_global_over_one_variable_many_times_has_the_solutions_that_the_checker_accepts(flatzinc):
    for case, text in flatzinc:
        model = parse_text(one_for_all(text))
        checker, names = Checker(model), list(model.variables)
        ranges = [range(2) if model.variables[name].kind == "bool" else range(-1, 5) for name in names]
        tried = [[value] for value in ranges[0]] if len(names) == 1 else [[v, w] for v in ranges[0] for w in ranges[1]]
        wanted = [values for values in tried if checker.violation(dict(zip(names, values))) is None]
        result = solve_text(model.text, arch="cpu", all_solutions=True, check=True)
        found = [[int(solution[name]) for name in names] for solution in result.solutions]
        assert sorted(found) == wanted, identify(case)


def stays_within(starts: list[int], lengths: list[int], uses: list[int], capacity: int) -> bool:
    """The meaning of cumulative, time by time."""
    tasks = list(zip(starts, lengths, uses))
    times = range(-3, 15)  # before all tasks, and until after them
    return all(sum(use for s, d, use in tasks if s <= time < s + d) <= capacity for time in times)


@pytest.mark.parametrize("seed", range(40))
def test_tasks_that_give_something_count_at_every_time(seed):
    random = Random(seed)
    n = random.randint(1, 4)
    domains = [tuple(sorted(random.choices(values, k=2))) for values in (range(6), range(-1, 4), range(-3, 4)) * n]
    model = "".join(f"var {low}..{high}: v{i} :: output_var;\n" for i, (low, high) in enumerate(domains))
    sides = ",".join(f"[{','.join(f'v{i}' for i in range(side, 3 * n, 3))}]" for side in range(3))
    model += f"var bool: b :: output_var;\nconstraint turbo_cumulative_reif({sides},1,b);\nsolve satisfy;\n"
    result = solve_text(model, arch="cpu", all_solutions=True, n_solutions=200, check=True)
    values = [[solution[f"v{i}"] for i in range(3 * n)] for solution in result.solutions]
    assert len(result.solutions) == min(200, prod(high - low + 1 for low, high in domains))
    truths = [solution["b"] for solution in result.solutions]
    assert truths == [stays_within(v[::3], v[1::3], v[2::3], 1) for v in values]
