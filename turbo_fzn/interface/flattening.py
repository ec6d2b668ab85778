"""MiniZinc models from Python: the installed `minizinc` flattens them with the library of this installation.

No configuration need be installed: one is written to a folder for the time of a call.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from decimal import Decimal
from enum import Enum
from pathlib import Path
from typing import Union

import numpy as np

from turbo_fzn.base.errors import ModelError, UsageError
from turbo_fzn.options.configuration import CONFIGURATION, SOLVER_ID, configuration
from turbo_fzn.read.languages import parse_named
from turbo_fzn.read.model import Model

Source = Union[str, "os.PathLike[str]"]
Data = Union[Source, Mapping[str, object], None]


def flatten(model: Source, data: Data = None) -> Model:
    """The FlatZinc of a MiniZinc model: a path, or its text. `data`: the path of a .dzn or .json file, the text of a
    .dzn, or a mapping from names to values: JSON values, sets, ranges (as sets), enums, and NumPy's arrays.

    A string without the suffix of such a file is a text; its included files are looked for in the working directory.
    Raises UsageError if there is no `minizinc` or a value cannot be expressed, and ModelError with the messages of
    `minizinc` if it refuses the model.
    """
    with tempfile.TemporaryDirectory(prefix="turbo_fzn-") as name:
        folder = Path(name)
        # By another id than an installed solver, which MiniZinc would prefer.
        own = {**configuration(Path(sys.executable)), "id": f"{SOLVER_ID}-python"}
        (folder / CONFIGURATION).write_text(json.dumps(own), encoding="utf-8")
        target = folder / "model.fzn"
        words = ["minizinc", "--solver", str(folder / CONFIGURATION), "--compile", "--fzn", str(target)]
        words += ["--no-output-ozn", "-I", os.getcwd(), _file(model, folder / "model.mzn", (".mzn",))]
        if isinstance(data, Mapping):
            (folder / "data.json").write_text(_as_json(data), encoding="utf-8")
            words += [str(folder / "data.json")] if data else []  # MiniZinc refuses empty data
        elif data is not None:
            words.append(_file(data, folder / "data.dzn", (".dzn", ".json")))
        try:
            done = subprocess.run(words, capture_output=True, text=True, check=False)
        except OSError as error:
            raise UsageError(f"minizinc cannot be started: {error.strerror or error}") from error
        if done.returncode != 0 or not target.is_file():
            raise ModelError(f"minizinc refuses the model: {(done.stderr or done.stdout).strip()}")
        return parse_named(target.read_text(encoding="utf-8"), str(target.name))


def _file(source: Source, place: Path, suffixes: tuple[str, ...]) -> str:
    """The path of a file; a text is written to `place`."""
    if not isinstance(source, (str, os.PathLike)):
        raise TypeError(f"a model and its data are texts, paths, or values by name, not {type(source).__name__}")
    if isinstance(source, os.PathLike) or source.endswith(suffixes):
        return os.path.abspath(source)  # so that no path begins with a dash
    place.write_text(source, encoding="utf-8")
    return str(place)


def _as_json(value: object) -> str:
    """A value in MiniZinc's JSON, which has sets and enums, but no exponents. Raises UsageError for values that it
    cannot express."""
    if isinstance(value, Enum):
        return json.dumps({"e": value.name})
    if isinstance(value, (np.ndarray, np.generic)):
        value = value.tolist()
    if isinstance(value, Mapping) and all(isinstance(name, str) for name in value):
        return "{" + ",".join(f"{json.dumps(name)}:{_as_json(part)}" for name, part in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(map(_as_json, value)) + "]"
    if isinstance(value, (set, frozenset, range)):
        return '{"set":[' + ",".join(sorted(map(_as_json, value))) + "]}"
    if isinstance(value, float) and math.isfinite(value):
        plain = format(Decimal(repr(value)), "f")
        return plain if "." in plain else f"{plain}.0"
    if isinstance(value, (str, bool)) or value is None or (isinstance(value, int) and abs(value) < 2**63):
        return json.dumps(value)
    raise UsageError(f"data: MiniZinc has no value like {value!r}")
