"""A TNF as it is written down in a test, and the check that simplification keeps its solutions."""

from __future__ import annotations

import numpy as np

from support import naive
from turbo_fzn.tnf.language import TNF, Output, Strategy, ValueChoice, VarChoice
from turbo_fzn.tnf.simplify import simplify


def make_tnf(domains, rows, tables=(), outputs=(), strategy=(), objective=-1) -> TNF:
    """A TNF from (lower, upper) pairs and (op, x, y, z) rows."""
    columns = [np.array(column, np.int32) for column in (zip(*rows) if rows else ([], [], [], []))]
    lower, upper = (np.array(bounds, np.int64) for bounds in (zip(*domains) if domains else ([], [])))
    return TNF(
        *columns,
        lower,
        upper,
        np.array(tables, np.int64),
        strategies=[Strategy(VarChoice.INPUT_ORDER, ValueChoice.MIN, np.array(strategy, np.int32))] if strategy else [],
        outputs=[Output(f"o{v}", "int", None, np.array([v], np.int32)) for v in outputs],
        objective=objective,
        sense=1 if objective >= 0 else 0,
    )


def check_simplified(tnf: TNF) -> None:
    """The solutions of the small model, rebuilt, are solutions; on what is mentioned they are all there are."""
    tnf.check()
    simplified = simplify(tnf, naive.propagate)
    small, reconstruction = simplified.tnf, simplified.reconstruction
    small.check()
    expected = set(naive.solutions(tnf))
    found = list(naive.solutions(small))
    rebuilt = [tuple(int(v) for v in reconstruction.values(np.array(values, np.int64))) for values in found]
    assert set(rebuilt) <= expected
    mentioned = [int(v) for item in (*tnf.outputs, *tnf.strategies) for v in item.variables]
    mentioned += [tnf.objective] if tnf.objective >= 0 else []
    assert {tuple(s[v] for v in mentioned) for s in rebuilt} == {tuple(s[v] for v in mentioned) for s in expected}
    if not small.infeasible:
        places = [int(v) for item in (*small.outputs, *small.strategies) for v in item.variables]
        places += [small.objective] if small.objective >= 0 else []
        for values, whole in zip(found, rebuilt):
            assert [values[v] for v in places] == [whole[v] for v in mentioned]
