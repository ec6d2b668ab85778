"""The length and the language of the documents: `make check` calls this by house.py.

Words are counted by folder (`CAPS`): a word has a letter or a digit, so the bars of a table are none. Habits that make
a sentence hard to read are found as kinds (`HABITS`), each by an expression. Code, commands and the targets of links
are not prose; pages that a program prints (`PRINTED`) take their sentences from the sources.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

CAPS = {  # most words of a page, or of all pages in a folder together
    "README.md": 650,
    "CONTRIBUTING.md": 1_200,
    "docs/guide": 10_000,
    "docs/design": 14_000,
    "docs/measurements": 6_000,
    "docs": 30_000,
}
# Names of files and figures that programs print: no prose to read, so their words do not count.
LISTS = ("docs/design/files.md", "docs/measurements/kinds.md")
PRINTED = (*LISTS, "docs/guide/reference.md")
DETERMINERS = (
    "the|that|this|a|an|each|every|another|no|any|such|other|last|next|first|second|third|better|best|older|newer"
    "|old|new|wrong|right|larger|smaller|usual|single|whole"
)
ADJECTIVE = r"(?: (?!(?:of|in|to|with|by|for|at|on|from|than|and|or|is|as|only|has|be|becomes|least)\b)\w+)?"
FOLLOWERS = "that|which|who|in|is|are|was|has|have|for|with|to|from|before|after|and|or|by|where|as|does|did|than"
HABITS = {
    "a thing that talks": r"\b(?:tells?|told|says?|said|hears?|heard|speaks?|spoken?)\b",
    "a person for data or threads": r"\b(?:nobody|whoever|somebody|everybody|anybody)\b",
    "one as a noun": rf"\b(?:{DETERMINERS}){ADJECTIVE} ones?(?= (?:{FOLLOWERS})\b|[.,;:)]|$)|\bones\b|\bis one[.,;]",
    "a clause in the place of a noun": r"(?:^|(?<=[.:;] ))(?-i:What(?:ever)?) [^.?|\n]*\.",
    "an adverb without its effect": r"\b(?:in vain|likewise|meanwhile|thereby|thereof|anew)\b",
}
EXPRESSIONS = {kind: re.compile(expression, re.IGNORECASE | re.MULTILINE) for kind, expression in HABITS.items()}


def documents(root: Path) -> list[Path]:
    """The README, CONTRIBUTING and the pages of docs/, as far as they are there."""
    pages = [root / "README.md", root / "CONTRIBUTING.md", *sorted((root / "docs").rglob("*.md"))]
    return [path for path in pages if path.exists()]


def words(text: str) -> int:
    """The number of words that have a letter or a digit."""
    return sum(re.search(r"\w", word) is not None for word in text.split())


def too_many_words(root: Path) -> Iterator[str]:
    """A complaint for each place of CAPS whose pages have more words together."""
    counts = {path.relative_to(root): words(path.read_text(encoding="utf-8")) for path in documents(root)}
    for place, most in CAPS.items():
        inside = [name for name in counts if Path(place) in (name, *name.parents) and name.as_posix() not in LISTS]
        if (total := sum(counts[name] for name in inside)) > most:
            yield f"{place}: {total} words, more than {most}"


def prose(text: str) -> str:
    """The text with blanks in the place of all that is not prose, so that lines keep their numbers and columns."""
    for code in (r"^```.*?^```$", r"^    .*$", r"`[^`\n]+`", r"\]\([^)\s]+\)", r"<https?:[^>\s]+>"):
        flags = re.MULTILINE | re.DOTALL if code.startswith("^```") else re.MULTILINE
        text = re.sub(code, lambda found: re.sub(r"[^\n]", " ", found[0]), text, flags=flags)
    return text


def habits(text: str) -> Iterator[tuple[int, str, str]]:
    """(line, kind, words) of each habit in a text of Markdown; a sentence may go over several lines."""
    text = prose(text)
    joined = re.sub(r"(?<=[^\n])\n(?= *[^\s|#>*-])", " ", text)
    for kind, expression in EXPRESSIONS.items():
        for found in expression.finditer(joined):
            yield text.count("\n", 0, found.start()) + 1, kind, " ".join(found[0].split())


def hard_to_read(root: Path) -> Iterator[str]:
    """A complaint for each habit of HABITS in a document that no program prints."""
    for path in documents(root):
        name = path.relative_to(root).as_posix()
        for line, kind, found in habits(path.read_text(encoding="utf-8")) if name not in PRINTED else ():
            yield f"{name}:{line}: {kind}: {found}"
