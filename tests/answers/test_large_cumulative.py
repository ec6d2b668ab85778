"""Constraints that would be too many rows, left to a wide row alone: right answers, and only by learners."""

from __future__ import annotations

import re
from itertools import product
from random import Random

import numpy as np
import pytest

from turbo_fzn import Model, solve_text
from turbo_fzn.base.errors import InternalError
from turbo_fzn.engine.cpu import CpuEngine
from turbo_fzn.engine.layout.layout import Settings
from turbo_fzn.lower.tuning import TUNING
from turbo_fzn.options.options import Options
from turbo_fzn.process.interrupt import Interrupt
from turbo_fzn.read.flatzinc import parse_text
from turbo_fzn.run.bounding import EngineBoxes, relaxation_of
from turbo_fzn.run.engines import warn_of_memory
from turbo_fzn.run.machine import Machine
from turbo_fzn.run.policy import CPU, decide
from turbo_fzn.run.prepare import prepare
from turbo_fzn.tnf.language import TNF
from turbo_fzn.tnf.wide import KINDS, Wide, WideKind

ALONE = [{}, {"free_search": True}, {"threads": 3}, {"learn": "finder"}, {"free_search": True, "relaxation": "on"}]
WITH_ROWS = [
    {"learn": "prover", "without": "prover"},
    {"all_solutions": True},
    {"all_optimal": True},
    {"n_optimal": 2},
    {"learn": "off"},
    {"without": "soloist,finder,prover,follower,cores"},
    {"simplify": False},
]


@pytest.fixture(autouse=True)
def every_one_is_too_large(monkeypatch):
    monkeypatch.setattr(TUNING, "budget_cells", 0)


def prepared(text: str, **settings) -> TNF:
    return prepare(parse_text(text), Options(**settings), Interrupt()).tnf


def model(starts: str, call: str, goal: str) -> str:
    """A model of variables s0, s1, ... with these domains, of which m is the greatest."""
    domains = starts.split()
    names = [f"s{number}" for number in range(len(domains))]
    lines = [
        "predicate turbo_cumulative(array [int] of var int: s, array [int] of var int: d,",
        "  array [int] of var int: r, var int: b);",
        "predicate turbo_disjunctive(array [int] of var int: s, array [int] of var int: d);",
        *(f"var {domain}: {name} :: output_var;" for domain, name in zip(domains, names)),
        "var int: m :: output_var;",
        f"array [1..{len(names)}] of var int: s = [{','.join(names)}];",
        f"constraint array_int_maximum(m,s); constraint {call}; solve {goal};",
    ]
    return "\n".join(lines)


def drawn(random: Random, is_cumulative: bool, goal: str) -> tuple[str, list[tuple[int, ...]]]:
    """A model of three or four tasks, and the starts of all solutions."""
    n, last = random.randint(3, 4), random.randint(1, 5)
    capacity = random.randint(1, 4) if is_cumulative else 1
    lengths = [random.randint(1, 3) for _ in range(n)]
    uses = [random.randint(0, 3) if is_cumulative else 1 for _ in range(n)]
    call = f"turbo_cumulative(s,{lengths},{uses},{capacity})" if is_cumulative else f"turbo_disjunctive(s,{lengths})"
    right = [
        starts
        for starts in product(range(last + 1), repeat=n)
        if all(sum(r for s, d, r in zip(starts, lengths, uses) if s <= t < s + d) <= capacity for t in range(last + 4))
    ]
    return model(f"0..{last} " * n, call, goal), right


@pytest.mark.parametrize("is_cumulative", [True, False])
def test_answers_are_those_of_enumeration(is_cumulative):
    random = Random(3)
    for number in range(24):
        text, right = drawn(random, is_cumulative, "minimize m")
        result = solve_text(text, **ALONE[number % len(ALONE)], seed=number)
        if not right:
            assert result.status == "UNSATISFIABLE", text
            continue
        assert result.status == "OPTIMAL_SOLUTION" and result.objective == min(map(max, right)), text
        assert tuple(result.solutions[-1][f"s{i}"] for i in range(len(right[0]))) in right


