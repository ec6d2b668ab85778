"""Blocks that learn from conflicts: optima, refutations and solutions are those that are known, in every role.

The build that checks (support/checked_learners.py) does so for each explanation and each learned clause on the way.
"""

from __future__ import annotations

import re
from random import Random

import pytest
from hypothesis import given

from lab.bench.instances import job_shop
from support.command import wait_until
from support.corpus import EXPECTED, has_floats, text_of
from support.engines import OpenEngine, labelled
from support.free_search import search_for_ever
from support.oracle import all_solutions, optimum
from support.overflow import BY_BRANCHING, sum_text
from support.quick import slow_if
from support.random_models import models
from turbo_fzn import Result, solve_text
from turbo_fzn.base.errors import UsageError
from turbo_fzn.engine.abi.abi import LEARNERS
from turbo_fzn.engine.layout.layout import Layout, Settings
from turbo_fzn.tnf.tuning import TUNING

EXAMPLES = [entry for entry in EXPECTED if not has_floats(text_of(entry))]  # learning is for integers
HARD = ("canteen", "golomb", "photo", "pigeons", "prize_tour", "removal", "rota", "taxicab", "wide", "workshop")
FILLING = [("finder",), ("soloist",)]  # those that fill a small memory with clauses
TAKES_A_MINUTE = (("cores",), "removal.mzn")
TEAMS = [(role,) for role in LEARNERS] + [("prover", "finder"), LEARNERS]
ROLES_FIRST = [pytest.param(team, marks=[pytest.mark.slow] * (team != LEARNERS)) for team in TEAMS]


def solve(text: str, team: tuple[str, ...], blocks: int | None = None, **options: object) -> Result:
    return solve_text(text, arch="cpu", learn=",".join(team), blocks=blocks or len(team), check=True, **options)


def status_to_expect(kind: str, solvable: bool) -> str:
    return "UNSATISFIABLE" if not solvable else "SATISFIED" if kind == "satisfy" else "OPTIMAL_SOLUTION"


def teams_and_examples() -> list:
    """Each team with each example. Quick are all roles together and, in turn, one of the other teams."""
    parameters = []
    for i, entry in enumerate(EXAMPLES):
        for team in TEAMS:
            is_quick = team in (LEARNERS, TEAMS[i % (len(TEAMS) - 1)]) and (team, entry["model"]) != TAKES_A_MINUTE
            name = f"{'+'.join(team)}-{entry['model']}"
            parameters.append(pytest.param(team, entry, id=name, marks=slow_if(not is_quick)))
    return parameters


@pytest.mark.parametrize(("team", "entry"), teams_and_examples())
def test_an_example_has_the_figure_that_gecode_found(team, entry):
    result = solve(text_of(entry), team)
    kind = "satisfy" if entry["kind"] == "count" else "minimize"
    assert result.status == status_to_expect(kind, bool(entry["figure"]))
    if kind != "satisfy":
        assert result.objective == entry["figure"]


def test_learners_beside_tree_and_neighbourhoods_prove_the_same():
    for entry in EXAMPLES:
        if entry["kind"] != "count":
            result = solve(text_of(entry), ("prover", "finder"), blocks=4, free_search=True)
            assert (result.status, result.objective) == ("OPTIMAL_SOLUTION", entry["figure"]), entry["model"]


@pytest.mark.parametrize("team", ROLES_FIRST, ids="+".join)
@given(model=models(["minimize", "maximize"]))
def test_the_optimum_of_a_random_model_is_that_of_the_oracle(team, model):
    best = optimum(model, all_solutions(model))
    result = solve(model.text, team)
    assert result.status == status_to_expect("minimize", best is not None), model.text
    assert result.objective == best, model.text


@pytest.mark.parametrize("team", ROLES_FIRST, ids="+".join)
@given(model=models(["satisfy"]))
def test_a_random_model_has_a_solution_where_the_oracle_has(team, model):
    solutions = all_solutions(model)
    assert solve(model.text, team).status == status_to_expect("satisfy", bool(solutions)), model.text


@pytest.fixture(autouse=True)
def small_sums_are_fused(monkeypatch):
    """Small sums are fused like large ones, since the models here have few large ones."""
    monkeypatch.setattr(TUNING, "joint_values", 0)


def example(name: str) -> dict:
    return next(entry for entry in EXPECTED if entry["model"] == f"{name}.mzn")


