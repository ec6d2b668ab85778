"""Length and language of the documents, as tests/tools/prose.py checks them."""

import pytest

from support.places import ROOT
from tools import prose

SENTENCES = {  # kind -> sentences that have the habit, sentences that do not
    "a thing that talks": (
        [
            "The flag tells which rows run.",
            "As the table says, it holds.",
            "A block is told of it.",
            "It hears\nof it.",
        ],
        ["The flag selects the rows that run.", "The saying of users.", "Run `tell` and `says`.", "an essay, untold"],
    ),
    "a person for data or threads": (
        ["Nobody learns there.", "whoever writes last"],
        ["No block learns there.", "Users who write models.", "No body of a predicate."],
    ),
    "one as a noun": (
        [
            "It is the one that listens.",
            "a better one.",
            "Small ones stay.",
            "Each thread is one.",
            "than the last one by p",
            "not a false one.",
        ],
        [
            "one thread",
            "one of two",
            "the one CPU thread",
            "It is one block.",
            "each one-dimensional array",
            "tones",
            "each with one, in a solution one of two",
        ],
    ),
    "a clause in the place of a noun": (
        ["What has no name is skipped.", "It ends. What is left\nis printed.", "Whatever is found is kept."],
        ["What is a row?", "## What is proved", "It prints what is left.", "What happened\n\nA log."],
    ),
    "an adverb without its effect": (
        ["It rests after work in vain.", "Likewise for maxima.", "The run is made anew."],
        ["It rests after work without effect.", "It runs again.", "a vain value", "`anew`"],
    ),
}
EXAMPLES = [(kind, text, has) for kind, sides in SENTENCES.items() for has, side in zip((1, 0), sides) for text in side]


@pytest.mark.parametrize(("kind", "text", "has"), EXAMPLES)
def test_a_habit_is_seen_and_a_plain_sentence_is_not(kind, text, has):
    assert [found for _, found, _ in prose.habits(text)] == [kind] * has


def test_every_kind_of_habit_has_sentences_of_both_sides():
    assert SENTENCES.keys() == prose.HABITS.keys() and all(map(all, SENTENCES.values()))


def test_a_habit_has_its_line_and_code_has_none():
    code = "    it says anew\n\n```text\nnobody says\n```\n"
    text = f"# Head\n\nA row\nin vain.\n\n{code}\n- a [link](tells.md), and\n  the one that\n"
    assert list(prose.habits(text)) == [
        (13, "one as a noun", "the one"),
        (4, "an adverb without its effect", "in vain"),
    ]


def test_no_document_has_a_habit():
    assert list(prose.hard_to_read(ROOT)) == []


def test_a_habit_in_a_document_would_be_seen_but_not_in_a_printed_page(tmp_path):
    for name in ("docs/guide/page.md", prose.PRINTED[-1]):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("It runs.\nNobody says so.\n")
    assert list(prose.hard_to_read(tmp_path)) == [
        "docs/guide/page.md:2: a thing that talks: says",
        "docs/guide/page.md:2: a person for data or threads: Nobody",
    ]


def test_what_has_to_be_read_stays_short():
    assert list(prose.too_many_words(ROOT)) == []


def test_a_word_too_many_is_seen_and_bars_of_tables_are_none(tmp_path):
    (tmp_path / "docs" / "guide").mkdir(parents=True)
    (tmp_path / "README.md").write_text("word | — " * prose.CAPS["README.md"])
    most = prose.CAPS["docs/guide"]
    for name, number in (("one", most // 2), ("other", most - most // 2)):
        (tmp_path / "docs" / "guide" / f"{name}.md").write_text("word " * number)
    assert list(prose.too_many_words(tmp_path)) == []
    for page in (tmp_path / "README.md", tmp_path / "docs" / "guide" / "one.md"):
        page.write_text(page.read_text() + " more")
    assert list(prose.too_many_words(tmp_path)) == [
        "README.md: 651 words, more than 650", "docs/guide: 10001 words, more than 10000",
    ]  # fmt: skip


def test_lists_of_files_do_not_count(tmp_path):
    (tmp_path / prose.LISTS[0]).parent.mkdir(parents=True)
    (tmp_path / prose.LISTS[0]).write_text("word " * 40_000)
    assert list(prose.too_many_words(tmp_path)) == []
    assert all((ROOT / name).exists() for name in prose.PRINTED)