@pytest.mark.parametrize("first", [0, pytest.param(4, marks=pytest.mark.slow), pytest.param(8, marks=pytest.mark.slow)])
def test_lengths_uses_and_a_capacity_that_change_wake_the_row(first):
    """What is best drives lengths and uses up, and the capacity down, against the row alone."""
    random = Random(7 + first)
    for number in range(first, first + 4):
        last, names = random.randint(1, 3), [f"{kind}{i}" for kind in "sdr" for i in range(3)] + ["b"]
        domains = [(0, last)] * 3 + [(1, 3)] * 3 + [(0, 2)] * 3 + [(2, 4)]
        weights = [random.randint(0, 2) for _ in range(3)] + [-random.randint(1, 3) for _ in range(6)] + [2]
        lines = [f"var {low}..{high}: {name} :: output_var;" for name, (low, high) in zip(names, domains)]
        call = "turbo_cumulative([s0,s1,s2],[d0,d1,d2],[r0,r1,r2],b)"
        predicate = "predicate turbo_cumulative(array [int] of var int: s, array [int] of var int: d, "
        lines = [f"{predicate}array [int] of var int: r, var int: b);", *lines, "var -99..99: cost;"]
        lines += [f"constraint {call};", f"constraint int_lin_eq({[*weights, -1]},[{','.join(names)},cost],0);"]
        result = solve_text("\n".join([*lines, "solve minimize cost;\n"]), **ALONE[number % len(ALONE)], seed=number)
        choices = product(*(range(low, high + 1) for low, high in domains))
        good = (one for one in choices if fits(one[:3], one[3:6], one[6:9], one[9]))
        assert result.objective == min(sum(w * v for w, v in zip(weights, one)) for one in good), lines
        assert result.status == "OPTIMAL_SOLUTION"


@pytest.mark.slow
@pytest.mark.parametrize("learn", ["finder", "prover", "soloist"])
def test_every_explanation_holds_and_no_run_is_left_out_that_would_say_more(checked, learn):
    random, searched = Random(learn), 0
    for number in range(150):
        n, last = random.randint(5, 8), random.randint(6, 12)
        lengths, *uses = ([random.randint(1, most) for _ in range(n)] for most in (5, 3, 3)[: random.randint(2, 3)])
        starts = " ".join(f"{random.randint(0, 2)}..{last}" for _ in range(n))
        calls = [f"turbo_cumulative(s,{lengths},{own},{random.randint(3, 4)})" for own in uses]
        text = model(starts, "; constraint ".join(calls), "minimize m")
        result = solve_text(text, free_search=True, threads=1, learn=learn, relaxation="off", seed=number)
        assert result.statistics.get("explanationErrors", 0) == 0, text
        searched += result.statistics.get("nodes", 0) > 0
    assert searched > 50


def fits(starts, lengths, uses, capacity) -> bool:
    """Whether the tasks never use more than the capacity."""
    times = range(max(s + d for s, d in zip(starts, lengths)))
    return all(sum(r for s, d, r in zip(starts, lengths, uses) if s <= t < s + d) <= capacity for t in times)


def test_short_tasks_beside_a_long_one_take_no_step_for_each_of_its_times():
    """A step is an entry of the trail, which has room for a few of each variable."""
    n, long = 300, 10**5
    starts = " ".join([f"{long // 2}..{2 * long}"] * n + [f"{{0,{long - n}}}"])
    call = f"turbo_cumulative(s,{[1] * n + [long]},{[1] * n + [3]},3)"
    text = model(starts, call, f":: int_search([s{n}],input_order,indomain_min) satisfy")
    text = text.replace("constraint array_int_maximum(m,s);", "").replace("var int: m :: output_var;", "")
    result = solve_text(text, free_search=True, threads=1, learn="soloist")
    assert result.status == "SATISFIED"


@pytest.mark.parametrize("settings", WITH_ROWS)
def test_what_learners_cannot_do_is_done_with_rows(settings):
    random = Random(5)
    for _ in range(4):
        text, right = drawn(random, True, "satisfy")
        result = solve_text(text, **settings)
        if "all_solutions" in settings:
            assert len(result.solutions) == len(right)
        else:
            assert result.status == ("SATISFIED" if right else "UNSATISFIABLE")


TIGHT = model("0..4 0..4 0..4", "turbo_cumulative(s,[2,2,2],[2,2,2],3)", "minimize m")


def test_a_model_that_is_solved_again_has_rows():
    """Its further questions may want all solutions."""
    with Model(TIGHT) as solved:
        assert solved.solve().objective == 4
        assert len(solved.solve(goal="satisfy", all_solutions=True).solutions) == 6


@pytest.mark.parametrize(
    "settings",
    [
        {"arch": "gpu"},
        {"arch": "hybrid"},
        {"dump_tnf": "x"},
        {"proof": "x"},
        {"cp_profiler": "1,2"},
        {"learn": "off"},
        {"simplify": False},
    ],
)
def test_other_engines_get_rows(settings):
    assert not prepared(TIGHT, **settings).needs_learners
    assert prepared(TIGHT).needs_learners


