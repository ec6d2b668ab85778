"""The model of a Checker as tables: names resolved, and the constraints grouped by predicate.

A column store. All scalars (variables and the distinct constants) are slots of one vector; all arrays are concatenated
in one vector of slots, so that an array argument is a start and a length. The constraints of one predicate form a
`_Group`, a table with a column for each argument. It is evaluated by columns (column_relations.py) where that is exact,
else row by row by the meaning itself (relations.py).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from turbo_fzn.base.domains import BOOLEAN, INFINITY, IntSet
from turbo_fzn.base.errors import ModelError
from turbo_fzn.check.column_relations import COLUMN_RELATIONS, COLUMNS, OVERFLOWS, ArrayColumn, ArrayRows, Sets
from turbo_fzn.check.meanings import is_member
from turbo_fzn.check.relations import Signature, find_signature
from turbo_fzn.read.model import Index, Model, Ref


def error_at(model: Model, position: int, text: str, kind: type[ModelError] = ModelError) -> ModelError:
    return kind(text, *model.locate(position))


class _Group:
    """All constraints of one predicate: `arguments` are resolved, a list for each place; `members` are the numbers of
    the constraints in the model."""

    def __init__(self, signature: Signature, members: list[int], arguments: list[list]):
        self.signature = signature
        self.relation = signature.relation
        column_relation = COLUMN_RELATIONS.get(signature.base)
        self.column_relation = signature.form(column_relation) if column_relation else None
        self.members = members
        self.arguments = arguments

    @cached_property
    def rows(self) -> list[tuple]:
        """The arguments of each constraint."""
        return list(zip(*self.arguments)) if self.arguments else [()] * len(self.members)

    @cached_property
    def columns(self) -> list[ArrayColumn | Sets | np.ndarray]:
        return [COLUMNS[kind](column) for kind, column in zip(self.signature.kinds, self.arguments)]

    def make_ready(self) -> None:
        """Builds the columns, if they will be used."""
        if self.column_relation is not None:
            _ = self.columns

    def failures(self, assignment: Assignment) -> Iterator[int]:
        """The numbers of the constraints that do not hold, by columns where that is exact."""
        if self.column_relation is None or not assignment.fits:
            yield from self.plain_failures(assignment, range(len(self.members)))
            return
        args = [assignment.column(column) for column in self.columns]
        failed = ~self.column_relation(*args)
        if self.signature.base in OVERFLOWS:
            unsafe = OVERFLOWS[self.signature.base](*args)
            yield from self.plain_failures(assignment, np.flatnonzero(unsafe))
            failed &= ~unsafe
        for row in np.flatnonzero(failed):
            yield self.members[row]

    def all_hold(self, batch: Batch) -> bool:
        """Whether the constraints hold in every assignment of the batch; False also if columns are not exact."""
        if self.column_relation is None:
            every = range(len(self.members))
            return all(next(self.plain_failures(one, every), None) is None for one in batch.singles)
        args = [batch.column(column) for column in self.columns]
        if not np.all(self.column_relation(*args)):
            return False
        return self.signature.base not in OVERFLOWS or not np.any(OVERFLOWS[self.signature.base](*args))

    def plain_failures(self, assignment: Assignment, rows: Sequence[int] | np.ndarray) -> Iterator[int]:
        for row in rows:
            args = map(assignment.argument, self.signature.kinds, self.rows[row])
            if not self.relation(*args):
                yield self.members[row]


class Assignment:
    """The value of every slot: `values` in Python integers and, where they `fit`, `slots` as a vector."""

    def __init__(self, values: list[int], elements: list[int], elements_vector: np.ndarray):
        self.values, self.elements = values, elements
        self.fits = -INFINITY < min(values, default=0) and max(values, default=0) < INFINITY
        if self.fits:
            self.slots = np.array(values, dtype=np.int64)
            self.contents = self.slots[elements_vector]

    def argument(self, kind: str, arg: Any) -> object:
        if kind == "i":
            return self.values[arg]
        if kind == "a":
            start, length = arg
            return [self.values[slot] for slot in self.elements[start : start + length]]
        return arg

    def column(self, column: ArrayColumn | Sets | np.ndarray) -> ArrayRows | Sets | np.ndarray:
        if isinstance(column, Sets):
            return column
        return ArrayRows(self.contents, column) if isinstance(column, ArrayColumn) else self.slots[column]


class Batch:
    """Many assignments: `slots` is int64 [k, slots], every value within ±INFINITY."""

    def __init__(self, slots: np.ndarray, tables: Tables):
        self.slots, self.tables = slots, tables
        self.contents = slots[:, tables.elements_vector]

    @cached_property
    def singles(self) -> list[Assignment]:
        """The assignments of the batch, one by one."""
        tables = self.tables
        return [Assignment(row, tables.elements, tables.elements_vector) for row in self.slots.tolist()]

    def column(self, column: ArrayColumn | Sets | np.ndarray) -> ArrayRows | Sets | np.ndarray:
        if isinstance(column, Sets):
            return column
        return ArrayRows(self.contents, column) if isinstance(column, ArrayColumn) else self.slots[:, column]


class _DeclaredDomains:
    """The declared domains: `entries` as (name, slot, domain), and their bounds as columns."""

    def __init__(self, entries: Iterable[tuple[str, int, IntSet]]):
        self.entries = list(entries)
        self.slots = np.array([slot for _, slot, _ in self.entries], dtype=np.int64)
        # An empty domain gets bounds that no value satisfies; clipping is safe as columns are used within +-2**62 only.
        bounds = [(domain.lower, domain.upper) if domain else (1, 0) for _, _, domain in self.entries]
        self.bounds = np.array(bounds, dtype=object).reshape(-1, 2).clip(-INFINITY, INFINITY).astype(np.int64)
        self.has_holes = np.array([domain.has_holes for _, _, domain in self.entries], dtype=bool)

    def all_hold(self, batch: Batch) -> bool:
        values = batch.slots[:, self.slots]
        if np.any((values < self.bounds[:, 0]) | (values > self.bounds[:, 1])):
            return False
        for number in np.flatnonzero(self.has_holes):
            ranges = np.array(self.entries[number][2].ranges, dtype=np.int64)
            column = values[:, number]
            if np.any(column > ranges[np.searchsorted(ranges[:, 0], column, side="right") - 1, 1]):
                return False
        return True

    def failures(self, assignment: Assignment) -> Iterator[tuple[str, int, IntSet]]:
        """The entries whose value is outside of the domain; columns exclude most of the others quickly."""
        suspects: Iterable[int] = range(len(self.entries))
        if assignment.fits:
            values = assignment.slots[self.slots]
            suspects = np.flatnonzero((values < self.bounds[:, 0]) | (values > self.bounds[:, 1]) | self.has_holes)
        for number in suspects:
            name, slot, domain = self.entries[number]
            if not is_member(assignment.values[slot], domain):
                yield name, slot, domain


class _Slots(dict):
    """The slots of names and constants. A constant gets its slot on first use; an undefined name raises ModelError."""

    def __init__(self, model: Model):
        super().__init__((name, slot) for slot, name in enumerate(model.variables))
        self.model = model
        self.n_variables = len(self)
        self.constants: list[int] = []

    def __missing__(self, key: object) -> int:
        if isinstance(key, Index):
            elements = self.model.arrays[key.array].elements
            return self[elements[key.index - 1]]
        if isinstance(key, int):
            self[key] = self.n_variables + len(self.constants)
            self.constants.append(int(key))
        elif isinstance(key, Ref) and key in self.model.parameters:
            self[key] = self[self.model.parameters[key]]
        else:
            raise ModelError(f"{key!r} is not an integer, a Boolean or the name of one")
        return self[key]


class Tables:
    """The model with names resolved: slots, elements of all arrays, groups of constraints, domains."""

    def __init__(self, model: Model):
        self.model = model
        self.slots = _Slots(model)
        self.elements: list[int] = []
        self.spans: dict[str, tuple[int, int]] = {}
        self.constant_arrays: dict[str, np.ndarray | list[IntSet]] = {}
        self.groups = {key: self.make_group(*key, numbers) for key, numbers in self.find_groups().items()}
        self.domains = _DeclaredDomains(self.find_domains())
        self.equalities = [
            (name, self.slots[name], self.slots[variable.value])
            for name, variable in model.variables.items()
            if variable.value is not None
        ]
        self.elements_vector = np.array(self.elements, dtype=np.int64)

    def find_groups(self) -> dict[tuple[str, int], list[int]]:
        """The numbers of the constraints, by the predicate's name and the number of arguments."""
        groups: defaultdict[tuple[str, int], list[int]] = defaultdict(list)
        for number, constraint in enumerate(self.model.constraints):
            groups[constraint.name, len(constraint.args)].append(number)
        return groups

    def make_group(self, name: str, n_args: int, numbers: list[int]) -> _Group:
        """The group of these constraints, resolved column by column for speed."""
        signature = find_signature(name, n_args)
        assert signature is not None, "refused when the Checker was made"
        constraints = self.model.constraints
        columns = zip(*(constraints[number].args for number in numbers))
        try:
            arguments = [self.resolve_all(kind, column) for kind, column in zip(signature.kinds, columns)]
        except (ModelError, LookupError, TypeError):
            self.refuse_first(signature, numbers)
            raise
        for places in signature.alike:
            for number, *spans in zip(numbers, *(arguments[place] for place in places)):
                if len({length for _, length in spans}) > 1:
                    raise self.error(number, "arrays of different lengths")
        return _Group(signature, numbers, arguments)

    def refuse_first(self, signature: Signature, numbers: list[int]) -> None:
        """Raises the ModelError of the first constraint with a wrong argument."""
        for number in numbers:
            for kind, arg in zip(signature.kinds, self.model.constraints[number].args):
                try:
                    self.resolve(kind, arg)
                except (ModelError, LookupError, TypeError) as error:
                    raise self.error(number, f"bad argument ({error})") from None

    def error(self, number: int, text: str) -> ModelError:
        constraint = self.model.constraints[number]
        return error_at(self.model, constraint.position, f"{constraint.name}: {text}")

    def resolve_all(self, kind: str, column: Iterable) -> list:
        if kind == "i":
            return list(map(self.slots.__getitem__, column))
        return [self.resolve(kind, arg) for arg in column]

    def resolve(self, kind: str, arg: object) -> object:
        """A resolved argument: a slot, a (start, length) in `elements`, an IntSet, or an array of constants."""
        if kind == "i":
            return self.slots[arg]
        if kind == "s":
            arg = self.model.parameters[arg] if isinstance(arg, Ref) else arg
            if not isinstance(arg, IntSet):
                raise ModelError("a set argument is not a set of integers")
            return arg
        if kind == "t":
            return self.constants_of(arg)
        if kind == "e":
            return arg
        if isinstance(arg, Ref):
            if arg not in self.spans:
                self.spans[arg] = self.append_elements(self.model.arrays[arg].elements)
            return self.spans[arg]
        return self.append_elements(arg)  # type: ignore[arg-type]

    def constants_of(self, arg: object) -> np.ndarray | list[IntSet]:
        """The integers or sets of a constant array; one object for each array with a name."""
        if isinstance(arg, Ref) and arg in self.constant_arrays:
            return self.constant_arrays[arg]
        elements: list = self.model.arrays[arg].elements if isinstance(arg, Ref) else arg  # type: ignore[assignment]
        values: list = [self.model.parameters[one] if isinstance(one, Ref) else one for one in elements]
        constants = values if values and isinstance(values[0], IntSet) else np.array(values, dtype=np.int64)
        if isinstance(arg, Ref):
            self.constant_arrays[arg] = constants
        return constants

    def append_elements(self, elements: list) -> tuple[int, int]:
        start = len(self.elements)
        self.elements.extend(map(self.slots.__getitem__, elements))
        return start, len(elements)

    def find_domains(self) -> Iterator[tuple[str, int, IntSet]]:
        """(name, slot, domain) of every variable and of every element of a variable array with a domain."""
        for name, variable in self.model.variables.items():
            if isinstance(variable.domain, IntSet):
                yield name, self.slots[name], variable.domain
            elif variable.kind == "bool":
                yield name, self.slots[name], BOOLEAN
        for name, array in self.model.arrays.items():
            if array.is_variable and isinstance(array.domain, IntSet):
                for number, element in enumerate(array.elements, 1):
                    yield f"{name}[{number}]", self.slots[element], array.domain
