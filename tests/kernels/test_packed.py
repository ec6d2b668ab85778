"""Stores with packed truths (kernels/core/store.h, variant `packed`): the same search in less memory.

Many lanes and one run the kernels; each engine runs every row once more at each fixpoint, and looks at what the kernels
assert.
"""

from __future__ import annotations

import ctypes
from dataclasses import replace
from random import Random

import numpy as np
import pytest

from support.command import wait_until
from support.engines import OpenEngine, drain, labelled
from support.launches import laid_out
from support.variant_engines import KINDS
from turbo_fzn.engine import variants
from turbo_fzn.engine.abi.abi import NO_INCUMBENT, Decision, Units
from turbo_fzn.engine.contract import Found, Roots
from turbo_fzn.engine.cuda import gpu
from turbo_fzn.engine.cuda.shape import packing_pays
from turbo_fzn.engine.layout.layout import Layout, Settings
from turbo_fzn.engine.layout.packed import find_places
from turbo_fzn.tnf.language import TNF

NO_EXPORTS = np.empty(0, np.int32)


def tnf_of(*boxes: tuple[int, int]) -> TNF:
    """Variables with these bounds, and no rows."""
    ends = np.array(boxes, np.int64).reshape(-1, 2)
    return TNF(*[np.empty(0, np.int32)] * 4, *ends.T.copy(), np.empty(0, np.int64))


DOMAINS = {"0..1": (0, 1), "-2..3": (-2, 3), "0..5": (0, 5), "1..1": (1, 1)}


def random_model(seed: int) -> str:
    """Integers and truths in any order, with rows on both that have a solution, and a goal in every other model."""
    chance = Random(seed)
    names = {f"v{i}": chance.choice(("0..1", *DOMAINS)) for i in range(10)} | {"t": "0..1"}
    value = {name: chance.randint(*DOMAINS[domain]) for name, domain in names.items()}
    truths = [name for name, domain in names.items() if domain == "0..1"]
    rows = [f"bool2int(b_{name},{name})" for name in truths]
    for _ in range(30):
        (a, b, c), t, factor = chance.sample(list(names), 3), chance.choice(truths), chance.randint(-3, 3)
        high = factor * value[a] + 2 * value[b] - value[c] + chance.randint(0, 2)
        row, holds = chance.choice((
            (f"int_lin_le([{factor},2,-1],[{a},{b},{c}],{high})", True),
            (f"int_eq_reif({a},{b},b_{t})", (value[a] == value[b]) == value[t]),
            (f"int_le_reif({a},{b},b_{t})", (value[a] <= value[b]) == value[t]),
            (f"int_max({a},{b},{c})", max(value[a], value[b]) == value[c]),
            (f"int_ne({a},{b})", value[a] != value[b]),
        ))  # fmt: skip
        rows += [row] * holds
    more = [*(f"var bool: b_{name};\n" for name in truths), *(f"constraint {row};\n" for row in rows)]
    return labelled(names, "".join(more), goal=chance.choice(("satisfy", f"maximize {chance.choice(list(names))}")))


# ---- the order of a store


def test_truths_stand_behind_the_other_variables_of_the_store():
    places = find_places(tnf_of((0, 1), (-1, 1), (0, 0), (3, 9), (1, 1), (0, 2)), n_stored=5)
    assert places.order.tolist() == [1, 3, 0, 2, 4, 5] and places.n_wide == 2, "within 0..1, of the first five"
    assert places.order[places.place].tolist() == list(range(6))


