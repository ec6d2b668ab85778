"""`python -m lab.bench --variants`: what its tables, files and page say is what was measured; and the instances
of our own that it is run on."""

from __future__ import annotations

import csv
import io
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from lab.bench import instances, nodes, nodes_page, variants, variants_page
from lab.bench.runs import Run, load
from support.bench_pages import bench, files, points
from support.command import PATIENCE, environment
from support.pages import SVG, parse, tables, titles
from turbo_fzn.base.errors import EngineError
from turbo_fzn.engine import variants as engine_variants
from turbo_fzn.engine.toolchain import compiler
from turbo_fzn.options.options import Options
from turbo_fzn.process.interrupt import Interrupt
from turbo_fzn.run.answer.outcome import Solution
from turbo_fzn.run.driver import events_of

USUAL = ("default", "sort=operator", "sort=none+unsimplified")  # whose kernels are those of any run


def run(model: str, variant: str, speed: float, status: str = "SATISFIED", **more: object) -> Run:
    return Run(model, "cpu", status, nodes_per_second=speed, variant=variant, solutions=1, **more)


RUNS = [
    run("m", "a", 100.0, "OPTIMAL_SOLUTION", rounds_per_node=2.0, phases={"parse": 0.5, "search": 1.0}),
    run("m", "b", 400.0, rounds_per_node=8.0, idle_share=0.5, memory={"rows": 2048}, phases={"search": 3.0}),
    run("n", "a", 100.0, store="shared"),
    run("n", "b", 25.0, idle_share=0.25),
    run("o", "a", 1000.0),
    run("o", "b", 0.0, "error: it does not fit"),
]


# ---- the tables


def test_a_summary_is_over_the_models_that_every_variant_ran():
    first, second = variants.summaries(["a", "b"], RUNS)
    assert (first.speed, second.speed) == pytest.approx((100.0, 100.0)) and second.change == pytest.approx(0.0)
    assert (first.normalised, second.normalised) == pytest.approx(((0.25 + 1) / 2, (1 + 0.25) / 2))
    assert (first.median, second.median) == (100.0, 212.5) and (first.fastest, second.fastest) == (1, 1)
    assert first.counts == {
        "stores shared": 1,
        "rows shared": 0,
        "closed": 1,
        "satisfied": 1,
        "unknown": 0,
        "errors": 0,
    }
    assert second.counts == {
        "stores shared": 0,
        "rows shared": 0,
        "closed": 0,
        "satisfied": 2,
        "unknown": 0,
        "errors": 1,
    }
    assert second.idle == pytest.approx(0.375) and first.idle == 0.0
    assert first.phases == {"parse": 0.25, "search": 0.5} and second.memory["rows"] == 2048


def test_the_change_is_against_the_first():
    found = variants.summaries(["b", "a"], [one for one in RUNS if one.model == "m"])
    assert [one.change for one in found] == pytest.approx([0.0, -0.75])


def test_a_model_without_a_solution_is_unknown_unless_it_is_closed():
    none = [Run("m", "cpu", status, variant="a") for status in ("UNKNOWN", "UNSATISFIABLE")]
    assert variants.counts(none) == {"stores shared": 0, "rows shared": 0, "closed": 1, "satisfied": 0, "unknown": 1}


def test_a_table_has_a_row_for_each_variant_and_each_model():
    text = variants.tables(variants.Experiment("Which", ("a", "b")), RUNS, "cpu")
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line[:1] == "|"]
    assert text.startswith("### Which (CPU, 2 models)\n") and {len(row) for row in rows[:4]} == {len(variants.HEAD)}
    assert [row[0] for row in rows if row[0] != "---"] == ["variant", "a", "b", "variant", "a", "b", "model", "m", "n"]
    assert dict(zip(rows[0], rows[3]))["errors"] == "1" and dict(zip(rows[0], rows[3]))["change"] == "+0.0%"


def test_what_has_parts_has_a_column_for_each_of_them():
    rows = list(csv.DictReader(io.StringIO(variants.comma_separated(RUNS))))
    assert len(rows) == len(RUNS) and rows[0]["phases.parse"] == "0.5" and rows[1]["phases.parse"] == ""
    assert rows[1]["memory.rows"] == "2048" and "improvements" not in rows[0]


