"""The command on XCSP3 instances: lines, options, errors and stops as the competitions want them."""

from __future__ import annotations

import re
import signal
import subprocess
from pathlib import Path

import pytest

from support.command import COMMAND, PATIENCE, environment, start, time_limits
from support.places import DATA
from support.warm import server
from support.xcsp3_unnamed import GOALS, UNNAMED
from turbo_fzn.options.spellings import translate

FOLDER = DATA / "xcsp3"
HARD = """<instance type="COP"><variables><array id="x" size="[40]"> 0..99 </array></variables><constraints>
<allDifferent> x[] </allDifferent><group><intension> ne(dist(%0,%1),%2) </intension>
{}</group></constraints><objectives><minimize type="sum"><list> x[] </list><coeffs> {} </coeffs></minimize></objectives>
</instance>"""


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    """The command to its end; what warm.ask reads is MiniZinc's protocol only."""
    text, errors, code = server().ask([*map(str, arguments)], environment(), PATIENCE)
    return subprocess.CompletedProcess(arguments, code, text, errors)


def lines(answer: subprocess.CompletedProcess[str]) -> list[str]:
    return answer.stdout.splitlines()


def hard(folder: Path) -> Path:
    """An instance with solutions at once, and no proof in hours."""
    args = "\n".join(f"<args> x[{i}] x[{j}] {(i * j) % 7 + 1} </args>" for i in range(40) for j in range(i))
    path = folder / "hard.xml"
    path.write_text(HARD.format(args, " ".join(str(i % 9 - 4) for i in range(40))))
    return path


def test_an_optimum_is_told_as_in_the_competitions():
    answer = run(FOLDER / "golomb.xml", "--arch", "cpu")
    assert answer.returncode == 0
    objectives = [line for line in lines(answer) if line[0] == "o"]
    assert objectives[-1] == "o 11"
    assert objectives == sorted(set(objectives), key=lambda line: -int(line[2:]))
    rest = lines(answer)[len(objectives) :]
    assert rest[0] == "s OPTIMUM FOUND"
    values = r"<list> x\[\] </list> <values> 0( \d+){3} 11 </values>"
    assert re.fullmatch(rf'v <instantiation type="optimum" cost="11"> {values} </instantiation>', rest[1])
    assert re.fullmatch(r"d FOUND SOLUTIONS \d+", rest[2])


@pytest.mark.parametrize(("name", "status"), [("queens", "s SATISFIABLE"), ("pigeons", "s UNSATISFIABLE")])
def test_a_satisfaction_instance_has_a_status_first(name, status):
    answer = run(FOLDER / f"{name}.xml", "--arch", "cpu")
    assert lines(answer)[0] == status
    assert ("v <instantiation" in answer.stdout) == (status == "s SATISFIABLE")


COMPLETE, INCOMPLETE = "d COMPLETE EXPLORATION", "d INCOMPLETE EXPLORATION"  # as ACE says


@pytest.mark.parametrize(
    ("name", "flags", "said"),
    [
        ("queens_by_pairs", ["-a"], ["d FOUND SOLUTIONS 92", COMPLETE]),
        ("queens_by_pairs", ["-n", "93"], ["d FOUND SOLUTIONS 92", COMPLETE]),
        ("queens_by_pairs", ["-n", "5"], ["d FOUND SOLUTIONS 5", INCOMPLETE]),
        ("queens_by_pairs", [], ["d FOUND SOLUTIONS 1", INCOMPLETE]),
        ("pigeons", ["-a"], ["d FOUND SOLUTIONS 0", COMPLETE]),
    ],
)
def test_solutions_are_counted_and_it_is_said_whether_there_may_be_more(name, flags, said):
    answer = run(FOLDER / f"{name}.xml", "--arch", "cpu", *flags)
    assert lines(answer)[-2:] == said
    assert answer.stdout.count("v <instantiation") == int(said[0].split()[-1])


def test_an_optimum_is_a_complete_exploration_and_what_a_limit_ends_is_none(tmp_path):
    assert lines(run(FOLDER / "golomb.xml", "--arch", "cpu"))[-1] == COMPLETE
    for limit in time_limits():
        answer = run(hard(tmp_path), "--arch", "cpu", "-t", limit)
        assert lines(answer)[-1] == INCOMPLETE
        if "s SATISFIABLE" in lines(answer):
            break
    assert "s SATISFIABLE" in lines(answer)


