"""The checker's `red`: witnesses with literals, subproofs, and solutions that symmetry breaking has excluded."""

from __future__ import annotations

from collections import Counter
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from turbo_fzn.proof.checker import Checker, Refused, Verdict, check
from turbo_fzn.proof.writer import HEADER


def checked(steps: str, formula: str, conclusion: str = "NONE") -> Verdict:
    proof = f"{HEADER}\n{steps}\noutput NONE\nconclusion {conclusion}\nend pseudo-Boolean proof\n"
    return check(formula.splitlines(), proof.splitlines())


def bits(i: int, sign: int = 1) -> str:
    """The terms of the variable i of two bits."""
    return f"{sign} x{i}b0 {2 * sign} x{i}b1"


def swap(i: int, j: int) -> str:
    return " ".join(f"x{a}b{k} -> x{b}b{k}" for k in (0, 1) for a, b in ((i, j), (j, i)))


def at_most(i: int, j: int) -> str:
    return f"{bits(j)} {bits(i, -1)} >= 0 ; {swap(i, j)}"


SUM = " ".join(bits(i) for i in (1, 2, 3))
LESS = " ".join(bits(i, -1) for i in (3, 1, 2))
FORMULA = f"min: 1 zz ;\n{SUM} >= 4 ;\n{LESS} >= -5 ;\n3 zz {SUM} >= 6 ;\n"
CHAIN = f"""red {at_most(1, 2)}
red {at_most(1, 3)} ; begin
    proofgoal 4
        pol -1 -2 + 4 +
    end -1
end
red {at_most(2, 3)}
"""  # the constraints 4, 8 and 9; 5 to 7 are the negation of 8, that of the goal, and the contradiction


def test_interchangeable_variables_are_put_in_order():
    assert checked(CHAIN, FORMULA).steps == 7
    assert checked(f"{CHAIN}rup {bits(3)} >= 2 ;", FORMULA).steps == 8
    with pytest.raises(Refused, match="does not follow"):
        checked(f"rup {bits(3)} >= 2 ;", FORMULA)


def test_a_solution_that_the_order_excludes_is_one_of_the_formula():
    reversed_order = "x1b0 x1b1 x2b0 ~x2b1 x3b0 ~x3b1 zz"
    steps = f"{CHAIN}soli {reversed_order}\npol 3 2 + 10 3 * +"
    assert checked(steps, FORMULA, "BOUNDS 1 : 11 1") == Verdict("BOUNDS", 1, 1, 9)
    with pytest.raises(Refused, match="that is no solution"):
        checked(f"{CHAIN}soli x1b0 x1b1 x2b0 x2b1 x3b0 ~x3b1 zz", FORMULA)
    with pytest.raises(Refused, match="that is no solution"):
        checked("del id 2\nsol x1b0 x1b1 x2b0 x2b1 x3b0 ~x3b1 zz", FORMULA)


