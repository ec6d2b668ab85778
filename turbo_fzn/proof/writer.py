"""The files of a proof: the model as an OPB file, and the steps in VeriPB's format 2.0.

encoding.py makes the model, trim.py the steps. Each order literal is defined where it first occurs, and constraints
that no later step needs are deleted. The format: Gocht, Nordström, AAAI 2021; Bogaerts, Gocht, McCreesh, Nordström,
JAIR 2023; the documentation of VeriPB.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterable, Sequence
from typing import IO

from turbo_fzn.engine.logged import Log
from turbo_fzn.process.interrupt import Interrupt
from turbo_fzn.proof import log
from turbo_fzn.proof.encoding import Assumed, Encoding
from turbo_fzn.proof.hints import CHAIN, EVENT, KINDS, LAST, SHIFT, STEP, NotJustified, unpacked
from turbo_fzn.proof.leaders import Leaders
from turbo_fzn.proof.refutation import Inequality, Step, cutting_planes
from turbo_fzn.proof.relaxed import Relaxed
from turbo_fzn.proof.steps import Steps
from turbo_fzn.proof.trim import Trimmer

BLOCK_BYTES = 1 << 20  # format: copied at a time
HEADER = "pseudo-Boolean proof version 2.0"


def open_for_writing(path: str) -> IO[str]:
    """A text file, packed where its name ends with .gz."""
    if path.endswith(".gz"):
        return gzip.open(path, "wt", compresslevel=4, encoding="ascii")
    return open(path, "w", encoding="ascii")


def write_model(encoding: Encoding, file: IO[str]) -> None:
    """Writes the file of the model, once; the encoding's text is freed."""
    file.write(f"* #variable= {encoding.n_names} #constraint= {encoding.count}\n")
    tnf, objective = encoding.tnf, encoding.objective()
    if tnf.sense and not objective:
        file.write(f"* objective = {encoding.lower[tnf.objective]} in all solutions\n")
    elif objective:
        start = tnf.sense * encoding.lower[tnf.objective]
        file.write(f"* {'-' * (tnf.sense < 0)}objective = {start} + what is minimised here\n")
        file.write(f"min: {objective};\n")
    encoding.text.seek(0)
    while block := encoding.text.read(BLOCK_BYTES):
        file.write(block.decode("ascii"))
    encoding.text.close()


class Writer(Steps):
    """Writes the steps of a proof to a file."""

    def __init__(
        self,
        encoding: Encoding,
        write: Callable[[str], object],
        derivations: Sequence[list[str]] = (),
        relaxed: Relaxed | None = None,
        interrupt: Interrupt | None = None,
    ):
        """`derivations`: those of the inequalities of fused rows (derived.py). `relaxed`: what has proved the bounds of
        the objective."""
        super().__init__(encoding, write, interrupt)
        self.derivations, self.relaxed = derivations, relaxed
        self.formula = encoding.count
        self.known: dict[int, str] = {}  # hint without LAST -> its constraint, of events, steps and chains
        self.parts: dict[Step, int] = {}  # of the step that is being derived
        self.kept: dict[Step, int] = {}  # those of several
        self.derived: dict[int, range] = {}  # the hint of a step -> the constraints derived for it
        self.stated_fused: dict[int, int] = {}  # inequality of a fused row -> its constraint
        self.of_relaxation: Inequality | None = None  # the relaxation's bound

    def stated(self, one: Inequality) -> Inequality:
        """The inequality with its constraint's number; that of a fused row is derived where it is new."""
        if one.number > 0:
            return one
        if one.number not in self.stated_fused:
            self.stated_fused[one.number] = self.line(f"pol {' '.join(self.derivations[-one.number])}")
            self.lasting.add(self.count)
        return one._replace(number=self.stated_fused[one.number])

    # ---- steps

    def constraint(self, name: int, trimmer: Trimmer) -> str:
        """The constraint of a hint without LAST (hints.py), which may be used for the first time."""
        kind, number = name & KINDS, name >> SHIFT
        if name not in self.known:
            if kind == EVENT:
                raise LookupError
            before = self.count
            self.parts.clear()
            found = self.chain(*trimmer.chains[number]) if kind == CHAIN else self.derive(trimmer.steps[number])
            self.known[name] = str(found)
            if kind == STEP:
                self.derived[name] = range(before + 1, self.count + 1)
        return self.known[name]

    def derive(self, step: Step) -> int:
        """Writes a step. Returns its constraint."""
        if step.inequality is not None:
            return self.against(self.stated(step.inequality), step.assumed)
        for assumed in step.assumed:
            self.literal(assumed)
        parts = [str(self.part(one)) for one in step.parts]
        if step.closing:
            parts.append(str(step.closing))
        return self.rup([(side ^ 1, 1 - k) for side, k in step.assumed], parts)

    def against(self, inequality: Inequality, assumed: Iterable[Assumed]) -> int:
        """The constraint that the inequality excludes these bounds; a new one is written."""
        line = cutting_planes(self.encoding, inequality, assumed, self.define)
        return inequality.number if line is None else self.line(line)

    def part(self, step: Step) -> int:
        """The constraint of a part of a step, which may be a part of several."""
        known = self.kept if step.lasts else self.parts
        if step not in known:
            known[step] = number = self.derive(step)
            if step.lasts:
                self.lasting.add(number)
        return known[step]

    # ---- events

    def event(self, number: int, hints: bytes, trimmer: Trimmer) -> int:
        """Writes the clause of an event, and deletes constraints that are not needed after it. Returns its number."""
        _, kind, *words = trimmer.event(number)
        used = unpacked(hints)
        if kind == log.SOLUTION:
            found = self.solution(words)
        elif kind == log.ROOT and words[2] == log.DECISION:
            found = self.cut(words[0], words[1], used, trimmer)
        else:
            clause = {log.LEARNED: words[1:], log.ROOT: words[:2], log.REFUTED: []}[kind]
            known, names = self.known, [hint & ~LAST for hint in reversed(used)]
            found = self.rup(
                log.literals(clause), [known.get(name) or self.constraint(name, trimmer) for name in names]
            )
        self.known[number << SHIFT | EVENT] = str(found)
        self.forget([hint & ~LAST for hint in used if hint & LAST])
        return found

    def solution(self, values: list[int]) -> int:
        words = " ".join(self.true_literals(values))
        if self.encoding.optimises:
            self.lasting.add(self.line(f"soli {words}"))
            return self.count
        self.write(f"sol {words}\n")
        return 0

    def true_literals(self, values: list[int]) -> Iterable[str]:
        """The literals of a solution, and the literals that the proof has defined."""
        yield from self.encoding.assignment(values)
        for (variable, offset), number in self.encoding.orders.items():
            if number in self.definitions and number not in self.encoding.definitions:
                yield self.encoding.spell(2 * number + (values[variable] - self.encoding.lower[variable] < offset))

    def cut(self, side: int, k: int, used: list[int], trimmer: Trimmer) -> int:
        """The objective's bound, from the constraint of an improving solution, or else from the relaxation."""
        against = side ^ 1, 1 - k
        if used:
            improving = int(self.known[used[0] & ~LAST])
            least = 1 - trimmer.value(trimmer.event(used[0] >> SHIFT)[log.HEAD :])  # k, or more than that
            inequality = Inequality(improving, ((side >> 1, -1 if side & 1 else 1),), least)
        else:
            inequality = self.relaxed_bound()
        return self.against(inequality, (against,) if self.literal(against) else ())  # otherwise no value is left

    def relaxed_bound(self) -> Inequality:
        """The relaxation's bound, derived where it is new."""
        assert self.relaxed is not None, "trim.py has seen its bound"
        if self.of_relaxation is None:
            self.of_relaxation = self.relaxed.state(self)
            self.lasting.add(self.of_relaxation.number)
        return self.of_relaxation

    def forget(self, names: list[int]) -> None:
        """Deletes what these hints use, except for constraints that last."""
        own: list[int] = []
        for name in names:
            number = int(self.known.pop(name))
            own += self.derived.pop(name) if name & KINDS == STEP else (number,)
        self.delete(number for number in own if number > self.formula and number not in self.lasting)


