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


def test_lark_is_imported_for_unusual_statements_only_and_its_tables_are_kept(tmp_path) -> None:
    code = "import sys; from turbo_fzn.read.flatzinc import parse_text; parse_text({!r}); print('lark' in sys.modules)"
    cache = tmp_path / "new" / "cache"
    assert run_python(code.format(EXAMPLE), str(cache)) == "False\n"
    assert not cache.exists()
    nested = code.format("solve :: f(g(h(1))) satisfy;")
    for _ in range(2):  # the second time what is kept is damaged
        assert run_python(nested, str(cache)) == "True\n"
        (kept,) = cache.iterdir()
        assert kept.suffix == ".lark" and kept.stat().st_size > 10_000
        kept.write_bytes(b"\x80 not what it was")
    assert run_python(nested, str(cache)) == "True\n"


def test_a_cache_folder_that_cannot_be_written_does_no_harm(tmp_path) -> None:
    (tmp_path / "file").touch()
    code = (
        "from turbo_fzn.read.flatzinc import parse_text; print(parse_text('solve :: f(g(h(1))) satisfy;').goal.method)"
    )
    assert run_python(code, str(tmp_path / "file" / "cache")) == "satisfy\n"


def test_the_printed_terminals_are_those_of_the_grammar() -> None:
    assert grammar.TERMINALS.read_bytes() == grammar.printed_terminals()
    composed = {terminal.name: terminal.pattern.to_regexp() for terminal in grammar._lark().terminals}
    assert grammar.terminals() == composed
    assert set(parse.FLAT_STATEMENTS) | {"FLAT_SPACE"} <= set(grammar.terminals())
    assert grammar.terminals()["NAME"] in grammar.terminals()["FLAT_CONSTRAINT"]
