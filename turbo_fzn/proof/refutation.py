"""Why a row has no solution within some bounds: linear inequalities, case by case.

An explanation of a learner means that a row and a few bounds imply another bound; that is, that the row has no solution
where these bounds hold and the other bound does not. `refute` finds for each case of the row an inequality that the
bounds contradict. From it and the definitions of the order literals a cutting planes step derives a clause, the
negation of the bounds; where there are several cases, unit propagation puts their clauses together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from turbo_fzn.proof.encoding import Alternative, Assumed, Encoding, Inequality, Split
from turbo_fzn.proof.tuning import TUNING

Bounds = dict[int, int]  # side -> its value


@dataclass(frozen=True, eq=False, slots=True)
class Step:
    """How a clause follows: from an inequality and bounds that contradict it, or from other steps and a constraint of
    the file (0: none), by unit propagation. `assumed` are the bounds that cannot hold together, and `chosen` further
    literals that cannot be true then. One that `lasts` is derived once in a proof, where it is a part of others."""

    assumed: tuple[Assumed, ...]
    chosen: tuple[int, ...]
    inequality: Inequality | None
    parts: tuple[Step, ...]
    closing: int
    lasts: bool = False


def whole(one: Inequality) -> Step:
    """The step that is an inequality as it stands, from which propagation alone goes on."""
    return Step((), (), one._replace(terms=(), least=1), (), 0)


def refute(encoding: Encoding, row: Iterable[Split], bounds: Bounds) -> Step | None:
    """A step that refutes the bounds (for each side of the row's variables) by the cases of a row, or None."""
    for split in row:
        step = _refute_split(encoding, split, bounds)
        if step is not None:
            return step
    return None


def _refute_split(encoding: Encoding, split: Split, bounds: Bounds) -> Step | None:
    parts = []
    for one in split.alternatives:
        if any(bounds.get(side ^ 1, -k) > -k for side, k in one.guard):
            continue  # the guard is false within the bounds
        found = _refute_case(encoding, one, bounds)
        if found is None:
            return None
        parts.append(found)
    if len(parts) == 1 and _is_plain(parts[0], bounds):
        return parts[0]
    return _together(encoding, split, parts, bounds)


def _refute_case(encoding: Encoding, one: Alternative, bounds: Bounds) -> Step | None:
    within = bounds
    if one.guard:
        within = dict(bounds)
        for side, k in one.guard:
            within[side] = max(within.get(side, k), k)
    if one.inner is not None:
        return _refute_split(encoding, one.inner, within)
    for inequality in one.inequalities:
        found = contradiction(encoding, inequality, within)
        if found is not None:
            return found
    return _refute_by_rounding(encoding, one.inequalities, within)


def _refute_by_rounding(encoding: Encoding, inequalities: Iterable[Inequality], bounds: Bounds) -> Step | None:
    """A contradiction such as 1 <= 13 x <= 12, where the first inequality gives x >= 1 before the second fails."""
    within, parts = dict(bounds), []
    for _ in range(TUNING.rounds):
        for one in inequalities:
            for variable, coefficient in one.terms:
                part = _round(encoding, one, variable, coefficient, within)
                if part is None:
                    continue
                parts.append(part)
                found = (contradiction(encoding, other, within) for other in inequalities)
                last = next((step for step in found if step is not None), None)
                if last is not None:
                    return _together(encoding, Split(()), [*parts, last], bounds)
    return None


def _round(encoding: Encoding, one: Inequality, variable: int, coefficient: int, within: Bounds) -> Step | None:
    """The step by which the inequality implies a better bound of the variable, which it sets, or None."""
    side, size = 2 * variable + (coefficient < 0), abs(coefficient)
    others = sum(abs(a) * within[2 * v + (a > 0)] for v, a in one.terms if v != variable)
    k = -((-one.least - others) // size)
    if k <= within[side] or not one.number:
        return None
    part = contradiction(encoding, one, {**within, side ^ 1: 1 - k})
    if part is not None:
        within[side] = k
    return part


def _is_plain(step: Step, bounds: Bounds) -> bool:
    """Whether the step assumes the bounds alone."""
    return not step.chosen and all(bounds.get(side) == k for side, k in step.assumed)


def _together(encoding: Encoding, split: Split, parts: list[Step], bounds: Bounds) -> Step:
    """The cases as one step: the assumptions of their clauses beyond the bounds distinguish the cases. A bound is
    assumed too where it excludes a case."""
    assumed = {one for part in parts for one in part.assumed if bounds.get(one[0]) == one[1]}
    for one in split.alternatives:
        for side, k in one.guard:
            against = side ^ 1
            if bounds.get(against, -k) > -k:
                assumed.add((against, bounds[against]))
    kept = tuple(sorted(one for one in assumed if encoding.literal(one) >= 0))
    return Step(kept, (), None, tuple(parts), split.closing)


def contradiction(encoding: Encoding, one: Inequality, within: Bounds) -> Step | None:
    """The step where the bounds contradict the inequality."""
    if not one.number:
        return None
    short = one.least
    for v, a in one.terms:
        short += a * within[2 * v + 1] if a > 0 else -a * within[2 * v]
    if short <= 0:
        return None
    first, assumed = encoding.first, [*one.conditions]
    for v, a in one.terms:
        side = 2 * v + (a > 0)
        k = within[side]
        gap = abs(a) * (k - first[side])
        if gap < short:  # the root bound suffices
            short -= gap
        else:
            assumed.append((side, k))
    kept = tuple(sorted({(side, k) for side, k in assumed if first[side] < k <= -first[side ^ 1]}))
    return Step(kept, one.chosen, one, (), 0)


Number = Callable[[Assumed], tuple[int, int]]


def cutting_planes(encoding: Encoding, one: Inequality, assumed: Iterable[Assumed], define: Number) -> str | None:
    """The `pol` line that derives from an inequality the clause of the bounds that contradict it; None where the
    inequality is that clause. `define` gives the numbers of the two constraints that define an order literal."""
    words, weakened, least = [f"pol {one.number}"], "", one.least
    at = dict(assumed)
    for v, a in one.terms:
        side, size = 2 * v + (a > 0), abs(a)
        k = at.get(side)
        least += size * (encoding.first[side] if k is None else k)
        if k is not None:
            if encoding.upper[v] - encoding.lower[v] > 1:
                words.append(_scaled(define((side, k))[side & 1], size))
        elif side & 1 and v in encoding.domains:
            words.append(_scaled(encoding.domains[v], size))
        else:
            weakened += encoding.weakening(v)
    assert least > 0, "the bounds do not contradict the inequality"
    if len(words) == 1 and not weakened and least == 1:
        return None
    return f"{' '.join(words)}{weakened} s{f' {least} d' if least > 1 else ''}"


def _scaled(number: int, factor: int) -> str:
    return f"{number} {factor} * +" if factor > 1 else f"{number} +"
