"""The text form of a TNF: what is written is read back, and what is wrong is refused with its line."""

from __future__ import annotations

import io
from dataclasses import fields

import numpy as np
import pytest

from turbo_fzn.base.domains import INFINITY
from turbo_fzn.base.errors import ModelError, UsageError
from turbo_fzn.tnf.language import TNF, Op, Output, Restarts, Strategy, ValueChoice, VarChoice
from turbo_fzn.tnf.text import read, write


def full_model() -> TNF:
    """A TNF that uses every item of the text form."""
    return TNF(
        op=np.array([Op.ADD, Op.ELEMENT, Op.LEQ], np.int32),
        x=np.array([2, 0, 3], np.int32),
        y=np.array([0, 1, 0], np.int32),
        z=np.array([1, -1, 2], np.int32),
        lower=np.array([-5, 1, -INFINITY, 0]),
        upper=np.array([7, 3, INFINITY, 1]),
        tables=np.array([4, -4, 0] + [9] * 30),
        strategies=[
            Strategy(VarChoice.FIRST_FAIL, ValueChoice.SPLIT, np.array([0, 1, 0], np.int32)),
            Strategy(VarChoice.DOM_W_DEG, ValueChoice.OUT_RANDOM, np.zeros(0, np.int32)),
            Strategy(VarChoice.FIRST_FAIL, ValueChoice.MIN, np.array([0, 1], np.int32), np.array([1, 1], np.int32)),
            Strategy(
                VarChoice.MAX_REGRET,
                ValueChoice.MIN,
                np.array([1, 2], np.int32),
                np.array([0, 2], np.int32),
                [np.array([[-4, 4], [4, 7]]), np.empty((0, 2), np.int64)],
            ),
        ],
        outputs=[
            Output("x", "int", None, np.array([2], np.int32)),
            Output("grid", "bool", [(0, 1), (2, 2)], np.array([3, 3], np.int32)),
            Output("none", "int", [(1, 0)], np.zeros(0, np.int32)),
        ],
        objective=2,
        sense=-1,
        warm_start=(np.array([0, 1], np.int32), np.array([-3, 2])),
        stated=(np.array([2, 0], np.int32), np.array([80, 100])),
        restarts=Restarts("geometric", 70, 1.25),
    )


def read_text(tmp_path, text: str) -> TNF:
    path = tmp_path / "model.tnf"
    path.write_text(text, encoding="utf-8")
    return read(path)


def as_plain(value: object) -> object:
    """Arrays as lists, so that `==` compares whole models."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, (list, tuple)):
        return [as_plain(item) for item in value]
    if isinstance(value, (TNF, Strategy, Output)):
        return {field.name: as_plain(getattr(value, field.name)) for field in fields(value)}
    return value


def test_a_model_is_read_back_as_it_was_written(tmp_path):
    text = io.StringIO()
    write(full_model(), text)
    assert as_plain(read_text(tmp_path, text.getvalue())) == as_plain(full_model())


def test_an_infeasible_model_with_an_empty_domain_is_read_back(tmp_path):
    model = full_model()
    model.infeasible = True
    model.lower[0] = 8
    text = io.StringIO()
    write(model, text)
    assert as_plain(read_text(tmp_path, text.getvalue())) == as_plain(model)


def test_the_empty_text_is_the_empty_model(tmp_path):
    model = read_text(tmp_path, "# nothing\n\n")
    assert (model.n_vars, model.n_rows, model.sense) == (0, 0, 0)


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("var 0 1\nvra 0 1\n", 2, "unknown word 'vra'"),
        ("var 0\n", 1, "unpack"),
        ("var 2 1\n", 1, "the domain 2 1 is empty"),
        ("var inf inf\n", 1, "has no integers"),
        ("var 0 4611686018427387904\n", 1, "the largest absolute value"),
        ("var 0 1\nrow PLUS 0 0 0\n", 2, "unknown word 'PLUS'"),
        ("var 0 1\nrow ADD 0 x 0\n", 2, "invalid literal"),
        ("var 0 1\n\nminimize 1\n", 3, "there is no variable 1"),
        ("var 0 1\nminimize 0\nmaximize 0\n", 3, "a second objective"),
        ("var 0 1\nsearch FIRST_FAIL MIDDLE 0\n", 2, "unknown word 'MIDDLE'"),
        ("var 0 1\nsearch FIRST_FAIL MIN -1\n", 2, "there is no variable -1"),
        ("var 0 1\nsearch FIRST_FAIL MIN 0:3\n", 2, "there is no variable 3"),
        ("var 0 9\nsearch MAX_REGRET MIN 0:0:3>4\n", 2, "there is no gap in 3>4"),
        ("var 0 9\nsearch MAX_REGRET MIN 0:0:5>8,1>4\n", 2, "are not in order"),
        ("var 0 9\nsearch MAX_REGRET MIN 0:0:5\n", 2, "invalid literal"),
        ("var 0 1\noutput set x 0\n", 2, "found set"),
        ("real 1.5 0.5\n", 1, "is empty"),
        ("real 0.5 nan\n", 1, "is empty"),
        ("var 0 1\noutput int x 1..2 : 0\n", 2, "its ranges say 2"),
        ("var 0 1\noutput int x 1-2 : 0\n", 2, "expected a range"),
        ("var 0 1\nwarm_start 0:1\n", 2, "variable=value"),
        ("var 0 1\nrestarts sometimes 1 1\n", 2, "the kinds of restarts are none, constant"),
        ("var 0 1\nrestarts geometric 1 nan\n", 2, "the base of restarts is not a number"),
        ("var 0 1\nneighbourhood 0=101\n", 2, "a percentage is in 0..100"),
        ("var 0 1\nrow ADD 0 0 1\n", 2, "there is no such variable"),
        ("var 0 1\n\nrow ADD 0 0 0\nrow ADD -1 0 0\n", 4, "there is no such variable"),
        ("var 0 2\nrow EQ 0 0 0\n", 2, "the truth value is not in 0..1"),
        ("var 0 2\ntable 1 2\nrow ELEMENT 0 0 0\n", 3, "an index is outside of the table"),
        ("var 0 2\ntable 1 2 3\nrow ELEMENT 0 0 -1\n", 3, "an index is outside of the table"),
        ("var 0 2\nrow ADD 0 0 99999999999\n", 2, "no number of a variable"),
    ],
)
def test_a_wrong_text_is_refused_with_its_line(tmp_path, text, line, reason):
    with pytest.raises(ModelError) as caught:
        read_text(tmp_path, text)
    assert caught.value.line == line
    assert reason in caught.value.message


def test_a_missing_or_binary_file_is_refused(tmp_path):
    with pytest.raises(UsageError):
        read(tmp_path / "missing.tnf")
    (tmp_path / "binary.tnf").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ModelError):
        read(tmp_path / "binary.tnf")
