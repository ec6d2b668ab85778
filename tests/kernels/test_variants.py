"""Variants of the engines (turbo_fzn/engine/variants.py): what each does, and that it finds what the usual build finds.

Those of the hybrid engine are in test_hybrid_variants.py, what is said of names in test_variant_names.py.
`python tests/tools/variants.py` (`make test-variants`) runs more tests over each of them.
"""

from __future__ import annotations

import itertools
from dataclasses import replace
from random import Random

import numpy as np
import pytest

from support.corpus import EXPECTED, text_of
from support.engines import OpenEngine, labelled
from support.free_search import first_solution, tasks
from support.launches import laid_out
from support.market_split import market_split_model
from support.quick import slow_if
from support.variant_engines import KINDS, ManyLanes, VariantEngine
from turbo_fzn import solve_text
from turbo_fzn.base.errors import EngineError
from turbo_fzn.engine import variants
from turbo_fzn.engine.abi.abi import STATE_BYTES
from turbo_fzn.engine.contract import Found
from turbo_fzn.engine.layout.layout import Settings
from turbo_fzn.engine.layout.order import ORDERS, ordered_rows
from turbo_fzn.options.options import Options
from turbo_fzn.options.parsing import parse_arguments
from turbo_fzn.process.interrupt import Interrupt
from turbo_fzn.read.flatzinc import parse_text
from turbo_fzn.run.prepare import prepare
from turbo_fzn.tnf.language import TNF, Op, VarChoice

ALL_DIFFERENT = "".join(f"constraint int_ne(x{i},x{j});\n" for i in range(5) for j in range(i))
PERMUTATIONS = labelled({f"x{i}": "0..4" for i in range(5)}, ALL_DIFFERENT + "constraint int_lt(x0,x1);\n")
MEDIAN, SPLIT, RANDOM = (
    PERMUTATIONS.replace("indomain_min", f"indomain_{how}") for how in ("median", "split", "random")
)  # three branches; several decisions on a variable; another order each time
ALL = list(itertools.permutations(range(5)))
WANTED = sorted(one for one in ALL if one[0] < one[1])

# Names of --variant that go together, by the engine that has them; together all of them.
QUICK = {
    "cpu": ("sweep,recompute,static-split,sort=operator,octagon",
            "warp-sweep,retire=scan,sort=neighbourhood,unsimplified", "bitset", "unfused", "packed"),
    "gpu": ("sweep,no-sync,plain-bounds,recompute,static-split", "warp-sweep,retire=scan,model=shared", "retire",
            "plain-bounds", "bitset", "fused", "packed"),
}  # fmt: skip
EACH = {
    "cpu": ("sweep", "sweep,no-retire", "sweep,retire=scan", "warp-sweep", "recompute", "no-retire", "static-split",
            "static-split,recompute", "warp-sweep,recompute", "bitset,recompute", "bitset,sweep", "packed,recompute"),
    "gpu": ("default", "sweep", "sweep,retire", "sweep,retire=scan", "warp-sweep", "warp-sweep,retire", "plain-bounds",
            "plain-bounds,warp-sweep", "retire,recompute", "recompute", "static-split", "model=shared",
            "bitset,sweep", "bitset,retire", "fused,retire", "fused,recompute",
            "packed,retire", "packed,fused", "packed,sweep"),
}  # fmt: skip
COMPILED = {("cpu", QUICK["cpu"][0]), ("gpu", QUICK["gpu"][1])}  # others are slow: each has kernels of its own
BY_QUICK = [
    pytest.param(kind, names, marks=slow_if((kind, names) not in COMPILED))
    for kind, many in QUICK.items()
    for names in many
]
BY_EACH = [(kind, names) for kind, many in EACH.items() for names in many]
SMALL = "assignment coins golomb job_shop knights magic_square queens rcpsp remainders send_more_money".split()


