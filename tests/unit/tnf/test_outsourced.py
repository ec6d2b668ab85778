"""What a learner with wide rows does without: against the meaning of models whose constraints share what they are made
of.

Tasks under one or two cumulatives, with constraints beside them that speak of the same comparisons. For assignments of
the model's variables, the rows that are left and the wide rows together say what the model says; and what has left can
be given back, so that every row holds.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import NamedTuple

import numpy as np
import pytest

from support import naive
from turbo_fzn.engine import root
from turbo_fzn.lower.rewrite import lower
from turbo_fzn.read.flatzinc import parse_text
from turbo_fzn.tnf.language import TNF, Op
from turbo_fzn.tnf.outsourced import Outsourced, outsourced
from turbo_fzn.tnf.simplify import simplify
from turbo_fzn.tnf.wide import WideKind, named_by

MODELS = 150
ASSIGNMENTS = 40  # of each

Rule = Callable[[dict[str, int]], bool]


class Model(NamedTuple):
    """A model in FlatZinc, the bounds of its variables, and what it says of their values."""

    text: str
    names: dict[str, tuple[int, int]]
    rules: list[Rule]

    def holds(self, values: dict[str, int]) -> bool:
        return all(rule(values) for rule in self.rules)


def fits(starts: list[str], lengths: list[int | str], uses: list[int], capacity: str) -> Rule:
    """Lengths are numbers or names."""

    def rule(values: dict[str, int]) -> bool:
        tasks = [(values[s], values.get(d, d), r) for s, d, r in zip(starts, lengths, uses)]
        return all(sum(r for s, d, r in tasks if s <= t < s + d) <= values[capacity] for t in range(-2, 40))

    return rule


def apart(first: str, length: int | str, second: str, other: int | str) -> Rule:
    """One ends before the other begins, or one has no length."""

    def rule(values: dict[str, int]) -> bool:
        d, e = values.get(length, length), values.get(other, other)
        return values[first] + d <= values[second] or values[second] + e <= values[first] or not d or not e

    return rule


def draw(random: Random) -> Model:
    """Domains are short for a time table, or long for pairs of tasks."""
    last, n = random.choice((3, 12)), random.randint(2, 4)
    starts = [f"s{i}" for i in range(n)]
    names = {name: (low, low + last) for name in starts for low in (random.randint(-1, 2),)}
    names |= {"c": (1, 4), "b": (0, 1), "e": (-9, 30), "m": (0, 3)}
    lines, rules = [], []
    for _ in range(random.randint(1, 2)):
        lengths, uses = ([random.randint(0, 4) for _ in starts] for _ in range(2))
        lengths[0] = random.choice((lengths[0], "m"))
        lines.append(f"turbo_cumulative([{', '.join(starts)}], [{', '.join(map(str, lengths))}], {uses}, c)")
        rules.append(fits(starts, lengths, uses, "c"))
    a, z, k = random.choice(starts), random.choice(starts), random.randint(0, 4)
    i, j = random.sample(range(n), 2)
    low = random.randint(-1, 4)
    beside = [
        (f"turbo_sliding_sum({low}, {low + k}, 2, [s0, m])", lambda v: low <= v["s0"] + v["m"] <= low + k),
        (f"int_le_reif({a}, {k}, b)", lambda v: v["b"] == (v[a] <= k)),
        (f"int_le_reif({a}, {z}, b)", lambda v: v["b"] == (v[a] <= v[z])),
        (f"int_lin_eq([1, -1], [{a}, e], {-k})", lambda v: v["e"] == v[a] + k),
        (f"turbo_all_different([{', '.join(starts)}])", lambda v: len({v[s] for s in starts}) == n),
        ("bool_eq(b, true)", lambda v: v["b"] == 1),
        (
            f"turbo_disjunctive([{starts[i]}, {starts[j]}], [{lengths[i]}, {lengths[j]}])",
            apart(starts[i], lengths[i], starts[j], lengths[j]),
        ),
    ]
    for line, rule in random.sample(beside, random.randint(0, 3)):
        lines.append(line)
        rules.append(rule)
    random.shuffle(lines)
    declared = [f"var {low}..{high}: {name} :: output_var;\n" for name, (low, high) in names.items() if name != "b"]
    text = f"{''.join(declared)}var bool: b :: output_var;\n{''.join(f'constraint {x};{chr(10)}' for x in lines)}"
    return Model(f"{text}solve satisfy;\n", names, rules)


class Seen(NamedTuple):
    """A model, its TNF, the variable of each name, and what a learner leaves out."""

    model: Model
    tnf: TNF
    places: dict[str, int]
    left: Outsourced


def see(model: Model) -> Seen | None:
    lowered = lower(parse_text(model.text))
    simplified = simplify(lowered.tnf, root.propagate)
    tnf, back = simplified.tnf, simplified.reconstruction
    if tnf.infeasible:
        return None
    tnf.lower, tnf.upper = root.propagate(tnf)
    places = {name: int(back.position[back.representative[lowered.origin[name]]]) for name in model.names}
    kept = np.zeros(tnf.n_vars, bool)
    kept[named_by(tnf.wides)] = kept[list(places.values())] = True
    return Seen(model, tnf, places, outsourced(tnf, kept))


@pytest.fixture(scope="module")
def seen() -> list[Seen]:
    found = (see(draw(Random(f"outsourced/{number}"))) for number in range(MODELS))
    return [one for one in found if one is not None]


def rest_of(one: Seen, values: dict[str, int]) -> TNF:
    """The rows that are left, with these values."""
    tnf, rows = one.tnf, np.flatnonzero(~one.left.absorbed)
    lower, upper = tnf.lower.copy(), tnf.upper.copy()
    for name, place in one.places.items():
        lower[place], upper[place] = max(lower[place], values[name]), min(upper[place], values[name])
    return TNF(*(column[rows] for column in (tnf.op, tnf.x, tnf.y, tnf.z)), lower, upper, tnf.tables)


def wide_holds(kind: WideKind, values: np.ndarray) -> bool:
    if kind == WideKind.ALL_DIFFERENT:
        return len(set(values.tolist())) == len(values)
    names = [str(i) for i in range(len(values))]
    lengths, uses = values[2::3].tolist(), values[3::3].tolist()
    return fits(names[1::3], lengths, uses, "0")(dict(zip(names, values.tolist())))


def learner_accepts(one: Seen, values: dict[str, int]) -> np.ndarray | None:
    """The values of the TNF's variables, those of links by their definitions; None if the learner refuses them."""
    rest = rest_of(one, values)
    fixpoint = root.propagate(rest) if np.all(rest.lower <= rest.upper) else None
    if fixpoint is None:
        return None
    found, upper = fixpoint
    assert np.array_equal(found[~one.left.links], upper[~one.left.links])
    if not all(wide_holds(wide.kind, found[wide.variables]) for wide in one.tnf.wides):
        return None
    for op, x, y, z in np.stack((one.tnf.op, one.tnf.x, one.tnf.y, one.tnf.z), axis=1)[one.left.order].tolist():
        found[x] = naive.apply_operator(op, int(found[y]), int(found[z]))
    return found


