"""`fzn-turbo --doctor` names what is broken in a set-up, and the command that mends it.

Each broken set-up is a process in an environment that lacks one thing. Where the mending command can be run here, it
is, and the doctor is asked again.
"""

from __future__ import annotations

import ast
import configparser
import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from support.builds import quick_compiler
from support.command import COMMAND, PATIENCE, environment
from support.fake_machine import FOLDER as FAKE_MACHINE
from support.fake_machine import build_driver, changes, fill_cache
from support.needs import needs_minizinc
from turbo_fzn import __main__ as entry
from turbo_fzn.base.resources import PACKAGE
from turbo_fzn.command import doctor, install
from turbo_fzn.engine.toolchain import compiler
from turbo_fzn.engine.toolchain.compiler import NoCompiler
from turbo_fzn.options import configuration

Report = dict[str, tuple[str, str, str]]  # part -> (state, what is said, the command that mends it)


def run(*arguments: str, **changed: str | None) -> tuple[int, Report, str]:
    """The doctor's exit code, findings and last line, in this environment with some variables changed or taken away."""
    full = environment()
    full.update({name: text for name, text in changed.items() if text is not None})
    for name in [name for name, text in changed.items() if text is None]:
        full.pop(name, None)
    command = [*COMMAND, "--doctor", *arguments]
    done = subprocess.run(command, env=full, capture_output=True, text=True, timeout=PATIENCE)
    *lines, last = done.stdout.splitlines() or [done.stderr]
    report: Report = {}
    part = ""
    for line in lines:
        if line.startswith("       mend it: "):
            report[part] = (*report[part][:2], line.removeprefix("       mend it: ").partition("   (")[0])
        else:
            state, (part, _, said) = line[:7].strip(), line[7:].partition(": ")
            report[part] = (state, said, "")
    return done.returncode, report, last


def wrong(report: Report) -> set[str]:
    assert all(mend for state, _, mend in report.values() if state == doctor.WRONG), report
    return {part for part, (state, _, _) in report.items() if state == doctor.WRONG}


@pytest.fixture
def whole(tmp_path) -> dict[str, str]:
    """A set-up without a GPU in which nothing is wrong: MiniZinc is there, and knows the solver."""
    return {"MZN_SOLVER_PATH": str(install.install_solver(tmp_path / "solvers").parent)}


@pytest.fixture(scope="module")
def gpu_machine(tmp_path_factory) -> Callable[[str], dict[str, str | None]]:
    """The environment of a machine with a GPU, and with the fault that is named."""
    driver = build_driver(tmp_path_factory.mktemp("driver"))
    cache = fill_cache(tmp_path_factory.mktemp("machine") / "cache")
    return lambda fault: {**changes(fault, 1, driver, cache), "CUDA_VISIBLE_DEVICES": None}


def path_with(folder: Path, *names: str) -> str:
    """A PATH that has nothing but these commands."""
    folder.mkdir()
    for name in names:
        found = shutil.which(name)
        assert found, name
        (folder / name).symlink_to(found)
    return str(folder)


@needs_minizinc
def test_where_all_is_well_nothing_is_wrong(whole):
    code, report, last = run(**whole)
    assert (code, wrong(report), last) == (0, set(), "nothing is wrong")
    assert {"Python", "packages", "cache", "C++ compiler", "CPU engine", "MiniZinc", "MiniZinc's solver"} <= set(report)


@needs_minizinc
def test_without_a_compiler(whole, tmp_path):
    code, report, _ = run(**whole, CXX="", PATH=path_with(tmp_path / "bin", "minizinc", "sh"))
    assert code == 1 and "C++ compiler" in wrong(report)
    assert "apt-get install g++" in report["C++ compiler"][2] and "CPU engine" not in report


def test_with_a_compiler_that_does_not_exist_or_does_not_work(whole):
    code, report, _ = run(**whole, CXX="/no/such/c++")
    assert code == 1 and "CXX names" in report["C++ compiler"][1]
    assert report["C++ compiler"][2] == "unset CXX"
    code, report, _ = run(**whole, CXX="false")
    assert code == 1 and "CPU engine" in wrong(report)


