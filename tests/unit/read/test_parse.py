"""FlatZinc text to Model: an example, and the traps of the language, one test each, read both ways."""

from __future__ import annotations

import math

import pytest

from support.both_ways import read_by_lark, typed
from support.flatzinc_text import EXAMPLE
from turbo_fzn.base.domains import INFINITY, IntSet
from turbo_fzn.base.errors import ModelError
from turbo_fzn.read.flatzinc import FlatZincReader, parse_text
from turbo_fzn.read.languages import parse_file
from turbo_fzn.read.model import Array, Call, Constraint, FloatRange, FloatSet, Goal, Index, Ref, Text, Variable


def only_constraint(arguments: str) -> Constraint:
    """The constraint `p(arguments)`, by both ways."""
    text = f"constraint p({arguments});\nsolve satisfy;\n"
    model = parse_text(text)
    assert typed(model) == typed(read_by_lark(text))
    (constraint,) = model.constraints
    return constraint


def only_goal(text: str) -> Goal:
    model = parse_text(text)
    assert typed(model) == typed(read_by_lark(text))
    assert model.goal is not None
    return model.goal


# ---- the example


def test_the_example_is_read_without_lark() -> None:
    reader = FlatZincReader(EXAMPLE, "")
    reader.read()
    assert reader.nested_characters == 0


def test_the_scan_and_lark_read_the_example_alike() -> None:
    assert typed(parse_text(EXAMPLE)) == typed(read_by_lark(EXAMPLE))


def test_the_example_has_its_values() -> None:
    model = parse_text(EXAMPLE)
    assert model.parameters == {"n": 3, "flag": True}
    assert list(model.variables) == ["x", "holes", "b", "free", "z", "alias"]
    assert list(model.arrays) == ["c", "sets", "nothing", "square", "bools"]
    position = EXAMPLE.index("var {1,3,9}")
    assert model.variables["holes"] == Variable("holes", "int", IntSet.of_values([1, 3, 9]), [], None, position)
    sets = [IntSet.of_values([1, 3]), IntSet.interval(1, 4), IntSet(())]
    assert model.arrays["sets"] == Array("sets", "set", False, None, sets, [], EXAMPLE.index("array [1..3]"))
    text = Text('a;b|%c :: "d"')
    annotations = [Ref("domain"), Call("defines_var", [Ref("z")]), Call("mzn_path", [text])]
    arguments = [[1, 1, -1], [Ref("x"), Ref("holes"), Ref("z")], 0]
    position = EXAMPLE.index("constraint int_lin_eq")
    assert typed(model.constraints[2]) == typed(Constraint("int_lin_eq", arguments, annotations, position))
    integers = Call("int_search", [[Ref("x"), Ref("z")], Ref("first_fail"), Ref("indomain_min"), Ref("complete")])
    booleans = Call("bool_search", [Ref("bools"), Ref("input_order"), Ref("indomain_max")])
    annotations = [Call("seq_search", [[integers, booleans]]), Call("restart_luby", [100])]
    assert typed(model.goal) == typed(Goal("minimize", Ref("z"), annotations, EXAMPLE.index("solve")))


def test_positions_lead_back_to_lines_and_columns() -> None:
    model = parse_text("var int: x;\n  constraint p(x);\nconstraint q( % why\n x); solve satisfy;", "m.fzn")
    assert model.goal is not None
    places = [model.locate(item.position) for item in (*model.constraints, model.goal)]
    assert places == [("m.fzn", 2, 3), ("m.fzn", 3, 1), ("m.fzn", 4, 6)]


# ---- the traps, numbered as in the list of points that trip parsers


@pytest.mark.covers("G1")
def test_trap_1_items_come_in_any_order() -> None:
    model = parse_text("solve minimize x; constraint p(x); var int: x; int: n = 1; predicate p(var int: x);")
    assert list(model.variables) == ["x"] and len(model.constraints) == 1


