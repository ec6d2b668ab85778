"""Tests of a job of a cluster are no ranks of it, and nor are the processes that they start."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from support.command import PATIENCE
from support.places import ROOT
from turbo_fzn.ranks.world import SIZES, is_launched

RANKS = dict.fromkeys((*SIZES, *SIZES.values(), "SLURM_NTASKS"), "2")


def test_a_test_is_no_rank():
    assert not is_launched() and not RANKS.keys() & os.environ.keys()


@pytest.mark.slow
def test_a_test_that_a_job_of_a_cluster_starts_is_no_rank():
    """Open MPI would leave a folder of a rank without a launcher among the files of the tests."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"{__file__}::test_a_test_is_no_rank"]
    variables = {name: text for name, text in os.environ.items() if not name.startswith("PYTEST")}
    done = subprocess.run(
        command, cwd=ROOT, env={**variables, **RANKS}, capture_output=True, text=True, timeout=PATIENCE
    )
    assert done.returncode == 0, done.stdout + done.stderr
