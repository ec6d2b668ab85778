"""Proofs that a box has no better solution, from the ray of a linear program that the solver reports as infeasible.

A Farkas ray has any length, and rounding errors in each entry. Divided by its largest entry it loses the small
multipliers of rows with large coefficients, such as the equation of an objective of millions. So it is tried in several
forms; certificate.py proves or refuses each of them in integers:

- where the objective's end takes part, divided so that the objective has the factor 1: the duals of a bound, which the
  end contradicts. The objective's multiplier is then exact, and the bound holds in the box, whatever its end was.
- divided by a power of two, which keeps every fraction of such a denominator, then in finer units;
- as fractions of small denominators, which rows of small coefficients lead to.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from turbo_fzn.bounds.cuts.cutter import as_fractions
from turbo_fzn.bounds.prove.certificate import Certificate, Certifier
from turbo_fzn.bounds.prove.tuning import TUNING


def refute(certifier: Certifier, ray: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> Certificate | None:
    """A certificate that the box has no solution, from the ray (float [m]) or its negation; None where no form of it
    proves that."""
    scaled = within_one(ray)
    for multipliers, objective, fine in () if scaled is None else _forms(certifier, scaled):
        certificate = certifier.certify(multipliers, lower, upper, objective, fine)
        if certificate.refutes or (objective and _is_beyond(certifier, certificate, lower, upper)):
            return certificate
    return None


def within_one(ray: np.ndarray) -> np.ndarray | None:
    """The ray divided by a power of two, so that its largest entry is at most 1; None for a ray without direction."""
    largest = float(np.abs(ray).max(initial=0.0))
    return np.ldexp(ray, -np.frexp(largest)[1]) if 0 < largest < np.inf else None


def _forms(certifier: Certifier, scaled: np.ndarray) -> Iterator[tuple[np.ndarray, int, bool]]:
    """(multipliers, factor of the objective, whether to round as little as possible) of each form of the ray,
    which is within one."""
    relaxation = certifier.relaxation
    share = certifier.total(scaled, relaxation.objective)
    bound = scaled / (relaxation.sense * share) if abs(share) > TUNING.objective_part else None
    if bound is not None:
        yield bound, 1, False
    for direction in (scaled, -scaled):
        yield direction, 0, False
    if bound is not None:
        yield bound, 1, True
    for direction in (scaled, -scaled):
        yield direction, 0, True
    fractions = as_fractions(scaled)
    if fractions is not None:
        whole = np.zeros(len(scaled))
        whole[list(fractions[1])] = list(fractions[1].values())
        yield whole, 0, False
        yield -whole, 0, False


def _is_beyond(certifier: Certifier, certificate: Certificate, lower: np.ndarray, upper: np.ndarray) -> bool:
    """Whether the bound is beyond the objective's end in the box."""
    relaxation = certifier.relaxation
    end = int(upper[relaxation.objective]) if relaxation.sense > 0 else -int(lower[relaxation.objective])
    return certificate.bound is not None and certificate.bound > end
