"""What a run does without flags: a model without a search annotation is searched well, and others as they say."""

from __future__ import annotations

import re
from pathlib import Path
from random import Random

import pytest

from lab.bench import plain
from support.command import GREATEST_SUM, LEAST_SUM, Answer, golomb, grid, run, time_limits, write
from support.needs import needs_minizinc
from support.warm import ask
from turbo_fzn.options.options import Options
from turbo_fzn.process.interrupt import Interrupt
from turbo_fzn.read.flatzinc import parse_text
from turbo_fzn.run.policy import advice
from turbo_fzn.run.prepare import prepare

PATIENCE = 300  # seconds; each takes less than one on an idle machine


def without_annotation(text: str) -> str:
    return re.sub(r"solve :: .* (satisfy|minimize|maximize)", r"solve \1", text)


# ---- models of a newcomer


@needs_minizinc
@pytest.mark.parametrize("kind", ["project", "job_shop", "cover", "clauses"])
def test_failures_lead_the_search_where_no_annotation_does(minizinc, model, kind):
    """The smallest domain first needs from 700,000 nodes (cover) to more than 5,000,000 (job_shop)."""
    text = plain.MODELS[kind](Random(1))
    done = minizinc("--arch", "cpu", "-p", 1, "-s", model(text), timeout=PATIENCE)
    assert re.search("^=====(=====|UNSATISFIABLE=====)$", done.stdout, re.MULTILINE)
    (nodes,) = set(re.findall(r"nodes=(\d+)", done.stdout[done.stdout.index("=====") :]))
    assert int(nodes) < 100_000


@needs_minizinc
def test_a_timetable_without_annotation_is_found_by_restarts(minizinc, model):
    done = minizinc("--arch", "cpu", model(plain.timetable(Random(1))), timeout=PATIENCE)
    assert done.returncode == 0 and "slot = " in done.stdout


# ---- what is chosen

FREE = "free search: there is no search annotation to follow"


def choice(path: Path, *arguments: object) -> str:
    """What `-v` says of the search."""
    answer = ask("--arch", "cpu", "-v", *arguments, path)
    (line,) = re.findall("^fzn-turbo: search: (.*)$", answer.errors, re.MULTILINE)
    return line


@pytest.mark.covers("F12")
@pytest.mark.parametrize(
    ("arguments", "chosen"),
    [
        ([], f"{FREE}, 2 threads"),
        (["-p", 3], f"{FREE}, 3 threads"),
        (["-i", "-s"], f"{FREE}, 2 threads"),
        (["-p", 1], f"{FREE}, 1 thread"),
        (["-r", 5], f"{FREE}, 1 thread"),
        (["-r", 5, "--learn", "off"], "the tree, by failure weights, 1 thread"),
        (["-p", 1, "--learn", "off"], "the tree, by failure weights, 1 thread"),
        (["-f", "-r", 5], "free search, by -f, 2 threads"),
        (["--lns", "off"], "the tree, by failure weights, 1 thread"),
        (["-f"], "free search, by -f, 2 threads"),
        (["-f", "-p", 1], "free search, by -f, 1 thread"),
    ],
    ids=lambda value: " ".join(map(str, value)) if isinstance(value, list) else "",
)
@pytest.mark.parametrize("text", [LEAST_SUM, grid()], ids=["best", "one"])
def test_v_says_how_a_model_without_annotation_is_searched(tmp_path, text, arguments, chosen):
    assert choice(write(tmp_path, without_annotation(text)), *arguments) == f"{chosen} of the CPU"


@pytest.mark.parametrize(
    ("arguments", "chosen"),
    [
        ([], "learning from conflicts, as annotated, 1 thread"),
        (["-p", 1, "-r", 3], "learning from conflicts, as annotated, 1 thread"),
        (["-p", 2], "the tree, as annotated, 2 threads"),
        (["--learn", "off"], "the tree, as annotated, 1 thread"),
        (["-f"], "free search, by -f, 2 threads"),
        (["-f", "-p", 4], "free search, by -f, 4 threads"),
    ],
)
def test_v_says_how_a_model_with_an_annotation_is_searched(tmp_path, arguments, chosen):
    assert choice(write(tmp_path, LEAST_SUM), *arguments) == f"{chosen} of the CPU"