def outputs_of(engine: VariantEngine, found: list[Found]) -> list[tuple[int, ...]]:
    """The values of all output variables, of each solution."""
    places = np.concatenate([item.variables for item in engine.prepared.tnf.outputs]).astype(int)
    return [tuple(one.values[places].tolist()) for one in found]


def figure_of(engine: VariantEngine, entry: dict) -> int | None:
    """This engine's value of the figure that examples/expected.json has of a model."""
    found = engine.run()
    assert engine.complete
    if entry["kind"] == "count":
        return len(set(outputs_of(engine, found)))
    return found[-1].objective if found else None


def entry_of(model: str) -> dict:
    return next(one for one in EXPECTED if one["model"] == f"{model}.mzn")


# ---- answers


@pytest.mark.parametrize(("kind", "names"), BY_QUICK)
def test_a_variant_finds_every_solution_once(kind, names):
    for text, blocks in ((PERMUTATIONS, 1), (SPLIT, 1), (MEDIAN, 3)):
        engine = KINDS[kind](text, names, blocks=blocks)
        assert sorted(outputs_of(engine, engine.run())) == WANTED and engine.complete


@pytest.mark.parametrize(("kind", "names"), BY_QUICK)
def test_a_variant_proves_the_optimum(kind, names):
    entry = entry_of("golomb")
    assert figure_of(KINDS[kind](text_of(entry), names, blocks=2), entry) == entry["figure"]


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "names"), BY_EACH)
def test_each_variant_has_the_figures_of_the_examples(kind, names):
    for model in SMALL:
        entry = entry_of(model)
        for blocks in (1, 3):
            assert figure_of(KINDS[kind](text_of(entry), names, blocks=blocks), entry) == entry["figure"], model


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "names"), BY_EACH)
def test_each_variant_searches_neighbourhoods(kind, names):
    """Beside the tree; they lead to the optimum, which the tree proves."""
    entry = entry_of("rcpsp")
    engine = KINDS[kind](text_of(entry), names, blocks=4, lns_percent=50)
    assert figure_of(engine, entry) == entry["figure"]


@pytest.mark.gpu
@pytest.mark.parametrize(
    "names", [*(one.name for one in variants.VARIANTS if variants.GPU in one.engines and not one.needs), *QUICK["gpu"]]
)
def test_a_variant_on_a_gpu_has_the_figures_of_the_examples(names):
    for model in SMALL:
        entry = entry_of(model)
        every = entry["kind"] == "count"
        result = solve_text(text_of(entry), arch="gpu", variant=names, lns="off", all_solutions=every, check=True)
        assert result.complete, model
        assert (len(result.solutions) if every else result.objective) == entry["figure"], model


# ---- what each does

SWEEP, WARP_SWEEP = QUICK["cpu"][:2]
ENTAILED = labelled({"a": "0..1"} | {f"x{i}": "0..3" for i in range(4)},
                    "".join(f"constraint int_le(a,x{i});\n" for i in range(4)), how="indomain_max")  # fmt: skip


def stairs(n: int) -> str:
    """Each a step above the one before; the last is decided first, so bounds go through the rows from behind."""
    names = [f"x{i}" for i in range(n)]
    rows = "".join(f"constraint int_lt({low},{high});\n" for low, high in zip(names, names[1:]))
    return labelled(dict.fromkeys(reversed(names), f"0..{2 * n}"), rows, goal="minimize x0")


def test_a_sweep_runs_all_rows_in_each_round():
    engine = VariantEngine(stairs(12), SWEEP, blocks=1)
    engine.run()
    assert engine.total("propagations") == engine.total("iterations") * engine.layout.tnf.n_rows


