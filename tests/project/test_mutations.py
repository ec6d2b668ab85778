"""The mutations are in step with the code and with the tests; `make mutate` tries them."""

from __future__ import annotations

import ast
import re

import pytest

from support.places import ROOT, TESTS
from tools.mutate import MUTATIONS, Outcome, table
from tools.mutation import Mutation, mutated, place_of
from tools.operators import draw

PYTHON = """def put(a):
    '''a < b'''
    return a < 2  # a < 3

class Box:
    def put(self, a):
        return a < 2
""".replace("'''", '"' * 3)
KERNEL = "INLINE bool put(i32 a,\n    i32 b) {\n  return a < 2;\n}\n\nbool get(i32 a) {\n  return a < 2;\n}\n"


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda one: f"{one.mechanism}: {one.fault}")
def test_what_is_to_be_broken_is_there_once(mutation):
    place = place_of(mutation, ROOT)
    assert mutation.text != mutation.replacement
    if place.path.suffix == ".py":
        ast.parse(mutated(mutation, place))


@pytest.mark.parametrize("tests", sorted({mutation.tests for mutation in MUTATIONS}))
def test_the_tests_that_are_to_see_it_are_there(tests):
    """With `-k WORD`, the word is in the name of a test of the files, or is a case of one."""
    files, _, word = tests.partition(" -k ")
    texts = [next(TESTS.rglob(file)).read_text(encoding="utf-8") for file in files.split()]
    assert texts and all("\ndef test_" in text for text in texts)
    assert any(re.search(rf"\ndef test_\w*{word}|[\"'/]{word}[\"'.]", text) for text in texts)


@pytest.fixture
def tree(tmp_path):
    """A source tree with two files, each of which has the same text in two functions."""
    for name, text in (("turbo_fzn/room/box.py", PYTHON), ("kernels/room/box.h", KERNEL)):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.mark.parametrize(
    ("file", "function"), [("box.py", "put"), ("box.py", "Box.put"), ("box.h", "put"), ("box.h", "get")]
)
def test_a_text_is_found_in_its_function_whatever_its_spaces(tree, file, function):
    mutation = Mutation("", "", file, function, "return  a\n< 2", "return a < 3", "")
    text = mutated(mutation, place_of(mutation, tree))
    assert text.count("return a < 3") == 1 and text.count("return a < 2") == 1
    assert text.partition("return a < 3")[0].rindex(function.partition(".")[2] or function) > 0


@pytest.mark.parametrize(("file", "function"), [("box.py", ""), ("box.py", "get"), ("box.c", "put")])
def test_a_text_that_is_there_twice_or_not_at_all_is_refused(tree, file, function):
    with pytest.raises(LookupError, match="is found [02] times"):
        place_of(Mutation("", "", file, function, "return a < 2", "", ""), tree)


def test_operators_are_drawn_from_the_code_of_guarded_functions(tree):
    """What comments and docstrings say is no code."""
    guards = [
        Mutation("", "", "box.py", "put", "return a < 2", "", ""),
        Mutation("", "", "box.h", "get", "a < 2", "", ""),
    ]
    drawn = draw(guards, tree, seed=1, count=9)
    assert sorted(one.fault for one in drawn) == ["< becomes <="] * 2
    assert all("a <= 2" in mutated(one, place_of(one, tree)) for one in drawn)


def test_what_is_drawn_can_be_put_into_the_solver():
    drawn = draw(MUTATIONS[::9], ROOT, seed=1, count=10**6)
    assert len(drawn) > 30 and len({one.fault for one in drawn}) > 5
    for one in drawn:
        assert one.fault.partition(" becomes ")[0] in one.text and place_of(one, ROOT)


def test_the_table_has_a_row_for_each_mutation_with_the_test_or_the_fault():
    seen, survived = Outcome(MUTATIONS[0], test="`test_a.py` it holds"), Outcome(MUTATIONS[1], fault="SURVIVED\nmore")
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table([seen, survived]).splitlines()]
    assert [len(row) for row in rows] == [4] * 4
    first, second = MUTATIONS[:2]
    assert rows[2] == [first.mechanism, first.fault, f"`{first.file}: {first.function}`", "`test_a.py` it holds"]
    assert rows[3] == [second.mechanism, second.fault, f"`{second.file}: {second.function}`", "SURVIVED"]
