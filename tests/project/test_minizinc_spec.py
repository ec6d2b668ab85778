"""The tool that runs MiniZinc's own tests knows an expected answer from another one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools import minizinc_spec
from tools.minizinc_spec import Answer, Case, Tagged, agrees, flags_of, is_expected, plain, table


def result(**details: object) -> Tagged:
    return Tagged("Result", details)


def solution(**values: object) -> Tagged:
    return Tagged("Solution", values)


@pytest.mark.parametrize(
    ("printed", "value"),
    [
        (7, 7),
        ({"set": [1, [3, 5], {"e": "Red"}]}, {1, 3, 4, 5, "Red"}),
        ({"set": []}, set()),
        ([{"e": "Red"}, None], ["Red", None]),
        ({"c": "left", "e": {"e": "Red"}}, ("left", "Red")),
        ({"e": "Colour", "i": 3}, ("Colour", 3)),
        ({"set": 1, "c": 2}, {"set": 1, "c": 2}),  # a record
    ],
)
def test_json_of_minizinc_is_read_as_values_of_a_header(printed, value):
    assert plain(printed) == value


@pytest.mark.parametrize(
    ("wanted", "same", "other"),
    [
        (3, 3, 4),
        (True, True, False),
        (0.5, 0.50001, 0.51),
        ([1, [2]], [1, [2]], [1, [2, 3]]),
        ({1, 2}, {2, 1}, {1}),
        ({"a": 1}, {"a": 1, "b": 2}, {"b": 2}),
        (Tagged("Range", "2..4"), {2, 3, 4}, {2, 3}),
        (Tagged("Trim", " a\n"), "a  ", "b"),
        (Tagged("Approx", "3.14159"), 3.1416, 3.2),
        (Tagged("Unordered", [1, Tagged("Range", "1..2")]), [{1, 2}, 1], [1, 1]),
        (Tagged("ConstrEnum", {"constructor": "left", "argument": "Red"}), ("left", "Red"), ("right", "Red")),
        (Tagged("AnonEnum", {"enumName": "Colour", "value": 3}), ("Colour", 3), ("Colour", 4)),
    ],
)
def test_a_value_agrees_with_what_is_expected_or_does_not(wanted, same, other):
    assert agrees(wanted, same)
    assert not agrees(wanted, other)


ANSWER = Answer([{"x": 1, "_output": "1"}, {"x": 2, "_output": "2"}], "SATISFIED", None)


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        (result(status="SATISFIED"), True),
        (result(status="UNSATISFIABLE"), False),
        (result(solution=solution(x=2)), True),
        (result(solution=solution(x=1)), False),  # not the last one
        (result(solution=solution(_output_item="2")), True),
        (result(solution=solution(y=2)), False),
        (result(solution=Tagged("SolutionSet", [solution(x=2), solution(x=1)])), True),
        (result(solution=[solution(x=2)]), False),
        (Tagged("Error", {"type": "TypeError"}), False),
        (None, False),
    ],
)
def test_an_answer_is_compared_with_a_result(wanted, expected):
    assert is_expected(wanted, ANSWER) == expected


def test_an_error_is_compared_with_its_message():
    refused = Answer([], "ERROR", "undefined identifier `y'")
    assert is_expected(Tagged("Error", {"type": "TypeError", "regex": ".*identifier.*"}), refused)
    assert not is_expected(Tagged("Error", {"message": "syntax"}), refused)
    assert not is_expected(result(), refused)


def test_options_become_words_of_the_command():
    options = {"all_solutions": True, "-D": "n=3", "-O2": True, "restart": "luby", "timeout": 3}
    assert list(flags_of(options)) == ["-a", "-D", "n=3", "-O2", "--restart", "luby"]


def test_the_table_counts_what_nobody_expected(monkeypatch, capsys):
    monkeypatch.setattr(minizinc_spec, "KNOWN", {"known/a.mzn": "a reason", "known/b.mzn": "a reason"})
    faults = {"known/a.mzn": "wrong", "known/b.mzn": None, "c.mzn": "wrong, too", "d.mzn": None}
    assert table(faults) == 2
    printed = capsys.readouterr().out
    assert "expected | known/a.mzn | a reason" in printed and "UNEXPECTED | c.mzn | wrong, too" in printed
    assert "UNEXPECTED | known/b.mzn | passes" in printed and "2 of 4 cases" in printed


def test_another_solution_is_right_where_the_expected_one_is_among_all(monkeypatch):
    def ask(case: Case, minizinc: str, solver: Path, *more: str) -> Answer:
        return ANSWER if more else ANSWER._replace(solutions=ANSWER.solutions[:1])

    monkeypatch.setattr(minizinc_spec, "ask", ask)
    for value, found in ((1, None), (2, None), (3, 'SATISFIED, last solution [{"x": 1, "_output": "1"}]')):
        case = Case("a.mzn", Path("a.mzn"), {"expected": result(solution=solution(x=value))})
        assert minizinc_spec.fault(case, "minizinc", Path("turbo.msc")) == found
