"""Which constraints of FlatZinc and of XCSP3 belong together, and what they are called."""

from __future__ import annotations

from turbo_fzn.explain.groups import groups_of
from turbo_fzn.read.languages import parse_named

VARIABLES = """\
var 1..3: x;
var 1..3: y = x;
var 1..9: X1 :: var_is_introduced :: is_defined_var;
var bool: X2 :: var_is_introduced :: is_defined_var;
var 1..9: z :: is_defined_var;
array [1..2] of var int: a = [X1,y];
"""


def groups(constraints: str, name: str = "model.fzn") -> dict[str, list[int]]:
    """Title and place -> the numbers of its constraints."""
    lines = [f"constraint {line.strip()};\n" for line in constraints.strip().splitlines()]
    model = parse_named(VARIABLES + "".join(lines) + "solve satisfy;\n", name)
    return {str(group.named): sorted(group.constraints) for group in groups_of(model)}


def test_a_constraint_without_a_name_is_a_group_of_its_own():
    assert groups("int_ne(x,y)\nint_ne(x,y)\nint_lin_le([1,1],a,4)") == {
        "int_ne(x,y) (model.fzn:7)": [0],
        "int_ne(x,y) (model.fzn:8)": [1],
        "int_lin_le([1,1],a,4) (model.fzn:9)": [2],
    }


def test_one_name_makes_one_group():
    named = groups('int_ne(x,y) :: mzn_constraint_name("n")\nint_le(x,2)\nint_ne(x,3) :: mzn_constraint_name("n")')
    assert named == {"n (model.fzn:7)": [0, 2], "int_le(x,2) (model.fzn:8)": [1]}


def test_a_definition_belongs_to_all_that_speak_of_its_variable_directly_or_not():
    found = groups(
        """int_times(x,x,X1) :: defines_var(X1)
        int_lt_reif(4,X1,X2) :: defines_var(X2)
        bool_eq(X2,true) :: mzn_constraint_name("direct")
        int_lin_le([1,1],a,4) :: mzn_constraint_name("by an array")
        int_le(y,2) :: mzn_constraint_name("none")"""
    )
    assert list(found.values()) == [[0, 1, 2], [0, 3], [4]]


def test_the_definition_of_a_variable_that_the_user_declared_is_a_constraint():
    found = groups('int_times(x,x,z) :: defines_var(z) :: mzn_constraint_name("z")\nint_le(z,2)')
    assert found == {"z (model.fzn:7)": [0], "int_le(z,2) (model.fzn:8)": [1]}


def test_a_definition_of_what_nobody_speaks_of_is_a_constraint():
    assert list(groups("int_times(x,x,X1) :: defines_var(X1)\nint_le(x,2)").values()) == [[0], [1]]


def test_a_path_says_the_place_and_the_loops_in_the_same_file():
    path = "/a/m.mzn|3|12|3|40|ca|forall;/a/m.mzn|3|19|3|19|i=2;/std/all.mzn|1|1|1|9|k=7;/a/m.mzn|3|20|3|30|bin|'='"
    other, long = path.replace("i=2", "i=3"), "/a/m.mzn|5|1|7|9|ca|f"
    found = groups(f'int_ne(x,1) :: mzn_path("{path}")\nint_ne(x,2) :: mzn_path("{path}")\n'
                   f'int_ne(x,3) :: mzn_path("{other}")\nint_le(x,1) :: mzn_path("{long}")')  # fmt: skip
    assert found == {"m.mzn:3.12-40 [i=2]": [0, 1], "m.mzn:3.12-40 [i=3]": [2], "m.mzn:5.1-7.9": [3]}


def test_what_stands_in_the_place_of_a_named_constraint_belongs_to_it():
    path = ':: mzn_path("m.mzn|3|12|3|40|ca|f")'
    found = groups(f'int_ne(x,1) {path}\nint_ne(x,2) :: mzn_constraint_name("n") {path}')
    assert found == {"n (m.mzn:3.12-40)": [0, 1]}


def test_the_name_of_a_part_stands_behind_that_of_the_whole():
    found = groups('int_ne(x,1) :: mzn_constraint_name("n") :: mzn_expression_name("a")\n'
                   'int_ne(x,2) :: mzn_expression_name("b") :: mzn_constraint_name("n")')  # fmt: skip
    assert found == {"n: a (model.fzn:7)": [0], "n: b (model.fzn:8)": [1]}


def test_annotations_of_another_shape_say_nothing():
    odd = "int_ne(x,1) :: mzn_constraint_name(3) :: mzn_path", 'int_ne(x,2) :: mzn_path("a|b") :: defines_var(q)'
    found = groups("\n".join(odd))
    assert list(found.values()) == [[0], [1]]


XCSP3 = """<instance format="XCSP3" type="CSP">
<variables> <array id="x" size="[3]"> 1..3 </array> </variables>
<constraints>
<allDifferent id="all"> x[] </allDifferent>
<intension note="far apart"> gt(dist(x[0],x[1]),2) </intension>
<sum> <list> mul(x[0],x[1]) x[2] </list> <condition> (le,4) </condition> </sum>
<group id="g"> <intension> lt(%0,%1) </intension> <args> x[0] x[1] </args>
<args> x[1] x[2] </args> </group>
</constraints></instance>"""


def test_an_element_of_xcsp3_is_called_by_its_id_or_note_or_place():
    found = groups_of(parse_named(XCSP3, "rooms.xml"))
    assert [str(group.named) for group in found] == [
        *("all (rooms.xml:4.1)", "far apart (rooms.xml:5.1)", "rooms.xml:6.1", "rooms.xml:7.51", "rooms.xml:8.1")
    ]
    assert [len(group.constraints) for group in found] == [1, 1, 2, 1, 1]  # a product has a variable of its own
