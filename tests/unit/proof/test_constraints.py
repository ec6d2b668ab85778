"""The arithmetic of the checker's constraints: negation, substitution, and the index by terms."""

from __future__ import annotations

from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from turbo_fzn.proof.constraints import Constraint, Index, negated, normal, substituted, weight

N_VARIABLES = 4
LITERALS = range(2, 2 * N_VARIABLES + 2)
TERMS = st.lists(st.tuples(st.sampled_from(LITERALS), st.integers(-3, 3)), max_size=4)
CONSTRAINTS = st.builds(
    lambda terms, degree: normal([one for one, _ in terms], [a for _, a in terms], degree), TERMS, st.integers(-4, 6)
)
IMAGES = st.dictionaries(
    st.sampled_from(range(1, N_VARIABLES + 1)), st.one_of(st.booleans(), st.sampled_from(LITERALS)), max_size=3
)


def holds(one: Constraint, values: dict[int, bool]) -> bool:
    true = {2 * variable + (not value) for variable, value in values.items()}
    return weight(one, true) >= one.degree


def points() -> list[dict[int, bool]]:
    return [dict(enumerate(values, 1)) for values in product((False, True), repeat=N_VARIABLES)]


@given(CONSTRAINTS)
def test_either_a_constraint_or_its_negation_holds(one):
    against = negated(one)
    assert all(holds(one, values) != holds(against, values) for values in points())
    assert against.degree >= 0 and min(against.coefficients, default=1) > 0


@given(CONSTRAINTS, IMAGES)
def test_a_substitution_asks_for_the_values_of_the_images(one, image):
    after = substituted(one, image)
    for values in points():

        def value(variable: int, values: dict[int, bool] = values) -> bool:
            found = image.get(variable, 2 * variable)
            return found if isinstance(found, bool) else values[found >> 1] != bool(found & 1)

        assert holds(after, values) == holds(one, {variable: value(variable) for variable in values})


def test_the_index_finds_images_in_any_order_that_are_not_deleted():
    swap = {1: 4, 2: 2}  # the variables 1 and 2
    one, image = Constraint((2, 5), (1, 3), 2), Constraint((3, 4), (3, 1), 2)
    index, constraints = Index(), {"1": image}

    def has(wanted: Constraint, count: int, by: dict[int, int | bool] = swap) -> bool:
        return index.kept({"this": wanted}, by, constraints, count) == {"this"}

    assert has(one, 1) and has(one._replace(degree=1), 1) and not has(one._replace(degree=3), 1)
    assert not has(Constraint((2, 5), (3, 1), 2), 1) and not has(Constraint((2, 4), (1, 3), 2), 1)
    assert not has(one, 1, {1: 4}) and not has(one, 1, {1: 4, 2: False}) and not has(one, 1, {1: 4, 2: 4})
    assert has(one, 1, {1: 5, 2: 3}) is False and has(Constraint((3, 4), (1, 3), 2), 1, {1: 5, 2: 3})
    constraints["3"] = image._replace(degree=4)
    assert has(one._replace(degree=4), 3)
    del constraints["3"]
    assert has(one, 3) and not has(one._replace(degree=4), 3)
    del constraints["1"]
    assert not has(one, 3)
