"""The files of a proof: the model as an OPB file, and the steps in VeriPB's format 2.0.

encoding.py makes the model, trim.py the steps. Each order literal is defined where it first occurs, and constraints
that no later step needs are deleted. The format: Gocht, Nordström, AAAI 2021; Bogaerts, Gocht, McCreesh, Nordström,
JAIR 2023; the documentation of VeriPB.
"""

from __future__ import annotations

import gzip
from array import array
from collections.abc import Callable, Iterable
from typing import IO

from turbo_fzn.engine.logged import Log
from turbo_fzn.process.interrupt import Interrupt
from turbo_fzn.proof import log
from turbo_fzn.proof.conflict import EVENT, KINDS, LAST, SHIFT, STEP, NotJustified
from turbo_fzn.proof.encoding import Assumed, Encoding
from turbo_fzn.proof.refutation import Inequality, Step, cutting_planes
from turbo_fzn.proof.trim import Trimmer

HEADER = "pseudo-Boolean proof version 2.0"


def open_for_writing(path: str) -> IO[str]:
    """A text file, packed where its name ends with .gz."""
    if path.endswith(".gz"):
        return gzip.open(path, "wt", compresslevel=4, encoding="ascii")
    return open(path, "w", encoding="ascii")


def write_model(encoding: Encoding, file: IO[str]) -> None:
    """Writes the file of the model; the encoding's lines are freed."""
    file.write(f"* #variable= {len(encoding.names)} #constraint= {encoding.count}\n")
    tnf, objective = encoding.tnf, encoding.objective()
    if tnf.sense and not objective:
        file.write(f"* objective = {encoding.lower[tnf.objective]} in all solutions\n")
    elif objective:
        start = tnf.sense * encoding.lower[tnf.objective]
        file.write(f"* {'-' * (tnf.sense < 0)}objective = {start} + what is minimised here\n")
        file.write(f"min: {encoding.spell_terms(objective)};\n")
    file.writelines(encoding.lines)
    encoding.lines.clear()


class Writer:
    """Writes the steps of a proof to a file."""

    def __init__(self, encoding: Encoding, write: Callable[[str], object]):
        self.encoding, self.write = encoding, write
        self.formula = self.count = encoding.count
        self.events: dict[int, int] = {}  # event -> its constraint
        self.steps: dict[int, tuple[int, range]] = {}  # its constraint, and the constraints derived for it
        self.chains: dict[tuple[int, int, int], int] = {}
        self.definitions = dict(encoding.definitions)
        self.lasting: set[int] = set()  # constraints of the proof that are never deleted

    def line(self, text: str) -> int:
        """Writes a line that derives a constraint. Returns its number."""
        self.write(text + "\n")
        self.count += 1
        return self.count

    # ---- order literals

    def define(self, assumed: Assumed) -> tuple[int, int]:
        """The constraints that define the literal, which is written where it is new."""
        side, k = assumed
        variable, k = side >> 1, 1 - k if side & 1 else k
        encoding = self.encoding
        number = encoding.at_least(variable, k) >> 1
        if number not in self.definitions:
            above, below = encoding.definition(variable, k - encoding.lower[variable])
            name = encoding.names[number]
            first = self.line(f"red {encoding.spell_terms(above[0])}>= {above[1]} ; {name} -> 0")
            second = self.line(f"red {encoding.spell_terms(below[0])}>= {below[1]} ; {name} -> 1")
            self.definitions[number] = first, second
            self.lasting |= {first, second}
        return self.definitions[number]

    def literal(self, assumed: Assumed) -> int:
        """The literal, defined."""
        side = assumed[0]
        literal, span = self.encoding.literal(assumed), self.encoding.upper[side >> 1] - self.encoding.lower[side >> 1]
        if literal >= 0 and span > 1:
            self.define(assumed)
        return literal

    def chain(self, side: int, higher: int, lower: int) -> int:
        """The clause that a bound implies a lower bound."""
        key = side, higher, lower
        if key not in self.chains:
            strong, weak = self.define((side, higher)), self.define((side, lower))
            a, b = (weak[1], strong[0]) if side & 1 == 0 else (strong[1], weak[0])
            degree = higher - lower + 1
            self.chains[key] = self.line(f"pol {a} {b} + s{f' {degree} d' if degree > 1 else ''}")
            self.lasting.add(self.chains[key])
        return self.chains[key]

    # ---- steps

    def step(self, number: int, step: Step) -> int:
        """The constraint of a row's step."""
        if number not in self.steps:
            before = self.count
            derived = self._derive(step)
            self.steps[number] = derived, range(before + 1, self.count + 1)
        return self.steps[number][0]

    def _derive(self, step: Step) -> int:
        for assumed in step.assumed:
            self.literal(assumed)
        if step.inequality is not None:
            words = cutting_planes(self.encoding, step, self.define)
            return step.inequality.number if words is None else self.line(f"pol {' '.join(words)}")
        parts = [self._derive(part) for part in step.parts]
        if step.closing:
            parts.append(step.closing)
        return self.rup([(side ^ 1, 1 - k) for side, k in step.assumed], parts)

    def rup(self, clause: list[Assumed], hints: list[int]) -> int:
        literals = [literal for literal in map(self.literal, clause) if literal >= 0]
        written = self.encoding.spell_terms((1, literal) for literal in literals)
        return self.line(f"rup {written}>= 1 ; ~ {' '.join(map(str, dict.fromkeys(hints)))}")

    # ---- events

    def event(self, number: int, hints: array[int], trimmer: Trimmer) -> None:
        """Writes the clause of an event, and deletes constraints that are not needed after it."""
        _, kind, *words = trimmer.event(number)
        if kind == log.SOLUTION:
            self.events[number] = self.solution(words)
        elif kind == log.ROOT and words[2] == log.DECISION:
            self.events[number] = self.cut(words[0], words[1], self.events[hints[0] >> SHIFT])
        else:
            clause = {log.LEARNED: words[1:], log.ROOT: words[:2], log.REFUTED: []}[kind]
            self.events[number] = self.rup(log.literals(clause), [self.hint(hint, trimmer) for hint in reversed(hints)])
        self.delete([hint for hint in hints if hint & LAST])

    def hint(self, hint: int, trimmer: Trimmer) -> int:
        """The constraint of a hint (conflict.py)."""
        kind, number = hint & KINDS, hint >> SHIFT
        if kind == STEP:
            return self.step(number, trimmer.steps[number])
        return self.events[number] if kind == EVENT else self.chain(*trimmer.chains[number])

    def solution(self, values: list[int]) -> int:
        spelt_out = list(map(self.encoding.spell, self.true_literals(values)))
        if self.encoding.optimises:
            self.lasting.add(self.line(f"soli {' '.join(spelt_out)}"))
            return self.count
        self.write(f"sol {' '.join(spelt_out)}\n")
        return 0

    def true_literals(self, values: list[int]) -> Iterable[int]:
        """The literals of a solution, and the literals that the proof has defined."""
        yield from self.encoding.assignment(values)
        for (variable, offset), number in self.encoding.orders.items():
            if number in self.definitions and number not in self.encoding.definitions:
                yield 2 * number + (values[variable] - self.encoding.lower[variable] < offset)

    def cut(self, side: int, k: int, improving: int) -> int:
        """The objective's bound, from the constraint of an improving solution."""
        variable = side >> 1
        sign = -1 if side & 1 else 1
        against = side ^ 1, 1 - k
        inequality = Inequality(improving, ((variable, sign),), k)
        assumed = (against,) if self.literal(against) >= 0 else ()  # otherwise no value is left
        words = cutting_planes(self.encoding, Step(assumed, (), inequality, (), 0), self.define)
        return improving if words is None else self.line(f"pol {' '.join(words)}")

    def delete(self, hints: list[int]) -> None:
        """Deletes what these hints use, except for constraints that last."""
        own: list[int] = []
        for hint in hints:
            number = hint >> SHIFT
            own += self.steps.pop(number)[1] if hint & KINDS == STEP else (self.events.pop(number),)
        own = [number for number in own if number > self.formula and number not in self.lasting]
        if own:
            self.write(f"del id {' '.join(map(str, own))}\n")


