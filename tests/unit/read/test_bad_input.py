"""Input that is no FlatZinc: one line that says where and why, soon, in little memory, and never a traceback."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from support.command import processor_seconds
from turbo_fzn.base.errors import ModelError, UsageError
from turbo_fzn.lower.rewrite import lower
from turbo_fzn.read.flatzinc import parse_text
from turbo_fzn.read.languages import parse_file
from turbo_fzn.read.tuning import TUNING

HUGE = 100_000_000  # bytes of garbage
SECONDS_FOR_HUGE = 20  # of processor time; 2 s on an idle machine
MEGABYTES_FOR_HUGE = 800  # the text itself takes 100 to 200

MODEL = """\
predicate p(var int: x);
int: n = 3;
array [1..2] of int: c = [1,-1];
var 1..10: x :: output_var;
var bool: b :: is_defined_var;
array [1..2] of var int: a :: output_array([1..2]) = [x,7];
constraint int_lin_le(c,[x,n],0) :: mzn_path("a;b");
constraint int_le_reif(x,3,b) :: defines_var(b);
solve :: seq_search([int_search(a,first_fail,indomain_min,complete)]) minimize x;
"""


def message(text: str) -> str:
    """The error message for a wrong text."""
    with pytest.raises(ModelError) as caught:
        parse_text(text, "m.fzn")
    said = str(caught.value)
    assert "\n" not in said and re.match(r"m\.fzn:\d+:\d+: ", said)
    return said


# ---- syntax


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "1:1: missing solve item"),
        (" \n% only a comment\n", "3:1: missing solve item"),
        ("var int: x;\nvar int: y;\n", "3:1: missing solve item"),
        ("hello", "1:1: unexpected `hello`, expected the beginning of an item"),
        ("var int x;", "1:9: unexpected `x`, expected `:`"),
        ("var int: x\nvar int: y;", "2:1: unexpected `var`, expected `::` or `;` or `=`"),
        ("var 1..: x;", "1:8: unexpected `:`, expected a number or an integer"),
        ("var 1.: x;", "1:6: unexpected `.`, expected `..`"),
        ("varint: x;", "1:1: unexpected `varint`, expected the beginning of an item"),
        ("constraint p(x\n", "2:1: unexpected end of the file in a statement, expected `)` or `,` or `[`"),
        ("constraint p(x) constraint q(x);", "1:17: unexpected `constraint`, expected `::` or `;`"),
        ("constraint p(x,,y);", "1:16: unexpected `,`"),
        ("constraint p(x,);", "1:16: unexpected `)`"),
        ("constraint p(f(x));", "1:15: unexpected `(`, expected `)` or `,` or `[`"),
        ('constraint p("s");', '1:14: unexpected `"`'),
        ("constraint p([[1]]);", "1:15: unexpected `[`"),
        ("constraint p([1,,2]);", "1:17: nothing between two commas"),
        ("constraint p([1,2,]);", "1:19: nothing between two commas"),
        ("constraint p([1, 2 3]);", "1:18: `2 3` is no literal and no name"),
        ("constraint p([1,\n 1x]);", "2:2: `1x` is no literal and no name"),
        ("constraint p({x});", "1:15: unexpected `x`"),
        ("constraint p(9223372036854775808);", "1:14: the integer 9223372036854775808 does not fit in 64 bits"),
        ("constraint p(1e999);", "1:14: the number 1e999 does not fit in a double"),
        ("constraint p([1.0,-1e999]);", "1:19: the number -1e999 does not fit in a double"),
        ("constraint p([-9223372036854775809]);", "1:15: the integer -9223372036854775809 does not fit in 64 bits"),
        ("var int: x :: f(;", "1:17: unexpected `;`"),
        ("var int: x :: ;", "1:15: unexpected `;`"),
        ('var int: x :: f("a\nb");', "1:17: the string does not end on its line"),
        ('var int: x :: f("a;', "1:17: the string does not end on its line"),
        ("solve;", "1:6: unexpected `;`, expected `::` or `maximize` or `minimize` or `satisfy`"),
        ("solve minimize;", "1:15: unexpected `;`"),
        ("solve maximise x;", "1:7: unexpected `maximise`"),
        ("array [1..2] of int: a;", "1:23: unexpected `;`, expected `::` or `=`"),
        ("array [1..n] of int: a = [];", "1:11: unexpected `n`, expected an integer"),
        ("array [int] of int: a = [];", "1:8: unexpected `int`, expected an integer"),
        ("var int: true;", "1:10: unexpected `true`, expected a name"),
        ("var int: é;", "1:10: unexpected `é`, expected a name"),
        ("var int: \x07;", "1:10: unexpected character 0x7, expected a name"),
        ("var set of bool: s;", "1:12: unexpected `bool`"),
        ("array [1..0] of set of bool: s = [];", "1:24: unexpected `bool`"),
        ("solve::A()::B(::)satisfy;", "1:15: unexpected `::`"),
        ("constraint p(x)::B(a::b);", "1:21: unexpected `::`"),
    ],
)
def test_syntax_errors_say_where_and_why(text: str, said: str) -> None:
    assert message(text).startswith(f"m.fzn:{said}")


@pytest.mark.covers("G14")
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("array [1..1] of var true: x = [y];", "2:21: unexpected `true`"),
        ("solve :: int_search([|x,y|z,u|],a,b) satisfy;", "2:21: array literals of two dimensions"),
        (
            "solve :: bool_search([set_in(x,{1,3})],a,b) satisfy;",
            "2:10: bool_search over set_in(…), which is no variable",
        ),
        (
            "solve :: seq_search([int_search([x,f(y)],a,b)]) satisfy;",
            "2:22: int_search over f(…), which is no variable",
        ),
    ],
)
def test_trap_14_invalid_flatzinc_of_some_releases_is_refused_with_its_line(text: str, said: str) -> None:
    assert message(f"var int: x;\n{text}\n").startswith(f"m.fzn:{said}")


def test_an_error_behind_long_comments_and_strings_has_the_right_place() -> None:
    text = '% é ;\n\n  constraint p(x, % ";\n 1) :: f("é;%", g(\n   ]);'
    assert message(text).startswith("m.fzn:5:4: unexpected `]`")


# ---- meaning


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("var int: x;\nvar bool: x; solve satisfy;", "2:1: x is declared twice, first in line 1"),
        ("int: x = 1;\n var bool: x; solve satisfy;", "2:2: x is declared twice"),
        ("int: x = 1;\nint: x = 1; solve satisfy;", "2:1: x is declared twice"),
        ("array [1..1] of int: x = [1];\nint: x = 1;", "2:1: x is declared twice, first in line 1"),
        ("var int: x;\narray [1..1] of int: x = [1];", "2:1: x is declared twice, first in line 1"),
        ("solve satisfy;\nsolve minimize x;", "2:1: a second solve item, the first is in line 1"),
        ("array [1..3] of int: x = [1,2];", "1:1: the array x has 2 elements where 1..3 are declared"),
        ("array [1..0] of int: x = [1];", "1:1: the array x has 1 elements where 1..0 are declared"),
        ("array [0..1] of int: x = [1,2];", "1:1: the indices of the array x begin with 0, not 1"),
        ("array [1..1] of var {1} : x = [{1}, %\n 2];", "1:1: the array x has 2 elements"),
        ("int: x = true;", "1:1: the value of the parameter x is not of type int"),
        ("bool: x = 1;", "1:1: the value of the parameter x is not of type bool"),
        ("bool: x = y;", "1:1: the value of the parameter x is not of type bool"),
        ("int: x = 1.5;", "1:1: the value of the parameter x is not of type int"),
        ("set of int: x = 1;", "1:1: the value of the parameter x is not of type set"),
        ("float: x = 1..2;", "1:1: the value of the parameter x is not of type float"),
        ("1..3: x = 4;", "1:1: the value of the parameter x is not in its range"),
    ],
)
def test_errors_of_meaning_say_where_and_why(text: str, said: str) -> None:
    assert message(text).startswith(f"m.fzn:{said}")


def test_a_very_long_name_is_not_repeated_in_full() -> None:
    with pytest.raises(ModelError) as caught:
        lower(parse_text(f"constraint int_le(1,{'x' * 2**15});solve satisfy;", "m.fzn"))
    said = str(caught.value)
    assert said.startswith("m.fzn:1:1: argument 2 of int_le: undefined identifier `xxx") and len(said) < 500


def test_a_window_of_less_than_nothing_is_refused() -> None:
    text = "var 0..2: x;\nconstraint turbo_sliding_sum(0,1,{},[x,x]);\nsolve satisfy;"
    lower(parse_text(text.format(0), "m.fzn"))
    with pytest.raises(ModelError, match=r"^m\.fzn:2:1: turbo_sliding_sum: the sizes of its arguments do not fit"):
        lower(parse_text(text.format(-1), "m.fzn"))


def test_a_diagram_that_one_value_leaves_along_two_edges_is_refused() -> None:
    """It is read as if there were one way, so solutions could be lost."""
    text = (
        "var 0..2: x;\nvar 0..2: y;\n"
        "constraint turbo_mdd([x,y],3,[1,2,2],4,[1,1,2,3],[{{0,1}},{{{}}},1..1,2..2],[2,3,0,0]);\nsolve satisfy;"
    )
    lower(parse_text(text.format(2), "m.fzn"))
    with pytest.raises(ModelError, match=r"^m\.fzn:3:1: turbo_mdd: .* two edges from a node share a value"):
        lower(parse_text(text.format(1), "m.fzn"))


# ---- damage


def test_every_truncation_of_a_model_is_an_error_at_its_end() -> None:
    parse_text(MODEL)
    for length in range(len(MODEL.rstrip())):
        said = message(MODEL[:length])
        line = int(said.split(":")[1])
        assert MODEL[:length].count("\n") + 1 - line in (0, 1), said


def test_any_character_may_be_replaced_without_a_traceback() -> None:
    for position in range(len(MODEL)):
        for damage in ("", "\0", "(", "]", '"', ";", "::", "[|", "\\"):
            try:
                parse_text(MODEL[:position] + damage + MODEL[position + 1 :])
            except ModelError as error:
                assert error.line is not None and error.column is not None


@pytest.mark.parametrize(
    "text",
    [
        "constraint p({});",
        "constraint p({}",
        "solve :: {} satisfy;",
        "var int: x :: f({});",
    ],
)
@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ("f(", ")"), ("{", "}"), ("(", ""), ("f([", "])")])
def test_deep_nesting_is_refused_and_not_recursed_into(text: str, opening: str, closing: str) -> None:
    assert "nested more than" in message(text.format(opening * 50_000 + closing * 50_000))


def test_nesting_up_to_the_limit_is_read() -> None:
    depth = TUNING.nesting
    parse_text(f"solve :: {'f(' * depth}1{')' * depth} satisfy;")
    assert f"nested more than {depth} deep" in message(f"solve :: {'f(' * (depth + 1)}1{')' * (depth + 1)} satisfy;")


def test_brackets_in_strings_and_comments_are_no_nesting() -> None:
    parse_text(f'solve :: f("{"[" * 500}", % {"(" * 500}\n g(1)) satisfy;')


def test_many_brackets_side_by_side_are_no_nesting() -> None:
    parse_text(f"constraint p([{','.join(['{1}'] * 500)}], %\n x); solve satisfy;")


def test_a_nested_statement_too_long_for_lark_is_refused() -> None:
    words = "x," * (TUNING.nested_characters // 2)
    assert message(f"constraint p({words} a[1]);solve satisfy;").endswith("the statement does not end, or is too long")


def test_a_long_string_in_a_long_statement_is_read() -> None:
    text = f'solve :: f(g("{"long " * 20_000}")) satisfy;'
    goal = parse_text(text).goal
    assert goal is not None and len(goal.annotations[0].args[0].args[0]) == 100_000


# ---- files


def test_a_missing_file_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"none\.fzn: cannot read the file: No such file or directory"):
        parse_file(str(tmp_path / "none.fzn"))


def test_a_folder_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot read the file: Is a directory"):
        parse_file(str(tmp_path))


def test_an_unreadable_file_is_a_usage_error(tmp_path: Path) -> None:
    path = tmp_path / "m.fzn"
    path.write_text(MODEL)
    path.chmod(0)
    user = os.geteuid()
    if user == 0:  # root may read every file, so for a moment be nobody
        os.seteuid(65534)
    try:
        with pytest.raises(UsageError, match="cannot read the file: Permission denied"):
            parse_file(str(path))
    finally:
        os.seteuid(user)


def test_a_name_with_a_nul_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="cannot read the file"):
        parse_file("m\0.fzn")


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "1:1: missing solve item"),
        (b"\x7fELF\x02\x01\x01\0\0\0", "1:8: not a text file"),
        (b"var int: x;\nvar int: \xff;", "2:10: not UTF-8 text"),
        ("% é\n% é \ud800".encode("utf-8", "surrogatepass"), "2:5: not UTF-8 text"),
        ("solve satisfy;".encode("utf-16-le"), "1:2: not a text file"),
        ("var int: ü;".encode("latin-1"), "1:10: not UTF-8 text"),
        (b"%" * 100_000 + b"\n" + b"\0", "2:1: unexpected character 0x0"),
    ],
)
def test_files_that_are_no_text_are_refused_with_a_place(tmp_path: Path, data: bytes, said: str) -> None:
    path = tmp_path / "m.fzn"
    path.write_bytes(data)
    with pytest.raises(ModelError) as caught:
        parse_file(str(path))
    assert str(caught.value).startswith(f"{path}:{said}")


def test_a_file_without_an_end_is_refused_by_its_beginning() -> None:
    with pytest.raises(ModelError, match="not a text file"):
        parse_file("/dev/zero")


GARBAGE = {
    "letters": "'x' * N",
    "blanks": "' ' * N",
    "quotes": "'\"' * N",
    "an endless constraint": "'constraint p(' + '1,' * (N // 2)",
    "an endless name": "'var int: ' + 'a' * N",
    "a list of no words": "'array [1..2] of int: x = [' + 'a b,' * (N // 4) + '1];'",
    "escapes": "'constraint p(\"' + '\\\\a' * (N // 2) + '\");'",
}


@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=[pytest.mark.slow] * (kind != "quotes")) for kind in sorted(GARBAGE)]
)
def test_a_hundred_megabytes_of_garbage_are_refused_soon_and_in_little_memory(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "garbage.fzn"
    path.write_text(eval(GARBAGE[kind], {"N": HUGE}))
    code = (
        "import sys\n"
        "from lab.bench.front import peak_bytes\n"
        "from turbo_fzn.read.languages import parse_file\n"
        "from turbo_fzn.base.errors import ModelError\n"
        "try: parse_file(sys.argv[1])\n"
        "except ModelError as error: print(error)\n"
        "print(peak_bytes() >> 20)"
    )
    before = processor_seconds()
    run = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True)
    path.unlink()
    seconds = processor_seconds() - before
    said, megabytes = run.stdout.splitlines()
    assert said.startswith(f"{path}:1:") and len(said) < len(str(path)) + 200
    assert int(megabytes) < MEGABYTES_FOR_HUGE
    assert seconds < SECONDS_FOR_HUGE


def test_a_wrong_statement_after_many_right_ones_is_found_in_linear_time() -> None:
    lines = "".join(f"var int: x{i};\n" for i in range(50_000))
    start = time.process_time()
    assert message(lines + "var int x;").startswith("m.fzn:50001:9:")
    assert time.process_time() - start < 5


# ---- the command


@pytest.mark.covers("O11")
@pytest.mark.parametrize(
    ("data", "said"),
    [
        (None, "No such file"),
        (b"", "1:1: missing solve item"),
        (b"\0\1\2", "1:1: not a text file"),
        (b"constraint int_eq(x,", "1:21: unexpected end of the file"),
        (b"var {0.5,1.5}: x; solve satisfy;", "1:1: the domain of `x` is no range"),
    ],
)
def test_the_command_says_one_line_and_fails(tmp_path: Path, data: bytes | None, said: str) -> None:
    path = tmp_path / "m.fzn"
    if data is not None:
        path.write_bytes(data)
    run = subprocess.run([sys.executable, "-m", "turbo_fzn", str(path)], check=False, capture_output=True, text=True)
    assert run.returncode == 1 and run.stdout == "=====ERROR=====\n"
    (line,) = run.stderr.splitlines()
    assert said in line and str(path) in line