def test_without_nvcc(gpu_machine, whole, monkeypatch):
    code, report, last = run(**whole, **{**gpu_machine("none:fail"), "NVCC": "/no/such/nvcc"})
    assert code == 1 and last.endswith("asked for: CUDA toolkit") and wrong(report) - {"MiniZinc"} == {"CUDA toolkit"}
    assert report["CUDA toolkit"][2] == "unset NVCC"
    monkeypatch.setattr(compiler, "find_nvcc", lambda: (_ for _ in ()).throw(NoCompiler("no nvcc found")))
    finding = doctor.toolkit()
    assert finding.state == doctor.WRONG and finding.mend.endswith("apt-get install cuda-toolkit")


def test_with_a_toolkit_that_is_too_old(gpu_machine, whole):
    code, report, _ = run(**whole, **gpu_machine("none:fail"), FAKE_NVCC_RELEASE="12.4")
    assert code == 1 and "12.8 or later is needed" in report["CUDA toolkit"][1]
    assert report["CUDA toolkit"][2].endswith("apt-get install cuda-toolkit")


def test_a_machine_with_a_gpu_solves_on_it(gpu_machine, whole):
    code, report, _ = run(**whole, **gpu_machine("none:fail"))
    assert code == 0 and wrong(report) <= {"MiniZinc"}
    assert report["GPU engine"][0] == doctor.OK


def test_a_gpu_that_is_asked_for_and_not_there_is_a_failure(whole, monkeypatch):
    absence = "libcuda.so.1: cannot open shared object file"
    code, report, _ = run("--arch", "gpu", **whole)
    if report["NVIDIA driver"][0] == doctor.WRONG:  # else this machine has a driver
        assert code == 1 and report["NVIDIA driver"][2]
        assert run("--arch", "auto", **whole)[:1] == (0,)
    monkeypatch.setattr(doctor.wake, "absence", lambda: absence)
    assert [finding.state for finding in doctor.gpu_parts(True, wanted=True)] == [doctor.WRONG]
    assert [finding.state for finding in doctor.gpu_parts(True)] == [doctor.ABSENT]
    assert set(doctor.GPU_PARTS) <= doctor.asked_for("gpu")


HIDDEN = "import sys\nsys.modules.update({name: None for name in %r})\n"  # the machine may have real ones


def with_modules(machine: dict[str, str], folder: Path, modules: dict[str, str]) -> dict[str, str]:
    """The environment of a process that finds these modules, path -> text, before all others."""
    for path, text in modules.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return {**machine, "PYTHONPATH": f"{folder}{os.pathsep}{machine['PYTHONPATH']}"}


def test_without_a_package_that_calls_the_driver(gpu_machine, whole, tmp_path):
    hidden = {"sitecustomize.py": HIDDEN % ["pycuda", "cuda"]}
    code, report, _ = run(**whole, **with_modules(gpu_machine("none:fail"), tmp_path, hidden))
    assert code == 0 and wrong(report) - {"MiniZinc"} == {"PyCUDA"}
    assert report["PyCUDA"][2] == f"{sys.executable} -m pip install 'cuda-bindings>=12.8'"


def test_with_cuda_bindings_in_the_place_of_pycuda(gpu_machine, whole, tmp_path):
    modules = {"sitecustomize.py": HIDDEN % ["pycuda"], "cuda/__init__.py": "", "cuda/bindings/__init__.py": ""}
    fake = "import sys\nfrom support import fake_bindings, fake_cuda\n"
    driver = fake + "module = fake_bindings.make_bindings(fake_cuda.Driver())\n"
    modules["cuda/bindings/driver.py"] = driver + "sys.modules[__name__] = module\n"
    code, report, _ = run(**whole, **with_modules(gpu_machine("none:fail"), tmp_path, modules))
    assert code == 0 and wrong(report) <= {"MiniZinc"} and report["GPU engine"][0] == doctor.OK
    assert report["PyCUDA"][1] == f"cuda-bindings instead, in {tmp_path / 'cuda' / 'bindings'}"
    modules["cuda/bindings/driver.py"] = "raise ImportError('ordered by the test')\n"
    code, report, _ = run(**whole, **with_modules(gpu_machine("none:fail"), tmp_path, modules))
    assert wrong(report) - {"MiniZinc"} == {"PyCUDA"} and "ordered by the test" in report["PyCUDA"][1]


