"""Inequalities for learners: what is made of a certificate holds at every solution, and nothing else is handed over."""

from __future__ import annotations

from itertools import product
from random import Random

import numpy as np
import pytest

from turbo_fzn.base.domains import INFINITY
from turbo_fzn.bounds.lp.relaxation import LinearRows, Relaxation
from turbo_fzn.bounds.prove import reasons
from turbo_fzn.bounds.prove.certificate import Certificate, Certifier
from turbo_fzn.bounds.prove.reasons import Reason, follows, reason_of
from turbo_fzn.bounds.prove.tuning import TUNING

N_CASES = 800
PLACES = (7, 3, -1, 12, 5)  # the learners' variables of columns
OBJECTIVE = 0


class Case:
    """Random rows over a few columns, a certificate of random duals in a part of the box, and the box's points that
    satisfy the rows (int [k, n])."""

    def __init__(self, random: Random):
        n = random.randint(2, 5)
        self.lower = np.array([random.randint(-4, 2) for _ in range(n)])
        self.upper = self.lower + [random.choice((0, 1, 1, 3)) for _ in range(n)]
        self.places = np.array(PLACES[:n])
        if n > 3 and random.random() < 0.3:
            self.places[3] = self.places[1]  # of two columns that are one variable
            self.lower[3], self.upper[3] = self.lower[1], self.upper[1]
        self.rows = LinearRows.of([self.row(random, n) for _ in range(random.randint(1, 4))])
        within = [range(low, high + 1) for low, high in zip(self.lower.tolist(), self.upper.tolist())]
        self.points = np.array([point for point in product(*within) if self.is_solution(point)]).reshape(-1, n)
        self.certificate = self.certify(random)

    @staticmethod
    def row(random: Random, n: int) -> tuple[dict[int, int], int, int]:
        scale = random.choice((1, 1, 50, 10**6))
        chosen = random.sample(range(n), random.randint(1, n))
        entries = {column: random.randint(-3, 3) * scale or 1 for column in chosen}
        side = random.randint(-6, 9) * scale
        return (entries, *random.choice(((-INFINITY, side), (side, INFINITY), (side, side + scale))))

    def is_solution(self, point: tuple[int, ...]) -> bool:
        agree = len(set(zip(self.places.tolist(), point))) == len(set(self.places.tolist()))
        for entries, low, high in (self.rows.row(number) for number in range(len(self.rows))):
            agree = agree and low <= sum(v * point[c] for c, v in entries.items()) <= high
        return agree

    def certify(self, random: Random) -> Certificate:
        n = len(self.lower)
        nothing = np.full(n, -1)
        relaxation = Relaxation(self.lower, self.upper, self.rows, OBJECTIVE, 1, nothing, {}, None)  # type: ignore
        duals = np.array([random.choice((0.0, 1.0, random.uniform(-2, 2))) for _ in range(len(self.rows))])
        low = self.lower + [random.randint(0, wide) for wide in (self.upper - self.lower).tolist()]  # of a node
        return Certifier(relaxation, self.rows).certify(duals, low, self.upper, random.randint(0, 1))

    def reason(self) -> Reason | None:
        return reason_of(self.certificate.multipliers, self.rows, self.lower, self.upper, self.places)

    def holds(self, reason: Reason) -> bool:
        """At all solutions."""
        columns = {place: column for column, place in enumerate(self.places.tolist())}
        sums = sum((value * self.points[:, columns[place]] for place, value in reason.entries.items()), 0)
        return bool(np.all(sums <= reason.high))


def cases(seed: str) -> list[Case]:
    random = Random(seed)
    return [Case(random) for _ in range(N_CASES)]


@pytest.mark.parametrize(("factor", "terms"), [(2**20, 256), (40, 256), (3, 2)])
def test_a_reason_holds_at_every_solution(monkeypatch, factor, terms):
    monkeypatch.setattr(TUNING, "reason_factor", factor)
    monkeypatch.setattr(TUNING, "reason_terms", terms)
    said = [(case, reason) for case in cases("reasons") if (reason := case.reason()) is not None]
    assert len(said) > N_CASES / 10
    for case, reason in said:
        assert case.holds(reason)
        assert max(map(abs, reason.entries.values())) <= factor and len(reason.entries) <= terms
        assert set(reason.entries) <= set(case.places.tolist()) - {-1}


def test_a_reason_is_as_strong_as_its_certificate():
    """3 a + 2 b + o >= 6 of a, b in 0..1, o in 0..9: where o is at most 3, a is 1."""
    rows = LinearRows.of([({0: 1, 1: 3, 2: 2}, 6, INFINITY)])
    relaxation = Relaxation(np.zeros(3, int), np.array([9, 1, 1]), rows, 0, 1, np.full(3, -1), {}, None)  # type: ignore
    certificate = Certifier(relaxation, rows).certify(np.ones(1), relaxation.lower, relaxation.upper)
    reason = reason_of(certificate.multipliers, rows, relaxation.lower, relaxation.upper, np.array([4, 5, 6]))
    assert reason is not None and reason[:2] == ({4: -1, 5: -3, 6: -2}, -6)


def test_a_damaged_reason_is_refused(monkeypatch):
    """Not every damage makes it false; every one that does is refused."""
    random = Random("damage")
    weaken, n_false = reasons._weakened, 0

    def damaged(entries, high, box):  # type: ignore[no-untyped-def]
        reason = weaken(entries, high, box)
        if reason is None:
            return None
        key = random.choice(list(reason.entries))
        worse = {**reason.entries, key: reason.entries[key] + random.choice((-3, -1, 0, 1, 3))}
        return Reason(worse, reason.high - random.randint(0, 3), random.choice((1, -1, 0, reason.divisor)))

    for case in cases("liar"):
        with monkeypatch.context() as patch:
            patch.setattr(reasons, "_weakened", damaged)
            patch.setattr(reasons, "follows", lambda *of: True)
            believed = case.reason()
            state = random.getstate()
        if believed is not None and not case.holds(believed):
            n_false += 1
            found = reasons.sum_of(case.rows, case.certificate.multipliers)
            assert found is not None
            assert not follows(believed, *reasons._joined(*found, case.lower, case.upper, case.places))
        random.setstate(state)
    assert n_false > N_CASES / 100
    monkeypatch.setattr(reasons, "_weakened", lambda *of: Reason({7: 1, 3: 1}, -100, 1))
    assert all(case.reason() is None for case in cases("liar") if len(case.points))


def test_a_multiplier_of_a_side_that_a_row_lacks_says_nothing():
    rows = LinearRows.of([({0: 1, 1: 1}, -INFINITY, 4)])
    for multiplier in (1, -1):
        assert (reasons.sum_of(rows, np.array([multiplier])) is None) == (multiplier > 0)
