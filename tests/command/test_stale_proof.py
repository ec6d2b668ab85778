"""A proof of an earlier run does not stay where a run comes to none."""

from __future__ import annotations

import pytest

from support.command import write
from support.warm import ask
from turbo_fzn import solve_text

REFUTED = "var 1..2: x; var 1..2: y; constraint int_lin_le([1,1],[x,y],1); solve satisfy;\n"


@pytest.mark.parametrize(
    ("flags", "marker"),
    [([], "=====UNSATISFIABLE====="), (["-t", -1], "=====UNKNOWN=====")],
    ids=["refuted", "no-time"],
)
def test_an_old_proof_is_gone(tmp_path, flags, marker):
    old = write(tmp_path, "the proof of another model", "a.pbp")
    answer = ask("--arch", "cpu", "--proof", old, *flags, write(tmp_path, REFUTED))
    assert answer.markers == [marker] and not old.exists()


def test_an_old_proof_is_gone_from_python_too(tmp_path):
    old = write(tmp_path, "the proof of another model", "a.pbp")
    assert solve_text(REFUTED, arch="cpu", proof=str(old)).status == "UNSATISFIABLE" and not old.exists()


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
