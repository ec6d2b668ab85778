"""Learners that seek cores of an objective's terms (learn/analysis/cores.h): bounds, optima, and what is left to pay.

The oracle is plain enumeration. The build of TURBO_FZN_KERNEL_FLAGS=-DCHECK_EXPLANATIONS checks each explanation by a
counter, and each clause over counters.
"""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from support.engines import OpenEngine
from support.lone_rows import cpu_rows
from support.oracle import all_solutions, optimum
from turbo_fzn import solve_text
from turbo_fzn.base.errors import TurboError
from turbo_fzn.engine.abi.abi import EXCHANGE_LITERALS, EXCHANGE_SLOTS
from turbo_fzn.engine.layout.layout import Layout
from turbo_fzn.read.flatzinc import parse_text

MODELS = 60
ROLES = ("cores", "soloist")


def weighted(random: Random) -> str:
    """A model whose objective is a weighted sum of integers and truths, of which some sums must cost something."""
    n = random.randint(4, 6)
    ends = [(low, low + random.choice((1, 1, 2, 4))) for low in random.choices(range(-2, 3), k=n)]
    lines = [f"var {low}..{high}: x{i} :: output_var;" for i, (low, high) in enumerate(ends)]
    weights = [random.choice((-7, -3, -1, 1, 1, 2, 5, 100)) for _ in range(n)]
    sense = random.choice((1, -1))
    for _ in range(random.randint(2, 5)):
        some = random.sample(range(n), random.randint(2, 4))
        names = ",".join(f"x{i}" for i in some)
        if random.random() < 0.2:
            lines.append(f"constraint turbo_all_different([{names}]);")
            continue
        factors = [random.choice((1, 1, 2)) * (1 if sense * weights[i] > 0 else -1) for i in some]
        least = sum(min(factor * end for end in ends[i]) for factor, i in zip(factors, some))
        most = sum(max(factor * end for end in ends[i]) for factor, i in zip(factors, some))
        bound = random.randint(least + 1, max(least + 1, (least + most) // 2))
        lines.append(f"constraint int_lin_le({[-factor for factor in factors]},[{names}],{-bound});")
    lines.append("var int: total :: output_var;")
    names = ",".join([*(f"x{i}" for i in range(n)), "total"])
    lines.append(f"constraint int_lin_eq({[*weights, -1]},[{names}],{random.randint(-9, 9)});")
    return "\n".join([*lines, f"solve {'minimize' if sense > 0 else 'maximize'} total;"])


def best_of(text: str) -> int | None:
    model = parse_text(text)
    return optimum(model, all_solutions(model))


def check(number: int, role: str, team: str = "") -> tuple[int, bool]:
    """The number of cores, and whether there is a solution."""
    text = weighted(Random(f"cores/{number}"))
    best = best_of(text)
    result = solve_text(text, arch="cpu", learn=role + team, blocks=1 + team.count(","), relaxation="off", check=True)
    assert result.status == ("UNSATISFIABLE" if best is None else "OPTIMAL_SOLUTION"), text
    assert result.objective == best, text
    assert result.statistics.get("explanationErrors", 0) == result.statistics.get("fixpointErrors", 0) == 0, text
    return result.statistics.get("cores", 0), best is not None


@pytest.mark.parametrize("role", ROLES)
def test_a_learner_that_seeks_cores_finds_the_optimum(role):
    outcomes = [check(number, role) for number in range(MODELS)]
    assert sum(solvable for _, solvable in outcomes) > MODELS / 2
    assert role != "cores" or sum(cores > 0 for cores, _ in outcomes) > MODELS / 8


def test_beside_others_the_optimum_is_the_same():
    for number in range(MODELS // 2):
        check(number, "cores", ",prover,cores")


def told_sides(engine: OpenEngine) -> list[int]:
    """The sides that the clauses name which learners have put into their rings (kernels/learn/exchange/exchange.h)."""
    slot = np.dtype([("sequence", "i8"), ("size", "i4"), ("lbd", "i4"), ("literals", "i4", (EXCHANGE_LITERALS, 2))])
    ring = np.dtype([("head", "i8"), ("slots", slot, EXCHANGE_SLOTS)], align=False)
    rings = engine.memory["exchange"].view(np.uint8).reshape(engine.layout.settings.blocks, -1)
    sides = []
    for one in rings:
        slots = one[: ring.itemsize].view(ring)[0]["slots"]
        for told in slots[slots["sequence"] > 0]:
            sides += told["literals"][: told["size"], 1].tolist()
    return sides


def test_no_clause_over_counters_is_told():
    random, names = Random(3), [f"x{i}" for i in range(40)]
    lines = [*(f"var 0..1: {name} :: output_var;" for name in names), "var int: total :: output_var;"]
    lines += [f"constraint int_lin_le([-1,-1,-1],[{','.join(random.sample(names, 3))}],-1);" for _ in range(90)]
    lines.append(f"constraint int_lin_eq([{'1,' * 40}-1],[{','.join(names)},total],0);")
    engine = OpenEngine(
        "\n".join([*lines, "solve minimize total;"]), blocks=2, roles=("cores", "prover"), learn_bytes=2**24
    )
    engine.run()
    sides = told_sides(engine)
    assert engine.statistics()["cores"] > 5 and engine.statistics()["told"] > 20
    assert sides and max(sides) < 2 * engine.layout.tnf.n_vars


# x and y push each other in steps of one, so that the search goes on before the fixpoint of level 0, with a decision
# that is no supposition.
CREEPING = """
{bits}
var 0..1000000: x; var 0..1000000: y; var 0..{most}: m; var 0..1: h; var bool: full; var 0..1: is_full;
var 0..12: total :: output_var;
constraint int_lin_le([1,1,1],[b0,b1,h],2);
constraint int_lin_le([1,1,-1],[b0,b1,h],1);
constraint bool2int(full,is_full);
constraint int_le_reif(total,11,full);
constraint int_lin_le([1,-1,2000000],[y,x,is_full],1999999);
constraint int_min(x,{most},m);
constraint int_le(m,y);
constraint int_lin_eq([{ones}-1],[{names},total],0);
solve maximize total;
"""


@pytest.mark.parametrize("most", [28000, 42000, 125000, 200000])
@pytest.mark.parametrize("team", ["cores", "cores,cores"])
def test_where_bounds_creep_no_core_is_paid_twice(most, team):
    bits = [f"b{i}" for i in range(12)]
    text = CREEPING.format(
        bits="\n".join(f"var 0..1: {bit} :: output_var;" for bit in bits),
        names=",".join(bits),
        ones="1," * 12,
        most=most,
    )
    result = solve_text(text, arch="cpu", learn=team, blocks=1 + team.count(","), relaxation="off", check=True)
    assert (result.status, result.objective) == ("OPTIMAL_SOLUTION", 11)


@pytest.mark.slow
def test_explanations_and_clauses_are_right(checked):
    for number in range(MODELS, 10 * MODELS):
        check(number, ROLES[number % len(ROLES)])


def test_a_bound_is_below_the_optimum_at_any_time():
    """The learner stops at its first solution, with the bound that its cores have proved."""
    raised = 0
    for number in range(MODELS):
        text = weighted(Random(f"bounds/{number}"))
        best, sense = best_of(text), 1 if "minimize" in text else -1
        if best is None:
            continue
        try:
            engine = OpenEngine(text, blocks=1, roles=("cores",), learn_bytes=2**24)
        except TurboError:  # there is nothing to search
            continue
        at_root = engine.common.proved
        engine.start()
        while engine.running and not engine.poll():
            assert engine.common.proved <= sense * best, text
        engine.close()
        assert engine.common.proved <= sense * best, text
        raised += engine.common.proved > at_root
    assert raised > MODELS / 12


@pytest.mark.parametrize("kilobytes", [400, 700, 1500])
def test_few_counters_cost_no_answer(monkeypatch, kilobytes):
    monkeypatch.setattr(Layout, "learn_bytes", lambda layout: 1000 * kilobytes)
    for number in range(2 * MODELS // 3):
        check(number, "cores")


# ---- what is left to pay


def reduced(pieces: list[tuple[int, int, int]], k: int, weight: int, limit: int) -> tuple[np.ndarray, np.ndarray, int]:
    """(costs, thresholds, most below the weight), as reduced_costs of rows.cpp."""
    given = np.array(pieces, np.int64).reshape(-1)
    costs, thresholds = np.zeros(limit + 1, np.int64), np.zeros(limit + 1, np.int64)
    compiled = cpu_rows(32)
    most = compiled.reduced_costs(
        given.ctypes.data, len(pieces), k, weight, costs.ctypes.data, thresholds.ctypes.data, limit
    )
    return costs, thresholds, most


def test_what_is_left_is_never_more_than_what_was_owed():
    """Cost for cost: behind k exactly the weight less, before it no more than before, and never falling."""
    limit = 14
    for number in range(400):
        random = Random(number)
        pieces, at = [], 1
        while at < 10:
            end = random.randint(at, 10)
            pieces.append((random.choice((1, 1, 2, 5)), at, end))
            at = end + random.randint(1, 3)
        before, _, _ = reduced(pieces, 12, 0, limit)
        owed = [sum(unit * max(0, min(to, x) - start + 1) for unit, start, to in pieces) for x in range(limit + 1)]
        assert before.tolist() == owed
        k = random.randint(1, 12)
        weight = random.randint(0, owed[k])
        costs, thresholds, most = reduced(pieces, k, weight, limit)
        assert (np.diff(costs) >= 0).all() and (costs <= before).all()
        assert costs[k:].tolist() == [cost - weight for cost in owed[k:]]
        assert costs[:k].tolist() == [min(cost, owed[k] - weight) for cost in owed[:k]]
        for stratum in range(1, limit + 1):
            reaching = [x for x in range(limit + 1) if costs[x] >= stratum]
            assert thresholds[stratum] == (reaching[0] if reaching else -1)
        assert most == max(cost for cost in costs if cost <= weight)
