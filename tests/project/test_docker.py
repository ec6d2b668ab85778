"""The Dockerfiles: they keep the rules of docker.py, and the steps of the CPU image make a solver here too."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from support.command import PATIENCE
from support.installation import Installation, install, shared_wheel
from support.needs import needs_minizinc
from tools import docker

ORDINARY = "FROM base:1.2\nRUN true\nUSER somebody\n"


@pytest.mark.parametrize("name", docker.FILES)
def test_a_dockerfile_keeps_the_rules(name):
    assert list(docker.complaints((docker.ROOT / name).read_text())) == []


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (("USER somebody", "USER root"), "the last user is root"),
        (("base:1.2", "base:latest"), "has no version"),
        (("RUN true", "RUNS true"), "RUNS is not among"),
        (("RUN true", "COPY nothing /here"), "nothing is not there"),
        (("RUN true", "COPY --from=other /a /b"), "no stage other"),
        (("RUN true", "RUN apt-get update && apt-get install g++"), "without --no-install-recommends"),
        (("RUN true", "RUN pip install numpy"), "without --no-cache-dir"),
        (("RUN true", "RUN if true"), "no command of a shell"),
    ],
)
def test_what_breaks_a_rule_is_seen(change, complaint):
    assert list(docker.complaints(ORDINARY)) == []
    assert any(complaint in found for found in docker.complaints(ORDINARY.replace(*change)))


@pytest.mark.slow
@needs_minizinc
def test_the_steps_of_the_cpu_image_make_what_docker_runs(tmp_path):
    """The steps are taken by an ordinary process: the system's packages are here already, and pip's installation is the
    wheel of installation.py, which is made as in the first stage."""
    install(tmp_path, shared_wheel())
    there = Installation(tmp_path).begin(tmp_path)
    solvers = "/usr/share/minizinc/solvers"
    environment = {
        **os.environ,
        "PATH": f"{there.scripts}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(tmp_path),
        "TURBO_FZN_CACHE": str(there.cache),
        "MZN_SOLVER_PATH": str(tmp_path / "solvers"),
        "PYTHONPATH": "",
    }

    def run(command: list[str]) -> str:
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=PATIENCE)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    steps = docker.steps((docker.ROOT / "Dockerfile").read_text())
    ours = [step.rest for step in steps if step.word == "RUN" and "fzn-turbo" in step.rest]
    assert len(ours) == 1 and solvers in ours[0]
    run(["sh", "-c", ours[0].replace(solvers, str(tmp_path / "solvers"))])
    entry = json.loads(next(step.rest for step in steps if step.word == "ENTRYPOINT"))
    Path(tmp_path, "model.mzn").write_text("int: n;\nvar 2..3: x;\nconstraint x != n;\nsolve satisfy;\n")
    Path(tmp_path, "data.dzn").write_text("n = 2;\n")
    said = [run(docker.inside(line, "turbo", entry)) for line in docker.documented("turbo")]
    assert said[0] == "x = 3;\n----------\n" and said[1].splitlines()[-1] == "nothing is wrong"
