"""Calls from Python: settings are checked as flags are, all of them are honoured, and the outcome has its own name."""

from __future__ import annotations

import logging
import re
import signal
import threading
import time
from xml.etree import ElementTree

import numpy as np
import pytest

from support import command
from support.command import LEAST_SUM, NO_SOLUTION, THREE_SOLUTIONS, golomb, wait_until, write
from support.needs import needs_minizinc
from support.warm import ask
from turbo_fzn import Model, Result, solve_model, solve_text
from turbo_fzn.base.errors import ModelError, UsageError
from turbo_fzn.options.options import OPTIONS, Options
from turbo_fzn.options.parsing import parse_arguments
from turbo_fzn.options.settings import options_of
from turbo_fzn.read.languages import parse_named

MINIZINC = """\
include "globals.mzn";
int: n = 3;
array[1..n] of var 1..n: x;
constraint all_different(x);
solve satisfy;
"""
XCSP3 = (
    '<instance type="COP"><variables><var id="a"> 1..3 </var></variables>'
    "<objectives><maximize> a </maximize></objectives></instance>"
)
JSON = (
    '{"variables": {"x": {"type": "int", "domain": [[1, 5]]}}, "output": ["x"], "constraints": [],'
    ' "solve": {"method": "maximize", "objective": "x"}}'
)


def solve(text: str, **settings: object) -> Result:
    return solve_text(text, arch="cpu", **settings)


# ---- what is refused


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"arch": "x"}, "arch: expected one of auto, gpu, cpu, hybrid, found 'x'"),
        ({"lns": "foo"}, "lns: expected one of auto, on, off, found 'foo'"),
        ({"lns": None}, "lns: expected one of auto, on, off, found None"),
        ({"threads": -1}, "threads: -1 is less than 1"),
        ({"threads": "2"}, "threads: expected an integer, found '2'"),
        ({"threads": True}, "threads: expected an integer, found True"),
        ({"seed": 1.5}, "seed: expected an integer, found 1.5"),
        ({"blocks": 0}, "blocks: 0 is less than 1"),
        ({"gpu_threads": 33}, "gpu_threads: 33 is not a multiple of 32"),
        ({"memory": 10**7}, "memory: 10000000 is more than 1000000"),
        ({"float_precision": 0}, "float_precision: 0.0 is not within 1e-12..1"),
        ({"float_precision": "1"}, "float_precision: expected a number, found '1'"),
        ({"cp_profiler": (1, 0)}, "cp_profiler: '1,0' is out of range"),
        (
            {"cp_profiler": "1,6565"},
            "cp_profiler: expected an execution ID and a port, as in (1, 6565), found '1,6565'",
        ),
        ({"free_search": 1}, "free_search: expected True or False, found 1"),
        ({"simplify": "no"}, "simplify: expected True or False, found 'no'"),
        ({"check": "often"}, "check: expected one of auto, always, never, found 'often'"),
        ({"report": 3}, "report: expected text, found 3"),
        ({"learn": "prover,sage"}, "--learn: no role sage; there are prover"),
        ({"without": "magic"}, "--without: no method magic; there are tree"),
        ({"gpus": "both"}, "--gpus: expected all, a number from 1 on, or a list as in 0,2, found 'both'"),
    ],
    ids=str,
)
@pytest.mark.parametrize("text", [LEAST_SUM, NO_SOLUTION], ids=["searched", "solved at the root"])
def test_a_value_that_no_flag_takes_is_refused(text, settings, message):
    with pytest.raises(UsageError, match=f"^{re.escape(message)}"):
        solve_text(text, **{"arch": "cpu", **settings})


@pytest.mark.parametrize("ask_for", [solve_text, Model])
def test_what_is_no_text_is_refused_as_such(ask_for):
    with pytest.raises(TypeError, match=r"a model is a text \(str\), not bytes"):
        ask_for(LEAST_SUM.encode())


@pytest.mark.parametrize("flag", ["--learn=sage", "--without=magic", "--gpus=both"])
def test_a_name_that_there_is_not_is_refused_by_the_command_too_whatever_the_model(tmp_path, flag):
    answer = ask("--arch", "cpu", flag, write(tmp_path, NO_SOLUTION))
    assert (answer.code, answer.markers) == (1, ["=====ERROR====="])
    assert answer.errors.startswith(f"fzn-turbo: {flag.partition('=')[0]}: ")


