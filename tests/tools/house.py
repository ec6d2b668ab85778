"""The rules of CONTRIBUTING.md that a program can check: `make check`.

Lines, functions and files have a length that they must not exceed, in the package, the kernels, the tests and the
examples. A docstring has its own subject: it does not begin with words that only continue another one (`ELLIPSES`). No
file names a place in somebody's checkout (`CHECKOUT`), as tools write it into what they leave behind. The documents
have a length and a language (prose.py). For the functions of the package and of the kernels the median, the 90th
percentile and the maximum of length and cyclomatic complexity (McCabe 1976; counted by lizard) are printed, so that a
trend shows. Ruff and mypy read their settings from pyproject.toml and setup.cfg.
"""

from __future__ import annotations

import ast
import re
import statistics
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import lizard

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # for who runs it as a script
from tools import prose

ROOT = Path(__file__).resolve().parent.parent.parent
LINE_CHARACTERS, FUNCTION_LINES, FILE_LINES = 120, 40, 400
PYTHON, KERNELS = ("turbo_fzn", "lab", "tests", "examples", "site", "setup.py"), "kernels"
KERNEL_SUFFIXES = (".h", ".cu", ".cpp")
ELLIPSES = ("The same", "Of ", "Those ", "As ")
SOURCES = (".ci", "docs", "examples", "kernels", "lab", "share", "site", "tests", "turbo_fzn")
CHECKOUT = re.compile(r"""(?<![\w./}\])*:"-])(/[\w.-]+)+/(tests|turbo_fzn|kernels)/""")


def python_files(*places: str) -> list[Path]:
    """The Python files in the folders and files of these names."""
    found = [path for place in places for path in (ROOT / place).rglob("*.py")]
    return sorted(found + [ROOT / place for place in places if (ROOT / place).is_file()])


def kernel_files() -> list[Path]:
    return sorted(path for path in (ROOT / KERNELS).rglob("*") if path.suffix in KERNEL_SUFFIXES)


def functions(paths: list[Path]) -> Iterator[tuple[Path, str, int, int]]:
    """(file, name, lines, complexity) of each function."""
    for path in paths:
        for function in lizard.analyze_file(str(path)).function_list:
            lines = function.end_line - function.start_line + 1
            yield path, function.name, lines, function.cyclomatic_complexity


def too_long(paths: list[Path]) -> Iterator[str]:
    """A complaint for each line, function and file that is longer than the rules allow."""
    for path in paths:
        lines = path.read_text(encoding="utf-8").splitlines()
        name = path.relative_to(ROOT)
        if len(lines) > FILE_LINES:
            yield f"{name}: {len(lines)} lines, more than {FILE_LINES}"
        for number, line in enumerate(lines, 1):
            if len(line) > LINE_CHARACTERS:
                yield f"{name}:{number}: {len(line)} characters, more than {LINE_CHARACTERS}"
    for path, function, length, _ in functions(paths):
        if length > FUNCTION_LINES:
            yield f"{path.relative_to(ROOT)}: {function}: {length} lines, more than {FUNCTION_LINES}"


def docstrings(text: str) -> Iterator[tuple[int, str]]:
    """(line, text) of each docstring of a source, including those of attributes."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node.lineno, " ".join(node.value.value.split())


def vague(paths: list[Path]) -> Iterator[str]:
    """A complaint for each docstring that begins with one of ELLIPSES."""
    begins = re.compile(rf"""["']\s*({"|".join(ELLIPSES)})""")
    for path in paths:
        source = path.read_text(encoding="utf-8")
        for number, text in docstrings(source) if begins.search(source) else ():
            if text.startswith(ELLIPSES):
                yield f"{path.relative_to(ROOT)}:{number}: a docstring begins with {text[:20]!r}"


def text_files() -> Iterator[Path]:
    """The files that a person or a program reads as text: of the top level and of the folders of SOURCES."""
    folders = (path for name in SOURCES for path in (ROOT / name).rglob("*") if "__pycache__" not in path.parts)
    for path in sorted([*ROOT.glob("*"), *folders]):
        if path.is_file() and b"\0" not in path.read_bytes():
            yield path


def elsewhere(paths: Iterable[Path]) -> Iterator[str]:
    """A complaint for each line with an absolute path of a file of this project."""
    for path in paths:
        for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
            if found := CHECKOUT.search(line):
                yield f"{path.relative_to(ROOT)}:{number}: {found[0]} is a place in somebody's checkout"


def spread(numbers: list[int]) -> str:
    """Median/90th percentile/maximum."""
    return f"{statistics.median(numbers):.0f}/{sorted(numbers)[len(numbers) * 9 // 10]}/{max(numbers)}"


def describe(title: str, paths: list[Path]) -> str:
    found = list(functions(paths))
    lengths, complexities = [entry[2] for entry in found], [entry[3] for entry in found]
    return f"{title}: {len(found)} functions, lines {spread(lengths)}, complexity {spread(complexities)}"


def main() -> int:
    complaints = [*too_long(python_files(*PYTHON) + kernel_files()), *vague(python_files(*PYTHON))]
    complaints += [*elsewhere(text_files()), *prose.too_many_words(ROOT), *prose.hard_to_read(ROOT)]
    print("\n".join(complaints))
    print("median/90th percentile/maximum")
    print(describe("package", python_files("turbo_fzn")))
    print(describe("kernels", kernel_files()))
    faults = len(complaints)
    for command in (["ruff", "check", "--quiet", *PYTHON], ["mypy", "turbo_fzn", "lab"]):
        faults += subprocess.run([sys.executable, "-m", *command], cwd=ROOT).returncode
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
