"""A checker of pseudo-Boolean proofs, for `--check-proof`: the formula in OPB, the steps in VeriPB's format 2.0.

It is written from the definition of the format (the documentation of VeriPB; Gocht, Nordström, AAAI 2021), and is
independent of the solver: it uses no other module of this package. It has the rules that the solver's proofs need:
`pol`, `rup` with and without hints, `red`, `del id`, `sol`, `soli`, and the conclusions NONE, SAT, UNSAT and BOUNDS. It
refuses all other rules.

A literal is a number, twice its variable's and 1 more where it is negated. A constraint is normal: distinct variables,
positive coefficients; it means that the sum of the coefficients of its true literals is at least its degree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple


class Refused(Exception):
    """The proof is invalid: a step does not hold, or cannot be read."""


class Constraint(NamedTuple):
    """Literals, their coefficients, and the degree."""

    literals: tuple[int, ...]
    coefficients: tuple[int, ...]
    degree: int

    @property
    def is_false(self) -> bool:
        return sum(self.coefficients) < self.degree


class Verdict(NamedTuple):
    """The proved conclusion: "NONE", "SAT", "UNSAT" or "BOUNDS", with the bounds (None: infinite); the number of
    steps."""

    conclusion: str
    lower: int | None
    upper: int | None
    steps: int


def normal(terms: Iterable[tuple[int, int]], degree: int) -> Constraint:
    """The normal form of a sum of (coefficient, literal) that is at least `degree`."""
    sums: dict[int, int] = {}  # by variable, of its positive literal
    for coefficient, literal in terms:
        if literal & 1:
            degree -= coefficient
            coefficient = -coefficient
        sums[literal >> 1] = sums.get(literal >> 1, 0) + coefficient
    literals, coefficients = [], []
    for variable, coefficient in sums.items():
        if coefficient < 0:
            degree -= coefficient
        if coefficient:
            literals.append(2 * variable + (coefficient < 0))
            coefficients.append(abs(coefficient))
    return Constraint(tuple(literals), tuple(coefficients), max(degree, 0))


def negated(one: Constraint) -> Constraint:
    """The negation of the constraint."""
    degree = sum(one.coefficients) - one.degree + 1
    return Constraint(tuple(literal ^ 1 for literal in one.literals), one.coefficients, degree)


def implies(one: Constraint, other: Constraint) -> bool:
    """Whether `other` follows from `one` by adding axioms of literals."""
    known = dict(zip(other.literals, other.coefficients))
    lost = sum(max(a - known.get(literal, 0), 0) for literal, a in zip(one.literals, one.coefficients))
    return one.degree - lost >= other.degree


class Assignment:
    """The literals that are true; propagation of one constraint after the other."""

    def __init__(self) -> None:
        self.true: set[int] = set()

    def propagate(self, one: Constraint) -> bool | None:
        """Makes the literals true that the constraint implies. Returns whether there were any; None for a
        contradiction."""
        true = self.true
        slack = -one.degree
        for literal, coefficient in zip(one.literals, one.coefficients):
            if literal ^ 1 not in true:
                slack += coefficient
        if slack < 0:
            return None
        news = False
        for literal, coefficient in zip(one.literals, one.coefficients):
            if coefficient > slack and literal not in true and literal ^ 1 not in true:
                true.add(literal)
                news = True
        return news

    def fails(self, constraints: list[Constraint]) -> bool:
        """Propagates all constraints to a fixpoint. Returns whether that leads to a contradiction."""
        news = True
        while news:
            news = False
            for one in constraints:
                changed = self.propagate(one)
                if changed is None:
                    return True
                news = news or changed
        return False

    def satisfies(self, one: Constraint) -> bool:
        pairs = zip(one.literals, one.coefficients)
        return sum(coefficient for literal, coefficient in pairs if literal in self.true) >= one.degree


class Checker:
    """The state of a check: the constraints by number, and the objective, if any."""

    def __init__(self) -> None:
        self.variables: dict[str, int] = {}
        self.constraints: dict[int, Constraint] = {}
        self.formula: list[Constraint] = []
        self.count = 0  # the number of constraints so far
        self.occurrences: dict[int, list[int]] = {}  # variable -> numbers of constraints, perhaps deleted ones
        self.objective: list[tuple[int, int]] | None = None
        self.best: int | None = None
        self.steps = 0

    # ---- reading

    def literal(self, word: str) -> int:
        name = word.removeprefix("~")
        if len(name) < 2 or not name[0].isalpha():
            raise Refused(f"{word} is no literal")
        return 2 * self.variables.setdefault(name, len(self.variables)) + word.startswith("~")

    def terms(self, words: list[str]) -> list[tuple[int, int]]:
        if len(words) % 2:
            raise Refused("a coefficient without a literal")
        return [(integer(words[i]), self.literal(words[i + 1])) for i in range(0, len(words), 2)]

    def constraint(self, words: list[str]) -> Constraint:
        if len(words) < 2 or words[-2] != ">=":
            raise Refused("a constraint without >=")
        return normal(self.terms(words[:-2]), integer(words[-1]))

    def read_formula(self, lines: Iterable[str]) -> None:
        for line in lines:
            words = line.split()
            if not words or words[0].startswith("*"):
                continue
            if not words[-1].endswith(";"):
                raise Refused("a line of the formula without its end")
            words = line.rstrip().removesuffix(";").split()
            if words[0] == "min:":
                if self.objective is not None or self.formula:
                    raise Refused("the objective must come first, and once")
                self.objective = self.terms(words[1:])
            else:
                self.add(self.constraint(words))
                self.formula.append(self.constraints[self.count])

    def add(self, one: Constraint) -> None:
        self.count += 1
        self.constraints[self.count] = one
        for literal in one.literals:
            self.occurrences.setdefault(literal >> 1, []).append(self.count)

    def at(self, word: str) -> Constraint:
        number = integer(word)
        found = self.constraints.get(number if number > 0 else self.count + 1 + number)
        if found is None:
            raise Refused(f"there is no constraint {word}")
        return found

    # ---- rules

    def rule(self, words: list[str]) -> None:
        """One step of the proof."""
        name, *rest = words
        rules: dict[str, Callable[[list[str]], object]]
        rules = {"pol": self.polish, "rup": self.propagation, "red": self.redundant, "del": self.delete}
        rules |= {"sol": self.solution, "soli": self.improvement, "f": self.count_formula}
        if name not in rules:
            raise Refused(f"an unknown rule: {name}")
        rules[name](rest)

    def count_formula(self, words: list[str]) -> None:
        if words and integer(words[0]) != len(self.formula):
            raise Refused(f"the formula has {len(self.formula)} constraints, not {words[0]}")

    def polish(self, words: list[str]) -> None:
        """Cutting planes in reverse Polish notation."""
        stack: list[Constraint | int | str] = []
        for word in words:
            if word in ("+", "*", "d", "w"):
                if len(stack) < 2:
                    raise Refused("an operator without operands")
                right = stack.pop()
                stack.append(self.combine(word, stack.pop(), right))
            elif word == "s":
                if not stack:
                    raise Refused("an operator without operands")
                one = self.operand(stack.pop())
                cut = tuple(min(a, one.degree) for a in one.coefficients)
                stack.append(Constraint(one.literals, cut, one.degree) if one.degree else Constraint((), (), 0))
            else:
                stack.append(integer(word) if word.lstrip("-").isdigit() else word)
        if len(stack) != 1:
            raise Refused("operands without an operator")
        self.add(self.operand(stack[0]))

    def operand(self, one: Constraint | int | str) -> Constraint:
        """A constraint, from its number; of a literal, that it is at least 0."""
        if isinstance(one, int):
            return self.at(str(one))
        return Constraint((self.literal(one),), (1,), 0) if isinstance(one, str) else one

    def combine(self, operator: str, left: Constraint | int | str, right: Constraint | int | str) -> Constraint:
        one = self.operand(left)
        pairs = list(zip(one.coefficients, one.literals))
        if operator == "+":
            other = self.operand(right)
            return normal([*pairs, *zip(other.coefficients, other.literals)], one.degree + other.degree)
        if operator == "w":
            if not isinstance(right, str):
                raise Refused("only a variable can be weakened")
            variable = self.literal(right) >> 1
            lost = sum(a for a, literal in pairs if literal >> 1 == variable)
            return normal([pair for pair in pairs if pair[1] >> 1 != variable], one.degree - lost)
        if not isinstance(right, int) or right <= 0:
            raise Refused("a factor or divisor must be a positive number")
        if operator == "*":
            return normal([(a * right, literal) for a, literal in pairs], one.degree * right)
        return normal([(-(-a // right), literal) for a, literal in pairs], -(-one.degree // right))

    def propagation(self, words: list[str]) -> None:
        """Reverse unit propagation: without hints by all constraints, else by those that are named (`~`: the negation
        of the new one)."""
        one, hints = self.divided(words)
        against = negated(one)
        if hints:
            used = [against if word == "~" else self.at(word) for word in hints]
        else:
            used = [against, *self.constraints.values()]
        if not Assignment().fails(used):
            raise Refused("it does not follow by unit propagation")
        self.add(one)

    def divided(self, words: list[str]) -> tuple[Constraint, list[str]]:
        """The constraint before a semicolon, and the words behind it."""
        if ";" not in words:
            raise Refused("a constraint without its end")
        place = words.index(";")
        return self.constraint(words[:place]), words[place + 1 :]

    def redundant(self, words: list[str]) -> None:
        """Strengthening by redundance: constraints with a variable of the witness must hold after the substitution,
        too. The witness may not touch the objective."""
        one, witness = self.divided(words)
        witness = [word for word in witness if word != "->"]
        if len(witness) % 2:
            raise Refused("a variable without its value")
        image: dict[int, int | bool] = {}
        aims = {literal >> 1 for _, literal in self.objective or ()}
        for name, value in zip(witness[::2], witness[1::2]):
            if name.startswith("~") or self.literal(name) >> 1 in aims:
                raise Refused(f"{name} cannot be substituted")
            image[self.literal(name) >> 1] = value == "1" if value in ("0", "1") else self.literal(value)
        against = negated(one)
        numbers = {number for variable in image for number in self.occurrences.get(variable, ())}
        touched = [self.constraints[number] for number in sorted(numbers) if number in self.constraints]
        for goal in (one, *touched):
            after = substituted(goal, image)
            if implies(against, after) or Assignment().fails([negated(after), against, *touched]):
                continue
            raise Refused("the witness breaks a constraint")
        self.add(one)

    def delete(self, words: list[str]) -> None:
        if not words or words[0] != "id":
            raise Refused("del without id")
        for word in words[1:]:
            if self.constraints.pop(integer(word), None) is None:
                raise Refused(f"there is no constraint {word}")

    def solution(self, words: list[str]) -> int:
        """Checks a solution, which the constraints complete. Returns the objective's value."""
        found = Assignment()
        for word in words:
            literal = self.literal(word)
            if literal ^ 1 in found.true:
                raise Refused("a solution that contradicts itself")
            found.true.add(literal)
        everything = [*self.formula, *self.constraints.values()]
        if found.fails(everything) or not all(map(found.satisfies, everything)):
            raise Refused("that is no solution")
        value = 0
        for coefficient, literal in self.objective or ():
            if literal not in found.true and literal ^ 1 not in found.true:
                raise Refused("a solution without the value of the objective")
            value += coefficient * (literal in found.true)
        self.best = value if self.best is None else min(self.best, value)
        return value

    def improvement(self, words: list[str]) -> None:
        """A solution; from now on only better solutions count."""
        if self.objective is None:
            raise Refused("soli without an objective")
        value = self.solution(words)
        self.add(normal([(-a, literal) for a, literal in self.objective], 1 - value))

    # ---- the end

    def conclude(self, words: list[str]) -> Verdict:
        name, *rest = words or [""]
        if name == "NONE" and not rest:
            return Verdict(name, None, None, self.steps)
        if name == "SAT" and not rest and self.best is not None and self.objective is None:
            return Verdict(name, None, None, self.steps)
        if name == "UNSAT" and self.objective is None and len(rest) == 2 and rest[0] == ":":
            if self.at(rest[1]).is_false:
                return Verdict(name, None, None, self.steps)
        if name == "BOUNDS" and self.objective is not None and len(rest) == 4 and rest[1] == ":":
            lower, upper = (None if word == "INF" else integer(word) for word in (rest[0], rest[3]))
            if self.is_bound(lower, self.at(rest[2])) and (
                upper is None or (self.best is not None and self.best <= upper)
            ):
                return Verdict(name, lower, upper, self.steps)
        raise Refused(f"the conclusion does not follow: {' '.join(words)}")

    def is_bound(self, lower: int | None, one: Constraint) -> bool:
        """Whether the constraint implies that the objective is at least this bound; with None, that there is no
        solution. It may follow from the improvement on a solution, so it implies nothing beyond the best solution."""
        if self.best is not None and (lower is None or lower > self.best):
            return False
        return one.is_false or (lower is not None and implies(one, normal(self.objective or (), lower)))


