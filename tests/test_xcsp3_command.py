"""The command on XCSP3 instances: lines, options, errors and stops as the competitions want them."""

from __future__ import annotations

import re
import signal
import time
from pathlib import Path

import pytest
from command import PATIENCE, run, start

FOLDER = Path(__file__).resolve().parent / "xcsp3"
HARD = """<instance type="COP"><variables><array id="x" size="[40]"> 0..99 </array></variables><constraints>
<allDifferent> x[] </allDifferent><group><intension> ne(dist(%0,%1),%2) </intension>
{}</group></constraints><objectives><minimize type="sum"><list> x[] </list><coeffs> {} </coeffs></minimize></objectives></instance>"""


def lines(answer) -> list[str]:
    return answer.text.splitlines()


def hard(folder: Path) -> Path:
    """An instance with solutions at once, and no proof in hours."""
    args = "\n".join(f"<args> x[{i}] x[{j}] {(i * j) % 7 + 1} </args>" for i in range(40) for j in range(i))
    path = folder / "hard.xml"
    path.write_text(HARD.format(args, " ".join(str(i % 9 - 4) for i in range(40))))
    return path


def test_an_optimum_is_told_as_in_the_competitions():
    answer = run(FOLDER / "golomb.xml", "--arch", "cpu")
    assert answer.code == 0
    objectives = [line for line in lines(answer) if line[0] == "o"]
    assert objectives[-1] == "o 11"
    assert objectives == sorted(set(objectives), key=lambda line: -int(line[2:]))
    rest = lines(answer)[len(objectives) :]
    assert rest[0] == "s OPTIMUM FOUND"
    assert re.fullmatch(
        r'v <instantiation type="optimum" cost="11"> <list> x\[\] </list> <values> 0( \d+){3} 11 </values> </instantiation>',
        rest[1],
    )
    assert re.fullmatch(r"d FOUND SOLUTIONS \d+", rest[2])


@pytest.mark.parametrize(("name", "status"), [("queens", "s SATISFIABLE"), ("pigeons", "s UNSATISFIABLE")])
def test_a_satisfaction_instance_has_a_status_first(name, status):
    answer = run(FOLDER / f"{name}.xml", "--arch", "cpu")
    assert lines(answer)[0] == status
    assert ("v <instantiation" in answer.text) == (status == "s SATISFIABLE")


def test_all_solutions_are_counted():
    answer = run(FOLDER / "queens_by_pairs.xml", "--arch", "cpu", "-a")
    assert answer.text.count("v <instantiation") == 92
    assert lines(answer)[-1] == "d FOUND SOLUTIONS 92"


def test_statistics_are_d_lines():
    answer = run(FOLDER / "golomb.xml", "--arch", "cpu", "-s")
    assert re.search(r"^d nodes \d+$", answer.text, re.MULTILINE)
    assert all(line[0] in "osvd" for line in lines(answer))


def test_symbols_are_printed(tmp_path):
    path = tmp_path / "symbols.xml"
    path.write_text(
        '<instance><variables><var id="a" type="symbolic"> red blue </var><var id="b"> 3 </var></variables>'
        "<constraints><intension> ne(a,red) </intension></constraints></instance>"
    )
    assert "<list> a b </list> <values> blue 3 </values>" in run(path, "--arch", "cpu").text


@pytest.mark.parametrize(
    ("constraint", "status"), [("<adhoc> y </adhoc>", "s UNSUPPORTED"), ("<allDifferent> z </allDifferent>", "s UNKNOWN")]
)
def test_an_error_is_one_line_and_a_status(tmp_path, constraint, status):
    path = tmp_path / "wrong.xml"
    path.write_text(f'<instance><variables><var id="y"> 0 </var></variables><constraints>{constraint}</constraints></instance>')
    answer = run(path)
    assert answer.code == 1
    assert lines(answer) == [status]
    assert len(answer.errors.splitlines()) == 1


def test_the_options_of_the_competitions_are_known(tmp_path):
    began = time.monotonic()
    answer = run(hard(tmp_path), "--arch", "cpu", "--timelimit=2", "--memlimit", "2000", "--nbcores", "1", "-s")
    assert time.monotonic() - began < PATIENCE
    assert "s SATISFIABLE" in lines(answer)
    assert "d blocks 1" in lines(answer)
    assert lines(answer)[-1][0] == "d"


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
