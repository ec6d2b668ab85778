"""Proofs with the bound of the relaxation: sums of rows and cuts in the nodes of branch and bound.

The kernels that log are a build of their own, so what runs them is slow.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial
from io import StringIO
from itertools import product
from random import Random

import numpy as np
import pytest

from support.command import run, write
from support.naive import solutions
from support.proofs import consistent_models, prove
from turbo_fzn.engine.cpu import CpuEngine
from turbo_fzn.options.options import Options
from turbo_fzn.process.interrupt import Interrupt, Interrupted
from turbo_fzn.proof.checker import Refused, check
from turbo_fzn.proof.checking import check_files, scale_of
from turbo_fzn.proof.encoding import Encoding, Inequality
from turbo_fzn.proof.hints import NotJustified
from turbo_fzn.proof.recorded import StatedTree
from turbo_fzn.proof.relaxed import Relaxed
from turbo_fzn.proof.steps import Steps
from turbo_fzn.proof.writer import HEADER, Writer, write_model
from turbo_fzn.read.flatzinc import parse_text
from turbo_fzn.run.prepare import prepare
from turbo_fzn.run.stated_bounding import StatedBounder
from turbo_fzn.tnf.language import TNF

N_LINEAR, N_KNAPSACKS, N_MODELS, N_DAMAGED, SIZE = 200, 6, 600, 200, 30
ROLES = ("soloist", "prover", "finder", "follower")


class Linear:
    """A random linear model over 0-1 variables, or integers with few values: sums that cover demands, or stay within
    amounts, and a sum to be minimised or maximised."""

    def __init__(self, random: Random, n: int):
        self.lower = [random.choice((0, 0, -2, 1)) for _ in range(n)]
        self.upper = [low + random.choice((1, 1, 1, 2, 4)) for low in self.lower]
        self.sense = random.choice((1, -1))
        self.costs = [random.choice((1, 2, 3, 7)) for _ in range(n)]
        point = [random.randint(low, high) for low, high in zip(self.lower, self.upper)]
        self.rows = []  # sense * sum >= least
        for _ in range(random.randint(1, 5)):
            factors = [random.choice((0, 1, 1, 2, 3, 5)) for _ in range(n)]
            value = sum(a * b for a, b in zip(factors, point))
            self.rows.append((factors, self.sense * value - random.choice((0, 0, 1, 2))))

    def text(self) -> str:
        names = [f"x{i}" for i in range(len(self.lower))]
        lines = [f"var {low}..{high}: {name};" for low, high, name in zip(self.lower, self.upper, names)]
        lines.append("var -200..200: best :: output_var;")
        for factors, least in self.rows:
            signed = [-self.sense * a for a in factors]
            lines.append(f"constraint int_lin_le({signed},[{','.join(names)}],{-least});")
        lines.append(f"constraint int_lin_eq({[*self.costs, -1]},[{','.join(names)},best],0);")
        return "\n".join([*lines, f"solve {'minimize' if self.sense > 0 else 'maximize'} best;\n"])

    def optimum(self) -> int:
        values = []
        for point in product(*(range(low, high + 1) for low, high in zip(self.lower, self.upper))):
            sums = [self.sense * sum(a * b for a, b in zip(factors, point)) for factors, _ in self.rows]
            if all(total >= least for total, (_, least) in zip(sums, self.rows)):
                values.append(self.sense * sum(a * b for a, b in zip(self.costs, point)))
        return self.sense * min(values)


class Knapsack(Linear):
    """The largest value of things, of which each row allows half."""

    def __init__(self, random: Random, n: int):
        self.lower, self.upper, self.sense = [0] * n, [1] * n, -1
        self.costs = [random.randint(10, 19) for _ in range(n)]
        self.rows = []
        for _ in range(3):
            factors = [random.randint(5, 25) for _ in range(n)]
            self.rows.append((factors, -(sum(factors) // 2)))


def linear_models(count: int) -> list[tuple[Linear, TNF]]:
    """The models of the seeds 0 to count - 1 whose root leaves something open, with their TNF."""
    randoms = [Random(f"linear/{seed}") for seed in range(count)]
    return prepared([Linear(random, random.randint(2, 5)) for random in randoms])


def knapsacks(count: int) -> list[tuple[Linear, TNF]]:
    return prepared([Knapsack(Random(f"knapsack/{seed}"), 7) for seed in range(count)])


def prepared(models: list[Linear]) -> list[tuple[Linear, TNF]]:
    pairs = [(model, prepare(parse_text(model.text()), Options(), Interrupt()).tnf) for model in models]
    return [(model, tnf) for model, tnf in pairs if tnf.n_rows and tnf.lower[tnf.objective] < tnf.upper[tnf.objective]]


def bounded(tnf: TNF) -> Relaxed:
    """The relaxation of a model, which has proved its bound."""
    relaxed = Relaxed(Encoding(tnf))
    StatedBounder(relaxed, tnf.sense).run()
    return relaxed


def stated(relaxed: Relaxed, bound: int) -> list[str] | None:
    """The steps of the relaxation's bound, if they contradict, for the checker, that sense * objective is below this
    bound."""
    model, encoding = StringIO(), relaxed.encoding
    write_model(encoding, model)
    tnf, lines = encoding.tnf, []
    most = bound - 1 - tnf.sense * encoding.lower[tnf.objective]
    below = f"{encoding.sum_of(tnf.objective, -tnf.sense)}>= {-most} ;"
    writer = Writer(encoding, lines.append)
    writer.count += 1
    number, count = relaxed.state(writer).number, encoding.count + 1
    steps = [*"".join(lines).splitlines(), f"pol {number} {count} +"]
    ends = ["output NONE", f"conclusion BOUNDS INF : {writer.count + 1} INF", "end pseudo-Boolean proof"]
    try:
        check([*model.getvalue().splitlines(), below], [HEADER, f"f {count}", *steps, *ends])
    except Refused:
        return None
    return steps


def test_the_bound_of_a_linear_model_is_stated_and_true():
    """Where it is the optimum, the next value is refused, and a bound that the nodes do not prove is not written."""
    tight = cuts = trees = 0
    for model, tnf in (*linear_models(N_LINEAR), *knapsacks(N_KNAPSACKS)):
        relaxed, best = bounded(tnf), model.sense * model.optimum()
        if relaxed.bound is None or relaxed.bound <= relaxed.encoding.first[relaxed.goal]:
            continue
        steps = stated(relaxed, relaxed.bound)
        assert relaxed.bound <= best and steps is not None
        cuts += any(line.startswith("red") and line.split()[-3].startswith("m") for line in steps)
        trees += any(line.startswith("rup") and " m" not in line for line in steps)
        if relaxed.bound == best:
            tight += 1
            relaxed = bounded(tnf)
            assert stated(relaxed, best + 1) is None
            if best < -relaxed.encoding.first[relaxed.goal ^ 1]:
                relaxed.proved = best + 1
                with pytest.raises(NotJustified):
                    relaxed.state(Writer(relaxed.encoding, lambda text: None))
    assert tight > N_LINEAR / 3 and cuts > N_LINEAR / 20 and trees > N_KNAPSACKS / 4, (tight, cuts, trees)


def test_nodes_that_divide_the_objective_state_their_bound(monkeypatch):
    """One of two such children may be worse than the bound without any row that says so."""
    choose, random, divided = StatedTree.choose, Random(51), 0

    def mostly_the_objective(self: StatedTree, values, lower, upper, probe) -> int | None:
        column = self.relaxation.objective
        return (
            column
            if lower[column] < upper[column] and random.random() < 0.5
            else choose(self, values, lower, upper, probe)
        )

    monkeypatch.setattr(StatedTree, "choose", mostly_the_objective)
    for model, tnf in (*linear_models(N_LINEAR), *knapsacks(N_KNAPSACKS)):
        relaxed = bounded(tnf)
        least = relaxed.encoding.first[relaxed.goal]
        if relaxed.nodes.children and relaxed.bound is not None and relaxed.bound > least:
            assert relaxed.bound <= model.sense * model.optimum() and stated(relaxed, relaxed.bound) is not None
            divided += any(path[-1][0] == tnf.objective for paths in relaxed.nodes.children.values() for path in paths)
    assert divided > N_LINEAR / 20, divided


def holes(sense: int, n: int, base: int) -> str:
    """n + 1 pigeons in n holes, and the sum of what they pay."""
    places = [[f"x{i}_{j}" for j in range(n)] for i in range(n + 1)]
    every = [name for row in places for name in row]
    lines = [f"var 0..1: {name};" for name in every]
    lines.append(f"var {base}..{base + 999}: cost :: output_var;")
    lines += [f"constraint int_lin_eq({[1] * n},[{','.join(row)}],1);" for row in places]
    lines += [f"constraint int_lin_le({[1] * (n + 1)},[{','.join(column)}],1);" for column in zip(*places)]
    costs = [i % 7 + 1 for i in range(len(every))]
    lines.append(f"constraint int_lin_eq({[*costs, -1]},[{','.join(every)},cost],{-base});")
    return "\n".join([*lines, f"solve {'minimize' if sense > 0 else 'maximize'} cost;\n"])


@pytest.mark.parametrize("sense", (1, -1))
@pytest.mark.parametrize("base", (0, -40))
def test_where_the_rows_have_no_solution_the_bound_is_a_contradiction(sense, base):
    relaxed = bounded(prepare(parse_text(holes(sense, 4, base)), Options(), Interrupt()).tnf)
    assert relaxed.bound == relaxed.beyond > -relaxed.encoding.first[relaxed.goal ^ 1]
    lines: list[str] = []
    number, count = relaxed.state(Writer(relaxed.encoding, lines.append)).number, relaxed.encoding.count
    model = StringIO()
    write_model(relaxed.encoding, model)
    ends = ["output NONE", f"conclusion BOUNDS INF : {number} INF", "end pseudo-Boolean proof"]
    proof = [HEADER, f"f {count}", *"".join(lines).splitlines(), *ends]
    assert check(model.getvalue().splitlines(), proof).lower is None


def test_a_bound_that_comes_after_the_search_is_neither_taken_nor_published():
    relaxed = bounded(linear_models(N_KNAPSACKS)[0][1])
    proved = relaxed.proved
    relaxed.close()
    late = StatedBounder(relaxed, 1)
    before = late.bound
    late.publish(9999)
    assert (relaxed.proved, late.bound) == (proved, before)


def test_a_stop_ends_the_steps_of_a_bound():
    stop = Interrupt()
    stop.request()
    relaxed = bounded(prepare(parse_text(holes(1, 4, 0)), Options(), Interrupt()).tnf)
    with pytest.raises(Interrupted):
        relaxed.state(Writer(relaxed.encoding, lambda text: None, interrupt=stop))


@pytest.mark.parametrize("sense", (1, -1))
@pytest.mark.parametrize("base", (-7, 4))
def test_the_bound_of_an_objective_of_two_values_is_stated(sense, base):
    """Which has no order literals: at most two of five neighbours in a circle, and the objective says if a third one is
    missing."""
    names = [f"x{i}" for i in range(5)]
    lines = [f"var 0..1: {name};" for name in names]
    lines.append(f"var {base}..{base + 1}: best :: output_var;")
    lines += [f"constraint int_lin_le([1,1],[{names[i]},{names[i - 1]}],1);" for i in range(5)]
    least = 3 + base if sense > 0 else 2 - base
    lines.append(f"constraint int_lin_le([-1,-1,-1,-1,-1,{-sense}],[{','.join(names)},best],{-least});")
    lines.append(f"solve {'minimize' if sense > 0 else 'maximize'} best;\n")
    relaxed = bounded(prepare(parse_text("\n".join(lines)), Options(), Interrupt()).tnf)
    best = base + (sense > 0)
    assert relaxed.bound == sense * best and stated(relaxed, sense * best) is not None


def test_a_relaxation_that_knows_the_best_solution_proves_it():
    """So nodes end early, where reduced costs would narrow others: the proof has no reason for that."""
    trees = 0
    for model, tnf in (*linear_models(N_LINEAR // 4), *knapsacks(2 * N_KNAPSACKS)):
        relaxed, best = Relaxed(Encoding(tnf)), model.sense * model.optimum()
        bounder = StatedBounder(relaxed, tnf.sense)
        bounder.tell(best)
        bounder.run()
        assert relaxed.bound == best and bounder.bound == best
        if best > relaxed.encoding.first[relaxed.goal]:
            assert stated(relaxed, best) is not None and stated(bounded(tnf), best + 1) is None
            trees += len(relaxed.nodes.children) > 1
    assert trees > N_KNAPSACKS / 2, trees


def test_rows_of_all_kinds_hold_in_every_solution():
    """Each row that the relaxation has of the encoding, and the bound."""
    rows = bounds = 0
    for number, tnf in consistent_models(N_MODELS):
        relaxed = Relaxed(Encoding(tnf))
        relaxation = relaxed.make(lambda: False)
        if relaxation is None:
            continue
        points = [np.array(one) for one in solutions(tnf)] if number % 4 == 0 else []
        for row in range(len(relaxation.rows)):
            entries, low, _ = relaxation.rows.row(row)
            assert all(sum(a * int(one[v]) for v, a in entries.items()) >= low for one in points), number
            rows += bool(points)
        bound = bounded(tnf).bound if points else None
        if bound is not None:
            assert bound <= min(tnf.sense * int(one[tnf.objective]) for one in points), number
            bounds += 1
    assert rows > N_MODELS and bounds > N_MODELS / 100, (rows, bounds)


@pytest.mark.slow
def test_linear_models_are_proved_with_the_bound():
    """And where it is the optimum, without learning: its steps, a solution and their contradiction are the proof."""
    random, short = Random(47), 0
    for model, tnf in linear_models(N_LINEAR):
        used: list[int] = []
        one = prove(tnf, random.choice(ROLES), blocks=random.choice((1, 1, 2)), relax=partial(count_uses, used))
        verdict = check(one.model.splitlines(), one.proof.splitlines())
        least = model.sense * (model.optimum() - int(tnf.lower[tnf.objective]))
        assert (verdict.conclusion, verdict.lower, verdict.upper) == ("BOUNDS", least, least), model.text()
        short += bool(used)
    assert short > N_LINEAR / 4, short


def count_uses(uses: list[int], relaxed: Relaxed) -> None:
    """Has the relaxation add the bounds that it states."""
    state = relaxed.state

    def counted(writer: Steps) -> Inequality:
        stated = state(writer)
        uses.append(stated.least)
        return stated

    relaxed.state = counted  # type: ignore[method-assign]


@pytest.mark.slow
def test_random_models_are_proved_with_the_bound():
    random, used = Random(48), 0
    for number, tnf in consistent_models(N_MODELS):
        kept: list[Relaxed] = []
        one = prove(tnf, random.choice(ROLES), relax=kept.append)
        verdict = check(one.model.splitlines(), one.proof.splitlines())
        assert verdict.conclusion == one.conclusion != "NONE", number
        used += kept[0].bound is not None
        if number % 4 == 0 and verdict.conclusion == "BOUNDS":
            values = [tnf.sense * (one[tnf.objective] - int(tnf.lower[tnf.objective])) for one in solutions(tnf)]
            assert verdict.lower == (min(values) if values else None), number
    assert used > N_MODELS / 20, used


def damage(random: Random, relaxed: Relaxed) -> None:
    """Changes a multiplier, a path, a cut, or the bound."""
    nodes, kind = relaxed.nodes, random.randrange(4)
    if kind == 0 and nodes.proofs:
        for sums in nodes.proofs.values():
            for place, one in enumerate(sums):
                factors = [max(m + random.choice((-1, 0, 1, 5)), 0) for m in one.multipliers]
                sums[place] = replace(one, multipliers=factors)
    elif kind == 1 and nodes.children:
        path = random.choice(list(nodes.children))
        nodes.children[path] = [random.choice(nodes.children[path])] * 2
    elif kind == 2 and relaxed.roundings:
        for rounding in relaxed.roundings.values():
            object.__setattr__(rounding, "least", rounding.least + 1)
    elif relaxed.proved is not None:
        relaxed.proved += 1


@pytest.mark.slow
def test_no_damaged_relaxation_proves_what_is_false():
    """It is refused, or proves less, or what it proves is still true."""
    random, noticed = Random(49), 0
    for model, tnf in (*linear_models(N_DAMAGED), *knapsacks(N_KNAPSACKS)):
        try:
            one = prove(tnf, relax=partial(damage, random))
            verdict = check(one.model.splitlines(), one.proof.splitlines())
        except (NotJustified, Refused):
            noticed += 1
            continue
        least = model.sense * (model.optimum() - int(tnf.lower[tnf.objective]))
        assert verdict.lower is None or verdict.lower <= least, model.text()
        assert verdict.upper is None or verdict.upper >= least, model.text()
    assert noticed > N_DAMAGED / 20, noticed


@pytest.mark.slow
def test_a_bound_that_no_step_states_is_not_used():
    """Where the host knows the optimum, but no relaxation has proved it: the learner takes it, and the log is refused
    where its conclusion needs that."""
    refused = 0
    for model, tnf in linear_models(N_DAMAGED):
        best = model.sense * model.optimum()

        def tell(engine: CpuEngine, best=best) -> None:
            engine.raise_bound(best)

        try:
            one = prove(tnf, tell=tell)
            verdict = check(one.model.splitlines(), one.proof.splitlines())
        except NotJustified:
            refused += 1
            continue
        assert verdict.conclusion in ("BOUNDS", "NONE")
    assert refused > N_DAMAGED / 20, refused


@pytest.mark.slow
def test_a_run_whose_optimum_only_the_relaxation_proves_has_a_proof(tmp_path):
    """An assignment at least cost: the program of its rows has an optimum of integers, and a learner would have to
    look at far more partial assignments than a run can."""
    random, places = Random(50), range(SIZE)
    names = [[f"x{i}_{j}" for j in places] for i in places]
    lines = [f"var 0..1: {name};" for row in names for name in row]
    lines.append("var 0..9999: cost :: output_var;")
    for sums in (*names, *zip(*names)):
        lines.append(f"constraint int_lin_eq({[1] * SIZE},[{','.join(sums)}],1);")
    costs = [random.randint(10, 99) for _ in range(SIZE * SIZE)]
    every = ",".join(name for row in names for name in row)
    lines.append(f"constraint int_lin_eq({[*costs, -1]},[{every},cost],0);")
    model, proof = write(tmp_path, "\n".join([*lines, "solve minimize cost;\n"])), tmp_path / "a.pbp"
    done = run(str(model), "-f", "-s", "-p", "2", "--relaxation", "on", "--proof", str(proof))
    assert done.code == 0, done.errors
    words = scale_of(str(tmp_path / "a.opb")).words(check_files(str(tmp_path / "a.opb"), str(proof)))
    cost = re.findall(r"cost = (\d+);", done.text)[-1]
    assert words == f"OPTIMAL_SOLUTION, objective {cost}" and len(proof.read_text().splitlines()) < 100


@pytest.mark.slow
@pytest.mark.parametrize("sense", (1, -1))
def test_a_run_without_a_solution_that_only_the_relaxation_refutes_has_a_proof(tmp_path, sense):
    """A learner would have to look at all ways to put pigeons into holes."""
    model, proof = write(tmp_path, holes(sense, 14, 0)), tmp_path / "a.pbp"
    done = run(str(model), "-f", "-p", "1", "--relaxation", "on", "--proof", str(proof))
    assert (done.code, done.markers, done.errors) == (0, ["=====UNSATISFIABLE====="], "")
    verdict = check_files(str(tmp_path / "a.opb"), str(proof))
    assert scale_of(str(tmp_path / "a.opb")).words(verdict) == "UNSATISFIABLE"
    assert len(proof.read_text().splitlines()) < 100
