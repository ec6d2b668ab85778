"""What is wrong is told in one line on stderr, with `=====ERROR=====` on stdout and exit code 1, and leaves nothing."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from support.command import (
    COMMAND,
    LEAST_SUM,
    PATIENCE,
    THREE_SOLUTIONS,
    Answer,
    environment,
    golomb,
    grid,
    processor_seconds,
    run,
    write,
)
from support.warm import ask
from turbo_fzn.base.errors import InternalError
from turbo_fzn.check.checker import Checker
from turbo_fzn.command import cli
from turbo_fzn.engine.contract import Found
from turbo_fzn.options.options import Options
from turbo_fzn.process.interrupt import Interrupt
from turbo_fzn.read import files, languages
from turbo_fzn.read.flatzinc import parse_text
from turbo_fzn.run.judge import Judge
from turbo_fzn.run.prepare import prepare

BAD_MODELS = {
    "truncated": (LEAST_SUM[:-30], r"7:\d+: unexpected end of the file"),
    "truncated between items": (LEAST_SUM[: LEAST_SUM.index("solve")], "7:1: missing solve item"),
    "unknown predicate": ("var 1..3: x;\nconstraint int_frob(x,1);\nsolve satisfy;\n", "2:1: unknown predicate `int_f"),
    "wrong arity": ("var 1..3: x;\nconstraint int_le(x);\nsolve satisfy;\n", "2:1: int_le takes 2 arguments, found 1"),
    "wrong type": ("var 1..3: x;\nconstraint int_le(x,[1]);\nsolve satisfy;\n", "2:1: argument 2 of int_le: expected"),
    "undefined": ("var 1..3: x;\nconstraint int_le(x,y);\nsolve satisfy;\n", "2:1: .*undefined identifier `y`"),
    "undefined objective": ("var 1..3: x;\nsolve minimize z;\n", r"2:\d+: .*`z`"),
    "set of floats": ("var {1.0,3.0}: x;\nsolve satisfy;\n", r"1:\d+: the domain of `x` is no range"),
    "empty": ("", "1:1: missing solve item"),
    "garbage": ("once upon a time\n", "1:1: unexpected `once`"),
    "own negation": (
        "var bool: p :: is_defined_var;\nconstraint bool_not(p,p) :: defines_var(p);\nsolve satisfy;\n",
        "2:1: `p` is defined by its own negation",
    ),
    "deeply nested": ("solve :: a" + "(a" * 5000 + ")" * 5000 + " satisfy;\n", r"1:\d+: nested more than \d+ deep"),
}  # fmt: skip


def is_error(answer: Answer, pattern: str) -> bool:
    """Whether it is told as it has to be, and in words that begin with the pattern."""
    assert answer.code == 1
    assert answer.text == "=====ERROR=====\n"
    assert answer.errors.count("\n") == 1, answer.errors
    assert re.match(f"fzn-turbo: {pattern}", answer.errors), answer.errors
    return True


@pytest.fixture
def temporary(tmp_path):
    """The folder for temporary files of a process, which must be empty in the end."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    yield folder
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("name", BAD_MODELS)
def test_a_bad_model_is_refused_with_the_place_and_the_reason(tmp_path, temporary, name):
    text, message = BAD_MODELS[name]
    path = write(tmp_path, text)
    assert is_error(ask(path, TMPDIR=str(temporary)), f"{path}:{message}")


@pytest.mark.parametrize("name", ["model.fzn", "model.tnf"])
def test_a_file_that_is_no_text_is_refused(tmp_path, temporary, name):
    path = tmp_path / name
    path.write_bytes(b"var 1..3: x;\n\x00\xff\xfe" + bytes(range(256)) * 100)
    assert is_error(ask(path, TMPDIR=str(temporary)), f"{path}:.*not a text file")


def test_a_hundred_megabytes_of_garbage_are_refused_soon(tmp_path, temporary):
    path = tmp_path / "model.fzn"
    path.write_bytes(b"Lorem ipsum dolor sit amet, consectetur adipiscing elit. \n" * 1_750_000)
    assert path.stat().st_size > 100_000_000
    before = processor_seconds()
    assert is_error(run(path, TMPDIR=str(temporary)), f"{path}:1:1: unexpected `Lorem`")
    assert processor_seconds() - before < 20  # 1 s on an idle machine
    path.unlink()


@pytest.mark.parametrize("suffix", ["fzn", "tnf"])
def test_a_file_that_cannot_be_read_is_named(tmp_path, suffix):
    missing, folder = tmp_path / f"missing.{suffix}", tmp_path / f"folder.{suffix}"
    folder.mkdir()
    assert is_error(ask(missing), f"{missing}: cannot read the file: No such file or directory")
    assert is_error(ask(folder), f"{folder}: cannot read the file: Is a directory")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("var 1 2\nrow ADD 0 0 9\n", "2:1: there is no such variable"),
        ("var 1 2\ntable 1 2 3\nrow ELEMENT 0 0 100000000\n", "3:1: an index is outside of the table"),
        ("var 1 2\nrow LEQ 0 0 0\n", "2:1: the truth value is not in 0..1"),
        ("var 1 2\nrow FROB 0 0 0\n", "2:1: unknown word"),
        ("var 3 2\n", "1:1: the domain 3 2 is empty"),
        ("hello\n", "1:1: unknown word"),
    ],
)
@pytest.mark.parametrize("optimize", ["", "1"])  # where Python leaves out what is asserted
def test_a_bad_tnf_file_is_refused(tmp_path, text, message, optimize):
    path = write(tmp_path, text, "model.tnf")
    assert is_error(run(path, PYTHONOPTIMIZE=optimize), f"{path}:{message}")


