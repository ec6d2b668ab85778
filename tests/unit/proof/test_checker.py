"""The checker of proofs: each rule on small formulas; what it accepts, enumeration accepts too."""

from __future__ import annotations

from itertools import product
from random import Random

import pytest

from support.command import write
from support.small_tnf import make_tnf
from turbo_fzn.command.actions import check_proof
from turbo_fzn.proof.checker import Refused, Verdict, check
from turbo_fzn.proof.encoding import Encoding
from turbo_fzn.proof.writer import HEADER, write_model
from turbo_fzn.tnf.language import LEQ

FORMULA = """* a comment
min: 1 aa 2 bb ;
1 aa 1 bb >= 1 ;
2 ~aa 1 cc >= 1 ;
1 bb 1 ~cc >= 1 ;
"""
PROOF_END = "end pseudo-Boolean proof\n"
END = "output NONE\nconclusion NONE\nend pseudo-Boolean proof\n"


def checked(steps: str, formula: str = FORMULA, conclusion: str = "NONE") -> Verdict:
    proof = f"pseudo-Boolean proof version 2.0\nf\n{steps}\noutput NONE\nconclusion {conclusion}\n"
    return check(formula.splitlines(), f"{proof}end pseudo-Boolean proof\n".splitlines())


@pytest.mark.parametrize(
    ("steps", "conclusion"),
    [
        ("pol 1 2 + s", "NONE"),
        ("pol 2 cc w", "NONE"),
        ("pol -1 -3 +\npol -1 s", "NONE"),
        ("pol 1 3 * 2 d ~aa 2 * + s", "NONE"),
        ("rup 1 bb >= 1 ;", "NONE"),
        ("rup 1 bb >= 1 ; ~ 1 2 3\ndel id 4", "NONE"),
        ("red 1 dd 1 ~bb >= 1 ; dd -> 1\nred 1 ~dd 1 bb >= 1 ; dd -> 0", "NONE"),
        ("sol ~aa bb cc", "NONE"),
        ("sol bb ~aa ~cc", "NONE"),
        ("soli ~aa bb ~cc\nrup 1 bb >= 1 ;\nrup >= 1 ; ~ 4 5", "BOUNDS 2 : 6 2"),
        ("rup 1 bb >= 1 ;\npol 4 2 *", "BOUNDS 2 : 5 INF"),
    ],
)
def test_steps_that_hold(steps, conclusion):
    assert checked(steps, conclusion=conclusion).conclusion == conclusion.split()[0]


@pytest.mark.parametrize(
    ("steps", "conclusion", "reason"),
    [
        ("pol 1 9 +", "NONE", "there is no constraint 9"),
        ("pol 1 2", "NONE", "operands without an operator"),
        ("pol 1 +", "NONE", "an operator without operands"),
        ("pol 1 -2 *", "NONE", "must be a positive number"),
        ("pol 1 0 d", "NONE", "must be a positive number"),
        ("rup 1 aa >= 1 ;", "NONE", "does not follow"),
        ("rup 1 bb >= 1 ; ~ 1 3", "NONE", "does not follow"),
        ("rup 1 bb >= 1 ; 1 2 3", "NONE", "does not follow"),
        ("del id 1\nrup 1 bb >= 1 ;", "NONE", "does not follow"),
        ("red 1 bb >= 1 ; bb -> 1", "NONE", "bb cannot be substituted"),
        ("red 1 ~cc >= 1 ; cc -> 0", "NONE", "the witness breaks a constraint"),
        ("sol aa ~bb ~cc", "NONE", "that is no solution"),
        ("sol aa ~aa", "NONE", "contradicts itself"),
        ("a 1 aa >= 1 ;", "NONE", "an unknown rule"),
        ("f 7", "NONE", "the formula has 3 constraints"),
        ("rup 1 bb >= 1 ;", "BOUNDS 3 : 4 INF", "does not follow"),
        ("rup 1 bb >= 1 ;", "BOUNDS 2 : 4 2", "does not follow"),
        ("soli aa bb cc", "BOUNDS 3 : 4 3", "does not follow"),
        ("soli ~aa bb ~cc\nrup 1 bb >= 1 ;\nrup >= 1 ; ~ 4 5", "BOUNDS 3 : 6 3", "does not follow"),
        ("soli ~aa bb ~cc\nrup 1 bb >= 1 ;\nrup >= 1 ; ~ 4 5", "BOUNDS INF : 6 INF", "does not follow"),
        ("rup 1 bb >= 1 ;\npol 4 2 *", "BOUNDS 2 : 5 2", "does not follow"),
        ("rup 3 aa 3 bb >= 3 ;", "BOUNDS 2 : 4 INF", "does not follow"),
        ("soli ~aa bb ~cc\nrup 1 bb >= 1 ;\nrup >= 1 ; ~ 4 5", "UNSAT : 6", "does not follow"),
        ("del id 1\nsol ~aa ~bb ~cc", "NONE", "that is no solution"),
        ("red 1 dd >= 1 ; dd -> 0", "NONE", "the witness breaks"),
        ("", "UNSAT : 1", "does not follow"),
        ("", "SAT", "does not follow"),
        ("pol x", "NONE", "is no literal"),
    ],
)
def test_steps_that_do_not_hold(steps, conclusion, reason):
    with pytest.raises(Refused, match=reason):
        checked(steps, conclusion=conclusion)


