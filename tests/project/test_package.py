"""What `pip install` brings: the kernels, the MiniZinc library and the grammar, found where resources.py looks."""

from __future__ import annotations

import os
import platform
import shutil
import socket
import subprocess
import sys
import sysconfig
import zipfile
from configparser import ConfigParser
from pathlib import Path

import pytest

from support.builds import quick_compiler
from support.command import LEAST_SUM, value, wait_until
from support.installation import Installation, build, build_wheel, install, shared_installation, shared_wheel
from support.places import ROOT
from turbo_fzn.base import resources
from turbo_fzn.command import manual
from turbo_fzn.engine.toolchain import compiler


@pytest.fixture(scope="module")
def wheel() -> Path:
    return shared_wheel()


def source_files(folder: Path, *patterns: str) -> set[str]:
    paths = [path for pattern in patterns for path in folder.rglob(pattern) if path.is_file()]
    return {path.relative_to(folder).as_posix() for path in paths}


def test_every_folder_of_the_package_is_installed():
    settings = ConfigParser()
    settings.read(ROOT / "setup.cfg")
    named = set(settings["options"]["packages"].split()) - {"turbo_fzn.kernels", "turbo_fzn.share"}
    folders = {path.parent.relative_to(ROOT) for path in (ROOT / "turbo_fzn").rglob("__init__.py")}
    assert named == {".".join(folder.parts) for folder in folders}