def test_with_cuda_bindings_beside_a_pycuda_that_cannot_be_imported(gpu_machine, whole, tmp_path):
    """The engine takes what works, so that is no fault."""
    driver = "import sys\nfrom support import fake_bindings, fake_cuda\n"
    driver += "sys.modules[__name__] = fake_bindings.make_bindings(fake_cuda.Driver())\n"
    modules = {"cuda/__init__.py": "", "cuda/bindings/__init__.py": "", "cuda/bindings/driver.py": driver}
    modules |= {"pycuda/__init__.py": "", "pycuda/driver.py": "raise RuntimeError('for another toolkit')\n"}
    code, report, _ = run("--arch", "gpu", **whole, **with_modules(gpu_machine("none:fail"), tmp_path, modules))
    assert code == 0 and wrong(report) <= {"MiniZinc"} and report["GPU engine"][0] == doctor.OK
    assert report["PyCUDA"][1].startswith("cuda-bindings instead")


def test_with_a_pycuda_that_cannot_be_imported(gpu_machine, whole):
    code, report, _ = run(**whole, **gpu_machine("import:fail"))
    assert code == 1 and "ordered by the test" in report["PyCUDA"][1]
    assert "--force-reinstall" in report["PyCUDA"][2]


def test_with_a_driver_but_no_device(gpu_machine, whole):
    machine = gpu_machine("driver:fail")
    code, report, _ = run(**whole, **machine)
    assert code == 1 and "no device" in report["NVIDIA driver"][1]
    assert report["NVIDIA driver"][2] and "GPU engine" not in report
    code, report, _ = run(**whole, **{**machine, "CUDA_VISIBLE_DEVICES": ""})
    assert report["NVIDIA driver"][2] == "unset CUDA_VISIBLE_DEVICES"


@pytest.mark.slow
def test_with_a_cache_that_cannot_be_written(whole, tmp_path):
    """Such a cache costs time, and no answer; here it was asked for by its name."""
    code, report, last = run(**whole, TURBO_FZN_CACHE="/dev/null/cache", CXX=str(quick_compiler(tmp_path)))
    assert code == 1 and last.endswith("1 of 8 parts is wrong, asked for: cache") and report["cache"][0] == doctor.WRONG
    assert report["cache"][2] == "unset TURBO_FZN_CACHE"


def test_the_command_that_mends_a_cache_open_to_others_mends_it(tmp_path, monkeypatch):
    folder = tmp_path / "a cache"
    folder.mkdir(mode=0o777)
    folder.chmod(0o777)
    monkeypatch.setenv("TURBO_FZN_CACHE", str(folder))
    finding = doctor.kernel_cache()
    assert finding.state == doctor.WRONG
    subprocess.run(finding.mend, shell=True, check=True)
    assert doctor.kernel_cache().state == doctor.OK


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "value", "part"),
    [
        ("CXX", "/no/such/c++", "C++ compiler"),
        ("NVCC", "/no/such/nvcc", "CUDA toolkit"),
        ("TURBO_FZN_CACHE", "/dev/null/cache", "cache"),
    ],
)
def test_the_command_that_is_named_for_a_wrong_variable_mends_it(gpu_machine, whole, tmp_path, name, value, part):
    """Typed into the same shell, as a user does."""
    machine = {**whole, **gpu_machine("none:fail"), "PATH": f"{FAKE_MACHINE}{os.pathsep}{os.environ['PATH']}"}
    if part == "cache":
        machine |= {"XDG_CACHE_HOME": str(tmp_path), "CXX": str(quick_compiler(tmp_path))}
    mend = run(**{**machine, name: value})[1][part][2]
    machine = {variable: text for variable, text in machine.items() if text is not None}
    script = f"export {name}={value}; {shlex.join(COMMAND)} --doctor; echo; {mend}; {shlex.join(COMMAND)} --doctor"
    done = subprocess.run(["sh", "-c", script], env=environment(**machine), capture_output=True, text=True)
    before, after = done.stdout.split("\n\n")
    assert f"wrong  {part}: " in before and f"ok     {part}: " in after


