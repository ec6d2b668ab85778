"""Linear rows that the host posts to running learners: they are propagated and explained, and no others are.

What is posted here does not follow from the model: that it is used shows in what is found.
"""

from __future__ import annotations

import ctypes
from random import Random

import numpy as np
import pytest

from fuzz.bounds import draw_objective_model
from support.command import wait_until
from support.engines import OpenEngine, labelled
from support.flatzinc_text import with_text
from support.oracle import WindowTooSmall, all_solutions, optimum
from turbo_fzn.base.errors import TurboError
from turbo_fzn.bounds.prove.certificate import Certifier
from turbo_fzn.bounds.prove.reasons import reason_of
from turbo_fzn.bounds.rows.linearise import linearise
from turbo_fzn.engine.abi.abi import LEARNERS, POSTED_ROWS, POSTED_TERMS
from turbo_fzn.engine.abi.model_records import Posted
from turbo_fzn.engine.contract import Inequality
from turbo_fzn.engine.posted import Places, first_postbox, terms_of, without
from turbo_fzn.options.options import Options
from turbo_fzn.process.interrupt import Interrupt
from turbo_fzn.read.flatzinc import parse_text
from turbo_fzn.run.bounding import EngineBoxes, emptied, root_bounds
from turbo_fzn.run.prepare import prepare

NO_SOLUTION = 2**63 - 1
GREATEST = labelled(
    dict.fromkeys("abc", "0..9"),
    "var 0..27: z :: output_var;\nconstraint int_lin_eq([1,1,1,-1],[a,b,c,z],0);\n",
    "maximize z",
)


def learner(text: str = GREATEST, role: str = "soloist", **settings: object) -> OpenEngine:
    given = {"blocks": 1, "roles": (role,), "learn_bytes": 2**24, "posts": True, **settings}
    return OpenEngine(text, simplify=False, **given)


def row(engine: OpenEngine, high: int, under: int = NO_SOLUTION, name: str = "", **terms: int) -> Inequality:
    variables = np.array([engine.place(variable) for variable in terms], np.int32)
    return Inequality(variables, np.array(list(terms.values())), high, under, name)


@pytest.mark.parametrize("role", LEARNERS)
def test_a_learner_propagates_posted_rows(role):
    engine = learner(role=role)
    engine.post(row(engine, 11, a=1, b=2))
    engine.post(row(engine, -4, b=-1, c=1))
    found = engine.run()
    # a + 2 b <= 11 and c <= b - 4: b = 5, a = 1, c = 1 is as good as b = 4, a = 3, c = 0
    assert engine.complete and [one.objective for one in found][-1] == 9 - 2


@pytest.mark.parametrize("fused", [True, False])
def test_learners_with_and_without_fused_rows_have_them(fused):
    engine = learner(blocks=2, roles=("finder", "finder"))
    engine.post(row(engine, 3, a=1, b=1))
    found = engine.run_alone(block=1 - fused)
    assert [one.objective for one in found][-1] == 3 + 9


def test_a_row_is_replaced_by_that_of_its_name_and_use_is_counted():
    engine = learner()
    engine.post(row(engine, 1, name="root", a=1, b=1))
    engine.post(row(engine, 8, name="root", a=1, b=1))
    assert engine.run()[-1].objective == 8 + 9
    assert engine.places.n_rows == 2 and [one.n_terms for one in engine.places.records][:2] == [2, 0]
    assert engine.places.records[0].used > 0


def test_a_row_arrives_while_the_learner_searches():
    """Its search would take hours: a market split of sums that nothing meets."""
    names = [f"x{i}" for i in range(40)]
    random = Random(5)
    weights = [[random.randint(1, 99) for _ in names] for _ in range(6)]
    sums = [f"constraint int_lin_eq({each},[{','.join(names)}],1000);" for each in weights]
    engine = learner(labelled(dict.fromkeys(names, "0..1"), "\n".join(sums) + "\nvar 0..1: z;\n", "maximize z"))
    engine.start()
    wait_until(lambda: engine.statistics()["restarts"] > 1)
    assert engine.running
    engine.post(row(engine, -1, x0=1, x1=1))
    wait_until(lambda: not engine.running)
    assert engine.complete and engine.poll() == []
    engine.close()


def test_a_row_that_may_leave_out_wanted_solutions_is_not_taken():
    for under, greatest in ((-10, 9 + 3), (-11, 27)):
        engine = learner()
        engine.common.best = -10
        engine.post(row(engine, 3, under, a=1, b=1))
        assert engine.run()[-1].objective == greatest


def test_without_a_box_rows_are_ignored():
    engine = learner(posts=False)
    engine.post(row(engine, 3, a=1, b=1))
    assert engine.run()[-1].objective == 27


