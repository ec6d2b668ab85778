"""Every operator and every builtin at the limits of the representation: exact, or refused, or unknown.

A 32-bit store holds ±(2^30 - 1), a 64-bit one ±(2^62 - 1) and "no bound". The rows here have boxes of bounds around
those limits, each built around a witness, an assignment that satisfies the row: it must survive. Python's integers say
what is right. The same rows run through a library that ends the process at undefined behaviour.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import numpy as np
import pytest

from fuzz.judge import Expected, Way, judge
from support.builds import kernel_cache
from support.builtin_cases import FUNCTIONAL, PREDICATES, calls_of, model_of
from support.command import PATIENCE
from support.lone_rows import propagate_rows
from support.operator_rows import COUNT, LARGEST, landmarks, rows_at_the_limits
from support.oracle import WindowTooSmall
from support.places import ROOT, TESTS
from turbo_fzn.base.domains import INFINITY, IntSet
from turbo_fzn.tnf.language import Op


@pytest.mark.parametrize("bits", [32, 64])
@pytest.mark.parametrize("op", list(Op), ids=lambda op: op.name)
def test_no_witness_at_the_limits_is_lost(engine, op, bits):
    tnf, bounds, witnesses = rows_at_the_limits(op, bits)
    lower, upper, consistent = propagate_rows(engine, tnf)
    after = np.stack([lower, upper], axis=1).reshape(COUNT, 3, 2)
    columns = slice(0, 2) if op == Op.ELEMENT else slice(0, 3)
    outside = (witnesses < after[:, :, 0]) | (witnesses > after[:, :, 1])
    lost = ~consistent | outside[:, columns].any(axis=1)
    assert not lost.any(), (bounds[lost][:3].tolist(), witnesses[lost][:3].tolist(), after[lost][:3].tolist())
    within = (after[:, :, 0] >= bounds[:, :, 0]) & (after[:, :, 1] <= bounds[:, :, 1])
    assert within[:, columns].all()


@pytest.mark.parametrize("bits", [32, 64])
def test_no_root_at_the_limits_is_lost(engine, bits):
    """x = y * y, whose operands are one variable; half of the boxes of x are those of another row."""
    tnf, bounds, witnesses = rows_at_the_limits(Op.MUL, bits, seed=2)
    tnf.z = tnf.y
    marks = np.array([mark for mark in landmarks(bits) if mark**2 <= LARGEST[bits]])
    witnesses[:, 1] = np.random.default_rng(3).choice(marks, COUNT)
    witnesses[:, 0] = witnesses[:, 1] ** 2
    kept = np.arange(COUNT) % 2 == 0
    for place in (0, 1):
        inside = kept if place == 0 else np.ones(COUNT, bool)
        bounds[inside, place, 0] = np.minimum(bounds[inside, place, 0], witnesses[inside, place])
        bounds[inside, place, 1] = np.maximum(bounds[inside, place, 1], witnesses[inside, place])
    tnf.lower, tnf.upper = bounds[:, :, 0].reshape(-1).copy(), bounds[:, :, 1].reshape(-1).copy()
    lower, upper, consistent = propagate_rows(engine, tnf)
    holds = np.all((bounds[:, :2, 0] <= witnesses[:, :2]) & (witnesses[:, :2] <= bounds[:, :2, 1]), axis=1)
    assert kept.sum() < holds.sum() < COUNT
    after = np.stack([lower, upper], axis=1).reshape(COUNT, 3, 2)[:, :2]
    inside = np.all((after[:, :, 0] <= witnesses[:, :2]) & (witnesses[:, :2] <= after[:, :, 1]), axis=1)
    assert np.all(consistent[holds]) and np.all(inside[holds])
    assert not consistent.all()


@pytest.mark.parametrize("bits", [32, 64])
@pytest.mark.parametrize("op", list(Op), ids=lambda op: op.name)
def test_fixed_operands_at_the_limits_are_decided_exactly(engine, op, bits):
    """The witness, and the same with another result: the first holds, the second does not."""
    tnf, _, witnesses = rows_at_the_limits(op, bits, seed=1)
    points = witnesses.copy()
    wrong = np.arange(COUNT) % 2 == 1
    if op in (Op.EQ, Op.LEQ):
        points[wrong, 0] = 1 - points[wrong, 0]
    else:
        points[wrong, 0] += np.where(points[wrong, 0] > 0, -1, 1)
    if op == Op.ELEMENT:
        wrong &= points[:, 0] != tnf.tables[points[:, 1]]
    tnf.lower[:], tnf.upper[:] = points.reshape(-1), points.reshape(-1)
    if tnf.is_narrow() != (bits == 32):
        tnf.tables = np.append(tnf.tables, INFINITY - 1)
    _, _, consistent = propagate_rows(engine, tnf)
    assert np.array_equal(consistent, ~wrong)


# ---- builtins

AT_LIMITS = {
    "coefficients of 2^40": IntSet.of_values([-(2**22) - 1, -1, 0, 1, 2**21 + 3]),
    "32 bits": IntSet.of_values([-(2**30), 1 - 2**30, -1, 0, 1, 2**30 - 1, 2**30]),
    "64 bits": IntSet.of_values([1 - 2**62, -(2**61), -1, 0, 1, 2**61, 2**62 - 1]),
}


def cases_at_limits(predicate: str):
    """The default call over values at the limits, with large coefficients, and with an unbounded result."""
    label, call = next(calls_of(predicate))
    base = predicate.removesuffix("_reif").removesuffix("_imp")
    for name, domain in AT_LIMITS.items():
        if base.startswith("int_pow"):
            continue  # the oracle would compute the powers
        if isinstance(call[0], tuple) and name.startswith("coefficients"):
            coefficients, members = call[0]
            yield name, model_of(predicate, [([c << 40 for c in coefficients], members), *call[1:]], domain)
        else:
            yield name, model_of(predicate, call, domain)
        if base in FUNCTIONAL and base == predicate:
            last = f"x{len(PREDICATES[base].split()) - 1}"
            yield f"{name}, unbounded result", model_of(predicate, call, domain, **{last: None})


@pytest.mark.parametrize("predicate", PREDICATES)
def test_a_builtin_at_the_limits_is_exact_or_makes_no_claim(engine, predicate):
    for name, model in cases_at_limits(predicate):
        try:
            expected = Expected(model)
        except WindowTooSmall:  # a result that no constraint defines
            continue
        for simplify in (True, False):
            verdict = judge(model, Way(arch=engine, simplify=simplify, by_text=True), expected)
            assert not verdict.is_fault, (name, simplify, verdict, model.text)


# ---- undefined behaviour

ARITHMETIC = """
import sys
sys.path.insert(0, sys.argv[1])
from support.lone_rows import propagate_rows
from support.operator_rows import Op, rows_at_the_limits
for op in Op:
    for bits in (32, 64):
        for seed in range(3):
            propagate_rows("cpu", rows_at_the_limits(op, bits, seed)[0])
print("done")
"""


@pytest.mark.slow
def test_the_arithmetic_has_no_undefined_behaviour():
    """By UndefinedBehaviorSanitizer: no signed overflow, no division by zero, no shift too far, no bad conversion."""
    compiler = shutil.which("g++")
    if compiler is None:
        pytest.skip(
            "g++ is not installed (apt-get install g++), and only it is known to take the flags of the sanitizer"
        )
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "CXX": compiler,
        "TURBO_FZN_KERNEL_FLAGS": "-fsanitize=undefined -fno-sanitize-recover=undefined -O0",
        **kernel_cache(),
    }
    command = [sys.executable, "-c", ARITHMETIC, str(TESTS)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=PATIENCE)
    if "cannot find -lubsan" in done.stderr:
        pytest.skip("g++ is here without its library of UndefinedBehaviorSanitizer (libubsan)")
    assert done.returncode == 0 and done.stdout.endswith("done\n"), done.stderr[-2000:]