def test_without_bounds_there_are_rows():
    assert not prepared("var int: free :: output_var;" + TIGHT.replace("predicate", "predicate", 1)).needs_learners


def test_only_learners_search():
    tnf = prepared(TIGHT)
    for options, roles in [
        (Options(), ["soloist", "finder"]),
        (Options(threads=1), ["soloist"]),
        (Options(free_search=True, threads=5), ["soloist", "finder", "prover", "follower", "cores"]),
        (Options(learn="prover", threads=4), ["prover"]),
        (Options(without="soloist", threads=1), ["finder"]),
        (Options(learn="soloist,prover", without="soloist", threads=4), ["prover"]),
    ]:
        decision = decide(tnf, options, Machine(8, None), 1)
        assert (decision.engines, decision.threads, decision.cpu_lns_percent) == ((CPU,), len(roles), 0)
        assert [learner.role for learner in decision.learners] == roles


def test_a_block_that_cannot_learn_does_not_search():
    tnf = prepared(TIGHT)
    with pytest.raises(InternalError, match="does not learn"):
        CpuEngine(tnf, np.arange(tnf.n_vars), Settings(blocks=2, roles=("finder",)))
    engine = CpuEngine(tnf, np.arange(tnf.n_vars), Settings(blocks=1, roles=("finder",), learn_bytes=64))
    engine.start()
    while engine.running:
        assert engine.poll() == []
    assert not engine.complete and not engine.common.is_complete
    engine.close()


MANY = model("0..400 " * 200, f"turbo_cumulative(s,{[2] * 200},{[2] * 200},3)", "minimize m")


@pytest.mark.parametrize(("threads", "ways"), [(1, ["--memory", "--learn"]), (2, ["--memory", "-p", "--learn"])])
def test_learners_that_leave_for_lack_of_memory_say_what_may_help(caplog, threads, ways):
    result = solve_text(MANY, arch="cpu", memory=1, threads=threads, relaxation="off")
    (message,) = caplog.messages
    assert result.status == "UNKNOWN" and "too little memory" in message
    assert re.findall(r"\s\(?(--?[a-z]+)", message) == ways


def test_what_limits_the_memory_of_learners_is_named(caplog):
    tnf = prepared(TIGHT)
    for options, named in ((Options(memory_limit=100), True), (Options(), False)):
        caplog.clear()
        warn_of_memory(tnf, options, decide(tnf, options, Machine(8, None), 1))
        assert [("a larger --memory-limit" in message) for message in caplog.messages] == [named]


@pytest.mark.parametrize("settings", [{"memory": 64}, {"memory": 64, "time_limit": 1}])
def test_nothing_is_said_of_memory_where_there_is_enough(caplog, settings):
    solve_text(TIGHT, arch="cpu", **settings)
    assert caplog.messages == []


@pytest.mark.parametrize(("starts", "is_solution"), [((0, 2, 4), True), ((0, 1, 4), False)])
def test_a_point_of_the_relaxation_is_a_solution_if_the_wide_row_holds(starts, is_solution):
    ready = prepare(parse_text(TIGHT), Options(), Interrupt())
    relaxation = relaxation_of(ready)
    boxes = EngineBoxes(ready, np.arange(ready.tnf.n_vars))
    boxes.attach(relaxation)
    lower, upper = relaxation.lower.copy(), relaxation.upper.copy()
    numbers = [ready.origin[f"s{i}"] for i in range(3)]
    columns = [int(np.flatnonzero(relaxation.variables == number)[0]) for number in numbers]
    lower[columns] = upper[columns] = starts
    assert boxes.narrow(lower, upper, most=4) is None
    assert [found.objective for found in boxes.found] == [4] * is_solution


def test_every_kind_of_wide_row_has_its_relation():
    assert set(KINDS) == set(WideKind)


def test_a_wide_row_holds_where_enumeration_says_so():
    random = Random(7)
    for _ in range(200):
        n = random.randint(1, 4)
        tasks = [(random.randint(0, 4), random.randint(0, 3), random.randint(0, 3)) for _ in range(n)]
        capacity = random.randint(0, 4)
        values = np.array([capacity, *(number for task in tasks for number in task)])
        places = np.arange(1, 3 * n + 1).reshape(n, 3)
        most = max(sum(r for s, d, r in tasks if s <= t < s + d) for t in range(8))
        assert Wide(WideKind.CUMULATIVE, np.array([0]), places).holds(values) == (most <= capacity)
        starts = [start for start, _, _ in tasks]
        all_different = Wide(WideKind.ALL_DIFFERENT, np.empty(0, np.int64), places[:, :1])
        assert all_different.holds(values) == (len(set(starts)) == n)