def test_a_row_that_is_being_written_is_not_read():
    engine = learner()
    engine.post(row(engine, 3, a=1, b=1))
    engine.places.records[0].sequence += 1
    assert engine.run()[-1].objective == 27


def test_a_contradiction_ends_the_search():
    engine = learner()
    engine.post(row(engine, -1, a=1, b=1))
    assert engine.run() == [] and engine.complete


# ---- the host's side


def test_a_new_row_takes_the_place_of_the_one_of_least_use():
    box = first_postbox()
    places = Places(box)
    assert [places.take("root"), *(places.take("") for _ in range(POSTED_ROWS - 1))] == list(range(POSTED_ROWS))
    for place, record in enumerate(places.records):
        record.used = 1000 if place != 5 else 1
    assert places.take("") == 5
    places.records[7].used += 1  # the others' use is past: it counts half
    places.records[9].used += 0
    assert places.take("") == 5 and places.take("root") == 0
    for record in places.records:
        record.used += 10000 * (record is not places.records[0])
    assert places.take("") != 0, "a row with a name is not dropped for one without"


def test_left_out_variables_are_where_their_terms_are_least():
    lower, upper = np.array([0, -2, 1, 0]), np.array([5, 3, 4, 1])
    left_out = np.array([False, True, True, False])
    whole = Inequality(np.array([0, 1, 2, 3], np.int32), np.array([2, 3, -5, -1]), 10, 0)
    kept = without(whole, left_out, lower, upper)
    assert kept is not None and kept.variables.tolist() == [0, 3] and kept.coefficients.tolist() == [2, -1]
    assert kept.high == 10 + 6 + 20
    assert without(whole, np.array([False, True, True, True]), lower, upper) is None
    assert without(whole._replace(coefficients=np.array([2**59, 1, 1, 1])), left_out, lower, upper) is None
    assert terms_of(kept).tolist() == [[7, 1], [0, 2]]


def test_rows_of_too_many_terms_stay_with_the_host():
    n = POSTED_TERMS + 1
    many = Inequality(np.arange(n, dtype=np.int32), np.ones(n, np.int64), 5, 0)
    nothing = np.zeros(n, bool)
    assert without(many, nothing, np.zeros(n, int), np.ones(n, int)) is None
    nothing[3] = True
    assert without(many, nothing, np.zeros(n, int), np.ones(n, int)) is not None
    assert ctypes.sizeof(Posted) % 64 == 0


# ---- what a relaxation says of random models


def reasons_of(engine: OpenEngine, random: Random, count: int = 12) -> list[Inequality]:
    """Inequalities of random multipliers of the relaxation's rows, which hold in all solutions."""
    prepared = engine.prepared
    assert prepared.model is not None
    relaxation = linearise(prepared.model, *root_bounds(prepared))
    if relaxation is None or len(relaxation.rows) == 0:
        return []
    boxes = EngineBoxes(prepared, np.arange(0))
    boxes.attach(relaxation)
    certifier, (lower, upper) = Certifier(relaxation, relaxation.rows), (relaxation.lower, relaxation.upper)
    for _ in range(count):
        duals = np.array([random.choice((0.0, 0.0, random.uniform(-3, 3))) for _ in range(len(relaxation.rows))])
        multipliers = certifier.certify(duals, lower, upper).multipliers
        reason = reason_of(multipliers, relaxation.rows, lower, upper, boxes.learners)
        if reason is not None:
            boxes.post(reason, NO_SOLUTION, "")
    return emptied(boxes.rows)


def check_random_model(number: int, role: str) -> int:
    """The number of posted rows; a learner that has them finds the optimum, and proves it."""
    random = Random(number)
    model = parse_text(with_text(draw_objective_model(random)).text)
    try:
        solutions = all_solutions(model)
        simplify = number % 2 == 0
        if prepare(parse_text(model.text), Options(simplify=simplify), Interrupt()).tnf.infeasible:
            return 0
        engine = OpenEngine(model.text, simplify, blocks=1, roles=(role,), learn_bytes=2**24, posts=True)
    except (WindowTooSmall, TurboError):
        return 0
    rows = reasons_of(engine, random)
    for one in rows:
        engine.post(one)
    found = engine.run()
    best = optimum(model, solutions)
    if engine.complete:
        assert (found[-1].objective if found else None) == best, model.text
    assert engine.statistics()["explanation_errors"] == 0, model.text
    return engine.places.n_rows if found else 0


def test_with_posted_rows_a_learner_proves_the_optimum():
    assert sum(check_random_model(number, LEARNERS[number % len(LEARNERS)]) for number in range(30)) > 15


@pytest.mark.slow
def test_posted_rows_explain_what_they_say(checked):
    """In the build that checks each explanation, each learned clause and each fixpoint."""
    n_rows = sum(check_random_model(number, role) for number in range(100, 400) for role in ("prover", "soloist"))
    assert n_rows > 300
