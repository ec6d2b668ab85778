"""Fused rows in proofs: what they explain follows from the rows that they replace, the checker accepts it, and it
refuses what is false, by enumeration."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from io import StringIO
from random import Random

import numpy as np
import pytest

from support.drafts import Draft, draw, solutions
from support.proofs import accepts
from support.quick import few_or
from turbo_fzn.proof.derived import Derived
from turbo_fzn.proof.encoding import Alternative, Assumed, Encoding, Split
from turbo_fzn.proof.refutation import Step, refute
from turbo_fzn.proof.writer import write_model
from turbo_fzn.tnf.fuse import fuse_for_log
from turbo_fzn.tnf.language import ADD, LEQ, TNF
from turbo_fzn.tnf.linear_rows import LinearKind
from turbo_fzn.tnf.tuning import TUNING

BOXES = 40  # for each fused row
MODELS = few_or(150, 1500)
Bounds = dict[int, int]


@pytest.fixture(autouse=True, scope="module")
def links_of_few_values() -> Iterator[None]:
    """The models drawn have only links of few values, so these leave, too."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TUNING, "joint_values", 0)
        yield


@dataclass
class Model:
    """A random model, the text of its encoding, and its solutions."""

    tnf: TNF
    encoding: Encoding
    rows: Derived
    text: list[str]
    points: np.ndarray

    def has_solution(self, assumed: tuple[Assumed, ...]) -> bool:
        """Whether a solution has all of these bounds."""
        within = np.ones(len(self.points), bool)
        for side, k in assumed:
            within &= (1 - 2 * (side & 1)) * self.points[:, side >> 1] >= k
        return bool(within.any())

    def accepts(self, step: Step, claim: tuple[Assumed, ...]) -> bool:
        return accepts(self.rows, self.text, [step], claim)


def models(count: int) -> Iterator[tuple[Model, Random]]:
    for number in range(count):
        random = Random(f"derived/{number}")
        tnf, kept = draw(random)
        if tnf.infeasible:
            continue
        yield modelled(tnf, kept), random


def modelled(tnf: TNF, kept: np.ndarray) -> Model:
    encoding, text = Encoding(tnf), StringIO()
    rows = Derived(encoding, fuse_for_log(tnf, kept))
    write_model(encoding, text)
    points = np.array(sorted(solutions(tnf)), np.int64).reshape(-1, tnf.n_vars)
    return Model(tnf, encoding, rows, text.getvalue().splitlines(), points)


def boxes(model: Model, row: int, random: Random) -> Iterator[Bounds]:
    """Random bounds of the row's variables."""
    for _ in range(BOXES):
        bounds = {}
        for v in model.rows.variables(row):
            ends = int(model.tnf.lower[v]), int(model.tnf.upper[v])
            low, high = sorted(random.choices(range(ends[0], ends[1] + 1), k=2))
            bounds |= {2 * v: low, 2 * v + 1: -high}
        yield bounds


def explained(model: Model, random: Random) -> Iterator[tuple[int, Bounds, Step]]:
    """(fused row, bounds, the step that refutes them) of all linear rows."""
    for i in range(model.rows.fused.linears.n_rows):
        for bounds in boxes(model, model.tnf.n_rows + i, random):
            step = refute(model.encoding, model.rows.splits(model.tnf.n_rows + i), bounds)
            if step is not None:
                yield i, bounds, step
            else:
                assert not is_refuted(model, i, bounds), (i, bounds)


def is_refuted(model: Model, i: int, bounds: Bounds) -> bool:
    """Whether the sums that the bounds of its terms allow contradict the row and its truth."""
    linears = model.rows.fused.linears
    span = slice(linears.starts[i], linears.starts[i + 1])
    terms = list(zip(linears.variables[span].tolist(), linears.coefficients[span].tolist()))
    least = sum(abs(a) * bounds[2 * v + (a < 0)] for v, a in terms)
    most = -sum(abs(a) * bounds[2 * v + (a > 0)] for v, a in terms)
    low, high, truth = int(linears.low[i]), int(linears.high[i]), int(linears.truth[i])
    if truth < 0:
        return least > high or most < low
    holds, fails = bounds[2 * truth] == 1, bounds[2 * truth + 1] == 0
    if linears.kind[i] == LinearKind.AT_MOST:
        return (holds and least > high) or (fails and most <= high)
    return (holds and not least <= high <= most) or (fails and least == most == high)


@pytest.mark.parametrize("count", MODELS)
def test_the_checker_accepts_each_explanation_of_a_fused_row(count):
    """And what a learner concludes from the bounds of its terms is explained."""
    kinds = Counter[int]()
    for model, random in models(count):
        for i, bounds, step in explained(model, random):
            assert all(bounds[side] == k for side, k in step.assumed)
            assert not model.has_solution(step.assumed)
            assert model.accepts(step, step.assumed)
            kinds[int(model.rows.fused.linears.kind[i])] += 1
    assert min(kinds[kind] for kind in (LinearKind.RANGE, LinearKind.AT_MOST, LinearKind.EQUAL)) > count / 20, kinds