def test_an_empty_tnf_file_is_a_model_with_one_solution(tmp_path):
    answer = ask("-a", write(tmp_path, "", "model.tnf"))
    assert (answer.code, answer.text) == (0, "----------\n==========\n")


# ---- the command line


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "no FlatZinc file given"),
        (["--frobnicate"], "unrecognized arguments: --frobnicate"),
        (["{model}", "--frobnicate"], "unrecognized arguments: --frobnicate"),
        (["{model}", "{model}"], "unrecognized arguments: "),
        (["-t", "soon", "{model}"], "argument -t/--time-limit: expected an integer, found 'soon'"),
        (["-t", "5s", "{model}"], "argument -t/--time-limit: expected an integer, found '5s'"),
        (["-p", "0", "{model}"], "argument -p/--parallel: 0 is less than 1"),
        (["--blocks", "9999999", "{model}"], "argument --blocks: 9999999 is more than 1000000"),
        (["--gpu-threads", "33", "{model}"], "argument --gpu-threads: 33 is not a multiple of 32"),
        (["{model}", "-n"], "argument -n/--num-solutions: expected one argument"),
        (["--arch", "tpu", "{model}"], "argument --arch: invalid choice: 'tpu'"),
        (["--dump-tnf", "/dev/null/file", "{model}"], "cannot write /dev/null/file: Not a directory"),
        (["--dump-tnf", "/", "{model}"], "cannot write /: Is a directory"),
        (["--install-solver", "/dev/null/folder"], "cannot install the solver in /dev/null/folder: Not a directory"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_bad_command_line_is_refused(tmp_path, arguments, message):
    path = write(tmp_path, LEAST_SUM)
    assert is_error(ask(*[argument.format(model=path) for argument in arguments]), re.escape(message))


def test_the_gpu_engine_without_a_gpu_is_an_error_that_says_what_is_missing(tmp_path):
    answer = ask("--arch", "gpu", write(tmp_path, LEAST_SUM))
    assert is_error(answer, "PyCUDA cannot be imported .*pip install|no usable NVIDIA driver|no NVIDIA GPU found")


def test_without_a_compiler_and_a_cache_the_message_says_what_to_install(tmp_path, temporary):
    path = write(tmp_path, LEAST_SUM)
    for arguments in ([path], ["--build-kernels"]):
        answer = run(*arguments, PATH="", CXX="", TURBO_FZN_CACHE=str(tmp_path / "cache"), TMPDIR=str(temporary))
        assert is_error(answer, r"no C\+\+ compiler found .*install one \(.*apt-get install g\+\+\)")


@pytest.mark.parametrize("named", ["/no/such/c++", "no-such-c++ -O0"])
def test_a_compiler_that_is_named_and_not_there_is_an_error_and_no_other_takes_its_place(tmp_path, temporary, named):
    cache = tmp_path / "cache"
    changes = {"TURBO_FZN_CACHE": str(cache), "CXX": named, "TMPDIR": str(temporary)}
    answer = run(write(tmp_path, LEAST_SUM), **changes)
    assert is_error(answer, re.escape(f"no compiler {named.split()[0]}, which CXX names"))
    assert not list(cache.glob("cpu*"))


def test_what_a_compiler_complains_of_is_told_and_nothing_is_kept(tmp_path, temporary):
    cache, compiler = tmp_path / "cache", tmp_path / "bad-c++"
    compiler.write_text("#!/bin/sh\necho one >&2\necho fatal error: no space for this >&2\nexit 1\n")
    compiler.chmod(0o755)
    changes = {"TURBO_FZN_CACHE": str(cache), "CXX": str(compiler), "TMPDIR": str(temporary)}
    message = re.escape(f"{compiler} failed on the kernels: fatal error: no space for this")
    assert is_error(run(write(tmp_path, LEAST_SUM), **changes), message)
    assert not list(cache.glob("cpu*"))


# ---- the streams


def test_a_full_disk_is_an_error(tmp_path):
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [*COMMAND, str(write(tmp_path, LEAST_SUM))],
            stdout=full, stderr=subprocess.PIPE, text=True, env=environment(), timeout=PATIENCE,
        )  # fmt: skip
    assert done.returncode == 1
    assert re.fullmatch("fzn-turbo: .*No space left on device\n", done.stderr)


