"""Where the source tree has its parts."""

from pathlib import Path

TESTS = Path(__file__).resolve().parent.parent
ROOT = TESTS.parent
DATA = TESTS / "data"
CORPUS = DATA / "corpus"