@pytest.mark.slow
@pytest.mark.parametrize("role", LEARNERS)
@pytest.mark.parametrize("model", HARD)
def test_every_explanation_and_every_learned_clause_is_right(checked, no_probing, model, role):
    statistics = solve(text_of(example(model)), (role,)).statistics
    assert statistics["explanations"] > 0 and statistics["explanationErrors"] == 0


@given(model=models(["minimize", "maximize", "satisfy"]))
def check_explanations_of(model):
    for role in LEARNERS:
        assert solve(model.text, (role,)).statistics.get("explanationErrors", 0) == 0, model.text


@pytest.mark.slow
def test_every_explanation_in_random_models_is_right(checked):
    check_explanations_of()


@pytest.mark.parametrize("kilobytes", [150, 160, 170, 180, 195, 210])  # now the clauses are full first, now the lists
@pytest.mark.parametrize("team", TEAMS, ids="+".join)
def test_a_full_memory_costs_clauses_and_no_answer(monkeypatch, no_probing, maybe_checked, team, kilobytes):
    monkeypatch.setattr(Layout, "learn_bytes", lambda layout: 500 * layout.tnf.n_vars + 1000 * kilobytes)
    entry = example("removal")
    result = solve(text_of(entry), team, relaxation="off")  # without room for rows that it would post
    assert (result.status, result.objective) == ("OPTIMAL_SOLUTION", entry["figure"])
    assert result.statistics["explanationErrors"] == 0
    if team in FILLING:  # the others are done before, or each of several learns as many as it has time for
        assert result.statistics["reductions"] > 0


def test_a_learner_without_memory_searches_like_the_rest(monkeypatch):
    monkeypatch.setattr(Layout, "learn_bytes", lambda layout: 1000)
    entry = example("rota")
    result = solve(text_of(entry), ("finder",))
    assert (result.status, result.objective) == ("OPTIMAL_SOLUTION", entry["figure"])
    assert result.statistics["nogoods"] == 0


def test_followers_tell_clauses_and_hear_none():
    entry = example("removal")
    result = solve(text_of(entry), ("follower", "follower"), relaxation="off")
    assert (result.status, result.objective) == ("OPTIMAL_SOLUTION", entry["figure"])
    assert result.statistics["nogoodsTold"] > 0 == result.statistics["nogoodsHeard"]


@pytest.mark.parametrize("threads", [2, 8])
def test_where_no_learner_has_memory_the_tree_is_searched(monkeypatch, threads):
    """All blocks that do not learn restart, which proves little."""
    monkeypatch.setattr(Layout, "learn_bytes", lambda layout: 1000)
    entry = example("rota")
    result = solve_text(text_of(entry), arch="cpu", free_search=True, threads=threads, relaxation="off")
    assert (result.status, result.objective) == ("OPTIMAL_SOLUTION", entry["figure"])
    assert result.statistics["nogoods"] == 0 and result.statistics["treeTries"] > 0


CREEPING = """
var 0..100000: x;
var 0..100000: y;
var bool: wish :: output_var;
var bool: less;
var bool: more;
constraint int_lt_reif(x, y, less);
constraint int_le_reif(y, x, more);
constraint bool_clause([less], [wish]);
constraint bool_clause([more], [wish]);
var 0..1: gain;
constraint bool2int(wish, gain);
solve maximize gain;
"""


@pytest.mark.parametrize("role", LEARNERS)
def test_bounds_that_creep_through_a_large_domain_end_in_a_proof(maybe_checked, role):
    result = solve(CREEPING, (role,), simplify=False)
    assert (result.status, result.objective) == ("OPTIMAL_SOLUTION", 0)
    assert result.statistics["explanationErrors"] == 0


@pytest.mark.parametrize("team", [*((role,) for role in LEARNERS), ("finder", "prover")], ids="+".join)
def test_where_all_learners_give_up_the_search_goes_on(monkeypatch, team):
    """Their trails are too short for what creeps. They left, and the run ended as unknown long before its time was
    over."""
    monkeypatch.setattr(Layout, "learn_bytes", lambda layout: 200_000)
    result = solve(CREEPING, team, simplify=False, relaxation="off")
    assert (result.status, result.objective) == ("OPTIMAL_SOLUTION", 0)
    assert all(result.statistics[f"{role}Tries"] == 1 for role in team)


