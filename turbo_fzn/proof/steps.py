"""The lines of a proof's steps, and the order literals that they define."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from turbo_fzn.process.interrupt import Interrupt
from turbo_fzn.proof.encoding import Assumed, Encoding


class Steps:
    """Writes the steps of a proof about an encoding, each with the number of its constraint."""

    def __init__(self, encoding: Encoding, write: Callable[[str], object], interrupt: Interrupt | None = None):
        """`interrupt`: a stop, which is looked for in long derivations."""
        self.encoding, self.write = encoding, write
        self.interrupt = Interrupt() if interrupt is None else interrupt
        self.count = encoding.count  # of constraints so far
        self.definitions = dict(encoding.definitions)
        self.words: dict[Assumed, str] = {}  # the terms of literals
        self.defined: dict[Assumed, tuple[int, int]] = {}
        self.lasting: set[int] = set()  # constraints of the proof that are never deleted

    def line(self, text: str) -> int:
        """Writes a line that derives a constraint. Returns its number."""
        self.write(text + "\n")
        self.count += 1
        return self.count

    def delete(self, numbers: Iterable[int]) -> None:
        """Writes that constraints are not needed any more."""
        if words := " ".join(map(str, numbers)):
            self.write(f"del id {words}\n")

    def rup(self, clause: list[Assumed], hints: list[str]) -> int:
        return self.line(f"rup {''.join(map(self.literal, clause))}>= 1 ; ~ {' '.join(dict.fromkeys(hints))}")

    def redundant(self, constraint: str, witness: str, proofs: Iterable[tuple[object, list[int]]]) -> int:
        """Writes a step of redundance. `proofs` are pairs of a goal, "#1" for the constraint itself, and of constraints
        whose sum contradicts its negation."""
        text = [f"red {constraint} ; {witness} ; begin"]
        self.count += 1  # the negation of the constraint
        for goal, numbers in proofs:
            text += [f"proofgoal {goal}", " ".join(["pol -1", *(f"{number} +" for number in numbers)]), "end -1"]
            self.count += 2
        return self.line("\n".join([*text, "end"]))

    # ---- order literals

    def define(self, assumed: Assumed) -> tuple[int, int]:
        """The constraints that define the literal, which is written where it is new."""
        found = self.defined.get(assumed)
        if found is None:
            self.defined[assumed] = found = self._define(assumed)
        return found

    def _define(self, assumed: Assumed) -> tuple[int, int]:
        side, k = assumed
        variable, k = side >> 1, 1 - k if side & 1 else k
        encoding = self.encoding
        number = encoding.at_least(variable, k) >> 1
        if number not in self.definitions:
            above, below = encoding.definition(variable, k - encoding.lower[variable])
            name = encoding.name_of(number)
            first, second = self.line(f"red {above} ; {name} -> 0"), self.line(f"red {below} ; {name} -> 1")
            self.definitions[number] = first, second
            self.lasting |= {first, second}
        return self.definitions[number]

    def literal(self, assumed: Assumed) -> str:
        """The term of the literal, defined; empty for a constant."""
        word = self.words.get(assumed)
        if word is None:
            encoding, variable = self.encoding, assumed[0] >> 1
            literal = encoding.literal(assumed)
            if literal >= 0 and encoding.upper[variable] - encoding.lower[variable] > 1:
                self.define(assumed)
            self.words[assumed] = word = f"1 {encoding.spell(literal)} " if literal >= 0 else ""
        return word

    def chain(self, side: int, higher: int, lower: int) -> int:
        """The clause that a bound implies a lower bound."""
        strong, weak = self.define((side, higher)), self.define((side, lower))
        a, b = (weak[1], strong[0]) if side & 1 == 0 else (strong[1], weak[0])
        degree = higher - lower + 1
        number = self.line(f"pol {a} {b} + s{f' {degree} d' if degree > 1 else ''}")
        self.lasting.add(number)
        return number
