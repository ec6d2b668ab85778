"""docs/guide/from-turbo.md: each row of its tables is so. The flags of C++ Turbo, and its names of statistics."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

import pytest

from support.command import LEAST_SUM, PATIENCE, environment, run, write
from support.places import CORPUS, ROOT
from support.warm import ask, server
from turbo_fzn.base.errors import UsageError
from turbo_fzn.options import spellings
from turbo_fzn.options.parsing import parse_arguments
from turbo_fzn.options.spellings import translate
from turbo_fzn.run.answer import turbo_statistics
from turbo_fzn.run.answer.glossary import GLOSSARY
from turbo_fzn.run.policy import check_names
from turbo_fzn.version import __version__

PAGE = ROOT / "docs" / "guide" / "from-turbo.md"
CODE = re.compile(r"`([^`]+)`")


class Row(NamedTuple):
    """A row of a table: the cells of `Turbo`, of `here`, and of the remark."""

    theirs: str
    here: str
    remark: str

    @property
    def words(self) -> list[str]:
        """The words of the flag and its value."""
        return CODE.findall(self.theirs)[0].split()

    @property
    def flag(self) -> str:
        return next(word for word in reversed(self.words) if word.startswith("-") and not word[1:].isdigit())


def rows(heading: str) -> list[Row]:
    part = PAGE.read_text(encoding="utf-8").partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    lines = [line for line in part.splitlines() if line.startswith("| `")]
    return [Row(*(cell.strip() for cell in line[1:-1].split("|"))) for line in lines]


FLAGS, STATISTICS = rows("Flags"), rows("Statistics")
UNDERSTOOD = [row for row in FLAGS if row.here not in ("left out", "refused")]
LEFT_OUT = [row for row in FLAGS if row.here == "left out"]
REFUSED = [row for row in FLAGS if row.here == "refused"]


def by_flag(row: Row) -> str:
    return CODE.findall(row.theirs)[0]


# ---- flags


@pytest.mark.parametrize("row", UNDERSTOOD, ids=by_flag)
def test_a_flag_with_a_counterpart_is_that(row):
    assert translate(row.words) == (" ".join(CODE.findall(row.here)).split(), [])


@pytest.mark.parametrize("row", LEFT_OUT, ids=by_flag)
def test_a_flag_that_only_tunes_turbo_is_left_out_with_a_line_that_says_why(row):
    ours, (note,) = translate([*row.words, "model.fzn"])
    assert ours == ["model.fzn"] and note.startswith(f"{row.flag} is left out: ")
    assert all(flag in note for flag in CODE.findall(row.remark))  # what there is instead


@pytest.mark.parametrize("row", REFUSED, ids=by_flag)
def test_a_flag_that_cannot_be_left_out_is_refused_with_a_line_that_says_why(row):
    with pytest.raises(UsageError) as refused:
        translate([*row.words, "model.fzn"])
    assert str(refused.value).startswith(f"{row.flag}")
    assert all(flag in str(refused.value) for flag in CODE.findall(row.remark))


def test_the_page_has_every_flag_that_is_known():
    known = {"-arch", "-or", "-p", "-fp", "-sub", *spellings.SAME, *spellings.SAME_WITH_A_VALUE}
    known |= {*spellings.VARIANT_SWITCHES, *spellings.LEFT_OUT, *spellings.LEFT_OUT_SWITCHES, *spellings.REFUSED}
    known |= {*spellings.ONLY_AS_USUAL, *"-t -a -n -i -f -s -v".split()}
    assert {row.flag for row in FLAGS} == known
    assert {f"-arch {name}" for name in spellings.ENGINES} <= {by_flag(row) for row in FLAGS}
    assert {f"-fp {name}" for name in spellings.FIXPOINTS} <= {by_flag(row) for row in FLAGS}


def test_flags_of_variants_name_them_together():
    words = ["-fp", "wac1", "-arch", "gpu", "-sub", "4", "-globalmem", "--variant", "sort=operator", "m.fzn"]
    ours, notes = translate(words)
    variants = "warp-sweep,static-split,store=global,sort=operator"
    assert ours == ["--arch", "gpu", "--subproblems", "16", "m.fzn", "--variant", variants] and notes == []


@pytest.mark.parametrize("row", [row for row in FLAGS if "--variant" in row.here], ids=by_flag)
def test_a_flag_that_stands_for_a_variant_is_of_every_engine_on_a_gpu(row):
    for arch in ("barebones", "gpu", "hybrid"):
        check_names(parse_arguments(["-arch", arch, *row.words, "model.fzn"]).options)


def test_where_memory_is_shared_and_global_is_no_question_on_a_cpu():
    with pytest.raises(UsageError, match=r"store=global is not of the engine cpu, a CPU has one kind of memory"):
        check_names(parse_arguments(["-arch", "cpu", "-globalmem", "model.fzn"]).options)


@pytest.mark.parametrize("words", [["-fp", "ac3"], ["-fp"], ["-sub", "31"], ["-sub", "-2"], ["-sub"], ["-sub", "x"]])
def test_a_value_that_turbo_would_not_know_is_refused(words):
    with pytest.raises(UsageError, match=f"{words[0]}: "):
        translate(words)


def test_threads_are_ours_where_no_engine_is_named_as_in_turbo():
    assert translate(["--arch", "gpu", "-p", "3"]) == (["--arch", "gpu", "-p", "3"], [])
    assert translate(["-p", "0"]) == (["-p", "0"], []), "which is refused like any other"


def test_a_line_of_turbo_s_benchmarks_is_understood(tmp_path):
    """This one has none for which kernels would have to be compiled."""
    line = "-s -t 60000 -p 2 -arch cpu -wac1_threshold 0 -hardware here -version v1.2.8 -timeout 60000"
    answer = ask(*line.split(), write(tmp_path, LEAST_SUM))
    assert answer.code == 0 and answer.markers == ["=========="]
    assert re.findall(r"^fzn-turbo: (\S+) is left out", answer.errors, re.MULTILINE) == ["-hardware", "-version"]
    assert answer.statistics["blocks"] == "2"


# ---- statistics


def names(row: Row) -> Iterator[str]:
    yield from CODE.findall(row.theirs)


PRINTED = [row for row in STATISTICS if row.here != "none"]
OURS = {entry.name for entry in GLOSSARY}


def test_the_page_has_every_name_that_may_be_printed_and_no_other():
    printed = [name for row in PRINTED for name in names(row)]
    assert sorted(printed) == sorted(turbo_statistics.NAMES)
    assert not {name for row in STATISTICS if row not in PRINTED for name in names(row)} & set(printed)


@pytest.mark.parametrize("row", [row for row in PRINTED if row.here], ids=by_flag)
def test_what_stands_beside_a_name_is_a_statistic_of_ours(row):
    assert set(CODE.findall(row.here)) <= OURS


@pytest.mark.parametrize("row", [row for row in PRINTED if row.here], ids=by_flag)
def test_a_name_is_printed_where_the_run_has_what_it_tells(row):
    """And is that, where it is one figure."""
    ours = CODE.findall(row.here)
    told = {"store": "shared", "initTime": 2.0, **{name: 7 for name in ours if name not in ("store", "initTime")}}
    (theirs,) = names(row)
    expected = {
        "deductions_per_block_second": 7 / 7 / 7,
        "best_obj_time": 9.0,
        "memory_configuration": "store_shared",
        "initTime": 2.0,
    }.get(theirs, 7)
    assert turbo_statistics.named(told)[theirs] == expected
    lacking = {name: value for name, value in told.items() if name != ours[0]}
    assert theirs not in turbo_statistics.named(lacking)


def test_statistics_have_turbo_s_names_when_they_are_asked_for():
    flags = ("--arch", "cpu", "-p", 1, "-r", 1, "-i", "-s")
    plain, theirs = ask(*flags, CORPUS / "golomb.fzn"), ask(*flags, "--turbo-statistics", CORPUS / "golomb.fzn")
    assert (theirs.code, theirs.errors, theirs.solutions) == (0, "", plain.solutions)
    for name, ours in [*turbo_statistics.RENAMED.items(), *((name, name) for name in turbo_statistics.SAME)]:
        if ours in plain.statistics and not ours.endswith("Time"):
            assert theirs.statistics[name] == plain.statistics[ours]
    assert {"num_blocks", "num_deductions", "best_obj_time", "cumulative_time_block_sec"} <= theirs.statistics.keys()
    assert theirs.statistics.keys() <= turbo_statistics.NAMES.keys()
    assert theirs.statistics["version"] == f'"{__version__}"'
    assert float(theirs.statistics["best_obj_time"]) >= float(theirs.statistics["initTime"]) > 0
    assert "%%%mzn-stat: fixpoint_iterations=" in theirs.text and "iterations=" in plain.text


def test_statistics_of_a_run_that_is_stopped_before_the_search_have_them_too(tmp_path):
    stopped = run("-s", "--turbo-statistics", "-t", -1, write(tmp_path, LEAST_SUM))
    assert stopped.statistics == {"solver": '"turbo_fzn"', "version": f'"{__version__}"', "nodes": "0", "failures": "0"}


def test_statistics_of_an_xcsp3_instance_have_them_too(tmp_path):
    instance = '<instance format="XCSP3" type="CSP"><variables><var id="x"> 1..3 </var></variables></instance>'
    path = str(write(tmp_path, instance, "model.xml"))
    text, errors, code = server().ask(["--arch", "cpu", "-s", "--turbo-statistics", path], environment(), PATIENCE)
    assert (errors, code) == ("", 0)
    assert "\nd num_solutions 1\n" in text and "\nd solutions" not in text


def test_without_s_nothing_is_printed(tmp_path):
    assert ask("--arch", "cpu", "--turbo-statistics", write(tmp_path, LEAST_SUM)).statistics == {}
