"""What constraints leave of domains before any row is made: all that solutions have, and for some no more; and the
forms that are chosen by it."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest

from support.oracle import all_solutions
from turbo_fzn import solve_text
from turbo_fzn.lower import bulk
from turbo_fzn.lower.early import Domains
from turbo_fzn.lower.rewrite import Rewriter, lower
from turbo_fzn.lower.table import NARROWERS
from turbo_fzn.lower.tuning import TUNING
from turbo_fzn.lower.variables import Infeasible
from turbo_fzn.read.flatzinc import parse_text
from turbo_fzn.read.model import Model
from turbo_fzn.tnf.language import Op
from turbo_fzn.tnf.wide import WideKind

EXACT = "regular", "mdd", "table_int", "clause"  # which leave nothing but what some solution has


def listed(values: object) -> str:
    return f"[{','.join(map(str, values))}]"  # type: ignore[call-overload]


def left(model: Model) -> dict[str, set[int]] | None:
    """The values of each variable after the narrowing, None where it has found a contradiction."""
    rewriter = Rewriter(model, True, (), False)
    domains = Domains(rewriter.builder)
    domains.sets.extend(rewriter.scope.domains)
    rewriter.narrow(domains)
    if rewriter.infeasible:
        return None
    names = rewriter.scope.variables["int"]
    try:
        return {name: set(bulk.domain(rewriter.builder, number)) for name, number in names.items()}
    except Infeasible:
        return None


def draw_constraint(random: Random, name: str, x: list[str]) -> str:
    """A constraint on four variables of 0..4, with random data."""
    four = listed(x)
    cells = listed(random.choice((0, 0, 1, 2, 3)) for _ in range(15))
    final = "{" + ",".join(map(str, sorted(random.sample((1, 2, 3), random.randint(1, 3))))) + "}"
    levels, sources, targets = "[1,2,2,3,3]", "[1,1,2,2,3,3,4,5]", "[2,3,4,5,4,5,0,0]"
    labels = listed("{" + f"{random.randint(0, 2)},{random.randint(3, 4)}" + "}" for _ in range(2))[1:-1]
    sets = "[{0,1},{3},{0},{2,4},{1},{0,3}," + labels + "]"
    rows = listed(random.randint(0, 4) for _ in range(24))
    costs = listed([0, 1, 0, 1, 2] * 3)
    total = random.choice(x)
    return {
        "regular": f"turbo_regular({four},3,0..4,{cells},1,{final})",
        "cost_regular": f"turbo_cost_regular({listed(x[:3])},3,0..4,{cells},1,{final},{costs},x3)",
        "mdd": f"turbo_mdd({listed(x[:3])},5,{levels},8,{sources},{sets},{targets})",
        "cost_mdd": f"turbo_cost_mdd({listed(x[:3])},5,{levels},8,{sources},{sets},[0,1,1,0,2,0,1,0],{targets},x3)",
        "table_int": f"turbo_table_int({four},6,{rows})",
        "circuit": f"turbo_circuit({four},{random.randint(-1, 2)})",
        "subcircuit": f"turbo_subcircuit({four},{random.randint(-1, 2)})",
        "inverse": f"turbo_inverse([x0,x1],{random.randint(0, 2)},[x2,x3],{random.randint(0, 2)})",
        "symmetric_all_different": f"turbo_symmetric_all_different({four},{random.randint(-1, 2)})",
        "global_cardinality_closed": f"turbo_global_cardinality_closed([x0,x1,x2],[0,2,3],[1,1,{total}])",
        "global_cardinality_low_up_closed": f"turbo_global_cardinality_low_up_closed({four},[0,2,3],[0,1,1],[2,3,2])",
        "bin_packing_capa": f"turbo_bin_packing_capa([3,4,2],{random.randint(0, 2)},{four},[1,2,1,3])",
        "bin_packing_load": f"turbo_bin_packing_load([x3,3,x3],{random.randint(0, 2)},[x0,x1,x2],[1,2,1])",
    }[name]


NAMES = sorted(name.removeprefix("turbo_") for name in NARROWERS if name != "turbo_table_bool")


def draw_clause(random: Random) -> tuple[list[str], str]:
    """Comparisons of x0 with constants, and a clause of their truths."""
    makers = ("int_eq_{f}(x0,{c},{b})", "int_ne_{f}(x0,{c},{b})", "int_le_{f}(x0,{c},{b})", "int_le_{f}({c},x0,{b})",
              "int_lt_{f}({c},x0,{b})", "int_lt_{f}(x0,{c},{b})", "set_in_{f}(x0,{{0,{c}}},{b})")  # fmt: skip
    truths = [f"b{k}" for k in range(random.randint(2, 3))]
    weights = (5, 1, 1, 1, 1, 1, 2)
    lines = [
        random.choices(makers, weights)[0].format(c=random.randint(-1, 5), b=b, f=random.choice(("reif", "imp")))
        for b in truths
    ]
    return lines, random.choice((f"bool_clause({listed(truths)},[])", f"array_bool_or({listed(truths)},true)"))


def draw(random: Random, names: list[str]) -> str:
    x = ["x0", "x1", "x2", "x3"]
    domains = [sorted(random.sample(range(5), random.randint(3, 5))) for _ in x]
    constraints = [draw_constraint(random, name, random.sample(x, 4)) for name in names if name != "clause"]
    if "clause" in names:
        comparisons, clause = draw_clause(random)
        constraints += [*comparisons, clause]
    random.shuffle(constraints)
    lines = [f"var {{{','.join(map(str, values))}}}: {name} :: output_var;" for name, values in zip(x, domains)]
    lines += [f"var bool: b{k} :: output_var;" for k in range(3) if "clause" in names]
    return "\n".join([*lines, *(f"constraint {one};" for one in constraints), "solve satisfy;"])


@pytest.mark.parametrize("name", [*NAMES, "clause"])
def test_a_constraint_leaves_what_its_solutions_have(name):
    for seed in range(12):
        random = Random(f"{name} {seed}")
        model = parse_text(draw(random, [name]))
        solutions = all_solutions(model)
        found = left(model)
        if not solutions:
            continue
        assert found is not None
        for x, values in found.items():
            needed = {solution[x] for solution in solutions}
            assert values >= needed
            if name in EXACT:
                assert values == needed, (seed, x)


@pytest.mark.parametrize("seed", range(60))
def test_several_constraints_keep_all_solutions(seed):
    random = Random(seed)
    model = parse_text(text := draw(random, random.choices([*NAMES, "clause", "clause"], k=random.randint(2, 3))))
    solutions = all_solutions(model)
    found = left(model)
    assert not solutions or (
        found is not None and all(solution[x] in values for solution in solutions for x, values in found.items())
    )
    result = solve_text(text, arch="cpu", threads=2, all_solutions=True, check=True)
    assert len(result.solutions) == len(solutions)
    assert result.status in ("ALL_SOLUTIONS", "UNSATISFIABLE")


TABLES = """var 0..3: x0; var 0..3: x1; var 0..3: x2;
constraint {0};
constraint {1};
constraint {2};
solve satisfy;"""
STEPS = [
    "turbo_table_int([x0,x1],3,[0,2,1,0,3,1])",
    "turbo_table_int([x1,x2],3,[2,1,1,3,0,0])",
    "turbo_regular([x2],1,1..3,[1,0,1],1,{1})",
]


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
def test_constraints_are_asked_again_when_their_variables_have_lost_values(order):
    """Each says something else of a variable of the next one: x2 is 1 or 3, so x1 is 2 or 1, so x0 is 0 or 3."""
    found = left(parse_text(TABLES.format(*(STEPS[k] for k in order))))
    assert found == {"x0": {0, 3}, "x1": {1, 2}, "x2": {1, 3}}


NARROWING = {
    "turbo_regular": "turbo_regular([y],1,1..3,[1,0,1],1,{1})",
    "turbo_table_int": "turbo_table_int([y,z],3,[0,2,1,0,3,1])",
    "turbo_circuit": "turbo_circuit([y,z],1)",
    "turbo_circuit of constants": "turbo_circuit([2,1],1)",
    "clause": "int_eq_reif(y,1,p); constraint int_eq_reif(y,2,q); constraint bool_clause([p,q],[])",
    "element": "array_int_element(y,[1,3,2],z)",
}


@pytest.mark.parametrize("other", NARROWING)
@pytest.mark.parametrize("top", [5, 60])
def test_a_value_that_is_forbidden_stays_so_beside_constraints_that_narrow(other, top):
    """The engines store bounds only: a row forbids the value, where the domain is too large for a table."""
    text = f"""var 0..3: y; var 0..3: z; var bool: p; var bool: q; var -12..{top}: w :: output_var;
    constraint int_ne(0,w); constraint int_lin_ne([2],[w],6); constraint {NARROWING[other]}; solve satisfy;"""
    result = solve_text(text, arch="cpu", all_solutions=True, check=False)
    assert {one["w"] for one in result.solutions} == set(range(-12, top + 1)) - {0, 3}


def rows(text: str) -> Counter:
    return Counter(Op(op).name for op in lower(parse_text(text)).tnf.op.tolist())


LEAGUE = """var 1..4: a; var 1..4: b; var 1..4: c;
constraint {0};
constraint {1};
solve satisfy;"""
DIFFERENT, NO_FOUR = "turbo_all_different([a,b,c])", "turbo_regular([a,b,c],1,1..4,[1,1,1,0],1,{1})"
NO_TWO = "turbo_regular([a,b,c],1,1..4,[1,0,1,1],1,{1})"


@pytest.mark.parametrize("other", [NO_FOUR, NO_TWO])
def test_all_different_knows_the_values_that_another_constraint_forbids(other):
    """Each value is taken, and no pairs are compared, in whatever order the two stand."""
    first, second = (LEAGUE.format(*pair) for pair in ((DIFFERENT, other), (other, DIFFERENT)))
    for text in (first, second):
        assert [wide.kind for wide in lower(parse_text(text)).tnf.wides] == []
    assert rows(first) == rows(second)
    wide = LEAGUE.format(DIFFERENT, "turbo_count_leq([a,b,c],4,2)")
    assert [one.kind for one in lower(parse_text(wide)).tnf.wides] == [WideKind.ALL_DIFFERENT]


def test_all_different_knows_the_values_that_truths_exclude():
    """Which no domain says: the truth of a = 4 is false by a conjunction."""
    truths = "".join(f"constraint int_eq_reif({x},3,t{x}); constraint bool_eq(t{x},n);" for x in "abc")
    text = LEAGUE.format(DIFFERENT, "array_bool_or([n,n],false)").replace(
        "constraint", f"var bool: n; var bool: ta; var bool: tb; var bool: tc; {truths} constraint", 1
    )
    assert [wide.kind for wide in lower(parse_text(text)).tnf.wides] == []


def test_an_element_has_rows_for_the_values_that_a_clause_leaves_to_its_index():
    members = [f"m{i}" for i in range(1, 101)]
    lines = [f"var 0..9: {name};" for name in [*members, "z"]]
    lines += ["var 1..100: i; var bool: p; var bool: q;", f"constraint array_var_int_element(i,{listed(members)},z);"]
    lines += ["constraint int_eq_reif(i,3,p); constraint int_eq_reif(i,77,q);"]
    clause = "constraint bool_clause([p,q],[]);"
    without = rows("\n".join([*lines, "solve satisfy;"]))
    found = rows("\n".join([*lines, clause, "solve satisfy;"]))
    assert without["EQ"] == 200
    assert found["EQ"] == 4


def test_an_element_of_constants_takes_the_hull_of_those_that_its_index_can_reach():
    text = "var {1,3}: i; var 0..99: z; constraint array_int_element(i,[4,90,7],z); solve satisfy;"
    lowered = lower(parse_text(text))
    z = lowered.origin["z"]
    assert (lowered.tnf.lower[z], lowered.tnf.upper[z]) == (4, 7)


def test_an_element_whose_index_lies_in_a_gap_of_its_domain_has_no_solution():
    text = "var {-4,8}: i; var int: z; constraint array_var_int_element(i,[z,0],0); solve satisfy;"
    assert lower(parse_text(text)).tnf.infeasible


def draw_choices(random: Random) -> tuple[str, str]:
    """Elements over one or two indices in rows, and a row and a maximum beside them; and the model without our own
    element, for the oracle."""
    last = random.randint(2, 3)
    names = ["i", "j", "a", "b", "c", "e", "f", "g"]
    domains = [
        "1..3",
        "1..3",
        *(f"{random.randint(-2, 1)}..{random.randint(1, 3)}" for _ in names[2:5]),
        *["-3..4"] * 3,
    ]
    members = listed(random.choices(["a", "b", "c", "0"], k=last))
    constants = listed(random.randint(-2, 4) for _ in range(last))
    lines = [
        f"array_var_int_element(i,{members},e)",
        f"array_int_element({random.choice('iij')},{constants},f)",
        "OWN",
    ]
    rows = ["int_lin_le([1,1,-1],[e,f,a],{k})", "int_lin_eq([1,1,-1],[e,f,b],{k})", "int_le(e,g)", "int_lt(f,e)",
            "int_plus(e,f,c)", "int_lin_le([2,-1,-3,1],[a,e,g,b],{k})", "int_lin_eq([-2,1,1],[f,g,c],{k})"]  # fmt: skip
    beside = ["int_max(a,b,c)", "int_lin_le([1,1],[a,c],1)", "array_int_maximum(b,[a,c])", "int_le(b,a)"]
    chosen = [*random.sample(rows, random.randint(1, 2)), *random.sample(beside, random.randint(0, 1))]
    lines += [line.format(k=random.randint(-2, 2)) for line in chosen]
    random.shuffle(lines)
    variables = [f"var {domain}: {name} :: output_var;" for name, domain in zip(names, domains)]
    text = "\n".join([*variables, *(f"constraint {line};" for line in lines), "solve satisfy;"])
    first, at, values = random.randint(0, 2), random.choice("iij"), members[1:-1].split(",")
    from_one = {0: values[1:], 1: values, 2: ["0", *values]}[first]
    plain = f"int_le({first},{at});constraint array_var_int_element({at},{listed(from_one)},g)"
    return text.replace("OWN", f"turbo_element({members},{first},{at},g)"), text.replace("OWN", plain)


@pytest.mark.parametrize("seed", range(60))
def test_elements_in_a_row_keep_all_solutions(seed):
    text, plain = draw_choices(Random(seed))
    model = parse_text(text)
    solutions = all_solutions(parse_text(plain))
    found = left(model)
    assert not solutions or (
        found is not None and all(solution[x] in values for solution in solutions for x, values in found.items())
    )
    result = solve_text(text, arch="cpu", threads=2, all_solutions=True, check=True)
    assert len(result.solutions) == len(solutions)


WINDOWS = """var 1..3: last; var 10..20: a; var 30..40: b; var {0}: c; var 0..99: here; var 0..99: from; var 0..99: way;
array [1..3] of var int: arrival = [a,b,c];
constraint {1};
constraint {2};
constraint {3};
solve satisfy;"""
ARCS = [
    "array_var_int_element(last,arrival,from)",
    "array_int_element(last,[5,1,30],way)",
    "int_lin_le([1,1,-1],[from,way,here],0)",
]


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
@pytest.mark.parametrize(
    ("here", "last"), [("here<=30", {1}), ("here<=31", {1, 2}), ("here<=45", {1, 2, 3}), ("here<=44", {1, 2})]
)
def test_windows_forbid_arcs(order, here, last):
    """From a one is there at 15, from b at 31, from c at 45: each element alone may be as early as 15, 1 later."""
    text = WINDOWS.format("15..40", *(ARCS[k] for k in order))
    found = left(parse_text(text.replace("0..99: here", f"0..{here[6:]}: here")))
    assert found is not None and found["last"] == last and min(found["here"]) == 15


def test_windows_reach_through_a_maximum():
    """here = max(20, sum), at most 30: so the sum is, and so one comes from a."""
    lines = [*ARCS[:2], "int_lin_eq([1,1,-1],[from,way,sum],0)"]
    text = WINDOWS.format("15..40", *lines).replace("0..99: here", "0..30: here; var 0..500: sum")
    text = text.replace("solve", "constraint int_max(20,sum,here); solve")
    found = left(parse_text(text))
    assert found is not None and found["last"] == {1} and max(found["sum"]) == 25


def test_elements_in_too_many_cells_are_left(monkeypatch):
    text = WINDOWS.format("15..40", *ARCS).replace("0..99: here", "0..30: here")
    monkeypatch.setattr(TUNING, "narrowed_cells", 5)
    found = left(parse_text(text))
    assert found is not None and found["last"] == {1, 2, 3}
