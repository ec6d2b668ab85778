"""An objective with float weights in whole numbers: the weights are taken as the decimal numbers that print them, and
multiplied by a common denominator, so that the optimum is exact."""

from __future__ import annotations

from fractions import Fraction
from math import lcm
from typing import Any

from cpmpy.exceptions import NotSupportedError
from cpmpy.expressions.core import Operator

from turbo_fzn.base.domains import INFINITY


def scaled(objective: Any) -> Operator:
    """A weighted sum with the same optimal solutions as a FloatSum. Raises NotSupportedError for weights of too many
    digits."""
    weights, variables, _ = objective.components(allow_negbool=False)
    exact = [Fraction(repr(float(weight))) for weight in weights]
    factor = lcm(*(weight.denominator for weight in exact))
    whole = [int(weight * factor) for weight in exact]
    reach = sum(abs(weight) * max(map(abs, one.get_bounds())) for weight, one in zip(whole, variables))
    if reach >= INFINITY // 4:  # the objective and its bounds stay within an engine's numbers
        raise NotSupportedError(f"turbo: the weights of {objective} have too many digits")
    return Operator("wsum", [whole, list(variables)])
