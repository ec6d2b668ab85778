"""The names of variants (turbo_fzn/engine/variants.py): what each stands for, and what is refused."""

from __future__ import annotations

import re

import pytest

from support.corpus import EXPECTED, text_of
from support.engines import OpenEngine, labelled
from support.warm import ask
from turbo_fzn import solve_text
from turbo_fzn.base.errors import EngineError, TurboError
from turbo_fzn.base.resources import kernels_folder
from turbo_fzn.command.cli import main
from turbo_fzn.engine import variants

PAIR = labelled({"x": "0..3", "y": "0..3"}, "constraint int_ne(x,y);\n")


def refusal(variant: str, **settings: object) -> str:
    with pytest.raises(TurboError) as caught:
        solve_text(PAIR, **{"arch": "gpu", "variant": variant, **settings})
    return str(caught.value)


@pytest.mark.parametrize(("variant", "settings", "message"), [
    ("swep", {}, "--variant: no variant swep; there are default, sweep,.*did you mean sweep"),
    ("sweep,warp-sweep", {}, "--variant sweep,warp-sweep: sweep and warp-sweep exclude each other"),
    ("retire,no-retire", {}, "retire and no-retire exclude each other"),
    ("store=global", {"arch": "cpu"}, "store=global is not of the engine cpu, a CPU has one kind of memory"),
    ("no-sync,sweep", {"arch": "auto"}, r"no-sync is not of the engine cpu, a lane of a CPU is alone \(--arch gpu\)"),
    ("no-sync", {}, "no-sync goes with sweep"),
    ("retire=scan", {}, "retire=scan goes with sweep or warp-sweep"),
    ("plain-bounds,retire", {}, "plain-bounds does not go with retire: a row that had retired could not mend"),
    ("sweep,fused", {}, "sweep does not go with fused: sweeps go over ternary rows alone"),
    ("fused,warp-sweep", {}, "warp-sweep does not go with fused: sweeps go over ternary rows alone"),
    ("sweep", {"subproblems": 8}, "--subproblems goes with --variant static-split"),
    ("static-split", {"subproblems": 12}, "--subproblems: 12 is not a power of two"),
    ("sweep", {"cp_profiler": (1, 6565)}, "--variant: --cp-profiler has kernels of its own"),
])  # fmt: skip
def test_what_cannot_be_had_is_refused_in_one_line(variant, settings, message):
    said = refusal(variant, **settings)
    assert re.search(message, said) and "\n" not in said


def test_a_tree_is_not_split_ahead_for_several_engines_or_real_variables():
    text = labelled({"x": "0..3"}, "var 0.0..1.0: r;\n")
    assert "static-split is of integers" in refusal_of_engine(text, split=True)
    assert "static-split is of one engine" in refusal_of_engine(PAIR, split=True, shares=True)


def refusal_of_engine(text: str, **settings: object) -> str:
    with pytest.raises(EngineError) as caught:
        OpenEngine(text, **settings)
    return str(caught.value)


def test_the_command_shows_all_names(capsys):
    assert main(["--list-variants"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == [*variants.NAMES]
    assert all(variant.line in line for variant, line in zip(variants.VARIANTS, lines))


def test_the_command_refuses_a_name_before_it_reads_a_model():
    answer = ask("--variant", "fast", "nowhere.fzn")
    assert answer.code == 1 and "no variant fast" in answer.errors


def test_nobody_learns_with_a_variant_unless_it_is_asked_for():
    text = text_of(next(one for one in EXPECTED if one["model"] == "golomb.mzn"))
    assert solve_text(text, arch="cpu", variant="default").statistics["provedBy"] == "cpu tree"
    assert "tree" not in solve_text(text, arch="cpu", variant="default", learn="follower").statistics["provedBy"]


def test_each_macro_has_its_default_in_a_header():
    texts = [path.read_text(encoding="utf-8") for path in kernels_folder().rglob("*.h")]
    for variant in variants.VARIANTS:
        for macro in variant.macros:
            name, value = re.fullmatch(r"-D(\w+)=(\w+)", macro).groups()
            assert sum(f"#ifndef {name}\n#define {name} " in text for text in texts) == 1, macro
            named = (f"#define {value} ", f"  {value} = ")  # a macro or a value of an enum
            assert value in "01" or sum(any(name in text for name in named) for text in texts) == 1, macro


def test_the_usual_build_has_no_macros():
    for engine in variants.ENGINES:
        usual = [variant.name for variant in variants.VARIANTS if engine in variant.usual]
        assert "default" in usual
        for name in usual:
            needs = variants.BY_NAME[name].needs
            macros = variants.chosen(",".join([name, *needs[:1]]), engine).settings(engine)["macros"]
            assert macros == tuple(macro for other in needs[:1] for macro in variants.BY_NAME[other].macros)
