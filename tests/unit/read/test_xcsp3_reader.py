"""The reader of XCSP3: compact notations, what is refused and how, damaged texts, and what a large instance costs."""

from __future__ import annotations

import gzip
import lzma
import os
import random
import re
from itertools import product

import pytest

from support.places import DATA
from turbo_fzn.base.errors import ModelError, UnsupportedError
from turbo_fzn.interface.api import solve_model
from turbo_fzn.lower.rewrite import lower
from turbo_fzn.read.languages import parse_file
from turbo_fzn.read.xcsp3.reader import SOLUTION, parse_xcsp3

FOLDER = DATA / "xcsp3"
MUTATIONS = int(os.environ.get("TURBO_FZN_MUTANTS", "500"))
MARKS = "<>()[]{}%,./\\\"'&;x0129-= \n*#!?éλ"


def instance(constraints: str, variables: str = "", more: str = "") -> str:
    declared = variables or '<array id="x" size="[4]"> 0..3 </array><var id="y"> 0..9 </var>'
    return f"<instance><variables>{declared}</variables><constraints>{constraints}</constraints>{more}</instance>"


def solutions(text: str) -> list[list[int]]:
    result = solve_model(parse_xcsp3(text), arch="cpu", all_solutions=True, check=True)
    return sorted(solution[SOLUTION] for solution in result.solutions)


# ---- notations


def test_arrays_are_named_by_ranges_and_slices():
    variables = '<array id="m" size="[2][3]"> 0..9 </array>'
    body = (
        "<instantiation><list> m[0][] m[1][1..2] </list><values> 1 2 3 5 6 </values></instantiation>"
        "<sum><list> m[][0] </list><condition> (eq,5) </condition></sum>"
    )
    assert solutions(instance(body, variables)) == [[1, 2, 3, 4, 5, 6]]


def test_cells_have_domains_of_their_own_and_some_are_no_variables():
    variables = (
        '<array id="m" size="[2][2]"><domain for="m[0][0] m[1][]"> 3 </domain></array>'
        '<array id="n" size="[2]"><domain for="n[1]"> 1 </domain><domain for="others"> 2 </domain></array>'
        '<var id="y" as="n" type="integer"> </var>'
    ).replace('<var id="y" as="n" type="integer"> </var>', '<var id="z"> 5 7 </var><var id="y" as="z"/>')
    model = parse_xcsp3(instance("", variables))
    assert model.listing == "m[0][0] m[1][0] m[1][1] n[] z y"
    assert [model.variables[name].domain.lower for name in ("n[0]", "n[1]", "y")] == [2, 1, 5]


@pytest.mark.parametrize("table", ["(0,1)(3,9)", "( 0 , 1 )\n (3,\t9) ", "(+0,01)(3,9)(-1,4)", "(0,1)(0,1)(3,9..9)"])
def test_tables_may_have_blanks_and_signs(table):
    body = f"<extension><list> x[0] y </list><supports> {table} </supports></extension>"
    variables = '<array id="x" size="[1]"> 0..3 </array><var id="y"> 0..9 </var>'
    assert solutions(instance(body, variables)) == [[0, 1], [3, 9]]


def test_expressions_of_one_shape_differ_in_their_names_and_constants():
    pairs = [("x[0]", "x[1]", 1), ("x[1]", "x[0]", 1), ("x[2]", "x[2]", 0), ("x[2]", "x[3]", 2), ("x[3]", "y", 2)]
    body = "".join(f"<intension> le(sub({p},{q}),{k}) </intension>" for p, q, k in pairs)
    body += "".join(f"<intension> or(eq({p},{k}),ne({q},{p})) </intension>" for p, q, k in pairs)
    expected = []
    for a, b, c, d, e in product(*[range(4)] * 4, range(10)):
        x = {"x[0]": a, "x[1]": b, "x[2]": c, "x[3]": d, "y": e}
        if all(x[p] - x[q] <= k and (x[p] == k or x[p] != x[q]) for p, q, k in pairs):
            expected.append([a, b, c, d, e])
    assert solutions(instance(body)) == expected