FUNCTIONS_THAT_CREEP = """
array [1..10] of int: power = [0, 2, 8, 18, 32, 50, 72, 98, 128, 162];
var 1..10: i;
var 1..10: j;
var 0..162: of_i;
var 0..162: of_j;
var 0..1296000: here;
var 0..1296000: there;
var bool: both :: output_var;
constraint array_int_element(i, power, of_i);
constraint array_int_element(j, power, of_j);
constraint int_lin_eq([7919, -1], [of_i, here], 0);
constraint int_lin_eq([7907, -1], [of_j, there], 0);
constraint int_lin_le_reif([1, -1], [here, there], -1, both);
constraint int_lin_le_reif([1, -1], [there, here], -1, both);
solve :: bool_search([both], input_order, indomain_max) satisfy;
"""


def test_what_creeps_does_not_keep_from_running_what_takes_great_steps():
    """Two values of ten are each to be above the other: by ones that took 1,024 conflicts and two million rows."""
    result = solve(FUNCTIONS_THAT_CREEP, ("follower",), simplify=False)
    assert result.status == "SATISFIED" and result.statistics["failures"] == 1
    assert result.statistics["propagations"] < 1000


# Beside each solution is one that moves e by one, and the best is 100,000 of them away.
BETTER_BY_ONE = labelled(dict.fromkeys("abcde", "0..20000"), more="var 0..100000: y;\n"
                         "constraint int_lin_eq([1,1,1,1,1,1],[a,b,c,d,e,y],100000);\n", goal="minimize y")  # fmt: skip


@pytest.mark.parametrize(("role", "leaps"), [(role, role != "follower") for role in LEARNERS])
def test_all_but_followers_leap_where_the_next_solution_is_better_by_one(role, leaps):
    """A prover's run, which ends after conflicts, found one after the other and never began with a probe."""
    result = solve(BETTER_BY_ONE, (role,), relaxation="off")
    assert (result.status, result.objective) == ("OPTIMAL_SOLUTION", 0)
    assert (result.statistics["nodes"] < 1000) == leaps


@pytest.mark.parametrize("role", LEARNERS)
@pytest.mark.parametrize(("goal", "sign"), [("maximize", 1), ("minimize", -1)])
def test_a_leap_never_takes_a_bound_back(maybe_checked, role, goal, sign):
    """Values grow faster than leaps: beyond the last solution but one is only one value, which level 0 knows."""
    values = [0, *(sign * 4 * 16**i for i in range(4)), sign * 20000]
    more = f"var {{{','.join(map(str, sorted(values)))}}}: z :: output_var;\n"
    text = labelled(dict.fromkeys("abcd", "0..9"), more, goal=f"{goal} z")
    engine = OpenEngine(text, simplify=False, blocks=1, roles=(role,), learn_bytes=2**24)
    engine.start()
    found = engine.search_until(lambda: engine.statistics()["explanation_errors"])
    assert engine.statistics()["explanation_errors"] == 0
    assert engine.complete and found[-1].objective == sign * 20000


def test_the_bound_that_a_learner_has_at_level_0_is_told_at_once():
    """The host has proved 5, the domain leaves nothing up to 10. At its second solution the learner waits for room."""
    text = labelled(dict.fromkeys("ab", "0..9"), more="var {0,1,10,11,12,13,14,15,16,17,18}: z;\n"
                    "constraint int_plus(a,b,z);\n", goal="minimize z", how="indomain_max")  # fmt: skip
    engine = OpenEngine(text, blocks=1, ring_slots=1, roles=("follower",), learn_bytes=2**24)
    engine.common.host_bound = 5
    engine.start()
    wait_until(lambda: engine.common.ring_head == 2)
    assert engine.common.bound == 10
    assert engine.search_until(lambda: False)[-1].objective == 10 and engine.complete


def test_learners_hear_of_each_others_clauses():
    settings = Settings(blocks=2, seed=1, roles=("prover", "finder"), fuses=(True, False))
    engine = search_for_ever(settings, lambda engine: engine.statistics()["heard"] > 100)
    assert engine.statistics()["told"] > 0 and engine.statistics()["heard"] > 100


@pytest.mark.parametrize("role", LEARNERS)
def test_statistics_say_who_has_found_and_who_has_proved(role):
    entry = example("rota")
    result = solve(text_of(entry), (role,), relaxation="off")
    assert result.statistics["provedBy"] == f"cpu {role}"
    assert re.fullmatch(rf"cpu {role} \d+", result.statistics["foundBy"])
    plain = solve_text(text_of(entry), arch="cpu", blocks=1, learn="off", relaxation="off")
    assert plain.statistics["provedBy"] == "cpu tree" and plain.statistics["foundBy"].startswith("cpu tree ")


