"""A formula without links, and with them again: the checker accepts each line, and each constraint is there again."""

from __future__ import annotations

from collections.abc import Iterator
from io import StringIO
from random import Random

import pytest

from support.drafts import Draft, draw
from support.quick import few_or
from support.tree_models import random_trees
from turbo_fzn.engine import root
from turbo_fzn.options.options import Options
from turbo_fzn.process.interrupt import Interrupt
from turbo_fzn.proof.checker import Checker, Refused
from turbo_fzn.proof.constraints import Constraint
from turbo_fzn.proof.encoding import Encoding
from turbo_fzn.proof.hints import NotJustified
from turbo_fzn.proof.steps import Steps
from turbo_fzn.proof.unlinked import Unlinked
from turbo_fzn.proof.writer import write_model
from turbo_fzn.read.flatzinc import parse_text
from turbo_fzn.run.prepare import prepare
from turbo_fzn.tnf.fuse import fuse_whole
from turbo_fzn.tnf.language import ADD, LEQ, MUL, TNF

MODELS = few_or(60, 400)


class Trial:
    """The formula of a TNF in a checker, and what writes its steps there."""

    def __init__(self, tnf: TNF):
        self.encoding, self.checker = Encoding(tnf), Checker()
        model = StringIO()
        write_model(self.encoding, model)
        self.checker.read_formula(model.getvalue().splitlines())
        self.steps = Steps(self.encoding, self.take)
        self.unlinked = Unlinked(self.steps, fuse_whole(tnf))
        self.formula = dict(self.checker.constraints)

    def take(self, text: str) -> None:
        for line in text.splitlines():
            self.checker.rule(line.split())

    @property
    def links(self) -> set[int]:
        """The checker's variables that are bits of links."""
        encoding, known = self.encoding, self.checker.literals
        names = (encoding.name_of(bit) for link in self.unlinked.links for bit in encoding.bits[link])
        return {known[name] >> 1 for name in names if name in known}

    def names_link(self, one: Constraint) -> bool:
        return any(literal >> 1 in self.links for literal in one.literals)

    def remove(self) -> list[int]:
        """Removes the links. Returns the deleted constraints of the formula."""
        self.unlinked.remove_links()
        links = self.links
        for number, one in self.checker.constraints.items():
            assert not any(literal >> 1 in links for literal in one.literals), number
        return [int(number) for number in self.formula if number not in self.checker.constraints]

    def check(self) -> int:
        """Removes the links and defines them again. Returns how many constraints had been deleted."""
        gone = self.remove()
        assert gone == [int(n) for n, one in self.formula.items() if self.names_link(one)]
        self.unlinked.restore_links()
        assert self.steps.count == self.checker.count
        numbers = self.unlinked.numbers
        assert numbers.keys() == set(gone)
        for number in gone:
            old, new = self.formula[str(number)], self.checker.constraints[str(numbers[number])]
            assert terms(new) == terms(old) and new.degree >= old.degree, number
        return len(gone)


def terms(one: Constraint) -> dict[int, int]:
    return dict(zip(one.literals, one.coefficients))


# ---- random models


@pytest.mark.parametrize("count", MODELS)
def test_each_constraint_with_links_is_derived_again(count):
    """Trees of sums and truths, some of which are in a narrower interval than their terms allow."""
    with_links = 0
    for number in range(count):
        tnf = random_trees(Random(f"unlinked/{number}"))
        with_links += tnf is not None and Trial(tnf).check() > 0
    assert with_links > count / 2, with_links


@pytest.mark.parametrize("count", MODELS)
def test_links_with_bounds_of_their_own_are_defined_again(count):
    """Bounds that the rows do not give are no links' bounds."""
    with_links = 0
    for number in range(count):
        tnf = draw(Random(f"bounds/{number}"))[0]
        with_links += not tnf.infeasible and Trial(tnf).check() > 0
    assert with_links > count / 3, with_links


