"""Lark and its tables are made once: what is kept of them, and that nothing depends on it."""

from __future__ import annotations

import os
import subprocess
import sys

from support.flatzinc_text import EXAMPLE
from turbo_fzn.read import flatzinc as parse
from turbo_fzn.read import grammar


def run_python(code: str, cache: str) -> str:
    environment = {**os.environ, "TURBO_FZN_CACHE": cache}
    result = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert result.stderr == ""
    return result.stdout


def test_lark_is_not_imported_for_usual_statements_once_the_cache_is_filled(tmp_path) -> None:
    model = tmp_path / "m.fzn"
    model.write_text(EXAMPLE, encoding="utf-8")
    code = (
        "import sys; from turbo_fzn.read.languages import parse_file; "
        f"parse_file({str(model)!r}); print('lark' in sys.modules)"
    )
    cache = tmp_path / "new" / "cache"
    assert [run_python(code, str(cache)) for _ in range(2)] == ["True\n", "False\n"]
    kept = sorted(path.suffix for path in cache.iterdir())
    assert kept == [".json", ".lark"]
    for path in cache.iterdir():
        path.write_bytes(b"\x80 not what it was")
    assert run_python(code, str(cache)) == "True\n"


def test_a_cache_folder_that_cannot_be_written_does_no_harm(tmp_path) -> None:
    (tmp_path / "file").touch()
    code = (
        "from turbo_fzn.read.flatzinc import parse_text; print(parse_text('solve :: f(g(h(1))) satisfy;').goal.method)"
    )
    assert run_python(code, str(tmp_path / "file" / "cache")) == "satisfy\n"


def test_the_flat_terminals_come_out_of_the_grammar() -> None:
    assert set(parse.FLAT_STATEMENTS) | {"FLAT_SPACE"} <= set(grammar.terminals())
    assert grammar.terminals()["NAME"] in grammar.terminals()["FLAT_CONSTRAINT"]
