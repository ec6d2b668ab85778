"""Bounds of linear relaxations on random models: checked against all solutions, and by arithmetic of their own.

What is looked at, in each model: that every solution is a point of the relaxation and of all cuts; that every
certificate, recomputed here with fractions from the rows and the multipliers, proves what it says and fixes no column
of a better solution wrongly; and that what is published in the end is below the optimum. A liar may take the place of
HiGHS: it gives any numbers for duals, and any outcome.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from fractions import Fraction
from random import Random
from typing import Any
from unittest.mock import patch

import numpy as np

from fuzz.generate import a_coefficient, draw_model
from fuzz.judge import Verdict
from fuzz.scope import Scope
from support.flatzinc_text import with_text
from support.oracle import WindowTooSmall, all_solutions, objective_of
from turbo_fzn.base.domains import INFINITY
from turbo_fzn.base.errors import TurboError
from turbo_fzn.bounds.lp.highs import Answer, Outcome, Program
from turbo_fzn.bounds.lp.relaxation import Affine, LinearRows, Relaxation
from turbo_fzn.bounds.prove.certificate import Certificate, Certifier, fix
from turbo_fzn.bounds.prove.farkas import refute
from turbo_fzn.bounds.prove.reasons import Reason, reason_of
from turbo_fzn.bounds.rows.linearise import linearise
from turbo_fzn.bounds.search import probing, root, tree
from turbo_fzn.bounds.search.listener import NO_SOLUTION
from turbo_fzn.bounds.search.probing import Implications
from turbo_fzn.bounds.thread import relaxation_thread
from turbo_fzn.bounds.thread.relaxation_thread import Beside
from turbo_fzn.bounds.thread.tuning import TUNING
from turbo_fzn.options.options import Options
from turbo_fzn.process.interrupt import Interrupt
from turbo_fzn.read.flatzinc import parse_text
from turbo_fzn.read.model import Constraint, Goal, Model, Ref, Variable
from turbo_fzn.run.bounding import Bounding, root_bounds
from turbo_fzn.run.judge import Judge
from turbo_fzn.run.prepare import prepare

NEAR_SECONDS, LARGE = 0.2, 1000
MOST_NODES = 60


class Unsound(AssertionError):
    """Something that is said to be proved is not."""


def draw_objective_model(random: Random) -> Model:
    """A random model, mostly with a sum of its variables for the objective; half of them have global constraints."""
    has_globals = random.random() < 0.5
    model = draw_model(random, "small", 1) if has_globals else draw_model(random, with_globals=0)
    if has_globals:  # few others, which would leave nothing to optimise
        model.constraints = [
            item for item in model.constraints if item.name.startswith("turbo_") or random.random() < 0.4
        ]
    ints = [Ref(name) for name, variable in model.variables.items() if variable.kind == "int"]
    method = random.choice(("minimize", "maximize"))
    if random.random() < (0.1 if has_globals else 0.3):
        model.goal = Goal(method, random.choice(ints), [], 0)
        return model
    chosen = random.sample(ints, min(len(ints), random.randint(2 if has_globals else 1, 5)))
    coefficients = [a_coefficient(Scope(random, "small")) or 1 for _ in chosen]
    model.variables["total"] = Variable("total", "int", None, [], None, 0)
    model.constraints.append(Constraint("int_lin_eq", [[*coefficients, -1], [*chosen, Ref("total")], 0], [], 0))
    model.goal = Goal(method, Ref("total"), [], 0)
    return model


class Liar(Program):
    """A solver that answers at random where it does not answer as HiGHS."""

    random = Random(0)

    def solve(self) -> Answer:
        answer = super().solve()
        n, m = len(self.lower), self.solver.getNumRow()
        draw = self.random
        if draw.random() < 0.2:
            return answer
        scale = 10.0 ** draw.randint(-12, 30)
        duals = np.array([draw.choice((0, draw.uniform(-1, 1) * scale, draw.randint(-3, 3))) for _ in range(m)], float)
        if draw.random() < 0.2 and m:
            duals[draw.randrange(m)] = draw.choice((np.nan, np.inf, -np.inf))
        values = np.array(
            [draw.uniform(-5, 5) if draw.random() < 0.5 else draw.randint(-3, 3) for _ in range(n)], float
        )
        if draw.random() < 0.1:
            values[draw.randrange(n)] = np.nan
        outcome = draw.choice(list(Outcome))
        return Answer(outcome, values if outcome is not Outcome.INFEASIBLE else np.empty(0), duals)


class Watch:
    """Looks over the shoulder of a Certifier: everything that is certified, and the points that must stay, which are
    those of solutions better than the best that was told."""

    def __init__(self, relaxation: Relaxation, points: list[list[int]], objectives: list[int]):
        self.relaxation = relaxation
        self.points = list(zip(points, objectives))
        self.best: Callable[[], int] = lambda: NO_SOLUTION
        self.n_certificates = self.n_reasons = 0

    def better(self) -> list[list[int]]:
        return [point for point, objective in self.points if objective < self.best()]

    def certificate(self, rows: LinearRows, certificate: Certificate, lower: np.ndarray, upper: np.ndarray) -> None:
        """Recomputes it, from nothing but the rows, the multipliers and the bounds."""
        self.n_certificates += 1
        value = proved_value(self.relaxation, rows, certificate, lower.tolist(), upper.tolist())
        claimed = None if certificate.value is None else Fraction(certificate.value, certificate.denominator)
        if claimed is not None and (value is None or claimed > value):
            raise Unsound(f"claimed {claimed}, proved {value}")

    def rows(self, rows: LinearRows) -> None:
        points = self.better()
        for number in range(len(rows)):
            entries, low, high = rows.row(number)
            for point in points:
                total = sum(value * point[column] for column, value in entries.items())
                if not (low == -INFINITY or total >= low) or not (high == INFINITY or total <= high):
                    raise Unsound(f"{low} <= {entries} <= {high} excludes the solution {point}")

    def implied(self, implied: Implications, lower: np.ndarray, upper: np.ndarray) -> None:
        """All rows of what was probed, not only those that become cuts, hold at every better solution."""
        for family in implied.families:
            rows = [family.row(place) for place in range(len(family.columns))]
            self.rows(LinearRows.of([(entries, -INFINITY, side) for entries, side in rows]))
        if not all(is_in(point, (lower, upper)) for point in self.better()):
            raise Unsound("probing excludes a solution")

    def fixed(self, before: Box, after: Box, most: int) -> None:
        for point, objective in self.points:
            if objective <= most and is_in(point, before) and not is_in(point, after):
                raise Unsound(f"fixing excludes the solution {point}")

    def reason(self, reason: Reason | None, places: np.ndarray) -> None:
        """An inequality for learners holds at every better solution."""
        columns = {place: column for column, place in enumerate(places.tolist())}
        for point in self.better() if reason is not None else ():
            if sum(value * point[columns[place]] for place, value in reason.entries.items()) > reason.high:
                raise Unsound(f"{reason} excludes the solution {point}")


Box = tuple[np.ndarray, np.ndarray]


def is_in(point: list[int], box: Box) -> bool:
    return all(map(is_within, point, *(side.tolist() for side in box)))


def is_within(value: int, low: int, high: int) -> bool:
    return (low == -INFINITY or low <= value) and (high == INFINITY or value <= high)


def proved_value(
    relaxation: Relaxation, rows: LinearRows, certificate: Certificate, lower: list[int], upper: list[int]
) -> Fraction | None:
    """The least value of the objective that the multipliers prove, in fractions; None where they prove none."""
    left = {relaxation.objective: Fraction(certificate.objective * relaxation.sense)}
    value = Fraction(0)
    for number, multiplier in enumerate(certificate.multipliers.tolist()):
        if multiplier:
            y = Fraction(multiplier, certificate.denominator)
            entries, low, high = rows.row(number)
            side = low if y > 0 else high
            if abs(side) >= INFINITY:
                return None
            value += y * side
            for column, coefficient in entries.items():
                left[column] = left.get(column, Fraction(0)) - y * coefficient
    for column, cost in left.items():
        if cost:
            end = lower[column] if cost > 0 else upper[column]
            if abs(end) >= INFINITY:
                return None
            value += cost * end
    return value


@contextmanager
def watched(watch: Watch, liar: bool) -> Iterator[None]:
    """While this lasts, every certificate and every cut is checked."""
    with ExitStack() as stack:
        for place, name, value in [*certifiers(watch), *inferences(watch)]:
            stack.enter_context(patch.object(place, name, value))
        stack.enter_context(patch.object(root, "Program", Liar if liar else root.Program))
        stack.enter_context(patch.object(TUNING, "reason_seconds", 0))
        # Trees go back to the root for more cuts.
        stack.enter_context(patch.object(TUNING, "small_tree", min(TUNING.small_tree, 1)))
        yield


Changes = list[tuple[Any, str, Any]]  # (class or module, name, what is to stand there)


def certifiers(watch: Watch) -> Changes:
    """A Certifier that is checked."""
    certify, build = Certifier.certify, Certifier.__init__

    def certify_and_check(self, duals, lower, upper, objective=1, fine=False):  # type: ignore[no-untyped-def]
        certificate = certify(self, duals, lower, upper, objective, fine)
        watch.certificate(self.rows, certificate, lower, upper)
        return certificate

    def build_and_check(self, relaxation, rows):  # type: ignore[no-untyped-def]
        watch.rows(rows)
        build(self, relaxation, rows)

    return [(Certifier, "certify", certify_and_check), (Certifier, "__init__", build_and_check)]


def inferences(watch: Watch) -> Changes:
    """Fixing, reasons for learners and probes that are checked."""

    def fix_and_check(certificate, most, lower, upper):  # type: ignore[no-untyped-def]
        columns, lows, highs = fix(certificate, most, lower, upper)
        after = lower.copy(), upper.copy()
        after[0][columns], after[1][columns] = lows, highs
        watch.fixed((lower, upper), after, most)
        return columns, lows, highs

    def refute_and_check(certifier, ray, lower, upper):  # type: ignore[no-untyped-def]
        certificate = refute(certifier, ray, lower, upper)
        if certificate is not None and any(is_in(point, (lower, upper)) for point in watch.better()):
            raise Unsound("a ray refutes a box with a better solution")
        return certificate

    def reason_and_check(multipliers, rows, lower, upper, places):  # type: ignore[no-untyped-def]
        reason = reason_of(multipliers, rows, lower, upper, places)
        watch.reason(reason, places)
        watch.n_reasons += reason is not None
        return reason

    def probe_and_check(relaxation, listener, lower, upper):  # type: ignore[no-untyped-def]
        implied = probing.probe(relaxation, listener, lower, upper)
        watch.implied(implied, lower, upper)
        return implied

    return [
        (root, "fix", fix_and_check),
        (tree, "fix", fix_and_check),
        (root, "refute", refute_and_check),
        (tree, "refute", refute_and_check),
        (root, "probe", probe_and_check),
        (relaxation_thread, "reason_of", reason_and_check),
    ]


def point_of(relaxation: Relaxation, numbers: Mapping[str, int], solution: Mapping[str, int]) -> list[int]:
    """The columns' values in a solution of the model."""
    values = {number: solution[name] for name, number in numbers.items()}
    point = [values.get(number, 0) for number in relaxation.variables.tolist()]
    for column, (of, value) in relaxation.truths.items():
        point[column] = int(point[of] == value)

    def value_of(term: Affine) -> int:
        return term.constant + (term.coefficient * point[term.column] if term.column >= 0 else 0)

    for column, meaning in relaxation.choices.items():
        point[column] = meaning(value_of)
    return point


