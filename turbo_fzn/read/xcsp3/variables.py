"""The section <variables>: single variables and arrays, integer or symbolic, with the domains of each.

A symbol is a number here, the same in all domains, so that an instance with symbols is an instance over integers;
solutions are printed with the symbols again. All variables are the output, as one array.
"""

from __future__ import annotations

import re
from itertools import product
from math import prod

from turbo_fzn.base.domains import INFINITY, IntSet
from turbo_fzn.base.errors import ModelError, UnsupportedError
from turbo_fzn.read.model import Model, Ref, Variable
from turbo_fzn.read.tuning import TUNING
from turbo_fzn.read.xcsp3.document import Element
from turbo_fzn.read.xcsp3.tokens import CELLS, INTEGER, INTERVAL, NAME, Cells, Scope, refuse_many, to_integer

NOTHING: dict[str, str] = {}
SIZES = re.compile(r"(?:\[\d{1,18}\])+")


class Declarations:
    """Reads the entries of the section into a model and a scope."""

    def __init__(self, model: Model, scope: Scope):
        self.model, self.scope = model, scope
        self.domains: dict[str, IntSet] = {}  # domains by their text
        self.known: dict[str, Element] = {}  # elements that `as` may refer to
        self.symbolic: set[str] = set()  # variables
        self.listing: list[str] = []  # all variables in their order, complete arrays as x[]

    def read(self, element: Element) -> None:
        name = element.attributes.get("id", "")
        if not NAME.fullmatch(name):
            raise ModelError(f"<{element.name}> has no valid id" if not name else f"`{name[:40]}` is no valid id")
        if name in self.known:
            raise ModelError(f"`{name}` is declared twice")
        kind = element.attributes.get("type", "integer")
        if kind not in ("integer", "symbolic"):
            raise UnsupportedError(f"`{name}`: variables of type {kind} are not read")
        source = self.known[name] = self.source(element)
        if element.name == "var":
            self.declare(name, self.domain(source.text, kind), element.position, kind)
            self.listing.append(name)
            element.attributes = NOTHING  # the element is kept, for `as`
        elif element.name == "array":
            self.read_array(element, source, name, kind)
        else:
            raise UnsupportedError(f"<{element.name}> is not read among the variables")

    def source(self, element: Element) -> Element:
        """Where the domain stands: `as` refers to another element."""
        if "as" not in element.attributes:
            return element
        name = element.attributes["as"]
        if name not in self.known:
            raise ModelError(f"`as` refers to `{name[:40]}`, which is not declared before")
        return self.known[name]

    def domain(self, text: str, kind: str) -> IntSet:
        known = self.domains.get(kind + text)
        if known is None:
            if kind == "symbolic":
                symbols = self.scope.symbols
                known = IntSet.of_values([symbols.setdefault(word, len(symbols)) for word in text.split()])
            else:
                known = IntSet.of_ranges([self.interval(word) for word in text.split()])
            self.domains[kind + text] = known
        return known

    def interval(self, word: str) -> tuple[int, int]:
        match = INTERVAL.fullmatch(word)
        if match is None and not INTEGER.fullmatch(word):
            raise ModelError(f"`{word[:40]}` is no integer or interval of a domain")
        low, high = (match[1], match[2]) if match else (word, word)
        if max(abs(to_integer(low)), abs(to_integer(high))) >= INFINITY:
            raise UnsupportedError(f"the value {word[:40]} is too large")
        return to_integer(low), to_integer(high)

    def declare(self, name: str, domain: IntSet, position: int, kind: str) -> Ref:
        self.model.variables[name] = Variable(name, "int", domain, [], None, position)
        if kind == "symbolic":
            self.symbolic.add(name)
        variable = self.scope.unnamed[name] = Ref(name)
        return variable

    def read_array(self, element: Element, source: Element, name: str, kind: str) -> None:
        size = element.attributes.get("size", "").replace(" ", "")
        if not SIZES.fullmatch(size):
            raise ModelError(f"the array `{name}` has no valid size")
        if element.attributes.get("startIndex", "0").strip() != "0":
            raise UnsupportedError(f"the array `{name}`: indices that do not begin at 0 are not read")
        sizes = tuple(int(one) for one in size[1:-1].split("]["))
        refuse_many(prod(sizes), TUNING.array_cells)
        cells = Cells(sizes, [None] * prod(sizes))
        self.scope.arrays[name] = cells
        domains = self.domains_of_cells(source, cells, name, kind)
        for place, indices in enumerate(product(*map(range, sizes))):
            domain = domains[place]
            if domain is not None:
                full = name + "".join([f"[{index}]" for index in indices])
                cells.members[place] = self.declare(full, domain, element.position, kind)
        known = [str(one) for one in cells.members if one is not None]
        self.listing += [name + "[]" * len(sizes)] if len(known) == len(cells.members) else known

    def domains_of_cells(self, source: Element, cells: Cells, name: str, kind: str) -> list[IntSet | None]:
        """The domain of each cell, None for a cell that is no variable."""
        if not source.children:
            return [self.domain(source.text, kind)] * len(cells.members)
        domains: list[IntSet | None] = [None] * len(cells.members)
        numbers = Cells(cells.sizes, list(range(len(domains))))  # type: ignore[arg-type]
        for child in source.children:
            source_of_child = self.source(child)
            if "id" in child.attributes:
                self.known[child.attributes["id"]] = source_of_child
            domain = self.domain(source_of_child.text, kind)
            for word in child.attributes.get("for", "").split():
                if word == "others":
                    domains = [domain if known is None else known for known in domains]
                    continue
                match = CELLS.fullmatch(word)
                if match is None:
                    raise ModelError(f"`{word[:40]}` is no part of the array `{name}`")
                for place in numbers.slice(self.scope.ranges(name, match[2])):
                    domains[place] = domain  # type: ignore[call-overload]
        return domains
