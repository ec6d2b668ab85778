"""FlatZinc items of every kind, drawn by Hypothesis with the values that they mean, in random blanks and comments."""

from __future__ import annotations

import re

from hypothesis import strategies as st

from turbo_fzn.base.domains import IntSet
from turbo_fzn.read.model import Array, Call, Constraint, FloatRange, FloatSet, Goal, Index, Model, Ref, Text, Variable

NAMES = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,8}", fullmatch=True).filter(lambda name: name not in ("true", "false"))
INTEGERS = st.integers(-(2**63), 2**63 - 1) | st.integers(-9, 9)
FLOATS = st.floats(allow_nan=False, allow_infinity=False)


def write_integer(value: int, base: str) -> str:
    return ("-" if value < 0 else "") + format(abs(value), base)


# A pair is (tokens, value).
integers = st.builds(lambda v, base: ([write_integer(v, base)], v), INTEGERS, st.sampled_from(["d", "d", "#x", "#o"]))
floats = FLOATS.map(lambda v: ([repr(v)], v))
booleans = st.booleans().map(lambda v: (["true" if v else "false"], v))
references = NAMES.map(lambda name: ([name], Ref(name)))
texts = st.text(st.sampled_from(list('ab;%|"\\\n\t:=[](){},é😀')), max_size=6).map(lambda v: ([write_text(v)], Text(v)))
indices = st.tuples(NAMES, integers).map(lambda p: ([p[0], "[", *p[1][0], "]"], Index(p[0], p[1][1])))


def write_text(value: str) -> str:
    for plain, escaped in (("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n"), ("\t", "\\t")):
        value = value.replace(plain, escaped)
    return f'"{value}"'


def separated(pairs: list, opening: str, closing: str) -> tuple[list[str], list]:
    tokens = [token for part, _ in pairs for token in (",", *part)][1:]
    return [opening, *tokens, closing], [value for _, value in pairs]


def lists_of(elements: st.SearchStrategy, opening: str = "[", closing: str = "]") -> st.SearchStrategy:
    return st.lists(elements, max_size=4).map(lambda pairs: separated(pairs, opening, closing))


def set_of(values: list) -> IntSet | FloatSet:
    return IntSet.of_values(values) if all(isinstance(value, int) for value in values) else FloatSet(values)


integer_ranges = st.tuples(integers, integers).map(
    lambda p: ([*p[0][0], "..", *p[1][0]], IntSet.interval(p[0][1], p[1][1]))
)
float_ranges = st.tuples(floats, floats | integers).map(
    lambda p: ([*p[0][0], "..", *p[1][0]], FloatRange([p[0][1], p[1][1]]))
)
integer_sets = lists_of(integers, "{", "}").map(lambda p: (p[0], set_of(p[1])))
number_sets = lists_of(integers | floats, "{", "}").map(lambda p: (p[0], set_of(p[1])))
literals = st.one_of(booleans, integers, floats, integer_ranges, float_ranges, integer_sets, number_sets)
elements = literals | references | references | indices
expressions = elements | lists_of(elements) | lists_of(references | integers)


def calls_of(terms: st.SearchStrategy) -> st.SearchStrategy:
    return st.tuples(NAMES.filter(lambda name: not name.endswith("_search")), lists_of(terms, "(", ")")).map(
        lambda p: ([p[0], *p[1][0]], Call(p[0], p[1][1]))
    )


terms = st.recursive(elements | texts, lambda inner: lists_of(inner) | calls_of(inner), max_leaves=6)
usual_terms = references | calls_of(references | integers) | calls_of(texts) | calls_of(lists_of(references))
annotations = st.lists(st.one_of(usual_terms, usual_terms, terms), max_size=3).map(
    lambda pairs: ([token for part, _ in pairs for token in ("::", *part)], [value for _, value in pairs])
)

int_domains = integer_ranges | integer_sets
scalar_types = st.sampled_from(["bool", "int"]).map(lambda kind: ([kind], (kind, None))) | int_domains.map(
    lambda p: (p[0], ("int", p[1]))
)
float_types = st.just((["float"], ("float", None))) | float_ranges.map(lambda p: (p[0], ("float", p[1])))
set_types = (st.just((["int"], None)) | int_domains).map(lambda p: (["set", "of", *p[0]], ("set", p[1])))
types = scalar_types | scalar_types | float_types | set_types


@st.composite
def variables(draw: st.DrawFn) -> tuple:
    name, (type_tokens, (kind, domain)) = draw(NAMES), draw(types)
    annotation_tokens, annotation_values = draw(annotations)
    value_tokens, value = draw(st.just(([], None)) | elements.map(lambda p: (["=", *p[0]], p[1])))
    tokens = ["var", *type_tokens, ":", name, *annotation_tokens, *value_tokens, ";"]
    return tokens, Variable(name, kind, domain, annotation_values, value, 0)