def test_a_restart_that_proves_is_named():
    options = {"free_search": True, "learn": "off", "relaxation": "off"}
    result = solve_text(text_of(example("photo")), arch="cpu", threads=1, **options)
    assert result.statistics["provedBy"] in ("cpu weighted", "cpu annotated", "cpu probe")


def test_what_is_stopped_has_no_prover():
    result = solve_text("var 1..3: x :: output_var; solve satisfy;", arch="cpu", blocks=1)
    assert "provedBy" not in result.statistics and result.statistics["foundBy"] == "cpu soloist 1"


def test_equal_runs_of_one_learner_are_equal():
    text = text_of(example("rota"))
    first, second = (solve(text, ("finder",), seed=3, intermediate=True) for _ in range(2))
    assert first.solutions == second.solutions
    counted = ("nodes", "failures", "nogoods", "propagations")
    assert [first.statistics[name] for name in counted] == [second.statistics[name] for name in counted]


DISTINCT = """
var {x}: x :: output_var;
var {y}: y :: output_var;
var {z}: z :: output_var;
constraint int_ne(x, y);
constraint int_ne(y, z);
constraint int_ne(x, z);
solve :: int_search([x, y, z], {choice}, indomain_min) satisfy;
"""
DOMAINS_WITH_HOLES = [
    {"x": "{1,2,8,9}", "y": "{1,5,6}", "z": "{1,2,4,5}"},
    {"x": "{3,4,20}", "y": "{3,7,8,9}", "z": "{3,4,6}"},
    {"x": "{2,5,6,7}", "y": "{2,4,30}", "z": "{0,2,3}"},
]


@pytest.mark.parametrize(
    "choice", ["input_order", "first_fail", "anti_first_fail", "smallest", "largest", "max_regret"]
)
def test_a_follower_begins_like_the_tree(choice):
    for domains in DOMAINS_WITH_HOLES:
        for order in (domains, dict(zip(domains, reversed(domains.values())))):
            text = DISTINCT.format(choice=choice, **order)
            followed, searched = solve(text, ("follower",)), solve_text(text, arch="cpu", blocks=1)
            assert followed.solutions == searched.solutions, text
            assert followed.statistics["nodes"] > 0


def test_a_follower_that_learns_alone_proves_bounds_in_turns():
    """Along the annotation alone this takes 627 failures."""
    result = solve(job_shop(Random("8/5/2"), 8, 5), ("follower",), relaxation="off")
    assert result.objective == 99 and result.statistics["failures"] < 600


def test_all_solutions_are_none_of_a_learners_business():
    entry = example("queens")
    result = solve(text_of(entry), ("prover",), all_solutions=True)
    assert len(result.solutions) == entry["figure"] and result.statistics["nogoods"] == 0


def test_a_model_without_bounds_is_left_to_the_tree():
    result = solve("var int: x :: output_var; constraint int_le(3, x); solve minimize x;", ("prover",))
    assert (result.status, result.objective) == ("OPTIMAL_SOLUTION", 3)
    assert result.statistics["nogoods"] == 0


@pytest.mark.parametrize("role", LEARNERS)
def test_a_learner_that_meets_a_model_without_bounds_claims_nothing(role):
    """There are solutions, but for sums that no store can hold."""
    engine = OpenEngine(sum_text(BY_BRANCHING), simplify=False, blocks=1, roles=(role,), learn_bytes=2**24)
    assert engine.run() == [] and not engine.complete
    assert engine.statistics()["propagations"] == engine.statistics()["nodes"] == 0


def test_learners_in_the_same_role_do_not_do_the_same():
    """Each is alone here, the second as the twin of the first."""
    text = text_of(example("rota"))
    counts = []
    for block in (0, 1):
        engine = OpenEngine(text, blocks=2, roles=("finder", "finder"), learn_bytes=2**24)
        engine.run_alone(block)
        assert engine.complete
        counts.append(engine.counted("nodes")[block])
    assert counts[0] != counts[1]


def test_a_name_that_is_no_role_is_an_error():
    with pytest.raises(UsageError, match="no role seer"):
        solve("var 0..1: x; solve satisfy;", ("seer",), blocks=1)


def test_a_learner_that_is_alone_has_all_of_the_time():
    assert solve(text_of(example("rota")), ("soloist",)).statistics["soloistShare"] == 1
