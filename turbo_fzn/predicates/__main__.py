"""Print MiniZinc's library from the table of predicates.

python -m turbo_fzn.predicates --write     writes share/minizinc/turbo in the source tree; `test_predicates.py` compares
"""

from __future__ import annotations

import argparse

from turbo_fzn.base.resources import share_folder
from turbo_fzn.predicates.minizinc import BY_HAND, library


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m turbo_fzn.predicates", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--write", action="store_true", required=True, help="into the source tree's share/")
    parser.parse_args()
    folder = share_folder() / "minizinc" / "turbo"
    printed = library()
    for name, text in printed.items():
        (folder / name).write_text(text, encoding="utf-8")
    for path in folder.glob("*.mzn"):
        if path.name not in printed and path.name not in BY_HAND:
            path.unlink()


if __name__ == "__main__":
    main()
