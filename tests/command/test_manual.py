"""The manual page and the completions of shells: as the table of options prints them, and as shells want them."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from turbo_fzn.base.resources import share_folder
from turbo_fzn.command import manual
from turbo_fzn.options.options import ACTIONS, OPTIONS, metavar_of

COMPLETION = share_folder() / "bash-completion" / "completions" / "fzn-turbo"


@pytest.mark.parametrize("name", manual.FILES)
def test_the_printed_file_is_what_the_table_of_options_says(name):
    """If not: python -m turbo_fzn.command.manual --write"""
    assert (share_folder() / name).read_text(encoding="utf-8") == manual.FILES[name]()


def test_every_option_and_action_is_in_the_manual_and_in_each_completion():
    flags = [flag for row in OPTIONS for flag in row.flags] + [flag for flag, _ in ACTIONS]
    for text in (manual.bash(), manual.zsh()):
        assert all(flag in text for flag in flags)
    assert all(manual.troff(flag) in manual.manual_page() for flag in flags)
    assert all(f" {flag.lstrip('-')}" in manual.fish() for flag in flags)


def test_text_of_the_manual_is_no_command_of_troff():
    assert manual.troff("-p") == "\\-p"
    assert manual.troff(".fzn") == "\\&.fzn" and manual.troff("a\\b") == "a\\eb"


def complete(*words: str) -> list[str]:
    """What bash offers for the last of the words."""
    script = (
        f'. "{COMPLETION}"; COMP_WORDS=(fzn-turbo "$@"); COMP_CWORD=$#; _fzn_turbo; printf "%s\\n" "${{COMPREPLY[@]}}"'
    )
    done = subprocess.run(["bash", "-c", script, "bash", *words], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.split()


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed, whose completion is tried")
def test_bash_completes_flags_their_words_and_files(tmp_path):
    (engines,) = (metavar_of(row) for row in OPTIONS if row.field == "arch")
    assert complete("--no-") == ["--no-check", "--no-simplify"]
    assert complete("-a", "--arch", "") == engines.split("|")
    assert complete("--arch", "g") == ["gpu"]
    assert complete("-p", "") == []
    (tmp_path / "model.fzn").touch()
    (tmp_path / "folder").mkdir()
    assert complete(f"{tmp_path}/") == complete("--dump-tnf", f"{tmp_path}/")
    assert sorted(complete(f"{tmp_path}/")) == [f"{tmp_path}/folder", f"{tmp_path}/model.fzn"]
    assert complete("--install-solver", f"{tmp_path}/") == [f"{tmp_path}/folder"]
