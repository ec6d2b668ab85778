"""Global constraints on constants, on constants among variables, and on arrays of one element or none.

Decompositions in MiniZinc may not end on such calls, or read an element that is not there. So each call is compiled by
`minizinc` within a time limit (generous: it tells endless from slow), and its solutions compared with the meaning.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from itertools import islice

import pytest

from support.global_cases import CASES
from support.global_models import Compiler, assignments
from support.global_notation import Case, Vars, identify
from support.needs import needs_minizinc
from support.quick import first_of_each
from turbo_fzn import solve_text

pytestmark = needs_minizinc

Solve = Callable[[str], list[dict]]


@pytest.fixture(scope="module")
def solutions_of() -> Solve:
    """A function from a model's text to its solutions; what MiniZinc has found out itself is part of them."""
    compiler = Compiler()

    def solve(text: str) -> list[dict]:
        flat = compiler.flatten(text)
        if flat is None:
            return []
        result = solve_text(flat, arch="cpu", all_solutions=True, check=True)
        return [compiler.completed(solution) for solution in result.solutions]

    return solve


def included(case: Case) -> str:
    return f'include "{case.file}.mzn";\n' if case.file else ""


def literal(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def renamed(case: Case, suffix: str) -> str:
    """The call over variables with that suffix."""
    names = "|".join(case.variables)
    return re.sub(rf"\b({names})\b(?!\()", rf"\1{suffix}", case.call)


def defined(variables: Vars, name: str, cells: list[str]) -> str:
    """The declaration of an array with these cells, or of one variable."""
    kind = "bool" if variables.domain is bool else "int"
    if variables.length is None:
        return f"var {kind}: {name} = {cells[0]};"
    indices = f"{variables.first}..{variables.first + variables.length - 1}"
    return f"array [{indices}] of var {kind}: {name} = array1d({indices}, [{', '.join(cells)}]);"


def cells_of(value: object) -> list:
    return value if isinstance(value, list) else [value]


def on_constants(case: Case, values: dict[str, object], suffix: str) -> str:
    return " ".join(
        defined(variables, name + suffix, list(map(literal, cells_of(values[name]))))
        for name, variables in case.variables.items()
    )


def samples(case: Case, truth: bool) -> list[dict]:
    """Some assignments for which the call holds, or some for which it does not."""
    found = (values for values in assignments(case) if bool(case.meaning(*values.values())) == truth)
    return list(islice(found, 0, 40, 13))


AT_ONCE = 14  # cases in a model: nothing but the truth values is left of them, and a start of MiniZinc takes longest


def evaluated(case: Case) -> list[tuple[bool, str, str]]:
    """Calls on constants: whether each holds, the name of its truth value in a model, and the model's lines for it."""
    calls = [(truth, values) for truth in (True, False) for values in samples(case, truth)]
    found = []
    for number, (truth, values) in enumerate(calls):
        suffix = f"_{CASES.index(case)}_{number}"
        call = renamed(case, suffix)
        lines = [on_constants(case, values, suffix), f"var bool: truth{suffix};"]
        lines.append(f"constraint truth{suffix} <-> ({call});")
        lines += [f"constraint {call};"] * truth
        found.append((truth, f"truth{suffix}", "\n".join(lines)))
    return found


@pytest.fixture(scope="module")
def truths(solutions_of) -> Callable[[Case], dict]:
    """A function that gives the only solution of the model in which a case is evaluated, with its neighbours."""

    @cache
    def of_group(group: int) -> dict:
        cases = CASES[group * AT_ONCE : (group + 1) * AT_ONCE]
        lines = [*map(included, cases), *(lines for case in cases for _, _, lines in evaluated(case))]
        (solution,) = solutions_of("\n".join([*lines, "solve satisfy;\n"]))
        return solution

    return lambda case: of_group(CASES.index(case) // AT_ONCE)


@pytest.mark.parametrize("case", CASES, ids=identify)
def test_a_global_on_constants_is_evaluated(truths, case):
    solution = truths(case)
    assert [solution[name] for _, name, _ in evaluated(case)] == [truth for truth, _, _ in evaluated(case)]


@pytest.mark.slow  # what is quick says that its truth value is false
@pytest.mark.parametrize("case", [case for case in CASES if samples(case, False)], ids=identify)
def test_a_global_on_constants_for_which_it_does_not_hold_has_no_solution(solutions_of, case):
    values = samples(case, False)[0]
    lines = [included(case), on_constants(case, values, ""), f"constraint {case.call};", "solve satisfy;\n"]
    assert solutions_of("\n".join(lines)) == []


def halves(case: Case) -> tuple[list[str], list[str], Callable[[dict], list | None]]:
    """Declarations of every other cell as a variable, their names, and their values in an assignment.

    The other cells are constants of some assignment; of one that has others there are no values.
    """
    chosen = next(iter(samples(case, True) + samples(case, False)))
    places = [(name, i) for name in case.variables for i in range(len(cells_of(chosen[name])))]
    phase = CASES.index(case) % 2
    free = {place: f"free_{number}" for number, place in enumerate(places) if number % 2 == phase}
    lines = [f"var {domain_of(case.variables[name])}: {free[name, i]};" for name, i in free]
    for name, variables in case.variables.items():
        cells = [free.get((name, i), literal(value)) for i, value in enumerate(cells_of(chosen[name]))]
        lines.append(defined(variables, name, cells))

    def values(assignment: dict) -> list | None:
        if any(cells_of(assignment[n])[i] != cells_of(chosen[n])[i] for n, i in places if (n, i) not in free):
            return None
        return [cells_of(assignment[name])[i] for name, i in free]

    return lines, list(free.values()), values


def domain_of(variables: Vars) -> str:
    return "bool" if variables.domain is bool else "{" + ",".join(map(str, variables.domain)) + "}"


@pytest.mark.parametrize(
    "case", first_of_each((case for case in CASES if any(assignments(case))), lambda case: case.name, identify)
)
def test_a_global_on_constants_and_variables_has_the_solutions_that_its_meaning_has(solutions_of, case):
    lines, names, values = halves(case)
    text = "\n".join([included(case), *lines, f"constraint {case.call};", "solve satisfy;\n"])
    found = [[solution[name] for name in names] for solution in solutions_of(text)]
    held = (values(a) for a in assignments(case) if case.meaning(*a.values()))
    assert sorted(found) == sorted(v for v in held if v is not None)


# Arrays of one element, and without any: `e` and `f` are empty, `x` is 0..2; then the values of x for which it holds.
SMALL: list[tuple[str, str, set[int]]] = [
    ("all_different", "all_different(e)", {0, 1, 2}),
    ("all_different", "all_different([x])", {0, 1, 2}),
    ("alldifferent_except_0", "alldifferent_except_0(e)", {0, 1, 2}),
    ("alldifferent_except_0", "alldifferent_except_0([x])", {0, 1, 2}),
    ("alldifferent_except", "alldifferent_except(e, {1})", {0, 1, 2}),
    ("alldifferent_except", "alldifferent_except([x], {1})", {0, 1, 2}),
    ("symmetric_all_different", "symmetric_all_different(e)", {0, 1, 2}),
    ("symmetric_all_different", "symmetric_all_different([x])", {1}),
    ("inverse", "inverse(e, e)", {0, 1, 2}),
    ("inverse", "inverse([x], [x])", {1}),
    ("circuit", "circuit(e)", {0, 1, 2}),
    ("circuit", "circuit([x])", set()),
    ("subcircuit", "subcircuit([x])", {1}),
    ("table", "table(e, array2d(1..2, 1..0, []))", {0, 1, 2}),
    ("table", "table([x], [|1|2|1|])", {1, 2}),
    ("regular", "regular([x], 1, 2, [|1, 0|], 1, {1})", {1}),
    ("regular", "regular(array1d(5..5, [x]), 1, 2, [|1, 0|], 1, {1})", {1}),
    ("cost_regular", "cost_regular([x], 1, 2, [|1, 1|], 1, {1}, [|3, 2|], x)", {2}),
    ("mdd", "mdd([x], 1, [1], 1, [1], [{0, 2}], [0])", {0, 2}),
    ("cost_mdd", "cost_mdd([x], 1, [1], 2, [1, 1], [{0, 2}, {1}], [2, 0], [0, 0], x)", {2}),
    ("cumulative", "cumulative(e, e, e, x)", {0, 1, 2}),
    ("cumulative", "cumulative([1], [1], [x], 1)", {0, 1}),
    ("disjunctive", "disjunctive([x], [1])", {0, 1, 2}),
    ("disjunctive_strict", "disjunctive_strict([x], [x])", {0, 1, 2}),
    ("diffn", "diffn(e, e, e, e)", {0, 1, 2}),
    ("diffn", "diffn([x], [1], [2], [x])", {0, 1, 2}),
    ("diffn_nonstrict", "diffn_nonstrict([x], [1], [2], [x])", {0, 1, 2}),
    ("diffn_k", "diffn_k([|x, 1|], [|2, 2|])", {0, 1, 2}),
    ("diffn_nonstrict_k", "diffn_nonstrict_k([|x, 1|], [|2, 2|])", {0, 1, 2}),
    ("lex_less", "lex_less(e, e)", set()),
    ("lex_less", "lex_less(e, [x])", {0, 1, 2}),
    ("lex_lesseq", "lex_lesseq([x], e)", set()),
    ("lex_lesseq", "lex_lesseq([x], [1])", {0, 1}),
    ("lex_less", "lex_less([x > 0], [true])", {0}),
    ("lex_lesseq", "lex_lesseq([true], [x > 0])", {1, 2}),
    ("value_precede", "value_precede(1, 2, [x])", {0, 1}),
    ("value_precede_chain", "value_precede_chain([1, 2], [x])", {0, 1}),
    ("seq_precede_chain", "seq_precede_chain([x])", {0, 1}),
    ("sort", "sort(e, e)", {0, 1, 2}),
    ("sort", "sort([x], [1])", {1}),
    ("arg_sort", "arg_sort([7], [x])", {1}),
    ("count", "count(e, 1, x)", {0}),
    ("count", "count([x], 1, x)", {0, 1}),
    *(
        (f"count_{word}", f"count_{word}([x], 1, 1)", values)
        for word, values in {"neq": {0, 2}, "lt": set(), "leq": {1}, "gt": {0, 2}, "geq": {0, 1, 2}}.items()
    ),
    ("among", "among(x, e, {1})", {0}),
    ("among", "among(x, [x], {1})", {0, 1}),
    ("nvalue", "nvalue(x, [x])", {1}),
    ("global_cardinality", "global_cardinality(e, [1], [x])", {0}),
    ("global_cardinality", "global_cardinality([x], [1], [x])", {0, 1}),
    ("global_cardinality_closed", "global_cardinality_closed([x], [1, 2], [1, 0])", {1}),
    ("global_cardinality_low_up", "global_cardinality_low_up([x], [1], [0], [0])", {0, 2}),
    ("global_cardinality_low_up_closed", "global_cardinality_low_up_closed([x], [0, 1], [0, 0], [1, 1])", {0, 1}),
    ("bin_packing", "bin_packing(1, [x], [1])", {0, 1, 2}),
    ("bin_packing_capa", "bin_packing_capa([1, 0], [x], [1])", {1}),
    ("bin_packing_load", "bin_packing_load([x], [1], [2])", {2}),
    ("sliding_sum", "sliding_sum(1, 2, 1, [x])", {1, 2}),
    ("sliding_sum", "sliding_sum(5, 6, 2, [x])", {0, 1, 2}),
    ("member", "member([x], 1)", {1}),
    ("member", "member([x > 0], true)", {1, 2}),
    ("all_equal", "all_equal([x])", {0, 1, 2}),
    ("increasing", "increasing([x])", {0, 1, 2}),
    ("increasing", "increasing([x > 0])", {0, 1, 2}),
    ("strictly_increasing", "strictly_increasing([x])", {0, 1, 2}),
    ("maximum", "maximum(1, [x])", {1}),
    ("minimum", "minimum(1, [x])", {1}),
]
FORMS = {"posted": ("constraint {};", True), "negated": ("constraint not ({});", False)}


@pytest.mark.parametrize("form", ["posted", pytest.param("negated", marks=pytest.mark.slow)])
@pytest.mark.parametrize("small", first_of_each(SMALL, lambda small: small[0], lambda small: small[1]))
def test_a_global_on_small_arrays_has_the_solutions_that_its_meaning_has(solutions_of, small, form):
    file, call, values = small
    item, holds = FORMS[form]
    name = "count" if file.startswith("count_") else file
    text = f'include "{name}.mzn"; array [1..0] of var int: e = []; var 0..2: x;\n{item.format(call)}\nsolve satisfy;\n'
    found = [solution["x"] for solution in solutions_of(text)]
    assert sorted(found) == sorted(values if holds else {0, 1, 2} - values)


def test_sort_of_constants_into_variables_with_wide_domains(minizinc, model):
    text = 'include "sort.mzn"; array [1..7] of var -100..100: x; constraint sort([3, 5, 1, 3, 5, 2, 8], x);'
    run = minizinc("-a", model(text + "solve satisfy;"))
    assert run.stdout == "x = [1, 2, 3, 3, 5, 5, 8];\n----------\n==========\n", run.stderr