def test_what_the_proof_has_defined_needs_no_check_in_a_solution():
    define = "red 1 dd 1 ~x1 >= 1 ; dd -> 1\nred 1 ~dd 1 x1 >= 1 ; dd -> 0\n"
    for more in ("", " dd", " ~dd"):
        assert checked(f"{define}sol x1 ~x2{more}", "1 x1 1 x2 >= 1 ;", "SAT").conclusion == "SAT"


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("x1b1 -> x2b1 x2b1 -> x1b1", "", "breaks a constraint: #1"),
        ("x1b1 -> x2b1 x2b1 -> x1b1", "x1b1 -> x2b1", "breaks a constraint"),
        ("x1b1 -> x2b1 x2b1 -> x1b1", "x1b1 -> x2b0 x2b1 -> x1b1", "breaks a constraint"),
        ("x1b1 -> x2b1", "x1b1 -> ~x2b1", "breaks a constraint"),
        ("x1b1 -> x2b1", "zz -> x2b1", "zz cannot be substituted"),
        ("x1b1 -> x2b1", "~x1b1 -> x2b1", "~x1b1 cannot be substituted"),
        ("x1b1 -> x2b1", "x1b0 -> x2b1", "x1b0 cannot be substituted"),
        ("x1b1 -> x2b1", "x1b1 ->", "a variable without its value"),
        ("    proofgoal 4\n        pol -1 -2 + 4 +\n    end -1\n", "", "breaks a constraint: 4"),
        ("end -1", "end 4", "without a contradiction"),
        ("end -1", "end -2", "without a contradiction"),
        ("end -1", "end", "without a contradiction"),
        ("end -1", "end -1 -1", "without a contradiction"),
        ("end -1", "end 8", "there is no constraint 8"),
        ("end -1\nend", "end -1\nend 4", "names a constraint"),
        ("proofgoal 4", "proofgoal", "there is no goal"),
        ("proofgoal 4", "proofgoal 5", "there is no goal 5"),
        ("proofgoal 4", "proofgoal #2", "there is no goal #2"),
        ("proofgoal 4", "proofgoal -1", "there is no goal -1"),
        ("end -1\n", "end -1\nproofgoal 4\n", "there is no goal 4"),
        ("end -1\n", "end -1\nproofgoal 1\npol 7\nend -1\n", "there is no constraint 7"),
        ("end -1\n", "end -1\nproofgoal 1\npol 6\nend -1\n", "there is no constraint 6"),
        ("end -1\n", "end -1\nproofgoal #1\nrup >= 1 ; 7\nend -1\n", "there is no constraint 7"),
        ("end -1\n", "end -1\nproofgoal #1\nend -2\n", "there is no constraint -2"),
        ("proofgoal 4\n", "proofgoal 4\nproofgoal 1\n", "an unknown rule in a subproof: proofgoal"),
        ("proofgoal 4\n", "pol 4\nproofgoal 4\n", "an unknown rule in a subproof: pol"),
        ("proofgoal 4\n", "proofgoal 4\nred 1 yy >= 1 ; yy -> 1\n", "an unknown rule in a subproof: red"),
        ("proofgoal 4\n", "red 1 yy >= 1 ; yy -> 1 ; begin\n", "an unknown rule in a subproof: red"),
        ("proofgoal 4\n", "begin\nproofgoal 4\n", "an unknown rule in a subproof: begin"),
        ("proofgoal 4\n", "proofgoal 4\ndel id 1\n", "an unknown rule in a subproof: del"),
        ("proofgoal 4\n", "proofgoal 4\nsoli zz\n", "an unknown rule in a subproof: soli"),
        ("proofgoal 4\n", "proofgoal 4\nsol zz\n", "an unknown rule in a subproof: sol"),
        ("proofgoal 4\n", "proofgoal 4\nconclusion NONE\n", "an unknown rule in a subproof: conclusion"),
        ("proofgoal 4\n", "proofgoal 4\nrup >= 1 ;\n", "does not follow"),
        ("    end -1\nend\n", "", "an unknown rule in a subproof: red"),
        ("end -1\nend\n", "end -1\noutput NONE\n", "ends inside a subproof"),
        ("    end -1\nend\n", "output NONE\n", "ends inside a subproof"),
        ("; begin\n", "; start\n", "a variable without its value|is no literal"),
        ("; begin\n", "begin\n", "a variable without its value"),
        ("; begin\n", "\n", "breaks a constraint: 4"),
    ],
)
def test_a_chain_with_a_fault_is_refused(old, new, reason):
    assert old in CHAIN
    with pytest.raises(Refused, match=reason):
        checked(CHAIN.replace(old, new, 1), FORMULA)


@pytest.mark.parametrize(
    ("step", "reason"),
    [
        *((f"pol {number}", f"there is no constraint {number}") for number in ("5", "6", "7", "-3", "-4", "-5")),
        ("del id 5", "there is no constraint 5"),
        ("rup >= 1 ; 7", "there is no constraint 7"),
        ("end", "an unknown rule: end"),
        ("end -1", "an unknown rule: end"),
        ("proofgoal #1", "an unknown rule: proofgoal"),
        ("begin", "an unknown rule: begin"),
    ],
)
def test_nothing_of_a_subproof_is_left_behind_it(step, reason):
    with pytest.raises(Refused, match=reason):
        checked(CHAIN + step, FORMULA)


