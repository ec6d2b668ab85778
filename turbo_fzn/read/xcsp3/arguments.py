"""The arguments of one constraint: the children of its element, with the parameters of a template replaced.

The children are parsed once for all constraints of a group, and only items with parameters are evaluated for each.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from turbo_fzn.base.errors import ModelError, UnsupportedError
from turbo_fzn.read.model import Ref
from turbo_fzn.read.xcsp3.document import Element
from turbo_fzn.read.xcsp3.emitter import Condition, Emitter
from turbo_fzn.read.xcsp3.expressions import Term
from turbo_fzn.read.xcsp3.tokens import REST, Parameter, Scope, as_set

PARAMETERS = re.compile(r"%(\d{1,9})")
PLAIN = frozenset((Ref, int))


def arity(element: Element) -> int:
    """The greatest parameter of a template plus 1, which is where the parameters of `%...` begin."""
    texts = [element.text, *(child.text for child in element.children)]
    return max((int(number) + 1 for text in texts if "%" in text for number in PARAMETERS.findall(text)), default=0)


class Arguments:
    """The arguments of a constraint. `values` are the items of the parameters, None outside of templates; `n_named` is
    the arity."""

    def __init__(self, scope: Scope, emitter: Emitter, element: Element):
        self.scope, self.emitter, self.element = scope, emitter, element
        self.values: Sequence[Any] | None = None
        self.n_named = 0
        self.found: dict[str, Element | None] = {}  # children, by their names
        if not element.children:
            self.found["list"] = element

    # Children

    def child(self, name: str) -> Element | None:
        """The child of this name; the element itself is the list of a constraint without children."""
        if name not in self.found:
            self.found[name] = self.element.child(name)
        return self.found[name]

    def needed(self, name: str) -> Element:
        child = self.child(name)
        if child is None:
            raise ModelError(f"<{self.element.name}> without <{name}>")
        return child

    def has(self, name: str) -> bool:
        return self.child(name) is not None

    def children(self, name: str) -> list[Element]:
        return [child for child in self.element.children if child.name == name]

    def attribute(self, child: str, name: str, default: str) -> str:
        """An attribute of a child, or of the element itself if the child does not have it."""
        own = self.child(child)
        return (own.attributes.get(name) if own else None) or self.element.attributes.get(name, default)

    def flag(self, child: str, name: str, default: bool) -> bool:
        return self.attribute(child, name, str(default)).strip().lower() == "true"

    def start(self, child: str, name: str = "startIndex") -> int:
        text = self.attribute(child, name, "0").strip()
        if not re.fullmatch(r"-?\d{1,9}", text):
            raise ModelError(f"{name}={text[:20]!r} is no index")
        return int(text)

    # Items

    def items_of(self, child: Element) -> list:
        """The bound items of a list; expressions remain expressions."""
        if child.parsed is None:
            child.parsed = self.scope.items_in(child.text), "%" in child.text
        items, has_parameters = child.parsed
        return self.bind(items) if has_parameters else items

    def listed(self, name: str = "list") -> list:
        return self.items_of(self.needed(name))

    def scalars(self, name: str = "list") -> list[Ref | int]:
        """The items of a list, with expressions replaced by auxiliary variables."""
        return self.emitter.scalars(self.listed(name))

    def variable_lists(self) -> list[list[Ref | int]]:
        """The lists of a constraint that may have several."""
        return [self.emitter.scalars(self.items_of(child)) for child in self.children("list")]

    def integers(self, name: str) -> list[int]:
        items = self.listed(name)
        if not all(isinstance(item, int) for item in items):
            raise UnsupportedError(f"<{name}> of <{self.element.name}> is read with integers only")
        return items

    def scalar(self, name: str) -> Ref | int:
        items = self.scalars(name)
        if len(items) != 1:
            raise ModelError(f"<{name}> of <{self.element.name}> is to be one value")
        return items[0]

    def matrix(self, name: str = "matrix") -> list[list[Ref | int]]:
        """The rows of a matrix, or the tuples of a list of them."""
        child = self.needed(name)
        if child.parsed is None:
            child.parsed = self.scope.tuples(child.text)
        rows = [self.emitter.scalars(self.bind(row)) for row in child.parsed]
        if len({len(row) for row in rows}) > 1:
            raise ModelError(f"the rows of <{name}> have different lengths")
        return rows

    def conditions(self) -> list[Condition]:
        return [self.as_condition(child) for child in self.children("condition")]

    def condition(self) -> Condition:
        return self.as_condition(self.needed("condition"))

    def as_condition(self, child: Element) -> Condition:
        items = self.items_of(child)
        if len(items) != 1 or not isinstance(items[0], Condition):
            raise ModelError(f"<{child.name}> of <{self.element.name}> is to be a condition, such as (le,5)")
        return items[0] if type(items[0].operand) is not Term else self.bind_one(items[0])

    # Templates

    def bind(self, items: Sequence[Any]) -> list:
        if PLAIN.issuperset(map(type, items)):
            return list(items)
        bound: list = []
        for item in items:
            if item == REST and type(item) is Parameter:
                bound += self.given()[self.n_named :]
            else:
                bound.append(self.bind_one(item))
        return bound

    def bind_one(self, item: Any) -> Any:
        kind = type(item)
        if kind is Parameter:
            values = self.given()
            if not 0 <= item.number < len(values):
                raise ModelError(f"%{item.number if item != REST else '...'} has no value: {len(values)} are given")
            return values[item.number]
        if kind is Term:
            operands = [self.emitter.scalar(self.bind_one(operand)) for operand in item.operands]
            return Term(item.expression, tuple(operands))
        if kind is Condition and isinstance(item.operand, (Parameter, Term)):
            operand = self.bind_one(item.operand)
            is_set = item.operator in ("in", "notin")
            return item._replace(operand=as_set(operand) if is_set else self.emitter.scalar(operand))
        return tuple(self.bind(item)) if kind is tuple else item

    def given(self) -> Sequence[Any]:
        if self.values is None:
            raise ModelError("a parameter (%) outside of a group or a slide")
        return self.values
