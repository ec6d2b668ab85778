"""The pages of the benchmarks: what is drawn is what --json keeps and the text says. `make look` opens them in a
browser."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from lab.bench import anytime_page, nodes_page
from lab.bench.curves import Curve, best_known, compare, counts_against, load
from lab.bench.others import ProcessorClock, run_side
from lab.bench.runs import Run
from support.bench_pages import bench, files, points
from support.command import PATIENCE, environment
from support.pages import SVG, parse, tables, titles
from turbo_fzn.report import charts, html
from turbo_fzn.report.axes import FULL, Axis, decades

MODELS = ("golomb", "warehouse", "tsp", "queens")
UNITS = {"k": 1e3, "M": 1e6, "G": 1e9}


# ---- reading pictures: the axes are known by the texts at them


def number(text: str) -> float:
    bare = text.removesuffix(" s")
    return float(bare[:-1]) * UNITS[bare[-1]] if bare[-1] in UNITS else float(bare)


def texts(svg: ElementTree.Element, anchor: str) -> list[tuple[float, float, str]]:
    return [
        (float(text.get("x")), float(text.get("y")), text.text)
        for text in svg.iter(f"{SVG}text")
        if text.get("text-anchor") == anchor
    ]


def scale(ticks: list[tuple[float, float]]) -> tuple[float, float, float, float]:
    """The first and last (place, value)."""
    return (*min(ticks), *max(ticks))


def value_at(place: float, ticks: list[tuple[float, float]]) -> float:
    near, low, far, high = scale(ticks)
    return low + (high - low) * (place - near) / (far - near)


def up_ticks(svg: ElementTree.Element) -> list[tuple[float, float]]:
    """(place, value) of those at the left."""
    return [(y - 4, number(text)) for _, y, text in texts(svg, "end") if re.fullmatch(r"-?[\d.]+[kMG]?", text)]


# ---- any time


@pytest.fixture(scope="module")
def kept(tmp_path_factory) -> tuple[list[Curve], ElementTree.Element, str, Path]:
    """Curves of --json, the page and the text of the same call, and the folder."""
    folder = tmp_path_factory.mktemp("anytime")
    flags = ["--arch", "cpu", "--seeds", 2, "--seconds", 60, "--json", folder / "a.json", "--html", folder / "a.html"]
    said = bench("bench.anytime", *files(*MODELS), *flags)
    return load(folder / "a.json"), parse(folder / "a.html"), said, folder


def test_each_improvement_is_a_point_where_its_axes_say(kept):
    curves, root, _, _ = kept
    drawn = titles(root)
    for model in ("golomb", "warehouse", "tsp"):
        svg = drawn[f"{model}, minimise"]
        found = {(hint, round(value_at(y, up_ticks(svg)))) for _, y, hint in points(svg)}
        expected = {
            (f"{value} at {when:.3f} s by {who}, seed {curve.seed}", value)
            for curve in curves
            if curve.model == model
            for when, value, who in curve.improvements
        }
        assert found == expected and len(expected) > 1
    assert not any(title.startswith("queens") for title in drawn)


def test_the_table_and_the_outcome_are_those_of_the_text(kept):
    curves, root, said, _ = kept
    head, *rows = tables(root)["All runs"]
    assert head == list(anytime_page.HEAD) and len(rows) == len(curves) == 2 * len(MODELS)
    lines = {tuple(line.split()[:2]): line for line in said.splitlines()}
    for row, curve in zip(rows, curves):
        assert (row[0], row[1]) == (curve.model, str(curve.seed))
        assert row[2] == str(curve.objective) and row[8] in lines[row[0], row[1]]
    closed = sum(curve.status == "OPTIMAL_SOLUTION" for curve in curves)
    assert f"8 runs of 60 s of search: {closed} searched the whole space" in next(root.iter("p")).text
    hints = [title.text for title in titles(root)["How soon"].iter(f"{SVG}title")]
    assert hints == ["a solution: 8 of 8", "within 1 %: 8 of 8", "best known: 8 of 8", f"proved: {closed} of 8"]


def test_two_files_are_compared_with_no_run(kept):
    _, _, _, folder = kept
    said = bench("bench.anytime", "--compare", folder / "a.json", folder / "a.json", "--html", folder / "b.html")
    assert "old: better 0, equal 6, worse 0" in said
    root = parse(folder / "b.html")
    counts = [title.text for title in titles(root)["Against others"].iter(f"{SVG}title")]
    assert counts == ["old: equal 6"]


def curve(model: str, seed: int, *improvements: tuple[float, int, str], **more: object) -> Curve:
    return Curve(model, seed, 1, 10.0, improvements=list(improvements), **more)


def test_better_and_worse_are_counted_by_model_and_seed():
    new = [curve("m", 1, (1.0, 5, "tree"), side=[(1.0, 7)]), curve("m", 2, (1.0, 9, "tree")), curve("n", 1)]
    old = [curve("m", 1, (1.0, 6, "tree")), curve("m", 2, (1.0, 9, "tree")), curve("n", 1, (1.0, 1, "tree"))]
    peers = {"m": {"model": "m", "best_known": "5*", "other_1t_9s": "8"}}
    assert counts_against(new, peers, old) == [
        ("best_known", (0, 1, 1)), ("other_1t_9s", (1, 0, 1)), ("old", (1, 1, 1)), ("the solver beside", (1, 0, 0)),
    ]  # fmt: skip
    assert best_known([*new, *old], peers) == {"m": 5, "n": 1}
    assert "old: better 1, equal 1, worse 1" in compare(old, new, peers)


def test_integrals_of_old_and_new_are_a_point_of_the_scatter():
    new = [curve("m", 1, (0.0, 10, "tree")), curve("n", 1, (5.0, 10, "tree"))]
    old = [curve("m", 1, (2.0, 10, "tree")), curve("n", 1, (0.0, 10, "tree"))]
    page = anytime_page.page(new, {}, old)
    hints = [hint for _, _, hint in points(picture_of(page, "old, per cent"))]
    assert hints == ["m: 20 and 0", "n: 0 and 50"]
    (m, n) = points(picture_of(page, "old, per cent"))
    assert m[1] > n[1] and m[0] > n[0], "up is worse, and so is to the right"


def picture_of(page: str, caption: str) -> ElementTree.Element:
    """The first with this text in it."""
    pictures = re.findall(r"<svg xmlns.*?</svg>", page, re.DOTALL)
    return ElementTree.fromstring(next(text for text in pictures if f">{caption}<" in text))


def test_shares_of_old_runs_are_of_the_old_ones():
    old = [curve("m", seed, (0.1, 5, "tree"), status="ALL_SOLUTIONS", end=1.0) for seed in (1, 2, 3)]
    svg = picture_of(anytime_page.page([old[0]], {}, old), "How soon")
    assert [title.text for title in svg.iter(f"{SVG}title")][-2:] == ["best known, old: 3 of 3", "proved, old: 3 of 3"]
    heights = [float(y) for path in svg.iter(f"{SVG}path") for y in re.findall(r"V([\d.]+)", path.get("d"))]
    assert min(heights) >= FULL.top


# ---- nodes a second


def run(model: str, speed: float, **more: object) -> Run:
    return Run(model, "cpu", "SATISFIED", nodes=int(speed), nodes_per_second=speed, runs_per_node=3.0, **more)


def test_the_page_of_nodes_has_the_figures_of_its_json_and_its_text(tmp_path):
    paths = tmp_path / "n.json", tmp_path / "n.html"
    flags = ["--seconds", 0.2, "--profile", "--json", paths[0], "--html", paths[1]]
    said = bench("bench", *files("golomb", "warehouse"), *flags)
    runs = json.loads(paths[0].read_text())
    root = parse(paths[1])
    head, *rows = tables(root)["All runs"]
    assert head == list(nodes_page.HEAD)
    for row, kept in zip(rows, runs, strict=True):
        assert row[:4] == [kept["model"], "cpu", f"{kept['nodes_per_second']:,.0f}", f"{kept['nodes']:,}"]
        assert any(line.startswith(row[0]) and f" {row[2]} " in line for line in said.splitlines())
        svg = titles(root)[kept["model"]]
        assert [int(hint.split()[0]) for *_, hint in points(svg)] == [value for _, value, _ in kept["improvements"]]
    hints = [hint for *_, hint in points(titles(root)["Speed"])]
    assert hints == [f"{kept['model']}, ours: {kept['nodes_per_second']:.6g}" for kept in runs]
    stacked = [title.text for title in titles(root)["Where the time goes"].iter(f"{SVG}title")]
    assert f"golomb: fixpoint {runs[0]['activities']['fixpoint']:.0%}" in stacked


def test_old_and_new_speeds_are_compared(tmp_path):
    old, new = [run("a", 100), run("b", 100), run("c", 100)], [run("a", 400), run("b", 102), run("c", 50), run("d", 9)]
    page = nodes_page.page(new, old)
    assert [hint for *_, hint in points(picture_of(page, "Nodes a second"))] == [
        "a: 100 and 400", "b: 100 and 102", "c: 100 and 50"
    ]  # fmt: skip
    assert "new against old: better 1" in page and "new against old: worse 1" in page
    assert "1.27 times the old" in page
    profile = picture_of(page, "Performance profile")
    assert [title.text for title in profile.iter(f"{SVG}title")] == ["old: 3 of 3", "new: 3 of 3"]


def test_a_peer_is_compared_as_an_old_run_is():
    page = nodes_page.page([run("a", 400, peer_ratio=4.0), run("b", 90)])
    assert [hint for *_, hint in points(picture_of(page, "Speed"))] == ["a, peer: 100", "a, ours: 400", "b, ours: 90"]
    assert "4.00 times the peer" in page


# ---- pictures


def test_a_point_of_a_scatter_stands_where_both_axes_say():
    text = charts.draw_scatter("s", "old", "new", [("a", 20.0, 70.0)], Axis(0, 100))
    svg = ElementTree.fromstring(text)
    ((x, y, _),) = points(svg)
    below = [(place, number(tick)) for place, _, tick in texts(svg, "middle") if re.fullmatch(r"\d+", tick)]
    assert value_at(x, below) == pytest.approx(20, abs=0.1) and value_at(y, up_ticks(svg)) == pytest.approx(70, abs=0.2)


def test_a_label_covers_neither_a_point_nor_another_label():
    points = [(f"model{i}", 10.0 * i, 10.0 * i + 3 * (i % 3)) for i in range(8)]
    text = charts.draw_scatter("s", "old", "new", [*points, ("beside", 21.0, 20.0)], Axis(0, 100))
    labels = re.findall(r'<text x="([\d.]+)" y="([\d.]+)" text-anchor="(\w+)">((?:model|beside)\w*)</text>', text)
    assert len(labels) >= 3
    circles = [tuple(map(float, one)) for one in re.findall(r'<circle cx="([\d.]+)" cy="([\d.]+)"', text)]
    for x, y, anchor, name in labels:
        left = float(x) - (charts.CHARACTER * len(name) if anchor == "end" else 0)
        for cx, cy in circles:
            assert not (left < cx + 3 and cx - 3 < left + charts.CHARACTER * len(name) and abs(cy + 4 - float(y)) < 10)


def test_a_share_is_written_where_there_is_room_beside_it():
    parts = (("a", "red", "white"), ("b", "blue", "white"), ("c", "green", "white"))
    text = charts.draw_stacks("s", [("m", (90, 5, 5))], parts, lambda value: f"{value}%")
    assert re.findall(r">(\d+%)</text>", text) == ["90%"]


def test_the_band_lies_between_the_least_and_the_greatest_of_all_seeds():
    runs = [[(1.0, 9, "tree"), (4.0, 5, "tree")], [(2.0, 7, "tree"), (3.0, 6, "tree")]]
    assert charts.extremes(runs) == [(2.0, 7, 9), (3.0, 6, 9), (4.0, 5, 6)]
    assert charts.extremes([*runs, []]) == []
    svg = ElementTree.fromstring(charts.draw_seeds("m", charts.Lines(runs), 10.0))
    (band,) = [path for path in svg.iter(f"{SVG}path") if path.get("class") == "band"]
    heights = {round(value_at(float(y), up_ticks(svg)), 1) for y in re.findall(r"V([\d.]+)", band.get("d"))}
    assert heights == {9, 6, 5, 7}


def test_a_bar_has_parts_as_long_as_their_numbers():
    svg = ElementTree.fromstring(charts.draw_counts("c", [("one < two", (3, 0, 1))]))
    bars = [rect for rect in svg.iter(f"{SVG}rect") if rect.find(f"{SVG}title") is not None]
    widths = [float(rect.get("width")) for rect in bars]
    assert [rect.findtext(f"{SVG}title") for rect in bars] == ["one < two: better 3", "one < two: worse 1"]
    assert widths[0] == pytest.approx(3 * widths[1], rel=0.01)


def test_a_logarithmic_axis_ends_at_powers_of_ten():
    assert decades([20, 3000]) == Axis(10, 10_000, True)
    assert decades([]) == decades([1.0]) == Axis(1, 10, True)
    assert decades([0.0, 5.0]).share(0.0) == 0.0


def test_columns_are_filled_alike():
    def of(height: int) -> str:
        return f'<svg viewBox="0 0 640 {height}">'

    assert html.balanced([of(600), of(300), of(100), of(250)]) == [of(600), of(100), of(300), of(250)]
    assert html.balanced([]) == []


@pytest.mark.parametrize("tool", ["bench", "bench.anytime"])
@pytest.mark.parametrize("text", ["no json", "[1]", '[{"model": "m"}]', "{}x"])
def test_a_file_that_is_none_of_ours_is_refused(tool, text, tmp_path):
    path = tmp_path / "runs.json"
    path.write_text(text)
    call = [sys.executable, "-m", f"lab.{tool}", "--compare", path, path]
    done = subprocess.run(call, capture_output=True, text=True, timeout=PATIENCE, env=environment())
    assert done.returncode == 2 and "not what --json has written" in done.stderr


# ---- solvers side by side


def test_each_improvement_of_each_solver_is_a_point(tmp_path):
    (tmp_path / "m.fzn").write_text("var 1..9: x :: output_var;\nsolve minimize x;\n")
    (tmp_path / "say.sh").write_text("echo 'x = 7;'; echo ----------; echo '% obj=4 t=1'\n")
    paths = tmp_path / "v.svg", tmp_path / "v.json"
    one = "other=sh " + str(tmp_path / "say.sh") + " {file} {ms} {s}"
    flags = ["--seconds", 5, "--svg", paths[0], "--json", paths[1], "--line", r"% obj=(-?\d+)"]
    bench("bench.versus", tmp_path / "m.fzn", *flags, "--with", one, "--with", "none=true {file}")
    kept = json.loads(paths[1].read_text())
    assert [value for _, value in kept["m"]["other"]] == [7, 4] and kept["m"]["none"] == []
    svg = ElementTree.fromstring(paths[0].read_text())
    assert [hint.partition(" at")[0] for *_, hint in points(svg)] == ["other: 7", "other: 4"]
    assert [round(value_at(y, up_ticks(svg))) for _, y, _ in points(svg)] == [7, 4]
    assert {text for *_, text in texts(svg, "start")} >= {"other", "none"}


def test_processor_time_is_counted_and_ends_a_solver_that_does_not(tmp_path):
    (tmp_path / "m.fzn").write_text("var 1..9: x :: output_var;\nsolve minimize x;\n")
    work = "import time\nprint('x = 7;', flush=True)\ntime.sleep(1)\nprint('x = 5;', flush=True)\nwhile True: pass\n"
    (tmp_path / "work.py").write_text(work)
    command = f"{sys.executable} {tmp_path / 'work.py'} {{file}}"
    found = run_side(tmp_path / "m.fzn", command, 0.5, clock=ProcessorClock)
    assert [value for _, value in found] == [7, 5]
    assert found[1][0] - found[0][0] < 0.5, "sleep is no work"


@pytest.mark.parametrize(
    "flags",
    [
        ["--with", "no command"],
        ["--with", "a=sh"],
        ["--with", "a=no_such {file}"],
        ["--with", "a=sh {file}", "--line", "("],
    ],
)
def test_a_solver_without_a_file_or_a_wrong_pattern_is_refused(flags, tmp_path):
    call = [sys.executable, "-m", "lab.bench.versus", *files("golomb"), "--svg", tmp_path / "v.svg", *flags]
    done = subprocess.run(list(map(str, call)), capture_output=True, text=True, timeout=PATIENCE, env=environment())
    assert done.returncode == 2 and "error: " in done.stderr and "Traceback" not in done.stderr
