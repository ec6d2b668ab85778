"""`--json-stream`: what the command prints as JSON is what it prints as text, in the types that are documented."""

from __future__ import annotations

import json
import re
import signal
import sys
import threading

import pytest

from support.command import (
    GREATEST_SUM,
    LEAST_SUM,
    NO_SOLUTION,
    NO_SOLUTION_BY_SEARCH,
    PATIENCE,
    THREE_SOLUTIONS,
    ends_soon,
    environment,
    golomb,
    grid,
    start,
    write,
)
from support.needs import needs_minizinc
from support.places import DATA
from support.sabotage import sabotage
from support.warm import ask, server
from support.xcsp3_unnamed import GOALS, UNNAMED
from turbo_fzn.options.options import Options
from turbo_fzn.run.answer import json_stream
from turbo_fzn.run.answer.glossary import GLOSSARY, LEARNED
from turbo_fzn.run.answer.outcome import Sample

STATUSES = {"ALL_SOLUTIONS", "OPTIMAL_SOLUTION", "UNSATISFIABLE", "UNBOUNDED", "UNKNOWN", "ERROR"}
FIELDS = {  # beside the type, as docs/guide/json.md has them; those that may be missing are marked
    "solution": {"output", "sections", "time"},
    "bound": {"bound", "time"},
    "core": {"constraints", "minimal", "time"},
    "statistics": {"statistics"},
    "status": {"status", "time"},
    "warning": {"message"},
    "error": {"what", "message", "location?"},
}
Message = dict


def stream_of(text: str) -> list[Message]:
    """The messages, each of which has the fields of its type."""
    messages = [json.loads(line) for line in text.splitlines()]
    for message in messages:
        fields = set(message) - {"type"}
        known = {name.rstrip("?") for name in FIELDS[message["type"]]}
        needed = {name for name in FIELDS[message["type"]] if not name.endswith("?")}
        assert needed <= fields <= known, message
        assert message.get("status", "UNKNOWN") in STATUSES
        assert message.get("sections", ["json"]) == ["json"]
    times = [message["time"] for message in messages if "time" in message]
    assert times == sorted(times) and all(isinstance(time, int) for time in times)
    return messages


def told(*arguments: object, code: int = 0) -> list[Message]:
    text, _, ended = server().ask(["--json-stream", "--arch", "cpu", *map(str, arguments)], environment(), PATIENCE)
    assert ended == code
    return stream_of(text)


def of_type(messages: list[Message], kind: str) -> list[Message]:
    return [message for message in messages if message["type"] == kind]


def values(messages: list[Message]) -> list[dict]:
    return [message["output"]["json"] for message in of_type(messages, "solution")]


def statuses(messages: list[Message]) -> list[str]:
    return [message["status"] for message in of_type(messages, "status")]


# ---- solutions


def test_all_solutions_are_those_of_the_text_and_the_status_says_so(tmp_path):
    path = write(tmp_path, grid())
    messages = told("-a", path)
    texts = [tuple(f"{name} = {value};" for name, value in one.items()) for one in values(messages)]
    assert texts == ask("-a", "--arch", "cpu", path).solutions and len(texts) == 36
    assert statuses(messages) == ["ALL_SOLUTIONS"]


def test_values_have_the_types_and_the_shape_of_the_model(tmp_path):
    text = """\
var 2..2: i :: output_var;
var bool: t :: output_var;
var 0.5..0.5: f :: output_var; var -0.0..0.0: zero :: output_var; var 1e-9..1e-9: small :: output_var;
array [1..6] of var int: m :: output_array([0..1,-1..1]) = [1,i,3,4,5,6];
array [1..2] of var bool: s :: output_array([5..6]) = [t,false];
array [1..2] of var float: r :: output_array([1..2]) = [f,1.0];
array [1..8] of var int: c :: output_array([1..2,1..2,1..2]) = [1,2,3,4,5,6,7,8];
array [1..0] of var int: e :: output_array([1..0]) = [];
constraint bool_eq(t,true);
solve satisfy;
"""
    (found,) = values(told(write(tmp_path, text)))
    assert found.pop("small") == pytest.approx(1e-9, abs=1e-6)
    assert json.dumps(found, sort_keys=True) == json.dumps(
        {
            "c": [[[1, 2], [3, 4]], [[5, 6], [7, 8]]],
            "e": [],
            "f": 0.5,
            "i": 2,
            "m": [[1, 2, 3], [4, 5, 6]],
            "r": [0.5, 1.0],
            "s": [True, False],
            "t": True,
            "zero": 0.0,
        }
    )