@pytest.mark.parametrize("arguments", [["-a"], ["-n", 7], ["-a", "-f"]])
def test_v_says_that_several_solutions_are_enumerated(tmp_path, arguments):
    chosen = choice(write(tmp_path, grid()), *arguments)
    assert chosen == "the tree, smallest domain first, 1 thread of the CPU"


# ---- what must stay


@pytest.mark.covers("F3", "F5")
@pytest.mark.parametrize("arguments", [["-a"], ["-n", 7]])
def test_without_annotation_solutions_are_enumerated_from_the_smallest_domain_on(tmp_path, arguments):
    text = grid().replace("var 1..4: x1", "var 2..3: x1")
    search = "int_search([x0,x1,x2],first_fail,indomain_min,complete)"
    annotated = write(tmp_path, text.replace("solve", f"solve :: {search}"), "annotated.fzn")
    expected = run("--arch", "cpu", *arguments, annotated)  # each with its own order of what is hashed
    assert run("--arch", "cpu", *arguments, write(tmp_path, text)) == expected
    assert len(expected.solutions) in (7, 18)


@pytest.mark.covers("F10")
@pytest.mark.parametrize("arguments", [["-p", 1, "-r", 3], ["-r", 3], ["-f", "-p", 1, "-r", 3]], ids=str)
def test_equal_runs_of_one_thread_print_the_same(tmp_path, arguments):
    path = write(tmp_path, without_annotation(golomb(7)))
    runs = [run("--arch", "cpu", "-i", *arguments, path) for _ in range(3)]
    assert runs[0].markers == ["=========="] and len(runs[0].solutions) > 1
    assert runs[0] == runs[1] == runs[2]


# ---- what a user is told


def hints(path: Path, *arguments: object) -> list[str]:
    """What stderr says of a run that its time limit ends with a solution."""
    for limit in time_limits():
        answer = run("--arch", "cpu", "-t", limit, *arguments, path)
        assert not answer.markers or answer.markers == ["=====UNKNOWN====="]
        if answer.solutions:
            return re.findall("^fzn-turbo: the time was over first: .* (-f) .*$", answer.errors, re.MULTILINE)
    raise AssertionError("no solution within any limit")


@pytest.mark.parametrize(
    ("annotated", "flags", "named"),
    [(True, (), ["-f"]), (True, ("-f",), []), (False, (), [])],
    ids=["annotated", "annotated, free search", "not annotated"],
)
def test_at_the_time_limit_free_search_is_named_where_it_was_not_tried(tmp_path, annotated, flags, named):
    text = golomb(14) if annotated else without_annotation(golomb(14))
    assert hints(write(tmp_path, text), *flags) == named


def test_nobody_is_told_of_free_search_whose_search_ends_by_itself_or_who_wants_several_solutions(tmp_path):
    assert ask("--arch", "cpu", "-t", 100_000, write(tmp_path, golomb(6))).errors == ""
    assert advice(prepare(parse_text(golomb(6)), Options(), Interrupt(None)).tnf, Options()) is not None
    tnf = prepare(parse_text(golomb(6).replace("minimize m5", "satisfy")), Options(), Interrupt(None)).tnf
    assert advice(tnf, Options(all_solutions=True)) is None


@pytest.mark.covers("F8")
def test_free_search_of_one_thread_that_does_not_learn_does_all_but_the_tree_and_proves_by_restarts(tmp_path):
    answer = ask("--arch", "cpu", "-f", "-p", 1, "--learn", "off", "-s", write(tmp_path, golomb(7)))
    assert answer.markers == ["=========="]
    used = {name for name in answer.statistics if name.endswith("Tries")}
    assert "treeTries" not in used and used & {"weightedTries", "annotatedTries"} and len(used) > 1


@pytest.mark.parametrize("text", [LEAST_SUM, GREATEST_SUM])
def test_the_optimum_is_that_of_the_annotated_model(tmp_path, text):
    def solve(text: str) -> Answer:
        return ask("--arch", "cpu", "-a-o", write(tmp_path, text))

    plain_answer, expected = solve(without_annotation(text)), solve(text)
    assert plain_answer.markers == expected.markers == ["=========="]
    assert sorted(plain_answer.solutions) == sorted(expected.solutions)
