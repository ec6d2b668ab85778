"""The page of `--report`: well formed, alone, and with the numbers of the run. `make look` opens it in a browser."""

from __future__ import annotations

import platform
import re

import pytest

from support.command import (
    GREATEST_SUM,
    LEAST_SUM,
    NO_SOLUTION_BY_SEARCH,
    SEPARATOR,
    golomb,
    grid,
    run,
    write,
)
from support.needs import needs_minizinc
from support.pages import SVG, parse, tables, titles
from support.warm import ask


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