def write_proof(
    encoding: Encoding, learned: Log, file: IO[str], interrupt: Interrupt, answer: list[int] | None = None
) -> str:
    """Writes the proof of a log and of the last solution that was printed, if it is known. Returns the conclusion;
    "NONE" if the log has no end. Raises Interrupted, and NotJustified for a log that cannot be explained, or does not
    prove the answer."""
    try:
        return _write_steps(encoding, learned, file, interrupt, answer)
    except LookupError:
        raise NotJustified("the log names a side, row or clause that does not exist") from None


def _write_steps(
    encoding: Encoding, learned: Log, file: IO[str], interrupt: Interrupt, answer: list[int] | None
) -> str:
    file.write(f"{HEADER}\nf {encoding.count}\n")
    trimmer, writer = Trimmer(encoding, learned, interrupt, answer), Writer(encoding, file.write)
    any_will_do = trimmer.solutions and not encoding.optimises
    kept = trimmer.trim() if trimmer.refuted and not any_will_do else []
    for number, hints in interrupt.between(kept):
        writer.event(number, hints, trimmer)
    conclusion = _conclude(trimmer, writer, kept[-1][0] if kept else None)
    file.write(f"output NONE\nconclusion {conclusion}\nend pseudo-Boolean proof\n")
    return conclusion.split()[0]


def _conclude(trimmer: Trimmer, writer: Writer, last: int | None) -> str:
    tnf, optimises = trimmer.encoding.tnf, trimmer.encoding.optimises
    solution = trimmer.solutions[-1] if trimmer.solutions else None
    if solution is not None and not (last and trimmer.needed[solution]):
        writer.solution(trimmer.event(solution)[log.HEAD :])
    if last is None:
        return "NONE" if solution is None or optimises else "SAT"
    refutation = writer.events[last]
    if not optimises:
        return f"UNSAT : {refutation}"
    if solution is None:
        return f"BOUNDS INF : {refutation} INF"
    value = trimmer.best() - tnf.sense * trimmer.encoding.lower[tnf.objective]
    return f"BOUNDS {value} : {refutation} {value}"