def test_what_is_left_says_what_the_model_says_and_gives_back_what_is_not(seen):
    answers = []
    for number, one in enumerate(seen):
        random = Random(f"values/{number}")
        for _ in range(ASSIGNMENTS):
            values = {name: random.randint(low, high) for name, (low, high) in one.model.names.items()}
            values["e"] = random.choice((values["e"], *(values["s0"] + k for k in range(3))))
            found = learner_accepts(one, values)
            assert (found is not None) == one.model.holds(values), (one.model.text, values)
            assert found is None or naive.holds(one.tnf, found.tolist()), (one.model.text, values)
            answers.append(found is not None)
    assert answers.count(True) > 50 and answers.count(False) > 500


def test_what_is_drawn_shares_what_it_is_made_of(seen):
    """All of what a cumulative is made of leaves in some models, in others a part, and never what others name."""
    inner = [int(np.count_nonzero(one.tnf.inner & (one.tnf.lower < one.tnf.upper))) for one in seen]
    links = [int(one.left.links.sum()) for one in seen]
    assert sum(count > 0 for count in links) > len(seen) / 2
    assert all(count <= most for count, most in zip(links, inner))
    assert any(wide.kind == WideKind.ALL_DIFFERENT for one in seen for wide in one.tnf.wides)
    assert not any(one.left.links[list(one.places.values())].any() for one in seen)


def test_a_variable_that_is_kept_stays_with_all_rows_that_name_it(seen):
    for one in seen:
        links = np.flatnonzero(one.left.links)
        if len(links):
            kept = ~one.left.links
            kept[links[0]] = True
            left = outsourced(one.tnf, kept)
            slots = np.stack((one.tnf.x, one.tnf.y, np.where(one.tnf.op == Op.ELEMENT, one.tnf.y, one.tnf.z)))
            assert not left.links[links[0]] and not left.absorbed[(slots == links[0]).any(axis=0)].any()
            assert not left.links[slots[:, ~left.absorbed]].any()
