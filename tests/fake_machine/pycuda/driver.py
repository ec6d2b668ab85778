"""The module `pycuda.driver`, made by fake_cuda.py."""

import ctypes
import sys

import fake_cuda

from pycuda import KIND, STAGE, meet


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
if STAGE == "run":
    driver.hangs = KIND == "hang"
    if KIND == "fail":
        driver.fail_after_launch, driver.seconds_to_failure = fake_cuda.LogicError("ordered by the test"), 0.1
sys.modules[__name__] = fake_cuda.make_module(driver)
