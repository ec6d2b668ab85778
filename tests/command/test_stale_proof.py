"""Where a run comes to no proof, the files of an earlier one do not stay, and the reason is told."""

from __future__ import annotations

import pytest

from support.command import write
from support.warm import ask
from turbo_fzn import Model, solve_text

REFUTED = "var 1..2: x; var 1..2: y; constraint int_lin_le([1,1],[x,y],1); solve satisfy;\n"


@pytest.mark.parametrize(
    ("flags", "marker"),
    [([], "=====UNSATISFIABLE====="), (["-t", -1], "=====UNKNOWN=====")],
    ids=["refuted", "no-time"],
)
def test_an_old_proof_is_gone(tmp_path, flags, marker):
    old = [write(tmp_path, "the proof of another model", name) for name in ("a.pbp", "a.opb")]
    answer = ask("--arch", "cpu", "--proof", old[0], *flags, write(tmp_path, REFUTED))
    assert answer.markers == [marker] and not any(path.exists() for path in old)


SOLVERS = {
    "solve_text": lambda text, **settings: solve_text(text, **settings),
    "Model": lambda text, **settings: Model(text).solve(**settings),
}
UNSOLVED = "var 1..2: x :: output_var; var 1..2: y; constraint int_lt(x,y); solve satisfy;\n"
NO_PROOF = {
    "refuted": ({}, REFUTED, "UNSATISFIABLE", "refuted before the search"),
    "no-time": ({"time_limit": -1}, UNSOLVED, "UNKNOWN", "stopped before that"),
    "dumped": ({"dump_tnf": "b.tnf"}, UNSOLVED, "UNKNOWN", "writes the model instead of searching"),
}


@pytest.mark.parametrize("case", NO_PROOF)
@pytest.mark.parametrize("solve", SOLVERS)
def test_python_is_told_too_why_there_is_no_proof_and_an_old_one_is_gone(tmp_path, monkeypatch, caplog, solve, case):
    monkeypatch.chdir(tmp_path)
    settings, text, status, reason = NO_PROOF[case]
    old = [write(tmp_path, "the proof of another model", name) for name in ("a.pbp", "a.opb")]
    result = SOLVERS[solve](text, arch="cpu", proof="a.pbp", **settings)
    assert result.status == status and not any(path.exists() for path in old)
    assert [reason in message for message in caplog.messages] == [True]


@pytest.mark.parametrize(("model", "proof"), [("a.pbp", "a.pbp"), ("a.opb", "a.pbp"), ("a.opb.gz", "a.pbp.gz")])
def test_a_model_that_a_file_of_the_proof_would_overwrite_stays(tmp_path, model, proof):
    path = write(tmp_path, REFUTED, model)
    assert ask("--arch", "cpu", "--proof", tmp_path / proof, path).code == 1
    assert path.read_text() == REFUTED


ITSELF, NONE = "end the proof's in .pbp", "is no name of a file"


@pytest.mark.parametrize(
    ("name", "reason"),
    [("{}/a.opb", ITSELF), ("{}//./a.opb", ITSELF), ("{}/link.pbp", ITSELF), ("", NONE), (".gz", NONE)],
)
def test_a_name_that_a_proof_cannot_have_is_refused(tmp_path, name, reason):
    (tmp_path / "link.pbp").symlink_to("link.opb")
    answer = ask("--arch", "cpu", "--proof", name.format(tmp_path), write(tmp_path, REFUTED))
    assert answer.code == 1 and reason in answer.errors and list(tmp_path.glob("*.opb")) == []


@pytest.mark.parametrize("folder", ["a.pbp", "a.opb"])
def test_a_folder_of_the_name_of_one_of_its_files_is_refused_before_the_other_is_written(tmp_path, folder):
    (tmp_path / folder).mkdir()
    answer = ask("--arch", "cpu", "--proof", tmp_path / "a.pbp", write(tmp_path, REFUTED))
    assert answer.code == 1 and "is a folder" in answer.errors
    assert [path.name for path in tmp_path.glob("a.*")] == [folder]


@pytest.mark.parametrize(("flag", "name"), [("--log-file", "a.opb"), ("--report", "a.pbp"), ("--dump-tnf", "./a.pbp")])
def test_two_files_that_are_written_are_not_the_same(tmp_path, flag, name):
    answer = ask("--arch", "cpu", "--proof", tmp_path / "a.pbp", flag, f"{tmp_path}/{name}", write(tmp_path, REFUTED))
    assert answer.code == 1 and "would write the same file" in answer.errors
    assert [path.name for path in tmp_path.glob("a.*")] == []


@pytest.mark.parametrize("flags", [["--optimal-solutions", 2], ["-a-o"]])
def test_a_second_search_that_would_have_no_proof_is_refused_before_the_first(tmp_path, flags):
    model = write(tmp_path, "var 1..9: x :: output_var; solve maximize x;\n", "model.fzn")
    answer = ask("--arch", "cpu", "--proof", tmp_path / "a.pbp", *flags, model)
    assert answer.code == 1 and "not with --optimal-solutions" in answer.errors and "x = " not in answer.text
    assert [path.name for path in tmp_path.glob("a.*")] == []


def test_a_model_that_is_dumped_has_no_proof_and_that_is_told(tmp_path):
    flags = "--proof", tmp_path / "a.pbp", "--dump-tnf", tmp_path / "a.tnf"
    answer = ask("--arch", "cpu", *flags, write(tmp_path, UNSOLVED))
    assert answer.code == 0 and "no proof is written: --dump-tnf" in answer.errors
    assert sorted(path.name for path in tmp_path.glob("a.*")) == ["a.tnf"]


def test_a_run_that_is_refused_tells_only_that(tmp_path):
    answer = ask("--arch", "cpu", "--proof", tmp_path / "a.pbp", write(tmp_path, "var 1..2: x; solve\n"))
    assert answer.code == 1 and len(answer.errors.splitlines()) == 1