@pytest.mark.parametrize(("kind", "goal"), GOALS.items())
def test_a_variable_that_nothing_names_has_any_value_and_counts_once(tmp_path, kind, goal):
    path = tmp_path / "unnamed.xml"
    path.write_text(UNNAMED.format(kind, goal))
    answer = run(path, "--arch", "cpu", "-a")
    values = re.findall(r"<list> a b c y\[\] z\[\] d </list> <values> (.*?) </values>", answer.stdout)
    shape = r"\d \d \* [01] \* \* \* [5-9] " + ("7" if goal else r"\*")
    assert values and re.fullmatch(shape, values[-1])
    if not goal:
        assert len(values) == len(set(values)) == 9 * 2 * 5
        assert lines(answer)[-2:] == [f"d FOUND SOLUTIONS {len(values)}", COMPLETE]


def test_statistics_are_d_lines():
    answer = run(FOLDER / "golomb.xml", "--arch", "cpu", "-s")
    assert re.search(r"^d nodes \d+$", answer.stdout, re.MULTILINE)
    assert all(line[0] in "osvd" for line in lines(answer))


def test_an_instance_is_known_by_its_beginning_where_its_name_says_nothing(tmp_path):
    text = (FOLDER / "golomb.xml").read_text()
    path = tmp_path / "golomb"
    path.write_text(text)
    piped = subprocess.run(
        [*COMMAND, "-", "--arch", "cpu"],
        input=f"\n{text}",
        capture_output=True,
        text=True,
        check=False,
        env=environment(),
        timeout=PATIENCE,
    )
    for answer in (run(path, "--arch", "cpu"), piped):
        assert "s OPTIMUM FOUND" in lines(answer)


def test_symbols_are_printed(tmp_path):
    path = tmp_path / "symbols.xml"
    path.write_text(
        '<instance><variables><var id="a" type="symbolic"> red blue </var><var id="b"> 3 </var></variables>'
        "<constraints><intension> ne(a,red) </intension></constraints></instance>"
    )
    assert "<list> a b </list> <values> blue 3 </values>" in run(path, "--arch", "cpu").stdout


@pytest.mark.parametrize(
    ("constraint", "status"),
    [("<adhoc> y </adhoc>", "s UNSUPPORTED"), ("<allDifferent> z </allDifferent>", "s UNKNOWN")],
)
def test_an_error_is_one_line_and_a_status(tmp_path, constraint, status):
    path = tmp_path / "wrong.xml"
    variables = '<variables><var id="y"> 0 </var></variables>'
    path.write_text(f"<instance>{variables}<constraints>{constraint}</constraints></instance>")
    command = [*COMMAND, str(path)]
    answer = subprocess.run(command, capture_output=True, text=True, env=environment(), timeout=PATIENCE, check=False)
    assert answer.returncode == 1
    assert lines(answer) == [status]
    assert len(answer.stderr.splitlines()) == 1


def test_the_options_of_the_competitions_are_known(tmp_path):
    path = hard(tmp_path)
    for limit in time_limits():
        seconds = -(-limit // 1000)
        answer = run(path, "--arch", "cpu", f"--timelimit={seconds}", "--memlimit", "2000", "--nbcores", "1", "-s")
        if "s SATISFIABLE" in lines(answer):
            break
    assert "s SATISFIABLE" in lines(answer)
    assert "d blocks 1" in lines(answer)
    assert lines(answer)[-1][0] == "d"


def test_the_memory_of_a_competition_is_a_limit():
    assert translate(["--memlimit", "2000"]) == translate(["--memlimit=2000"]) == (["--memory-limit", "2000"], [])
    assert translate(["--memlimit=much"]) == (["--memory-limit", "much"], []), "which is refused like any other"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_brings_the_best_solution(tmp_path, number):
    process = start(hard(tmp_path), "--arch", "cpu")
    best = ""
    for line in process.stdout:
        best = line
        if line.startswith("o "):
            break
    process.send_signal(number)
    rest = process.stdout.read().splitlines()
    process.wait(PATIENCE)
    objectives = [line for line in [best.strip(), *rest] if line.startswith("o ")]
    status = rest.index("s SATISFIABLE")
    assert f'cost="{objectives[-1][2:]}"' in rest[status + 1]
    assert rest[status + 1].startswith('v <instantiation type="solution"')
    assert process.returncode == 0
