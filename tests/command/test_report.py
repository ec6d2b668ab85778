"""The page of `--report`: well formed, alone, and with the numbers of the run. `make look` opens it in a browser."""

from __future__ import annotations

import ast
import platform
import re
import shlex
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from support.command import (
    GREATEST_SUM,
    LEAST_SUM,
    NO_SOLUTION_BY_SEARCH,
    PATIENCE,
    SEPARATOR,
    golomb,
    grid,
    run,
    write,
)
from support.needs import needs_minizinc
from support.pages import SVG, parse, tables, titles
from support.warm import ask
from turbo_fzn.options.options import Options
from turbo_fzn.report import axes, listener, origin, page, plot, record, recorder
from turbo_fzn.report.record import Answer, Record
from turbo_fzn.run.answer.outcome import Finished, Sample, Solution


@pytest.mark.parametrize("text", [LEAST_SUM, GREATEST_SUM, golomb(7)])
def test_the_numbers_of_the_page_are_those_of_the_run(tmp_path, text):
    page_path = tmp_path / "run.html"
    answer = ask("--arch", "cpu", "-i", "-s", "--report", page_path, write(tmp_path, text))
    root = parse(page_path)
    shown = dict(tables(root)["Statistics"])
    final = answer.text.rpartition("==========")[2]
    told = dict(re.findall(r"^%%%mzn-stat: (\w+)=(.*)$", final, re.MULTILINE))
    assert shown.keys() == told.keys()
    for name, value in told.items():
        if value.startswith('"'):
            assert shown[name] == value.strip('"')
        else:
            assert float(shown[name]) == pytest.approx(float(value), rel=1e-4, abs=1e-6)
    head, *rows = tables(root)["Solutions"]
    assert head == ["solution", "seconds", "objective", "method", "block"]
    assert len(rows) == len(answer.solutions) == int(told["solutions"])
    assert rows[-1][2] == told["objective"]
    points = [hint.text for hint in titles(root)["Objective"].iter(f"{SVG}title")]
    assert [point.split()[0] for point in points] == [row[2] for row in rows]
    assert f"objective {told['objective']}" in next(root.iter("p")).text
    assert "The optimum is proved" in next(root.iter("p")).text


def test_the_page_needs_nothing_from_elsewhere_and_says_what_was_asked_for(tmp_path):
    path = tmp_path / "a <run> & more.html"
    ask("--arch", "cpu", "-p", 2, "-f", "-t", 60000, "--report", path, write(tmp_path, LEAST_SUM, "a < b.fzn"))
    root = parse(path)
    links = [value for element in root.iter() for name, value in element.items() if name in ("src", "href")]
    assert links == [] and "url(" not in path.read_text() and "@import" not in path.read_text()
    assert root.findtext("body/h1") == "a < b.fzn"
    settings = dict(tables(root)["Settings"])
    assert (settings["threads"], settings["free_search"], settings["arch"]) == ("2", "True", "cpu")
    defaults = settings["at their defaults"].split(", ")
    assert "relaxation" in defaults and "threads" not in defaults
    assert {"Objective", "Speed", "Idle", "Methods", "The model on its way"} == set(titles(root))


def test_a_satisfaction_model_shows_its_solutions_over_time(tmp_path):
    path = tmp_path / "run.html"
    ask("--arch", "cpu", "-a", "--report", path, write(tmp_path, grid()))
    root = parse(path)
    assert len(tables(root)["Solutions"]) == 1 + 4 * 3 * 3
    assert "The whole space was searched; 36 solutions" in next(root.iter("p")).text
    assert "Solutions" in titles(root) and "Objective" not in titles(root)


def test_without_a_solution_there_is_a_page_too(tmp_path):
    path = tmp_path / "run.html"
    for text in (NO_SOLUTION_BY_SEARCH, "var 1..2: x;\nconstraint int_le(3,x);\nsolve satisfy;\n"):
        answer = ask("--arch", "cpu", "--report", path, write(tmp_path, text))
        assert answer.markers == ["=====UNSATISFIABLE====="]
        assert "There is no solution: proved" in next(parse(path).iter("p")).text


def test_a_page_that_cannot_be_written_is_told_before_the_search(tmp_path):
    answer = ask("--report", tmp_path / "missing" / "run.html", write(tmp_path, LEAST_SUM))
    assert (answer.code, answer.solutions, answer.markers) == (1, [], ["=====ERROR====="])
    assert re.fullmatch("fzn-turbo: cannot write .*missing/run.html: No such file or directory\n", answer.errors)


def test_what_goes_wrong_with_the_page_takes_no_answer_back(tmp_path):
    answer = ask("--report", "/dev/full", write(tmp_path, LEAST_SUM))
    assert (answer.code, answer.markers, len(answer.solutions)) == (0, ["=========="], 1)
    assert "cannot write /dev/full" in answer.errors


