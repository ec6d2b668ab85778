"""Models for free search, and the names of its methods."""

from __future__ import annotations

import itertools
import operator
from functools import cache

import numpy as np

from support.command import wait_until
from support.engines import OpenEngine
from support.market_split import market_split_model
from turbo_fzn.engine.contract import Found
from turbo_fzn.engine.cpu import CpuEngine
from turbo_fzn.engine.layout.layout import Settings
from turbo_fzn.options.options import Options
from turbo_fzn.process.interrupt import Interrupt
from turbo_fzn.read.flatzinc import parse_text
from turbo_fzn.run.prepare import prepare

NEIGHBOURHOODS = ("random", "window", "graph", "objective")
RESTARTS = ("weighted", "annotated", "probe")

# A knapsack with a choice in each of its four places; the root bound of the objective is far from the optimum.
KNAPSACK = """
array [1..4] of int: weights = [7, 5, 9, 4];
array [1..4] of int: values = [-11, -7, -15, -5];
var 0..6: a :: output_var;
var 0..6: b :: output_var;
var 0..6: c :: output_var;
var 0..6: d :: output_var;
var 0..400: gain :: output_var;
constraint int_lin_le(weights, [a, b, c, d], 41);
constraint int_lin_eq([-11, -7, -15, -5, 1], [a, b, c, d, gain], 0);
solve :: int_search([a, b, c, d], first_fail, indomain_min, complete) maximize gain;
"""
BEST_GAIN = max(
    sum(map(operator.mul, (11, 7, 15, 5), counts))
    for counts in itertools.product(range(7), repeat=4)
    if sum(map(operator.mul, (7, 5, 9, 4), counts)) <= 41
)


def search_for_ever(settings: Settings, enough) -> CpuEngine:
    """Searches a model without end until `enough(engine)`, which must come."""
    prepared = prepare(parse_text(market_split_model()), Options(arch="cpu"), Interrupt())
    engine = CpuEngine(prepared.tnf, np.empty(0, np.int32), settings)
    engine.start()
    wait_until(lambda: engine.poll() is not None and enough(engine))
    engine.close()
    return engine


def tasks(engine: OpenEngine) -> int:
    return int(engine.books[:, 0].sum())


@cache
def first_solution(text: str) -> Found:
    engine = OpenEngine(text, blocks=1, ring_slots=1)
    engine.start()
    return engine.search_until(lambda: engine.common.consumed)[0]
