"""The reader: passes each entry of an instance to its module.

A group is a constraint with parameters and the arguments of each of its members, a slide the same over a moving window.
Unsupported parts are refused by name: an element, a constraint, an attribute that changes a meaning.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain

from turbo_fzn.base.collector import without_collector
from turbo_fzn.base.errors import ModelError, UnsupportedError
from turbo_fzn.base.progress import stage
from turbo_fzn.read.model import Array, Call, Goal, Model, Ref
from turbo_fzn.read.xcsp3 import comparison, connection, counting, generic, graph, objectives, packing
from turbo_fzn.read.xcsp3.arguments import PLAIN, Arguments, arity
from turbo_fzn.read.xcsp3.document import Document, Element, locate
from turbo_fzn.read.xcsp3.emitter import Emitter
from turbo_fzn.read.xcsp3.tokens import REST, Scope, refuse_many
from turbo_fzn.read.xcsp3.variables import Declarations

SOLUTION = "#solution"  # the output array of all variables
COMMON = frozenset(("id", "class", "note"))  # attributes without effect on the solver

Post = Callable[[Arguments], None]
# Name of the constraint: (what states it, its possible children, the attributes of it or of its children).
CONSTRAINTS: dict[str, tuple[Post, frozenset[str], frozenset[str]]] = {
    name: (post, frozenset(children.split()), COMMON.union(attributes.split()))
    for family in (generic, comparison, counting, connection, packing, graph)
    for name, (post, children, attributes) in family.CONSTRAINTS.items()
}


@without_collector()
def parse_xcsp3(text: str, file: str = "") -> Model:
    """The model of an XCSP3 instance; `file` is its name in messages.

    Raises ModelError if it is wrong, UnsupportedError if it has unsupported parts.
    """
    reader = _Reader(text.removeprefix("\ufeff"), file)
    with stage("parse", reader.document.progress):
        return reader.read()


class _Reader:
    def __init__(self, text: str, file: str):
        self.model = Model(file=file, text=text, language="XCSP3")
        self.scope = Scope()
        self.emitter = Emitter(self.model)
        self.declarations = Declarations(self.model, self.scope)
        self.document = Document(text, file, self.consume)
        self.annotations: list = []

    def read(self) -> Model:
        self.document.read()
        model = self.model
        if model.goal is None:
            model.goal = Goal("satisfy", None, [], 0)
        model.goal.annotations.extend(self.annotations)
        names = [Ref(name) for name in model.variables if name[0] != "#"]
        ranges = Call("output_array", [[objectives.first_to(len(names))]])
        model.arrays[SOLUTION] = Array(SOLUTION, "int", True, None, names, [ranges], 0)
        model.listing = " ".join(self.declarations.listing)
        domains = {name: self.emitter.domain(variable) for name, variable in self.scope.unnamed.items()}
        model.unnamed = frozenset(name for name, domain in domains.items() if domain.lower < domain.upper)
        model.symbols = {name: list(self.scope.symbols) for name in self.declarations.symbolic}
        return model

    def consume(self, section: str, element: Element) -> None:
        self.emitter.position = element.position
        if section in ("constraints", "block"):
            self.read_constraint(element)
        elif section == "":
            if element.attributes.get("type", "CSP").strip().upper() not in ("CSP", "COP"):
                raise UnsupportedError(f"an instance of type {element.attributes['type'][:40]} is not read")
        elif section == "instance":
            if element.name not in ("variables", "constraints", "objectives", "annotations"):
                raise UnsupportedError(f"<{element.name}> is not read")
        elif section == "variables":
            self.declarations.read(element)
        elif section == "objectives":
            objectives.read(self.model, Arguments(self.scope, self.emitter, element))
        elif element.name == "decision":
            variables = Arguments(self.scope, self.emitter, element).scalars()
            names = [one for one in variables if isinstance(one, Ref)]
            choices = [Ref("first_fail"), Ref("indomain_min"), Ref("complete")]
            self.annotations.append(Call("int_search", [names, *choices]))

    # Constraints

    def read_constraint(self, element: Element) -> None:
        if element.name == "block":
            return
        if element.name == "group":
            self.read_group(element)
        elif element.name == "slide":
            self.read_slide(element)
        else:
            post, arguments = self.form(element)
            post(arguments)

    def form(self, element: Element) -> tuple[Post, Arguments]:
        """The function that states a constraint, and its arguments, whose values change for each member of a
        template."""
        found = CONSTRAINTS.get(element.name)
        if found is None:
            raise UnsupportedError(f"the constraint <{element.name}> is not read")
        post, children, attributes = found
        if element.attributes:
            _check_attributes(element, attributes)
        for child in element.children:
            if child.name not in children:
                raise UnsupportedError(f"<{child.name}> of <{element.name}> is not read")
            if child.attributes:
                _check_attributes(child, attributes)
        return post, Arguments(self.scope, self.emitter, element)

    def read_group(self, group: Element) -> None:
        if not group.children or any(child.name != "args" for child in group.children[1:]):
            raise ModelError("a group is a constraint and <args> behind it")
        _check_attributes(group, COMMON)
        template, *members = group.children
        try:
            self.post_all(template, self.read_arguments(members), False)
        except ModelError as error:
            raise self.located(error) from None

    def read_arguments(self, members: list[Element]) -> Iterator[list]:
        for member in members:
            self.emitter.position = member.position
            yield self.scope.items_in(member.text)

    def post_all(self, template: Element, members: Iterable[list], are_plain: bool) -> None:
        """The constraints of a template, given the arguments of each; `are_plain` as in `generic.intensions`."""
        post, arguments = self.form(template)
        arguments.n_named = arity(template)
        if template.name == "intension":
            generic.intensions(arguments, members, are_plain)
            return
        for arguments.values in members:
            post(arguments)

    def read_slide(self, slide: Element) -> None:
        """The window moves over each list by its offset, and takes `collect` elements of it."""
        _check_attributes(slide, COMMON | {"circular"})
        lists, template = slide.children[:-1], slide.children[-1] if slide.children else slide
        if not lists or any(child.name != "list" for child in lists):
            raise ModelError("a slide is lists and a constraint behind them")
        sequences = [self.scope.items_in(child.text) for child in lists]
        offsets = [whole(child, "offset", 1) for child in lists]
        collects = [whole(child, "collect", arity(template) if len(lists) == 1 else 1) for child in lists]
        if any(REST in one for one in sequences) or min(map(len, sequences)) == 0:
            raise ModelError("a slide over an empty list")
        circular = slide.attributes.get("circular", "false").strip() == "true"
        are_plain = sum(collects) >= arity(template) and PLAIN.issuperset(map(type, chain(*sequences)))
        self.post_all(template, windows(sequences, offsets, collects, circular), are_plain)

    def located(self, error: ModelError) -> ModelError:
        """An error without a place gets the place of the current element."""
        place = locate(self.document.text, self.emitter.position)
        return error if error.line is not None else type(error)(error.message, self.document.file, *place)


def windows(sequences: list[list], offsets: list[int], collects: list[int], circular: bool) -> Iterator[list]:
    if len(sequences) > 1 or circular:
        return _windows_together(sequences, offsets, collects, circular)
    (one,), (offset,), (width,) = sequences, offsets, collects
    return (one[start : start + width] for start in range(0, len(one) - width + 1, offset))


def _windows_together(sequences: list[list], offsets: list[int], collects: list[int], circular: bool) -> Iterator[list]:
    """Over several lists at once, or around a single list."""
    starts = [0] * len(sequences)
    while starts[0] < len(sequences[0]):
        if not circular and any(s + c > len(one) for s, c, one in zip(starts, collects, sequences)):
            break
        yield [one[(s + i) % len(one)] for s, c, one in zip(starts, collects, sequences) for i in range(c)]
        starts = [s + offset for s, offset in zip(starts, offsets)]


def whole(child: Element, name: str, default: int) -> int:
    text = child.attributes.get(name, str(default)).strip()
    if not text.isdecimal() or not 0 < int(text[:9]):
        raise ModelError(f"{name}={text[:20]!r} of a slide's list is no positive integer")
    refuse_many(int(text[:9]))
    return int(text[:9])


def _check_attributes(element: Element, known: frozenset[str]) -> None:
    for name in element.attributes:
        if name not in known:
            raise UnsupportedError(f"the attribute {name[:40]} of <{element.name}> is not read")
