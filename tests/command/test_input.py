"""Where a model comes from: standard input, packed files, files that are no FlatZinc; and the flags of C++ Turbo."""

from __future__ import annotations

import gzip
import io
import lzma
import re
import subprocess
from pathlib import Path

import pytest

from support.command import COMMAND, LEAST_SUM, Answer, environment, read, value, write
from support.flatzinc_json import to_json
from support.warm import ask
from turbo_fzn.lower.rewrite import lower
from turbo_fzn.options.spellings import LEFT_OUT, LEFT_OUT_SWITCHES, REFUSED
from turbo_fzn.read.flatzinc import parse_text
from turbo_fzn.tnf.text import write as write_tnf

PACK = {"": bytes, ".gz": gzip.compress, ".xz": lzma.compress}


DAMAGE = {
    "cut": lambda data: data[: len(data) // 2],
    "not packed": lambda data: b"var 1..3: x;",
    "changed": lambda data: data[:40] + b"*" * 40 + data[80:],
}


def tnf_text() -> str:
    text = io.StringIO()
    write_tnf(lower(parse_text(LEAST_SUM)).tnf, text)
    return text.getvalue()


TEXTS = {".fzn": lambda: LEAST_SUM, ".json": lambda: to_json(parse_text(LEAST_SUM)), ".tnf": tnf_text}


def assert_refused(answer: Answer, message: str) -> None:
    assert answer.code == 1 and answer.markers == ["=====ERROR====="]
    assert re.fullmatch(f"fzn-turbo: {message}\n", answer.errors), answer.errors


@pytest.mark.parametrize("packing", PACK)
@pytest.mark.parametrize("suffix", TEXTS)
def test_a_packed_file_is_read_as_the_one_in_it(tmp_path, suffix, packing):
    path = tmp_path / f"model{suffix}{packing}"
    path.write_bytes(PACK[packing](TEXTS[suffix]().encode()))
    answer = ask("--arch", "cpu", path)
    assert answer.markers == ["=========="] and value(answer, "x") + value(answer, "y") == 7


@pytest.mark.parametrize("suffix", [".fzn", ".json"])
def test_a_dash_is_standard_input(suffix):
    command = [*COMMAND, "--arch", "cpu", "-"]
    done = subprocess.run(
        command, input=TEXTS[suffix](), capture_output=True, text=True, env=environment(), timeout=60
    )  # fmt: skip
    answer = read(done.stdout, done.stderr, done.returncode)
    assert answer.markers == ["=========="] and value(answer, "x") + value(answer, "y") == 7


def test_an_error_in_standard_input_has_its_place():
    done = subprocess.run([*COMMAND, "-"], input="var int x;", capture_output=True, text=True, env=environment())
    assert done.returncode == 1 and done.stderr.startswith("fzn-turbo: standard input:1:9: unexpected `x`")


@pytest.mark.parametrize("suffix", [".fzn", ".tnf"])
@pytest.mark.parametrize("packing", [".gz", ".xz"])
@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_packed_file_is_refused(tmp_path, suffix, packing, damage):
    path = tmp_path / f"model{suffix}{packing}"
    path.write_bytes(DAMAGE[damage](PACK[packing](TEXTS[suffix]().encode())))
    assert_refused(ask(path), f"{path}: cannot unpack the file: .*")


def test_a_packed_file_that_is_no_text_is_refused_by_its_beginning(tmp_path):
    path = tmp_path / "model.fzn.gz"
    path.write_bytes(gzip.compress(bytes(10_000_000)))
    assert_refused(ask(path), f"{path}:1:1: not a text file")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("model.mzn", "this is MiniZinc and not FlatZinc; type: minizinc --solver turbo {path}"),
        ("model.dzn", "this is data of a MiniZinc model; type: minizinc --solver turbo MODEL.mzn {path}"),
    ],
)
def test_a_file_of_another_language_is_answered_by_what_to_type(tmp_path, name, message):
    path = write(tmp_path, "var 1..3: x; solve satisfy;", name)
    assert_refused(ask(path), re.escape(f"{path}: {message.format(path=path)}"))


def test_a_model_with_its_data_is_answered_by_what_to_type():
    message = "MiniZinc has to make FlatZinc of this; type: minizinc --solver turbo model.mzn data.dzn"
    assert_refused(ask("model.mzn", "-s", "data.dzn"), re.escape(message))


# ---- the flags of C++ Turbo


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return write(tmp_path, LEAST_SUM)


@pytest.mark.parametrize(
    ("arguments", "blocks"),
    [
        (["-arch", "cpu"], "1"),
        (["-arch", "cpu", "-or", "3"], "3"),
        (["-t", "60000", "-arch", "cpu", "-or", "0", "-s"], "1"),
        (["-timeout", "60000", "-arch", "cpu", "-p", "2"], "2"),
    ],
    ids=" ".join,
)
def test_the_flags_of_turbo_are_understood(model, arguments, blocks):
    answer = ask(*arguments, "-s", model)
    assert (answer.markers, answer.errors) == (["=========="], "")
    assert answer.statistics["blocks"] == blocks and answer.statistics["engine"] == '"cpu"'


def test_turbo_s_flag_for_no_simplifier_is_ours(model):
    assert "simplify: " in ask("--arch", "cpu", "-v", model).errors
    assert "simplify: " not in ask("--arch", "cpu", "-v", "-disable_simplify", model).errors


@pytest.mark.parametrize("arch", ["gpu", "hybrid", "barebones"])
def test_the_gpu_of_turbo_is_ours(model, arch):
    assert ask("-arch", arch, model).errors == ask("--arch", "gpu", model).errors != ""


@pytest.mark.parametrize("flag", [*LEFT_OUT, *LEFT_OUT_SWITCHES])
def test_what_only_tunes_turbo_is_left_out_and_said(model, flag):
    answer = ask("-arch", "cpu", flag, *(["12"] if flag in LEFT_OUT else []), model)
    assert answer.markers == ["=========="] and value(answer, "z") == 7
    assert re.fullmatch(f"fzn-turbo: {flag} is left out: .*\n", answer.errors)


@pytest.mark.parametrize("flag", REFUSED)
def test_what_cannot_be_left_out_is_refused_with_what_there_is_instead(model, flag):
    assert_refused(ask(flag, "5", model), f"{flag}: .*(--dump-tnf|-t N).*")