@pytest.mark.slow  # for the kernels
def test_a_warp_brings_its_rows_to_their_fixpoint_in_one_round():
    """And in a second one sees that nothing is left to be done."""
    sweep, local = (VariantEngine(stairs(12), names, blocks=1) for names in (SWEEP, WARP_SWEEP))
    sweep.run()
    local.run()
    assert local.total("iterations") <= 2 * local.total("nodes") < sweep.total("iterations")
    assert local.total("propagations") > local.total("iterations") * local.layout.tnf.n_rows


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        pytest.param(kind, names, marks=slow_if((kind, names) not in COMPILED))
        for kind, names in (("cpu", WARP_SWEEP), *[("gpu", names) for names in QUICK["gpu"][1:3]])
    ],
)
def test_rows_that_have_retired_are_not_run(kind, names):
    """Once `a` is fixed, nothing that happens to the others matters to a row, though it watches them."""
    engine = KINDS[kind](ENTAILED, names, blocks=1, seed=1)
    assert len(engine.run()) == 4**4 + 3**4
    assert engine.total("propagations") < engine.total("nodes") / 5


def test_a_list_has_the_rows_of_all_warps():
    """Each warp lists 128 of them at a time. Where one is missing, it could still tighten something in the end."""
    engine = ManyLanes(stairs(160), QUICK["gpu"][1], blocks=1)
    assert engine.run()[-1].objective == 0 and engine.layout.tnf.n_rows > 128


def test_recomputation_replays_each_step_back():
    usual, anew = OpenEngine(PERMUTATIONS, blocks=1), VariantEngine(PERMUTATIONS, SWEEP, blocks=1, subproblems=1)
    for engine in (usual, anew):
        engine.run()
    (nodes,) = usual.counted("nodes")
    assert usual.counted("replays") == [0] and anew.total("replays") >= nodes / 2 - 1
    assert anew.total("nodes") == nodes


def test_neighbourhoods_keep_the_trail():
    """The variables that they fix are not part of the path, so they could not be replayed."""
    text, settings = market_split_model(), {"blocks": 2, "lns_percent": 100, "methods": frozenset({"random"})}
    engine = VariantEngine(text, SWEEP, **settings)
    engine.run_alone(enough=lambda: tasks(engine) >= 100, incumbent=first_solution(text))
    assert engine.total("failures") > 0 and engine.total("replays") == 0


@pytest.mark.parametrize("parts", [1, 2, 16, 2**12])
@pytest.mark.parametrize("text", [PERMUTATIONS, MEDIAN, RANDOM], ids=["two branches", "three branches", "random"])
def test_a_tree_split_ahead_is_parted(text, parts):
    """Each solution is in one part; parts whose first decisions fail are skipped, and nothing is given away."""
    engine = VariantEngine(text, SWEEP, blocks=16, subproblems=parts)
    assert sorted(outputs_of(engine, engine.run())) == WANTED and engine.complete
    counts = engine.subproblems()
    assert counts["subproblems"] == counts["subproblems_solved"] + counts["subproblems_skipped"] == parts
    if parts > len(WANTED):
        assert counts["subproblems_solved"] <= len(WANTED) and engine.total("nodes") < parts
    assert engine.total("donations") == counts["subproblems_taken"] == 0


@pytest.mark.parametrize("settings", [{}, {"shares": True}, {"split": True}], ids=["usual", "shared", "split"])
def test_the_pool_has_at_first_what_its_words_say(settings):
    layout = OpenEngine(PERMUTATIONS, **settings).layout
    sequences, common = layout.first_sequences(), layout.first_common()
    assert np.count_nonzero(sequences != np.arange(layout.pool_slots)) == common.pool_tail == (settings == {})


def test_kernels_that_know_no_parts_hear_a_stop():
    """They wait for a subproblem, or search for a place to put one, which there is never (support/fake_cuda.py)."""
    engine = OpenEngine(PERMUTATIONS, split=True, blocks=3)
    engine.start()
    engine.stop()
    assert engine.search_until(lambda: False) == [] and not engine.complete


