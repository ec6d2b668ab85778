"""FlatZinc-JSON: the same models as from FlatZinc text, and clear errors for everything else."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.command import write
from support.flatzinc_json import to_json
from support.places import DATA
from support.warm import ask
from turbo_fzn.base.errors import ModelError, TurboError
from turbo_fzn.lower.rewrite import lower
from turbo_fzn.read.flatzinc import parse_text
from turbo_fzn.read.flatzinc_json import parse_json
from turbo_fzn.read.languages import parse_file
from turbo_fzn.read.model import Call, FloatRange, Model, Ref

CORPUS = sorted((DATA / "corpus").glob("*.fzn"))
SMALL = [path for path in CORPUS if path.stat().st_size < 6000 and "float" not in path.read_text()]  # one optimum each

EVERYTHING = """\
int: n = 3;
array [1..2] of int: c = [1,-1];
array [1..0] of int: none = [];
var {1,3,5}: x :: output_var;
var int: free :: is_defined_var :: var_is_introduced;
var bool: b;
var -3..3: y :: colour("red, \\"ish\\"") = x;
array [1..3] of var int: a :: output_array([1..3]) = [x,7,y];
array [1..1] of var bool: p = [b];
constraint int_lin_le(c,[x,n],0) :: mzn_path("a;b|c%d");
constraint int_plus(x,y,free) :: defines_var(free) :: ctx_pos;
constraint set_in(x,{1,5});
constraint set_in_reif(y,-3..3,b);
constraint bool_clause([b],p);
constraint int_lin_eq(none,[],0);
solve :: seq_search([int_search(a,first_fail,indomain_min,complete),int_search(none,input_order,indomain_min,complete),
  warm_start([x],[3]),bool_search([b],input_order,indomain_max,complete)]) :: restart_luby(100) maximize free;
