"""The module `pycuda.driver`, made by fake_cuda.py."""

import ctypes
import sys

from pycuda import KIND, STAGE, meet
from support import fake_cuda


class Driver(fake_cuda.Driver):
    """With the faults of FAKE_GPU. Like PyCUDA it holds Python's lock while the real driver is at work."""

    def meet(self, name: str) -> None:
        if name == "init":
            ctypes.PyDLL("libcuda.so.1").cuInit(0)
        try:
            meet(name)
        except Exception as error:
            raise fake_cuda.LogicError(str(error)) from error


driver = Driver()
driver.hangs = (STAGE, KIND) == ("run", "hang")
if (STAGE, KIND) in (("run", "fail"), ("solution", "fail")):
    driver.fail_after_launch = fake_cuda.LogicError("ordered by the test")
    driver.seconds_to_failure, driver.fails_at_a_solution = 0.1 if STAGE == "run" else float("inf"), STAGE == "solution"
sys.modules[__name__] = fake_cuda.make_module(driver)
