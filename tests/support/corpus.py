"""The flattened examples, with the figures that Gecode found (examples/expected.json)."""

from __future__ import annotations

import json
import re
from pathlib import Path

from support.places import CORPUS, ROOT

EXPECTED = json.loads((ROOT / "examples" / "expected.json").read_text())


FLOAT = re.compile(r"^var (float|-?\d+\.\d)", re.MULTILINE)


def has_floats(text: str) -> bool:
    """Whether a flattened model has float variables."""
    return bool(FLOAT.search(text))


def text_of(entry: dict) -> str:
    return (CORPUS / (Path(entry["model"]).stem + ".fzn")).read_text(encoding="utf-8")


LONG = {"can.mzn", "ladder.mzn", "beam.mzn"}  # whose trees have millions of boxes down to the usual precision
COUNTED = ("nodes", "failures", "peakDepth", "propagators", "variables")