@pytest.mark.slow
def test_the_wheel_holds_every_source_file_that_is_needed_to_run(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    kernels = source_files(ROOT / "kernels", "*")
    library = source_files(ROOT / "share", "*.mzn")
    sources = source_files(ROOT / "turbo_fzn", "*.py", "*.lark", "*.terminals", "py.typed")
    assert kernels and library and {"read/flatzinc.lark", "read/flatzinc.terminals"} <= sources
    assert {f"turbo_fzn/kernels/{name}" for name in kernels} <= names
    assert {f"turbo_fzn/share/{name}" for name in library} <= names
    assert {f"turbo_fzn/{name}" for name in sources} <= names


@pytest.mark.slow
def test_the_wheel_holds_nothing_outside_the_package(wheel):
    top = {name.split("/")[0] for name in zipfile.ZipFile(wheel).namelist()}
    assert {name for name in top if not name.endswith((".dist-info", ".data"))} == {"turbo_fzn"}


@pytest.mark.slow
def test_the_wheel_puts_the_manual_and_the_completions_where_they_are_looked_for(installation):
    for name in manual.FILES:
        assert (installation.scripts.parent / "share" / name).read_text(encoding="utf-8") == manual.FILES[name]()


@pytest.mark.slow
def test_the_metadata_has_the_licence_and_says_that_the_package_is_typed(wheel):
    archive = zipfile.ZipFile(wheel)
    name = next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
    metadata = archive.read(name).decode()
    assert "Classifier: Typing :: Typed\n" in metadata and "License" in metadata and "Keywords: " in metadata
    assert any(name.endswith("LICENSE") and ".dist-info/" in name for name in archive.namelist())


@pytest.mark.slow
def test_an_unpacked_wheel_finds_its_own_kernels_and_library(wheel, tmp_path):
    zipfile.ZipFile(wheel).extractall(tmp_path)
    script = "from turbo_fzn.base import resources as r; print(r.kernels_folder()); print(r.share_folder())"
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    run = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert run.stdout.splitlines() == [str(tmp_path / "turbo_fzn" / name) for name in ("kernels", "share")], run.stderr


# ---- the engine in the wheel

WIDE = LEAST_SUM.replace("var 2..20: z", "var 2..100000000000: z")
ENGINES = {"32 bits": (LEAST_SUM, []), "64 bits": (WIDE, []), "profile": (LEAST_SUM, ["--profile", "-s"])}


@pytest.fixture(scope="module")
def installation() -> Installation:
    return shared_installation()


@pytest.fixture
def installed(tmp_path, installation) -> Installation:
    """What several tests share, which must not change it."""
    return installation.begin(tmp_path)


@pytest.fixture
def of_its_own(tmp_path, wheel) -> Installation:
    install(tmp_path, wheel)
    return Installation(tmp_path).begin(tmp_path)


@pytest.mark.slow
def test_the_wheel_is_for_its_platform_and_every_python_and_has_all_of_the_cpu_engine(wheel):
    name, version, python, abi, platform = wheel.stem.split("-")
    assert (name, python, abi) == ("turbo_fzn", "py3", "none")
    assert platform == sysconfig.get_platform().replace("-", "_").replace(".", "_")
    libraries = {name for name in zipfile.ZipFile(wheel).namelist() if name.endswith(".so")}
    expected = {compiler.packaged_name(bits, *kind) for bits, kind in compiler.CPU_VARIANTS}
    assert libraries == {f"turbo_fzn/compiled/{name}" for name in expected}


@pytest.mark.slow
def test_in_an_empty_environment_without_a_compiler_the_wheel_solves_on_the_cpu(installed):
    for text, flags in ENGINES.values():
        answer = installed.solve(text, *flags)
        assert (answer.code, answer.errors, answer.markers, value(answer, "z")) == (0, "", ["=========="], 7)
    assert any(name.startswith("profile") for name in answer.statistics)
    assert installed.compiled_here() == []
    assert f"CPU engine: in the package, {installed.compiled}\n" in installed.run("--info").stdout


@pytest.mark.slow
def test_the_profiler_gets_its_engine_from_the_wheel_too(installed):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        answer = installed.solve(LEAST_SUM, "--cp-profiler", f"1,{silent.getsockname()[1]}")
    assert (answer.code, answer.errors, value(answer, "z")) == (0, "", 7)
    assert installed.compiled_here() == []


@pytest.mark.slow
def test_the_solver_is_installed_at_once_where_the_wheel_has_its_engine(installed):
    done = installed.run("--install-solver")
    assert (done.returncode, done.stderr) == (0, "")
    assert f"CPU engine, 32-bit: {installed.compiled / compiler.packaged_name(32)}\n" in done.stdout


@pytest.mark.slow
def test_a_compiler_or_flags_of_the_users_own_make_an_engine_of_his_own(installed, tmp_path):
    answer = installed.solve(LEAST_SUM, CXX=str(quick_compiler(tmp_path)), PATH=os.environ["PATH"])
    assert (answer.errors, value(answer, "z")) == ("", 7)
    wait_until(lambda: len(installed.compiled_here()) == 2)  # the one that is there soon, and the one beside it
    assert len((tmp_path / "runs").read_text().split()) == 2
    assert installed.refuses(TURBO_FZN_KERNEL_FLAGS="-DCHECK_FIXPOINT")


@pytest.mark.slow
def test_of_kernels_that_were_edited_the_engine_of_the_wheel_is_not_used(of_its_own):
    with open(of_its_own.package / "kernels" / "solver.h", "a") as file:
        file.write("// edited\n")
    assert of_its_own.refuses()


@pytest.mark.slow
def test_an_engine_that_this_system_cannot_load_is_compiled_here(of_its_own, tmp_path):
    for path in of_its_own.compiled.iterdir():
        path.write_text("for another system")
    assert of_its_own.refuses()
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("c++", "as", "ld", "sh"):
        (folder / name).symlink_to(shutil.which(name))
    answer = of_its_own.solve(LEAST_SUM, PATH=str(folder))
    assert (answer.errors, value(answer, "z")) == ("", 7)
    assert len(of_its_own.compiled_here()) == 1


@pytest.mark.slow
def test_without_a_compiler_the_wheel_is_for_every_platform_and_with_a_wrong_one_there_is_none(tmp_path):
    pure = build_wheel(tmp_path / "none", CXX="", PATH="")
    assert pure.name.endswith("-py3-none-any.whl")
    assert not any(name.endswith(".so") for name in zipfile.ZipFile(pure).namelist())
    wrong = build(tmp_path / "wrong", CXX="/no/such/c++")
    assert wrong.returncode != 0 and "no compiler /no/such/c++, which CXX names" in wrong.stdout + wrong.stderr


@pytest.mark.slow
@pytest.mark.skipif(
    platform.machine() != "x86_64" or shutil.which("objdump") is None, reason="objdump on an x86-64 machine is needed"
)
def test_the_engine_runs_on_every_x86_64_machine(wheel, tmp_path):
    """No instruction is of an extension that only newer machines have: those of AVX and later begin with a v."""
    zipfile.ZipFile(wheel).extractall(tmp_path)
    for library in (tmp_path / "turbo_fzn" / compiler.PACKAGED).iterdir():
        code = subprocess.check_output(["objdump", "-d", "--no-show-raw-insn", library], text=True)
        instructions = {line.split("\t")[1].split()[0] for line in code.splitlines() if "\t" in line}
        assert {"mov", "ret"} & instructions
        assert not {name for name in instructions if name.startswith("v")} - {"verr", "verw"}


@pytest.mark.slow
def test_the_wheel_declares_the_console_script(wheel):
    archive = zipfile.ZipFile(wheel)
    name = next(name for name in archive.namelist() if name.endswith("entry_points.txt"))
    assert "fzn-turbo = turbo_fzn.__main__:main" in archive.read(name).decode()


def test_the_source_tree_finds_its_own_kernels_and_library():
    assert list(resources.kernels_folder().glob("*.h"))
    assert (resources.share_folder() / "minizinc" / "turbo" / "redefinitions.mzn").is_file()


def test_a_missing_folder_is_an_error_that_names_it(tmp_path, monkeypatch):
    monkeypatch.setattr(resources, "PACKAGE", tmp_path / "turbo_fzn")
    with pytest.raises(resources.InternalError, match="no folder kernels"):
        resources.kernels_folder()