def test_a_setting_that_there_is_not_is_named_with_the_one_that_may_be_meant():
    with pytest.raises(TypeError, match=r"^unknown settings: parallel \(did you mean threads\?\), zzz$"):
        solve(LEAST_SUM, parallel=2, zzz=1)
    with pytest.raises(TypeError, match=r"time_limits \(did you mean time_limit\?\)"):
        solve(LEAST_SUM, time_limits=2)


GIVEN = {  # kind -> a flag's value, and the setting's
    "switch": ((), True),
    "int": (("64",), 64),
    "number": (("1.0",), 1.0),  # within the range of each
    "pair": (("7,6565",), (7, 6565)),
    "text": (("prover",), "prover"),
}


@pytest.mark.parametrize("row", OPTIONS, ids=lambda row: row.flags[0])
def test_every_option_is_a_setting_of_the_same_value(row):
    kind, *values = row.kind.split(":")
    if kind in GIVEN:
        words, value = GIVEN[kind]
    else:
        words, value = (values[-1:] if kind == "choice" else ()), values[-1] or False
    asked = parse_arguments([row.flags[0], *words, "model.fzn"]).options
    assert vars(options_of({row.field: value, "file": "model.fzn"})) == vars(asked) != vars(Options(file="model.fzn"))


def test_numbers_of_numpy_and_paths_are_taken(tmp_path):
    options = options_of({"seed": np.int64(-3), "float_precision": np.float64(1e-3), "report": tmp_path})
    assert (options.seed, options.float_precision, options.report) == (-3, 1e-3, str(tmp_path))
    assert type(options.seed) is int


@pytest.mark.parametrize(("given", "meant"), [(True, "always"), (False, "never"), ("auto", "auto")])
def test_the_check_is_a_word_or_a_truth_value(given, meant):
    assert options_of({"check": given}).check == meant


# ---- what is honoured


@pytest.mark.parametrize(
    ("text", "settings", "status"),
    [
        (LEAST_SUM, {}, "OPTIMAL_SOLUTION"),
        (LEAST_SUM, {"all_solutions": True}, "OPTIMAL_SOLUTION"),
        (LEAST_SUM, {"all_optimal": True}, "OPTIMAL_SOLUTION"),
        (THREE_SOLUTIONS, {"all_solutions": True}, "ALL_SOLUTIONS"),
        (THREE_SOLUTIONS, {}, "SATISFIED"),
        (NO_SOLUTION, {}, "UNSATISFIABLE"),
    ],
)
def test_the_status_says_what_is_known(text, settings, status):
    result = solve(text, **settings)
    assert result.status == status
    assert result.complete == (status != "SATISFIED")


def test_improving_solutions_are_told_where_the_command_prints_them(tmp_path):
    path = write(tmp_path, golomb(7))
    for settings, flags in (({}, ()), ({"intermediate": True}, ("-i",)), ({"all_solutions": True}, ("-a",))):
        result = solve(golomb(7), threads=1, seed=1, **settings)
        printed = ask("--arch", "cpu", "-p", 1, "-r", 1, *flags, path).solutions
        assert [f"m6 = {one['m6']};" for one in result.solutions] == [lines[-1] for lines in printed]
        assert (len(printed) > 1) == bool(flags)


def test_a_report_is_written(tmp_path):
    page = tmp_path / "run.html"
    solve(golomb(6), report=page, file="ruler.fzn")
    assert "<h1>ruler.fzn</h1>" in page.read_text()
    assert "The optimum is proved; objective 17" in page.read_text()


def test_a_ternary_model_is_written_and_not_solved(tmp_path):
    result = solve(LEAST_SUM, dump_tnf=tmp_path / "model.tnf")
    assert (result.status, result.solutions) == ("UNKNOWN", [])
    assert ask("--arch", "cpu", tmp_path / "model.tnf").solutions == ask(write(tmp_path, LEAST_SUM)).solutions
    with pytest.raises(UsageError, match="cannot write"):
        solve(LEAST_SUM, dump_tnf=tmp_path / "missing" / "model.tnf")


def test_verbose_tells_on_stderr_what_is_done_and_no_longer(capsys):
    solve(LEAST_SUM, verbose=True)
    told = capsys.readouterr().err
    assert "turbo_fzn: search: " in told and "turbo_fzn: root: " in told
    solve(LEAST_SUM)
    assert capsys.readouterr().err == ""


def test_log_lines_go_to_who_wants_them_and_to_nobody_else(capsys):
    lines: list[str] = []
    solve(LEAST_SUM, on_log=lines.append)
    assert any(line.startswith("search: ") for line in lines) and capsys.readouterr().err == ""
    count = len(lines)
    solve(LEAST_SUM)
    assert len(lines) == count


