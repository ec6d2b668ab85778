"""Cycles of differences, x - y <= c: refuted at once, whatever the domains (kernels/core/differences.h).

Where bounds creep, a row at a time moves a bound by one, and 10^9 values take minutes. Nothing else may be refuted:
that is asked of random systems of differences, which have a solution unless a cycle of them adds up to more than 0, and
of models in which something creeps for a while, so that the kernels look for a cycle.
"""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.command import PATIENCE
from support.oracle import all_solutions, fingerprint, outputs_of
from support.random_models import models
from turbo_fzn.interface.api import solve_text

WIDEST = 10**9
NOT_LONG = int(100 * PATIENCE)  # milliseconds, of which a thousand rounds take one or two


def solve(text: str, **settings: object):
    return solve_text(text, **{"arch": "cpu", "time_limit": NOT_LONG, **settings})


def declared(*names: str, domain: str = f"0..{WIDEST}") -> str:
    return "".join(f"var {domain}: {name} :: output_var;\n" for name in names)


CYCLES = {
    "two": "constraint int_lt(x,y);\nconstraint int_lt(y,x);",
    "three": "constraint int_lt(x,y);\nconstraint int_le(y,z);\nconstraint int_le(z,x);",
    "equations": "constraint int_lin_eq([1,-1],[x,y],7);\nconstraint int_lin_eq([1,-1,-1],[x,z,p],0);\n"
    "constraint int_le(z,y);\nconstraint int_lt(y,z);",
    "periods": "constraint int_lin_le([1,1,-1],[x,p,y],0);\nconstraint int_lin_le([1,1,-1],[y,p,z],0);\n"
    "constraint int_lin_le([1,-1],[z,x],2);",
    "periods of rows": "constraint int_plus(x,p,y);\nconstraint int_plus(y,p,z);\nconstraint int_le(z,x);",
    "multiples": "constraint int_lin_le([2,-3],[x,y],-1);\nconstraint int_lin_le([-2,3],[x,y],0);",
    "the greater one": "constraint int_max(x,y,z);\nconstraint int_lt(z,y);",
    "the lesser one": "constraint int_min(x,y,z);\nconstraint int_lt(x,z);",
    "sums": "constraint int_lin_le([1,1,-1],[x,y,z],-1);\nconstraint int_lin_le([-1,-1,1],[x,y,z],0);",
    "negations": "constraint int_lin_eq([1,1],[x,y],9);\nconstraint int_lin_eq([1,1],[y,z],9);\n"
    "constraint int_lt(x,z);",
    "a truth that follows": "constraint int_lin_le_reif([1],[p],1,u);\nconstraint bool_clause([t,u],[]);\n"
    "constraint int_lin_le_reif([1,-1],[x,y],-1,t);\nconstraint int_lin_le_reif([1,-1],[y,x],-1,v);\n"
    "constraint bool_clause([v],[t]);",
}
SHARED = {"multiples", "sums"}  # of which two rows have one expression, which the simplifier knows
BESIDE = "var 2..9: p;\nvar bool: t;\nvar bool: u;\nvar bool: v;\n"


@pytest.mark.parametrize(
    ("cycle", "simplify"), [(cycle, simplify) for cycle in CYCLES for simplify in {True, cycle in SHARED}]
)
def test_a_cycle_is_refuted_at_the_root(cycle, simplify):
    result = solve(f"{declared('x', 'y', 'z')}{BESIDE}{CYCLES[cycle]}\nsolve satisfy;\n", simplify=simplify)
    assert result.status == "UNSATISFIABLE"
    assert result.statistics["nodes"] <= 1


def circles(last: int) -> str:
    """Either three things are in a circle of one direction, or in one of the other, whose `last` step is shorter."""
    text = declared("x", "y", "z") + "var bool: turn;\n"
    for (first, second), gap in {"xy": 1, "yz": 1, "zx": 1, "yx": 1, "zy": 1, "xz": last}.items():
        forward = first + second in "xyzx"
        text += f"var bool: {first}{second};\n"
        text += f"constraint int_lin_le_reif([1,-1],[{first},{second}],{-gap},{first}{second});\n"
        text += f"constraint bool_clause([{first}{second}{'' if forward else ',turn'}],[{'turn' * forward}]);\n"
    return f"{text}solve :: bool_search([turn],input_order,indomain_min,complete) satisfy;\n"


