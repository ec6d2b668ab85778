"""The documents, and the remarks in the sources, speak of files and names that exist."""

import ast
import io
import re
import subprocess
import tokenize
from functools import lru_cache
from pathlib import Path

import pytest

from support.doc_commands import DOCUMENTS
from support.places import ROOT
from tools import house_map

PLACE = {path: str(path.relative_to(ROOT)) for path in DOCUMENTS}
SUFFIXES = ("py", "h", "cu", "cpp", "lark", "mzn", "md", "json", "cfg", "toml")
FILE = re.compile(rf"[\w./-]+\.(?:{'|'.join(SUFFIXES)})")
FOLDER = re.compile(r"[\w.-]+(?:/[\w.-]+)*/")
NAME = re.compile(r"([a-z_]+)\.([A-Za-z_]\w*)")
FOREIGN = {  # a user's files, what a run may write, and a file of MiniZinc's
    "nosets.mzn", "model.mzn", "model.fzn", "data.dzn", "ten.fzn", "OLD.json", "NEW.json", "setup.py", "m.fzn", "m.tnf",
    "fzn_NAME.mzn", "fzn_NAME_reif.mzn", "build/mutations.md",
}  # fmt: skip


@lru_cache(maxsize=1)
def tracked() -> list[str]:
    """The files of the project; where there is no git, those that lie here."""
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode == 0:
        return listed.stdout.split()
    return [str(path.relative_to(ROOT)) for path in ROOT.rglob("*") if path.is_file()]


def inline_code(text: str) -> list[str]:
    """What stands between backticks, outside of blocks."""
    unfenced = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    prose = "\n".join(line for line in unfenced.splitlines() if not line.startswith("    "))
    return re.findall(r"`([^`\n]+)`", prose)


def exists(path: str) -> bool:
    """Whether some file of the project ends like this."""
    return any(f"/{file}".endswith(f"/{path}") for file in tracked())


def prose_of(path: Path) -> str:
    """The text without what stands in fences, indented blocks, and between backticks."""
    text = re.sub(r"^```.*?^```$", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    lines = [line for line in text.splitlines() if not line.startswith("    ")]
    return re.sub(r"`[^`\n]*`", "``", "\n".join(lines))


def is_head(line: str) -> bool:
    """Whether it is the line under the head of a table."""
    return bool(re.fullmatch(r"\|(\s*:?-+:?\s*\|)+", line))


def headless_rows(text: str) -> list[str]:
    """The rows with which a table begins anew that has no head there: a browser shows them as text."""
    lines = ["", *re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL).splitlines(), ""]
    begun = [(line, below) for above, line, below in zip(lines, lines[1:], lines[2:]) if not above.startswith("|")]
    return [line for line, below in begun if line.startswith("|") and not is_head(below)]


def links(path: Path) -> list[str]:
    return re.findall(r"\]\(([^)\s]+)\)", prose_of(path)) + re.findall(r"<(https?:[^>\s]+)>", prose_of(path))


def anchors(path: Path) -> set[str]:
    """The anchors that GitHub makes of headings; mkdocs makes equal ones for the headings used here."""
    text = re.sub(r"^```.*?^```$", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    titles = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    plain = [re.sub(r"[^\w -]", "", title.lower()) for title in titles]
    return {title.replace(" ", "-") for title in plain}


@pytest.mark.parametrize("document", DOCUMENTS, ids=PLACE.get)
def test_every_link_leads_somewhere(document):
    local = [link.partition("#") for link in links(document) if "://" not in link]
    targets = [(document if not file else document.parent / file, anchor) for file, _, anchor in local]
    assert [str(path) for path, _ in targets if not path.exists()] == []
    assert [f"{path}#{anchor}" for path, anchor in targets if anchor and anchor not in anchors(path)] == []


def test_every_file_that_a_notebook_links_is_there():
    """Headings of other pages may have changed since the date of a log, so anchors are not compared."""
    pages = sorted((ROOT / "lab" / "notebook").glob("*.md"))
    local = [(page, link.partition("#")[0]) for page in pages for link in links(page) if "://" not in link]
    assert len(local) > 50 and [(page.name, file) for page, file in local if not (page.parent / file).exists()] == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=PLACE.get)
def test_a_link_to_elsewhere_is_a_whole_and_safe_address(document):
    """That it answers is not asked: tests need no network."""
    outside = [link for link in links(document) if "://" in link]
    assert [link for link in outside if not re.fullmatch(r"https://[a-z0-9.-]+\.[a-z]{2,}(/[^\s\"<>]*)?", link)] == []


def test_links_are_looked_at():
    found = [link for document in DOCUMENTS for link in links(document)]
    assert len(found) > 100 and sum("#" in link for link in found) >= 5 and sum("://" in link for link in found) >= 5


def test_every_page_is_in_the_menu_of_the_site():
    menu = re.findall(r"^ +- ([\w/.-]+\.md)$", (ROOT / "site" / "mkdocs.yml").read_text(encoding="utf-8"), re.MULTILINE)
    pages = [str(path.relative_to(ROOT / "docs")) for path in DOCUMENTS if ROOT / "docs" in path.parents]
    assert sorted(menu) == sorted(pages)


