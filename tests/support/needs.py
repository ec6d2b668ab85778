"""Requirements of some tests on the machine, as marks that skip them where these are not met."""

from __future__ import annotations

import shutil

import pytest

needs_minizinc = pytest.mark.skipif(
    shutil.which("minizinc") is None, reason="minizinc is not installed (apt-get install minizinc)"
)
needs_gecode = pytest.mark.skipif(
    shutil.which("fzn-gecode") is None, reason="fzn-gecode is not installed (apt-get install flatzinc)"
)
