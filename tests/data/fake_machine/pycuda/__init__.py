"""PyCUDA for a process on the machine of fake_machine.py."""

import os
import time

STAGE, _, KIND = os.environ["FAKE_GPU"].partition(":")
slept: set[str] = set()


def meet(stage: str) -> None:
    """The fault that was ordered, where it was ordered. What is slow is slow once."""
    if stage != STAGE or stage in slept:
        return
    if KIND == "slow":
        slept.add(stage)
        time.sleep(float(os.environ["FAKE_GPU_SECONDS"]))
    elif KIND == "fail":
        raise Exception("ordered by the test") if stage != "import" else ImportError("ordered by the test")


meet("import")