def test_values_come_in_runs():
    body = "<instantiation><list> x[] </list><values> 2x3 1 </values></instantiation><intension> eq(y,0) </intension>"
    assert solutions(instance(body)) == [[2, 2, 2, 1, 0]]


def test_symbols_are_values():
    variables = '<var id="a" type="symbolic"> red green </var><var id="b" type="symbolic"> green blue </var>'
    conflicts = "<extension><list> a b </list><conflicts> (red,blue) </conflicts></extension>"
    body = f"<intension> ne(a,b) </intension>{conflicts}"
    model = parse_xcsp3(instance(body, variables))
    assert model.symbols["a"] == ["red", "green", "blue"]
    assert solutions(instance(body, variables)) == [[0, 1], [1, 2]]


def test_groups_are_in_blocks_and_their_constants_are_arguments():
    group = "<group><intension> eq(%0,%1) </intension><args> x[0] 2 </args><args> y 7 </args></group>"
    assert len(solutions(instance(f'<block class="a"><block>{group}</block></block>'))) == 64


def test_a_slide_has_windows_over_several_lists():
    lists = '<list collect="1"> x[] </list><list offset="2" collect="2"> 0 1 1 2 2 3 3 9 </list>'
    body = f"<slide>{lists}<intension> in(%0,set(%1,%2)) </intension></slide>"
    assert len(solutions(instance(body + "<intension> eq(y,0) </intension>"))) == 2**3


def test_a_decision_annotation_is_a_search_annotation():
    model = parse_xcsp3(instance("", more="<annotations><decision> x[0..1] y </decision></annotations>"))
    assert model.goal.annotations[0].args[0] == ["x[0]", "x[1]", "y"]


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress, lambda data: lzma.compress(data, lzma.FORMAT_ALONE)])
def test_packed_instances_are_read(tmp_path, pack):
    suffix = {0: ".gz", 1: ".xz", 2: ".lzma"}[[b"\x1f", b"\xfd", b"]"].index(pack(b"")[:1])]
    path = tmp_path / f"model.xml{suffix}"
    path.write_bytes(pack(instance("<allDifferent> x[] </allDifferent>").encode()))
    assert len(parse_file(str(path)).variables) == 5


# ---- what random constraints seldom say


def test_a_circuit_has_two_nodes_whatever_its_size_says():
    variables = '<array id="x" size="[3]"> 0..2 </array><var id="y"> 0..3 </var>'
    found = solutions(instance("<circuit><list> x[] </list><size> y </size></circuit>", variables))
    assert found == [[0, 2, 1, 2], [1, 0, 2, 2], [1, 2, 0, 3], [2, 0, 1, 3], [2, 1, 0, 2]]


@pytest.mark.parametrize(
    ("more", "found"),
    [("", [[0, 1], [1, 0]]), ("(b,2,t)", [[0, 1], [1, 0], [1, 2]]), ("(z,0,a)(e,1,f)", [[0, 1], [1, 0]])],
)
def test_paths_of_a_diagram_that_lead_nowhere_are_no_solutions(more, found):
    """The root is the source of the first transition: z and e are not reached."""
    steps = f"(r,0,a)(r,1,b)(a,1,t)(b,0,t)(r,2,c){more}"
    body = f"<mdd><list> x[0] x[1] </list><transitions> {steps} </transitions></mdd>"
    assert solutions(instance(body, '<array id="x" size="[2]"> 0..3 </array>')) == found


def test_a_diagram_may_lead_nowhere_at_all():
    body = "<mdd><list> x[0] x[1] </list><transitions> (r,0,a)(r,1,b) </transitions></mdd>"
    assert solutions(instance(body)) == []


def test_a_condition_may_have_an_expression():
    body = "<sum><list> x[0..1] </list><condition> (gt,add(x[2],x[3])) </condition></sum>"
    maximum = "<maximum><list> x[] </list><condition> (le,sub(%0,%1)) </condition></maximum>"
    group = f"<group>{maximum}<args> y 8 </args></group>"
    expected = [
        [a, b, c, d, y]
        for a, b, c, d, y in product(*[range(4)] * 4, range(10))
        if a + b > c + d and max(a, b, c, d) <= y - 8
    ]
    assert solutions(instance(body + group)) == expected