def write_proof(
    encoding: Encoding,
    learned: Log,
    file: IO[str],
    interrupt: Interrupt,
    answer: list[int] | None = None,
    relaxed: Relaxed | None = None,
    leaders: Leaders | None = None,
) -> str:
    """Writes the proof of a log and of the last solution that was printed, if it is known, with the bound of a
    relaxation, and behind the steps of leaders. Returns the conclusion; "NONE" if the log has no end. Raises
    Interrupted, and NotJustified for a log that cannot be explained, or does not prove the answer."""

    def trimmed(leaders: Leaders | None) -> tuple[Trimmer, list[tuple[int, bytes]]]:
        encoding.renumber({} if leaders is None else leaders.numbers)
        trimmer = Trimmer(encoding, learned, interrupt, answer, relaxed, () if leaders is None else leaders.stated)
        any_will_do = trimmer.solutions and not encoding.optimises
        return trimmer, trimmer.trim() if trimmer.refuted and not any_will_do else []

    try:
        trimmer, kept = trimmed(leaders)
        if leaders is not None and not trimmer.uses(leaders.stated):  # as where the relaxation has refuted
            leaders = None
            trimmer, kept = trimmed(leaders)
        return _write_steps(trimmer, kept, file, relaxed, leaders)
    except LookupError:
        raise NotJustified("the log names a side, row or clause that does not exist") from None


def _write_steps(
    trimmer: Trimmer,
    kept: list[tuple[int, bytes]],
    file: IO[str],
    relaxed: Relaxed | None,
    leaders: Leaders | None,
) -> str:
    encoding = trimmer.encoding
    file.write(f"{HEADER}\nf {encoding.count}\n")
    writer = Writer(encoding, file.write, trimmer.rows.words, relaxed, trimmer.interrupt)
    if leaders is not None:
        file.write(leaders.text)
        writer.count = leaders.count
        writer.lasting |= {*leaders.stated, *leaders.numbers.values()}
    last = None
    for number, hints in trimmer.interrupt.between(kept):
        last = writer.event(number, hints, trimmer)
    conclusion = _conclude(trimmer, writer, last)
    file.write(f"output NONE\nconclusion {conclusion}\nend pseudo-Boolean proof\n")
    return conclusion.split()[0]


def _conclude(trimmer: Trimmer, writer: Writer, refutation: int | None) -> str:
    tnf, optimises = trimmer.encoding.tnf, trimmer.encoding.optimises
    solution = trimmer.solutions[-1] if trimmer.solutions else None
    if solution is not None and not (refutation and trimmer.needed[solution]):
        writer.solution(trimmer.event(solution)[log.HEAD :])
    if refutation is None:
        return "NONE" if solution is None or optimises else "SAT"
    if not optimises:
        return f"UNSAT : {refutation}"
    if solution is None:
        return f"BOUNDS INF : {refutation} INF"
    value = trimmer.best() - tnf.sense * trimmer.encoding.lower[tnf.objective]
    return f"BOUNDS {value} : {refutation} {value}"
