"""docs/guide/reference.md: as the tables of options and statistics print it, and as runs of the command have it."""

from __future__ import annotations

import pytest

from support.command import golomb, write
from support.places import CORPUS
from support.warm import ask
from turbo_fzn.command import reference
from turbo_fzn.engine.abi.abi import LEARNERS, METHODS
from turbo_fzn.options.options import ACTIONS, OPTIONS, metavar_of
from turbo_fzn.run.answer.glossary import GLOSSARY, GPU, HYBRID, RANKED, SHARED, names_of

NAMES = {name for entry in GLOSSARY for name in names_of(entry)}
RUNS = (
    ("--profile", "-p", 2, CORPUS / "golomb.fzn"),
    ("-a", CORPUS / "queens.fzn"),
    (CORPUS / "golden_ratio.fzn",),
    ("-f", "-p", 2, "--relaxation", "on", CORPUS / "warehouse.fzn"),
    ("-f", "-p", 3, "--learn", "prover,finder", "-t", 60_000),
)


@pytest.fixture(scope="module")
def printed(tmp_path_factory) -> set[str]:
    """The names of all statistics of some runs."""
    ruler = write(tmp_path_factory.mktemp("reference"), golomb(8))  # its proof takes so long that learners learn
    runs = [*RUNS[:-1], (*RUNS[-1], ruler)]
    return {name for arguments in runs for name in ask("--arch", "cpu", "-s", *arguments).statistics}


def test_the_printed_page_is_what_the_tables_say():
    """If not: python -m turbo_fzn.command.reference --write"""
    assert reference.target().read_text(encoding="utf-8") == reference.page()


def test_every_statistic_that_is_printed_has_a_meaning(printed):
    assert len(printed) > 50 and sorted(printed - NAMES) == []


def test_every_statistic_with_a_meaning_is_printed(printed):
    """But for those of a GPU, and of methods that these runs do not use; those of ranks: test_mpi.py, of the hybrid
    engine: test_hybrid_host.py."""
    elsewhere = (GPU, SHARED, RANKED, HYBRID)
    expected = {entry.name for entry in GLOSSARY if entry.when not in elsewhere and "<" not in entry.name}
    assert sorted(expected - printed) == []


def test_each_entry_has_a_name_of_its_own():
    names = [name for entry in GLOSSARY for name in names_of(entry)]
    assert len(names) == len(set(names))


def test_every_flag_and_action_is_in_the_page_with_what_is_said_of_it():
    page = reference.page()
    for row in OPTIONS:
        assert all(f"`{flag}" in page for flag in row.flags) and row.more in page
    assert all(f"`{flag}" in page for flag, _ in ACTIONS)
    told = next(row.more for row in OPTIONS if row.field == "without")
    assert all(f"`{method}`" in told for method in METHODS[: -len(LEARNERS)])


def test_a_cell_holds_no_bar_that_would_end_it():
    rows = [line for line in reference.page().splitlines() if line.startswith("|")]
    assert all(line.replace("\\|", "").count("|") in (3, 4) for line in rows)
    engines = metavar_of(next(row for row in OPTIONS if row.field == "arch")).replace("|", "\\|")
    assert f"`--arch {engines}`" in reference.page()
