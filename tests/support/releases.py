"""Models flattened by releases of MiniZinc with our library: the one that is installed, and the newest.

The newest comes as WebAssembly in the package `minizinc` of the npm registry. It is installed once, by npm, into
`build/npm` of the source tree; a process of node keeps it loaded (newest_minizinc.cjs), since that takes seconds.
"""

from __future__ import annotations

import fcntl
import json
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

from support.command import PATIENCE
from support.places import ROOT
from turbo_fzn.base.resources import share_folder
from turbo_fzn.command.install import configuration, install_solver

PACKAGE, VERSION = "minizinc", "4.5.1"  # of npm; it has MiniZinc 2.10.0
OLDER = "4.4.0"  # MiniZinc 2.9.0, which refuses what other releases take
MOST_MODELS = 200  # of one process, whose memory grows
DRIVER = Path(__file__).with_name("newest_minizinc.cjs")
UNSATISFIABLE = "constraint bool_eq(false,true);\nsolve satisfy;\n"  # what stands for a model that MiniZinc refutes

Flatten = Callable[[str], str]  # from a model to its FlatZinc


class Refused(Exception):
    """An objection of MiniZinc to a model."""


@cache
def package_folder(version: str) -> Path:
    """The folder of the package's worker, which is installed where it is missing."""
    folder = ROOT / "build" / "npm" / f"{PACKAGE}-{version}"
    folder.parent.mkdir(parents=True, exist_ok=True)
    with open(folder.with_suffix(".lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            fresh = Path(tempfile.mkdtemp(dir=folder.parent))
            flags = ["--silent", "--no-fund", "--no-save", "--prefix", fresh]
            subprocess.run(["npm", "install", *flags, f"{PACKAGE}@{version}"], check=True, timeout=PATIENCE)
            fresh.rename(folder)
    return folder / "node_modules" / PACKAGE / "dist"


def library_files(folder: Path | None = None) -> dict[str, str]:
    """The files of a library, ours by default, and a configuration that names it."""
    folder = folder or share_folder() / "minizinc" / "turbo"
    known = {**configuration(Path("fzn-turbo")), "mznlib": "./turbo", "executable": "./fzn-turbo"}
    return {
        "turbo.msc": json.dumps(known),
        **{f"turbo/{path.name}": path.read_text(encoding="utf-8") for path in folder.glob("*.mzn")},
    }


class Newest:
    """The newest release in a process of its own, which is started anew after so many models."""

    def __init__(self, library: Path | None = None, version: str = VERSION) -> None:
        self.library = library_files(library)
        self.package = version
        self.process: subprocess.Popen[str] | None = None
        self.left = 0

    def close(self) -> None:
        if self.process is not None:
            self.process.communicate(timeout=PATIENCE)  # it ends with its standard input
            self.process = None

    def flatten(self, text: str, files: Mapping[str, str] = {}) -> str:
        """The FlatZinc of a model with further files, such as its data."""
        texts = {"model.mzn": text, **files}
        answer = self._ask({"files": texts, "args": ["-c", "--solver", "turbo.msc", "--fzn", "out.fzn", *texts]})
        if any(message.get("status") == "UNSATISFIABLE" for message in answer["messages"]):
            return UNSATISFIABLE
        if answer["code"] or answer["flat"] is None:
            raise Refused(answer["messages"])
        return answer["flat"]

    def version(self) -> str:
        return self._ask({"files": {}, "args": ["--version"]})["messages"][0]["value"].strip()

    def _ask(self, request: Mapping[str, object]) -> dict:
        if self.left == 0:
            self.close()
            self.left = MOST_MODELS
            command = ["node", DRIVER, package_folder(self.package)]
            self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            self._write({"files": self.library})
        self.left -= 1
        self._write(request)
        assert self.process is not None and self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            self.left, self.process = 0, None
            raise Refused("node ended")
        return json.loads(line)

    def _write(self, request: Mapping[str, object]) -> None:
        assert self.process is not None and self.process.stdin is not None
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()


class Installed:
    """The release whose command is `minizinc`."""

    def __init__(self, library: Path | None = None) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="turbo_fzn-release-"))
        install_solver(self.folder)
        if library is not None:
            path = self.folder / "turbo.msc"
            path.write_text(json.dumps({**json.loads(path.read_text()), "mznlib": str(library)}))

    def close(self) -> None:
        shutil.rmtree(self.folder)

    def flatten(self, text: str, files: Mapping[str, str] = {}) -> str:
        """The FlatZinc of a model with further files, such as its data."""
        with tempfile.TemporaryDirectory(dir=self.folder) as folder:
            for name, content in {"model.mzn": text, **files}.items():
                (Path(folder) / name).write_text(content)
            command = ["minizinc", "-c", "--solver", self.folder / "turbo.msc", "--fzn", "out.fzn", "model.mzn", *files]
            run = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=PATIENCE)
            if "=====UNSATISFIABLE=====" in run.stdout:
                return UNSATISFIABLE
            if run.returncode:
                raise Refused(run.stderr)
            return (Path(folder) / "out.fzn").read_text()


RELEASES = {"installed": Installed, "newest": Newest}