@pytest.mark.covers("G2")
@pytest.mark.parametrize(
    "formals",
    [
        "",
        "array [int] of var int: x",
        "array [1..2,int] of int: x, var bool: b",
        "set of int: s, var set of 1..9: t",
        "float: f, var 0.5..1.5: g, array [int] of var float: h",
        "var {1,2}: x, array [int] of set of int: y",
    ],
)
def test_trap_2_predicate_items_are_skipped(formals: str) -> None:
    text = f"predicate int_lin_eq({formals});\nsolve satisfy;"
    assert typed(parse_text(text)) == typed(read_by_lark(text))


@pytest.mark.covers("G3")
def test_trap_3_integers_without_bounds_have_no_domain() -> None:
    assert parse_text("var int: u; solve satisfy;").variables["u"].domain is None


@pytest.mark.covers("G4")
@pytest.mark.parametrize(
    ("declared", "kind", "domain"),
    [
        ("{1,3,9}", "int", IntSet.of_values([1, 3, 9])),
        ("{ 9 , 1 }", "int", IntSet.of_values([1, 9])),
        ("{}", "int", IntSet(())),
        ("2..2", "int", IntSet.interval(2, 2)),
        ("-1..1", "int", IntSet.interval(-1, 1)),
        ("1 .. 3", "int", IntSet.interval(1, 3)),
        ("3..1", "int", IntSet(())),
        ("bool", "bool", None),
        ("set of 1..3", "set", IntSet.interval(1, 3)),
        ("set of {1,5}", "set", IntSet.of_values([1, 5])),
        ("set of int", "set", None),
    ],
)
def test_trap_4_domains_of_variables(declared: str, kind: str, domain: IntSet | None) -> None:
    for text in (f"var {declared}: d; solve satisfy;", f"array [1..1] of var {declared}: d = [x]; solve satisfy;"):
        model = parse_text(text)
        assert typed(model) == typed(read_by_lark(text))
        item = (model.variables | model.arrays)["d"]  # type: ignore[operator]
        assert (item.kind, item.domain) == (kind, domain)


@pytest.mark.covers("G15")
@pytest.mark.parametrize(
    ("declared", "domain"),
    [
        ("float", None),
        ("0.0..1.0", FloatRange([0.0, 1.0])),
        ("-1.5..2.0", FloatRange([-1.5, 2.0])),
        ("0..1.5", FloatRange([0, 1.5])),
        ("{0.5,1.5}", FloatSet([0.5, 1.5])),
    ],
)
@pytest.mark.parametrize("form", ["var {}: speed;", "array [1..1] of var {}: speed = [x];"])
def test_trap_4_float_variables_have_a_range_or_none(declared: str, domain: FloatSet | None, form: str) -> None:
    reader = FlatZincReader(form.format(declared) + " solve satisfy;", "")
    model = reader.read()
    item = (model.variables | model.arrays)["speed"]  # type: ignore[operator]
    assert item.kind == "float" and typed(item.domain) == typed(domain)
    assert reader.nested_characters == 0  # the scan reads all of them


@pytest.mark.covers("G5")
def test_trap_5_objectives_may_be_parameters_or_literals() -> None:
    model = parse_text("int: X_1_ = 3; array [1..2] of var bool: x = [t,X]; bool: t = true; solve minimize X_1_;")
    assert model.parameters == {"X_1_": 3, "t": True} and model.goal is not None and model.goal.objective == Ref("X_1_")
    assert only_goal("solve maximize 3;").objective == 3
    assert only_goal("array [1..1] of var int: a = [x]; solve minimize a[1];").objective == Index("a", 1)


@pytest.mark.covers("G6")
@pytest.mark.parametrize(
    ("kind", "value"), [("int", "y"), ("int", "5"), ("bool", "true"), ("0..3", "-0x2"), ("int", "a[2]")]
)
def test_trap_6_scalars_may_have_right_hand_sides(kind: str, value: str) -> None:
    text = f"var {kind}: x = {value}; solve satisfy;"
    expected = {"y": Ref("y"), "5": 5, "true": True, "-0x2": -2, "a[2]": Index("a", 2)}[value]
    assert (
        typed(parse_text(text).variables["x"].value)
        == typed(expected)
        == typed(read_by_lark(text).variables["x"].value)
    )