class _Sums:
    """FlatZinc with long sums over a few variables, which are often below what their terms could give, and with
    conjunctions and disjunctions of truths."""

    def __init__(self, random: Random):
        self.random = random
        lows = [random.choice((0, 0, -2, 1)) for _ in range(random.randint(5, 9))]
        self.names = [f"x{i}" for i in range(len(lows))]
        self.lines = [f"var {low}..{low + random.choice((1, 3, 4))}: {x};" for low, x in zip(lows, self.names)]
        self.truths = [f"b{i}" for i in range(4)]
        self.lines += [f"var bool: {b};" for b in self.truths]
        self.lines += self.long_sums()
        for op in random.choices(("and", "or"), k=2):
            some, head = random.choices(self.truths, k=random.randint(3, 6)), random.choice(("true", *self.truths))
            self.lines.append(f"constraint array_bool_{op}([{','.join(some)}],{head});")

    def long_sums(self) -> Iterator[str]:
        random = self.random
        point = {x: random.choice((0, 1)) for x in self.names}
        for _ in range(random.randint(1, 4)):
            some = random.choices(self.names, k=random.randint(3, 9))
            factors = [random.choice((1, 1, 1, 2, 5, 13, -1, -4)) for _ in some]
            value = sum(a * point[x] for a, x in zip(factors, some)) + random.choice((0, 0, 1, 5))
            kind = random.choice(("le", "le", "eq", "le_reif", "eq_reif"))
            truth = f",{random.choice(self.truths)}" if kind.endswith("reif") else ""
            yield f"constraint int_lin_{kind}({factors},[{','.join(some)}],{value}{truth});"

    def text(self) -> str:
        return "\n".join([*self.lines, "solve satisfy;\n"])


@pytest.mark.parametrize("count", MODELS)
def test_long_sums_of_a_model_are_sums_again(count):
    """Sums as the search gets them: simplified, at the root fixpoint."""
    with_links = bounded = 0
    for number in range(count):
        tnf = prepare(parse_text(_Sums(Random(f"sums/{number}")).text()), Options(), Interrupt()).tnf
        if tnf.infeasible:
            continue
        trial = Trial(tnf)
        with_links += trial.check() > 0
        bounded += any(link in trial.encoding.domains for link in trial.unlinked.links)
    assert with_links > count / 3 and bounded > count / 6, (with_links, bounded)


# ---- single models


def tree(draft: Draft) -> TNF:
    tnf = draft.tnf()
    bounds = root.propagate(tnf)
    assert bounds is not None
    tnf.lower, tnf.upper = bounds
    return tnf


def test_a_sum_with_a_constant_has_bounds_of_its_own():
    """The bounds of the operand were taken for these, and the other way round, as both have the same terms."""
    for constant in (5, -5):
        draft = Draft(Random(0))
        total = draft.row(ADD, draft.variable(0, 9), draft.variable(0, 3), draft.variable(0, 6))
        draft.row(ADD, draft.variable(constant, constant + 8), total, draft.variable(constant, constant))
        assert Trial(tree(draft)).check() > 0


@pytest.mark.parametrize("factor", (-1, -2, 3))
def test_a_multiple_of_a_sum_has_bounds_of_its_own(factor):
    draft = Draft(Random(0))
    total = draft.row(ADD, draft.variable(0, 9), draft.variable(0, 3), draft.variable(0, 6))
    ends = sorted((2 * factor, 8 * factor))
    draft.row(MUL, draft.variable(*ends), total, draft.variable(factor, factor))
    assert Trial(tree(draft)).check() > 0


@pytest.mark.parametrize(("least", "most"), [(3, 3), (7, 7), (1, 8)])
def test_a_comparison_that_says_no_more_than_the_bound_of_its_sum_gives_that_bound(least, most):
    """No constraint of the formula says it where the bits of the sum do, but the whole row does."""
    for way in (1, -1):
        draft = Draft(Random(0))
        total = draft.row(ADD, draft.variable(0, 9), draft.variable(0, 3), draft.variable(0, 6))
        sides = [total, draft.variable(most, most)] if way > 0 else [draft.variable(least, least), total]
        draft.row(LEQ, draft.variable(1, 1), *sides)
        trial = Trial(tree(draft))
        assert trial.unlinked.links == {total} and trial.check() > 0


def test_bounds_that_do_not_follow_from_the_rows_are_an_exception():
    """A link that only its own bounds hold, which nobody should fuse: nothing false is written."""
    draft = Draft(Random(0))
    total = draft.row(ADD, draft.variable(0, 9), draft.variable(0, 3), draft.variable(0, 6))
    draft.row(ADD, draft.variable(0, 14), total, draft.variable(0, 5))
    trial = Trial(tree(draft))
    assert trial.unlinked.links
    trial.encoding.upper[total] -= 1
    trial.encoding.first[2 * total + 1] += 1
    trial.remove()
    with pytest.raises(NotJustified, match="bounds of sums"):
        trial.unlinked.restore_links()


def test_a_wrong_bound_of_a_sum_is_refused():
    """A definition needs it: what is left of the sum would not fit the bits."""
    draft = Draft(Random(0))
    total = draft.row(ADD, draft.variable(0, 9), draft.variable(0, 3), draft.variable(0, 6))
    draft.row(ADD, draft.variable(0, 14), total, draft.variable(0, 5))
    trial = Trial(tree(draft))
    trial.remove()
    trial.encoding.lower[total] += 1
    trial.encoding.first[2 * total] += 1
    with pytest.raises((NotJustified, Refused)):
        trial.unlinked.restore_links()