def try_bounds(random: Random) -> tuple[Verdict, str, int]:
    """The verdict on a random model, its text, and the number of certificates that were checked."""
    return judge_bounds(parse_text(with_text(draw_objective_model(random)).text), random)


def judge_bounds(model: Model, random: Random) -> tuple[Verdict, str, int]:
    """The verdict on the relaxation of a model, its text, and the number of certificates that were checked."""
    try:
        solutions = all_solutions(model)
        prepared = prepare(model, Options(simplify=random.random() < 0.8), Interrupt(None))
    except (WindowTooSmall, TurboError):
        return Verdict("undecided"), "", 0
    if prepared.tnf.infeasible:
        if solutions:
            return Verdict("unsound", f"no solution is left, not even {solutions[0]}"), model.text, 0
        return Verdict("right"), "", 0
    numbers, lower, upper = root_bounds(prepared)
    relaxation = linearise(model, numbers, lower, upper)
    if relaxation is None:
        return Verdict("no relaxation"), "", 0
    points = [point_of(relaxation, numbers, solution) for solution in solutions]
    objectives = [relaxation.sense * objective_of(model, solution) for solution in solutions]
    watch = Watch(relaxation, points, objectives)
    try:
        check_bounds(random, relaxation, watch, objectives, prepared)
    except Unsound as fault:
        return Verdict("unsound", str(fault)), model.text, watch.n_certificates
    return Verdict("right"), "", watch.n_certificates