"""


def content(model: Model) -> dict:
    """The content of a model without its positions; parameters are inlined as the converter inlines them."""
    return json.loads(to_json(model))


@pytest.mark.covers("J1", "J2", "J3")
@pytest.mark.parametrize("layout", [{}, {"indent": 1}, {"separators": (",", ":")}], ids=["usual", "lines", "dense"])
def test_a_model_is_the_same_in_both_languages(layout):
    model = parse_text(EVERYTHING)
    read = parse_json(to_json(model, **layout))
    used = re.sub('"none"(?!:)', "[]", json.dumps(content(model)))  # an empty array stands where it is used
    assert content(read) == json.loads(used)
    assert read.variables["free"].annotations == [Ref("var_is_introduced"), Ref("is_defined_var")]
    assert Call("defines_var", [Ref("free")]) in read.constraints[1].annotations
    assert read.goal.annotations[1] == Call("restart_luby", [100])


@pytest.mark.covers("J1")
@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.stem)
def test_the_corpus_is_the_same_in_both_languages(path):
    model = parse_text(path.read_text())
    assert content(parse_json(to_json(model))) == content(model)


def values(solution: tuple[str, ...]) -> list[str]:
    """The values without the index ranges, which this language does not know."""
    return sorted(re.sub(r"array\dd\(.*\[", "[", line) for line in solution)


@pytest.mark.covers("J1")
@pytest.mark.parametrize("path", SMALL[:4], ids=lambda path: path.stem)
def test_a_file_named_json_has_the_same_answers(path, tmp_path):
    model = parse_text(path.read_text())
    flag = "-a" if model.goal.method == "satisfy" else "-i"
    answer, expected = ask(flag, write(tmp_path, to_json(model), "model.fzn.json")), ask(flag, path)
    assert (answer.code, answer.errors, answer.markers) == (0, "", expected.markers)
    if flag == "-a":
        assert sorted(map(values, answer.solutions)) == sorted(map(values, expected.solutions))
    else:
        assert values(answer.solutions[-1]) == values(expected.solutions[-1])


@pytest.mark.covers("J3")
def test_arrays_are_printed_with_one_index_and_constants_in_them(tmp_path):
    text = json.dumps({
        "variables": {"x": {"type": "int", "domain": [[4, 4]]}, "b": {"type": "bool"}},
        "arrays": {"a": {"a": ["x", 2]}, "k": {"a": [1, 2]}, "e": {"a": []}, "p": {"a": [True, "b"]}},
        "constraints": [{"id": "bool_eq", "args": ["b", False]}, {"id": "int_lin_eq", "args": ["k", ["x", 3], 10]}],
        "output": ["x", "a", "k", "e", "p"],
        "solve": {"method": "satisfy"},
        "version": "1.0",
    })  # fmt: skip
    answer = ask(write(tmp_path, text, "model.json"))
    assert (answer.code, answer.errors) == (0, "")
    assert set(answer.solutions[0]) == {
        "x = 4;", "a = array1d(1..2, [4, 2]);", "k = array1d(1..2, [1, 2]);", "e = array1d(1..0, []);",
        "p = array1d(1..2, [true, false]);",
    }  # fmt: skip


# ---- what is wrong

MODEL = """\
{
 "variables": {
  "x": {"type": "int", "domain": [[1, 9]]},
  "b": {"type": "bool"}
 },
 "arrays": {"a": {"a": ["x", 3]}},
 "constraints": [
  {"id": "int_le", "args": ["x", 5]},
  {"id": "int_lin_le", "args": [[1, 1], "a", 7]}
 ],
 "output": ["x"],
 "solve": {"method": "satisfy"},
 "version": "1.0"
}
"""

WRONG = [
    ("", "model.json:1:1: unexpected end of the file"),
    ("[]", "model.json:1:1: unexpected '[', expected `{`"),
    ("var 1..3: x;", "model.json:1:1: unexpected 'v', expected `{`"),
    (MODEL[:100], "model.json:6:11: unexpected end of the file"),
    (MODEL + "x", "model.json:15:1: something follows the model"),
    (MODEL.replace('["x"],', '["x"] "y"'), "model.json:11:18: unexpected"),
    (MODEL.replace('"b":', "b:"), "model.json:4:3: expected a key in quotes"),
    (MODEL.replace("[[1, 9]]", "[[1, 9]"), "model.json:3:"),
    (MODEL.replace("[[1, 9]]", "[[1, NaN]]"), "model.json:3:3: no JSON: NaN"),
    (MODEL.replace("[[1, 9]]", "[[1, 9.5]]"), "model.json:3:3: the domain of the variable x is not of integers"),
    (MODEL.replace("[[1, 9]]", "[[1, 1e400]]"), "model.json:3:3: the number 1e400 does not fit in a double"),
    (MODEL.replace("[[1, 9]]", "[1, 9]"), "model.json:3:3: [1, 9] is no list of ranges"),
    (MODEL.replace("[[1, 9]]", f"[[1, {2**63}]]"), "model.json:3:3: the integer 9223372036854775808 does not fit"),
    (MODEL.replace("[[1, 9]]", f"[[1, {'9' * 5000}]]"), "model.json:3:8: an integer has thousands of digits"),
    (MODEL.replace("[[1, 9]]", f"[[1, {2**62}]]"), "model.json:3:3: the domain of `x` goes beyond"),
    (MODEL.replace('"type": "int", ', ""), 'model.json:3:3: the variable x has no "type"'),
    (MODEL.replace('"type": "int"', '"type": "ints"'), 'model.json:3:3: the variable x has the type "ints"'),
    (MODEL.replace('"type": "int"', '"type": ["int"]'), 'model.json:3:3: the variable x has the type ["int"]'),
    (MODEL.replace('{"type": "bool"}', "7"), "model.json:4:3: the variable b is no object"),
    (MODEL.replace('"b":', '"x":'), "model.json:4:3: x is declared twice"),
    (MODEL.replace('"b":', '"1b":'), 'model.json:4:3: "1b" is no name'),
    (
        MODEL.replace('"type": "bool"', '"type": "float", "domain": [[0.0, 1.0], [2.0, 3.0]]'),
        "model.json:4:3: the domain of the variable b is no single range",
    ),
    (MODEL.replace('["x", 3]', '["x", true]'), "model.json:6:13: the array a holds elements of different types"),
    (MODEL.replace('["x", 3]', '["x", "y"]'), "model.json:6:13: undefined identifier `y`"),
    (MODEL.replace('{"a": ["x", 3]}', '{"b": 1}'), 'model.json:6:13: the array a has no "a"'),
    (MODEL.replace('"args": ["x", 5]', '"arg": 1'), 'model.json:8:3: the constraint has no "args"'),
    (MODEL.replace('["x", 5]', '"x"'), 'model.json:8:3: "args" of int_le is no list'),
    (MODEL.replace('["x", 5]', '["x", {"a": 1}]'), 'model.json:8:3: {"a": 1} is no literal and no name'),
    (MODEL.replace('["x", 5]', '["x", null]'), "model.json:8:3: null is no literal and no name"),
    (MODEL.replace('["x", 5]', '["x", "a b"]'), 'model.json:8:3: "a b" is no name'),
    (MODEL.replace('["x", 5]', '["x", "z"]'), "model.json:8:3: argument 2 of int_le: undefined identifier `z`"),
    (MODEL.replace('["x", 5]', '["x", 5.5]'), "model.json:8:3: argument 2 of int_le: expected var int"),
    (MODEL.replace('["x", 5]', '["x", "b"]'), "model.json:8:3: argument 2 of int_le: expected var int"),
    (MODEL.replace('["x", 5]', '["x"]'), "model.json:8:3: int_le takes 2 arguments, found 1"),
    (MODEL.replace('"int_le"', '"int_lo"'), "model.json:8:3: unknown predicate `int_lo`"),
    (MODEL.replace('["x"]', '["y"]'), "model.json:11:13: the output `y` is not declared"),
    (MODEL.replace('"satisfy"', '"solve"'), 'model.json:12:11: the method "solve" is none of'),
    (MODEL.replace('"satisfy"', '"minimize"'), 'model.json:12:11: "solve" has no "objective"'),
    (MODEL.replace('"satisfy"', '"minimize", "objective": "b"'), "expected var int"),
    (MODEL.replace(' "solve": {"method": "satisfy"},\n', ""), 'model.json:1:1: "solve" is missing'),
    (MODEL.replace('"output"', '"solve"'), "model.json:11:11: "),
    ('{"solve":' * 100_000, "nested too deeply"),
    ('{"solve": ' + "[" * 100_000, "nested too deeply"),
]


@pytest.mark.covers("J4")
@pytest.mark.parametrize(("text", "message"), WRONG, ids=range(len(WRONG)))
def test_what_is_wrong_is_told_in_one_line_with_its_place(tmp_path, text, message):
    path = write(tmp_path, text, "model.json")
    with pytest.raises(ModelError) as caught:
        lower(parse_file(str(path)))
    line = str(caught.value).replace(f"{tmp_path}/", "")
    assert message in line and "\n" not in line, line


def test_the_command_tells_an_error_of_a_json_file_in_one_line(tmp_path):
    answer = ask(write(tmp_path, MODEL.replace('["x", 5]', '["x", "z"]'), "m.fzn.json"))
    assert (answer.code, answer.markers) == (1, ["=====ERROR====="])
    assert answer.errors.count("\n") == 1 and "m.fzn.json:8:3: " in answer.errors


VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-3, 9), st.floats(), st.sampled_from(["x", "b", "a", "int", ""])),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.sampled_from(["id", "args", "ann", "set", "string", "a", "type", "rhs", "x"]), inner, max_size=3
        ),
    ),
    max_leaves=8,
)


@pytest.mark.covers("J4")
@given(data=st.data())
def test_no_mistake_in_the_structure_is_a_crash(data):
    """A random value is put into a random place of a model."""
    model = json.loads(to_json(parse_text(EVERYTHING)))
    place = model
    while True:
        key = data.draw(st.sampled_from(list(place) if isinstance(place, dict) else range(len(place))))
        if not isinstance(place[key], (dict, list)) or not place[key] or data.draw(st.booleans()):
            break
        place = place[key]
    place[key] = data.draw(VALUES)
    try:
        lower(parse_json(json.dumps(model)))
    except TurboError as error:
        assert "\n" not in str(error)


@given(data=st.data())
def test_no_cut_and_no_other_character_is_a_crash(data):
    start = data.draw(st.integers(0, len(MODEL)))
    end = data.draw(st.integers(start, len(MODEL)))
    text = MODEL[:start] + data.draw(st.text('{}[]",:0x \n', max_size=3)) + MODEL[end:]
    try:
        parse_json(text)
    except ModelError as error:
        assert "\n" not in str(error)


@pytest.mark.parametrize(("written", "values"), [("[[0.5, 2.0]]", [0.5, 2.0]), ("[[0, 2]]", [0, 2])])
def test_a_float_variable_has_a_range_of_numbers(written: str, values: list) -> None:
    model = parse_json(MODEL.replace('"type": "bool"', f'"type": "float", "domain": {written}'))
    assert (model.variables["b"].kind, model.variables["b"].domain) == ("float", FloatRange(values))


def test_a_model_with_floats_has_the_same_optimum_in_json(tmp_path) -> None:
    path = next(path for path in CORPUS if path.stem == "golden_ratio")
    answer = ask(write(tmp_path, to_json(parse_text(path.read_text())), "model.fzn.json"))
    assert (answer.code, answer.markers) == (0, ["=========="]) and "ratio = 1.618033" in answer.text


def test_an_array_of_integers_and_floats_is_one_of_floats() -> None:
    model = parse_json(MODEL.replace('"type": "bool"', '"type": "float"').replace('["x", 3]', '["b", 3, 2.5]'))
    assert model.arrays["a"].kind == "float"
