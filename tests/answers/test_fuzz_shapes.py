"""Short runs over the shapes of models that random constraints never have, and over the ways that few runs go.

The long runs are `python tests/fuzz`; each shape is one of its flavours.
"""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest

from fuzz.batches import connected, flatten, split, tell_apart, try_batch
from fuzz.blocks import GLOBALS, NESTED, OPTIONAL, Block, draw_block
from fuzz.judge import Expected, Way, compare, draw_way, judge
from fuzz.nested import draw_puzzle
from fuzz.pairs import FORMS, as_team
from fuzz.run import try_instance
from fuzz.shapes import COLUMNS, SHAPES, draw_any
from support.flatzinc_text import with_text
from support.needs import needs_gecode, needs_minizinc
from support.oracle import WindowTooSmall, all_solutions
from turbo_fzn import Result, solve_text
from turbo_fzn.base.errors import UnsupportedError
from turbo_fzn.lower import runs
from turbo_fzn.lower.globals import table
from turbo_fzn.lower.rewrite import lower
from turbo_fzn.lower.tuning import TUNING
from turbo_fzn.read.flatzinc import parse_text
from turbo_fzn.tnf import spans

SEED = 48
COUNT = 25  # of each shape


@pytest.mark.parametrize("shape", SHAPES)
def test_models_of_a_shape_are_solved_as_enumeration_says(shape):
    verdicts = [try_instance(SEED, number, "cpu", shape) for number in range(COUNT)]
    faults = [failure for _, failure in verdicts if failure is not None]
    assert not faults, f"{len(faults)} faults, first: {faults[0]}"
    assert sum(kind == "right" for kind, _ in verdicts) > 0.9 * COUNT


@pytest.mark.parametrize("shape", SHAPES)
def test_models_of_a_shape_have_solutions_mostly(shape):
    solvable = 0
    for number in range(COUNT):
        try:
            solvable += bool(Expected(draw_any(Random(f"{shape}/{number}"), shape)).objectives)
        except WindowTooSmall:
            continue
    assert COUNT / 8 < solvable


def test_a_run_is_long_and_a_table_has_a_name_and_several_constraints():
    long = 0
    for number in range(COUNT):
        run = Counter(one.name for one in SHAPES["runs"](Random(f"run/{number}")).constraints)
        long += max(run.values(), default=0) >= 32
        table = SHAPES["tables"](Random(f"table/{number}"))
        named = Counter(one.args[2] for one in table.constraints if one.name.startswith("turbo_table"))
        assert min(named.values()) >= 2 and set(named) <= set(table.arrays)
    assert long > COUNT / 2


def test_each_form_that_is_lowered_in_columns_gets_there(monkeypatch):
    lengths: Counter[str] = Counter()
    original = runs.Runs.lower_columns

    def count(self, form, run):
        n = original(self, form, run)
        lengths[run[0].name] += n
        return n

    monkeypatch.setattr(runs.Runs, "lower_columns", count)
    for number in range(150):
        lower(SHAPES["runs"](Random(f"run/{number}")))
    assert {name for name, n in lengths.items() if n >= TUNING.columns_least} == set(COLUMNS)


def test_tables_are_shared_by_constraints_and_excluded_by_others(monkeypatch):
    members: dict[str, list[int]] = {"state_members": [], "exclude_members": []}
    for name, seen in members.items():
        original = getattr(table, name)
        monkeypatch.setattr(
            table, name, lambda b, x, plan, seen=seen, original=original: (seen.append(len(x)), original(b, x, plan))[1]
        )
    for number in range(150):
        lower(SHAPES["tables"](Random(f"table/{number}")))
    assert all(any(n > 1 for n in seen) for seen in members.values()), members


def test_spans_of_machines_are_bounded_where_no_heavy_things_are_neighbours(monkeypatch):
    """Few things are looked at, and the rows over their starts are all there."""
    seen: list[bool] = []
    original = spans._Spans.distances

    def distances(self):
        sums = self.first[self.base[self.known().right]] >= 0
        seen.append(len(self.things) > 0 and len(self.keys) == 0 and bool(sums.any()))
        return original(self)

    monkeypatch.setattr(spans._Spans, "distances", distances)
    way = Way(thresholds={"tnf.span_things": 1})
    for number in range(COUNT):
        model = SHAPES["machines"](Random(f"machine/{number}"))
        assert judge(model, way).kind == "right", with_text(model).text
    assert sum(seen) > COUNT / 4


