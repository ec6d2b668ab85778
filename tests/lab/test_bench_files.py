"""What a benchmark can be given: FlatZinc, MiniZinc with its data, and folders of both."""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from pathlib import Path

import pytest

from lab.bench import ablation, files
from lab.bench.files import Instance, instances
from support.command import environment
from support.needs import needs_minizinc
from support.places import CORPUS
from turbo_fzn.base.resources import kernels_folder

ENDED = re.compile(r"\d+\.\d s(, [\d,]+)?")  # seconds, and the conflicts of learners
MODEL = 'int: n; array[1..n] of var 1..n: q; include "globals.mzn"; constraint all_different(q); solve satisfy;'


@pytest.fixture
def folder(tmp_path) -> Path:
    """sets/a.fzn, sets/b.fzn.gz, sets/queens/ with a model and two files of data, and a loose model with its data."""
    for name in ("sets/a.fzn", "sets/b.fzn.gz", "sets/notes.txt", "sets/queens/q.mzn", "sets/queens/n.dzn",
                 "sets/queens/more.json", "loose.mzn", "n4.dzn", "n5.dzn"):  # fmt: skip
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    return tmp_path


def test_a_folder_stands_for_what_is_in_it(folder):
    queens = folder / "sets" / "queens"
    assert instances([folder / "sets"]) == [
        Instance("a", (folder / "sets/a.fzn",)),
        Instance("b", (folder / "sets/b.fzn.gz",)),
        Instance("queens", (queens / "q.mzn", queens / "more.json", queens / "n.dzn")),
    ]


def test_data_follow_their_model(folder):
    model, four, five = folder / "loose.mzn", folder / "n4.dzn", folder / "n5.dzn"
    assert instances([model, four, model, five]) == [Instance("n4", (model, four)), Instance("n5", (model, five))]
    for alone in ([four], [folder / "sets/a.fzn", four]):
        with pytest.raises(ValueError, match="data must follow their model"):
            instances(alone)


def flatten(folder: Path, model: str, std: bool = False) -> str:
    (folder / "q.mzn").write_text(model)
    (folder / "n.dzn").write_text("n = 4;")
    arguments = argparse.Namespace(files=[folder / "q.mzn", folder / "n.dzn"], only=None, std=std, json=None)
    (path,) = files.chosen_files(arguments)
    return path.read_text()


@needs_minizinc
def test_minizinc_flattens_with_our_library_or_its_own(tmp_path):
    assert "turbo_all_different" in flatten(tmp_path, MODEL)
    theirs = flatten(tmp_path, MODEL, std=True)
    assert theirs.count("constraint int_lin_ne") == 6 and "all_different" not in theirs


@needs_minizinc
def test_sets_are_booleans_in_either(tmp_path):
    for std in (False, True):
        assert "var set" not in flatten(tmp_path, "int: n; var set of 1..n: s; solve maximize card(s);", std)


@needs_minizinc
def test_what_cannot_be_flattened_is_told_in_a_line(tmp_path):
    with pytest.raises(ValueError, match="n: MiniZinc cannot flatten it: .*undefined"):
        flatten(tmp_path, "int: n; constraint wrong; solve satisfy;")


@needs_minizinc
def test_the_benchmark_takes_minizinc(tmp_path):
    (tmp_path / "q.mzn").write_text(MODEL)
    (tmp_path / "n.dzn").write_text("n = 4;")
    command = [sys.executable, "-m", "lab.bench", "--seconds", "1", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment())
    assert done.returncode == 0 and f"{tmp_path.name} " in done.stdout, done.stderr


def test_flags_are_compared_model_by_model():
    command = [sys.executable, "-m", "lab.bench.flags", str(CORPUS / "golomb.fzn"), str(CORPUS / "queens.fzn")]
    command += ["--with", "-p 1", "--with", "-a -p 1", "--seconds", "60"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment())
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in done.stdout.splitlines()]
    assert rows[0] == ["model", "`-p 1`", "`-a -p 1`"], done.stderr
    assert rows[2][0] == "golomb" and all(ENDED.fullmatch(cell) for cell in rows[2][1:]), "both prove the optimum"
    assert rows[3][:2] == ["queens", "found"] and rows[3][2].endswith(" s"), "all of them only with -a"


def test_what_is_left_out_of_learning_is_known_to_the_kernels():
    text = (kernels_folder() / "learn" / "state" / "ablation.h").read_text()
    bits = {name.lower(): int(bit) for name, bit in re.findall(r"WITHOUT_(\w+) = (\d+)", text)}
    flags = {flag for variant in ablation.variants() for flag in variant.flags}
    assert ablation.PARTS.items() <= bits.items() and flags == {f"-DLEARN_WITHOUT={bit}" for bit in bits.values()}


def test_a_cell_of_an_ablation_has_what_the_proof_took():
    finder = ablation.Variant("nothing", ("finder",))
    seconds, conflicts = ablation.cell(CORPUS / "golomb.fzn", finder, 60).split(", ")
    assert float(seconds) >= 0 and int(conflicts) > 0


def test_an_ablation_is_a_table_of_markdown():
    assert ablation.markdown(["a", "b"], [["1", "2"]]) == "| a | b |\n| --- | --- |\n| 1 | 2 |"