def test_the_constraint_itself_may_have_a_subproof():
    """Also a goal that needs none may; the order of the goals is free."""
    steps = """red 1 x1 >= 1 ; x1 -> x2 x2 -> x1 ; begin
    proofgoal #1
        * the negation of x1 is 2, that of x2 is 3
        rup >= 1 ; 1 2 3
    end 4
\tproofgoal 1
\t\tpol 2 1 +
\t\trup >= 1 ; 5 6
\tend 7
end
rup 1 x1 >= 1 ; ~ 8"""
    assert checked(steps, "1 x1 1 x2 >= 1 ;").steps == 10
    with pytest.raises(Refused, match="does not follow"):
        checked(steps.replace("rup >= 1 ; 1 2 3", "rup >= 1 ; 1 2"), "1 x1 1 x2 >= 1 ;")


def test_the_negation_of_what_cannot_hold_says_nothing():
    """Its degree would be negative; `s` must not make negative coefficients of that."""
    steps = "red 1 x1 1 x2 >= 4 ; ; begin\nproofgoal #1\npol -{} s 1 + 2 +\nend -1\nend"
    for number in (1, 2):
        with pytest.raises(Refused, match="without a contradiction"):
            checked(steps.format(number), "1 ~x1 >= 1 ;\n1 ~x2 >= 1 ;")


@pytest.mark.parametrize("degree", [1, 2, 3])
def test_a_goal_follows_from_a_constraint_of_its_terms_and_a_greater_degree(degree):
    formula = f"2 x1 2 x3 1 x4 >= 2 ;\n1 x4 2 x3 2 x2 >= {degree} ;"
    steps = "red 1 ~x1 1 x2 >= 1 ; x1 -> x2 x2 -> x1"
    if degree >= 2:
        assert checked(steps, formula).conclusion == "NONE"
    for more in ("", "del id 2\n") if degree < 2 else ("del id 2\n",):
        with pytest.raises(Refused, match="breaks a constraint: 1"):
            checked(more + steps, formula)


def test_constraints_are_indexed_only_for_witnesses_with_literals():
    checker = Checker()
    checker.read_formula(FORMULA.splitlines())
    for step in ("red 1 dd 1 zz >= 1 ; dd -> 1", "red 1 ~dd 1 ~zz >= 1 ; dd -> 0", "pol 1 2 +", "rup 1 dd 1 zz >= 1 ;"):
        checker.rule(step.split())
    assert checker.index.read == 0 and not checker.index.numbers
    checker.rule(f"red {at_most(1, 2)}".split())
    assert checker.index.read == 7 and len(checker.index.numbers) == 6  # 4 and 7 are equal


# ---- by enumeration

Terms = list[tuple[int, int]]  # coefficients and literals: a variable's number, inverted where it is negated
Row = tuple[Terms, int]


def value(literal: int, point: tuple[int, ...]) -> int:
    return point[literal] if literal >= 0 else 1 - point[~literal]


def total(terms: Terms, point: tuple[int, ...]) -> int:
    return sum(a * value(literal, point) for a, literal in terms)


def word(literal: int) -> str:
    return f"x{literal}" if literal >= 0 else f"~x{~literal}"


def spelled(row: Row) -> str:
    return f"{' '.join(f'{a} {word(literal)}' for a, literal in row[0])} >= {row[1]} ;"


def mapped(row: Row, image: dict[int, int]) -> Row:
    """The row after a substitution by literals."""
    after = [(a, image.get(max(one, ~one), max(one, ~one))) for a, one in row[0]]
    return [(a, ~new if one < 0 else new) for (a, new), (_, one) in zip(after, row[0])], row[1]


@st.composite
def rows(draw: st.DrawFn, n: int, size: int = 3) -> Row:
    names = draw(st.lists(st.sampled_from(range(n)), min_size=1, max_size=size, unique=True))
    terms = [(draw(st.sampled_from((1, 1, 2, -1, 3))), draw(st.sampled_from((one, ~one)))) for one in names]
    return terms, draw(st.integers(-1, 3))