@pytest.mark.parametrize(("model", "best", "sense"), [(LEAST_SUM, 7, 1), (GREATEST_SUM, 11, -1)], ids=["min", "max"])
def test_solutions_improve_no_bound_passes_one_and_the_last_ones_meet(tmp_path, model, best, sense):
    messages = told("-a", write(tmp_path, model))
    objectives = [sense * one["_objective"] for one in values(messages)]
    bounds = [sense * message["bound"] for message in of_type(messages, "bound")]
    assert objectives == sorted(set(objectives), reverse=True) and objectives[-1] == sense * best
    assert all(bound <= sense * best for bound in bounds) and bounds[-1] == sense * best
    assert [sense * one["z"] for one in values(messages)] == objectives
    assert statuses(messages) == ["OPTIMAL_SOLUTION"] and messages[-1]["type"] == "status"


def test_only_the_best_solution_is_told_unless_others_are_wanted(tmp_path):
    assert [one["_objective"] for one in values(told(write(tmp_path, LEAST_SUM)))] == [7]


def test_one_solution_of_several_has_no_status(tmp_path):
    messages = told(write(tmp_path, THREE_SOLUTIONS))
    assert len(values(messages)) == 1 and statuses(messages) == []


@pytest.mark.parametrize("model", [NO_SOLUTION, NO_SOLUTION_BY_SEARCH], ids=["root", "search"])
def test_without_a_solution_there_is_the_status_alone(tmp_path, model):
    messages = told(write(tmp_path, model))
    assert [message["type"] for message in messages] == ["status"] and statuses(messages) == ["UNSATISFIABLE"]


def test_an_objective_without_a_bound_has_none_in_any_message(tmp_path):
    path = write(tmp_path, "var int: x :: output_var;\nsolve maximize x;\n")
    messages = told("-s", path)
    assert statuses(messages) == ["UNBOUNDED"]
    assert not of_type(messages, "bound")
    assert all("objectiveBound" not in message["statistics"] for message in of_type(messages, "statistics"))


# ---- reasons


def test_the_core_is_told_before_the_status_with_the_names_of_the_text(tmp_path):
    path = write(tmp_path, NO_SOLUTION_BY_SEARCH)
    core, status = told("--explain", path)
    assert (core["type"], core["minimal"], status["status"]) == ("core", True, "UNSATISFIABLE")
    assert core["constraints"] == ["int_ne(a,b)", "int_ne(b,c)", "int_ne(a,c)"]
    assert f"%%%mzn-core: {json.dumps(core['constraints'])}\n" in ask("--explain", "--arch", "cpu", path).text


def test_where_there_is_a_solution_there_is_no_core(tmp_path):
    messages = told("--explain", write(tmp_path, LEAST_SUM))
    assert not of_type(messages, "core") and statuses(messages) == ["OPTIMAL_SOLUTION"]


def test_a_ternary_model_has_a_warning_in_the_place_of_a_core(tmp_path):
    ask("--dump-tnf", tmp_path / "model.tnf", write(tmp_path, NO_SOLUTION_BY_SEARCH))
    warning, status = told("--explain", tmp_path / "model.tnf")
    assert (warning["type"], status["status"]) == ("warning", "UNSATISFIABLE")
    assert warning["message"] == "--explain: a model in ternary normal form has no constraints with names"


# ---- statistics


@pytest.mark.parametrize("flags", [[], ["--turbo-statistics"], ["-f", "-p", "2"]], ids=["own", "turbo", "free"])
def test_statistics_have_the_names_and_types_of_the_text(tmp_path, flags):
    path = write(tmp_path, golomb(6))
    blocks = [message["statistics"] for message in of_type(told("-s", "-a", *flags, path), "statistics")]
    texts = ask("-s", "-a", "--arch", "cpu", *flags, path).statistics
    assert len(blocks) > 1, "one for each solution, and one at the end"
    own = {name for name in set(blocks[-1]) ^ set(texts) if not re.search("Tries|Share|Improvements|^nogood", name)}
    assert own <= {entry.name for entry in GLOSSARY if entry.when == LEARNED}  # one of the two may have learned nothing
    for name in set(blocks[-1]) & set(texts):
        assert isinstance(blocks[-1][name], str) == texts[name].startswith('"'), name