# ---- what is run


def test_the_journal_has_every_variant_that_an_engine_can_have():
    """But for those that are as is usual."""
    for arch in engine_variants.ENGINES:
        names, experiments = variants.wanted("journal", arch)
        tried = {one for name in names for one in name.split("+")}
        changed = {one.name for one in engine_variants.VARIANTS if arch in one.engines and arch not in one.usual}
        assert changed - tried <= {"store=shared"} and all(len(one.names) > 1 for one in experiments)
        assert len(names) == len(set(names))


def test_names_that_are_the_same_share_their_runs_in_the_journal():
    names, _ = variants.wanted("journal", "gpu")
    same = variants.shared(names, "gpu")
    assert {name: first for name, first in same.items() if name != first} == {
        "no-retire": "default", "sweep+no-retire": "sweep", "warp-sweep+no-retire": "warp-sweep",
        "model=global": "default", "sort=none": "default"}  # fmt: skip
    assert variants.shared(["retire", "unsimplified", "default"], "cpu")["default"] == "retire"


def test_variants_are_named_with_commas_between_and_a_plus_within():
    names, (experiment,) = variants.wanted("default,sweep+recompute", "cpu")
    assert names == list(experiment.names) == ["default", "sweep+recompute"]
    assert variants.named(names[1]) == "sweep,recompute"


@pytest.fixture(scope="module")
def kept(tmp_path_factory) -> tuple[list[Run], str, Path]:
    """The runs of --json, what was printed, and the folder with the other files. There is nothing to go on with."""
    folder = tmp_path_factory.mktemp("variants")
    flags = [f"--{kind}={folder / kind}" for kind in ("json", "csv", "markdown", "html")]
    said = bench(
        "bench", *files("golomb", "job_shop"), "--seconds", 60, "--variants", ",".join(USUAL), "--resume", *flags
    )
    return load(folder / "json"), said, folder


def test_each_model_is_run_by_each_variant_in_turn(kept):
    runs, said, folder = kept
    expected = [(model, name) for model in ("golomb", "job_shop") for name in USUAL]
    assert [(run.model, run.variant) for run in runs] == expected
    assert all(run.status == "OPTIMAL_SOLUTION" and run.rounds_per_second > 0 for run in runs)
    assert (folder / "markdown").read_text() in said
    assert len((folder / "csv").read_text().splitlines()) == 1 + len(runs)


def test_a_bench_goes_on_where_it_was_interrupted(kept, tmp_path):
    """What the file has is not run again, unless it had an error; what it has beside that stays."""
    runs, said, folder = kept
    broken = [replace(one, status="error: no memory") if one is runs[4] else one for one in runs]
    nodes.keep(broken, tmp_path / "json")
    flags = ["--seconds", 60, "--variants", f"{USUAL[1]},{USUAL[0]}", "--json", tmp_path / "json", "--resume"]
    again = bench("bench", *files("golomb", "job_shop"), *flags)
    ran = [line for line in again.splitlines() if " rounds/node " in line and line[0] != "|"]
    assert [line.split()[:3] for line in ran] == [["job_shop", "cpu", USUAL[1]]]
    after = load(tmp_path / "json")
    assert after[:5] == [*runs[:4], runs[5]] and (after[5].model, after[5].variant) == ("job_shop", USUAL[1])
    assert after[5].status == "OPTIMAL_SOLUTION" and "(CPU, 2 models)" in again


def test_only_a_bench_that_keeps_its_runs_can_go_on():
    call = [sys.executable, "-m", "lab.bench", "--variants", "default", "--resume"]
    done = subprocess.run(call, capture_output=True, text=True, timeout=PATIENCE, env=environment())
    assert done.returncode == 2 and "--resume goes with --variants and --json" in done.stderr