@pytest.mark.parametrize(
    ("formula", "steps"),
    [
        (("5 aa 1 bb >= 1 ;", "1 bb >= 1 ;"), "pol 1 aa w s\npol 3 2 +\npol 4 s"),  # s where less than nothing is asked
        (("1 aa 1 bb >= 1 ;", "1 aa >= 1 ;"), "pol 1 aa w s\npol 1 2 + aa w bb w s"),
        (("1 aa 1 aa >= 2 ;",), "pol 1"),  # a variable twice
        (("2 aa 1 ~aa >= 2 ;",), "pol 1 s"),
    ],
)
def test_no_contradiction_follows_from_a_formula_that_has_a_solution(formula, steps):
    with pytest.raises(Refused, match="does not follow"):
        checked(steps, "\n".join(formula), "UNSAT : -1")


def test_a_text_that_is_no_proof():
    for text in ("", "pseudo-Boolean proof version 3.0\n" + END, "pseudo-Boolean proof version 2.0\noutput NONE\n"):
        with pytest.raises(Refused):
            check(FORMULA.splitlines(), text.splitlines())
    with pytest.raises(Refused, match="not found: end"):
        check(FORMULA.splitlines(), ["pseudo-Boolean proof version 2.0", *END.splitlines()[:-1]])


def test_text_behind_the_end_is_refused():
    proof = ["pseudo-Boolean proof version 2.0", *END.splitlines(), "", "* a comment"]
    assert check(FORMULA.splitlines(), proof).conclusion == "NONE"
    for more in ("rup 1 bb >= 1 ;", "end pseudo-Boolean proof"):
        with pytest.raises(Refused, match="behind the end"):
            check(FORMULA.splitlines(), [*proof, more])


STEPS = "soli ~aa bb ~cc\nrup 1 bb >= 1 ;\nrup >= 1 ; ~ 4 5"
TWICE = "rup 1 bb >= 1 ;\npol 4 2 *"
SAID = "* a comment\n* {}objective = {} + what is minimised here\n"


