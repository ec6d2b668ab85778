"""All predicates by name, and the look-up of the predicate and form of a constraint's name."""

from __future__ import annotations

from itertools import chain
from typing import NamedTuple

from turbo_fzn.predicates.builtins import BUILTINS
from turbo_fzn.predicates.floats import FLOATS
from turbo_fzn.predicates.globals import GLOBALS, XCSP3
from turbo_fzn.predicates.signature import PLAIN, TRUTH, Predicate

PREDICATES: dict[str, Predicate] = {one.name: one for one in chain(BUILTINS, FLOATS, GLOBALS, XCSP3)}


class Form(NamedTuple):
    """A predicate in one of its forms."""

    predicate: Predicate
    suffix: str

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of all arguments, including the truth value of a form with a suffix."""
        return self.predicate.kinds if self.suffix == PLAIN else (*self.predicate.kinds, TRUTH)


def _forms_by_name() -> dict[str, tuple[Form, ...]]:
    """The forms of each name, which differ in the number of their arguments."""
    found: dict[str, tuple[Form, ...]] = {}
    for predicate in PREDICATES.values():
        plain, _, _ = predicate.name.partition("/")
        for suffix in predicate.forms:
            found[plain + suffix] = (*found.get(plain + suffix, ()), Form(predicate, suffix))
    return found


FORMS = _forms_by_name()


def find(name: str, n_arguments: int | None = None) -> Form | None:
    """The form of a constraint with that name and number of arguments; the first form of that name if none has so many
    or no number is given; None for an unknown name."""
    forms = FORMS.get(name)
    if forms is None:
        return None
    return next((form for form in forms if len(form.kinds) == n_arguments), forms[0])
