"""The recipes of lab/packaging/: conda and Debian take version, dependencies and command from setup.cfg."""

from __future__ import annotations

import os
import re
import subprocess
from configparser import ConfigParser
from pathlib import Path

import pytest
import yaml

from support.places import ROOT
from turbo_fzn.version import __version__

PACKAGING = ROOT / "lab" / "packaging"
DEBIAN = PACKAGING / "debian"
EPOCHS = {"numpy": "1:"}  # in front of Debian's versions


def settings() -> ConfigParser:
    parser = ConfigParser()
    parser.read(ROOT / "setup.cfg")
    return parser


def least_versions(lines: list[str], form: str) -> dict[str, str]:
    """The least version by package, of lines that all have this form."""
    found = [re.fullmatch(form, line.strip(" ,")) for line in lines]
    assert all(found), lines
    return {match["name"]: match["version"] for match in found}


def required() -> dict[str, str]:
    """What a run needs, and Python."""
    options = settings()["options"]
    lines = options["install_requires"].strip().splitlines()
    needed = least_versions(lines, r"(?P<name>\w+) >= (?P<version>[\d.]+)")
    return {**needed, "python": options["python_requires"].removeprefix(">=")}


def commands() -> list[str]:
    return [line.split(" = ")[0] for line in settings()["options.entry_points"]["console_scripts"].strip().splitlines()]


def build_setuptools() -> str:
    (version,) = re.findall(
        r'^requires = \["setuptools>=([\d.]+)"\]$', (ROOT / "pyproject.toml").read_text(), re.MULTILINE
    )
    return version


# ---- conda


@pytest.fixture(scope="module")
def recipe() -> dict:
    return yaml.safe_load((PACKAGING / "conda" / "recipe.yaml").read_text())


def test_the_recipe_is_of_this_version_and_this_source_tree(recipe):
    assert recipe["context"]["version"] == __version__
    assert (PACKAGING / "conda" / recipe["source"]["path"]).resolve() == ROOT
    assert recipe["about"]["license"] == settings()["metadata"]["license"]
    assert recipe["about"]["summary"] == settings()["metadata"]["description"]
    assert (ROOT / recipe["about"]["license_file"]).is_file()


def test_the_recipe_needs_what_the_package_needs(recipe):
    form = r"(?P<name>[\w-]+) >=(?P<version>[\d.]+)"
    assert least_versions(recipe["requirements"]["run"], form) == required()
    assert f"setuptools >={build_setuptools()}" in recipe["requirements"]["host"]


def test_the_recipe_tries_every_command(recipe):
    scripts = [line for test in recipe["tests"] for line in test.get("script", [])]
    assert [line.split()[0] for line in scripts] == commands()


# ---- Debian


def paragraphs(path: Path) -> list[dict[str, str]]:
    """The paragraphs of a control file: the text of each field."""
    found = []
    for paragraph in path.read_text().strip().split("\n\n"):
        fields = re.findall(r"^([\w-]+):((?:.*)(?:\n[ \t].*)*)", paragraph, re.MULTILINE)
        assert "\n".join(f"{name}:{text}" for name, text in fields) == paragraph.strip()
        found.append({name: text.strip() for name, text in fields})
    return found


def listed(field: str) -> list[str]:
    return [item.strip() for item in field.split(",")]


def test_the_package_of_debian_needs_what_the_package_needs():
    source, package = paragraphs(DEBIAN / "control")
    depends = [one for one in listed(package["Depends"]) if not one.startswith("${")]
    found = least_versions(depends, r"python3-(?P<name>[\w-]+) \(>= (?P<version>[\d.:]+)\)")
    wanted = {name: EPOCHS.get(name, "") + version for name, version in required().items() if name != "python"}
    assert found == wanted
    assert source["X-Python3-Version"] == f">= {required()['python']}"
    assert f"python3-setuptools (>= {build_setuptools()})" in listed(source["Build-Depends"])
    assert package["Package"] in commands() and package["Architecture"] == "any"


def test_the_changes_of_debian_are_of_this_version():
    first, *_ = (DEBIAN / "changelog").read_text().splitlines()
    match = re.fullmatch(r"(\S+) \(([\d.]+)-\d+\) UNRELEASED; urgency=medium", first)
    assert match and match.groups() == (paragraphs(DEBIAN / "control")[0]["Source"], __version__)


@pytest.mark.parametrize("target", ["clean", "build", "binary"])
def test_the_rules_of_debian_are_one_command_of_debhelper(tmp_path, target):
    rules = DEBIAN / "rules"
    assert rules.stat().st_mode & 0o111
    command = ["make", "--no-print-directory", "-n", "-f", rules, target]
    alone = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}  # `make test` sets them
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=alone, cwd=tmp_path)
    assert done.stdout == f"dh {target} --buildsystem=pybuild\n"


def test_the_licence_of_debian_is_that_of_the_project():
    _, files, text = paragraphs(DEBIAN / "copyright")
    licence = (ROOT / "LICENSE").read_text()
    assert f"\nCopyright (c) {files['Copyright']}\n" in licence
    words = text["License"].removeprefix("Expat").replace("\n .\n", "\n").split()
    assert words == licence.partition(files["Copyright"])[2].split()
