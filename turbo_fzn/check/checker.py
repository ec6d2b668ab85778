"""Does an assignment satisfy the FlatZinc model as it was written? The last gate before a solution is printed.

A solver rewrites, simplifies and compiles a model before it searches; a mistake on that way would print a wrong
answer. So every solution is evaluated against the *original* constraints by this file, which shares nothing with
that way but the parsed Model; what the predicates mean is the table of relations.py.

Large models need speed: 10^5 constraints, once a solution. The idea is a column store. All scalars (variables and
the distinct constants) are slots of one vector; all arrays lie one after another in one vector of slots, so that an
array argument is a start and a length. The constraints of one predicate form a group, a table with one column an
argument, and NumPy evaluates the relation on whole columns. Both ways stay: the plain one is the meaning, and the
column one is used only where 64-bit arithmetic cannot overflow; what it cannot do falls back row by row.

With `-a` there are many solutions of a small model. Columns then get a dimension in front, one entry a solution, and
`all_hold` looks at all of them at once; only when something fails are they taken one by one, to say what.

Only the names and argument counts are looked at when a Checker is made; the tables are built on first use.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np

from turbo_fzn.check.meanings import is_member
from turbo_fzn.check.relations import EQUAL_LENGTHS, RELATIONS, Signature, divide, find_signature
from turbo_fzn.domains import BOOLEAN, INFINITY, IntSet
from turbo_fzn.errors import ModelError, UnsupportedError
from turbo_fzn.read.model import Constraint, Index, Model, Ref

SHOWN_VALUES = 12


class ArrayColumn:
    """The array arguments of a group in one position, as starts and lengths in the vector of all elements."""

    def __init__(self, spans: Sequence[tuple[int, int]]):
        pairs = np.array(spans, dtype=np.int64).reshape(-1, 2)
        self.start: np.ndarray = pairs[:, 0]
        self.length: np.ndarray = pairs[:, 1]
        self.offset = np.cumsum(self.length) - self.length

    @cached_property
    def flat(self) -> np.ndarray:
        """Positions of all elements of all rows, row after row."""
        return np.repeat(self.start - self.offset, self.length) + np.arange(int(self.length.sum()))


class ArrayRows:
    """A column of arrays: row k holds `contents[start[k] : start[k] + length[k]]`, all rows joined in `flat`.

    `contents` may have more dimensions in front; so have the results then.
    """

    def __init__(self, contents: np.ndarray, column: ArrayColumn):
        self.contents, self.column = contents, column
        self.start: np.ndarray = column.start
        self.length: np.ndarray = column.length

    @cached_property
    def flat(self) -> np.ndarray:
        return self.contents[..., self.column.flat]

    def reduce(self, operation: np.ufunc, neutral: int, flat: np.ndarray | None = None) -> np.ndarray:
        """The operation over each row; `neutral` for an empty row, where `reduceat` would take a neighbour's."""
        flat = self.flat if flat is None else flat
        result = np.full((*flat.shape[:-1], len(self.length)), neutral, dtype=flat.dtype)
        filled = self.length > 0
        if filled.any():
            result[..., filled] = operation.reduceat(flat, self.column.offset[filled], axis=-1)
        return result

    def any(self) -> np.ndarray:
        return self.reduce(np.maximum, 0) != 0

    def all(self) -> np.ndarray:
        return self.reduce(np.minimum, 1) != 0

    def dot(self, other: ArrayRows) -> np.ndarray:
        return self.reduce(np.add, 0, self.flat * other.flat)

    def dot_overflows(self, other: ArrayRows) -> np.ndarray:
        """Where the sum of the absolute terms may pass 2**62; a cheap bound for all rows is tried first."""
        limits = [int(np.abs(rows.flat).max(initial=0)) for rows in (self, other)]
        if limits[0] * limits[1] * int(self.length.max(initial=0)) < INFINITY:
            return np.zeros((*self.flat.shape[:-1], len(self.length)), dtype=bool)
        return self.reduce(np.add, 0, np.abs(self.flat.astype(float) * other.flat.astype(float))) >= INFINITY

    def has_at(self, i: np.ndarray, z: np.ndarray) -> np.ndarray:
        """Whether element i of each row exists and equals z."""
        inside = (1 <= i) & (i <= self.length)
        if not inside.any():
            return inside
        return inside & (np.take_along_axis(self.contents, np.where(inside, self.start + i - 1, 0), -1) == z)


