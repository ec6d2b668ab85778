"""The text protocol of MiniZinc (FlatZinc specification of its handbook): solutions, status lines, stops.

A status line must be printed exactly when it is true, and a stop by the time limit or a signal must deliver the best
solution and end the process soon. MiniZinc kills a solver 200 ms after the signal; here the limit is more generous, and
follows how busy the machine is (command.ends_soon); the figure is printed (pytest -s).
"""

from __future__ import annotations

import math
import re
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO

import pytest

from support.command import (
    GREATEST_SUM,
    LEAST_SUM,
    NO_SOLUTION,
    NO_SOLUTION_BY_SEARCH,
    PATIENCE,
    THREE_SOLUTIONS,
    Answer,
    ends_soon,
    finish,
    golomb,
    grid,
    large,
    long_propagation,
    one_solution_soon,
    run,
    start,
    time_limits,
    value,
    wait_until,
    write,
)
from support.warm import ask
from turbo_fzn.engine.abi.abi import ACTIVITIES

COMPLETE, UNSATISFIABLE, UNKNOWN = ["=========="], ["=====UNSATISFIABLE====="], ["=====UNKNOWN====="]
STANDARD_STATISTICS = (
    "nodes failures restarts peakDepth variables intVariables boolVariables propagators propagations solveTime initTime"
).split()


@pytest.fixture
def solve(tmp_path):
    """A function that asks the command about a model's text."""
    return lambda text, *arguments: ask(*arguments, write(tmp_path, text))


@pytest.fixture
def start_and_solve(tmp_path):
    """A function that starts the command on a text, for what is about time, or about runs that repeat each other."""
    return lambda text, *arguments: run(*arguments, write(tmp_path, text))


def is_good(answer: Answer) -> bool:
    return answer.code == 0 and answer.errors == ""


# ---- solutions and status lines


@pytest.mark.covers("F1")
def test_one_solution_of_a_satisfaction_model_is_no_claim_about_others(solve):
    answer = solve(THREE_SOLUTIONS)
    assert is_good(answer)
    assert re.fullmatch(r"x = [123];\n----------\n", answer.text)


@pytest.mark.covers("F1")
def test_the_only_solution_of_a_satisfaction_model_is_no_claim_either(solve):
    assert solve("var 1..1: x :: output_var;\nsolve satisfy;\n").text == "x = 1;\n----------\n"


@pytest.mark.covers("F3", "F8", "F9", "O8")
@pytest.mark.parametrize("flags", [["-a"], ["-a", "-p", "4"], ["-a", "-f"], ["-a", "-f", "-p", "4"], ["-n", "0"]])
def test_all_solutions_are_given_once_each_and_then_the_claim(solve, flags):
    answer = solve(grid(4), *flags)
    assert is_good(answer)
    assert len(answer.solutions) == len(set(answer.solutions)) == 36
    assert answer.markers == COMPLETE


@pytest.mark.covers("F5")
@pytest.mark.parametrize(("n", "found", "markers"), [(1, 1, []), (2, 2, []), (3, 3, []), (4, 3, COMPLETE)])
@pytest.mark.parametrize("more", [[], ["-a"]])
def test_at_most_n_solutions_are_given_and_the_claim_when_there_are_fewer(solve, n, found, markers, more):
    answer = solve(THREE_SOLUTIONS, "-n", n, *more)
    assert is_good(answer)
    assert len(set(answer.solutions)) == len(answer.solutions) == found
    assert answer.markers == markers


@pytest.mark.covers("F2", "F4", "F8", "O8")
@pytest.mark.parametrize("flags", [[], ["-i"], ["-a"], ["-n", "1"], ["-f"], ["-p", "4"], ["-f", "-p", "4"]])
@pytest.mark.parametrize(("model", "best", "sense"), [(LEAST_SUM, 7, 1), (GREATEST_SUM, 11, -1)])
def test_the_optimum_comes_last_each_solution_is_better_and_the_proof_is_claimed(solve, model, best, sense, flags):
    answer = solve(model, *flags)
    assert is_good(answer)
    values = [int(re.fullmatch(r"z = (\d+);", solution[2])[1]) * sense for solution in answer.solutions]
    assert values == sorted(set(values), reverse=True)
    assert values[-1] == best * sense
    assert answer.markers == COMPLETE