def test_without_minizinc(whole, tmp_path):
    """Which is a failure where the solver has been installed for it, and none else."""
    path = path_with(tmp_path / "bin", "c++", "as", "ld", "sh")
    code, report, _ = run(**whole, PATH=path)
    assert code == 1 and wrong(report) == {"MiniZinc"}
    code, report, last = run(MZN_SOLVER_PATH="", PATH=path)
    assert code == 0 and wrong(report) == {"MiniZinc"} and last.endswith("is wrong, none that was asked for")
    assert "apt-get install minizinc" in report["MiniZinc"][2]


@pytest.mark.parametrize(
    ("user", "tools", "told"),
    [
        (0, ("sudo",), "apt-get install g++"),
        (1000, ("sudo",), "sudo apt-get install g++"),
        (1000, (), "su -c 'apt-get install g++'"),
    ],
)
def test_root_needs_no_sudo_and_who_has_none_is_told_su(tmp_path, monkeypatch, user, tools, told):
    for name in (*tools, "apt-get"):
        (tmp_path / name).touch(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(os, "geteuid", lambda: user)
    assert doctor.system_install("g++") == told


def test_with_a_minizinc_that_is_too_old(tmp_path, monkeypatch):
    (tmp_path / "minizinc").write_text("#!/bin/sh\necho 'MiniZinc, version 2.5.5, build 1'\n")
    (tmp_path / "minizinc").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    (finding,) = doctor.minizinc_parts()
    assert finding.state == doctor.WRONG and "2.6.4 or later" in finding.said and finding.mend


@needs_minizinc
@pytest.mark.parametrize(
    "field",
    ["version", *(pytest.param(name, marks=pytest.mark.slow) for name in ("executable", "mznlib", "extraFlags"))],
)
def test_a_stale_configuration_is_mended_by_the_command_that_is_named(whole, field):
    path = Path(whole["MZN_SOLVER_PATH"]) / configuration.CONFIGURATION
    stale = {"version": "0.0.1", "executable": "/no/such/fzn-turbo", "mznlib": "/no/such/share", "extraFlags": []}
    path.write_text(json.dumps({**json.loads(path.read_text()), field: stale[field]}))
    code, report, _ = run(**whole)
    assert code == 1 and wrong(report) == {"MiniZinc's solver"}
    state, said, mend = report["MiniZinc's solver"]
    assert "is stale" in said and field in said
    subprocess.run(mend, shell=True, check=True, env=environment(), stdout=subprocess.DEVNULL, timeout=PATIENCE)
    assert run(**whole)[2] == "nothing is wrong"


@needs_minizinc
def test_a_solver_that_minizinc_does_not_know_or_cannot_read_is_mended_the_same_way(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("MZN_SOLVER_PATH", "")
    assert "does not know turbo" in doctor.known_solver().said
    install.install_solver().write_text("{")
    finding = doctor.known_solver()
    assert "is stale" in finding.said and finding.mend.endswith(" --install-solver")
    install.install_solver()
    assert doctor.known_solver().state == doctor.OK


@needs_minizinc
def test_a_library_that_minizinc_refuses_is_no_stale_configuration(tmp_path, monkeypatch):
    """And what MiniZinc says is told where the configuration is stale as well."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("MZN_SOLVER_PATH", "")
    library = tmp_path / "library"
    library.mkdir()
    (library / "redefinitions.mzn").write_text("predicate wrong(int: x) = x + 1;\n")
    path = install.install_solver()
    path.write_text(json.dumps({**json.loads(path.read_text()), "mznlib": str(library)}))
    finding = doctor.known_solver()
    assert "is stale: it has another mznlib; a model is answered with" in finding.said and "type error" in finding.said
    monkeypatch.setattr(install, "outdated_fields", lambda path: [])
    finding = doctor.known_solver()
    assert "type error" in finding.said and "stale" not in finding.said
    shown = subprocess.run(finding.mend, shell=True, capture_output=True, text=True, timeout=PATIENCE)
    assert "type error" in shown.stderr


@needs_minizinc
def test_a_stale_configuration_is_written_anew_where_that_is_asked_for(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("MZN_SOLVER_PATH", "")
    install.install_solver().write_text("{")
    assert doctor.known_solver().remark == "or fzn-turbo --doctor --fix"
    assert doctor.known_solver(fixes=True).state == doctor.OK
    assert doctor.known_solver().state == doctor.OK


def test_with_a_python_that_is_too_old(tmp_path):
    """Any command says so, before it imports what that Python could not read."""
    (tmp_path / "sitecustomize.py").write_text("import sys\nsys.version_info = (3, 9, 2, 'final', 0)\n")
    (tmp_path / "python3.12").symlink_to(sys.executable)
    path = f"{tmp_path}{os.pathsep}{environment()['PYTHONPATH']}"
    full = environment(PYTHONPATH=path, PATH=str(tmp_path))
    done = subprocess.run([*COMMAND, "--doctor"], env=full, capture_output=True, text=True, timeout=PATIENCE)
    assert (done.returncode, done.stdout) == (1, "=====ERROR=====\n")
    first, second = done.stderr.splitlines()
    assert "Python 3.9" in first and "3.10 or later is needed" in first
    assert second == f"       mend it: python3.12 -m pip install {PACKAGE.parent}"


def test_a_run_without_a_package_says_in_one_line_which_and_how_to_get_it(tmp_path):
    """A source tree is run without being installed, as by `make VENV=none demo`."""
    (tmp_path / "sitecustomize.py").write_text("import sys\nsys.modules.update(numpy=None, highspy=None)\n")
    (tmp_path / "model.fzn").write_text(doctor.SMALL_MODEL)
    full = environment(PYTHONPATH=f"{tmp_path}{os.pathsep}{environment()['PYTHONPATH']}")
    command = [*COMMAND, str(tmp_path / "model.fzn")]
    done = subprocess.run(command, env=full, capture_output=True, text=True, timeout=PATIENCE)
    assert (done.returncode, done.stdout) == (1, "=====ERROR=====\n")
    install_both = f"{sys.executable} -m pip install numpy highspy"
    assert done.stderr == f"fzn-turbo: numpy, highspy cannot be found; to install: {install_both}\n"


def test_packages_are_named_themselves_for_no_index_has_turbo_fzn():
    """What messages tell pip to install is what the extras of the metadata name."""
    settings = configparser.ConfigParser()
    settings.read(PACKAGE.parent / "setup.cfg")
    extras = {
        name: "".join(settings["options.extras_require"][name].split(" ")).split() for name in ("gpu-driver", "mpi")
    }
    told = {"gpu-driver": "engine/cuda/devices.py", "mpi": "ranks/world.py"}
    for name, file in told.items():
        words = "".join(f", '{package}'" for package in extras[name])
        assert f"pip('install'{words})" in (PACKAGE / file).read_text().replace('"', "'")
    sources = [path.read_text() for path in PACKAGE.rglob("*.py") if path.name != "resources.py"]
    assert not any("turbo_fzn[" in text or "install turbo_fzn" in text for text in sources)


@pytest.mark.parametrize("name", ["__init__.py", "__main__.py"])
def test_an_old_python_can_read_the_files_that_refuse_it(name):
    ast.parse((PACKAGE / name).read_text(), feature_version=(3, 7))


def test_the_oldest_python_and_the_packages_are_those_of_the_metadata():
    settings = configparser.ConfigParser()
    settings.read(PACKAGE.parent / "setup.cfg")
    assert settings["options"]["python_requires"] == f">={'.'.join(map(str, entry.OLDEST_PYTHON))}"
    required = settings["options"]["install_requires"].split("\n")
    assert {line.split()[0] for line in required if line} == {*doctor.NEEDED, *doctor.HELPFUL}


def test_a_package_that_is_missing_is_named_and_ends_the_examination(monkeypatch):
    monkeypatch.setattr(doctor, "missing", lambda names: [name for name in names if name == "lark"])
    lines: list[str] = []
    assert doctor.examine(lines.append) == 1
    assert "wrong  packages: lark cannot be found" in lines
    assert lines[2] == f"       mend it: {sys.executable} -m pip install lark"