def test_every_way_is_drawn():
    ways = [draw_way(Random(f"way/{number}")) for number in range(300)]
    assert {way.team for way in ways} == {"", *FORMS}
    assert {way.relaxation for way in ways} == {way.symmetry for way in ways} == {"auto", "on", "off"}
    assert {way.memory for way in ways} == {None, 1} and {way.n_optimal for way in ways} == {None, 0, 2}
    assert any(way.thresholds for way in ways) and any(not way.thresholds for way in ways)
    learning = [way for way in ways if way.learn != "off"]
    assert any(way.blocks == len(way.learn.split(",")) and way.memory == 1 for way in learning), "nobody else searches"


def test_warm_starts_are_drawn():
    models = [with_text(draw_any(Random(f"warm/{number}"), "small")).text for number in range(100)]
    assert sum("warm_start" in text for text in models) > 5
    assert any("warm_start_array" in text for text in models)


@pytest.mark.parametrize("form", FORMS)
def test_two_cpu_engines_solve_as_a_team(form):
    text = (
        "var 0..3: x :: output_var; var 0..3: y :: output_var; var 0..3: z :: output_var;"
        "constraint int_ne(x,y); constraint int_ne(y,z); constraint int_ne(x,z); solve satisfy;"
    )
    with as_team(form):
        result = solve_text(text, arch="cpu", all_solutions=True)
    assert result.status == "ALL_SOLUTIONS" and len(result.solutions) == 24
    assert form == "joining" or result.statistics["engine"] == "cpu+cpu"
    assert solve_text(text, arch="cpu").statistics["engine"] == "cpu"


# ---- the judge


def test_the_judge_sees_a_refusal_without_need(monkeypatch):
    def refuse(model, **settings):
        raise UnsupportedError("an integer expression whose value lies beyond")

    monkeypatch.setattr("fuzz.judge.solve_model", refuse)
    for domain, kind in (
        ("int", "without need"),
        ("1..2147483648", "without need"),
        ("1..4611686018427387903", "refused"),
    ):
        model = parse_text(f"var {domain}: x; constraint int_le(x,2); constraint int_le(1,x); solve satisfy;")
        assert judge(model, Way()).kind == kind


@pytest.mark.parametrize(
    ("printed", "fault"),
    [
        ([(2, 0), (1, 0), (1, 1)], ""),
        ([(1, 1), (1, 0)], ""),
        ([(2, 0), (1, 0)], "1 optimal solutions of 2"),
        ([(1, 0), (1, 0), (1, 1)], "twice"),
        ([(1, 0), (2, 0), (1, 1), (1, 0)], "no improvement"),
    ],
)
def test_the_judge_sees_what_is_wrong_with_all_optima(printed, fault):
    expected = Expected(parse_text("var 1..2: x :: output_var; var 0..1: y :: output_var; solve minimize x;"))
    result = Result("ALL_SOLUTIONS", [{"x": x, "y": y} for x, y in printed], 1, {})
    found = compare(result, Way(n_optimal=0), expected).fault
    assert fault in found and bool(fault) == bool(found)


def test_a_wide_domain_is_tried_as_far_as_the_window_shows_all_solutions():
    model = parse_text("var 1..2147483648: x; var 4..50: y; constraint int_times(x,x,y); solve satisfy;")
    assert sorted(one["x"] for one in all_solutions(model)) == [2, 3, 4, 5, 6, 7]
    with pytest.raises(WindowTooSmall):
        all_solutions(parse_text("var 1..2147483648: x; constraint int_le(3,x); solve satisfy;"))


# ---- MiniZinc by the batch


@needs_minizinc
@needs_gecode
def test_blocks_of_minizinc_are_solved_as_gecode_says():
    verdicts, text = try_batch(Random(f"blocks/{SEED}"))
    assert [verdict.fault for verdict in verdicts if verdict.is_fault] == [], text
    assert sum(verdict.kind == "right" for verdict in verdicts) > len(verdicts) / 2


