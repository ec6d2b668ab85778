"""The any-time benchmark: its arithmetic, its comparison with others, its pictures, and one run of each."""

from __future__ import annotations

import runpy
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import pytest

from lab.bench import nodes as bench
from lab.bench.anytime import run_model, run_side, summary
from lab.bench.curves import Curve, better, gap_of, is_peer, keep, load, number
from lab.bench.milestones import milestones
from support.command import PATIENCE
from support.free_search import BEST_GAIN, KNAPSACK
from support.places import CORPUS
from turbo_fzn.engine.abi.abi import METHODS
from turbo_fzn.options.options import Options
from turbo_fzn.report.plot import draw


def curve(*improvements: tuple[float, int, str], sense: int = 1, seconds: float = 10.0) -> Curve:
    return Curve("model", 1, sense, seconds, improvements=list(improvements))


def test_the_objective_at_a_time_is_the_last_one_before():
    run = curve((0.5, 30, "tree"), (2.0, 20, "graph"))
    assert [run.at(seconds) for seconds in (0.1, 0.5, 1.9, 2.0, 60)] == [None, 30, 30, 20, 20]
    assert run.objective == 20
    assert curve().objective is None


def test_the_primal_integral_is_the_mean_gap_over_the_run():
    run = curve((5.0, 20, "tree"), (7.5, 10, "tree"))
    assert run.primal_integral(10) == pytest.approx((100 * 5 + 50 * 2.5 + 0) / 10)
    assert curve().primal_integral(10) == 100


@pytest.mark.parametrize("objective, best, gap", [(10, 10, 0), (20, 10, 50), (10, 20, 50), (-5, 5, 100), (3, None, 0)])
def test_the_gap_is_a_percentage_of_the_larger(objective, best, gap):
    assert gap_of(objective, best) == gap


@pytest.mark.parametrize(
    "sense, ours, theirs, verdict",
    [(1, 3, 4, 1), (-1, 3, 4, -1), (1, 4, 4, 0), (1, None, 4, -1), (1, 4, None, 1), (-1, None, None, 0)],
)
def test_a_solution_is_better_than_none_and_the_sense_decides(sense, ours, theirs, verdict):
    assert better(sense, ours, theirs) == verdict


def test_cells_of_the_peers_table_are_read_and_its_columns_known():
    assert [number(cell) for cell in ("12*", "-3", "", None, "unsat*")] == [12, -3, None, None, None]
    assert is_peer("solver_16t_20s")
    assert not is_peer("turbo128_h200_nodes_per_s")


def test_the_summary_counts_against_each_peer():
    peers = {"model": {"model": "model", "best_known": "20", "other_1t_300s": "25*"}}
    assert summary([curve((1.0, 20, "tree"))], peers) == [
        "best_known                       better   0  equal   1  worse   0",
        "other_1t_300s                    better   1  equal   0  worse   0",
    ]


def test_a_run_is_traced_to_its_proof_and_ends_early_when_told_so(tmp_path):
    path = tmp_path / "knapsack.fzn"
    path.write_text(KNAPSACK)
    options = Options(arch="cpu", threads=2, free_search=True, seed=1)
    run = run_model(path, options, PATIENCE)
    assert (run.status, run.objective, run.bound) == ("OPTIMAL_SOLUTION", BEST_GAIN, BEST_GAIN)
    assert run.improvements == sorted(run.improvements)
    assert run_model(path, options, PATIENCE, known=0).objective is not None


def test_another_solver_is_run_on_the_same_file(tmp_path):
    path = tmp_path / "knapsack.fzn"
    path.write_text(KNAPSACK.replace("gain :: output_var", "gain"))
    found = run_side(path, "fzn-gecode -a -time {ms} {file}", PATIENCE)
    assert found[-1][1] == BEST_GAIN


def test_a_picture_is_svg_with_a_point_for_each_improvement():
    improvements = [(0.1, 30, "tree"), (1.0, 20, "graph"), (4.0, 19, "graph")]
    root = ElementTree.fromstring(draw("a < b", improvements, 10.0, bounds=[(0.0, 3)]))
    points = [element for element in root.iter() if element.tag.endswith("circle") and element.get("r") == "4"]
    assert len(points) == len(improvements) + 2  # and one for each method in the legend
    assert ElementTree.fromstring(draw("nothing found", [], 10.0)) is not None


def test_a_picture_has_a_colour_of_its_own_for_each_method():
    improvements = [(1.0 + number, 99 - number, method) for number, method in enumerate(METHODS)]
    root = ElementTree.fromstring(draw("all", improvements, 20.0))
    points = [element for element in root.iter() if element.tag.endswith("circle")]
    assert len({point.get("fill") for point in points}) == len(METHODS)


def long_run(model: str, *improvements: tuple[float, int, str], bounds=(), end: float = 0.0) -> Curve:
    status = "OPTIMAL_SOLUTION" if end else "SATISFIED" if improvements else "UNKNOWN"
    return Curve(model, 1, 1, 100.0, status, end, improvements=list(improvements), bounds=list(bounds))


def test_milestones_tell_what_had_been_reached_by_then():
    closed = long_run("closed", (1.0, 10, "tree"), (30.0, 8, "tree"), bounds=[(0.0, 4), (40.0, 8)], end=40.0)
    still_open = long_run("open", (50.0, 30, "graph"), bounds=[(2.0, 10), (55.0, 15)])
    nothing = long_run("nothing")
    known = {"closed": 8, "open": 20, "nothing": 5}
    reached = milestones([closed, still_open, nothing], known)
    assert [(one.seconds, one.proved, one.solved, one.best) for one in reached] == [(20, 0, 1, 0), (60, 1, 2, 1)]
    assert [one.gap_to_bound for one in reached] == pytest.approx([(60 + 100 + 100) / 3, (0 + 50 + 100) / 3])
    assert [one.gap_to_best for one in reached] == pytest.approx([(20 + 100 + 100) / 3, (0 + 100 / 3 + 100) / 3])
    assert reached[1].cells == ("60 s", "1", "2", "1", "50.0 %", "44.4 %")


