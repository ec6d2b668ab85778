"""What a walk reads (engine/layout/repair.py): definitions in an order in which they can be computed, each variable
defined once, and each row told of each of its variables."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given

from support.random_models import models
from support.small_tnf import make_tnf
from turbo_fzn.engine.layout import repair
from turbo_fzn.engine.layout.arranged import stored
from turbo_fzn.options.options import Options
from turbo_fzn.process.interrupt import Interrupt
from turbo_fzn.read.flatzinc import parse_text
from turbo_fzn.run.arrangement import arranged
from turbo_fzn.run.prepare import prepare
from turbo_fzn.tnf.language import TNF, Op
from turbo_fzn.tnf.linear_rows import LinearKind, Linears

NOTHING = np.zeros(0, np.int32)
# x is a + b, a is x - b: each could define the other. And a chain that hangs on x.
CIRCLE = [(Op.ADD, 0, 1, 2), (Op.ADD, 1, 0, 3), (Op.MUL, 4, 0, 2), (Op.LEQ, 5, 4, 1)]


def inputs_of(tnf: TNF, sums: Linears | None, row: int, defined: int) -> list[int]:
    if row >= tnf.n_rows:
        start, end = sums.starts[row - tnf.n_rows : row - tnf.n_rows + 2]
        return [v for v in sums.variables[start:end].tolist() if v != defined]
    return [int(tnf.y[row])] + ([] if tnf.op[row] == Op.ELEMENT else [int(tnf.z[row])])


def check_order(tnf: TNF, sums: Linears | None, arrays: dict[str, np.ndarray]) -> None:
    definer = arrays["reaches"][:, 3]
    ready = definer < 0
    for place, (row, var, sign, _) in enumerate(arrays["definitions"].tolist()):
        assert ready[inputs_of(tnf, sums, row, var)].all() and not ready[var]
        assert definer[var] == row and arrays["definition_places"][row] == place
        assert tnf.lower[var] < tnf.upper[var]
        is_equation = row >= tnf.n_rows and sums.kind[row - tnf.n_rows] == LinearKind.RANGE
        assert abs(sign) == is_equation
        ready[var] = True
    assert ready.all()
    assert (arrays["definition_places"] >= 0).sum() == len(arrays["definitions"])


def check_readers(tnf: TNF, sums: Linears | None, arrays: dict[str, np.ndarray]) -> None:
    """Each row is read from each of its variables but the one that it defines, with the factor that it has there."""
    places, definitions = arrays["definition_places"], arrays["definitions"]
    wanted = Counter[tuple[int, int, int]]()
    for row in range(tnf.n_rows + (0 if sums is None else sums.n_rows)):
        defined = int(definitions[places[row], 1]) if places[row] >= 0 else -1
        head = int(tnf.x[row] if row < tnf.n_rows else sums.truth[row - tnf.n_rows])
        factors = dict.fromkeys(inputs_of(tnf, sums, row, defined), 0)
        if row >= tnf.n_rows:
            start, end = sums.starts[row - tnf.n_rows : row - tnf.n_rows + 2]
            terms = zip(sums.variables[start:end].tolist(), sums.coefficients[start:end].tolist())
            factors = {var: factor for var, factor in terms if var != defined}
        if head >= 0 and head != defined:
            factors.setdefault(head, 0)
        wanted.update((var, row, factor) for var, factor in factors.items())
    found = Counter[tuple[int, int, int]]()
    for var, (start, rows, end, _) in enumerate(arrays["reaches"].tolist()):
        for i in range(start, end):
            row, factor, place, _ = arrays["readers"][i].tolist()
            assert (factor != 0) == (i < rows) and place == places[row]
            found[var, row, factor] += 1
    assert found == wanted


@given(model=models(["satisfy", "minimize"]))
def test_the_order_and_the_readers_of_a_random_model(model):
    prepared = arranged(prepare(parse_text(model.text), Options(arch="cpu"), Interrupt()))
    whole = prepared.tnf
    if whole.infeasible:
        return
    tnf, sums = stored(whole, whole.arranged), None if whole.arranged is None else whole.arranged.sums
    arrays = repair.pack(tnf, sums, np.arange(0, tnf.n_vars, 2))
    check_order(tnf, sums, arrays)
    check_readers(tnf, sums, arrays)


def test_a_variable_of_a_circle_becomes_free_and_the_rest_of_it_is_defined():
    tnf = make_tnf([(0, 9)] * 5 + [(0, 1)], CIRCLE)
    arrays = repair.pack(tnf, None, NOTHING)
    check_order(tnf, None, arrays)
    check_readers(tnf, None, arrays)
    defined = set(arrays["definitions"][:, 1].tolist())
    assert {4, 5} <= defined and len(defined & {0, 1}) == 1


def test_an_equation_defines_its_largest_term_that_no_search_decides():
    text = """
    var 0..9: a; var 0..50: b; var 0..90: c; var 0..90: d;
    constraint int_lin_eq([1, 1, -1, 2], [a, b, c, d], 20);
    solve :: int_search([c], input_order, indomain_min, complete) satisfy;
    """
    whole = arranged(prepare(parse_text(text), Options(arch="cpu"), Interrupt())).tnf
    tnf, sums = stored(whole, whole.arranged), whole.arranged.sums
    arrays = repair.pack(tnf, sums, whole.strategies[0].variables)
    check_order(tnf, sums, arrays)
    check_readers(tnf, sums, arrays)
    order = repair.in_order(tnf, sums, whole.strategies[0].variables, repair.terms_of(tnf, sums))
    assert tnf.upper[order.variables].tolist() == [50]  # not c, and not d, whose factor is 2


def test_models_that_walks_do_not_understand():
    small = make_tnf([(0, 9)], [])
    assert repair.can_walk(small)
    assert not repair.can_walk(make_tnf([(0, repair.MOST_VALUE + 1)], []))