class Drawn:
    """A formula, an objective, and constraints with witnesses; half of these are automorphisms that exchange two
    variables, perhaps negated, and others, perhaps, too."""

    def __init__(self, draw: st.DrawFn):
        self.draw, self.n = draw, draw(st.integers(3, 5))
        self.formula = draw(st.lists(rows(self.n), max_size=4))
        self.objective: Terms = [(draw(st.sampled_from((1, 2, -1))), 0)] if draw(st.booleans()) else []
        self.steps: list[tuple[Row, dict[int, int | str]]] = []
        for _ in range(draw(st.integers(1, 3))):
            self.steps.append(self.automorphism() if draw(st.booleans()) else self.guess())

    def guess(self) -> tuple[Row, dict[int, int | str]]:
        literals = [*range(self.n), *(~one for one in range(self.n))]
        values = st.one_of(st.sampled_from(("0", "1")), st.sampled_from(literals))
        return self.draw(rows(self.n)), self.draw(st.dictionaries(st.sampled_from(range(self.n)), values, max_size=2))

    def automorphism(self) -> tuple[Row, dict[int, int | str]]:
        order = self.draw(st.permutations(range(1, self.n)))
        image = {}
        for i, j in list(zip(order[::2], order[1::2]))[: self.draw(st.integers(1, 2))]:
            flips = self.draw(st.booleans())
            image |= {i: ~j, j: ~i} if flips else {i: j, j: i}
        if not self.steps:  # later, constraints before may be no longer symmetric
            self.formula += [mapped(row, image) for row in self.formula]
        first = order[0]
        return ([(1, image[first]), (1, ~first)], self.draw(st.sampled_from((1, 1, 1, 2)))), {**image}

    def points(self, rows: list[Row]) -> list[tuple[int, ...]]:
        points = product((0, 1), repeat=self.n)
        return [point for point in points if all(total(terms, point) >= least for terms, least in rows)]

    def text(self) -> str:
        objective = [f"min: {' '.join(f'{a} {word(one)}' for a, one in self.objective)} ;"] if self.objective else []
        return "\n".join([*objective, *map(spelled, self.formula)])


def red(row: Row, witness: dict[int, int | str], proved: list[str]) -> str:
    """The step, whose goals of these names have subproofs of one line."""
    values = {name: to if isinstance(to, str) else word(to) for name, to in witness.items()}
    line = f"red {spelled(row)} {' '.join(f'x{name} -> {to}' for name, to in values.items())}"
    goals = [f"proofgoal {name}\nrup >= 1 ;\nend -1" for name in proved]
    return "\n".join([f"{line} ; begin", *goals, "end"]) if proved else line


def goals_of(known: dict[int, Row], witness: dict[int, int | str]) -> list[str]:
    touched = [number for number, (terms, _) in known.items() if any(max(one, ~one) in witness for _, one in terms)]
    return ["#1", *map(str, touched)]


def test_red_keeps_a_solution_of_each_objective():
    """What the checker accepts leaves a solution of each value of the objective that the formula has a solution of;
    each solution of the formula stays one."""
    counts: Counter[str] = Counter()

    @settings(max_examples=4 * settings.default.max_examples)
    @given(st.data())
    def accepts_no_fault(data: st.DataObject) -> None:
        drawn = Drawn(data.draw)
        before = drawn.points(drawn.formula)
        known = dict(enumerate(drawn.formula, 1))
        lines: list[str] = []
        count = len(known)
        for row, witness in drawn.steps:
            goals = goals_of(known, witness)
            proved = data.draw(st.sampled_from(([], goals[:1], goals[1:], goals[::-1])))
            step, counts["tried"] = red(row, witness, proved), counts["tried"] + 1
            try:
                checked("\n".join([*lines, step]), drawn.text())
            except Refused:
                continue
            lines.append(step)
            count += 2 + 2 * len(proved) if proved else 1
            n_so_far, known[count] = len(drawn.points([*known.values()])), row
            after = drawn.points([*known.values()])
            values = [{total(drawn.objective, one) for one in points} for points in (before, after)]
            assert values[0] == values[1]
            excludes = len(after) < n_so_far
            counts["accepted"] += 1
            counts["proved"] += bool(proved)
            counts["excludes"] += excludes
            counts["swaps"] += excludes and sum(not isinstance(to, str) for to in witness.values()) > 1
        for point in before[:4]:
            solution = " ".join(word(name if one else ~name) for name, one in enumerate(point))
            checked("\n".join([*lines, f"pol {count}" if lines else "", f"sol {solution}"]), drawn.text())

    accepts_no_fault()
    assert counts["accepted"] > counts["tried"] / 4, counts
    assert min(counts["proved"], counts["excludes"], counts["swaps"]) > counts["tried"] / 20, counts
