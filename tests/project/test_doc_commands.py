"""Every command of README, CONTRIBUTING and docs works, or says what it needs: see doc_commands.py."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from support.command import PATIENCE, environment
from support.doc_commands import DOCUMENTS, Command, commands
from support.needs import needs_gecode, needs_minizinc
from support.places import CORPUS, DATA, ROOT, TESTS
from tools import docker

DOCKER = ("docker build -t turbo .", *docker.documented("turbo"))
ELSEWHERE = {  # command -> the test that runs it
    "pip install .": "test_sdist.py::test_pip_installs_it_and_the_first_model_of_the_readme_is_solved",
    **dict.fromkeys(DOCKER, "test_docker.py::test_the_steps_of_the_cpu_image_make_what_docker_runs"),
}
LINKED = ("turbo_fzn", "kernels", "share", "tests", "Makefile", "setup.py", "setup.cfg", "pyproject.toml")
COPIED = ("docs", "examples", "README.md", "LICENSE")  # what some command writes into
NAME = {path: str(path.relative_to(ROOT)) for path in DOCUMENTS}
FLATZINC = ("golomb", "warehouse")


def squeezed(text: str) -> str:
    return " ".join(text.split())


def of(path: Path) -> list[Command]:
    return [command for command in commands(path.read_text(encoding="utf-8")) if command.language != "text"]


def to_run(path: Path) -> list[Command]:
    return [command for command in of(path) if not command.marked and squeezed(command.text) not in ELSEWHERE]


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A folder that looks like a clone, in which a command can leave what it likes, with what the documents name: a
    model and its data, a folder of FlatZinc, a table of other solvers."""
    folder = tmp_path / "clone"
    folder.mkdir()
    for name in LINKED:
        (folder / name).symlink_to(ROOT / name)
    for name in COPIED:
        source = ROOT / name
        shutil.copytree(source, folder / name) if source.is_dir() else shutil.copy(source, folder)
    for name, source in {"model.mzn": "demo.mzn", "data.dzn": "demo.dzn", "model.fzn": "demo.fzn"}.items():
        shutil.copy(ROOT / "examples" / source, folder / name)
    (folder / "FOLDER").mkdir()
    for name in FLATZINC:
        shutil.copy(CORPUS / f"{name}.fzn", folder / "FOLDER")
    (folder / "PEERS.csv").write_text("model,best_known,other_nodes_per_s,other_1t_9s\ngolomb,17,1000,17*\n")
    shutil.copy(DATA / "xcsp3" / sorted(os.listdir(DATA / "xcsp3"))[0], folder / "model.xml")
    return folder


def surroundings(folder: Path) -> dict[str, str]:
    """Environment variables: this Python and its solver by the names that the documents use, and a home of its own."""
    programs = folder / "programs"
    programs.mkdir()
    for name, call in {"python": "", "pip": " -m pip", "fzn-turbo": " -m turbo_fzn"}.items():
        (programs / name).write_text(f'#!/bin/sh\nexec {sys.executable}{call} "$@"\n')
        (programs / name).chmod(0o755)
    (folder / "home").mkdir()
    paths = f"{programs}{os.pathsep}{os.environ['PATH']}"
    alone = {name: "" for name in os.environ if name.startswith("PYTEST_")}  # a command may be pytest itself
    return environment(PATH=paths, HOME=str(folder / "home"), VENV="none", PYTHON=sys.executable, **alone)


@pytest.mark.slow
@needs_minizinc
@needs_gecode
@pytest.mark.parametrize("path", [path for path in DOCUMENTS if to_run(path)], ids=NAME.get)
def test_every_command_works(path, clone, tmp_path):
    variables = surroundings(tmp_path)
    install = [sys.executable, "-m", "turbo_fzn", "--install-solver"]
    subprocess.run(install, env=variables, check=True, capture_output=True, timeout=PATIENCE)
    for command in to_run(path):
        call = [sys.executable, "-c"] if command.language == "python" else ["bash", "-c"]
        done = subprocess.run(
            [*call, command.text], cwd=clone, env=variables, capture_output=True, text=True, timeout=PATIENCE
        )
        where = f"{NAME[path]}, line {command.line}: {command.text}"
        assert done.returncode == 0, f"{where}\n{done.stdout[-2000:]}{done.stderr[-2000:]}"
        assert "=====ERROR=====" not in done.stdout, where


def test_every_test_that_runs_a_command_elsewhere_is_there():
    told = {squeezed(command.text) for path in DOCUMENTS for command in of(path)}
    assert sorted(ELSEWHERE.keys() - told) == []
    for test in ELSEWHERE.values():
        file, _, name = test.partition("::")
        assert f"def {name}(" in next(TESTS.rglob(file)).read_text(encoding="utf-8")


def test_there_are_commands_and_marks_are_not_the_rule():
    found = [command for path in DOCUMENTS for command in of(path)]
    assert sum(not command.marked for command in found) >= 40


def test_what_is_not_run_here_is_run_by_ci_or_needs_what_ci_has_not():
    """A GPU, or a cluster; CONTRIBUTING has what takes hours, too."""
    ci = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    elsewhere = re.compile(r"needs (?:a GPU|a cluster)")
    unexplained = []
    for path in DOCUMENTS:
        for command in of(path) if path.name != "CONTRIBUTING.md" else []:
            runs = re.search(r"\brun by (make \w+)", command.text) or re.match(r"(make \w+)", command.text)
            is_run = runs is not None and re.search(rf"^{runs[1]}\b", ci, re.MULTILINE) is not None
            if command.marked and not is_run and not elsewhere.search(command.text):
                unexplained.append(f"{NAME[path]}, line {command.line}: {command.text[:80]}")
    assert unexplained == []


def test_a_mark_is_seen_in_the_comment_only():
    assert Command(1, "sh", "make soak   # takes an hour; SOAKFLAGS=...").marked
    assert Command(1, "python", "# needs CPMpy\nimport cpmpy").marked
    assert not Command(1, "sh", "echo needs a GPU").marked
    assert not Command(1, "sh", "fzn-turbo model.fzn   # also model.fzn.gz").marked


def test_blocks_are_found():
    prose = "Say\n\n    one   # first\n    two\n\n- a list\n    that goes on\n"
    text = prose + "\n```python\nthree()\n```\n\n```text\nfour\n```\n"
    assert [(command.line, command.language, command.text) for command in commands(text)] == [
        (3, "sh", "one   # first"), (4, "sh", "two"), (9, "python", "three()"), (13, "text", "four")
    ]  # fmt: skip
    with pytest.raises(ValueError, match="line 1: a fence of no language"):
        list(commands("```\nmake\n```\n"))
