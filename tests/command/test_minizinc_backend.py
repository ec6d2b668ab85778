"""What MiniZinc passes on and reads back: the solver configuration, the flags, annotations, the ends of a run."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from support.command import COMMAND, LEAST_SUM, PATIENCE, environment, run, time_limits, write
from support.minizinc_output import count_solutions, objectives, status
from support.needs import needs_minizinc, needs_npm
from support.releases import OLDER, VERSION, Newest
from support.warm import ask
from turbo_fzn.command import install
from turbo_fzn.options import configuration
from turbo_fzn.options.options import minizinc_extra_flags
from turbo_fzn.version import __version__

TEXTS = {"--learn": "prover", "--without": "probe", "--gpus": "all", "--variant": "unsimplified"}  # else a file's path
SMALL = "var 1..4: x; var 1..3: y; constraint x + y <= 6; solve maximize x;"
PAIRS = "var 1..4: x; var 1..3: y; constraint x != y; solve satisfy;"  # 9 solutions

# ---- solver configuration


def written_configuration(solvers: Path) -> dict:
    return json.loads((solvers / configuration.CONFIGURATION).read_text())


@pytest.mark.covers("C3", "C5", "C6", "C9", "C11", "C12")
def test_the_fields_of_the_configuration_have_their_values_and_the_rest_is_left_out(solvers):
    fields = written_configuration(solvers)
    assert Path(fields["executable"]).is_absolute() and os.access(fields["executable"], os.X_OK)
    assert fields["tags"] == ["cp", "int", "float"]
    assert 0 < len(fields["description"]) < 80 and "\n" not in fields["description"]
    assert fields["needsSolns2Out"] is True
    for field in ("requiredFlags", "needsMznExecutable", "needsStdlibDir", "needsPathsFile", "isGUIApplication"):
        assert not fields.get(field)


@pytest.mark.covers("C13", "C1", "C2", "C4")
@needs_minizinc
def test_minizinc_lists_the_configuration_as_it_was_written(minizinc, solvers):
    listed = json.loads(minizinc("--solvers-json").stdout)
    (ours,) = [one for one in listed if one["id"] == configuration.SOLVER_ID]  # and not one that the user has installed
    for field, value in written_configuration(solvers).items():
        if field == "extraFlags":
            assert [flag[0] for flag in ours[field]] == [flag[0] for flag in value]
        elif field != "needsSolns2Out" or field in ours:
            assert ours[field] == value, field


@pytest.mark.covers("C1", "C2", "C14")
@needs_minizinc
@pytest.mark.parametrize("name", ["turbo", configuration.SOLVER_ID, f"turbo@{__version__}", "file"])
def test_the_solver_is_found_by_its_names_and_by_its_file(minizinc, solvers, model, name):
    solver = solvers / configuration.CONFIGURATION if name == "file" else name
    changes = {"MZN_SOLVER_PATH": ""} if name == "file" else {}
    done = minizinc("--solver", solver, model(SMALL), **changes)
    assert (status(done), done.stderr) == ("==========", "")


@pytest.mark.covers("C14")
@needs_minizinc
def test_the_solver_is_found_in_the_users_folder(minizinc, model, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    install.install_solver()
    done = minizinc(model(SMALL), HOME=str(tmp_path), MZN_SOLVER_PATH="")
    assert status(done) == "==========", done.stderr


# ---- flags

STANDARD = {
    "-a": ["-a"], "-n": ["-n", "4"], "-i": ["-i"], "-a-o": ["-a-o"], "-n-o": ["-n-o", "2"], "-f": ["-f"],
    "-p": ["-p", "2"], "-r": ["-r", "5"], "-s": ["-s"], "-t": ["-t", "600000"], "-v": ["-v"],
    "--cp-profiler": ["--cp-profiler", "1,9"],
}  # fmt: skip


@pytest.mark.covers("C7")
def test_every_standard_flag_has_a_way_to_be_used():
    assert set(STANDARD) == set(configuration.STD_FLAGS)


@pytest.mark.covers("C7")
@needs_minizinc
@pytest.mark.parametrize("flag", STANDARD)
def test_every_standard_flag_is_passed_on_and_accepted(minizinc, model, flag):
    text = PAIRS if flag in ("-a", "-n", "-r", "-p") else SMALL
    done = minizinc(*STANDARD[flag], "--output-mode", "dzn", model(text), CUDA_VISIBLE_DEVICES="")
    assert done.returncode == 0 and "=====ERROR=====" not in done.stdout, done.stderr
    if text == SMALL:
        assert status(done) == "=========="
        assert count_solutions(done) == (2 if flag == "-a-o" else 1) or flag == "-i"
        assert re.findall(r"^x = (\d);", done.stdout, re.MULTILINE)[-1] == "4"
    else:
        assert count_solutions(done) == {"-a": 9, "-n": 4}.get(flag, 1)


EXTRA = {entry[0]: entry for entry in minizinc_extra_flags()}
# Flags that ask for another kind of answer, exclude another flag, or whose kernels are compiled first.
APART = ("--explain", "--optimal-solutions", "--no-check", "--profile", "--proof", "--proof-limit")


def with_value(flag: str, folder: Path) -> list[str]:
    """The flag with a value of its type, if it has one."""
    _, _, kind, default = EXTRA[flag]
    values = {
        "int": "64",
        "float": "1.5" if flag == "--restart-base" else "0.001",
        "opt": "cpu" if flag == "--arch" else default,
        "string": TEXTS.get(flag, str(folder / flag.strip("-"))),
    }
    value = values.get(kind.partition(":")[0])
    return [flag, value] if value else [flag]


@pytest.mark.slow
@pytest.mark.covers("C8")
@needs_minizinc
@pytest.mark.parametrize("flag", EXTRA)
def test_every_extra_flag_is_passed_on_and_accepted(minizinc, model, flag, tmp_path):
    done = minizinc(*with_value(flag, tmp_path), model(SMALL))
    assert status(done) == "==========", done.stdout + done.stderr


@pytest.mark.covers("C8")
@needs_minizinc
def test_extra_flags_are_passed_on_together(minizinc, model, tmp_path):
    flags = [word for flag in EXTRA if flag not in APART for word in with_value(flag, tmp_path)]
    done = minizinc(*flags, model(SMALL))
    assert status(done) == "==========", done.stdout + done.stderr


@pytest.mark.covers("F13")
@needs_minizinc
def test_a_solver_time_limit_is_the_time_limit(minizinc, model):
    text = "array [1..40] of var 0..1: x; constraint forall (i in 1..39) (x[i] + x[i + 1] <= 1); solve satisfy;"
    for limit in time_limits():
        done = minizinc("--solver-time-limit", limit, "-a", "-s", model(text))
        if count_solutions(done):
            break
        assert status(done) == "=====UNKNOWN=====", done.stderr
    assert count_solutions(done) and status(done) is None, done.stderr


@pytest.mark.covers("F12")
@needs_minizinc
@pytest.mark.parametrize("flag", ["-v", "-l", "--verbose"])
def test_verbose_says_more_on_stderr_and_nothing_on_stdout(minizinc, model, flag):
    done = minizinc(flag, model(SMALL))
    assert "fzn-turbo: " in done.stderr
    assert "fzn-turbo" not in done.stdout


@pytest.mark.covers("F7")
@needs_minizinc
def test_the_number_of_optimal_solutions_arrives_by_the_long_name(minizinc, model):
    path = model("var 1..4: x; var 1..9: y; solve maximize x;")
    assert [count_solutions(minizinc("--optimal-solutions", n, path)) for n in (1, 5, 0)] == [1, 5, 9]
    assert count_solutions(minizinc("-a-o", path)) == 9


@pytest.mark.covers("F19")
def test_an_unknown_flag_is_an_error_with_a_reason(tmp_path):
    answer = ask("--no-such-flag", write(tmp_path, LEAST_SUM))
    assert (answer.code, answer.markers) == (1, ["=====ERROR====="])
    assert "--no-such-flag" in answer.errors and answer.errors.count("\n") == 1


# ---- ends


@pytest.mark.covers("O13", "G3")
@pytest.mark.parametrize("method", ["maximize", "minimize"])
@pytest.mark.parametrize("engine_flags", [[], ["-f", "-p", "2"]], ids=["plain", "free"])
def test_an_unbounded_objective_is_never_claimed_to_be_optimal(tmp_path, method, engine_flags):
    text = f"var int: x :: output_var;\nvar int: y :: output_var;\nconstraint int_le(x,y);\nsolve {method} x;\n"
    for limit in time_limits():
        answer = run("-t", limit, "-s", *engine_flags, write(tmp_path, text))
        if "engine" in answer.statistics:  # else the search has not begun
            break
    assert "engine" in answer.statistics
    assert (answer.code, answer.markers) in ((0, ["=====UNBOUNDED====="]), (0, []), (0, ["=====UNKNOWN====="]))
    assert "objectiveBound" not in answer.statistics


@pytest.mark.covers("O12", "O6")
def test_every_line_is_flushed_and_ends_without_blanks(tmp_path):
    command = [*COMMAND, "-i", "-s", write(tmp_path, LEAST_SUM)]
    text = subprocess.run(command, capture_output=True, env=environment(), timeout=PATIENCE, check=True).stdout
    assert text.endswith(b"\n") and b"\r" not in text
    assert all(line == line.rstrip() for line in text.split(b"\n"))


# ---- annotations

SEARCHED = """\
include "globals.mzn";
enum COLOUR = { red, green, blue };
var 0..9: x; var bool: p; var set of 1..4: s; var opt 1..3: o;
array [1..3] of var COLOUR: c;
constraint card(s) = 2 /\\ (p -> x > 3) /\\ alldifferent(c);
annotation fancy(int: k, string: why);
solve ANNOTATIONS satisfy;
"""


def solve_with(minizinc, model, annotations: str, *flags: str) -> subprocess.CompletedProcess:
    return minizinc(*flags, "--output-mode", "dzn", model(SEARCHED.replace("ANNOTATIONS", annotations)))


@pytest.mark.covers("A8")
@needs_minizinc
@pytest.mark.parametrize(
    ("annotations", "expected"),
    [
        (":: warm_start([x], [7])", "x = 7;"),
        (":: warm_start([p], [true])", "p = true;"),
        (":: warm_start([s], [{1, 3}])", "s = {1,3};"),
        (":: warm_start([s], [{2, 4}]) :: set_search([s], input_order, indomain_min)", "s = {2,4};"),
        (":: warm_start(c, [blue, red, green])", "c = [blue, red, green];"),
        (":: warm_start_array([warm_start([x], [3]), warm_start(c, [green, blue, red])])", "c = [green, blue, red];"),
        (":: seq_search([int_search([x], input_order, indomain_min), warm_start([x], [6])])", "x = 6;"),
    ],
)
def test_warm_starts_of_every_type_are_tried_first(minizinc, model, annotations, expected):
    done = solve_with(minizinc, model, annotations, "--blocks", "1", "--arch", "cpu")
    assert done.stderr == ""
    assert expected in done.stdout.replace("3..4", "{3,4}"), done.stdout


@pytest.mark.covers("A8", "A9", "A11", "A12", "A4")
@needs_minizinc
def test_annotations_that_are_known_change_no_solution_and_say_nothing(minizinc, model):
    plain = solve_with(minizinc, model, "", "-a")
    known = (
        ":: warm_start([x, 2], [7, 9]) :: restart_luby(50) :: restart_geometric(1.5, 100) :: restart_linear(7)"
        " :: restart_constant(3) :: set_search([s], first_fail, indomain_max)"
    )
    text = SEARCHED.replace("ANNOTATIONS", known).replace("alldifferent(c);", "alldifferent(c) :: domain :: bounds;")
    text += 'constraint :: "a name; with % and |" (x != 8) :: value_propagation :: bounds_propagation;\n'
    text += 'var 1..1: unused :: fancy(1, "shown"); constraint (x != 8) :: domain_propagation :: fancy(3, "why");\n'
    done = minizinc("-a", "--output-mode", "dzn", "--keep-paths", model(text))
    assert done.stderr == ""
    blocks = {block for block in plain.stdout.split("----------\n") if "x = 8;" not in block}
    found = done.stdout.replace("unused = 1;\n", "").split("----------\n")
    assert {"".join(sorted(one)) for one in found} == {"".join(sorted(one)) for one in blocks}
    assert count_solutions(done) == len(found) - 1


@needs_npm
@pytest.mark.slow
@pytest.mark.parametrize("version", [OLDER, VERSION])
@pytest.mark.parametrize("sets", ["1..2", "1..2, 1..2", "1..2, 1..2, 1..2"])
def test_sets_of_any_dimensions_may_be_searched_under_other_releases(version, sets):
    release = Newest(version=version)
    text = (
        f"array [{sets}] of var set of 1..2: s;\nsolve :: set_search(s, input_order, indomain_min, complete) satisfy;\n"
    )
    assert "bool_search" in release.flatten(text)
    release.close()


@pytest.mark.covers("A1")
@needs_minizinc
def test_unknown_search_annotations_are_ignored_with_one_warning(minizinc, model):
    done = solve_with(minizinc, model, ':: fancy(3, "why; not | % \\" this") :: fancy(4, "")')
    assert count_solutions(done) == 1
    assert done.stderr.count("\n") == 1 and "ignored search annotations: fancy" in done.stderr


@pytest.mark.covers("A9")
@pytest.mark.parametrize(
    "annotation",
    ["restart_none", "restart_luby(9)", "restart_geometric(1.5,9)", "restart_linear(9)", "restart_constant(9)"],
)
def test_v_says_what_restarts_come_to(tmp_path, annotation):
    path = write(tmp_path, f"var 1..3: x :: output_var;\nsolve :: {annotation} satisfy;\n")
    assert ask(path).errors == ""
    assert "free search (-f)" in ask("-v", path).errors


@pytest.mark.covers("A11", "A12")
def test_annotations_of_items_change_nothing(tmp_path):
    marked = LEAST_SUM.replace(
        "int_ne(x,y)", 'int_ne(x,y) :: domain :: bounds :: boundsZ :: priority(7) :: ctx_pos :: mzn_path("a;1|b")'
        ' :: mzn_constraint_name("c % d") :: constraint_name("e") :: mine([x,y],["f"],g(1,{2}))',
    )  # fmt: skip
    marked = marked.replace("var 1..10: y", 'var 1..10: y :: is_defined_var :: var_is_introduced :: mine("a",[1])')
    marked = marked.replace("y :: is_defined_var", "y :: computed_domain :: is_defined_var")
    assert (
        ask("-i", write(tmp_path, marked)).solutions[-1] == ask("-i", write(tmp_path, LEAST_SUM, "b.fzn")).solutions[-1]
    )


@needs_minizinc
def test_the_objective_is_that_of_the_solution(minizinc, model):
    done = minizinc("--output-mode", "dzn", "--output-objective", model(SMALL))
    assert objectives(done) == [4]