def test_without_the_flag_there_are_no_statistics(tmp_path):
    assert not of_type(told("-a", write(tmp_path, LEAST_SUM)), "statistics")


# ---- XCSP3


def test_an_instance_has_the_same_messages():
    messages = told(DATA / "xcsp3" / "golomb.xml")
    assert values(messages)[-1] == {"x[0]": 0, **values(messages)[-1], "x[4]": 11, "_objective": 11}
    marks = [values(messages)[-1][f"x[{i}]"] for i in range(5)]
    assert len({b - a for i, a in enumerate(marks) for b in marks[i + 1 :]}) == 10
    assert statuses(messages) == ["OPTIMAL_SOLUTION"]


def test_symbols_are_texts_and_what_nothing_names_is_null(tmp_path):
    symbols, unnamed = tmp_path / "symbols.xml", tmp_path / "unnamed.xml"
    symbols.write_text(
        '<instance><variables><var id="a" type="symbolic"> red blue </var><var id="b"> 3 </var></variables>'
        "<constraints><intension> ne(a,red) </intension></constraints></instance>"
    )
    unnamed.write_text(UNNAMED.format("CSP", GOALS["CSP"]))
    assert values(told(symbols)) == [{"a": "blue", "b": 3}]
    (found,) = values(told(unnamed))
    assert list(found) == ["a", "b", "c", "y[0]", "y[1]", "y[2]", "z[0]", "z[1]", "d"]
    assert {name for name, value in found.items() if value is None} == {"c", "y[1]", "y[2]", "z[0]", "d"}


# ---- MiniZinc


@needs_minizinc
def test_minizincs_own_stream_has_sets_floats_and_arrays(minizinc, model):
    text = "var set of 1..3: s; var 0.5..0.5: f; array [0..1,1..2] of var 4..4: a; constraint card(s) = 3;"
    done = minizinc(
        "--json-stream", "--output-mode", "json", "-a", "--solver", "turbo", model(f"{text} solve satisfy;")
    )
    messages = [json.loads(line) for line in done.stdout.splitlines()]
    (found,) = [message["output"]["json"] for message in messages if message["type"] == "solution"]
    assert found == {"s": {"set": [[1, 3]]}, "f": 0.5, "a": [[4, 4], [4, 4]]}
    assert [message["status"] for message in messages if message["type"] == "status"] == ["ALL_SOLUTIONS"]


# ---- stops


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["INT", "TERM"])
def test_a_signal_ends_the_stream_behind_the_best_solution_without_a_claim(tmp_path, number):
    with start("--json-stream", "-s", "-i", write(tmp_path, golomb(12))) as process:
        lines = []
        while not lines or '"solution"' not in lines[-1]:
            lines.append(process.stdout.readline())
            assert lines[-1], "the process has ended"
        with ends_soon():
            process.send_signal(number)
            lines += process.stdout.read().splitlines(keepends=True)
            assert process.wait(PATIENCE) == 0
    messages = stream_of("".join(lines))
    assert statuses(messages) == [] and messages[-1]["type"] == "statistics"
    assert messages[-1]["statistics"]["objective"] == values(messages)[-1]["m11"] == values(messages)[-1]["_objective"]
    assert messages[-1]["statistics"]["objectiveBound"] == of_type(messages, "bound")[-1]["bound"] < 85


def test_a_stop_before_the_search_is_unknown(tmp_path):
    early = sabotage(tmp_path, "turbo_fzn.run.search", f"import os; os.kill(os.getpid(), {int(signal.SIGTERM)})")
    with start("--json-stream", "-s", write(tmp_path, LEAST_SUM), PYTHONPATH=early) as process:
        messages = stream_of(process.stdout.read())
    assert statuses(messages) == ["UNKNOWN"] and process.returncode == 0
    assert [message["type"] for message in messages] == ["status", "statistics"]


