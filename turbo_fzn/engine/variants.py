"""Variants of the engines: named alternatives for propagation, storage and division of work.

They exist for comparison, as the journal of C++ Turbo compares the versions of that system
(docs/measurements/journal.md). The usual build is the fastest variant. A variant is a set of changes: macros of the
kernels, whose headers describe the techniques and their sources, and settings of the host (layout.Settings). Kernels of
a variant are compiled when they are needed, and kept in the cache under their own name.

To add one: docs/design/extending.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from turbo_fzn.base.errors import UsageError
from turbo_fzn.options.spellings import no_such

CPU, GPU, HYBRID = "cpu", "gpu", "hybrid"
ENGINES = (CPU, GPU, HYBRID)
ON_GPU = (GPU, HYBRID)  # engines whose rows run in many lanes
BY_ARCH = {"auto": (CPU, GPU), CPU: (CPU,), GPU: (GPU,), HYBRID: (HYBRID,)}  # the engines that an --arch may use
DEFAULT, SPLIT, UNSIMPLIFIED, OCTAGON, BITSET = "default", "static-split", "unsimplified", "octagon", "bitset"
BITSETS = "-DBITSETS=1"
SUMS = "-DWHOLE_SUMS=1"  # macro for models whose stores are smaller without inner links (tnf/arrange.py)
TRUTHS = "-DPACKED=1"  # macro for models whose stores are much smaller with packed truths (layout/packed.py)
ROWS_SHARED = "-DMODEL_SHARED=1"  # macro for models whose rows lie in shared memory


@dataclass(frozen=True, repr=False)
class Variant:
    """A variant. `line`: a description. `macros`: macros of the kernels. `settings`: fields of layout.Settings with
    their values. `usual`: the engines whose usual build it is. `group`: alternatives of one group exclude each other.
    `needs`: variants of which one must be combined with it. `against`: variants that it cannot be combined with.
    `only`: the reason why only one engine has it."""

    name: str
    line: str
    macros: tuple[str, ...] = ()
    settings: tuple[tuple[str, Any], ...] = ()
    engines: tuple[str, ...] = ENGINES
    usual: tuple[str, ...] = ()
    group: str = ""
    needs: tuple[str, ...] = ()
    against: tuple[tuple[str, str], ...] = ()
    only: str = ""


SWEEPS = ("sweep", "warp-sweep")
ALONE = "a lane of a CPU is alone"
ONE_MEMORY = "a CPU has one kind of memory"
NO_LEVELS = "its blocks know no levels, where rows would come back"
TERNARY = (("fused", False),)
ALWAYS_TERNARY = "its blocks run ternary rows alone"
SWEPT = "sweeps go over ternary rows alone"
READ_TWICE = "a sum reads bounds twice, and a lost one would be looser the second time"
LOST = "a row that had retired could not mend a bound that was lost"

VARIANTS = (
    Variant(DEFAULT, "the usual build of each engine", usual=ENGINES),
    Variant("sweep", "all rows run in each round (AC-1), not those that watch what has changed",
            ("-DSWEEP=SWEEP_ROWS",), TERNARY, group="way to choose rows", against=(("fused", SWEPT),)),
    Variant("warp-sweep", "each warp brings 32 rows to their local fixpoint before it goes on (WAC-1)",
            ("-DSWEEP=SWEEP_WARPS",), TERNARY, group="way to choose rows", against=(("fused", SWEPT),)),
    Variant("sync", "of sweep: after each row the lanes of a warp wait for each other, as is usual",
            engines=ON_GPU, usual=ON_GPU, group="sync", needs=("sweep",), only=ALONE),
    Variant("no-sync", "of sweep: they do not wait for each other",
            ("-DSYNC_ROWS=0",), engines=ON_GPU, group="sync", needs=("sweep",), only=ALONE),
    Variant("retire", "rows that are entailed are left out until the search goes back; usual on a CPU",
            ("-DRETIRES_ROWS=1",), (("retires", True),), engines=(CPU, GPU), usual=(CPU,), group="retire",
            only=NO_LEVELS),
    Variant("no-retire", "rows that are entailed are run like others; usual on a GPU",
            ("-DRETIRES_ROWS=0",), (("retires", False),), usual=ON_GPU, group="retire"),
    Variant("retire=scan", "of sweeps: they run over a list of the rows that are left, which a scan makes at each node",
            ("-DRETIRES_ROWS=1", "-DSCAN_ROWS=1"), (("retires", True),), engines=(CPU, GPU), group="retire",
            needs=SWEEPS, only=NO_LEVELS),
    Variant("plain-bounds", "rows write bounds without atomics; one whose bound is lost runs again",
            ("-DPLAIN_BOUNDS=1",), TERNARY, engines=ON_GPU, only=ALONE,
            against=(("retire", LOST), ("retire=scan", LOST), ("fused", READ_TWICE))),
    Variant("recompute", "a step back computes the store anew from the root, along the path, without a trail",
            ("-DKEEPS_TRAIL=0",)),
    Variant(SPLIT, "the tree is split ahead, into --subproblems N parts; nothing is given away",
            ("-DSTATIC_SPLIT=1",), (("split", True),)),
    Variant("store=shared", "domains in shared memory, or the model is refused",
            (), (("store", "shared"),), engines=ON_GPU, group="store", only=ONE_MEMORY),
    Variant("store=global", "domains in global memory, also where they fit into shared memory",
            (), (("store", "global"),), engines=ON_GPU, group="store", only=ONE_MEMORY),
    Variant("model=global", "rows in global memory, as is usual",
            engines=ON_GPU, usual=ON_GPU, group="model", only=ONE_MEMORY),
    Variant("model=shared", "each block keeps a copy of the rows in shared memory, where they fit beside the domains",
            (), (("model", "shared"),), engines=ON_GPU, group="model", only=ONE_MEMORY),
    Variant("sort=none", "rows in the order in which they were made, as is usual", usual=ENGINES, group="sort"),
    Variant("sort=operator", "rows in the order of their operators",
            (), (("sort", "operator"),), group="sort"),
    Variant("sort=neighbourhood", "rows that share variables beside each other",
            (), (("sort", "neighbourhood"),), group="sort"),
    Variant(BITSET, "small domains have holes between their bounds (EQ and ELEMENT rows); not where a block learns",
            (BITSETS,), (("bitsets", True),), engines=(CPU, GPU), only="its messages carry bounds"),
    Variant("fused", "sums and clauses are rows as a whole on a GPU too, where stores get no smaller by that",
            (SUMS,), (("fused", True),), engines=(CPU, GPU), usual=(CPU,), group="fused", only=ALWAYS_TERNARY),
    Variant("unfused", "all blocks search ternary rows, and know no sums and clauses as a whole",
            (), TERNARY, engines=(CPU, GPU), group="fused", only=ALWAYS_TERNARY),
    Variant("packed", "variables within 0..1 take a byte of a store each, also where no more stores fit by that",
            (TRUTHS,), (("packed", True),), engines=(CPU, GPU), group="packed",
            against=((BITSET, "words of holes stand in the place of truths"),), only="its messages carry bounds"),
    Variant("unpacked", "variables within 0..1 have bounds as others have; usual on a CPU",
            (), (("packed", False),), engines=(CPU, GPU), usual=(CPU,), group="packed",
            only="its messages carry bounds"),
    Variant(UNSIMPLIFIED, "the model as it was lowered, without the simplifier; as --no-simplify"),
    Variant(OCTAGON, "at the root, bounds of the sums and differences of two variables are closed, too"),
)  # fmt: skip
NAMES = tuple(variant.name for variant in VARIANTS)
BY_NAME = {variant.name: variant for variant in VARIANTS}


class _Chosen(tuple[Variant, ...]):
    """Variants that can be combined."""

    def settings(self, engine: str) -> dict[str, Any]:
        """The fields of layout.Settings that the variants set for this engine."""
        changed = [variant for variant in self if engine in variant.engines and engine not in variant.usual]
        macros = tuple(macro for variant in changed for macro in variant.macros)
        return {"macros": macros, **{name: value for variant in changed for name, value in variant.settings}}

    def gpu_builds(self, engine: str = GPU) -> Iterator[tuple[str, ...]]:
        """The macros of each build of the GPU's kernels that a model may need: with rows that fit shared memory, and
        without; usually with sums and packed truths, and without."""
        found = self.settings(engine)
        yield found["macros"]
        if engine == GPU and not any(found.values()):
            yield from ((SUMS,), (TRUTHS,), (SUMS, TRUTHS))
        if found.get("model") == "shared":
            yield (*found["macros"], ROWS_SHARED)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(variant.name for variant in self)


def chosen(text: str | None, arch: str) -> _Chosen:
    """The variants that `text` names, comma-separated, for the engines of `--arch`. Raises UsageError if a variant does
    not apply to an engine, or two exclude each other."""
    names = list(dict.fromkeys(_named(text)))
    if unknown := [name for name in names if name not in BY_NAME]:
        raise UsageError(no_such("--variant: no variant", unknown, NAMES))
    found = _Chosen(BY_NAME[name] for name in names)
    for reason in faults(found, arch):
        raise UsageError(f"--variant {','.join(names)}: {reason}")
    return found


def simplifies(text: str | None) -> bool:
    """Whether a model is simplified with these variants."""
    return UNSIMPLIFIED not in _named(text)


def closes_octagons(text: str | None) -> bool:
    """Whether octagons are closed at the root with these variants (tnf/octagon.py)."""
    return OCTAGON in _named(text)


def has_holes(text: str | None) -> bool:
    """Whether domains have holes with these variants (kernels/core/holes.h)."""
    return BITSET in _named(text)


def _named(text: str | None) -> list[str]:
    return (text or "").replace(",", " ").split()


def faults(variants: Sequence[Variant], arch: str) -> Iterator[str]:
    """The reasons why these variants cannot be combined, or not on the engines of this `--arch`."""
    names = [variant.name for variant in variants]
    for variant in variants:
        if missing := [engine for engine in BY_ARCH.get(arch, (arch,)) if engine not in variant.engines]:
            reason = f", {variant.only}" if variant.only else ""
            yield f"{variant.name} is not of the engine {missing[0]}{reason} (--arch {variant.engines[0]})"
        if variant.needs and not set(variant.needs) & set(names):
            yield f"{variant.name} goes with {' or '.join(variant.needs)}"
        for other, why in variant.against:
            if other in names:
                yield f"{variant.name} does not go with {other}: {why}"
    for group in dict.fromkeys(variant.group for variant in variants if variant.group):
        rivals = [variant.name for variant in variants if variant.group == group]
        if len(rivals) > 1:
            yield f"{rivals[0]} and {rivals[1]} exclude each other"


def table() -> Iterator[str]:
    """A line for each variant, for a user."""
    for variant in VARIANTS:
        engines = " ".join(f"{engine if engine in variant.engines else '':{len(engine)}}" for engine in ENGINES)
        yield f"{variant.name:20}{engines}  {variant.line}"
