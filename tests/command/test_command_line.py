"""Words of the command line that are wrong, files that would be overwritten, names and encodings that break lines."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from support.command import COMMAND, LEAST_SUM, PATIENCE, environment, run, start, value, write
from turbo_fzn.base.errors import TurboError, UsageError, one_line
from turbo_fzn.engine.abi.abi import LEARNERS, METHODS
from turbo_fzn.options.options import ACTIONS, OPTIONS, Options
from turbo_fzn.options.parsing import parse_arguments
from turbo_fzn.options.spellings import did_you_mean, unknown_flags
from turbo_fzn.run.policy import wanted_methods

# ---- flags that are none


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("-node 1 model.fzn", "unrecognized arguments: -node; did you mean -n-o?"),
        ("-pp 2 model.fzn", "unrecognized arguments: -pp; did you mean -p?"),
        ("-timelimit=5 model.fzn", "unrecognized arguments: -timelimit=5; did you mean --time-limit?"),
        ("-ax model.fzn", "unrecognized arguments: -ax; did you mean -a?"),
        ("--free-serach model.fzn", "unrecognized arguments: --free-serach; did you mean --free-search?"),
        ("model.fzn --arhc=cpu", "unrecognized arguments: --arhc=cpu; did you mean --arch?"),
        ("--docter", "unrecognized arguments: --docter; did you mean --doctor?"),
        ("--quux model.fzn", "unrecognized arguments: --quux"),
        ("-v=5 model.fzn", "argument -v: ignored explicit argument '5'"),
        ("--project -a model.fzn", "argument --project: expected one argument"),
        ("--fix model.fzn", "--fix goes with --doctor"),
        ("--check-proof a.opb", "argument --check-proof: expected 2 arguments"),
        ("-t soon model.fzn", "argument -t/--time-limit: expected an integer, found 'soon'"),
        ("--data x.dzn m.mzn", "MiniZinc has to make FlatZinc of this; type: minizinc --solver turbo x.dzn m.mzn"),
    ],
)  # fmt: skip
def test_what_is_no_flag_is_named_with_the_nearest_one(line, said):
    with pytest.raises(UsageError) as caught:
        parse_arguments(line.split())
    assert str(caught.value) == said


def test_every_flag_is_taken_with_its_value_behind_it_or_in_one_word():
    lines = ("-n5 m.fzn", "-n 5 m.fzn", "-n=5 m.fzn", "--num-solutions=5 m.fzn", "-asn5 m.fzn", "-an 5 m.fzn")
    assert [parse_arguments(line.split()).options.n_solutions for line in lines] == [5] * 6
    assert parse_arguments(["-r", "-5", "m.fzn"]).options.seed == -5
    assert parse_arguments(["--", "-node"]).options.file == "-node"
    flags = {flag for row in OPTIONS for flag in row.flags} | set(dict(ACTIONS))
    for words in (["--install-solver=x"], ["--install-solver", "x"]):
        assert parse_arguments(words).argument == "x"
    assert unknown_flags(sorted(flags), dict.fromkeys(flags, False)) == []


@pytest.mark.parametrize("word", ["--front=minimize x, maximize y", "--front= minimize x"])
def test_a_value_in_the_same_word_may_have_blanks(word):
    asked = parse_arguments([word, "m.fzn"]).options
    assert (asked.front, asked.file) == (word.partition("=")[2], "m.fzn")
    assert parse_arguments(["-n 5", "-t 9 ", "my model.fzn"]).options.n_solutions == 5


def test_a_word_with_a_blank_is_no_flag_unless_its_beginning_is_one():
    assert parse_arguments(["-my model.fzn"]).options.file == "-my model.fzn"
    assert parse_arguments(["--log-file", "--a b", "m.fzn"]).options.log_file == "--a b"


def test_methods_and_roles_have_a_nearest_one_too(tmp_path):
    with pytest.raises(UsageError, match=rf"^--without: no method probee; there are {', '.join(METHODS)}; .* probe\?$"):
        wanted_methods(Options(without="probee"))
    answer = run("--learn", "provr,finder", write(tmp_path, LEAST_SUM))
    assert answer.code == 1
    known = ", ".join(LEARNERS)
    assert answer.errors == f"fzn-turbo: --learn: no role provr; there are {known}; did you mean prover?\n"


def test_what_is_near_to_nothing_is_not_guessed():
    assert did_you_mean(["xyz"], ["tree", "probe"]) == ""
    assert did_you_mean(["of", "aut"], ["auto", "off"]) == "; did you mean off, auto?"


# ---- the model's own file


@pytest.mark.parametrize("flag", ["--report", "--dump-tnf"])
@pytest.mark.parametrize("way", ["the same path", "another path", "a symbolic link", "a hard link", "standard input"])
def test_the_model_is_not_overwritten(tmp_path, flag, way):
    path = write(tmp_path, LEAST_SUM)
    (tmp_path / "folder").mkdir()
    (tmp_path / "soft").symlink_to(path)
    (tmp_path / "hard").hardlink_to(path)
    others = {"another path": "folder/../model.fzn", "a symbolic link": "soft", "a hard link": "hard"}
    other = others.get(way, "model.fzn")
    command = [*COMMAND, flag, f"{tmp_path}/{other}", "-" if way == "standard input" else str(path)]
    with open(path) as model:
        done = subprocess.run(command, stdin=model, capture_output=True, text=True, env=environment(), timeout=PATIENCE)
    assert (done.returncode, done.stdout) == (1, "=====ERROR=====\n")
    said = f"fzn-turbo: {flag} {tmp_path}/{other}: this is the file of the model, which would be overwritten\n"
    assert done.stderr == said
    assert path.read_text() == LEAST_SUM


def test_another_file_is_written_and_what_is_no_file_may_be_both(tmp_path):
    path = write(tmp_path, LEAST_SUM)
    other = write(tmp_path, LEAST_SUM, "other.fzn")
    assert run("--dump-tnf", other, path).code == 0
    assert other.read_text().startswith("# ") and path.read_text() == LEAST_SUM
    assert "cannot" not in run("--dump-tnf", "/dev/null", "/dev/null").errors


# ---- one line, in UTF-8


@pytest.mark.parametrize("name", ["two\nlines.fzn", "three\r\nlines\n.fzn", "\x1b[2J.fzn", "\u2028.fzn"])
def test_the_name_of_a_file_makes_no_second_line(tmp_path, name):
    shown = one_line(name)
    assert shown.isprintable()
    for answer in (run(tmp_path / name), run(write(tmp_path, "solve", name))):  # missing, and wrong
        assert answer.code == 1 and answer.errors.count("\n") == 1
        assert answer.errors.startswith(f"fzn-turbo: {tmp_path}/{shown}:") and answer.errors.rstrip("\n").isprintable()


@pytest.mark.slow
def test_what_is_logged_of_a_name_makes_no_second_line(tmp_path):
    folder = tmp_path / "two\nlines"
    folder.mkdir(mode=0o777)
    folder.chmod(0o777)
    answer = run("--dump-tnf", tmp_path / "written", write(tmp_path, LEAST_SUM), TURBO_FZN_CACHE=str(folder))
    assert answer.errors.startswith(f"fzn-turbo: the cache folder {tmp_path}/two\\nlines is not used: ")
    assert answer.errors.count("\n") == 1


def test_an_error_is_one_line_whatever_it_tells_of():
    assert str(TurboError("no\n\x07 good", "a\nb", 1, 2)) == "a\\nb:1:2: no \\x07 good"
    assert str(TurboError("größer", "ä.fzn")) == "ä.fzn: größer"


@pytest.mark.parametrize("encoding", ["utf-16", "latin-1", "ascii:strict"])
def test_answers_and_errors_are_in_utf_8_whatever_python_is_told(tmp_path, encoding):
    answer = run(write(tmp_path, LEAST_SUM), PYTHONIOENCODING=encoding)
    assert (answer.code, value(answer, "z")) == (0, 7)
    with start("--report", tmp_path, write(tmp_path, LEAST_SUM, "ä.fzn"), PYTHONIOENCODING=encoding) as process:
        printed, said = process.communicate(timeout=PATIENCE)
    assert (printed, said) == ("=====ERROR=====\n", f"fzn-turbo: cannot write {tmp_path}: Is a directory\n")
    answer = run(tmp_path / "missing ä.fzn", PYTHONIOENCODING=encoding)
    assert answer.errors == f"fzn-turbo: {tmp_path}/missing ä.fzn: cannot read the file: No such file or directory\n"


def test_a_path_whose_bytes_are_no_utf_8_is_printed_as_it_is(tmp_path):
    folder = os.fsencode(tmp_path) + b"/\xff"
    command = [sys.executable, "-m", "turbo_fzn", "--uninstall-solver", folder]
    os.mkdir(folder)
    with open(folder + b"/turbo.msc", "w"):
        pass
    done = subprocess.run(command, capture_output=True, env=environment(), timeout=PATIENCE)
    assert (done.returncode, done.stdout) == (0, b"removed " + folder + b"/turbo.msc\n")


def test_an_identifier_may_be_longer_than_65536_characters(tmp_path):
    name = "x" * 65_537
    constraint = f"constraint int_le({name},2) :: a_{name}(b(c(1)));"
    text = f"var 1..3: {name} :: output_var;\n{constraint}\nsolve maximize {name};\n"
    answer = run("--arch", "cpu", write(tmp_path, text))
    assert (answer.code, answer.errors, value(answer, name)) == (0, "", 2)
