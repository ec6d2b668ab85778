"""The models that a benchmark is given: FlatZinc, or MiniZinc with its data, which is flattened first.

* a FlatZinc file (.fzn, .fzn.gz), or a folder of them;
* a MiniZinc model, followed by its data: `queens.mzn n8.dzn`; the name of the instance is that of its last file;
* a folder with one .mzn: an instance of the folder's name, whose data are the .dzn and .json files beside it;
* a folder of such folders.

MiniZinc flattens with the library of this package, or with its own standard library, to compare (`--std`). The FlatZinc
goes to a temporary folder.
"""

from __future__ import annotations

import argparse
import atexit
import json
import shutil
import subprocess
import tempfile
import time
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

FLATZINC = (".fzn", ".fzn.gz")
DATA = (".dzn", ".json")
MODEL = ".mzn"


class Instance(NamedTuple):
    """`files` are one of FlatZinc, or a model and its data."""

    name: str
    files: tuple[Path, ...]


def add_arguments(parser: argparse.ArgumentParser, needed: bool) -> None:
    what = "FlatZinc (.fzn, .fzn.gz), or a MiniZinc model followed by its data, or folders of such"
    parser.add_argument("files", nargs="+" if needed else "*", type=Path, help=what)
    parser.add_argument("--only", help="comma-separated names of models")
    parser.add_argument("--std", action="store_true", help="flatten with MiniZinc's standard library instead of ours")


def chosen_files(arguments: argparse.Namespace) -> list[Path]:
    """The FlatZinc of what the options name, in their order.

    Raises ValueError where there is nothing, or MiniZinc cannot flatten it; OSError where a file cannot be read, or the
    file of JSON or HTML not be written: known before hours are spent.
    """
    chosen = instances(arguments.files)
    if arguments.only:
        wanted = arguments.only.split(",")
        chosen = [instance for instance in chosen if instance.name in wanted]
    if not chosen:
        raise ValueError("no such model")
    for instance in chosen:
        for path in instance.files:
            path.open("rb").close()
    for target in (getattr(arguments, "json", None), getattr(arguments, "html", None)):
        if target:
            target.open("a").close()
    return [flattened(instance, arguments.std) for instance in chosen]


def instances(paths: Sequence[Path]) -> list[Instance]:
    """Raises ValueError for data without a model."""
    found: list[Instance] = []
    for path in paths:
        if path.is_dir():
            found += _of_folder(path)
        elif path.name.endswith(DATA):
            if not (found and found[-1].files[0].suffix == MODEL):
                raise ValueError(f"{path}: data must follow their model")
            found[-1] = Instance(name_of(path), (*found[-1].files, path))
        else:
            found.append(Instance(name_of(path), (path,)))
    return found


def _of_folder(folder: Path) -> list[Instance]:
    inside = sorted(folder.iterdir())
    models = [path for path in inside if path.suffix == MODEL]
    if len(models) == 1:
        data = [path for path in inside if path.name.endswith(DATA)]
        return [Instance(folder.name, (*models, *data))]
    found = [Instance(name_of(path), (path,)) for path in inside if path.name.endswith(FLATZINC) or path in models]
    return found + [instance for path in inside if path.is_dir() for instance in _of_folder(path)]


def name_of(path: Path) -> str:
    return path.name.split(".")[0]


def flattened(instance: Instance, std: bool) -> Path:
    """The instance as FlatZinc. Raises ValueError with what MiniZinc complains of."""
    model = instance.files[0]
    if model.suffix != MODEL:
        return model
    program = shutil.which("minizinc")
    if program is None:
        raise ValueError(f"{model}: minizinc is missing, which flattens it")
    target = _scratch() / f"{instance.name}.fzn"
    outputs = ["--fzn", str(target), "--ozn", str(target.with_suffix(".ozn"))]
    command = [program, "-c", "--solver", str(solver(std)), *outputs, *map(str, instance.files)]
    start = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode or not target.exists():
        complaint = " ".join(done.stderr.split()) or "no message"
        raise ValueError(f"{instance.name}: MiniZinc cannot flatten it: {complaint}")
    print(f"{instance.name}: flattened in {time.monotonic() - start:.1f} s, {target.stat().st_size / 1e6:.2f} MB")
    return target


@lru_cache(maxsize=1)
def _scratch() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="turbo_fzn-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


@lru_cache(maxsize=2)
def solver(std: bool) -> Path:
    """A configuration that names this package's library; with `std` one that has nothing but Booleans for sets."""
    from turbo_fzn.command.install import install_solver

    path = install_solver(_scratch() / f"solvers-{std}")
    if std:
        library = _scratch() / "std"
        library.mkdir()
        (library / "redefinitions.mzn").write_text('include "nosets.mzn";\n')
        path.write_text(json.dumps({**json.loads(path.read_text()), "mznlib": str(library)}))
    return path