@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize(("last", "status"), [(-2, "SATISFIED"), (-1, "UNSATISFIABLE")])
def test_a_cycle_that_a_decision_closes_is_refuted_in_its_node(free, last, status):
    result = solve(circles(last), free_search=free)
    assert result.status == status


# ---- against an exact answer


class Difference(NamedTuple):
    """left + gap <= right; `when`: where this truth has this value, or always."""

    left: int
    gap: int
    right: int
    when: tuple[int, bool] | None


N_VARIABLES, N_TRUTHS = 4, 2
differences = st.builds(
    Difference,
    st.integers(0, N_VARIABLES - 1),
    st.integers(-3, 3),
    st.integers(0, N_VARIABLES - 1),
    st.none() | st.tuples(st.integers(0, N_TRUTHS - 1), st.booleans()),
)


def has_solution(system: list[Difference]) -> bool:
    """Whether a system has a solution over integers in 0..WIDEST: no cycle of positive length (Floyd and Warshall)."""
    far = [[-(10**6)] * N_VARIABLES for _ in range(N_VARIABLES)]
    for i in range(N_VARIABLES):
        far[i][i] = 0
    for left, gap, right, _ in system:
        far[left][right] = max(far[left][right], gap)
    for k, i, j in product(range(N_VARIABLES), repeat=3):
        far[i][j] = max(far[i][j], far[i][k] + far[k][j])
    return all(far[i][i] <= 0 for i in range(N_VARIABLES))


def text_of(system: list[Difference]) -> str:
    lines = [declared(*(f"x{i}" for i in range(N_VARIABLES)))]
    lines += [f"var bool: t{i} :: output_var;\n" for i in range(N_TRUTHS)]
    for number, (left, gap, right, when) in enumerate(system):
        terms = f"[1,-1],[x{left},x{right}],{-gap}"
        if when is None:
            lines.append(f"constraint int_lin_le({terms});\n")
        else:
            truth, value = when
            lines.append(f"var bool: r{number};\nconstraint int_lin_le_reif({terms},r{number});\n")
            positive, negative = (f"r{number}", f"t{truth}") if value else (f"r{number},t{truth}", "")
            lines.append(f"constraint bool_clause([{positive}],[{negative}]);\n")
    truths, numbers = ("t0,t1", ",".join(f"x{i}" for i in range(N_VARIABLES)))
    search = f"bool_search([{truths}],input_order,indomain_max,complete)"
    search += f",int_search([{numbers}],input_order,indomain_min,complete)"
    return "".join(lines) + f"solve :: seq_search([{search}]) satisfy;\n"


def holds(system: list[Difference], solution: dict) -> bool:
    return all(
        solution[f"x{left}"] + gap <= solution[f"x{right}"]
        for left, gap, right, when in system
        if when is None or solution[f"t{when[0]}"] == when[1]
    )


@pytest.mark.parametrize("simplify", [True, False])
@given(system=st.lists(differences, min_size=2, max_size=9))
def test_a_system_is_refuted_if_every_choice_of_its_truths_has_a_positive_cycle(simplify, system):
    choices = product([False, True], repeat=N_TRUTHS)
    expected = any(
        has_solution([one for one in system if one.when is None or truths[one.when[0]] == one.when[1]])
        for truths in choices
    )
    result = solve(text_of(system), simplify=simplify)
    assert result.status == ("SATISFIED" if expected else "UNSATISFIABLE")
    assert not expected or holds(system, result.solutions[0])


# Bounds that need two thousand rounds to their fixpoint, a = b = 1000.
CREEPING = """
var 0..1000: slow_a;
var 0..1000: slow_b;
constraint int_lin_le([999,-1000],[slow_a,slow_b],-1000);
constraint int_lin_le([1,-1],[slow_b,slow_a],0);
"""


@pytest.mark.parametrize("simplify", [True, False])
@given(model=models(["satisfy"]))
def test_where_something_else_creeps_no_solution_is_lost(simplify, model):
    """The kernels look for cycles again and again."""
    text = model.text.replace("solve ", f"{CREEPING}solve ", 1)
    expected = {fingerprint(outputs_of(model, solution)) for solution in all_solutions(model)}
    result = solve(text, simplify=simplify, all_solutions=True)
    assert {fingerprint(solution) for solution in result.solutions} == expected
    assert result.status == ("ALL_SOLUTIONS" if expected else "UNSATISFIABLE")