@pytest.mark.parametrize("arguments", ["--version", "--help", "--info"])
def test_what_is_told_to_a_full_disk_is_an_error_and_to_nobody_is_none(tmp_path, arguments):
    done = run_in_shell(tmp_path, f"{arguments} >/dev/full")
    assert (done.returncode, done.stderr) == (1, "fzn-turbo: input or output: No space left on device\n")
    done = run_in_shell(tmp_path, f"{arguments} | true")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("redirection", "code", "printed"),
    [
        ("{model} >&-", 0, ""),
        ("{model} <&- >&- 2>&-", 0, ""),
        ("-a {many} >&-", 0, ""),
        ("-i {long} >&-", 0, ""),
        ("-v {long} >&- 2>&-", 0, ""),
        ("--info >&-", 0, ""),
        ("--help >&-", 0, ""),
        ("{model} 2>&-", 0, "(. = .*;\n)+-*\n=*\n"),
        ("missing 2>&-", 1, "=====ERROR=====\n"),
        ("missing >&- 2>&-", 1, ""),
    ],
)
def test_streams_that_are_closed_from_the_beginning_do_no_harm(tmp_path, redirection, code, printed):
    """Also where answers would be printed without end: nobody reads them."""
    models = {
        "model": write(tmp_path, THREE_SOLUTIONS.replace("satisfy", "maximize x")),
        "many": write(tmp_path, grid(2000), "many.fzn"),
        "long": write(tmp_path, golomb(12), "long.fzn"),
    }
    done = run_in_shell(tmp_path, redirection.format(**models))
    assert (done.returncode, done.stderr) == (code, "")
    assert re.fullmatch(printed, done.stdout)


def test_a_file_is_written_also_when_stdout_is_closed_from_the_beginning(tmp_path):
    done = run_in_shell(tmp_path, f"--dump-tnf dumped.tnf {write(tmp_path, LEAST_SUM)} >&-")
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "dumped.tnf").read_text().startswith("# ")


def run_in_shell(folder: Path, arguments: str) -> subprocess.CompletedProcess[str]:
    command = ["sh", "-c", '"$0" -m turbo_fzn ' + arguments, sys.executable]
    changed = environment(PYTHONUNBUFFERED="")  # argparse passes over a write that fails at once
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, env=changed, timeout=PATIENCE)


# ---- in this process


@pytest.fixture
def call(capfd):
    """A function that runs the command here, where things can be replaced."""
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGALRM)
    handlers = [signal.getsignal(number) for number in numbers]

    def run_here(*arguments: object) -> Answer:
        capfd.readouterr()
        code = cli.main([str(argument) for argument in arguments])
        text, errors = capfd.readouterr()
        return Answer([], [], {}, text, errors, code)

    yield run_here
    for number, handler in zip(numbers, handlers, strict=True):
        signal.signal(number, handler)


def test_a_solution_that_fails_its_check_is_an_internal_error_and_not_printed(call, tmp_path, monkeypatch):
    path = write(tmp_path, THREE_SOLUTIONS)
    assert call(path).text.endswith("----------\n")
    monkeypatch.setattr(Checker, "violation", lambda self, values: "int_le(x,y) is false")
    assert is_error(call(path), "internal error: a solution failed its check and is not printed: int_le")
    assert call(path, "--no-check").text.endswith("----------\n")


def test_a_failing_check_does_not_take_back_what_was_right_before(call, tmp_path, monkeypatch):
    verdicts = iter([None, "wrong"])
    monkeypatch.setattr(Checker, "violation", lambda self, values: next(verdicts))
    monkeypatch.setattr(Checker, "all_hold", lambda self, values: False)
    answer = call("-a", write(tmp_path, THREE_SOLUTIONS))
    assert answer.code == 1
    assert re.fullmatch(r"x = \d;\n----------\n=====ERROR=====\n", answer.text)


@pytest.mark.parametrize("place", range(3))
def test_of_solutions_that_are_checked_together_none_passes_that_is_wrong(place):
    prepared = prepare(parse_text(THREE_SOLUTIONS), Options(), Interrupt())
    arrived = [Found(0, 0, "tree", np.array([value])) for value in (1, 2, 3)]
    judge = Judge(prepared, Options())
    assert list(judge.check(arrived)) == arrived
    arrived[place] = Found(0, 0, "tree", np.array([4]))
    passed = []
    with pytest.raises(InternalError, match="a solution failed its check"):
        passed.extend(judge.check(arrived))
    assert len(passed) <= place


def test_a_file_that_may_not_be_read_is_named(call, tmp_path, monkeypatch):
    """Root may read everything, so that the refusal is played."""

    def refuse(path: str) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(files.io, "FileIO", refuse)
    path = write(tmp_path, THREE_SOLUTIONS)
    assert is_error(call(path), f"{path}: cannot read the file: Permission denied")


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (ZeroDivisionError("by\nzero"), r"internal error: ZeroDivisionError: by zero \(-v shows where\)"),
        (MemoryError(), "out of memory"),
        (RecursionError("maximum"), "the model is nested too deeply"),
        (KeyboardInterrupt(), "interrupted"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_nobody_thought_of_is_one_line_too(call, tmp_path, monkeypatch, error, message):
    def fail(*arguments: str) -> None:
        raise error

    monkeypatch.setattr(languages, "parse_file", fail)
    assert is_error(call(write(tmp_path, THREE_SOLUTIONS)), message)
