"""Looks at the page of `--report` in a headless Chromium, at two widths: `make look`.

Solves two models, opens their pages, asks the browser whether texts overlap, whether anything is wider than the window,
and whether a column is left half empty, and writes a screenshot of each to build/look. Exit code 1 where there is a
complaint.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from html import unescape
from pathlib import Path

from command import COMMAND, CORPUS, environment, golomb

FOLDER = Path(__file__).resolve().parent.parent / "build" / "look"
WIDTHS = {500: 3600, 1400: 1700}  # of the window, and its height
LEAST_FILLED = 0.6  # of the height of the longest column, by the shortest
BROWSER = "chromium --headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking".split()
ASK = """<script>
const found = [], box = e => e.getBoundingClientRect();
if (document.documentElement.scrollWidth > innerWidth) found.push("the page is wider than the window");
for (const svg of document.querySelectorAll("svg")) {
  const texts = [...svg.querySelectorAll("text")], outer = box(svg);
  texts.forEach((one, i) => {
    const a = box(one);
    if (a.left < outer.left - 1 || a.right > outer.right + 1 || a.bottom > outer.bottom + 1)
      found.push("cut off: " + one.textContent);
    for (const other of texts.slice(i + 1)) {
      const b = box(other);
      if (a.left < b.right && b.left < a.right && a.top + 2 < b.bottom && b.top + 2 < a.bottom)
        found.push("overlap: " + one.textContent + " / " + other.textContent);
    }
  });
}
const ends = {};
const top_of_all = box(document.querySelector("main")).top;
for (const e of document.querySelectorAll("main > *")) {
  const b = box(e), column = Math.round(b.left);
  ends[column] = Math.max(ends[column] || 0, b.bottom - top_of_all);
}
const heights = Object.values(ends);
if (innerWidth > 1200 && heights.length < 2) found.push("one column in a wide window");
if (Math.min(...heights) < LEAST * Math.max(...heights)) found.push("a column is half empty");
document.body.setAttribute("data-found", JSON.stringify(found));
</script>"""


def browse(page: Path, width: int, *flags: str) -> str:
    """What the browser prints."""
    with tempfile.TemporaryDirectory() as folder:
        window = [f"--user-data-dir={folder}", "--hide-scrollbars", f"--window-size={width},{WIDTHS[width]}"]
        command = [*BROWSER, *window, *flags, page.as_uri()]
        return subprocess.run(command, capture_output=True, text=True, timeout=300, check=True).stdout


def complaints(page: Path, width: int) -> list[str]:
    """What the browser finds wrong with its layout."""
    asking = page.with_suffix(".asking.html")
    ask = ASK.replace("LEAST", str(LEAST_FILLED))
    asking.write_text(page.read_text(encoding="utf-8").replace("</body>", ask + "</body>"), encoding="utf-8")
    answer = re.search(r'data-found="([^"]*)"', browse(asking, width, "--dump-dom"))
    asking.unlink()
    return json.loads(unescape(answer[1])) if answer else ["the browser does not answer"]


def main() -> int:
    FOLDER.mkdir(parents=True, exist_ok=True)
    model = FOLDER / "golomb.fzn"
    model.write_text(golomb(12))
    runs = {"optimise": ["-f", "-t", "10000", model], "satisfy": ["-a", CORPUS / "queens.fzn"]}
    faults = 0
    for name, arguments in runs.items():
        page = FOLDER / f"{name}.html"
        command = [*COMMAND, "--report", str(page), *map(str, arguments)]
        subprocess.run(command, check=True, env=environment(), stdout=subprocess.DEVNULL)
        for width in WIDTHS:
            picture = FOLDER / f"{name}-{width}.png"
            browse(page, width, f"--screenshot={picture}")
            found = complaints(page, width)
            faults += len(found)
            print(f"{picture}: {'; '.join(found) or 'nothing to complain of'}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
