"""The differential fuzzer: `python tests/fuzz --help`."""

from __future__ import annotations

import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(TESTS), str(TESTS.parent)]

if __name__ == "__main__":
    from fuzz.run import main

    sys.exit(main())