def test_a_condition_may_have_a_set_from_the_arguments():
    group = "<group><sum><list> x[0..1] </list><condition> (in,%0) </condition></sum>{}</group>"
    variables = '<array id="x" size="[2]"> 0..3 </array>'
    assert len(solutions(instance(group.format("<args> 5..9 </args>"), variables))) == 3
    assert len(solutions(instance(group.format("<args> {0,5} </args>"), variables))) == 3


# ---- refusals


@pytest.mark.parametrize(
    ("body", "error", "message"),
    [
        ("<seqbin> x[] </seqbin>", UnsupportedError, "the constraint <seqbin> is not read"),
        ("<allDifferent> x[] z </allDifferent>", ModelError, "undefined identifier `z`"),
        ("<allDifferent> x[7] </allDifferent>", ModelError, "`x[7]`: the index is out of 0..3"),
        ("<allDifferent> x[][] </allDifferent>", ModelError, "`x[][]`: the array has 1 dimensions"),
        ("<allDifferent><set> x[] </set></allDifferent>", UnsupportedError, "<set> of <allDifferent> is not read"),
        ('<sum reifiedBy="y"/>', UnsupportedError, "the attribute reifiedBy of <sum> is not read"),
        ("<sum><list> x[] </list></sum>", ModelError, "<sum> without <condition>"),
        ("<sum><list> x[] </list><condition> (is,3) </condition></sum>", ModelError, "undefined identifier `is`"),
        ("<intension> eq(x[0],foo(y)) </intension>", ModelError, "the operator `foo` is not read"),
        ("<intension> eq(x[0],y </intension>", ModelError, "the parentheses of a list do not match"),
        ("<intension> eq(x[0]) </intension>", ModelError, "the operator `eq` with 1 operands"),
        ("<intension> eq(%0,y) </intension>", ModelError, "a parameter (%) outside of a group or a slide"),
        ("<group><intension> eq(%1,y) </intension><args> 1 </args></group>", ModelError, "%1 has no value: 1 are"),
        ("<extension><list> x[] </list><supports> (1,2) </supports></extension>", ModelError, "a tuple of 2 values"),
        ("<extension><list> x[0] y </list><supports> (1 2,) </supports></extension>", UnsupportedError, "cell `1 2`"),
        ("<extension><list> x[0] y </list><supports> (1,-) </supports></extension>", UnsupportedError, "cell `-`"),
        ("<extension><list> x[0] y </list><supports> (1,2)(3) </supports></extension>", ModelError, "a tuple of 1 "),
        ("<allDifferent><list> x[0] <b/> x[1] </list></allDifferent>", ModelError, "text beside elements: `x[0]`"),
        ("<allDifferent><list> x[] </list> y </allDifferent>", ModelError, "text beside elements: `y`"),
        ("<intension> or(le(x[0],y),) </intension>", ModelError, "a parenthesis too many in an expression"),
        ("<intension> or(,le(x[0],y)) </intension>", ModelError, "unexpected `,` in an expression"),
        ("<intension> in(y,x[0]) </intension>", ModelError, "the second operand of `in` is to be a set"),
        ('<extension type="soft"/>', UnsupportedError, "an <extension> of type soft is not read"),
        ("<extension><list> x[0] y </list><supports> (1,%0) </supports></extension>", UnsupportedError, "cell `%0`"),
        ("<allDifferent> 0x1000000000 </allDifferent>", ModelError, "1000000000 elements is too large"),
        ("<intension> eq(y,99999999999999999999) </intension>", ModelError, "does not fit in 64 bits"),
    ],
)
def test_what_is_not_read_is_refused_by_its_name_and_place(body, error, message):
    with pytest.raises(error) as caught:
        parse_xcsp3(instance("\n" + body), "model.xml")
    assert message in str(caught.value)
    assert re.match(r"model\.xml:2:\d+: ", str(caught.value))
    assert "\n" not in str(caught.value)


def test_instances_that_are_no_csp_or_cop_are_refused():
    with pytest.raises(UnsupportedError, match="type WCSP is not read"):
        parse_xcsp3(instance("").replace("<instance>", '<instance format="XCSP3" type="WCSP">'))


