"""The hybrid engine: threads that search, and blocks of a GPU that propagate for them.

They run on what hybrid_runs.py says. What is compared with is the CPU engine, which must walk the same tree, however
little room there is for trails, stacks and messages.
"""

from __future__ import annotations

import itertools
import subprocess
import sys
import time
from contextlib import closing

import pytest
from hypothesis import given, settings

from support import fake_cuda
from support.builds import kernel_cache, little_optimised
from support.capacities import QUEENS_SOLUTIONS, TOO_SMALL, engine_for, queens_text, run
from support.command import PATIENCE, environment, long_propagation, wait_until
from support.corpus import COUNTED, EXPECTED, LONG, has_floats, text_of
from support.engines import drain, labelled
from support.flatzinc_text import with_text
from support.hybrid_runs import ENDLESS, drain_and_close, open_engine
from support.mailboxes import MAILBOXES
from support.oracle import all_solutions, fingerprint, optimum, outputs_of
from support.overflow import BY_BRANCHING, sum_text
from support.places import CORPUS, TESTS
from support.random_models import models
from support.unbounded import MODELS as UNBOUNDED
from turbo_fzn import solve_text
from turbo_fzn.engine import hybrid
from turbo_fzn.engine.layout.layout import Settings

ALONE = {"lns": "off", "learn": "off", "relaxation": "off"}  # so that the CPU engine searches the tree alone
TAKE_SECONDS = {"beam.mzn", "fence.mzn", "flower_beds.mzn", "hamilton.mzn", "refraction.mzn", "rota.mzn",
                "steiner_triples.mzn", "workshop.mzn"}  # fmt: skip
TREES = [entry for entry in EXPECTED if entry["model"] not in LONG | {"two_circles.mzn"}]


# ---- the same tree


def both(text: str, **flags: object) -> tuple:
    """The results of the CPU engine and the hybrid one, of one block each."""
    return tuple(solve_text(text, arch=arch, blocks=1, **{**ALONE, **flags}) for arch in ("cpu", "hybrid"))


def is_gpu(device: fake_cuda.Driver | None) -> bool:
    """There the warps of a block run rows in no fixed order. That rows of reals then stop in other places, since an
    end moves by no small steps (docs/design/floats.md), is the likely reason why trees have differed."""
    return device is None


@pytest.mark.parametrize(
    "entry",
    [
        pytest.param(one, id=one["model"], marks=[pytest.mark.slow] * (one["model"] in TAKE_SECONDS or i % 3 != 0))
        for i, one in enumerate(TREES)
    ],
)
def test_one_thread_walks_the_tree_that_the_cpu_engine_walks(hybrid_device, entry):
    here, remote = both(text_of(entry), all_solutions=entry["kind"] == "count", check=True)
    assert remote.complete and remote.status == here.status
    assert remote.statistics["engine"] == "hybrid"
    if not (has_floats(text_of(entry)) and is_gpu(hybrid_device)):
        assert {name: remote.statistics[name] for name in COUNTED} == {name: here.statistics[name] for name in COUNTED}
        assert remote.solutions == here.solutions  # in the same order
    if entry["kind"] == "count":
        assert len(remote.solutions) == entry["figure"]
    else:
        assert remote.objective == pytest.approx(entry["figure"], rel=2e-6, abs=2e-6)


@pytest.mark.slow
@pytest.mark.parametrize("entry", [one for one in EXPECTED if one not in TREES], ids=lambda entry: entry["model"])
def test_a_model_whose_tree_is_long_has_the_optimum_at_less_precision(hybrid_device, entry):
    result = solve_text(text_of(entry), arch="hybrid", float_precision=1e-3)
    assert result.complete and result.objective == pytest.approx(entry["figure"], rel=2e-3, abs=2e-3)