@pytest.mark.covers("G5")
def test_trap_6_arrays_of_variables_hold_literals() -> None:
    assert typed(parse_text("array [1..2] of var int: a = [2,x]; solve satisfy;").arrays["a"].elements) == typed(
        [2, Ref("x")]
    )


@pytest.mark.covers("G7")
def test_trap_7_literals_stand_inline_everywhere() -> None:
    sets = [IntSet.of_values([1, 3]), IntSet.interval(1, 4), IntSet(())]
    assert typed(only_constraint("{1,3},S").args) == typed([sets[0], Ref("S")])
    assert typed(only_constraint("[{1,3},1..4,{}]").args) == typed([sets])
    assert typed(only_constraint("x,6,0").args) == typed([Ref("x"), 6, 0])
    assert typed(only_constraint("[b,c],true").args) == typed([[Ref("b"), Ref("c")], True])
    assert typed(only_constraint("x[1],[x[2],3]").args) == typed([Index("x", 1), [Index("x", 2), 3]])


@pytest.mark.covers("G8")
def test_trap_8_things_may_be_empty() -> None:
    model = parse_text("array [1..0] of var int: e:: output_array([1..0]) = []; solve satisfy;")
    assert model.arrays["e"].elements == [] and model.arrays["e"].annotations == [Call("output_array", [[IntSet(())]])]
    assert only_constraint("[],[],0").args == [[], [], 0]
    assert only_constraint("[ ]").args == [[]]
    assert only_constraint("").args == []
    assert only_goal("solve satisfy;") == Goal("satisfy", None, [], 0)
    assert only_goal("solve :: int_search([],input_order,indomain_min,complete) satisfy;").annotations[0].args[0] == []


@pytest.mark.covers("G9")
def test_trap_9_output_arrays_have_any_index_sets() -> None:
    text = "array [1..4] of var int: a :: output_array([2..3,0..1]) = [x,x,x,x]; solve satisfy;"
    ranges = [IntSet.interval(2, 3), IntSet.interval(0, 1)]
    assert parse_text(text).arrays["a"].annotations == [Call("output_array", [ranges])]


@pytest.mark.covers("G10")
def test_trap_10_annotations_need_no_blanks() -> None:
    text = (
        "constraint p(x):: ctx_neg:: defines_var(X)::a;array[1..1]of var int:y::var_is_introduced  =[x];"
        "var int:x::a::b;solve  satisfy;"
    )
    model = parse_text(text)
    assert typed(model) == typed(read_by_lark(text))
    assert model.constraints[0].annotations == [Ref("ctx_neg"), Call("defines_var", [Ref("X")]), Ref("a")]
    assert model.variables["x"].annotations == [Ref("a"), Ref("b")]


@pytest.mark.covers("G11")
@pytest.mark.parametrize(
    ("literal", "contents"),
    [
        (r'"a;b|c%d"', "a;b|c%d"),
        (r'"say \"x\" \\ \n"', 'say "x" \\ \n'),
        ('"ö 日本 😀"', "ö 日本 😀"),
        ('":: constraint q(y); ["', ":: constraint q(y); ["),
        ('"a = b"', "a = b"),
        ('""', ""),
    ],
)
def test_trap_11_strings_hold_anything(literal: str, contents: str) -> None:
    text = f"constraint p(x) :: mzn_path({literal}) :: a;\nvar int: x :: f({literal}) = 3;\nsolve :: {literal} satisfy;"
    model = parse_text(text)
    assert typed(model) == typed(read_by_lark(text))
    assert typed(model.constraints[0].annotations) == typed([Call("mzn_path", [Text(contents)]), Ref("a")])
    assert model.variables["x"].annotations == [Call("f", [Text(contents)])] and model.variables["x"].value == 3
    assert model.goal is not None and typed(model.goal.annotations) == typed([Text(contents)])
    assert len(model.constraints) == 1