def test_every_part_of_a_block_is_drawn_with_sizes_from_none_on_and_indices_from_anywhere():
    blocks = [draw_block(Random(f"block/{number}"), 7) for number in range(600)]
    text = "".join(block.text for block in blocks)
    for part in (*GLOBALS, *NESTED, *OPTIONAL):
        assert part.text.partition("(")[0].partition("$")[0] in text
    assert all(f"array[{indices}] of var" in text for indices in ("0..-1", "1..1", "-2..-1", "5..6"))
    assert all(name.endswith("_7") for block in blocks for name in block.shown)


def test_flatzinc_is_taken_apart_by_the_names_of_blocks():
    lines = [
        "predicate p(var int: x);",
        "array [1..2] of int: X_1_ = [1,-1];",
        "var 0..2: x_3:: output_var;",
        "var 0..2: X_2_:: is_defined_var;",
        "var 0..2: x_4;",
        "array [1..1] of var int: z_4:: output_array([1..1]) = [2];",
        "constraint int_lin_eq(X_1_,[x_3,X_2_],0);",
        "constraint p(x_4);",
        "solve satisfy;",
    ]
    assert split(lines, [3, 4]) == {3: [*lines[:4], lines[6]], 4: [*lines[:2], *lines[4:6], lines[7]]}
    assert split([*lines, "var bool: X_9_;", "constraint bool_eq(X_9_,true);"], [3, 4]) is None, "nobody's"
    assert split([*lines, "constraint bool_eq(false,true);"], [3, 4]) is None, "of one of them"
    assert split([*lines, "constraint int_le(x_3,x_4);"], [3, 4]) is None
    assert connected([["a", "b"], ["c"], ["b", "d"]]).keys() == set("abcd")


def block_of(number: int, *lines: str) -> Block:
    return Block(number, list(lines))


@pytest.mark.parametrize(
    ("blocks", "fault"),
    [
        ([block_of(1, "var 0..1: x_1;"), block_of(2, "var 0..1: x_2;", "constraint x_1 < x_2;")], "block 2 names"),
        ([block_of(1, "var 0..1: x_1;"), block_of(2, "var 0..1: x_1;")], "block 2 names"),
        ([block_of(1, "var 0..1: x;"), block_of(2, "var 0..1: x;")], "block 1 names"),
        ([block_of(1, "array[1..2] of var 0..1: x;"), block_of(2)], "block 1 names"),
        ([block_of(12), block_of(12)], "two blocks with one number"),
        ([block_of(1, "var 0..1: x_1;"), block_of(12, "var 0..1: x_12;", "constraint member([x_12], 1);")], ""),
    ],
)
def test_blocks_that_name_something_alike_are_an_error_of_the_fuzzer(blocks, fault):
    """Before anything is flattened; blocks that flattening connects are only flattened apart."""
    shared = ["var bool: X_1_;", *(f"constraint bool_eq(X_1_,b_{block.number});" for block in blocks)]
    names = [f"var bool: b_{block.number};" for block in blocks]

    def compiled(text):
        return [*names, *shared, "solve satisfy;"], ""

    if fault:
        with pytest.raises(AssertionError, match=fault):
            flatten(blocks, compiled)
    else:
        assert set(flatten(blocks, compiled)) == {block.number for block in blocks}


def test_no_block_that_is_drawn_names_something_as_another_may():
    blocks = [draw_block(Random(f"block/{number}"), number) for number in range(300)]
    tell_apart([*blocks, *(draw_puzzle(Random(number), number).block for number in range(300, 320))])


def test_a_block_that_cannot_be_flattened_is_found_by_halving():
    def compiled(text):
        said = "model inconsistency" if "x_2" in text else ""
        return ["solve satisfy;"], said

    blocks = [draw_block(Random(number), number) for number in range(4)]
    for block in blocks:
        block.lines = [f"var 0..1: x_{block.number};"]
    assert [flat.is_false for _, flat in sorted(flatten(blocks, compiled).items())] == [False, False, True, False]