@pytest.mark.parametrize(
    ("said", "steps", "conclusion", "words"),
    [
        ("", STEPS, "BOUNDS 2 : 6 2", "OPTIMAL_SOLUTION, objective 2"),
        (SAID.format("", 53), STEPS, "BOUNDS 2 : 6 2", "OPTIMAL_SOLUTION, objective 55"),
        (SAID.format("-", -57), STEPS, "BOUNDS 2 : 6 2", "OPTIMAL_SOLUTION, objective 55"),
        (SAID.format("", 53), STEPS, "BOUNDS 1 : 6 3", "SATISFIED, objective 56, and none is better than 54"),
        (SAID.format("-", -57), TWICE, "BOUNDS 2 : 5 INF", "UNKNOWN, the objective is at most 55"),
        (SAID.format("", 53), TWICE, "BOUNDS 2 : 5 INF", "UNKNOWN, the objective is at least 55"),
        (SAID.format("", 53), "", "NONE", "UNKNOWN"),
        ("1 ~bb >= 1 ;\n", "rup >= 1 ;", "BOUNDS INF : 5 INF", "UNSATISFIABLE"),
    ],
)
def test_the_status_and_the_objective_are_those_of_the_model(tmp_path, capsys, said, steps, conclusion, words):
    formula = f"{said}{FORMULA}" if said.startswith("*") else f"{FORMULA}{said}"
    proof = f"pseudo-Boolean proof version 2.0\nf\n{steps}\noutput NONE\nconclusion {conclusion}\n"
    paths = [str(write(tmp_path, text, name)) for text, name in ((formula, "a.opb"), (proof + PROOF_END, "a.pbp"))]
    assert check_proof(*paths) == 0
    assert capsys.readouterr().out == f"verified: {words} ({len(steps.splitlines()) + 1} steps)\n"


def test_an_objective_that_all_solutions_share_is_the_optimum(tmp_path, capsys):
    tnf = make_tnf([(7, 7), (0, 1)], [(LEQ, 1, 1, 0)])
    tnf.objective, tnf.sense = 0, -1
    model, proof = tmp_path / "a.opb", tmp_path / "a.pbp"
    with open(model, "w") as file:
        write_model(Encoding(tnf), file)
    n = sum(">=" in line for line in model.read_text().splitlines())
    proof.write_text(f"{HEADER}\nf {n}\nsol x1_1\noutput NONE\nconclusion SAT\n{PROOF_END}")
    assert check_proof(str(model), str(proof)) == 0
    assert capsys.readouterr().out == "verified: OPTIMAL_SOLUTION, objective 7 (2 steps)\n"


NAMES = ("aa", "bb", "cc", "dd")


def a_constraint(random: Random) -> str:
    names = random.sample(NAMES, random.randint(1, 3))
    terms = [f"{random.choice((1, 1, 2, -1, 3))} {random.choice(('', '~'))}{name}" for name in names]
    return f"{' '.join(terms)} >= {random.randint(0, 3)}"


def truths(constraint: str) -> set[tuple[int, ...]]:
    """The assignments to NAMES that satisfy it."""
    left, right = constraint.split(">=")
    words = left.split()
    pairs = [(int(a), NAMES.index(name.strip("~")), "~" in name) for a, name in zip(words[::2], words[1::2])]
    points = product((0, 1), repeat=len(NAMES))
    return {one for one in points if sum(a * (one[i] ^ negated) for a, i, negated in pairs) >= int(right)}


def a_step(random: Random, count: int) -> str:
    if random.random() < 0.5:
        return f"rup {a_constraint(random)} ;"
    words = [str(random.randint(1, count))]
    for _ in range(random.randint(1, 4)):
        words += random.choice(
            ([str(random.randint(1, count)), "+"], ["s"], ["2", "d"], ["3", "*"], ["aa", "w"], ["~bb", "+"])
        )
    return f"pol {' '.join(words)}"


def test_what_follows_follows():
    """A contradiction that is derived by random steps is one; with a solution, `rup` of its negation is refused."""
    random, accepted = Random(1), 0
    for _ in range(300):
        formula = [a_constraint(random) for _ in range(4)]
        possible = set.intersection(*map(truths, formula))
        steps = [a_step(random, 4 + i) for i in range(3)] + [f"rup {a_constraint(random)} ;", "rup >= 1 ;"]
        for end in range(len(steps), 0, -1):
            try:
                checked("\n".join(steps[:end]), "".join(f"{one} ;\n" for one in formula))
            except Refused:
                continue
            accepted += 1
            derived = [one[4:-2] for one in steps[:end] if one.startswith("rup")]
            assert all(possible <= truths(one) for one in derived if one != ">= 1")
            assert ">= 1" not in derived or not possible
            break
    assert accepted > 100
