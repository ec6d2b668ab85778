"""Looks at the pages of `--report`, of the benchmarks and of the documentation's site in a headless Chromium, at two
widths: `make look`.

Solves some models, opens the pages, asks the browser whether texts overlap, whether anything is wider than the window,
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

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # for who runs it as a script
from support.command import COMMAND, environment, golomb
from support.places import CORPUS, ROOT

HTML = "--html"
FOLDER = ROOT / "build" / "look"
SITE_PAGES = [FOLDER.parent / "site" / f"{name}.html" for name in ("index", "guide/tutorial", "guide/reference")]
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
const main = document.querySelector("main");
if (getComputedStyle(main).columnCount != "auto") {
  const ends = {}, top_of_all = box(main).top;
  for (const e of main.children) {
    const b = box(e), column = Math.round(b.left);
    ends[column] = Math.max(ends[column] || 0, b.bottom - top_of_all);
  }
  const heights = Object.values(ends);
  if (innerWidth > 1200 && heights.length < 2) found.push("one column in a wide window");
  if (Math.min(...heights) < LEAST * Math.max(...heights)) found.push("a column is half empty");
}
document.body.setAttribute("data-found", JSON.stringify(found));
</script>"""


def browse(page: Path, width: int, *flags: str) -> str:
    """The output of the browser."""
    with tempfile.TemporaryDirectory() as folder:
        window = [f"--user-data-dir={folder}", "--hide-scrollbars", f"--window-size={width},{WIDTHS[width]}"]
        command = [*BROWSER, *window, *flags, page.as_uri()]
        return subprocess.run(command, capture_output=True, text=True, timeout=300, check=True).stdout


def complaints(page: Path, width: int) -> list[str]:
    """The faults of its layout that the browser finds."""
    asking = page.with_suffix(".asking.html")
    ask = ASK.replace("LEAST", str(LEAST_FILLED))
    asking.write_text(page.read_text(encoding="utf-8").replace("</body>", ask + "</body>"), encoding="utf-8")
    answer = re.search(r'data-found="([^"]*)"', browse(asking, width, "--dump-dom"))
    asking.unlink()
    return json.loads(unescape(answer[1])) if answer else ["the browser does not answer"]


def make_pages() -> list[Path]:
    """Makes the pages of two runs, and of benchmarks of a few models."""
    rulers = [FOLDER / f"golomb_{marks}.fzn" for marks in (9, 10, 11, 12)]
    for marks, ruler in zip((9, 10, 11, 12), rulers):
        ruler.write_text(golomb(marks))
    bench, anytime = ([sys.executable, "-m", f"lab.{name}"] for name in ("bench", "bench.anytime"))
    some = [*rulers, *(CORPUS / f"{name}.fzn" for name in ("queens", "warehouse", "roster", "tsp"))]
    old, new = FOLDER / "old.json", FOLDER / "new.json"
    calls = {
        "optimise": [*COMMAND, "-f", "-t", "10000", rulers[-1], "--report"],
        "satisfy": [*COMMAND, "-a", CORPUS / "queens.fzn", "--report"],
        "nodes": [*bench, *some, "--seconds", "1", "--profile", "--json", old, HTML],
        "nodes-again": [*bench, *some, "--seconds", "1", "--threads", "2", "--json", new, HTML],
        "nodes-compared": [*bench, "--compare", old, new, HTML],
        "anytime": [*anytime, *some, "--arch", "cpu", "--seeds", "3", "--seconds", "2", "--json", old, HTML],
        "anytime-again": [*anytime, *some, "--arch", "cpu", "--threads", "1", "--seconds", "2", "--json", new, HTML],
        "anytime-compared": [*anytime, "--compare", old, new, HTML],
    }
    pages = [FOLDER / f"{name}.html" for name in calls]
    for page, call in zip(pages, calls.values()):
        subprocess.run([*map(str, call), str(page)], check=True, env=environment(), stdout=subprocess.DEVNULL)
    return pages


def main() -> int:
    FOLDER.mkdir(parents=True, exist_ok=True)
    faults = 0
    for page in [*make_pages(), *SITE_PAGES]:
        for width in WIDTHS:
            picture = FOLDER / f"{page.stem}-{width}.png"
            browse(page, width, f"--screenshot={picture}")
            found = complaints(page, width)
            faults += len(found)
            print(f"{picture}: {'; '.join(found) or 'nothing to complain of'}", flush=True)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