@pytest.mark.covers("O9")
@pytest.mark.parametrize("model", [NO_SOLUTION, NO_SOLUTION_BY_SEARCH])
@pytest.mark.parametrize("flags", [[], ["-a"], ["-p", "4", "-f"]])
def test_a_model_without_solution_is_unsatisfiable_and_never_complete(solve, model, flags):
    answer = solve(model, *flags)
    assert is_good(answer)
    assert answer.text == "=====UNSATISFIABLE=====\n"


@pytest.mark.covers("O5")
@pytest.mark.parametrize("flags", [[], ["-a"]])
def test_without_output_variables_a_solution_is_only_its_separator(solve, flags):
    answer = solve("var 1..3: x;\nsolve satisfy;\n", *flags)
    assert answer.text == "----------\n" + ("==========\n" if flags else "")


@pytest.mark.covers("O1", "O2", "O3", "G9")
def test_values_are_printed_with_their_types_and_index_ranges(solve):
    answer = solve("""\
array [1..4] of int: negative = [-3,0,2,7];
var -5..-5: x :: output_var;
var bool: yes :: output_var = true;
var bool: no :: output_var;
var 1..9: hidden;
array [1..4] of var int: q :: output_array([2..3,-1..0]) = [x,2,x,-7];
array [1..2] of var bool: p :: output_array([-1..0]) = [yes,no];
array [1..0] of var int: nothing :: output_array([1..0]) = [];
array [1..0] of var bool: nothing2 :: output_array([1..3,1..0]) = [];
array [1..8] of var int: cube :: output_array([0..1,0..1,0..1]) = [1,2,3,4,5,6,7,x];
constraint bool_not(yes,no);
solve satisfy;
""")
    assert is_good(answer)
    assert answer.text.splitlines()[-1] == "----------"
    assert set(answer.solutions[0]) == {
        "x = -5;",
        "yes = true;",
        "no = false;",
        "q = array2d(2..3, -1..0, [-5, 2, -5, -7]);",
        "p = array1d(-1..0, [true, false]);",
        "nothing = array1d(1..0, []);",
        "nothing2 = array2d(1..3, 1..0, []);",
        "cube = array3d(0..1, 0..1, 0..1, [1, 2, 3, 4, 5, 6, 7, -5]);",
    }


@pytest.mark.covers("F10")
def test_equal_seeds_of_one_block_give_equal_output_and_others_differ(start_and_solve):
    model = grid(6).replace("solve", "solve :: int_search([x0,x1,x2],input_order,indomain_random,complete)")
    outputs = [start_and_solve(model, "-a", "-r", seed).text for seed in (5, 5, 6)]
    assert outputs[0] == outputs[1] != outputs[2]


# ---- statistics


@pytest.mark.covers("S1", "S2", "S3", "S6", "S7", "S8")
@pytest.mark.parametrize("model", [LEAST_SUM, NO_SOLUTION, NO_SOLUTION_BY_SEARCH])
def test_statistics_are_literals_under_the_standard_names_in_a_closed_block(solve, model):
    answer = solve(model, "-s")
    assert is_good(answer)
    assert set(STANDARD_STATISTICS) <= answer.statistics.keys()
    assert "nSolutions" not in answer.statistics  # MiniZinc counts them itself
    assert answer.text.endswith("\n%%%mzn-stat-end\n")
    for name, text in answer.statistics.items():
        assert re.fullmatch(r"[A-Za-z]\w*", name)
        assert re.fullmatch(r'-?\d+(\.\d+)?(e[+-]?\d+)?|true|false|"[^";\n]*"', text), f"{name}={text}"
    for name in STANDARD_STATISTICS:
        number = float(answer.statistics[name])
        assert number >= 0 and math.isfinite(number)
        assert name.endswith("Time") or answer.statistics[name].isdecimal(), "MiniZinc reads an int"


@pytest.mark.covers("S4", "S5")
def test_the_objective_and_its_bound_are_reported_when_there_are_any(solve):
    answer = solve(LEAST_SUM, "-s")
    assert answer.statistics["objective"] == answer.statistics["objectiveBound"] == "7"
    assert not {"objective", "objectiveBound"} & solve(THREE_SOLUTIONS, "-s").statistics.keys()