@needs_minizinc
def test_minizinc_passes_the_flag_on(minizinc, model, tmp_path):
    path = tmp_path / "run.html"
    source, data = model("int: n;\nvar 1..n: x;\nsolve maximize x;\n"), write(tmp_path, "n = 9;\n", "data.dzn")
    done = minizinc("--report", path, data, source)
    assert done.stdout == f"x = 9;\n{SEPARATOR}\n==========\n"
    root = parse(path)
    assert "objective 9; 1 solution in" in next(root.iter("p")).text
    assert root.findtext("body/h1") == "model.mzn, data.dzn"
    told = dict(tables(root)["Run"])
    assert told["MiniZinc's command"].startswith("minizinc ") and told["MiniZinc's command"].endswith(
        f"{data} {source}"
    )
    assert re.fullmatch(rf"fzn-turbo .*--report {path} .*mznfile\w+\.fzn", told["command"])


@needs_minizinc
def test_a_model_that_minizinc_has_from_a_program_has_no_name(solvers, monkeypatch, tmp_path):
    package = pytest.importorskip("minizinc", reason="the package minizinc is not installed (pip install minizinc)")
    monkeypatch.setenv("MZN_SOLVER_PATH", str(solvers))
    path, text = tmp_path / "run.html", package.Model()
    text.add_string("var 1..9: x; solve maximize x;")
    package.Instance(package.Solver.lookup("turbo", refresh=True), text).solve(**{"--report": str(path)})
    root = parse(path)
    assert root.findtext("body/h1") == "a model without a name"
    assert "mzn_fragment" in dict(tables(root)["Run"])["MiniZinc's command"]


def test_date_command_and_processor_are_told(tmp_path):
    path, source = tmp_path / "run.html", write(tmp_path, LEAST_SUM, "the model.fzn")
    run("--arch", "cpu", "--report", path, source)
    root = parse(path)
    told, machine = dict(tables(root)["Run"]), dict(tables(root)["Machine"])
    assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d \S+", told["date"])
    assert told["command"] == f"fzn-turbo --arch cpu --report {path} '{source}'"
    assert "MiniZinc's command" not in told
    assert machine["processor"].endswith(f"({platform.machine()})") or machine["processor"] == platform.machine()
    assert re.fullmatch(r"\d+ of \d+ may be used", machine["processors"])


@pytest.mark.parametrize(
    ("file", "callers", "name"),
    [
        ("dir/model.fzn", [["minizinc", "other.mzn"]], "model.fzn"),
        ("", [["python"]], "a model without a name"),
        ("-", [["bash"]], "a model without a name"),
        ("/tmp/mznfileAb0.fzn", [["bash"]], "a model without a name"),
        (
            "/tmp/mznfileAb0.fzn",
            [["sh", "wrap"], ["/opt/bin/minizinc.bin", "d.dzn", "-a", "sub/m.mzn"]],
            "m.mzn, d.dzn",
        ),
        ("/tmp/mznfileAb0.json", [["minizinc", "-m", "m.mzn", "-d", "d.json", "-o", "out.json"]], "m.mzn, d.json"),
        ("/tmp/mznfileAb0.fzn", [["minizinc", "/tmp/mzn_fragmentab_3.mzn", "a.dzn"]], "a.dzn"),
    ],
)
def test_a_temporary_file_is_called_as_minizinc_was_asked_for_it(file, callers, name):
    assert origin.origin_of(file, callers).name == name


def test_the_processes_above_are_found():
    script = "from turbo_fzn.report.origin import ancestors; print([*ancestors()])"
    shell = f"{sys.executable} -c {shlex.quote(script)}; true"
    done = subprocess.run(["sh", "-c", shell, "minizinc"], capture_output=True, text=True, timeout=PATIENCE)
    above = ast.literal_eval(done.stdout)
    assert above[0] == ["sh", "-c", shell, "minizinc"]
    assert above[1] == Path("/proc/self/cmdline").read_text().rstrip("\0").split("\0")


def test_what_is_left_to_prove_is_told_as_a_gap():
    left = kept(
        -1, seconds=2.0, status="SATISFIED", statistics={"objective": 90, "objectiveBound": 100, "solutions": 2}
    )
    told = "There may be more or better solutions; objective 90; bound 100; gap 10 %; 2 solutions in 2.00 s of search."
    assert page.verdict(left) == told
    proved = replace(left, status="OPTIMAL_SOLUTION", statistics={**left.statistics, "solutions": 1})
    assert page.verdict(proved) == "The optimum is proved; objective 90; 1 solution in 2.00 s of search."


# ---- what is kept, and how it is drawn


def kept(sense: int, *answers: tuple[float, int], **more: object) -> Record:
    found = [Answer(seconds, objective, "tree", 0) for seconds, objective in answers]
    return Record(Options(), sense, found, **more)


