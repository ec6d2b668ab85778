"""The options and actions of the command; the walk over the table of options finds one that does nothing or breaks."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from support import builds
from support.command import (
    COMMAND,
    GREATEST_SUM,
    LEAST_SUM,
    NO_SOLUTION,
    NO_SOLUTION_BY_SEARCH,
    PATIENCE,
    THREE_SOLUTIONS,
    environment,
    finish,
    grid,
    run,
    start,
    value,
    write,
)
from support.places import ROOT
from support.quick import slow_if
from support.warm import ask
from turbo_fzn.engine.abi.abi import LEARNERS, METHODS
from turbo_fzn.options import configuration, options
from turbo_fzn.options.help import EVERYDAY
from turbo_fzn.options.limits import LIMITS
from turbo_fzn.options.options import ACTIONS, NEED_GPU, OPTIONS, Options, Row, minizinc_extra_flags
from turbo_fzn.options.parsing import parse_arguments
from turbo_fzn.version import __version__

DEMO = ROOT / "examples" / "demo.fzn"
DOCS = DEMO.parent.parent / "docs"


@pytest.fixture
def model(tmp_path) -> Path:
    return write(tmp_path, LEAST_SUM)


# ---- the table of options

CPU_ENGINES = ["32-bit", "64-bit", "64-bit, real variables"]
SAMPLES = {
    "gpu_threads": "64",
    "time_limit": "60000",
    "memory_limit": "1000000",
    "gpu_memory": "1024",
    "n_optimal": "2",
}  # of integer options, else 2
# Of options whose value is no file's path.
TEXTS = {"without": "probe", "learn": "prover,finder", "gpus": "all", "variant": "unsimplified", "project": "z"}


def uses(row: Row, tmp_path: Path) -> Iterator[list[str]]:
    """Each way to write the option, with each of its choices."""
    kind, *choices = row.kind.split(":")
    values = {
        "int": [SAMPLES.get(row.field, "2")],
        "choice": [choice for choice in choices if choice not in NEED_GPU],  # a GPU need not be here
        "text": [TEXTS.get(row.field, str(tmp_path / "written"))],
        "pair": ["3,9"],  # a port where nobody listens
        "number": ["2.5" if row.field == "restart_base" else "0.001"],
    }.get(kind)
    for flag in row.flags:
        yield from ([flag, value] for value in values) if values else [[flag]]


@pytest.mark.covers("F18")
@pytest.mark.parametrize("row", OPTIONS, ids=lambda row: row.flags[0])
def test_every_option_is_taken_before_and_after_the_file(row, model, tmp_path):
    default = getattr(Options(), row.field)
    for arguments in uses(row, tmp_path):
        for line in ([*arguments, str(model)], [str(model), *arguments]):
            options = parse_arguments(line).options
            assert options.file == str(model)
            if arguments[-1] != default:
                assert getattr(options, row.field) != default


# Subproblems go with a variant, whose kernels are compiled first: test_variants.py. A stream of JSON has no markers:
# test_json_stream.py. A proof has kernels of its own: test_proofs.py. --count is refused where there is an objective:
# test_projection.py. Goals have names of the model: test_goals.py.
APART = ("subproblems", "json_stream", "proof", "count", "lexicographic", "front")


@pytest.mark.parametrize(
    "row",
    [
        pytest.param(row, id=row.flags[0], marks=slow_if(row.field == "profile"))  # whose kernels are compiled first
        for row in OPTIONS
        if row.field not in APART
    ],
)
def test_every_option_solves(row, model, tmp_path):
    arguments = next(uses(row, tmp_path))
    answer = ask(model, *arguments)
    assert answer.code == 0
    if row.field == "dump_tnf":
        assert answer.text == "" and (tmp_path / "written").stat().st_size > 0
    else:
        assert value(answer, "z") == 7
        assert answer.markers == ["=========="]


def test_all_options_go_together(model):
    answer = ask("-a", "-i", "-s", model, "-f", "-p", 2, "--check", "-r", -7, "--lns", "on", "-t60000", "--no-simplify")
    assert answer.code == 0
    assert value(answer, "z") == 7 and answer.statistics


def test_every_option_and_action_is_in_the_long_help():
    text = run_plainly("--help-all").stdout
    for row in OPTIONS:
        assert all(re.search(rf"(?<![\w-]){flag}(?![\w-])", text) for flag in row.flags)
    assert all(flag in text for flag, _ in ACTIONS)


def test_the_help_has_each_option_under_one_heading_and_tells_the_default_of_each_that_takes_a_value():
    groups = options.grouped()
    assert [row for _, rows in groups for row in rows] == list(OPTIONS)
    assert [title for title, _ in groups] == [title for _, title in options.GROUPS]
    text = run_plainly("--help-all").stdout
    assert all(f"\n{title}:\n" in text for title, _ in groups)
    for row in OPTIONS:
        if not row.kind.startswith(("switch", "const")):
            assert "default" in options.help_of(row), row.flags
    assert "(default: auto)" in options.help_of(next(row for row in OPTIONS if row.field == "lns"))


def test_the_help_names_each_option_and_explains_those_of_every_day_in_sixty_lines():
    text = run_plainly("--help", COLUMNS="80").stdout
    assert text.count("\n") < 60 and max(map(len, text.splitlines())) <= 80 and "--help-all" in text
    words = set(re.findall(r"--?[a-z][\w-]*", text))
    assert [row.flags for row in OPTIONS if not words & {*row.flags}] == []
    assert {flag for flag, _ in ACTIONS} <= words
    explained = {line.split()[0].rstrip(",") for line in text.splitlines() if line.startswith("  -")}
    assert explained == {*EVERYDAY, *(flag for flag, _ in ACTIONS)}


def test_without_words_the_message_has_three_commands_to_try():
    done = run_plainly()
    assert (done.returncode, done.stdout) == (1, "=====ERROR=====\n")
    assert done.stderr.startswith("fzn-turbo: no FlatZinc file given; try: ") and done.stderr.count("\n") == 1
    assert len(done.stderr.partition("try: ")[2].partition(" (")[0].split("; ")) == 3


def test_the_help_and_the_reference_say_which_threads_a_gpu_block_can_have():
    wanted = "a multiple of {2} from {0} to {1}".format(*LIMITS["gpu_threads"])
    reference = (DOCS / "guide" / "reference.md").read_text()
    assert all(wanted in " ".join(text.split()) for text in (run_plainly("--help-all").stdout, reference))


def test_every_method_of_free_search_is_in_the_reference_and_explained():
    for page in ("guide/reference.md", "design/search.md"):
        text = (DOCS / page).read_text()
        assert [method for method in METHODS[: -len(LEARNERS)] if f"`{method}`" not in text] == []


@pytest.mark.covers("C7", "C8")
def test_the_flags_of_the_solver_configuration_are_options_with_their_types():
    flags = {flag: row for row in OPTIONS for flag in row.flags}
    assert set(configuration.STD_FLAGS) <= flags.keys()
    for flag, _, kind, _ in minizinc_extra_flags():
        row = flags[flag]
        if kind.startswith("opt:"):
            assert kind.removeprefix("opt:") == row.kind.removeprefix("choice:")
        elif kind.startswith("int:"):
            assert kind == "int:{}:{}".format(*LIMITS[row.field][:2])
        elif kind == "string":
            assert row.kind.partition(":")[0] == "text"
        elif kind.startswith("float:"):
            assert row.kind.partition(":")[0] == "number"
        else:
            assert kind == "bool" and row.kind.partition(":")[0] in ("switch", "const")


@pytest.mark.covers("F16")
@pytest.mark.parametrize("flag", ["-b", "--backend"])
def test_the_backend_flag_of_minizinc_is_ignored(model, flag):
    answer = ask(flag, "anything", model)
    assert (answer.code, answer.errors) == (0, "")
    assert value(answer, "z") == 7


def test_free_search_and_threads_keep_the_optimum_of_the_demo():
    outputs = [run(DEMO, *flags, "--no-check") for flags in ([], ["-f", "-p", 2])]
    assert outputs[0].markers == outputs[1].markers == ["=========="]
    assert outputs[0].solutions[-1][0] == outputs[1].solutions[-1][0]


# ---- ways through the solver


@pytest.mark.parametrize(
    "text", [THREE_SOLUTIONS, NO_SOLUTION, NO_SOLUTION_BY_SEARCH, LEAST_SUM, GREATEST_SUM, grid(3)]
)
def test_a_dumped_model_gives_the_same_answers_and_so_does_an_unsimplified_one(tmp_path, text):
    path, dumped = write(tmp_path, text), tmp_path / "model.tnf"
    assert ask(path, "--dump-tnf", dumped).text == ""
    answer = ask("-a", path)
    for other in (ask("-a", dumped), ask("-a", "--no-simplify", path)):
        assert (other.code, other.errors, other.markers) == (0, "", answer.markers)
        if "satisfy" in text:
            assert sorted(other.solutions) == sorted(answer.solutions)
        else:
            assert value(other, "z") == value(answer, "z")


def test_an_unsimplified_model_can_be_dumped_too(tmp_path):
    path, dumped = write(tmp_path, grid(3)), tmp_path / "model.tnf"
    ask(path, "--no-simplify", "--dump-tnf", dumped)
    assert sorted(ask("-a", dumped).solutions) == sorted(ask("-a", path).solutions)


# ---- actions


def run_plainly(*arguments: object, **changes: str) -> subprocess.CompletedProcess[str]:
    """For output that is not the protocol."""
    command = [*COMMAND, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, env=environment(**changes), timeout=PATIENCE)


@pytest.mark.covers("F17")
def test_help_and_version_say_so_on_stdout_and_succeed():
    version, help_text = run_plainly("--version"), run_plainly("--help")
    assert (version.returncode, version.stdout, version.stderr) == (0, f"fzn-turbo {__version__}\n", "")
    assert (help_text.returncode, help_text.stderr) == (0, "")
    assert help_text.stdout.startswith("usage: fzn-turbo")


def test_the_version_is_told_without_importing_what_is_heavy():
    command = [sys.executable, "-X", "importtime", "-m", "turbo_fzn", "--version"]
    imported = subprocess.run(command, capture_output=True, text=True, env=environment(), timeout=PATIENCE).stderr
    modules = {line.rpartition("|")[2].strip() for line in imported.splitlines()}
    assert "turbo_fzn.options.options" in modules
    assert not modules & {"numpy", "lark", "ctypes", "turbo_fzn.interface.api", "turbo_fzn.run.search"}


def test_info_tells_the_version_the_engines_and_the_cache(tmp_path):
    done = run_plainly("--info", TURBO_FZN_CACHE=str(tmp_path / "cache"))
    assert (done.returncode, done.stderr) == (0, "")
    assert __version__ in done.stdout
    assert "CPU engine: compiled by " in done.stdout
    assert "GPU engine: missing, " in done.stdout
    assert f"kernel cache: {tmp_path / 'cache'}, 0 compiled" in done.stdout


def test_info_tells_why_something_is_missing():
    done = run_plainly("--info", TURBO_FZN_CACHE="/dev/null/cache", PATH="", CXX="")
    assert (done.returncode, done.stderr) == (0, "")
    assert "CPU engine: missing, no C++ compiler found" in done.stdout
    assert "kernel cache: /dev/null/cache, cannot be used" in done.stdout


def test_the_solver_is_installed_in_a_folder_and_uninstalled_from_it(tmp_path):
    folder = tmp_path / "solvers"
    done = run_plainly("--install-solver", folder)
    assert done.returncode == 0 and done.stdout.startswith(
        f"wrote {folder / configuration.CONFIGURATION}\nCPU engine, 32-bit: "
    )
    assert done.stdout.count("CPU engine") == 1
    assert done.stdout.endswith("when they are first needed, or all at once by: fzn-turbo --build-kernels\n")
    assert json.loads((folder / configuration.CONFIGURATION).read_text())["id"] == configuration.SOLVER_ID
    done = run_plainly("--uninstall-solver", folder)
    assert done.returncode == 0 and f"removed {folder / configuration.CONFIGURATION}\n" in done.stdout
    assert list(folder.iterdir()) == []
    assert run_plainly("--uninstall-solver", folder).stdout == "nothing to remove\n"


# ---- the cache of compiled kernels


@pytest.fixture
def quick_compiler(tmp_path, monkeypatch) -> str:
    monkeypatch.setenv(*builds.ONE_ENGINE)
    return str(builds.quick_compiler(tmp_path))


@pytest.mark.parametrize(
    ("action", "engines"),
    [
        pytest.param("--install-solver", CPU_ENGINES[:1], id="--install-solver"),
        pytest.param("--build-kernels", CPU_ENGINES, marks=pytest.mark.slow, id="--build-kernels"),
    ],
)
def test_the_kernels_can_be_compiled_ahead_and_are_then_used(tmp_path, model, quick_compiler, action, engines):
    changes = {"TURBO_FZN_CACHE": str(tmp_path / "cache"), "CXX": quick_compiler, "HOME": str(tmp_path)}
    done = run_plainly(action, **changes)
    assert done.returncode == 0
    assert re.findall(r"^CPU engine, (.*): .*\.so$", done.stdout, re.MULTILINE) == engines
    assert value(run(model, **changes), "z") == 7
    assert len((tmp_path / "runs").read_text().split()) == len(engines)


def test_a_solver_that_is_installed_without_a_compiler_is_told_to_have_no_engine(tmp_path):
    cache, folder = tmp_path / "cache", tmp_path / "solvers"
    done = run_plainly("--install-solver", folder, TURBO_FZN_CACHE=str(cache), PATH="", CXX="")
    assert done.returncode == 1
    assert done.stdout == f"wrote {folder / configuration.CONFIGURATION}\n=====ERROR=====\n"
    assert re.fullmatch(r"fzn-turbo: no C\+\+ compiler found for the CPU engine: install one .*\n", done.stderr)


@pytest.mark.slow
def test_the_compiler_may_be_named_with_words_behind_it_and_by_a_path_with_blanks(tmp_path, model, quick_compiler):
    folder = tmp_path / "with blanks"
    folder.mkdir()
    (folder / "c++").symlink_to(quick_compiler)
    for number, named in enumerate((f"{quick_compiler} -DUNUSED", f"env UNUSED=1 {quick_compiler}", f"{folder}/c++")):
        answer = run(model, TURBO_FZN_CACHE=str(tmp_path / f"cache{number}"), CXX=named)
        assert (answer.code, answer.errors, value(answer, "z")) == (0, "", 7)
    assert len((tmp_path / "runs").read_text().split()) == 3


def test_two_processes_may_fill_an_empty_cache_at_the_same_time(tmp_path, model, quick_compiler):
    changes = {"TURBO_FZN_CACHE": str(tmp_path / "cache"), "CXX": quick_compiler}
    processes = [start(model, **changes) for _ in range(2)]
    for process in processes:
        with process:
            answer = finish(process)
        assert (answer.code, answer.errors) == (0, "")
        assert value(answer, "z") == 7
    assert len(list((tmp_path / "cache").glob("cpu*"))) == 1
    assert not [path for path in (tmp_path / "cache").iterdir() if path.is_dir()]


def test_a_cache_that_cannot_be_written_costs_time_but_no_answer(tmp_path, model, quick_compiler):
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    (tmp_path / "file").write_text("no folder")
    for cache in (tmp_path / "file", "/proc/cache"):
        answer = run(model, TURBO_FZN_CACHE=str(cache), CXX=quick_compiler, TMPDIR=str(temporary))
        told = f"the cache folder {cache} cannot be written: what is compiled now is lost when this run ends"
        assert (answer.code, answer.errors) == (0, f"fzn-turbo: {told}\n")
        assert value(answer, "z") == 7
        assert list(temporary.iterdir()) == []