def weighted_sum(seed: int) -> str:
    """The best weighted sum of five variables, the one with the smallest domain decided first: what is known of the
    objective changes which that is."""
    random, names = Random(seed), [f"x{i}" for i in range(5)]
    weights = [random.choice((-3, -2, -1, 1, 2, 3)) for _ in names]
    rows = f"var -100..100: c :: output_var;\nconstraint int_lin_eq({[*weights, -1]},[{','.join(names)},c],0);\n"
    rows += f"constraint int_lin_le([1,-1,1],[x0,x1,x2],{random.randint(0, 3)});\n"
    rows += f"constraint int_lin_le([1,1,-1],[x3,x4,x1],{random.randint(0, 4)});\n"
    text = labelled(dict.fromkeys(names, "0..5"), rows, random.choice(("minimize c", "maximize c")))
    return text.replace("input_order", random.choice(("first_fail", "dom_w_deg")))


def test_parts_are_the_same_whatever_blocks_have_found_before():
    for seed in range(8):
        whole, parted = (VariantEngine(weighted_sum(seed), SWEEP, blocks=1, subproblems=n) for n in (1, 64))
        best = whole.run()[-1].objective
        assert parted.run()[-1].objective == best and parted.complete
        assert parted.layout.tnf.strategies[0].var_choice == VarChoice.FIRST_FAIL


def litmus(n: int, order: str) -> str:
    """When d is true, n rows want another bound of x each, at once: a lower one, in the order `{1},{0}` an upper."""
    upper = order.startswith("{1}")
    lines = ["var bool: d;", "var 0..100: x :: output_var;", *(f"var 0..100: y{i};" for i in range(n))]
    for i in range(n):
        lines += [f"constraint int_le_reif({order.format(40 + i, f'y{i}')},d);",
                  f"constraint int_le({order.format(f'y{i}', 'x')});"]  # fmt: skip
    goal = "maximize" if upper else "minimize"
    return "\n".join(lines) + f"\nsolve :: bool_search([d],input_order,indomain_max,complete) {goal} x;\n"


@pytest.mark.slow
@pytest.mark.parametrize("order", ["{0},{1}", "{1},{0}"])
def test_a_bound_that_is_lost_is_written_again(order):
    """Rounds tell that some were lost, and that no row could tighten anything at a fixpoint (VariantEngine.run) that
    none was missed in the end."""
    rounds = []
    for names in QUICK["gpu"][2:]:
        engines = [ManyLanes(litmus(16, order), names, asserts=False, blocks=1, seed=seed) for seed in range(12)]
        assert [engine.run()[-1].objective for engine in engines] == [100 if order[1] == "1" else 0] * 12
        rounds.append(sum(engine.total("iterations") for engine in engines))
    assert rounds[1] > rounds[0]


@pytest.mark.parametrize("names", [QUICK["gpu"][1], pytest.param("retire", marks=pytest.mark.slow)])
def test_rows_that_empty_a_domain_between_them_do_not_retire(no_probing, names):
    """Each of two lanes is done when it has moved its side of x; that both sides have met, one must still see."""
    rows = "constraint int_le_reif(5,x,d);\nconstraint int_le_reif(x,3,d);\n"
    text = f"var bool: d;\nvar 0..9: x :: output_var;\n{rows}"
    text += "solve :: bool_search([d],input_order,indomain_max,complete) satisfy;\n"
    for seed in range(12):
        engine = ManyLanes(text, names, blocks=1, seed=seed)
        assert outputs_of(engine, engine.run()) == [(4,)] and engine.total("failures") == 1


def model_of(name: str, simplify: bool = True) -> TNF:
    return prepare(parse_text(text_of(entry_of(name))), Options(simplify=simplify), Interrupt()).tnf


