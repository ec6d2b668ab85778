"""Requirements of some tests on the machine, as marks that skip them where these are not met."""

from __future__ import annotations

import shutil
from importlib.util import find_spec

import pytest

needs_minizinc = pytest.mark.skipif(
    shutil.which("minizinc") is None, reason="minizinc is not installed (apt-get install minizinc)"
)
needs_clang = pytest.mark.skipif(
    shutil.which("clang++") is None, reason="clang++ is not installed (apt-get install clang)"
)
needs_gecode = pytest.mark.skipif(
    shutil.which("fzn-gecode") is None, reason="fzn-gecode is not installed (apt-get install flatzinc)"
)
needs_cpmpy = pytest.mark.skipif(find_spec("cpmpy") is None, reason="cpmpy is not installed (pip install cpmpy)")
needs_npm = pytest.mark.skipif(
    shutil.which("node") is None or shutil.which("npm") is None,
    reason="node or npm is not installed (apt-get install nodejs npm)",
)