@pytest.mark.parametrize("model", ["crossword", "golomb", "job_shop", "all_interval", "mixing", "wide"])
def test_several_threads_find_what_one_does(hybrid_device, model):
    entry = next(one for one in EXPECTED if one["model"] == f"{model}.mzn")
    for flags in ({"threads": 3}, {"threads": 8, "seed": 1}):
        result = solve_text(text_of(entry), arch="hybrid", all_solutions=entry["kind"] == "count", check=True, **flags)
        assert result.complete and result.statistics["blocks"] == flags["threads"]
        figure = len(result.solutions) if entry["kind"] == "count" else result.objective
        assert figure == pytest.approx(entry["figure"], rel=2e-6)


@pytest.mark.slow
@given(model=models(["satisfy"]))
@settings(max_examples=settings.default.max_examples // 2)
def test_all_solutions_of_a_random_model_are_those_of_the_oracle(hybrid_device, model):
    expected = sorted(fingerprint(outputs_of(model, solution)) for solution in all_solutions(model))
    for flags in ({"blocks": 1, "simplify": False}, {"threads": 3}):
        result = solve_text(with_text(model).text, arch="hybrid", check=True, all_solutions=True, **flags)
        assert sorted(map(fingerprint, result.solutions)) == expected, (flags, model.text)
        assert result.status == ("ALL_SOLUTIONS" if expected else "UNSATISFIABLE")


@given(model=models(["minimize"]))
@settings(max_examples=settings.default.max_examples // 4)
def test_the_optimum_of_a_random_model_is_that_of_the_oracle(hybrid_device, model):
    best = optimum(model, all_solutions(model))
    result = solve_text(with_text(model).text, arch="hybrid", check=True, threads=2, relaxation="off")
    assert result.status == ("UNSATISFIABLE" if best is None else "OPTIMAL_SOLUTION"), model.text
    assert best is None or result.objective == best


def test_a_solution_beyond_the_store_is_never_called_unsatisfiable(hybrid_device):
    """The block meets the bound that cannot be stored, and the thread must hear of it."""
    assert solve_text(sum_text(BY_BRANCHING), arch="hybrid", blocks=1, simplify=False).status == "UNKNOWN"


@pytest.mark.parametrize("name", UNBOUNDED)
def test_an_objective_without_bounds_is_as_on_the_cpu(hybrid_device, name):
    here, remote = both(UNBOUNDED[name].replace(";", ";\n"))
    assert remote.status == here.status


def test_a_warm_start_is_tried_first(hybrid_device):
    text = labelled({"x": "1..9", "y": "1..9"}, "constraint int_lt(x,y);\n", "minimize y")
    warm = text.replace("solve ::", "solve :: warm_start([x,y],[3,7]) ::")
    here, remote = both(warm, intermediate=True, seed=1)
    assert remote.solutions == here.solutions and remote.solutions[0] == {"x": 3, "y": 7}


# ---- both stores mirror each other: going back, replays, and lists that are sent in parts


@pytest.mark.slow
@pytest.mark.parametrize("entries", MAILBOXES.values(), ids=MAILBOXES)
@pytest.mark.parametrize("small", [*TOO_SMALL, "nothing"])
@pytest.mark.parametrize("goal", ["satisfy", "maximize cost"])
def test_the_tree_is_the_same_however_little_room_there_is(hybrid_device, goal, small, entries):
    """With no trail each step back is a replay, from the root bounds of the block; with short lists what has changed is
    told in parts, both ways."""
    capacities = TOO_SMALL.get(small, {})
    here, _, counted = run("cpu", goal, blocks=1, **capacities)
    found, engine, told = run("hybrid", goal, blocks=1, mailbox_entries=entries, **capacities)
    assert found == here and told["complete"]
    assert {name: told[name] for name in ("nodes", "failures", "replays", "donations")} == {
        name: counted[name] for name in ("nodes", "failures", "replays", "donations")
    }
    in_parts = entries is not None
    assert (told["messages"] > told["round_trips"]) == in_parts and engine.shape["blocks"] == 1


@pytest.mark.parametrize("small", TOO_SMALL)
@pytest.mark.parametrize("blocks", [2, 5])
def test_threads_that_pass_each_other_work_find_each_solution_once(hybrid_device, small, blocks):
    found, _, told = run("hybrid", blocks=blocks, mailbox_entries=3, **TOO_SMALL[small])
    assert told["complete"] and len(found) == len(set(found)) == QUEENS_SOLUTIONS


def test_only_what_has_changed_travels(hybrid_device):
    """Three variables that no row joins: of each node the decision, and what going back has restored. Each change is a
    word and two bounds, each message and each answer a word."""
    names = {"x": "0..1", "y": "0..1", "z": "0..1"}
    engine = open_engine(labelled(names), blocks=1)
    assert len(drain_and_close(engine)) == 8
    counted = engine.statistics()
    assert counted["nodes"] == 15 and counted["round_trips"] == counted["messages"] == 14
    # A first branch tells its decision. A second one, which is one level up, tells all that lies behind it: of z one
    # variable, of y two, of x three.
    changes = 7 * 1 + 4 * 1 + 2 * 2 + 1 * 3
    assert counted["sent_bytes"] == 14 * 8 + changes * 12
    assert counted["returned_bytes"] == 14 * 8  # nothing follows from a decision


def test_what_follows_from_a_decision_is_told_once(hybrid_device):
    """x <= y <= z: y = 1 fixes z, and x = 1 fixes both. Nothing follows from the other decisions."""
    text = labelled({"x": "0..1", "y": "0..1", "z": "0..1"}, "constraint int_le(x,y);\nconstraint int_le(y,z);\n")
    engine = open_engine(text, simplify=False, blocks=1)
    assert len(drain_and_close(engine)) == 4
    counted = engine.statistics()
    assert counted["round_trips"] == 6 and counted["returned_bytes"] == 6 * 8 + 3 * 12


def test_failures_cost_no_answer_but_a_word(hybrid_device):
    """The block takes back what it has done until it failed, and the thread undoes its decision."""
    differ = "".join(f"constraint int_ne({one},{other});\n" for one, other in itertools.combinations("xyz", 2))
    engine = open_engine(labelled(dict.fromkeys("xyz", "0..1"), differ), simplify=False, blocks=1)
    assert drain_and_close(engine) == [] and engine.complete
    counted = engine.statistics()
    assert counted["failures"] == counted["round_trips"] == 2 and counted["returned_bytes"] == 0


ASSERTING = """
import itertools
from pathlib import Path
import pytest
from support.fake_gpu import lent_gpu
from support.capacities import TOO_SMALL, run
from support.mailboxes import MAILBOXES
from turbo_fzn import solve_text
with pytest.MonkeyPatch.context() as patch:
    from turbo_fzn.engine import hybrid
    for bits in (32, 64):
        hybrid.searchers(bits)
    with lent_gpu(patch, Path({cache!r})):
        for small, entries, blocks in itertools.product(TOO_SMALL.values(), MAILBOXES.values(), (1, 4)):
            for goal in ("satisfy", "maximize cost"):
                counted = run("hybrid", goal, blocks=blocks, mailbox_entries=entries, **small)[2]
                assert counted["complete"] and counted["fixpoint_errors"] == 0
        for path in sorted(Path({corpus!r}).glob("*.fzn")):
            if path.stem in {models!r}:
                result = solve_text(path.read_text(), arch="hybrid", threads=2, all_solutions=True)
                assert result.complete and result.statistics["fixpointErrors"] == 0, path
print("done")
"""
CHECKED_MODELS = ("crossword", "golomb", "hamilton", "job_shop", "lights_out", "magic_square", "remainders", "wide")


@pytest.mark.slow
def test_both_stores_are_equal_after_each_round_trip_and_at_their_fixpoint(tmp_path):
    """The build that asserts has the block sum up its store, and the thread compare; that which checks fixpoints runs
    all rows in the thread's store, too."""
    script = ASSERTING.format(cache=str(tmp_path / "cache"), corpus=str(CORPUS), models=CHECKED_MODELS)
    changes = environment(**little_optimised("-DCHECK_ASSERTIONS", "-DCHECK_FIXPOINT"), **kernel_cache())
    changes["PYTHONPATH"] += f":{TESTS}"
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, env=changes, timeout=PATIENCE, check=False)
    assert done.returncode == 0 and done.stdout.endswith("done\n"), done.stderr[-2000:]


# ---- stops


def test_a_stop_is_heard_within_a_propagation_that_would_take_ages(hybrid_device):
    """In the midst of a round trip: the thread leaves without the answer, and the block without giving it."""
    wide, names = 10**18, ("x", "y", "greater", "lesser")  # it creeps when `off` is decided, by no cycle
    text = "var 0..1: off :: output_var;\n" + "".join(f"var 0..{wide}: {name} :: output_var;\n" for name in names)
    text += "constraint int_max(x,y,greater);\nconstraint int_min(x,y,lesser);\n"
    for low, high in (("x", "greater"), ("y", "greater"), ("lesser", "x"), ("lesser", "y")):
        text += f"constraint int_lin_le([1,-1,{-2 * wide}],[{low},{high},off],-1);\n"
    text += "solve :: int_search([off],input_order,indomain_min,complete) satisfy;\n"
    with closing(open_engine(text, simplify=False, blocks=2)) as engine:
        engine.start()
        wait_until(lambda: waits_for_long(engine))
        engine.stop()
        assert drain(engine) == [] and not engine.complete


def waits_for_long(engine: hybrid.HybridEngine) -> bool:
    """Whether a message is on its way that has not come back for some time."""
    before = engine.statistics()
    time.sleep(0.1)
    after = engine.statistics()
    return after["messages"] > after["round_trips"] == before["round_trips"]


@pytest.mark.parametrize("entries", [1, None])
@pytest.mark.parametrize("ring_slots", [1, 64])
def test_a_search_without_end_is_closed_in_the_midst_of_it(hybrid_device, ring_slots, entries):
    with closing(open_engine(ENDLESS, blocks=4, ring_slots=ring_slots, mailbox_entries=entries)) as engine:
        engine.start()
        wait_until(engine.poll)
    assert not engine.complete and not any(thread.is_alive() for thread in engine.threads)
    engine.close()  # again


def test_a_stop_before_the_first_node_claims_nothing(hybrid_device):
    with closing(engine_for("hybrid", "satisfy", Settings(blocks=3))) as engine:
        engine.stop()
        engine.start()
        assert drain(engine) == [] and not engine.complete


def test_an_engine_that_was_never_started_is_closed(hybrid_device):
    engine_for("hybrid", "satisfy", Settings(blocks=3)).close()


def test_the_number_of_solutions_and_the_time_are_limited(hybrid_device):
    result = solve_text(ENDLESS, arch="hybrid", n_solutions=5, threads=3)
    assert (result.status, len(result.solutions)) == ("SATISFIED", 5)
    result = solve_text(long_propagation("0..1000000000"), arch="hybrid", time_limit=700, simplify=False)
    assert (result.status, result.solutions) == ("UNKNOWN", [])


def test_a_bound_that_the_host_has_proved_ends_the_search(hybrid_device):
    names = [f"x{i}" for i in range(9)]
    text = "".join(f"var 0..1000: {name} :: output_var;\n" for name in names) + "var 0..9000: s :: output_var;\n"
    text += f"constraint int_lin_eq({[1] * 9 + [-1]},[{','.join(names)},s],0);\nconstraint int_lin_ne([1],[s],0);\n"
    with closing(open_engine(text + "solve maximize s;", blocks=2)) as engine:
        engine.start()
        engine.raise_bound(-1)
        drain(engine)
        assert engine.complete and engine.bound == -1


def test_an_incumbent_of_the_caller_bounds_the_search(hybrid_device):
    text = queens_text("maximize cost")
    best = max(drain_and_close(open_engine(text, blocks=1)), key=lambda found: found.objective)
    engine = open_engine(text, blocks=1)
    assert drain_and_close(engine, best) == [] and engine.complete