class Sets:
    """A column of sets."""

    def __init__(self, sets: Sequence[IntSet]):
        ends = [np.array(one.ranges, dtype=object).reshape(-1, 2).clip(-INFINITY, INFINITY) for one in sets]
        self.lows, self.highs = ([pairs[:, side].astype(np.int64) for pairs in ends] for side in (0, 1))

    def has(self, x: np.ndarray) -> np.ndarray:
        """Whether each row's value lies in its set."""
        result = np.zeros(x.shape, dtype=bool)
        for row, (lows, highs) in enumerate(zip(self.lows, self.highs)):
            if len(lows):
                values = x[..., row]
                place = np.searchsorted(lows, values, side="right") - 1
                result[..., row] = (place >= 0) & (values <= highs[place])
        return result


def divide_columns(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """x div y, truncated towards 0; anything where y is 0."""
    return divide(x, np.where(y == 0, 1, y))


# Relations that mean the same on columns as on values, and the others' column forms.
ELEMENTWISE = (
    *("int_eq", "int_ne", "int_le", "int_lt", "int_plus", "int_times", "int_abs", "bool2int"),
    *("bool_eq", "bool_le", "bool_lt", "bool_not", "bool_xor", "bool_xor/2"),
)
COLUMN_RELATIONS: dict[str, Callable] = {name: RELATIONS[name][1] for name in ELEMENTWISE} | {
    "int_lin_eq": lambda c, x, k: c.dot(x) == k,
    "int_lin_ne": lambda c, x, k: c.dot(x) != k,
    "int_lin_le": lambda c, x, k: c.dot(x) <= k,
    "bool_lin_eq": lambda c, x, k: c.dot(x) == k,
    "bool_lin_le": lambda c, x, k: c.dot(x) <= k,
    "set_in": lambda x, sets: sets.has(x),
    "int_div": lambda x, y, z: (y != 0) & (divide_columns(x, y) == z),
    "int_mod": lambda x, y, z: (y != 0) & (x - y * divide_columns(x, y) == z),
    "int_min": lambda x, y, z: np.minimum(x, y) == z,
    "int_max": lambda x, y, z: np.maximum(x, y) == z,
    "bool_and": lambda x, y, r: (x & y) == r,
    "bool_or": lambda x, y, r: (x | y) == r,
    "bool_and/2": lambda x, y: (x & y) == 1,
    "bool_or/2": lambda x, y: (x | y) == 1,
    "bool_clause": lambda positive, negative: positive.any() | ~negative.all(),
    "array_bool_and": lambda xs, r: xs.all() == r,
    "array_bool_or": lambda xs, r: xs.any() == r,
    "array_bool_and/1": lambda xs: xs.all(),
    "array_bool_or/1": lambda xs: xs.any(),
    "array_bool_xor": lambda xs: xs.reduce(np.add, 0) % 2 == 1,
    "array_int_element": lambda i, xs, z: xs.has_at(i, z),
    "array_var_int_element": lambda i, xs, z: xs.has_at(i, z),
    "array_bool_element": lambda i, xs, z: xs.has_at(i, z),
    "array_var_bool_element": lambda i, xs, z: xs.has_at(i, z),
    "array_int_maximum": lambda m, xs: (xs.length > 0) & (xs.reduce(np.maximum, 0) == m),
    "array_int_minimum": lambda m, xs: (xs.length > 0) & (xs.reduce(np.minimum, 0) == m),
}
# The rows that 64-bit arithmetic may get wrong although every value is within +-2**62.
OVERFLOWS: dict[str, Callable] = {name: lambda c, x, *_: c.dot_overflows(x) for name in EQUAL_LENGTHS} | {
    "int_times": lambda x, y, *_: np.maximum(np.abs(x), np.abs(y)) >= 2**31,
}


# What a column of arguments of each kind becomes.
COLUMNS: dict[str, Callable] = {"a": ArrayColumn, "s": Sets, "i": lambda slots: np.array(slots, dtype=np.int64)}


class Group:
    """All constraints of one predicate: `rows` as resolved arguments, `members` their numbers in the model."""

    def __init__(self, signature: Signature):
        self.signature = signature
        self.relation = signature.relation
        column_relation = COLUMN_RELATIONS.get(signature.base)
        self.column_relation = signature.form(column_relation) if column_relation else None
        self.members: list[int] = []
        self.rows: list[tuple] = []

    @cached_property
    def columns(self) -> list[ArrayColumn | Sets | np.ndarray]:
        kinds = self.signature.kinds
        return [COLUMNS[kind](column) for kind, column in zip(kinds, zip(*self.rows))]

    def failures(self, assignment: Assignment) -> Iterator[int]:
        """The numbers of the constraints that do not hold, by columns where that is exact."""
        if self.column_relation is None or not assignment.fits:
            yield from self.plain_failures(assignment, range(len(self.rows)))
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
        """Whether the constraints hold in every assignment of the batch; False also where columns cannot tell."""
        if self.column_relation is None:
            every = range(len(self.rows))
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
        """The same, one by one."""
        tables = self.tables
        return [Assignment(row, tables.elements, tables.elements_vector) for row in self.slots.tolist()]

    def column(self, column: ArrayColumn | Sets | np.ndarray) -> ArrayRows | Sets | np.ndarray:
        if isinstance(column, Sets):
            return column
        return ArrayRows(self.contents, column) if isinstance(column, ArrayColumn) else self.slots[:, column]


class DeclaredDomains:
    """The declared domains: `entries` as (name, slot, domain), bounds beside them as columns."""

    def __init__(self, entries: Iterable[tuple[str, int, IntSet]]):
        self.entries = list(entries)
        self.slots = np.array([slot for _, slot, _ in self.entries], dtype=np.int64)
        # An empty domain gets bounds that nothing meets; clipping is safe as columns are used within +-2**62 only.
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
        """The entries whose value lies outside; columns leave only those to look at that may."""
        suspects: Iterable[int] = range(len(self.entries))
        if assignment.fits:
            values = assignment.slots[self.slots]
            suspects = np.flatnonzero((values < self.bounds[:, 0]) | (values > self.bounds[:, 1]) | self.has_holes)
        for number in suspects:
            name, slot, domain = self.entries[number]
            if not is_member(assignment.values[slot], domain):
                yield name, slot, domain


class Slots(dict):
    """Name or constant to slot. A constant gets its slot on first sight, an undefined name is refused."""

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
        self.slots = Slots(model)
        self.elements: list[int] = []
        self.spans: dict[str, tuple[int, int]] = {}
        self.constant_arrays: dict[str, np.ndarray | list[IntSet]] = {}
        self.groups: dict[tuple[str, int], Group] = {}
        for number, constraint in enumerate(model.constraints):
            self.add_constraint(number, constraint)
        self.domains = DeclaredDomains(self.find_domains())
        self.equalities = [
            (name, self.slots[name], self.slots[variable.value])
            for name, variable in model.variables.items()
            if variable.value is not None
        ]
        self.elements_vector = np.array(self.elements, dtype=np.int64)

    def add_constraint(self, number: int, constraint: Constraint) -> None:
        key = (constraint.name, len(constraint.args))
        if key not in self.groups:
            signature = find_signature(*key)
            assert signature is not None, "refused when the Checker was made"
            self.groups[key] = Group(signature)
        group = self.groups[key]
        try:
            row: tuple = tuple(map(self.resolve, group.signature.kinds, constraint.args))
        except (ModelError, LookupError, TypeError) as error:
            raise error_at(self.model, constraint.position, f"{constraint.name}: bad argument ({error})") from None
        if group.signature.base in EQUAL_LENGTHS and row[0][1] != row[1][1]:
            raise error_at(self.model, constraint.position, f"{constraint.name}: arrays of different lengths")
        group.members.append(number)
        group.rows.append(row)

    def resolve(self, kind: str, arg: object) -> object:
        """A slot, a (start, length) in `elements`, an IntSet, or an array of constants."""
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
        """The integers or sets of a constant array; the same object each time for an array with a name."""
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


class Checker:
    """Evaluates assignments against a model; see the module's docstring."""

    def __init__(self, model: Model):
        self.model = model
        for constraint in model.constraints:
            signature = find_signature(constraint.name, len(constraint.args))
            if signature is None:
                raise error_at(model, constraint.position, f"unknown predicate {constraint.name}")
            if len(constraint.args) != len(signature.kinds):
                text = f"{constraint.name} has {len(signature.kinds)} arguments, not {len(constraint.args)}"
                raise error_at(model, constraint.position, text)
        for variable in model.variables.values():
            if variable.kind not in ("bool", "int"):
                text = f"{variable.kind} variables are not supported"
                raise error_at(model, variable.position, text, UnsupportedError)

    @cached_property
    def cost(self) -> int:
        """The number of literals and array elements that one check touches."""
        arrays = self.model.arrays
        lengths = {name: len(array.elements) for name, array in arrays.items()}
        touched = len(self.model.variables)
        for constraint in self.model.constraints:
            for arg in constraint.args:
                touched += len(arg) if isinstance(arg, list) else lengths.get(arg, 1) if isinstance(arg, Ref) else 1
        return touched

    @cached_property
    def tables(self) -> Tables:
        return Tables(self.model)

    def violation(self, values: Mapping[str, int]) -> str | None:
        """None when the assignment is a solution, else one line that names what does not hold."""
        return next(self.violations(values), None)

    def violations(self, values: Mapping[str, int]) -> Iterator[str]:
        """One line for every declaration and constraint that does not hold."""
        missing = next((name for name in self.model.variables if name not in values), None)
        if missing is not None:
            yield f"variable {missing} has no value"
            return
        assignment = self.assign(values)
        for name, slot, domain in self.tables.domains.failures(assignment):
            yield f"{name} = {assignment.values[slot]} is outside its domain {show(domain)}"
        for name, slot, other in self.tables.equalities:
            if assignment.values[slot] != assignment.values[other]:
                yield f"{name} = {assignment.values[slot]} differs from its right-hand side {assignment.values[other]}"
        for number in self.failed_constraints(assignment):
            yield self.describe(self.model.constraints[number], values)

    def all_hold(self, values: np.ndarray) -> bool:
        """Whether every row of `values` (int64 [k, variables], in the model's order) is a solution.

        False says that some row is none, or that its numbers are too large for columns: look at them one by one.
        """
        tables = self.tables
        constants = tables.slots.constants
        if any(abs(constant) >= INFINITY for constant in constants) or np.any(
            (values <= -INFINITY) | (values >= INFINITY)
        ):
            return False
        constant_columns = np.broadcast_to(np.array(constants, np.int64), (len(values), len(constants)))
        batch = Batch(np.concatenate([values, constant_columns], axis=1), tables)
        equal = all(np.array_equal(batch.slots[:, slot], batch.slots[:, other]) for _, slot, other in tables.equalities)
        return equal and tables.domains.all_hold(batch) and all(g.all_hold(batch) for g in tables.groups.values())

    def assign(self, values: Mapping[str, int]) -> Assignment:
        tables = self.tables
        scalars = [int(values[name]) for name in self.model.variables]
        return Assignment(scalars + tables.slots.constants, tables.elements, tables.elements_vector)

    def failed_constraints(self, assignment: Assignment) -> Iterator[int]:
        for group in self.tables.groups.values():
            yield from group.failures(assignment)

    def describe(self, constraint: Constraint, values: Mapping[str, int]) -> str:
        file, line, _ = self.model.locate(constraint.position)
        text = f"{constraint.name}({','.join(map(show, constraint.args))})"
        names = islice(dict.fromkeys(self.names_in(constraint.args)), SHOWN_VALUES)
        where = ", ".join(f"{name} = {int(values[name])}" for name in names)
        place = f"{file}:{line}" if file else f"line {line}"
        return f"{place}: {text} does not hold with {where or 'its constants'}"

    def names_in(self, args: Iterable) -> Iterator[str]:
        """The variables named in the arguments, arrays and their elements included."""
        for arg in args:
            if isinstance(arg, list):
                yield from self.names_in(arg)
            elif isinstance(arg, Ref) and arg in self.model.arrays:
                yield from self.names_in(self.model.arrays[arg].elements)
            elif isinstance(arg, Ref) and arg in self.model.variables:
                yield arg


def show(value: object) -> str:
    """A value as FlatZinc writes it, long ones cut."""
    if isinstance(value, IntSet):
        parts = [f"{low}..{high}" for low, high in value.ranges[:SHOWN_VALUES]]
        return " union ".join(parts + ["…"] * (len(value.ranges) > SHOWN_VALUES)) or "{}"
    if isinstance(value, list):
        return "[" + ",".join([*map(show, value[:SHOWN_VALUES])] + ["…"] * (len(value) > SHOWN_VALUES)) + "]"
    if isinstance(value, Index):
        return f"{value.array}[{value.index}]"
    return str(value).lower() if isinstance(value, bool) else str(value)


def error_at(model: Model, position: int, text: str, kind: type[ModelError] = ModelError) -> ModelError:
    return kind(text, *model.locate(position))
