"""How kernels negate the operands of minima and maxima: by `minus`, since ptxas may lose a sign (core/port.h).

No test without a GPU sees what ptxas makes; so the sources are read: signs within a call. A number that is negated in a
line of its own, and compared in another, is not seen.
"""

from __future__ import annotations

import re

import pytest

from turbo_fzn.base.resources import kernels_folder

OPERANDS = re.compile(r"\b(?:raise|reduce|minimum|maximum)\(([^;]*)")
SIGN = re.compile(r"(?:[(,?:]|\(\w+_t\)|\(i\d+\))\s*-\s*(?:(?=[a-z(])|1 \*)")
NOT_ON_A_GPU = ("floats", "learn")  # intervals of reals are 128 bits wide, and no block of a GPU learns


def negated_by_a_sign(text: str) -> list[str]:
    return [found[0] for found in OPERANDS.finditer(text) if SIGN.search("(" + found[1])]


def sources() -> list[str]:
    folder = kernels_folder()
    every = (path.relative_to(folder) for pattern in ("*.h", "*.cu") for path in folder.rglob(pattern))
    return sorted(str(path) for path in every if path.parts[0] not in NOT_ON_A_GPU)


@pytest.mark.parametrize("name", sources())
def test_no_operand_of_a_minimum_is_negated_by_a_sign(name):
    assert negated_by_a_sign((kernels_folder() / name).read_text()) == []


@pytest.mark.parametrize(
    ("line", "is_seen"),
    [
        ("raise(x, maximum(-most, minimum(y.l, (value_t)0)));", True),
        ("raise(y, y.l + (below > 0 ? d - below : -below));", True),
        ("reduce(y, -(value_t)k);", True),
        ("reduce(y, (value_t)-k);", True),
        ("raise(y, - root);", True),
        ("raise(y, -1 * root);", True),
        ("raise(y, minus(most));", False),
        ("reduce(x, y.u - 1);", False),
        ("if (y.l > -root) raise(y, root);", False),
        ("v = minimum(a, -1);", False),
    ],
)
def test_a_sign_before_an_operand_would_be_seen(line, is_seen):
    assert bool(negated_by_a_sign(line)) == is_seen


def test_a_negation_is_made_of_what_ptxas_knows_for_no_negation():
    core = {name: (kernels_folder() / "core" / name).read_text() for name in ("port.h", "interval.h")}
    on_a_gpu, on_a_cpu = core["port.h"].split("#else\n\n#include <sched.h>")
    assert "not.b32 t, %1; add.s32 %0, t, 1;" in on_a_gpu and "DEVICE i32 negative(i32 v) { return -v; }" in on_a_cpu
    assert "#else\n  return negative(a);\n#endif" in core["interval.h"]
    assert "Interval result = {minus(v.u), minus(v.l)};" in core["interval.h"]