def substituted(one: Constraint, image: dict[int, int | bool]) -> Constraint:
    terms, degree = [], one.degree
    for literal, coefficient in zip(one.literals, one.coefficients):
        value = image.get(literal >> 1, literal & ~1)
        if isinstance(value, bool):
            degree -= coefficient * (value != bool(literal & 1))
        else:
            terms.append((coefficient, value ^ (literal & 1)))
    return normal(terms, degree)


def integer(word: str) -> int:
    try:
        return int(word)
    except ValueError:
        raise Refused(f"{word} is no integer") from None


class _Lines:
    """The words of each line of a proof that is not empty or a comment; `number` is the number of the last line."""

    def __init__(self, lines: Iterable[str]):
        self.lines, self.number = iter(lines), 0

    def next(self) -> list[str]:
        """The words of the next line; empty after the last line."""
        for line in self.lines:
            self.number += 1
            words = line.split()
            if words and not words[0].startswith("*"):
                return words
        return []

    def expect(self, words: list[str]) -> None:
        if self.next() != words:
            raise Refused(f"not found: {' '.join(words)}")


def check(formula: Iterable[str], proof: Iterable[str]) -> Verdict:
    """Checks a proof. Raises Refused, with the line, if it is invalid."""
    checker, lines = Checker(), _Lines(proof)
    try:
        checker.read_formula(formula)
        lines.expect(["pseudo-Boolean", "proof", "version", "2.0"])
        while (words := lines.next()) and words[0] != "output":
            checker.steps += 1
            checker.rule(words)
        if words != ["output", "NONE"]:
            raise Refused("not found: output NONE")
        words = lines.next()
        if not words or words[0] != "conclusion":
            raise Refused("no conclusion")
        verdict = checker.conclude(words[1:])
        lines.expect(["end", "pseudo-Boolean", "proof"])
        if lines.next():
            raise Refused("there is more behind the end of the proof")
        return verdict
    except Refused as refusal:
        raise Refused(f"line {lines.number}: {refusal}") from None