@pytest.mark.parametrize("document", DOCUMENTS, ids=PLACE.get)
def test_every_file_that_is_named_exists(document):
    words = [word for code in inline_code(document.read_text(encoding="utf-8")) for word in code.split()]
    files = {word for word in words if FILE.fullmatch(word)} - FOREIGN
    assert sorted(name for name in files if not exists(name.removeprefix("./"))) == []


SOURCES = (".py", ".h", ".cu", ".cpp")
SOURCE = re.compile(r"(?<![\w./-])[\w/-]+\.(?:py|h|cu|cpp|lark)\b")


def remarks(path: Path) -> str:
    """The comments and docstrings of a source."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".py":
        return "\n".join(re.findall(r"//(.*)", text))
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef)
    nodes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, documented)]
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    comments = [token.string for token in tokens if token.type == tokenize.COMMENT]
    return "\n".join(comments + [ast.get_docstring(node) or "" for node in nodes])


@pytest.mark.parametrize("folder", ["turbo_fzn", "lab", "kernels", "tests", "examples"])
def test_every_source_that_a_source_speaks_of_exists(folder):
    sources = [ROOT / name for name in tracked() if name.startswith(f"{folder}/") and name.endswith(SOURCES)]
    texts = {path: path.read_text(encoding="utf-8") for path in sources if path.exists()}
    unknown = {word for word in {word for text in texts.values() for word in SOURCE.findall(text)} if not exists(word)}
    for path, text in texts.items():
        if not unknown.isdisjoint(SOURCE.findall(text)):  # else it takes long to tell remarks from the rest
            assert sorted(unknown & set(SOURCE.findall(remarks(path)))) == [], path
    assert any(SOURCE.search(text) for text in texts.values())


def test_every_folder_that_the_architecture_names_exists():
    text = (ROOT / "docs" / "design" / "architecture.md").read_text(encoding="utf-8")
    folders = {word for code in inline_code(text) for word in code.split() if FOLDER.fullmatch(word)}
    package = ROOT / "turbo_fzn"
    places = [ROOT, package, *(package / name for name in ("lower", "engine", "bounds")), ROOT / "kernels"]
    assert folders and sorted(name for name in folders if not any((place / name).is_dir() for place in places)) == []


@lru_cache(maxsize=1)
def names_by_module() -> dict[str, set[str]]:
    """Module name -> what it, or another module of that name, defines at any depth, attributes of classes too."""
    found: dict[str, set[str]] = {}
    for path in (ROOT / "turbo_fzn").rglob("*.py"):
        defined = found.setdefault(path.stem, set())
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                defined.add(node.name)
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                defined.add(node.id)
    return found


@pytest.mark.parametrize("name", ["architecture.md", "correctness.md"])
def test_every_name_of_a_module_that_is_named_is_defined_there(name):
    modules = names_by_module()
    codes = inline_code((ROOT / "docs" / "design" / name).read_text(encoding="utf-8"))
    matches = filter(None, (NAME.fullmatch(code.removesuffix("()")) for code in codes))
    named = [match.groups() for match in matches if match[2] not in SUFFIXES and match[1] in modules]
    missing = [f"{module}.{attribute}" for module, attribute in named if attribute not in modules[module]]
    assert named and missing == []


def test_the_map_of_files_is_printed_anew_and_every_source_has_a_head():
    assert house_map.PAGE.read_text(encoding="utf-8") == house_map.page(), "python tests/tools/house_map.py --write"
    headless = [path for place, ends in house_map.PLACES.items() for path in (ROOT / place).rglob("*")
                if path.suffix in ends and not house_map.head_of(path)]  # fmt: skip
    assert headless == []


@pytest.mark.parametrize("path", DOCUMENTS, ids=PLACE.get)
def test_every_table_has_a_head(path):
    assert headless_rows(path.read_text(encoding="utf-8")) == []


def test_a_table_that_a_blank_line_parts_would_be_seen():
    table = "| a | b |\n|---|---|\n| 1 | 2 |\n"
    assert headless_rows(table) == [] and headless_rows(f"{table}\n| 3 | 4 |\n") == ["| 3 | 4 |"]


def test_the_readme_says_how_many_models_are_proved_as_the_measurement_does():
    """The first row of ours, and CP-SAT's, in the table of docs/measurements/free-search.md."""
    page = (ROOT / "docs" / "measurements" / "free-search.md").read_text()
    rows = re.findall(r"^\| (ours|CP-SAT)[^|]*\| (\d+) \| (\d+) \| 41 \|", page, re.M)
    ours, theirs = rows[0][1:], {row[0]: row[1:] for row in rows}["CP-SAT"]
    readme = " ".join((ROOT / "README.md").read_text().split())
    assert f"proved {ours[0]} of 41 Challenge models within 20 s (CP-SAT on 13 threads: {theirs[0]})" in readme
    assert f"or a better value, on {ours[1]} (CP-SAT: {theirs[1]})" in readme