def check_bounds(random: Random, relaxation: Relaxation, watch: Watch, objectives: list[int], prepared) -> None:
    watch.rows(relaxation.rows)
    for point in watch.better():
        if not is_in(point, (relaxation.lower, relaxation.upper)):
            raise Unsound(f"the bounds exclude the solution {point}")
        for literals in relaxation.conflicts.sets:
            if sum(int(point[literal >> 1]) != literal & 1 for literal in literals) > 1:
                raise Unsound(f"of {literals} at most one is to be 1, in {point}")
    for objective in objectives:
        if (objective - relaxation.residue) % relaxation.step:
            raise Unsound(f"{objective} is not {relaxation.residue} modulo {relaxation.step}")
    liar = random.random() < 0.5
    Liar.random = random
    bounding = Bounding(Judge(prepared, Options()))
    nodes = iter(range(MOST_NODES))
    beside = Beside(lambda: relaxation, bounding.boxes)
    watch.best = lambda: beside.best
    if objectives and random.random() < 0.5:
        beside.tell(random.choice(objectives))
    step = tree.Tree.step

    def step_and_stop(self) -> None:  # type: ignore[no-untyped-def]
        step(self)
        if self.program.solver.getNumRow() != len(self.certifier.rows):
            raise Unsound("the program's rows are not those of the certificates")
        if next(nodes, None) is None:
            beside.stop()

    tree.Tree.step = step_and_stop  # type: ignore[method-assign]
    try:
        with watched(watch, liar):
            beside.run()
    finally:
        tree.Tree.step = step  # type: ignore[method-assign]
    if isinstance(beside.fault, Unsound) or (beside.fault and not liar):
        raise beside.fault
    look_near(random, beside, [point for point, _ in watch.points])
    check_results(beside.bound, [relaxation.sense * found.objective for found in bounding.boxes.found], objectives)


def check_results(bound: int, found: list[int], objectives: list[int]) -> None:
    if bound > -NO_SOLUTION and bound > min(objectives, default=NO_SOLUTION):
        raise Unsound(f"bound {bound}, optimum {min(objectives)}")
    if any(objective not in objectives for objective in found):
        raise Unsound("a solution that is none")


def look_near(random: Random, beside: Beside, points: list[list[int]]) -> None:
    """Looks for anything near a solution, and takes a point that HiGHS may not have found. The caller checks what
    arrives."""
    near, points = beside.near, [point for point in points if max(map(abs, point)) < INFINITY]
    if near is None or not points:
        return
    beside.stopped, beside.best = False, NO_SOLUTION
    near.part, near.seconds = random.random(), NEAR_SECONDS
    point = np.array(random.choice(points), np.int64)
    for _ in range(2):
        near.look((point, point))
    drawn = [random.randint(-LARGE, LARGE) for _ in range(near.relaxation.n_columns)]
    near.take(np.clip(drawn, near.relaxation.lower, near.relaxation.upper).astype(float))
