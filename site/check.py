"""What a built site must have: every page of docs/, a search index, and nothing that a browser would fetch from
elsewhere. `make docs` ends with it; exit code 1 where there is a complaint.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SITE = ROOT / "build" / "site"
FETCHED = re.compile(
    r"<(?:script|img|iframe|source)[^>]*\ssrc=[\"']?(?:https?:)?//|<link[^>]*\shref=[\"']?(?:https?:)?//"
)
FETCHED_BY_STYLE = re.compile(r"(?:@import|url\()\s*[\"']?(?:https?:)?//")


def complaints() -> Iterator[str]:
    pages = list((ROOT / "docs").rglob("*.md"))
    for page in pages:
        built = SITE / page.relative_to(ROOT / "docs").with_suffix(".html")
        if not built.is_file():
            yield f"{built} was not built"
    if not (SITE / "search" / "search_index.json").is_file():
        yield "there is no search index"
    for pattern, text in (("*.html", FETCHED), ("*.css", FETCHED_BY_STYLE)):
        for path in SITE.rglob(pattern):
            for match in text.finditer(path.read_text(encoding="utf-8")):
                yield f"{path} fetches from elsewhere: {match[0]}"


if __name__ == "__main__":
    found = list(complaints())
    print("\n".join(found) or f"{SITE}: {sum(1 for _ in SITE.rglob('*.html'))} pages, nothing from elsewhere")
    sys.exit(1 if found else 0)
