"""Names of models on a page, and the processes that they come from."""

from __future__ import annotations

import ast
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from support.command import (
    PATIENCE,
)
from turbo_fzn.report import origin


@pytest.mark.parametrize(
    ("file", "callers", "name"),
    [
        ("dir/model.fzn", [["minizinc", "other.mzn"]], "model.fzn"),
        ("", [["python"]], "a model without a name"),
        ("-", [["bash"]], "a model without a name"),
        ("/tmp/mznfileAb0.fzn", [["bash"]], "a model without a name"),
        (
            "/tmp/mznfileAb0.fzn",
            [["sh", "wrap"], ["/opt/bin/minizinc.bin", "d.dzn", "-a", "sub/m.mzn"]],
            "m.mzn, d.dzn",
        ),
        ("/tmp/mznfileAb0.json", [["minizinc", "-m", "m.mzn", "-d", "d.json", "-o", "out.json"]], "m.mzn, d.json"),
        ("/tmp/mznfileAb0.fzn", [["minizinc", "/tmp/mzn_fragmentab_3.mzn", "a.dzn"]], "a.dzn"),
    ],
)
def test_a_temporary_file_is_called_as_minizinc_was_asked_for_it(file, callers, name):
    assert origin.origin_of(file, callers).name == name


def test_the_processes_above_are_found():
    script = "from turbo_fzn.report.origin import ancestors; print([*ancestors()])"
    shell = f"{sys.executable} -c {shlex.quote(script)}; true"
    done = subprocess.run(["sh", "-c", shell, "minizinc"], capture_output=True, text=True, timeout=PATIENCE)
    above = ast.literal_eval(done.stdout)
    assert above[0] == ["sh", "-c", shell, "minizinc"]
    assert above[1] == Path("/proc/self/cmdline").read_text().rstrip("\0").split("\0")