def test_problems_without_an_objective_are_solved_or_proved_and_have_no_gap():
    runs = [Curve("a", 1, 0, 20.0, "SATISFIED", improvements=[(1.0, 0, "tree")]), Curve("b", 1, 0, 20.0)]
    assert [one[1:] for one in milestones(runs, {})] == [(0, 1, 0, 0.0, 0.0)]
    assert milestones([], {}) == [] and milestones([Curve("c", 1, 1, 19.0)], {}) == []


def test_a_bound_is_kept_when_it_moves():
    run = long_run("model")
    for when, bound in ((1.0, None), (2.0, 5), (3.0, 5), (4.0, 7)):
        run.note_bound(when, bound)
    assert run.bounds == [(2.0, 5), (4.0, 7)] and [run.bound_at(t) for t in (1, 2, 3.9, 9)] == [None, 5, 5, 7]


def bench_of_two(folder, *more: str) -> subprocess.CompletedProcess:
    for name in "ab":
        (folder / f"{name}.fzn").write_text((CORPUS / "golomb.fzn").read_text())
    flags = ("--seconds", str(PATIENCE), "--arch", "cpu", "--threads", "1", "--json", str(folder / "runs.json"))
    call = [sys.executable, "-m", "lab.bench.anytime", str(folder), *flags, *more]
    return subprocess.run(call, capture_output=True, text=True, timeout=PATIENCE, check=True)


def test_runs_at_once_are_kept_and_not_repeated(tmp_path):
    first = bench_of_two(tmp_path, "--jobs", "2", "--resume")  # nothing yet
    kept = load(tmp_path / "runs.json")
    assert {run.model for run in kept} == {"a", "b"} and all(run.status == "OPTIMAL_SOLUTION" for run in kept)
    assert first.stdout.count("OPTIMAL_SOLUTION") == 2
    keep(kept[:1], tmp_path / "runs.json")
    again = bench_of_two(tmp_path, "--resume")
    assert again.stdout.count("OPTIMAL_SOLUTION") == 1
    assert {run.model for run in load(tmp_path / "runs.json")} == {"a", "b"}


BAD_CALLS = [
    ("bench", "no_such_folder"),
    ("bench", "{model}", "--only", "another"),
    ("bench", "{model}", "--seconds", "0"),
    ("bench", "{model}", "--threads", "0"),
    ("bench", "{model}", "--peers", "no_such_table"),
    ("bench", "{model}", "--json", "no_such_folder/runs.json"),
    ("bench", "--compare", "{model}", "{model}"),
    ("bench", "{model}", "--peers", "{model}"),
    ("bench.anytime", "{model}", "--peers", "{model}"),
    ("bench",),
    ("bench.anytime", "no_such_folder"),
    ("bench.anytime", "{model}", "--seeds", "0"),
    ("bench.anytime", "{model}", "--until-known"),
    ("bench.anytime", "{model}", "--resume"),
    ("bench.anytime", "{model}", "--jobs", "0"),
    ("bench.anytime", "{model}", "--resume", "--json", "{model}"),
    ("bench.anytime", "{model}", "--side", "no_such_solver"),
]


@pytest.mark.filterwarnings("ignore:.*found in sys.modules")  # it may have been imported before
@pytest.mark.parametrize("call", BAD_CALLS, ids=" ".join)
def test_what_cannot_be_measured_is_refused_before_the_first_run(call, monkeypatch, capsys):
    arguments = [word.format(model=CORPUS / "golomb.fzn") for word in call[1:]]
    monkeypatch.setattr(sys, "argv", [call[0], *arguments])
    with pytest.raises(SystemExit) as end:
        runpy.run_module(f"lab.{call[0]}", run_name="__main__")  # as `python -m` does
    said = capsys.readouterr()
    assert end.value.code == 2 and "error: " in said.err and "golomb " not in said.out


@pytest.mark.parametrize("tool", ["bench", "bench.anytime"])
def test_a_file_that_cannot_be_read_does_not_end_the_others(tool, tmp_path):
    (tmp_path / "a.fzn.gz").write_bytes(b"no gzip")
    (tmp_path / "b.fzn").write_text((CORPUS / "golomb.fzn").read_text())
    call = [sys.executable, "-m", f"lab.{tool}", str(tmp_path), "--seconds", str(PATIENCE), "--arch", "cpu"]
    done = subprocess.run(call, capture_output=True, text=True, timeout=PATIENCE)
    lines = {line.split()[0]: line for line in done.stdout.splitlines() if line}
    assert done.returncode == 1 and "error: " in lines["a"] and "OPTIMAL_SOLUTION" in lines["b"]


@pytest.mark.parametrize(
    "flags, lns, free", [((), "off", False), (("--free",), "auto", True), (("--lns", "on"), "on", False)]
)
def test_the_benchmark_searches_the_tree_alone_unless_told_otherwise(monkeypatch, flags, lns, free):
    asked = []
    monkeypatch.setattr(
        bench,
        "run_model",
        lambda path, options, *_: asked.append(options) or bench.Run("golomb", "cpu", "UNKNOWN"),
    )
    monkeypatch.setattr(sys, "argv", ["bench", str(CORPUS / "golomb.fzn"), *flags])
    assert bench.main(bench.read_arguments()) == 0
    assert [(options.lns, options.free_search) for options in asked] == [(lns, free)]