LAUGHS = "".join(f'<!ENTITY a{i} "{f"&a{i - 1};" * 10}">' for i in range(1, 12))


@pytest.mark.parametrize(
    "text",
    [
        f'<!DOCTYPE instance [<!ENTITY a0 "ha">{LAUGHS}]><instance>&a11;</instance>',
        '<!DOCTYPE instance [<!ENTITY a SYSTEM "file:///etc/passwd">]><instance>&a;</instance>',
        '<!DOCTYPE instance SYSTEM "http://localhost/x.dtd"><instance/>',
    ],
)
def test_documents_that_define_entities_are_refused(text):
    with pytest.raises(ModelError, match="a document type"):
        parse_xcsp3(text)


@pytest.mark.parametrize("quote", ['"', "'"])
def test_an_attribute_of_megabytes_is_refused(quote):
    with pytest.raises(ModelError, match="an attribute of megabytes"):
        parse_xcsp3(f"<instance note={quote}{'a' * 5_000_000}{quote}/>")


def test_elements_nested_without_end_are_refused():
    with pytest.raises(ModelError, match="nested more than"):
        parse_xcsp3("<instance>" + "<block>" * 100_000)


def test_an_expression_may_be_deep():
    text = instance(f"<intension> eq(x[0],{'neg(' * 20_000}x[1]{')' * 20_000}) </intension>")
    assert len(solutions(text)) == 4 * 4 * 4 * 10


def test_a_large_array_is_refused():
    with pytest.raises(ModelError, match="too large"):
        parse_xcsp3(instance("", '<array id="x" size="[100000][100000]"> 0..1 </array>'))


# ---- damage


def mutant(texts: list[str], rng: random.Random) -> str:
    text = rng.choice(texts)
    for _ in range(rng.randint(1, 4)):
        i, j = sorted(rng.randrange(len(text) + 1) for _ in range(2))
        kind = rng.randrange(6)
        if kind == 0:
            text = text[:i] + rng.choice(MARKS) + text[i:]
        elif kind == 1:
            text = text[:i] + text[i + rng.randint(1, 9) :]
        elif kind == 2:
            text = text[:i] + text[i:j][:200] + text[i:]
        elif kind == 3:
            numbers = [m.span() for m in re.finditer(r"\d+", text)]
            p, q = rng.choice(numbers) if numbers else (i, i)
            text = text[:p] + str(rng.choice([-1, 0, 7, 10**6, 10**9, 2**62, 2**70])) + text[q:]
        elif kind == 4:
            words = re.findall(r"[\w\[\]]+", text)
            text = text[:i] + rng.choice(words or [""]) + text[i + rng.randint(0, 5) :]
        else:
            text = text[:i] + rng.choice(texts)[i:]
        text = text or " "
    return text


@pytest.mark.parametrize("number", [80, pytest.param(MUTATIONS, marks=pytest.mark.slow)])
def test_damaged_instances_are_read_or_refused(number):
    """Instances that are read are lowered, too: no other exception than ours, and each soon."""
    rng = random.Random(2026)
    texts = [path.read_text() for path in sorted(FOLDER.glob("*.xml"))]
    refused = 0
    for _ in range(number):
        text = mutant(texts, rng)
        try:
            model = parse_xcsp3(text, "mutant.xml")
            if all(variable.domain is None or variable.domain.size < 1000 for variable in model.variables.values()):
                lower(model)
        except ModelError as error:
            assert "\n" not in str(error)
            refused += 1
    assert number // 3 < refused < number


# ---- size


def test_a_large_instance_is_read_whole():
    rng = random.Random(1)
    args = "".join(f"<args> x[{rng.randrange(4)}] y {k} </args>\n" for k in range(40_000))
    rows = "".join(f"({i % 4},{i // 4 % 10},{i})" for i in range(40_000))
    group = f"<group><intension> le(add(%0,%1),%2) </intension>{args}</group>"
    table = f"<extension><list> x[0] y z </list><supports>{rows}</supports></extension>"
    variables = '<array id="x" size="[4]"> 0..3 </array><var id="y"> 0..9 </var><var id="z"> 0..99999 </var>'
    text = instance(group + table, variables)
    assert len(parse_xcsp3(text).constraints) == 40_001