def test_a_time_that_is_spent_is_unknown(tmp_path):
    assert statuses(told("-t", "-1", write(tmp_path, LEAST_SUM))) == ["UNKNOWN"]


def test_at_a_time_limit_there_is_no_claim_and_the_advice_is_a_warning(tmp_path):
    for limit in (700, 3000, 12000, 60000):  # on a busy machine the search may not have begun
        messages = told("-t", limit, write(tmp_path, golomb(13)))
        if values(messages):
            break
    assert statuses(messages) == [] and len(values(messages)) == 1
    (advice,) = of_type(messages, "warning")
    assert "free search" in advice["message"] and messages[-1] == advice


# ---- warnings and errors


def test_what_is_a_line_on_stderr_is_a_warning_too(tmp_path):
    text = THREE_SOLUTIONS.replace("solve", "solve :: frobnicate(x)")
    with start("--json-stream", "-version", "1", write(tmp_path, text), "--arch", "cpu") as process:
        messages, errors = stream_of(process.stdout.read()), process.stderr.read()
    warnings = [message["message"] for message in of_type(messages, "warning")]
    assert len(warnings) == 2 and "frobnicate" in warnings[1]
    assert errors == "".join(f"fzn-turbo: {warning}\n" for warning in warnings)
    assert [message["type"] for message in messages] == ["warning", "warning", "solution"]


def test_a_warning_of_another_thread_comes_with_the_next_look_at_the_search(capsys):
    style = json_stream.JsonStyle(sys.stdout, Options())
    thread = threading.Thread(target=json_stream.warn, args=("of a thread",))
    thread.start()
    thread.join()
    assert capsys.readouterr().out == ""
    style.look(Sample(1.0, 10, 5))
    style.look(Sample(2.0, 20, 5))
    first, second = stream_of(capsys.readouterr().out)
    assert (first["message"], second["bound"]) == ("of a thread", 5)


@pytest.mark.parametrize(
    ("text", "what", "message", "place"),
    [
        ("var 1..3: x;\nconstraint foo(x);\nsolve satisfy;\n", "model error", "unknown predicate `foo`", (2, 1)),
        ("var set of 1..3: x;\nsolve satisfy;\n", "unsupported model", "", (1, None)),
        ("once upon a time\n", "model error", "unexpected `once`", (1, 1)),
    ],
)
def test_an_error_of_the_model_has_its_place(tmp_path, text, what, message, place):
    path = write(tmp_path, text)
    error, status = told(path, code=1)
    assert (error["type"], error["what"], status["status"]) == ("error", what, "ERROR")
    assert error["message"].startswith(message) and str(path) not in error["message"]
    location = error["location"]
    assert (location["filename"], location["firstLine"], location["lastLine"]) == (str(path), place[0], place[0])
    assert place[1] in (None, location["firstColumn"]) and location["firstColumn"] == location["lastColumn"]


def test_an_error_of_the_command_line_is_in_the_stream_too(tmp_path):
    (error, status) = told("--frobnicate", code=1)
    assert (error["what"], status["status"]) == ("usage error", "ERROR") and "--frobnicate" in error["message"]
    (error, status) = told(tmp_path / "missing.xml", code=1)
    assert (error["what"], status["status"]) == ("usage error", "ERROR") and "missing.xml" in error["message"]


def test_solutions_before_an_error_hold_and_are_told(tmp_path):
    broken = sabotage(tmp_path, "turbo_fzn.run.search", "def fail(*_): raise MemoryError\nSearch.finished = fail\n")
    path = write(tmp_path, LEAST_SUM)
    with start("--json-stream", "--arch", "cpu", path, PYTHONPATH=broken) as process:
        messages = stream_of(process.stdout.read())
    assert process.returncode == 1
    assert [message["type"] for message in messages[-3:]] == ["solution", "error", "status"]
    assert [one["z"] for one in values(messages)] == [7] and messages[-2]["what"] == "out of memory"


def test_a_reader_that_leaves_ends_the_process(tmp_path):
    with start("--json-stream", "-i", write(tmp_path, golomb(12))) as process:
        assert '"type"' in process.stdout.readline()
        process.stdout.close()
        with ends_soon():
            assert process.wait(PATIENCE) == 0
        assert process.stderr.read() == ""