@pytest.mark.covers("G12")
@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("-0x1F", -31),
        ("0xff", 255),
        ("0o17", 15),
        ("-0o17", -15),
        ("007", 7),
        ("1e5", 1e5),
        ("1.0E-3", 1e-3),
        ("-2.5e+2", -250.0),
        ("-9223372036854775808", -(2**63)),
        ("9223372036854775807", 2**63 - 1),
        ("1..3", IntSet.interval(1, 3)),
        ("-5..-3", IntSet.interval(-5, -3)),
        ("0x1..0xF", IntSet.interval(1, 15)),
        ("1.0..3.5", FloatRange([1.0, 3.5])),
        ("{0.5,1.5}", FloatSet([0.5, 1.5])),
        ("_", Ref("_")),
        ("_x1", Ref("_x1")),
        ("X_INTRODUCED_1_", Ref("X_INTRODUCED_1_")),
        ("truest", Ref("truest")),
        ("false_", Ref("false_")),
        ("e5", Ref("e5")),
        ("true", True),
        ("false", False),
    ],
)
def test_trap_12_words(word: str, value: object) -> None:
    assert typed(only_constraint(word).args) == typed([value])
    assert typed(only_constraint(f"[ {word},{word} ],1").args) == typed([[value, value], 1])


@pytest.mark.covers("G13")
def test_trap_13_comments_and_long_lines() -> None:
    names = ",".join(f"X_INTRODUCED_{i}_" for i in range(60_000))
    text = f"% FlatZinc\n%; var int: y;\n\nconstraint p([{names}]); % end\nsolve satisfy; % really"
    reader = FlatZincReader(text, "")
    model = reader.read()
    assert len(text) > 1_000_000 and len(model.constraints[0].args[0]) == 60_000
    assert reader.nested_characters == 0 and not model.variables


def test_trap_13_comments_may_stand_inside_a_statement() -> None:
    assert typed(only_constraint('x, % ) ; " [\n [1, % ]\n 2]').args) == typed([Ref("x"), [1, 2]])


# Trap 14, invalid FlatZinc that some releases write, is in test_bad_input.py.


def test_trap_15_integers_may_stand_where_floats_are_expected() -> None:
    model = parse_text("float: f = 3; array [1..2] of float: g = [1,-2.5]; solve satisfy;")
    assert typed(model.parameters) == typed({"f": 3}) and model.arrays["g"].elements == [1, -2.5]


def test_objectives_may_have_the_names_of_methods() -> None:
    assert only_goal("solve minimize satisfy;") == Goal("minimize", Ref("satisfy"), [], 0)
    assert only_goal("solve maximize minimize;") == Goal("maximize", Ref("minimize"), [], 0)
    assert only_goal("solve :: minimize satisfy;") == Goal("satisfy", None, [Ref("minimize")], 0)


def test_a_huge_domain_is_kept_exactly() -> None:
    domain = parse_text(f"var -{2**63}..{2**63 - 1}: x; solve satisfy;").variables["x"].domain
    assert isinstance(domain, IntSet) and domain.lower < -INFINITY


def test_a_byte_order_mark_is_skipped() -> None:
    assert parse_text("\ufeffvar int: x; solve satisfy;").variables


def test_floats_are_written_as_the_grammar_wants_them() -> None:
    assert math.isclose(float(only_constraint("1e-7").args[0]), 1e-7)


def test_the_collector_is_as_before_after_a_parse() -> None:
    import gc

    for enabled in (True, False):
        (gc.enable if enabled else gc.disable)()
        parse_text("solve satisfy;")
        found = gc.isenabled()
        gc.enable()
        assert found == enabled


def test_a_file_is_read_as_utf_8(tmp_path) -> None:
    path = tmp_path / "m.fzn"
    path.write_bytes('constraint p("é");'.replace("p(", "p(x) :: f(").encode() + b"\r\nsolve satisfy;\r\n")
    model = parse_file(str(path))
    assert model.file == str(path) and model.constraints[0].annotations == [Call("f", [Text("é")])]


@pytest.mark.parametrize("word", ["bool_satisfy", "to_minimize x", "a::to_maximize x"])
def test_an_annotation_that_ends_like_a_method_is_none(word):
    with pytest.raises(ModelError, match="expected"):
        parse_text(f"var 0..1: x;\nsolve :: {word};\n")
