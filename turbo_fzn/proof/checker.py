"""A checker of pseudo-Boolean proofs, for `--check-proof`: the formula in OPB, the steps in VeriPB's format 2.0.

It is written from the definition of the format (the documentation of VeriPB; Gocht, Nordström, AAAI 2021), and is
independent of the solver: it is this file and constraints.py alone, which use no other module of this package. It has
the rules that the solver's proofs need: `pol`, `rup` with and without hints, `red`, also with a subproof of `pol` and
`rup`, `del id`, `sol`, `soli`, and the conclusions NONE, SAT, UNSAT and BOUNDS. It refuses all other rules.

    red 1 ~x1 1 x2 >= 1 ; x1 -> x2 x2 -> x1 ; begin
        proofgoal 4
            pol -1 -2 + 4 +
        end -1
    end

In a subproof the negation of the new constraint has the next number, then that of each goal (`proofgoal 4`: what the
witness makes of constraint 4; `#1`: of the new one itself), then what `pol` and `rup` derive, until `end` names a
contradiction. Behind its `end` all that is gone, and the new constraint has the next number after it. Goals without a
proof follow by themselves: from the negation, from a constraint of the same terms, or by unit propagation.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import NamedTuple

from turbo_fzn.proof.constraints import (
    Assignment,
    Constraint,
    Index,
    Sum,
    implies,
    negated,
    normal,
    substituted,
    weight,
)


class Refused(Exception):
    """The proof is invalid: a step does not hold, or cannot be read."""


class Verdict(NamedTuple):
    """The proved conclusion: "NONE", "SAT", "UNSAT" or "BOUNDS", with the bounds (None: infinite); the number of
    steps."""

    conclusion: str
    lower: int | None
    upper: int | None
    steps: int


class Claim(NamedTuple):
    """A constraint that a witness makes redundant, if its goals follow from its negation and the constraints so far:
    these are itself (named #1) and what the witness touches, after the substitution."""

    one: Constraint
    image: dict[int, int | bool]
    goals: dict[str, Constraint]  # that are left, before the substitution
    touched: list[Constraint]
    start: int  # the number of constraints before it


class Checker:
    """The state of a check: the constraints by number, and the objective, if any."""

    def __init__(self) -> None:
        self.literals: dict[str, int] = {}  # none is 0
        self.constraints: dict[str, Constraint] = {}  # by the words of their numbers
        self.formula: list[Constraint] = []
        self.count = 0  # the number of constraints so far
        self.occurrences: dict[int, list[int]] = defaultdict(list)  # variable -> constraints, perhaps deleted ones
        self.objective: tuple[list[int], list[int]] | None = None  # literals and coefficients
        self.best: int | None = None
        self.steps = 0
        self.rules = RULES  # those that may come next
        self.claim: Claim | None = None  # while its subproof is read
        self.goal_start = 0  # the number of constraints before the goal that is proved
        self.index = Index()

    def literal(self, word: str) -> int:
        if word not in self.literals:
            name = word.removeprefix("~")
            if len(name) < 2 or not name[0].isalpha():
                raise Refused(f"{word} is no literal")
            self.literals[name], self.literals[f"~{name}"] = len(self.literals) + 2, len(self.literals) + 3
        return self.literals[word]

    def terms(self, words: list[str]) -> tuple[list[int], list[int]]:
        """Literals and coefficients."""
        if len(words) % 2:
            raise Refused("a coefficient without a literal")
        known = self.literals
        return [known.get(word) or self.literal(word) for word in words[1::2]], list(map(int, words[::2]))

    def constraint(self, words: list[str]) -> Constraint:
        if len(words) < 2 or words[-2] != ">=":
            raise Refused("a constraint without >=")
        return normal(*self.terms(words[:-2]), int(words[-1]))

    def read_formula(self, lines: Iterable[str]) -> None:
        for line in lines:
            words = line.split()
            if not words or words[0].startswith("*"):
                continue
            if not words[-1].endswith(";"):
                raise Refused("a line of the formula without its end")
            words[-1:] = words[-1].removesuffix(";").split()
            if words[:1] == ["min:"]:
                if self.objective is not None or self.formula:
                    raise Refused("the objective must come first, and once")
                self.objective = self.terms(words[1:])
            else:
                self.add(self.constraint(words))
                self.formula.append(self.constraints[str(self.count)])

    def add(self, one: Constraint) -> None:
        self.count += 1
        self.constraints[str(self.count)] = one
        for literal in one.literals:
            self.occurrences[literal >> 1].append(self.count)

    def at(self, word: str) -> Constraint:
        number = int(word)
        found = self.constraints.get(str(number if number > 0 else self.count + 1 + number))
        if found is None:
            raise Refused(f"there is no constraint {word}")
        return found

    def rule(self, words: list[str]) -> None:
        """One step of the proof."""
        if words[0] not in self.rules:
            raise Refused(f"an unknown rule{'' if self.claim is None else ' in a subproof'}: {words[0]}")
        self.rules[words[0]](self, words[1:])

    def count_formula(self, words: list[str]) -> None:
        if words and int(words[0]) != len(self.formula):
            raise Refused(f"the formula has {len(self.formula)} constraints, not {words[0]}")

    def polish(self, words: list[str]) -> None:
        """Cutting planes in reverse Polish notation."""
        stack: list[Sum | int | str] = []
        for word in words:
            if word in OPERANDS:
                if len(stack) < OPERANDS[word]:
                    raise Refused("an operator without operands")
                right = stack.pop() if OPERANDS[word] == 2 else ""
                stack.append(self.combine(word, self.operand(stack.pop()), right))
            else:
                stack.append(int(word) if word.lstrip("-").isdigit() else word)
        if len(stack) != 1:
            raise Refused("operands without an operator")
        self.add(self.operand(stack[0]).constraint())

    def operand(self, one: Sum | int | str) -> Sum:
        """A constraint, from its number; of a literal, that it is at least 0."""
        if isinstance(one, Sum):
            one.degree = max(one.degree, 0)
            return one
        return Sum(*self.at(str(one))) if isinstance(one, int) else Sum((self.literal(one),), (1,))

    def combine(self, operator: str, one: Sum, right: Sum | int | str) -> Sum:
        """The result of an operator; its left operand changes."""
        if operator == "s":
            terms = one.terms if one.degree else {}
            return Sum(terms, [min(a, one.degree) for a in terms.values()], one.degree)
        if operator == "+":
            other = self.operand(right)
            one.add(other.terms, other.terms.values(), other.degree)
        elif operator == "w":
            if not isinstance(right, str):
                raise Refused("only a variable can be weakened")
            literal = self.literal(right)
            one.degree -= one.terms.pop(literal, 0) + one.terms.pop(literal ^ 1, 0)
        elif not isinstance(right, int) or right <= 0:
            raise Refused("a factor or divisor must be a positive number")
        else:
            scaled = right.__mul__ if operator == "*" else lambda a: -(-a // right)
            return Sum(one.terms, map(scaled, one.terms.values()), scaled(one.degree))
        return one

    def propagation(self, words: list[str]) -> None:
        """Reverse unit propagation: without hints by all constraints, else by those that are named (`~`: the negation
        of the new one)."""
        one, hints = self.divided(words)
        against = negated(one)
        known = self.constraints
        used = [against if word == "~" else known.get(word) or self.at(word) for word in hints]
        used = used or [against, *known.values()]
        if not Assignment().fails(used):
            raise Refused("it does not follow by unit propagation")
        self.add(one)

    def divided(self, words: list[str]) -> tuple[Constraint, list[str]]:
        """The constraint before a semicolon, and the words behind it."""
        place = words.index(";")
        return self.constraint(words[:place]), words[place + 1 :]

    def redundant(self, words: list[str]) -> None:
        """Strengthening by redundance: constraints with a variable of the witness must hold after the substitution,
        too. `begin` opens a subproof of these goals."""
        one, words = self.divided(words)
        has_proof = words[-2:] == [";", "begin"]
        image = self.witness(words[:-2] if has_proof else words)
        numbers = {number for variable in image for number in self.occurrences.get(variable, ())}
        names = [str(number) for number in sorted(numbers)]
        touched = {name: found for name in names if (found := self.constraints.get(name)) is not None}
        claim = Claim(one, image, {"#1": one, **touched}, [*touched.values()], self.count)
        if has_proof:
            self.claim, self.rules = claim, RULES_OF_SUBPROOF
            self.add(negated(one))
        else:
            self.conclude_claim(claim)

    def witness(self, words: list[str]) -> dict[int, int | bool]:
        """The values of variables, constants or literals. The objective must keep its value, so it is not touched."""
        words = [word for word in words if word != "->"]
        if len(words) % 2:
            raise Refused("a variable without its value")
        image: dict[int, int | bool] = {}
        aims = {literal >> 1 for literal in self.objective[0]} if self.objective else ()
        for name, value in zip(words[::2], words[1::2]):
            variable = self.literal(name) >> 1
            if name.startswith("~") or variable in aims or variable in image:
                raise Refused(f"{name} cannot be substituted")
            image[variable] = value == "1" if value in ("0", "1") else self.literal(value)
        return image

    def conclude_claim(self, claim: Claim) -> None:
        """Adds the constraint, if each goal that is left follows without a subproof."""
        against = negated(claim.one)
        there = self.index.kept(claim.goals, claim.image, self.constraints, self.count)
        for name in [name for name in claim.goals if name not in there]:
            goal = substituted(claim.goals[name], claim.image)
            is_clear = goal.degree == 0 or implies(against, goal)
            if not is_clear and not Assignment().fails([negated(goal), against, *claim.touched]):
                raise Refused(f"the witness breaks a constraint: {name}")
        self.add(claim.one)

    def begin_goal(self, words: list[str]) -> None:
        """Assumes the negation of a goal, which is then open no more."""
        assert self.claim is not None
        goal = self.claim.goals.pop(" ".join(words), None)
        if goal is None:
            raise Refused(f"there is no goal {' '.join(words)}")
        self.goal_start, self.rules = self.count, RULES_OF_GOAL
        self.add(negated(substituted(goal, self.claim.image)))

    def end_goal(self, words: list[str]) -> None:
        if len(words) != 1 or not self.at(words[0]).is_false:
            raise Refused("the goal ends without a contradiction")
        self.forget(self.goal_start)
        self.rules = RULES_OF_SUBPROOF

    def end_subproof(self, words: list[str]) -> None:
        assert self.claim is not None
        if words:
            raise Refused("the end of a subproof names a constraint")
        claim, self.claim, self.rules = self.claim, None, RULES
        self.forget(claim.start)
        self.conclude_claim(claim)

    def forget(self, start: int) -> None:
        """Removes the constraints behind this number. Their numbers are not used again."""
        for number in range(start + 1, self.count + 1):
            self.constraints.pop(str(number), None)

    def delete(self, words: list[str]) -> None:
        if not words or words[0] != "id":
            raise Refused("del without id")
        for word in words[1:]:
            if self.constraints.pop(str(int(word)), None) is None:
                raise Refused(f"there is no constraint {word}")

    def solution(self, words: list[str]) -> int:
        """Checks a solution, which the formula completes. Returns the objective's value.

        What the proof has derived may exclude it: `red` keeps for each solution only one of the same objective. So
        bounds stay sound: while the formula has a solution that is better than all before, so have the constraints.
        """
        found = Assignment()
        for word in words:
            literal = self.literal(word)
            if literal in found.false:
                raise Refused("a solution that contradicts itself")
            found.true.add(literal)
            found.false.add(literal ^ 1)
        if found.fails(self.formula) or any(weight(one, found.true) < one.degree for one in self.formula):
            raise Refused("that is no solution")
        value = 0
        for literal, coefficient in zip(*self.objective or ((), ())):
            if literal not in found.true and literal not in found.false:
                raise Refused("a solution without the value of the objective")
            value += coefficient * (literal in found.true)
        self.best = value if self.best is None else min(self.best, value)
        return value

    def improvement(self, words: list[str]) -> None:
        """A solution; from now on only better solutions count."""
        if self.objective is None:
            raise Refused("soli without an objective")
        literals, coefficients = self.objective
        self.add(normal(literals, [-a for a in coefficients], 1 - self.solution(words)))

    def conclude(self, words: list[str]) -> Verdict:
        name, *rest = words or [""]
        holds = name == "NONE" and not rest
        holds |= name == "SAT" and not rest and self.best is not None and self.objective is None
        if name == "UNSAT" and self.objective is None and len(rest) == 2 and rest[0] == ":":
            holds = self.at(rest[1]).is_false
        if holds:
            return Verdict(name, None, None, self.steps)
        if name == "BOUNDS" and self.objective is not None and len(rest) == 4 and rest[1] == ":":
            lower, upper = (None if word == "INF" else int(word) for word in (rest[0], rest[3]))
            is_reached = upper is None or (self.best is not None and self.best <= upper)
            if self.is_bound(lower, self.at(rest[2])) and is_reached:
                return Verdict(name, lower, upper, self.steps)
        raise Refused(f"the conclusion does not follow: {' '.join(words)}")

    def is_bound(self, lower: int | None, one: Constraint) -> bool:
        """Whether the constraint implies that the objective is at least this bound; with None, that there is no
        solution. It may follow from the improvement on a solution, so it implies nothing beyond the best solution."""
        if self.best is not None and (lower is None or lower > self.best):
            return False
        literals, coefficients = self.objective or ((), ())
        return one.is_false or (lower is not None and implies(one, normal(literals, coefficients, lower)))


OPERANDS = {"+": 2, "*": 2, "d": 2, "w": 2, "s": 1}
Rules = dict[str, Callable[[Checker, list[str]], object]]
RULES: Rules = {
    "pol": Checker.polish, "rup": Checker.propagation, "red": Checker.redundant, "del": Checker.delete,
    "sol": Checker.solution, "soli": Checker.improvement, "f": Checker.count_formula,
}  # fmt: skip
RULES_OF_SUBPROOF: Rules = {"proofgoal": Checker.begin_goal, "end": Checker.end_subproof}
RULES_OF_GOAL: Rules = {"pol": Checker.polish, "rup": Checker.propagation, "end": Checker.end_goal}


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
        if checker.claim is not None:
            raise Refused("the proof ends inside a subproof")
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
    except (Refused, ValueError) as refusal:  # what is no integer, or lacks its semicolon
        raise Refused(f"line {lines.number}: {refusal}") from None