@pytest.mark.parametrize("count", MODELS)
def test_the_checker_accepts_each_clause_that_replaces_rows(count):
    """Each is one step; and it accepts none of them without a literal, where that is false."""
    accepted = refused = 0
    for model, _ in models(count):
        for name in range(-model.rows.fused.clauses.n_clauses, 0):
            step = model.rows.clause_step(name)
            assert step.assumed == tuple(sorted((side ^ 1, 1 - k) for side, k in model.rows.clause(name)))
            assert model.accepts(step, step.assumed)
            accepted += 1
            for place in range(len(step.assumed)):
                claim = step.assumed[:place] + step.assumed[place + 1 :]
                if model.has_solution(claim):
                    assert not model.accepts(step, claim)
                    refused += 1
    assert accepted > count / 2 and refused > count / 2, (accepted, refused)


def falsified(model: Model, bounds: Bounds, step: Step, random: Random) -> Iterator[tuple[str, Step, tuple]]:
    """Explanations with a wrong coefficient, with a literal less or negated, and with another bound."""
    one, place = step.inequality, random.randrange(len(step.assumed))
    side, k = step.assumed[place]
    rest = step.assumed[:place] + step.assumed[place + 1 :]
    yield "literal", step, rest
    yield "literal", step, (*rest, (side ^ 1, 1 - k))
    yield "bound", step, (*rest, (side, k - 1))
    if one is not None:
        at = random.randrange(len(one.terms))
        v, a = one.terms[at]
        terms = (*one.terms[:at], (v, random.choice([a + d for d in (-2, -1, 1, 2) if a + d])), *one.terms[at + 1 :])
        wrong = refute(model.encoding, [Split((Alternative((), (one._replace(terms=terms),)),))], bounds)
        if wrong is not None:
            yield "coefficient", wrong, wrong.assumed


@pytest.mark.parametrize("count", MODELS)
def test_the_checker_accepts_no_false_explanation_of_a_fused_row(count):
    refused = Counter[str]()
    for model, random in models(count):
        for _, bounds, step in explained(model, random):
            if not step.assumed:
                continue
            for kind, wrong, claim in falsified(model, bounds, step, random):
                if model.has_solution(claim):
                    assert not model.accepts(wrong, claim), (kind, claim)
                    refused[kind] += 1
    assert min(refused[kind] for kind in ("literal", "bound", "coefficient")) > count / 20, refused


@pytest.mark.parametrize("count", MODELS)
def test_a_derivation_with_a_wrong_number_does_not_explain_what_it_should(count):
    """Not always: the sum of other inequalities may say as much."""
    tried = refused = 0
    for model, random in models(count):
        for _, _, step in explained(model, random):
            if step.inequality is None or step.inequality.number > 0:
                continue
            words = model.rows.words[-step.inequality.number]
            numbers = [place for place, word in enumerate(words) if word.isdigit()]
            place = random.choice(numbers)
            right, words[place] = words[place], str(int(words[place]) + random.choice((1, 2)))
            tried += 1
            refused += not model.accepts(step, step.assumed)
            words[place] = right
    assert tried > count and refused > 0.7 * tried, (tried, refused)


def test_links_that_are_truths_stay_where_a_learner_logs():
    """Whether two of them are equal is encoded as their sum, which is no sum of the fused row."""
    for number in range(100):
        tnf, kept = draw(Random(f"derived/{number}"))
        if not tnf.infeasible:
            links = fuse_for_log(tnf, kept).linears.links
            assert not np.any(links & (tnf.lower >= 0) & (tnf.upper <= 1))


def test_a_step_of_a_row_that_is_not_fused_is_that_of_the_encoding():
    for model, random in models(20):
        for row in range(model.tnf.n_rows):
            for bounds in boxes(model, row, random):
                step = refute(model.encoding, model.encoding.rows[row], bounds)
                same = refute(model.encoding, model.rows.splits(row), bounds)
                assert (step is None) == (same is None)
                assert step is None or (step.assumed, step.inequality) == (same.assumed, same.inequality)


def test_an_inequality_that_always_holds_by_the_bound_of_a_link_is_not_lost():
    """The row y <= 3 says nothing more of a link y in 0..3, but something of its operands."""
    draft = Draft(Random(0))
    y = draft.row(ADD, draft.variable(0, 3), draft.variable(0, 3), draft.variable(0, 3))
    draft.row(LEQ, draft.variable(1, 1), y, draft.variable(3, 3))
    model = modelled(draft.tnf(), np.zeros(5, bool))
    assert model.encoding.rows[1][0].alternatives[0].inequalities[0].number == 0
    assert model.rows.fused.links[y] and model.rows.fused.linears.n_rows == 1
    bounds = {2: 2, 3: -3, 4: 2, 5: -3, 6: 1, 7: -1}
    step = refute(model.encoding, model.rows.splits(2), bounds)
    assert step.assumed == ((2, 2), (4, 2)) and model.accepts(step, step.assumed)
    assert not model.accepts(step, ((2, 2), (4, 1)))