@st.composite
def arrays(draw: st.DrawFn) -> tuple:
    name, is_variable = draw(NAMES), draw(st.booleans())
    type_tokens, (kind, domain) = draw(types)
    annotation_tokens, annotation_values = draw(annotations)
    value_tokens, values = draw(lists_of(elements))
    head = ["array", "[", "1", "..", str(len(values)), "]", "of", *(["var"] if is_variable else []), *type_tokens]
    tokens = [*head, ":", name, *annotation_tokens, "=", *value_tokens, ";"]
    return tokens, Array(name, kind, is_variable, domain, values, annotation_values, 0)


@st.composite
def parameters(draw: st.DrawFn) -> tuple:
    pairs = {"bool": booleans, "int": integers, "float": floats | integers, "set of int": integer_ranges | integer_sets}
    kind, name, (annotation_tokens, _) = draw(st.sampled_from(sorted(pairs))), draw(NAMES), draw(annotations)
    tokens, value = draw(pairs[kind])
    return [*kind.split(), ":", name, *annotation_tokens, "=", *tokens, ";"], (name, value)


index_sets = st.just((["int"], None)) | integer_ranges
formal_types = types.map(lambda p: (p[0], None))


@st.composite
def predicates(draw: st.DrawFn) -> tuple:
    """A declaration, which means nothing."""
    formals = []
    for _ in range(draw(st.integers(0, 3))):
        sets = draw(st.lists(index_sets, max_size=2))
        array_of = ["array", *separated(sets, "[", "]")[0], "of"] if sets else []
        variable = draw(st.sampled_from([[], ["var"]]))
        formals.append(([*array_of, *variable, *draw(formal_types)[0], ":", draw(NAMES)], None))
    return ["predicate", draw(NAMES), *separated(formals, "(", ")")[0], ";"], None


@st.composite
def constraints(draw: st.DrawFn) -> tuple:
    name, (argument_tokens, arguments) = draw(NAMES), draw(lists_of(expressions, "(", ")"))
    annotation_tokens, annotation_values = draw(annotations)
    tokens = ["constraint", name, *argument_tokens, *annotation_tokens, ";"]
    return tokens, Constraint(name, arguments, annotation_values, 0)


searches = calls_of(references | lists_of(references | integers))
search_annotations = st.lists(st.one_of(searches, calls_of(lists_of(searches)), usual_terms, terms), max_size=3).map(
    lambda pairs: ([token for part, _ in pairs for token in ("::", *part)], [value for _, value in pairs])
)


@st.composite
def goals(draw: st.DrawFn) -> tuple:
    annotation_tokens, annotation_values = draw(search_annotations)
    method = draw(st.sampled_from(["satisfy", "minimize", "maximize"]))
    tokens, objective = ([], None) if method == "satisfy" else draw(elements)
    return ["solve", *annotation_tokens, method, *tokens, ";"], Goal(method, objective, annotation_values, 0)


GAPS = {
    "tight": [""],
    "usual": ["", "", "", " "],
    "loose": ["", " ", "\t", "\r\n", "  "],
    "commented": ["", " ", '% ; " [ constraint p(x); \n', " %\n"],
}


@st.composite
def written(draw: st.DrawFn, item: st.SearchStrategy) -> tuple:
    """(text, meaning) of an item, with gaps between its tokens."""
    tokens, meaning = draw(item)
    gaps = st.sampled_from(GAPS[draw(st.sampled_from(sorted(GAPS)))])
    text = ""
    for token in tokens:
        gap = draw(gaps)
        if not gap and re.match(r"[\w-]", token) and re.search(r"\w$", text):
            gap = " "
        text += (gap if text else "") + token
    return text, meaning


ITEMS = {
    "FLAT_CONSTRAINT": constraints,
    "FLAT_VARIABLE": variables,
    "FLAT_ARRAY": arrays,
    "FLAT_PARAMETER": parameters,
    "FLAT_PREDICATE": predicates,
}


@st.composite
def models(draw: st.DrawFn) -> tuple:
    """(text, model) with distinct names, items in any order."""
    expected, chunks = Model(), []
    items = draw(st.lists(written(st.one_of([item() for item in ITEMS.values()])), max_size=5))
    items.insert(draw(st.integers(0, len(items))), draw(written(goals())))
    for text, meaning in items:
        position = sum(map(len, chunks))
        chunks += [text, draw(st.sampled_from(["\n", "", "\r\n", " % ; solve\n"]))]
        name = meaning[0] if type(meaning) is tuple else getattr(meaning, "name", None)
        if meaning is None:
            continue
        if isinstance(meaning, Constraint):
            expected.constraints.append(meaning._replace(position=position))
        elif isinstance(meaning, Goal):
            expected.goal = Goal(meaning.method, meaning.objective, meaning.annotations, position)
        elif name in expected.variables or name in expected.arrays or name in expected.parameters:
            del chunks[-2:]
        elif type(meaning) is tuple:
            expected.parameters[name] = meaning[1]
        else:
            meaning.position = position
            (expected.variables if isinstance(meaning, Variable) else expected.arrays)[name] = meaning
    expected.text = "".join(chunks)
    return expected.text, expected
