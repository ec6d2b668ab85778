"""Lints the Dockerfiles without Docker: `make docker-check`. Prints a complaint a line; exit code 1 where there is one.

The rules are those of hadolint's that have bitten here or elsewhere: known instructions, pinned base images, packages
installed without recommendations and lists left behind, what is copied is there, and no server runs as root.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent.parent
FILES = ("Dockerfile", "Dockerfile.cuda")
KNOWN = {"FROM", "RUN", "COPY", "ENV", "USER", "WORKDIR", "ENTRYPOINT"}


class Step(NamedTuple):
    """An instruction, on one line."""

    word: str
    rest: str


def steps(text: str) -> list[Step]:
    """The instructions of a Dockerfile."""
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    whole = "\n".join(lines).replace("\\\n", " ")
    return [Step(*re.split(r"\s+", line.strip(), maxsplit=1)) for line in whole.splitlines()]


def complaints(text: str) -> Iterator[str]:
    found = steps(text)
    stages = {step.rest.partition(" AS ")[2] for step in found if step.word == "FROM"}
    users = [step.rest for step in found if step.word == "USER"]
    if not users or users[-1] in ("root", "0"):
        yield "the last user is root"
    if not found or found[0].word != "FROM":
        yield "the first instruction is not FROM"
    for word, rest in found:
        if word not in KNOWN:
            yield f"{word} is not among the instructions that are used here"
        if word == "FROM" and not re.search(r":[\w.-]*\d", rest):
            yield f"the base image {rest} has no version"
        if word == "COPY":
            yield from complaints_of_copy(rest, stages)
        if word == "RUN":
            yield from complaints_of_run(rest)


def complaints_of_copy(rest: str, stages: set[str]) -> Iterator[str]:
    stage, sources = re.match(r"(?:--from=(\S+) )?(.*) \S+$", rest).groups()
    if stage and stage not in stages:
        yield f"there is no stage {stage}"
    if not stage and not all((ROOT / source).exists() for source in sources.split()):
        yield f"{sources} is not there"


def complaints_of_run(rest: str) -> Iterator[str]:
    for rule, wanted in (
        ("apt-get install", "apt-get update"),
        ("apt-get install", "--no-install-recommends"),
        ("apt-get install", "rm -rf /var/lib/apt/lists/*"),
        ("pip ", "--no-cache-dir"),
    ):
        if rule in rest and wanted not in rest:
            yield f"{rule.strip()} without {wanted}"
    if "sudo" in rest.split():
        yield "sudo in a container"
    checked = subprocess.run(["sh", "-n", "-c", rest], capture_output=True, text=True)
    if checked.returncode:
        yield f"no command of a shell: {rest}: {checked.stderr.strip()}"


def documented(image: str) -> list[str]:
    """The lines of the page about Docker that run this image."""
    lines = (ROOT / "docs" / "guide" / "docker.md").read_text(encoding="utf-8").splitlines()
    return [line.strip() for line in lines if line.startswith("    docker run") and image in line.split()]


def inside(line: str, image: str, entry_point: list[str]) -> list[str]:
    """The command that such a line runs in the container."""
    before, after = line.split(f" {image} ")
    named = re.search(r"--entrypoint (\S+)", before)
    return [*([named[1]] if named else entry_point), *shlex.split(after)]


def main() -> int:
    found = [f"{name}: {text}" for name in FILES for text in complaints((ROOT / name).read_text())]
    print("\n".join(found) or f"{', '.join(FILES)}: nothing to complain of")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