def test_profile_tells_the_share_of_time_of_each_phase(solve):
    answer = solve(golomb(7), "-s", "--profile", "-p", "2", "--learn", "off", "--arch", "cpu")
    assert is_good(answer) and answer.markers == COMPLETE
    shares = {name: float(text) for name, text in answer.statistics.items() if name.startswith("profile")}
    assert shares.keys() == {f"profile{activity.capitalize()}" for activity in ACTIVITIES}
    assert min(shares.values()) > 0 and sum(shares.values()) == pytest.approx(1, abs=1e-4)
    assert not [name for name in solve(golomb(7), "-s").statistics if name.startswith("profile")]


def test_each_improvement_is_told_with_its_time_its_strategy_and_the_bound(solve):
    answer = solve(LEAST_SUM, "-v", "-f", "-p", "2", "-i")
    told = re.findall(
        r"[\d.]+ s: solution \d+, objective (\d+) \(bound (\d+)\), by (?:[a-z]+ )?[a-z]+ in block \d+\n", answer.errors
    )
    assert len(told) == len(answer.solutions) > 0
    assert all(int(bound) <= 7 <= int(objective) for objective, bound in told)


@pytest.mark.covers("F11", "F12")
def test_without_the_flag_there_are_no_statistics_and_verbose_goes_to_stderr_alone(start_and_solve):
    quiet, verbose = start_and_solve(THREE_SOLUTIONS), start_and_solve(THREE_SOLUTIONS, "-v")
    assert "%" not in quiet.text
    assert verbose.text == quiet.text
    assert "solution 1" in verbose.errors
    assert all(line.startswith("fzn-turbo: ") for line in verbose.errors.splitlines())


# ---- stops

SIGNALS = pytest.mark.parametrize(
    "number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], ids=["SIGINT", "SIGTERM", "SIGHUP"]
)


def stop(process: subprocess.Popen[str], number: int, already: str = "") -> Answer:
    """Sends the signal and waits for the end, which must come soon."""
    with ends_soon():
        process.send_signal(number)
        answer = finish(process, already)
    assert answer.code == 0 and all(line.startswith("fzn-turbo: ") for line in answer.errors.splitlines())
    assert answer.text.endswith("%%%mzn-stat-end\n")
    return answer


@pytest.mark.covers("T4", "T5")
@SIGNALS
@pytest.mark.parametrize("flags", [["-i"], ["-i", "-p", "3", "-f"]])
def test_a_signal_in_the_search_ends_it_with_the_best_solution_and_statistics(tmp_path, number, flags):
    with start("-s", *flags, write(tmp_path, golomb(12))) as process:
        lines = []
        while lines.count("----------\n") < 2:
            lines.append(read_line(process.stdout))
        answer = stop(process, number, "".join(lines))
    assert answer.errors == ""
    assert len(answer.solutions) >= 2
    assert answer.markers == []
    assert int(answer.statistics["objective"]) == value(answer, "m11")
    assert int(answer.statistics["objectiveBound"]) < value(answer, "m11"), "no proof is claimed"


def read_line(stream: IO[str]) -> str:
    """The next one; there must be one."""
    line = stream.readline()
    assert line, "the process has ended"
    return line


@pytest.mark.covers("O6", "T4")
def test_a_signal_stops_the_enumeration_of_many_solutions_between_two_of_them(tmp_path):
    with start("-a", "-s", write(tmp_path, grid(300))) as process:
        lines = [process.stdout.readline() for _ in range(400)]
        process.send_signal(signal.SIGTERM)
        answer = finish(process, "".join(lines))  # raises where a solution is cut
    assert is_good(answer)
    assert answer.markers == []
    assert len(answer.solutions) >= 100
    assert answer.text.endswith("%%%mzn-stat-end\n")


@pytest.mark.slow
@pytest.mark.covers("T3", "T5", "O10")
@SIGNALS
@pytest.mark.parametrize(
    "behind",
    [
        pytest.param("", id="reading"),
        pytest.param("parse: ", id="lowering"),
        pytest.param("lower: ", id="simplifying", marks=pytest.mark.slow),
    ],
)
def test_a_signal_in_the_preparation_of_a_large_model_ends_it_as_unknown(tmp_path, number, behind):
    """`-v` tells when a stage is over, and the next one takes a second."""
    with start("-s", "-v", write(tmp_path, large())) as process:
        wait_for_handlers(process)
        while behind and behind not in read_line(process.stderr):
            pass
        answer = stop(process, number)
    assert answer.markers == UNKNOWN and not answer.solutions


