"""Builds the package. It has with it the CPU engine that most models need, compiled for this platform; others are
compiled when they are first needed. A wheel for other machines, which may have no compiler, has all (`make wheel`).

Where there is no C++ compiler the wheel is one for all platforms, and the engine is compiled at its first use, as it is
from an editable installation.
"""

import os
import shutil
import sys
from functools import lru_cache
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py

sys.path.insert(0, str(Path(__file__).resolve().parent))  # build front ends leave it out

from turbo_fzn.engine.toolchain import ahead, compiler

# Set where the wheel is to have every CPU engine, and where it is to have the GPU engine, too.
ALL_ENGINES, FOR_GPUS = "TURBO_FZN_ALL_ENGINES", "TURBO_FZN_WHEEL_FOR_GPUS"


@lru_cache(maxsize=1)
def has_compiler() -> bool:
    try:
        compiler.find_cpu_compiler()
    except compiler.NoCompiler as error:
        print(f"the wheel is without the CPU engine, which is compiled at its first use: {error}", file=sys.stderr)
        return False
    return True


class Teller:
    """Says what is done: on the terminal, for pip shows nothing of a build unless asked to; without one, on stderr."""

    def __init__(self) -> None:
        self.begin = "\n"  # pip has a line open, at whose end something turns

    def __call__(self, text: str) -> None:
        try:
            with open("/dev/tty", "w") as terminal:
                terminal.write(f"{self.begin}turbo_fzn: {text}\n")
            self.begin = "\r"
        except OSError:
            print(f"turbo_fzn: {text}", file=sys.stderr, flush=True)


class BuildPackage(build_py):
    def run(self) -> None:
        super().run()
        folder = Path(self.build_lib, "turbo_fzn", compiler.PACKAGED)
        shutil.rmtree(folder, ignore_errors=True)  # of an earlier build
        if self.editable_mode or not has_compiler():
            return
        teller = Teller()
        kinds = compiler.CPU_VARIANTS if os.environ.get(ALL_ENGINES) else compiler.MOST_NEEDED
        ahead.fill_package(folder, teller, kinds)
        if os.environ.get(FOR_GPUS):
            ahead.fill_package_for_gpus(folder, teller)


class BuildWheel(bdist_wheel):
    """The engine is called by ctypes, so one wheel serves every Python of its platform."""

    def get_tag(self) -> tuple[str, str, str]:
        python, abi, platform = super().get_tag()
        return (python, abi, platform) if self.root_is_pure else ("py3", "none", platform)


class Package(Distribution):
    """One for its platform only, if it has the engine."""

    def has_ext_modules(self) -> bool:
        return has_compiler()


setup(cmdclass={"build_py": BuildPackage, "bdist_wheel": BuildWheel}, distclass=Package)