def test_overlapping_calls_leave_the_log_as_loud_as_it_was():
    """The first to begin is the first to end."""
    log = logging.getLogger("turbo_fzn")
    before, began, may_end = log.level, threading.Event(), threading.Event()
    log.setLevel(logging.ERROR)

    def hear(values: object, objective: object) -> None:
        began.set()
        may_end.wait()

    first = threading.Thread(target=solve, args=(LEAST_SUM,), kwargs={"on_log": str, "on_solution": hear})
    first.start()
    began.wait()
    solve(LEAST_SUM, on_log=str, on_solution=lambda values, objective: (may_end.set(), first.join()))
    assert log.level == logging.ERROR
    log.setLevel(before)


# ---- in a notebook


@pytest.mark.parametrize(
    ("text", "words"), [(LEAST_SUM, "The optimum is proved"), (NO_SOLUTION, "There is no solution")]
)
def test_a_result_shows_itself_as_a_piece_of_html_with_a_picture(text, words):
    shown = solve(text)._repr_html_()
    assert words in shown and "<html" not in shown and shown.count("<svg") == shown.count("</svg>") == 1
    ElementTree.fromstring(f"<div>{shown}</div>")


def test_a_result_of_no_search_says_its_status():
    assert Result("UNKNOWN", [], None, {})._repr_html_() == "<p>UNKNOWN</p>"


def test_ctrl_c_ends_a_call_which_leaves_no_thread_and_the_next_one_is_as_ever():
    """The process of a notebook goes on."""
    threads = threading.active_count()
    heard: list[float] = []

    def interrupt(values: object, objective: float) -> None:
        if not heard:
            threading.Timer(0.05, signal.raise_signal, [signal.SIGINT]).start()
        heard.append(objective)

    with pytest.raises(KeyboardInterrupt) as raised:
        solve(golomb(16), threads=2, on_solution=interrupt)
        time.sleep(command.PATIENCE)
    assert heard and raised.value.result.status == "SATISFIED"
    wait_until(lambda: threading.active_count() <= threads)
    assert solve(LEAST_SUM).objective == 7


# ---- which language


@pytest.mark.parametrize(
    ("text", "place"),
    [
        (MINIZINC, "1:1: "),
        ("var 1..3: x;\nconstraint x > 2;\nsolve satisfy;\n", "2:"),
        ("int: n;\nvar 1..n: x;\nsolve satisfy;\n", "1:"),
        ("var 1..3: x; % a <- b\nconstraint forall(i in 1..2)(x != i);\nsolve satisfy;\n", "2:"),
        ("var 1..3: x;\nsolve maximize 2 * x;\n", "2:"),
        ("array[0..3] of var 1..3: x;\nsolve satisfy;\n", "1:"),
        ("var 1..3: x;\nsolve satisfy;\noutput [show(x)];\n", "3:"),
    ],
)
def test_minizinc_is_told_for_what_it_is(tmp_path, text, place):
    advice = "this is MiniZinc and not FlatZinc; type: minizinc --solver turbo MODEL.mzn"
    with pytest.raises(ModelError) as raised:
        solve(text)
    assert str(raised.value).startswith(place) and str(raised.value).endswith(advice)
    path = write(tmp_path, text, "model")
    answer = ask(path)
    assert answer.errors.startswith(f"fzn-turbo: {path}:{place}") and answer.errors.endswith(f"{advice}\n")
    with pytest.raises(UsageError, match=r"^model\.mzn: this is MiniZinc and not FlatZinc; type: minizinc"):
        solve(text, file="model.mzn")


@needs_minizinc
def test_what_is_told_to_be_minizinc_is(minizinc, model):
    """The first of these models, that the advice is right."""
    assert "----------" in minizinc(model(MINIZINC)).stdout


@pytest.mark.parametrize(
    "text", ["var 1..3: x;\nconstraint int_le(x,2)\nsolve satisfy;\n", "var 1..3: x;\nconstraint  int_le(x;\n", "once"]
)
def test_wrong_flatzinc_is_not_taken_for_minizinc(text):
    with pytest.raises(ModelError) as raised:
        solve(text)
    assert "MiniZinc" not in str(raised.value)


def test_other_languages_are_known_by_their_beginning():
    assert solve(XCSP3).objective == 3
    assert solve_model(parse_named(XCSP3), arch="cpu").status == "OPTIMAL_SOLUTION"
    assert solve(JSON).solutions == [{"x": 5}]
    with pytest.raises(ModelError, match=r"^named:1:1: unexpected `once`"):
        solve("once", file="named")
