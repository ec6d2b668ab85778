"""`--explain` on the command line: what stdout says in each style, and what it says when the time is up."""

from __future__ import annotations

import json
import signal

import pytest

from support import command
from support.command import LEAST_SUM, NO_SOLUTION_BY_SEARCH, THREE_SOLUTIONS, core_line, ends_soon, run, start, write
from support.warm import ask
from turbo_fzn import solve_text
from turbo_fzn.base.errors import InternalError
from turbo_fzn.explain import explainer
from turbo_fzn.explain.tuning import TUNING
from turbo_fzn.options.options import Options
from turbo_fzn.process.interrupt import Interrupt
from turbo_fzn.read.languages import parse_named

PIGEONS = 18


def hard_in_parts(n: int = PIGEONS) -> str:
    """Refuted at the root by `up` and `down`; without them, n pigeons in n - 1 holes, which takes ages."""
    names = [f"p{i}" for i in range(n)]
    lines = [f"var 1..{n - 1}: {name} :: output_var;" for name in names]
    lines += [f"constraint int_ne({a},{b});" for number, b in enumerate(names) for a in names[:number]]
    lines += ["var 1..9: x;", 'constraint int_le(5,x) :: mzn_constraint_name("up");']
    lines += ['constraint int_le(x,4) :: mzn_constraint_name("down");']
    return "\n".join([*lines, "solve satisfy;\n"])


def test_the_reasons_stand_before_the_status_as_comments_and_as_json(tmp_path):
    path = write(tmp_path, NO_SOLUTION_BY_SEARCH)
    answer = ask("--arch", "cpu", "--explain", path)
    titles = ["int_ne(a,b)", "int_ne(b,c)", "int_ne(a,c)"]
    assert answer.text.splitlines() == [
        "% these 3 constraints have no solution together, and with one less there is one:",
        *(f"%   {title} (model.fzn:{line})" for line, title in enumerate(titles, 5)),
        f"%%%mzn-core: {json.dumps(titles)}",
        "=====UNSATISFIABLE=====",
    ]
    assert (answer.errors, answer.code) == ("", 0)


def test_a_temporary_file_of_minizinc_is_no_place_and_a_line_says_how_to_get_one(tmp_path):
    placed = NO_SOLUTION_BY_SEARCH.replace("int_ne(a,b)", 'int_ne(a,b) :: mzn_path("/a/m.mzn|3|12|3|40|")')
    answer = ask("--arch", "cpu", "--explain", write(tmp_path, placed, "mznfileG6Stmk.fzn"))
    assert sorted(answer.text.splitlines()[1:4]) == ["%   int_ne(a,c)", "%   int_ne(b,c)", "%   m.mzn:3.12-40"]
    assert answer.errors.count("\n") == 1 and "--keep-paths" in answer.errors
    assert solve_text(placed, file="mznfileG6Stmk.fzn", explain=True).core.constraints[-1].place == ""


@pytest.mark.parametrize("text", [LEAST_SUM, THREE_SOLUTIONS])
def test_a_model_that_has_a_solution_is_answered_as_ever(tmp_path, text):
    path = write(tmp_path, text)
    alone = ("--arch", "cpu", "-p", "1", path)  # of several blocks any may be the first with a solution
    assert ask("--explain", *alone).text == ask(*alone).text
    assert solve_text(text, arch="cpu", explain=True).core is None


def test_domains_that_contradict_each_other_are_no_constraint(tmp_path):
    path = write(tmp_path, "var 1..2: x;\nvar 3..4: y = x;\nconstraint int_ne(x,2);\nsolve satisfy;\n")
    answer = ask("--arch", "cpu", "--explain", path)
    assert answer.text.startswith("% the domains of the variables alone have no solution\n%%%mzn-core: []\n")