def test_kernels_for_a_gpu_are_compiled_before_anything_is_run(monkeypatch):
    """Each that some variant wants, once, whatever becomes of it."""
    built = []

    def build(*what: object) -> None:
        built.append(what)
        raise EngineError("no room")

    monkeypatch.setattr(variants, "architectures", lambda: ["90"])
    monkeypatch.setattr(compiler, "gpu_binary", build)
    variants.compile_first(["default", "no-retire", "sweep", "model=shared"], profile=True)
    usual = [(), ("-DWHOLE_SUMS=1",), ("-DPACKED=1",), ("-DWHOLE_SUMS=1", "-DPACKED=1")]
    kinds = [*usual, ("-DSWEEP=SWEEP_ROWS",), ("-DMODEL_SHARED=1",)]
    wanted = [
        (bits, shared, "90", "-DPROFILE", *kind) for bits in (32, 64) for shared in (True, False) for kind in kinds
    ]
    assert sorted(built) == sorted(wanted)


def test_memory_and_time_are_told_by_kind(kept):
    runs, _, _ = kept
    usual, plain = runs[3], runs[5]
    assert 0 < usual.memory["rows"] < plain.memory["rows"]  # job_shop, which the simplifier makes smaller
    assert list(usual.phases) == ["parse", "lower", "simplify", "root", "engine", "transfer", "search"]
    assert all(seconds >= 0 for seconds in usual.phases.values()) and usual.phases["search"] > 0
    assert usual.subproblems["subproblems"] == usual.subproblems["subproblems_solved"] == 1


def test_the_page_draws_what_was_kept(kept):
    runs, _, folder = kept
    root = parse(folder / "html")
    drawn = titles(root)
    head, *rows = tables(root)["All runs"]
    assert head == list(variants_page.HEAD) and [row[2] for row in rows] == [run.variant for run in runs]
    speeds = {hint for *_, hint in points(drawn["Speed"])}
    assert speeds == {f"{run.model}, {run.variant}: {run.nodes_per_second:.6g}" for run in runs}
    lines = [title.text for title in drawn["Performance profile"].iter(f"{SVG}title")]
    assert [line.split(":")[0] for line in lines] == list(USUAL)
    bars = {title.text.split(":")[0] for title in drawn["Where the time goes"].iter(f"{SVG}title")}
    assert bars == set(USUAL)


def test_two_files_of_variants_are_compared_by_variant(kept, tmp_path):
    runs, _, folder = kept
    said = bench("bench", "--compare", folder / "json", folder / "json", "--html", tmp_path / "c.html")
    assert all(name in said for name in USUAL) and re.search(r"geometric mean +1\.00", said)
    names = {hint.split(":")[0] for *_, hint in points(titles(parse(tmp_path / "c.html"))["Nodes a second"])}
    assert names == {nodes_page.name_of(run, runs) for run in runs} and len(names) == len(runs)


def test_a_variant_that_cannot_be_had_is_refused_before_anything_is_run(tmp_path):
    call = [sys.executable, "-m", "lab.bench", *map(str, files("golomb")), "--variants", "default,store=global"]
    done = subprocess.run(call, capture_output=True, text=True, timeout=PATIENCE, env=environment())
    assert done.returncode == 2 and "store=global is not of the engine cpu" in done.stderr and done.stdout == ""


# ---- instances


def test_instances_are_drawn_from_their_seed(tmp_path):
    written = [instances.write_all(tmp_path / str(place), seed) for place, seed in enumerate((1, 1, 2))]
    first, again, other = ([path.read_text() for path in paths] for paths in written)
    assert first == again and all(one != another for one, another in zip(first, other))
    assert [path.stem for path in written[2]] == [f"{kind}_2" for kind in instances.KINDS]


@pytest.mark.parametrize("kind", instances.KINDS)
def test_the_tree_of_an_instance_soon_has_a_solution(kind, tmp_path):
    (path,) = (path for path in instances.write_all(tmp_path, 1) if path.stem == f"{kind}_1")
    options = Options(arch="cpu", threads=1, lns="off", learn="off", relaxation="off", intermediate=True)
    events = events_of(str(path), options, Interrupt())
    assert any(isinstance(event, Solution) for event in events)
    events.close()