@pytest.mark.parametrize("n_wide", [0, 1, 3, 4, 5, 8])
@pytest.mark.parametrize("n_truths", [0, 1, 4, 5, 33])
def test_a_truth_takes_a_byte_of_a_store(n_wide, n_truths):
    tnf = tnf_of(*[(0, 1)] * n_truths, *[(0, 9)] * n_wide)
    layout = Layout(tnf, NO_EXPORTS, Settings(packed=True))
    up = lambda size: -(-size // 16) * 16  # noqa: E731
    assert layout.plain_store_bytes == 2 * up(4 * n_wide) + up(-(-(n_wide + n_truths) // 4) * 4) + layout.marks_bytes
    assert Layout(tnf, NO_EXPORTS, Settings()).packed_store_bytes == layout.plain_store_bytes


def test_variables_are_named_by_their_places_in_the_arrays_of_the_kernels():
    tnf = tnf_of((0, 1), (0, 9), (0, 1), (2, 5))
    layout = Layout(tnf, np.array([3, 0], np.int32), Settings(packed=True))
    assert layout.exports.tolist() == [1, 2] and layout.arrays["root_upper"].tolist() == [9, 5, 1, 1]
    assert layout.arrays["neighbours"].tolist() == [2, 0, 3, 1], "in the order of the TNF"
    assert layout.arrays["strategy_vars"][layout.rest :].tolist() == [2, 0, 3, 1], "as the last strategy takes them"
    values = np.array([10, 11, 12, 13])
    assert layout.places.back(layout.places.into(values)).tolist() == values.tolist()
    assert layout.places.into(values).tolist() == [11, 13, 10, 12]


def test_truths_are_packed_where_far_more_stores_fit_by_that():
    usual = laid_out("sm_90", 30_000, 3_000, 96)
    layout = Layout(tnf_of(*[(0, 1)] * 40, (0, 9)), NO_EXPORTS, Settings())
    assert packing_pays(laid_out("sm_90", 12_000, 3_000, 96), usual, layout)
    assert not packing_pays(laid_out("sm_90", 25_000, 3_000, 96), usual, layout)
    everywhere = laid_out("sm_90", 300_000, 3_000, 96)
    assert not everywhere.store_shared and packing_pays(everywhere, everywhere, layout), "by the bytes of the layout"
    assert not packing_pays(everywhere, everywhere, Layout(tnf_of(*[(0, 9)] * 40), NO_EXPORTS, Settings()))


# ---- the search


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize(("kind", "more"), [("cpu", ""), ("gpu", ""), ("gpu", ",fused,unsimplified")])
def test_the_search_is_that_of_a_usual_store(kind, more, seed):
    text, runs = random_model(seed), []
    for variant in ("packed", "unpacked"):
        engine = KINDS[kind](text, variant + more, blocks=1)
        found = engine.run()
        assert engine.complete
        runs.append(([one.values.tolist() for one in found], engine.total("nodes"), engine.total("failures")))
    assert runs[0] == runs[1]


@pytest.mark.parametrize("kind", ["cpu", "gpu"])
def test_a_trail_that_is_full_and_lists_that_overflow_lose_nothing(kind):
    """Levels are then replayed, and all flags looked at."""
    for seed in range(8):
        runs = []
        for settings in ({}, {"trail_capacity": 1, "queue_capacity": 4}):
            engine = KINDS[kind](random_model(seed), "packed", blocks=1, **settings)
            runs.append([one.values.tolist() for one in engine.run()])
        assert runs[0] == runs[1]


# ---- what the host brings and takes


MIXED = labelled(
    {"p": "0..1", "x": "0..9", "q": "0..1", "y": "2..5", "z": "0..99"},
    "constraint int_lin_eq([1,1,3,3,-1],[x,y,p,q,z],0);\n",
    goal="maximize z",
)
NEIGHBOURHOODS = frozenset(("random", "window"))


def drained(engine: OpenEngine) -> list[Found]:
    """All that it finds."""
    engine.start()
    found = drain(engine)
    assert engine.complete
    engine.close()
    return found


def packed_engine(**settings: object) -> OpenEngine:
    engine = OpenEngine(MIXED, packed=True, macros=(variants.TRUTHS,), **settings)
    assert engine.layout.places.moves and 0 < engine.layout.n_wide < engine.layout.store_vars
    return engine


def test_a_solution_from_elsewhere_is_kept_at_the_places_of_its_values():
    every = drained(OpenEngine(MIXED, blocks=1))
    engine = packed_engine(blocks=1, lns_percent=100, methods=NEIGHBOURHOODS)
    engine.adopt(every[0])
    n, places = engine.layout.tnf.n_vars, engine.layout.places
    assert engine.memory["incumbents"][:n][places.place].tolist() == every[0].values.tolist()
    assert engine.common.best == -every[0].objective
    engine.close()


def test_root_bounds_are_in_the_order_of_the_tnf_on_both_ways():
    engine = packed_engine(blocks=1)
    assert engine.roots() is None
    lower, upper = engine.prepared.tnf.lower.copy(), engine.prepared.tnf.upper.copy()
    x = int(np.flatnonzero(upper == 9)[0])
    lower[x] = 8
    engine.tighten(Roots(np.column_stack((lower, -upper)).reshape(-1), engine.common.best))
    told = engine.roots()
    assert told is not None and told.sides.reshape(-1, 2)[:, 0].tolist() == lower.tolist()
    words = engine.memory["units"][ctypes.sizeof(Units) :].view(engine.layout.bound_type).reshape(-1, 2)
    assert words[engine.layout.places.place[x]].tolist() == [8, -9]
    found = drained(engine)
    assert {one.values[x] for one in found} <= {8, 9}


def test_paths_of_subproblems_name_variables_as_the_tnf_does():
    """A tree is searched in part by an engine with packed truths, in part by another without."""
    wanted = drained(OpenEngine(MIXED, blocks=1))[-1].objective
    engines = [packed_engine(blocks=2, shares=True), OpenEngine(MIXED, blocks=2, shares=True)]
    engines[0].parcels.bring([b""])
    found, moved = {0: [], 1: []}, []
    for engine in engines:
        engine.start()

    def is_over() -> bool:
        for number, engine in enumerate(engines):
            found[number] += engine.poll()
            engine.parcels.want(2)
            paths = engine.parcels.take()
            moved.extend(paths)
            if paths:
                engines[1 - number].parcels.bring(paths)
        return all(engine.parcels.is_dry() for engine in engines)

    wait_until(is_over)
    for engine in engines:
        engine.parcels.release()
    for number, engine in enumerate(engines):
        found[number] += drain(engine)
        engine.close()
    assert max(one.objective for ones in found.values() for one in ones) == wanted
    check_boxes(engines[1].prepared.tnf, moved)


def check_boxes(tnf: TNF, paths: list[bytes]) -> None:
    """Each decision lies within the root's bounds of the variable that it names."""
    for path in paths:
        for one in np.frombuffer(path, np.dtype(Decision.of(32))):
            assert tnf.lower[one["var"]] <= one["lower"] <= one["upper"] <= tnf.upper[one["var"]]


def gpu_engine(n_truths: int, n_wide: int, **settings: object) -> gpu.GpuEngine:
    """On a GPU played by a driver in Python, whose kernels hang, for truths first."""
    tnf = replace(tnf_of(*[(0, 1)] * n_truths, *[(0, 9)] * n_wide), objective=0, sense=1)
    return gpu.GpuEngine(tnf, np.arange(tnf.n_vars, dtype=np.int32), Settings(blocks=0, **settings))


@pytest.mark.parametrize(
    ("n_truths", "n_wide", "settings", "packed", "store"),
    [
        (6000, 500, {}, True, "shared"),
        (6000, 500, {"packed": False}, False, "shared"),
        (6000, 500, {"store": "shared"}, False, "shared"),
        (40, 20, {}, False, "shared"),
        (0, 6000, {}, False, "shared"),
        (60_000, 9_000, {}, True, "global"),
        (0, 60_000, {}, False, "global"),
    ],
)
def test_a_gpu_packs_truths_where_that_pays(fake_gpu, n_truths, n_wide, settings, packed, store):
    """What lies in global memory stays there, also where it would fit then."""
    engine = gpu_engine(n_truths, n_wide, **settings)
    assert (engine.layout.packed, engine.shape["store"]) == (packed, store)
    assert (engine.problem.packed, engine.problem.n_wide_vars) == (packed, n_wide if packed else n_truths + n_wide)
    engine.close()


def test_a_running_gpu_is_told_solutions_and_bounds_in_the_order_of_its_store(fake_gpu):
    fake_gpu.hangs = True
    engine = gpu_engine(6000, 500)
    n, places = 6500, engine.layout.places
    engine.start()
    values = np.arange(n) % 10
    engine.adopt(Found(5, 0, "", values))
    told = engine.memory["incumbents"].memory.view(np.int32).reshape(-1, n)[engine.layout.n_islands]
    assert places.moves and told[places.place].tolist() == values.tolist()
    sides = np.column_stack((values, -values))
    engine.tighten(Roots(sides.reshape(-1), NO_INCUMBENT))
    words = engine.memory["units"].memory[ctypes.sizeof(Units) :].view(np.int32).reshape(-1, 2)
    assert words[places.place].tolist() == sides.tolist()
    fake_gpu.hangs = False
    engine.close()


def test_a_path_is_translated_and_back():
    places = find_places(tnf_of((0, 1), (0, 9), (0, 1), (2, 5)), n_stored=4)
    path = np.zeros(4, np.dtype(Decision.of(32)))
    path["var"], path["lower"] = range(4), [7, 8, 9, 10]
    there = places.path_into(path.tobytes(), 32)
    assert np.frombuffer(there, path.dtype)["var"].tolist() == [2, 0, 3, 1]
    assert places.path_back(there, 32) == path.tobytes() and places.path_into(b"", 32) == b""


@pytest.mark.parametrize("kind", ["cpu", "gpu"])
def test_neighbourhoods_keep_and_fix_truths(kind):
    engine = KINDS[kind](MIXED, "packed", blocks=3, lns_percent=60, methods=NEIGHBOURHOODS)
    found: list[Found] = engine.run()
    assert engine.complete and found[-1].objective == 9 + 5 + 3 + 3