def test_an_improvement_is_better_than_all_before():
    answers = (0.1, 9), (0.2, 9), (0.3, 7), (0.4, 8)
    assert [value for _, value, _ in kept(1, *answers).improvements()] == [9, 7]
    assert [value for _, value, _ in kept(-1, (0.1, 7), (0.3, 9), (0.4, 9)).improvements()] == [7, 9]


def test_a_bound_is_drawn_when_it_changes_and_as_it_is_at_the_end():
    samples = [Sample(0.1, 10, None), Sample(0.2, 20, 3), Sample(0.3, 30, 3), Sample(0.4, 40, 5)]
    run_of = kept(1, samples=samples, seconds=1.0, statistics={"objectiveBound": 8})
    assert run_of.bounds() == [(0.2, 3), (0.4, 5), (1.0, 8)]
    assert kept(1).bounds() == []


def test_a_rate_is_the_nodes_between_two_looks():
    samples = [Sample(1.0, 100, None), Sample(2.0, 400, None), Sample(9.9, 401, None)]
    run_of = kept(0, samples=samples, seconds=10.0, statistics={"nodes": 2000})
    assert run_of.rates() == [(0.0, 100.0), (1.0, 300.0), (2.0, 200.0)]


def test_nothing_is_written_where_no_page_is_wanted(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    note = listener(Options(), 0)
    for event in (Solution([], None, 0, "tree"), Finished(True, 1, {})):
        note(event)
    assert list(tmp_path.iterdir()) == []


def test_of_many_solutions_the_first_and_last_are_listed(monkeypatch):
    monkeypatch.setattr(page, "MOST_ROWS", 4)
    text = page.solutions(kept(0, *[(0.1 * n, n) for n in range(10)]))
    assert "6 in the middle are left out" in text
    assert re.findall(r"<tr><td>(\d+)</td>", text) == ["1", "2", "9", "10"]


def test_idle_time_is_the_share_of_all_blocks_that_waited_between_two_looks():
    samples = [Sample(1.0, 10, None, 0.0), Sample(2.0, 20, None, 1.0), Sample(3.0, 30, None, 5.0)]
    run_of = kept(1, samples=samples, seconds=4.0, statistics={"blocks": 2, "idleTime": 5.5})
    assert run_of.idle() == [(0.0, 0.0), (1.0, 50.0), (2.0, 100.0), (3.0, 25.0)]
    assert "Idle" in "".join(page.figures(run_of))
    assert kept(1, samples=samples, seconds=4.0, statistics={"blocks": 1}).idle() == []


def test_a_run_without_an_objective_has_no_column_for_it():
    assert "objective" not in page.solutions(kept(0, (0.1, 1)))
    assert "objective" in page.solutions(kept(1, (0.1, 1)))


def test_ticks_are_round_and_cover_the_axis():
    assert axes.nice_ticks(0, 10) == [0, 2, 4, 6, 8, 10]
    assert axes.nice_ticks(93, 107) == [95, 100, 105]
    assert axes.time_axis(0.0).ticks() == pytest.approx([0.0001, 0.0003, 0.001])
    assert axes.time_axis(0.05).ticks() == pytest.approx([0.001, 0.003, 0.01, 0.03])
    assert axes.time_axis(5.0).ticks() == pytest.approx([0.01, 0.03, 0.1, 0.3, 1, 3])
    assert axes.time_axis(1000.0).ticks() == pytest.approx([0.01, 0.1, 1, 10, 100, 1000])
    assert [axes.plain_number(value) for value in (0, 2.5, 9_999, 30_000, 123_456, 2e6, -3e9)] == [
        "0", "2.5", "9999", "30k", "123.5k", "2M", "-3G"
    ]  # fmt: skip


def test_numbers_below_an_axis_stand_apart():
    for size in (axes.SMALL, axes.FULL):
        frame = axes.Frame(axes.time_axis(30.0), axes.Axis(0, 1), size)
        places = [
            float(x) for x in re.findall(r'<text x="([\d.]+)"[^>]*>[\d.]+ s<', "".join(frame.across_axis("", " s")))
        ]
        assert len(places) >= 4 and min(b - a for a, b in zip(places, places[1:])) > 40


def test_a_long_legend_takes_more_rows():
    entries = [plot.Entry("objective", "red")] * 9
    rows = plot.legend_rows(entries)
    assert len(rows) > 1 and sum(map(len, rows)) == 9
    assert all(sum(map(plot.width_of, row)) <= axes.FULL.width - axes.FULL.left for row in rows)


def test_only_so_many_answers_are_kept(monkeypatch, tmp_path):
    monkeypatch.setattr(record, "MOST_ANSWERS", 2)
    note = recorder.recorder(Options(report=str(tmp_path / "run.html")), 0)
    for _ in range(3):
        note(Solution([], None, 0, "tree"))
    note(Finished(True, 3, {"solutions": 3}))
    root = parse(tmp_path / "run.html")
    assert len(tables(root)["Solutions"]) == 1 + 2 and "3 solutions" in next(root.iter("p")).text