def test_an_answer_of_xcsp3_has_comments_of_its_competitions(tmp_path):
    text = """<instance format="XCSP3" type="CSP"><variables> <var id="x"> 1..3 </var> </variables>
    <constraints> <intension id="up"> gt(x,2) </intension> <intension id="down"> lt(x,3) </intension> </constraints>
    </instance>"""
    lines = ask_xcsp3(write(tmp_path, text, "model.xml"))
    assert lines[:3] == [
        "c these 2 constraints have no solution together, and with one less there is one:",
        *("c   up (model.xml:2.19)", "c   down (model.xml:2.60)"),
    ]
    assert lines[3] == "s UNSATISFIABLE"


def ask_xcsp3(path: object) -> list[str]:
    """The competition's style has no lines that `ask` could read."""
    with start("--arch", "cpu", "--explain", path) as process:
        output, _ = process.communicate(timeout=command.PATIENCE)
    return output.splitlines()


def test_a_ternary_model_has_no_names(tmp_path):
    path = write(tmp_path, NO_SOLUTION_BY_SEARCH)
    ask("--dump-tnf", tmp_path / "model.tnf", path)
    answer = ask("--arch", "cpu", "--explain", tmp_path / "model.tnf")
    assert (answer.markers, answer.code) == (["=====UNSATISFIABLE====="], 0)
    assert answer.errors == "fzn-turbo: --explain: a model in ternary normal form has no constraints with names\n"


def test_a_part_that_takes_long_is_left_and_the_core_is_minimal_all_the_same(monkeypatch):
    monkeypatch.setattr(TUNING, "least_seconds", 0.1)
    core = solve_text(hard_in_parts(), arch="cpu", explain=True).core
    assert core.titles == ["up", "down"] and core.minimal


def test_without_time_all_constraints_are_the_core_and_nobody_says_that_it_is_minimal():
    interrupt = Interrupt()
    interrupt.request()
    model = parse_named(hard_in_parts())
    core = explainer.Explainer(model, Options(arch="cpu"), interrupt, 0.0).run()
    assert (len(core.constraints), core.minimal) == (len(model.constraints), False)
    assert core.lines()[0].endswith("constraints have no solution together, but fewer of them may have none, too:")


def test_an_error_meanwhile_takes_nothing_from_what_is_proved(monkeypatch, caplog):
    def fail(self: object, members: object) -> bool:
        raise InternalError("a solution failed its check")

    monkeypatch.setattr(explainer.Explainer, "refutes", fail)
    result = solve_text(NO_SOLUTION_BY_SEARCH, arch="cpu", explain=True)
    assert result.status == "UNSATISFIABLE" and (len(result.core.constraints), result.core.minimal) == (3, False)
    assert caplog.messages == ["--explain ends early: a solution failed its check"]


def test_parts_are_tried_without_the_engine_that_is_there_to_be_compared():
    archs = {arch: explainer._for_tests(Options(arch=arch)).arch for arch in ("auto", "cpu", "gpu", "hybrid")}
    assert archs == {"auto": "cpu", "cpu": "cpu", "gpu": "gpu", "hybrid": "cpu"}


@pytest.mark.slow
def test_a_stop_tells_the_smallest_core_so_far(tmp_path):
    with start("--arch", "cpu", "--explain", "-v", write(tmp_path, hard_in_parts())) as process:
        while "search: " not in process.stderr.readline():
            pass
        process.send_signal(signal.SIGTERM)
        with ends_soon():
            answer = command.finish(process)
    assert (answer.code, answer.markers) == (0, ["=====UNSATISFIABLE====="])
    assert {"up", "down"} <= set(core_line(answer.text)) and "may have none, too" in answer.text


@pytest.mark.slow
def test_the_time_limit_is_kept(tmp_path):
    path = write(tmp_path, hard_in_parts())
    for limit in command.time_limits():
        with ends_soon(limit / 1000):
            answer = run("--arch", "cpu", "--explain", "-t", limit, path)
        if answer.markers == ["=====UNSATISFIABLE====="]:
            break
    assert {"up", "down"} <= set(core_line(answer.text))
