"""Draws the parts of a call of a global constraint: arrays of variables and constants, and numbers that suit them."""

from __future__ import annotations

from collections.abc import Sequence

from fuzz.scope import LIMIT, Scope, a_bool, add_variable, an_int, value_in
from turbo_fzn.base.domains import BOOLEAN, IntSet
from turbo_fzn.read.model import Array, Model, Ref


class Drawer:
    """Draws the parts of a call: `ints` and `bools` are arrays of variables and constants, the rest is numbers."""

    def __init__(self, scope: Scope, model: Model):
        self.scope, self.model, self.random = scope, model, scope.random

    # ---- what is given, and its values

    def size(self, least: int = 0) -> int:
        return max(least, self.random.choice((0, 1, 2, 2, 3, 3, 3, 4, 4, 5)))

    def ints(self, n: int) -> list:
        return [an_int(self.scope) for _ in range(n)]

    def bools(self, n: int) -> list:
        return [a_bool(self.scope) for _ in range(n)]

    def values(self, expressions: Sequence[object]) -> list[int]:
        return [value_in(self.scope, expression) for expression in expressions]

    def near(self, spread: int = 2) -> int:
        """A number close to the value of some variable."""
        return value_in(self.scope, an_int(self.scope)) + self.random.randint(-spread, spread)

    def around(self, values: Sequence[int]) -> list[int]:
        """Distinct numbers, in any order: some of the values and some beside them."""
        beside = [value + self.random.randint(-1, 1) for value in values] + [self.near()]
        found = list(dict.fromkeys([*values, *beside]))
        self.random.shuffle(found)
        return found[: self.random.randint(0, 4)]

    def some_set(self, values: Sequence[int]) -> IntSet:
        return IntSet.of_values(self.around(values))

    # ---- what is to have given values

    def hold(self, value: int) -> object:
        """Something that the witness gives the value, or now and then another."""
        if self.random.random() < 0.06:
            return an_int(self.scope)
        held = [name for name in self.scope.ints if self.scope.witness.get(name) == value]
        if held and self.random.random() < 0.5:
            return self.random.choice(held)
        return self.fresh(value) if self.scope.room > 1 and self.random.random() < 0.7 else value

    def hold_all(self, values: Sequence[int]) -> list:
        return [self.hold(value) for value in values]

    def fresh(self, value: int, least: int = -LIMIT) -> Ref:
        """A variable for that value, with some others in its domain."""
        others = [value + self.random.randint(-2, 3) for _ in range(self.random.randint(1, 4))]
        values = [value, *(other for other in others if least <= other <= LIMIT)]
        ends = IntSet.interval(min(values), max(values))
        domain = ends if self.random.random() < 0.7 else IntSet.of_values(values)
        domain = domain if domain.size <= self.scope.room else IntSet.interval(value, value)
        return self.add(domain, value)

    def add(self, domain: IntSet, value: int) -> Ref:
        name = f"g{len(self.model.variables)}"
        add_variable(self.model, self.scope, name, domain)
        self.scope.witness[name] = value
        self.scope.room //= domain.size
        return Ref(name)

    def truth(self, value: bool) -> object:
        """A Boolean that the witness gives the value."""
        held = [name for name in self.scope.bools if self.scope.witness.get(name) == value]
        if held and self.random.random() < 0.6:
            return self.random.choice(held)
        return self.add(BOOLEAN, int(value)) if self.scope.room > 1 and self.random.random() < 0.8 else value

    def amount(self, most: int = 3) -> object:
        """A length or a use: not negative."""
        if self.random.random() < 0.7 or self.scope.room < 2:
            return self.random.randint(0, most)
        domains = {name: self.model.variables[name].domain for name in self.scope.ints}
        known = [name for name, domain in domains.items() if domain and 0 <= domain.lower <= domain.upper < 9]
        if known and self.random.random() < 0.5:
            return self.random.choice(known)
        return self.fresh(self.random.randint(0, most), least=0)

    def use(self) -> object:
        """An amount, and now and then something that may be negative, which MiniZinc forbids and FlatZinc may have."""
        if self.random.random() < 0.95:
            return self.amount()
        return self.random.randint(-3, -1) if self.random.random() < 0.5 else self.fresh(self.random.randint(-2, 1))

    def weights(self, n: int) -> list[int]:
        return [self.random.randint(0 if self.random.random() < 0.95 else -3, 4) for _ in range(n)]

    def slack(self) -> int:
        return self.random.choice((0, 0, 0, 1, 2, -1))

    # ---- names

    def give_name(self, arguments: list) -> None:
        """Makes an argument that is an array one by name, sometimes."""
        places = [place for place, argument in enumerate(arguments) if isinstance(argument, list) and argument]
        if places and self.random.random() < 0.25:
            place = self.random.choice(places)
            elements = arguments[place]
            if not any(isinstance(element, IntSet) for element in elements):
                name, is_variable = f"a{len(self.model.arrays)}", any(isinstance(one, Ref) for one in elements)
                kind = "bool" if any(isinstance(one, bool) or one in self.scope.bools for one in elements) else "int"
                self.model.arrays[name] = Array(name, kind, is_variable, None, elements, [], 0)
                arguments[place] = Ref(name)