@pytest.mark.parametrize("order", ORDERS)
def test_an_order_of_rows_is_a_permutation(order):
    tnf = model_of("job_shop")
    rows = [np.stack([one.op, one.x, one.y, one.z]) for one in (tnf, ordered_rows(tnf, order))]
    before, after = (sorted(map(tuple, columns.T.tolist())) for columns in rows)
    assert before == after and not np.array_equal(*rows)


def test_rows_are_in_the_order_of_their_operators():
    assert np.all(np.diff(ordered_rows(model_of("job_shop"), "operator").op) >= 0)


def test_rows_that_share_variables_stand_beside_each_other():
    """Two chains whose rows were made in turn are two chains again."""
    tnf = model_of("job_shop")
    links = [(i, i + 2) for i in range(40)]
    y, z = (np.array(side, np.int32) for side in zip(*links))
    bounds = np.zeros(43, np.int64), np.full(43, 9, np.int64)
    bounds[0][42] = bounds[1][42] = 1
    chains = replace(tnf, op=np.full(40, Op.LEQ, np.int32), x=np.full(40, 42, np.int32), y=y, z=z, lower=bounds[0],
                     upper=bounds[1], strategies=[], outputs=[], objective=-1, sense=0)  # fmt: skip
    parity = ordered_rows(chains, "neighbourhood").y % 2
    assert np.count_nonzero(np.diff(parity)) == 1


def test_an_unsimplified_model_is_as_it_was_lowered():
    text = text_of(entry_of("job_shop"))
    usual, plain = (solve_text(text, arch="cpu", variant=names).statistics for names in ("default", "unsimplified"))
    assert plain["propagators"] == plain["loweredPropagators"] > usual["propagators"]
    assert plain["objective"] == usual["objective"]


@pytest.mark.parametrize(("names", "store", "model"), [
    ("default", "shared", "global"), ("store=shared", "shared", "global"), ("store=global", "global", "global"),
    ("model=shared", "shared", "shared"), ("store=global,model=shared", "global", "shared"),
])  # fmt: skip
def test_what_lies_in_shared_memory_is_as_it_was_asked_for(fake_gpu, names, store, model):
    statistics = solve_text(PERMUTATIONS, arch="gpu", variant=names, all_solutions=True, blocks=2).statistics
    assert (statistics["store"], statistics["model"], statistics["solutions"]) == (store, model, len(WANTED))


def test_what_does_not_fit_into_shared_memory_is_refused_or_stays_in_global_memory():
    """A block may have 232,448 bytes."""
    with pytest.raises(EngineError, match="store=shared: a store of 300000 bytes does not fit into"):
        laid_out("sm_90", 300_000, 700, 96, Settings(store="shared"))
    for store, rows, fits in ((200_000, 40_000, False), (100_000, 40_000, True), (300_000, 40_000, True)):
        shape = laid_out("sm_90", store, 700, 96, Settings(model="shared"), rows)
        assert (shape.store_shared, shape.model_shared) == (store < 232_448, fits)
        assert STATE_BYTES + shape.shared_bytes <= 232_448


def test_retired_rows_take_a_bit_each_of_a_store(fake_gpu):
    few, many = (
        solve_text(PERMUTATIONS, arch="gpu", variant=one, blocks=1).statistics for one in ("default", "retire")
    )
    assert many["memoryStore"] == few["memoryStore"] + 16
    retires = [variants.chosen(one, "cpu").settings("cpu").get("retires") for one in ("no-retire", "retire")]
    few, many = (OpenEngine(PERMUTATIONS, blocks=1, retires=one).shape for one in retires)
    assert many["memoryStore"] == few["memoryStore"] + 16


def test_every_variant_is_tried():
    tried = {name for names in (*QUICK.values(), *EACH.values()) for many in names for name in many.split(",")}
    of_host = {"sync", "store=shared", "store=global", "model=global", "sort=none", "unpacked"}  # kernels know nothing
    assert tried | of_host == set(variants.NAMES)
    assert parse_arguments(["--variant", "sweep", "x.fzn"]).options.variant == "sweep"