@pytest.mark.slow
def test_a_signal_while_modules_are_imported_ends_the_process_as_unknown(tmp_path):
    path = write(tmp_path, golomb(12))
    for milliseconds in range(0, 150, 10):
        with start("-s", "-v", path) as process:
            wait_for_handlers(process)
            time.sleep(milliseconds / 1000)
            process.send_signal(signal.SIGTERM)
            answer = finish(process)
        assert answer.code == 0
        assert "Traceback" not in answer.errors
        assert answer.markers == ([] if answer.solutions else UNKNOWN)
        assert answer.text.endswith("%%%mzn-stat-end\n")


def wait_for_handlers(process: subprocess.Popen[str]) -> None:
    """Until the process catches all that it means to catch, SIGALRM last (proc_pid_status(5))."""
    status = Path(f"/proc/{process.pid}/status")
    wait_for(process, lambda: int(re.search(r"SigCgt:\s*(\w+)", status.read_text())[1], 16) >> (signal.SIGALRM - 1) & 1)


def wait_for(process: subprocess.Popen[str], holds: Callable[[], object]) -> None:
    """Until that is so; the process must not end before."""
    wait_until(lambda: holds() or process.poll() is not None)
    assert process.poll() is None


@pytest.mark.covers("T1", "T6", "F13")
def test_a_search_ends_before_its_time_limit_with_the_best_solution(tmp_path):
    path = write(tmp_path, golomb(12))
    for limit in time_limits():
        with ends_soon(after=limit / 1000):
            began = time.monotonic()
            answer = run("-s", "-t", limit, path)
            seconds = time.monotonic() - began
        assert answer.code == 0
        if "engine" in answer.statistics:  # else the search has not begun
            break
    assert seconds > limit / 1000 - 0.3
    assert answer.markers == [] and answer.solutions
    assert int(answer.statistics["objective"]) == value(answer, "m11")
    assert answer.text.endswith("%%%mzn-stat-end\n")


@pytest.mark.covers("T5", "O10", "T6", "T7")
@pytest.mark.parametrize("limit", [1, 50])
def test_a_time_limit_shorter_than_the_start_up_gives_unknown_or_what_one_dive_finds(start_and_solve, limit):
    answer = start_and_solve(golomb(12), "-t", limit, "-s")
    assert answer.code == 0 and re.fullmatch(r"(fzn-turbo: the time was over first: .*\n)?", answer.errors)
    assert answer.markers == ([] if answer.solutions else UNKNOWN)
    assert answer.text.endswith("%%%mzn-stat-end\n")


@pytest.mark.covers("F13")
@pytest.mark.parametrize("limit", [0, 10**18])
def test_a_time_limit_of_zero_or_of_ages_is_none(solve, limit):
    assert solve(LEAST_SUM, "-t", limit).markers == COMPLETE


@pytest.mark.parametrize(
    "flags", [pytest.param([], id="simple"), pytest.param(["--no-simplify"], id="plain", marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("where", ["root", "search"])
def test_a_time_limit_ends_a_propagation_that_would_take_ages(start_and_solve, where, flags):
    text = long_propagation("0..4000000000000000000" if where == "root" else "int")
    before = "lower: " if where == "root" else "engine: "
    for limit in time_limits(searching=0.5):
        with ends_soon(after=limit / 1000):
            answer = start_and_solve(text, "-v", "-t", limit, *flags)
        assert answer.code == 0 and answer.text == "=====UNKNOWN=====\n"
        if before in answer.errors:  # else the propagation has not begun
            break
    assert before in answer.errors and ("root: " in answer.errors) == (where == "search")


@pytest.mark.parametrize("text", [grid(300), one_solution_soon()], ids=["often", "once"])
def test_a_reader_that_leaves_ends_the_process_quietly_and_soon(tmp_path, text):
    """The reader leaves as in `fzn-turbo … | head -1`, also when there is nothing more to print for long."""
    with start("-a", write(tmp_path, text)) as process:
        read_line(process.stdout)
        time.sleep(0.3)
        with ends_soon():
            process.stdout.close()
            try:
                process.wait(timeout=PATIENCE)
            finally:
                process.kill()  # one that goes on would be waited for
        assert process.stderr.read() == ""
        assert process.returncode == 0
