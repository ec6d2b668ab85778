"""Benches as commands, and the points of the pictures that they draw."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

from support.command import PATIENCE, environment
from support.pages import SVG
from support.places import CORPUS


def bench(tool: str, *arguments: object) -> str:
    """Runs the benchmark, and returns its output."""
    call = [sys.executable, "-m", f"lab.{tool}", *map(str, arguments)]
    done = subprocess.run(call, capture_output=True, text=True, timeout=PATIENCE, env=environment())
    assert done.returncode == 0, done.stderr
    return done.stdout


def files(*names: str) -> list[Path]:
    return [CORPUS / f"{name}.fzn" for name in names]


def points(svg: ElementTree.Element) -> list[tuple[float, float, str]]:
    """(x, y, hint) of each that is no sign of a legend."""
    circles = [one for one in svg.iter(f"{SVG}circle") if one.find(f"{SVG}title") is not None]
    return [(float(one.get("cx")), float(one.get("cy")), one.findtext(f"{SVG}title")) for one in circles]
