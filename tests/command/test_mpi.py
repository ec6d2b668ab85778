"""The command in several processes under mpiexec, more of them than processors. The protocol is tested in
test_ranks.py."""

from __future__ import annotations

import os
import random
import signal
import sys
import time

import pytest

from support import mpi
from support.command import MARKERS, golomb, grid, one_solution_soon, value, wait_until, write
from support.command import run as run_alone
from support.places import CORPUS
from turbo_fzn.run.answer.glossary import GLOSSARY, RANKED, SHARED

pytestmark = mpi.needs_mpi

KILLS = int(os.environ.get("TURBO_FZN_KILLS", "3"))


@pytest.mark.parametrize("ranks", [2, *(pytest.param(ranks, marks=pytest.mark.slow) for ranks in (3, 8))])
@pytest.mark.parametrize(
    "name",
    ["queens", *(pytest.param(name, marks=pytest.mark.slow) for name in ("golomb", "steiner_triples", "pigeons"))],
)
def test_the_answer_is_that_of_one_process(name, ranks):
    path = CORPUS / f"{name}.fzn"
    one, many = run_alone("--arch", "cpu", "-a", path), mpi.run(ranks, "--arch", "cpu", "-a", "-s", path)
    assert many.code == 0 and many.markers == one.markers, many.errors
    assert len(many.solutions) == len(set(many.solutions))
    if name in ("queens", "steiner_triples"):
        assert set(many.solutions) == set(one.solutions)
    else:
        assert many.solutions[-1:] == one.solutions[-1:] or name == "golomb"
        assert name != "golomb" or many.statistics["objective"] == "17"
    assert many.statistics["ranks"] == str(ranks)
    own = {entry.name for entry in GLOSSARY if entry.when in (SHARED, RANKED)}
    assert own <= many.statistics.keys()


def test_free_search_and_learners_take_part(tmp_path):
    answer = mpi.run(2, "--arch", "cpu", "-f", "-p", "3", write(tmp_path, golomb(7)))
    assert answer.markers == ["=========="] and value(answer, "m6") == 25


@pytest.mark.parametrize("flags", [("-a-o",), ("--optimal-solutions", "2")])
def test_all_optimal_solutions_are_found_by_a_second_search_of_all_ranks(tmp_path, flags):
    text = "var 0..9: x :: output_var;\nvar 0..9: y :: output_var;\nvar 0..18: s :: output_var;\n"
    text += "constraint int_lin_eq([1,1,-1],[x,y,s],0);\nconstraint int_lin_le([-1,-1],[x,y],-4);\nsolve minimize s;\n"
    answer = mpi.run(3, "--arch", "cpu", *flags, write(tmp_path, text))
    assert len(answer.solutions) == len(set(answer.solutions)) == (5 if flags == ("-a-o",) else 2)
    assert all("s = 4;" in solution for solution in answer.solutions)


def test_so_many_solutions_and_no_more(tmp_path):
    answer = mpi.run(3, "--arch", "cpu", "-n", "7", write(tmp_path, grid(6)))
    assert len(answer.solutions) == len(set(answer.solutions)) == 7 and answer.markers == []


@pytest.mark.slow
def test_a_time_limit_ends_all_ranks(tmp_path):
    began = time.monotonic()
    answer = mpi.run(3, "--arch", "cpu", "-t", "15000", write(tmp_path, golomb(13)))
    assert time.monotonic() - began < 120
    assert answer.code == 0 and answer.markers == [] and len(answer.solutions) == 1


def test_sigterm_ends_all_ranks_and_the_best_solution_is_printed(tmp_path):
    with mpi.start(2, "--arch", "cpu", "-a", write(tmp_path, one_solution_soon())) as process:
        first = process.stdout.readline()
        processes = mpi.ranks_of(process.pid)
        os.kill(processes[0], signal.SIGTERM)
        answer = mpi.finish(process, first)
    assert len(answer.solutions) == 1 and answer.markers == []
    wait_until(lambda: not any(map(mpi.is_alive, processes)))


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [("--version",), ("nothing.fzn",), ("--no-such-flag",)])
def test_what_needs_no_search_is_said_once(arguments):
    one, many = run_alone_text(*arguments), mpi.start(3, *arguments)
    with many as process:
        text, errors = process.communicate(timeout=600)
    assert text == one[0] and process.returncode == one[2]
    assert one[1] == "" or errors.startswith(one[1])


def run_alone_text(*arguments: str) -> tuple[str, str, int]:
    from support.command import start

    with start(*arguments) as process:
        text, errors = process.communicate(timeout=600)
    return text, errors, process.returncode


@pytest.mark.slow
@pytest.mark.parametrize("number", range(KILLS))
def test_a_rank_that_is_killed_costs_the_claim_and_no_solution_that_was_printed(tmp_path, number):
    """Whichever it is, whenever. The others end; where rank 0 lives, it prints the best."""
    draw = random.Random(number)
    victim, ranks = draw.randrange(3), 3
    text = golomb(9)
    with mpi.start(ranks, "--arch", "cpu", "-a", write(tmp_path, text)) as process:
        wait_until(lambda: len(mpi.ranks_of(process.pid)) == ranks or process.poll() is not None)
        processes = mpi.ranks_of(process.pid)
        before = process.stdout.readline() if draw.random() < 0.7 else ""  # a solution, or at any time
        time.sleep(draw.random() * 1.5)
        was_over = not all(map(mpi.is_alive, processes))
        if not was_over:
            os.kill(processes[victim], signal.SIGKILL)
        text, errors = process.communicate(timeout=600)
    lines = (before + text).splitlines()
    marks = [int(line.split("=")[1].strip(" ;")) for line in lines if line.startswith("m8 =")]
    assert marks == sorted(marks, reverse=True)
    claims = [line for line in lines if line in MARKERS]
    assert claims in ([], ["=========="]) or claims == ["=====UNKNOWN====="]
    if claims == ["=========="]:
        assert marks[-1] == 44, "claimed, and wrong"
    if before and victim:
        assert lines.count("----------") >= 1
    wait_until(lambda: not any(map(mpi.is_alive, processes)))


def test_a_rank_without_an_engine_leaves_the_work_to_the_others(tmp_path):
    """Here rank 1 has no GPU, which it was told to use; rank 0 has the CPU."""
    script = tmp_path / "command.py"
    script.write_text(
        "import os, sys\n"
        "from turbo_fzn.run import engines\n"
        "from turbo_fzn.base.errors import EngineError\n"
        "whole = engines.team_of\n"
        "def team_of(job):\n"
        "    if os.environ['OMPI_COMM_WORLD_RANK'] == '1':\n"
        "        raise EngineError('no GPU on this host')\n"
        "    return whole(job)\n"
        "engines.team_of = team_of\n"
        "from turbo_fzn.__main__ import main\n"
        "main()\n"
    )
    path = write(tmp_path, golomb(7))
    with mpi.start(3, "--arch", "cpu", path, command=[sys.executable, str(script)]) as process:
        answer = mpi.finish(process)
    assert answer.markers == ["=========="] and value(answer, "m6") == 25
    assert "rank 1 has no engine any more, the others go on" in answer.errors
