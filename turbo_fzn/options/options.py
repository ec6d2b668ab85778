"""The table of options: the parser (parsing.py), the help (help.py), the solver configuration's extraFlags and the
tests are made from it.

MiniZinc's own flags (command line of the MiniZinc handbook) come first. To add an option, add a row to OPTIONS and a
field of the same name to `Options`.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import NamedTuple

from turbo_fzn.read.files import PACKED
from turbo_fzn.read.languages import known


@dataclass(eq=False, repr=False)
class Options:
    """The options of one call of the command. Times are in milliseconds from the start of the process."""

    file: str = ""
    all_solutions: bool = False
    n_solutions: int | None = None
    intermediate: bool = False
    free_search: bool = False
    all_optimal: bool = False
    n_optimal: int | None = None
    threads: int | None = None
    seed: int | None = None
    statistics: bool = False
    turbo_statistics: bool = False
    time_limit: int | None = None
    memory_limit: int | None = None
    verbose: bool = False
    arch: str = "auto"
    gpus: str = "all"
    blocks: int | None = None
    lns: str = "auto"
    without: str | None = None
    learn: str = "auto"
    memory: int | None = None
    relaxation: str = "auto"
    symmetry: str = "auto"
    check: str = "auto"
    float_precision: float = 1e-6
    simplify: bool = True
    dump_tnf: str | None = None
    proof: str | None = None
    proof_limit: int | None = None
    gpu_threads: int | None = None
    gpu_memory: int | None = None
    profile: bool = False
    variant: str | None = None
    subproblems: int | None = None
    cp_profiler: tuple[int, int] | None = None
    report: str | None = None
    explain: bool = False
    project: str | None = None
    count: bool = False
    lexicographic: str | None = None
    front: str | None = None
    json_stream: bool = False
    log_file: str | None = None

    def solution_limit(self) -> int:
        """The number of solutions of a satisfaction model to stop after; 0 for all."""
        if self.n_solutions is not None:
            return self.n_solutions
        return 0 if self.all_solutions or self.count else 1

    def optimal_limit(self) -> int:
        """The number of optimal solutions to print; 0 for all."""
        if self.all_optimal:
            return 0
        return 1 if self.n_optimal is None else self.n_optimal

    def memory_bytes(self) -> int | None:
        """The limit of memory in bytes, or None."""
        return None if self.memory_limit is None else self.memory_limit << 20

    def may_use_gpu(self) -> bool:
        """Whether the options allow a search on a GPU."""
        return self.arch in ("auto", *NEED_GPU)


NEED_GPU = ("gpu", "hybrid")  # values of --arch that are errors without a GPU
FIX = "--fix"  # goes with the action --doctor
CHECK_PROOF = "--check-proof"  # the action with two files
JSON_STREAM = "--json-stream"  # applies to errors, too, even in the command line


class Row(NamedTuple):
    """An option: flags, field of Options, kind, help, MiniZinc's type if it is an extraFlag, and further sentences for
    the manual and the reference (`more`), with code between backticks."""

    flags: tuple[str, ...]
    field: str
    kind: str  # switch, int, number, pair, choice:a:b, text, or const:VALUE (sets the field to VALUE)
    help: str
    extra_type: str = ""
    more: str = ""


OPTIONS = (
    Row(("-a", "--all-solutions"), "all_solutions", "switch",
        "satisfaction: all solutions; optimisation: improving ones"),
    Row(("-n", "--num-solutions"), "n_solutions", "int",
        "satisfaction: stop after this many solutions (0: all; default: 1)"),
    Row(("-i", "--intermediate"), "intermediate", "switch", "print improving solutions as they are found"),
    Row(("-a-o", "--all-optimal"), "all_optimal", "switch", "optimisation: all optimal solutions"),
    Row(("--optimal-solutions", "-n-o", "--num-optimal"), "n_optimal", "int",
        "optimisation: at most this many optimal solutions (0: all; default: 1)", "int:0:1000000000",
        more="MiniZinc does not pass the two short names on: through it, use the long one."),
    Row(("--project",), "project", "text:NAMES",
        "print only these variables and arrays, comma-separated, as in x,y (default: the model's output)",
        more="With `-a` each combination of their values is printed once. The names are those of the FlatZinc."),
    Row(("--count",), "count", "switch",
        "satisfaction: look for all solutions, and print only how many there are, as the statistic solutions",
        more="With `--project` combinations are counted."),
    Row(("--lexicographic",), "lexicographic", "text:GOALS",
        "best in one goal after the other, as in 'minimize x, maximize y' (default: the model's objective)"),
    Row(("--front",), "front", "text:GOALS",
        "all solutions that no other one dominates in these goals (default: no Pareto front)"),
    Row(("--explain",), "explain", "switch",
        "where there is no solution, say why: constraints that have none together", "bool",
        more="A minimal set: without any one of them there is a solution. They have the names that the model gives "
             "them. docs/guide/explain.md says more."),
    Row(("-f", "--free-search"), "free_search", "switch",
        "free search: neighbourhoods and restarts beside the annotated search",
        more="The default of models without a search annotation. On a CPU there are threads that learn from "
             "conflicts, too."),
    Row(("-p", "--parallel"), "threads", "int",
        "threads of the CPU engine (default: 1; free search: 2, beside a GPU up to 16)"),
    Row(("-r", "--random-seed"), "seed", "int",
        "seed of the random choices; equal runs of one thread print the same (default: 0)",
        more="With `-r` and without `-p` and `-f` there is one thread on a CPU."),
    Row(("-s", "--statistics"), "statistics", "switch", "print statistics"),
    Row(("--turbo-statistics",), "turbo_statistics", "switch",
        "with -s: statistics by the names that C++ Turbo gives them", "bool",
        more="docs/guide/from-turbo.md has the names, and the flags of that solver which are understood."),
    Row((JSON_STREAM,), "json_stream", "switch",
        "print solutions, bounds, statistics, status, warnings and errors as JSON, one object a line",
        more="Of MiniZinc's types; docs/guide/json.md describes them. Under MiniZinc, give the flag to `minizinc`."),
    Row(("-t", "--time-limit"), "time_limit", "int",
        "time limit in milliseconds, from the start of the process (0, the default: none)",
        more="The best solution is printed before the limit. A model that is not ready for the search by then gets "
             "0.2 s more; with a limit below 0 it is not read."),
    Row(("--memory-limit",), "memory_limit", "int",
        "memory that the process may take, in MiB (default: no limit)", "int:1:1000000000",
        more="What is resident counts, also of compilers that it starts; not that of GPUs. When 15/16 are taken, the "
             "run ends as at the time limit, with the best solution or as unknown. The default of `--memory` is a "
             "quarter of it then."),
    Row(("-v", "-l", "--verbose"), "verbose", "switch", "say on stderr what is being done",
        more="A line for each stage, with its time and sizes, how the model is searched and why, each solution, "
             "and now and then how the search goes."),
    Row(("--log-file",), "log_file", "text",
        "append what -v says, warnings and errors to this file (default: none)", "string",
        more="Each line begins with the time (UTC) and the level: `INFO`, `WARNING` or `ERROR`."),
    Row(("--arch",), "arch", "choice:auto:gpu:cpu:hybrid",
        "engine: the GPU, CPU threads, or the CPU until the GPU is ready; hybrid is there to be compared",
        "opt:auto:gpu:cpu:hybrid",
        more="With `auto` the search starts on the CPU; the GPU, if there is one, joins it as soon as it is ready. "
             "With `hybrid` CPU threads, one a core, search the tree alone, without learners and neighbourhoods, and "
             "each has a block of the first GPU that propagates for it."),
    Row(("--gpus",), "gpus", "text:WHICH",
        "the GPUs to use: all, so many of them, or a list of their numbers, as in 0,2", "string",
        more="The numbers are the driver's, from 0 on; `1,` is GPU 1 alone. They search one tree together."),
    Row(("--blocks",), "blocks", "int",
        "how many subproblems are searched at once (default: on a CPU -p, else as many as each GPU holds)",
        "int:1:1000000"),
    Row(("--lns",), "lns", "choice:auto:on:off", "large neighbourhood search in some of the blocks", "opt:auto:on:off",
        more="For optimisation; `auto`: on a GPU, and with `-f`."),
    Row(("--learn",), "learn", "text:ROLES",
        "blocks that learn from conflicts: auto, off, or their roles, as in prover,finder", "string",
        more="The roles are `prover`, `finder`, `follower`, `soloist` and `cores`; only threads of a CPU learn. "
             "`auto`: in free search, and to optimise along an annotation. A role may be followed by sets of variables "
             "that it decides first, with equal work each, as in `finder:all+labelled`. The sets are `all`, `truths`, "
             "`unlinked` and `labelled`."),
    Row(("--memory",), "memory", "int",
        "memory of all blocks that learn, together and at most, in MiB (default: a quarter of the machine's)",
        "int:1:1000000"),
    Row(("--without",), "without", "text:LIST",
        "methods that free search leaves out, comma-separated, as in window,probe (default: none)", "string",
        more="The methods are `tree`, `random`, `window`, `graph`, `objective`, `repair`, `weighted`, "
             "`annotated`, `probe`, and the roles of `--learn`."),
    Row(("--relaxation",), "relaxation", "choice:auto:on:off",
        "linear relaxation beside the search, which proves bounds of the objective", "opt:auto:on:off",
        more="It often finds the best solution, too. `auto`: where the search has more than one block, and in free "
             "search; with one thread and a seed, beside a learner."),
    Row(("--symmetry",), "symmetry", "choice:auto:on:off",
        "of solutions that are symmetric to each other, look for one only", "opt:auto:on:off",
        more="Never where several solutions are wanted. `auto`: with `-f`, where the model has no warm start."),
    Row(("--float-precision",), "float_precision", "number:P",
        "how far float variables may be off, beyond 1 in relation to their size", "float:0:1",
        more="At least 1e-12. docs/guide/floats.md says what an answer means."),
    Row(("--check",), "check", "const:always", "check every solution against the FlatZinc, however large", "bool",
        more="Without it, solutions of models up to 2,000,000 literals are checked. With `-a` on an easy model the "
             "checks can take most of the time."),
    Row(("--no-check",), "check", "const:never", "print solutions unchecked", "bool"),
    Row(("--no-simplify",), "simplify", "const:", "do not simplify the model", "bool"),
    Row(("--gpu-threads",), "gpu_threads", "int",
        "threads of a GPU block, a multiple of 32 from 32 to 512 (default: by the size of the store)", "int:32:512"),
    Row(("--gpu-memory",), "gpu_memory", "int",
        "GPU memory to use, at most, in MiB (default: all)", "int:1:1000000"),
    Row(("--variant",), "variant", "text:NAMES",
        "variants of the engine, comma-separated, as in sweep,recompute (default: the usual build)", "string",
        more="`--list-variants` shows them, docs/measurements/journal.md compares them. Kernels of a variant are "
             "compiled when they are wanted first. Nobody learns from conflicts, unless `--learn` names who."),
    Row(("--subproblems",), "subproblems", "int",
        "of `--variant static-split`: into how many parts the tree is split, a power of two (default: 32 a block)"),
    Row(("--profile",), "profile", "switch",
        "count where the time goes: statistics profileFixpoint, profileChoice, ...", "bool"),
    Row(("--cp-profiler",), "cp_profiler", "pair",
        "send the search tree to the profiler that listens: execution ID and port (default: nowhere)",
        more="It is the profiler of the MiniZinc IDE. The search uses one CPU block."),
    Row(("--report",), "report", "text",
        "write the run as a page with pictures (HTML) to this file (default: none)", "string",
        more="Objective and bound over time, who improved, nodes a second, shares of the methods, sizes of the "
             "model, date, commands, settings, machine, the time of every solution. It is "
             "written after the answer."),
    Row(("--proof",), "proof", "text",
        "write a proof to this file (default: none)", "string",
        more="docs/design/proofs.md."),
    Row(("--proof-limit",), "proof_limit", "int",
        "MiB of log for the proof (default: no limit)",
        "int:1:1000000"),
    Row(("--dump-tnf",), "dump_tnf", "text",
        "write the model in ternary normal form to this file, and stop (default: solve it)"),
)  # fmt: skip

# The headings of `--help`, each with the first flag of the row that follows it.
GROUPS = (
    ("-a", "answers"),
    ("-f", "search"),
    ("-s", "output and time"),
    ("--arch", "engines and methods"),
    ("--check", "checks and simplifier"),
    ("--gpu-threads", "GPU"),
    ("--variant", "laboratory"),
    ("--profile", "a look inside"),
)

SOLVED = f"{known()} or a model in ternary normal form (.tnf), perhaps packed ({', '.join(PACKED)})"  # for --help
ACTIONS = (
    ("--install-solver", "write the solver configuration to ~/.minizinc/solvers, or to FOLDER"),
    ("--uninstall-solver", "remove it from there"),
    ("--info", "show version, engines, GPUs and the kernel cache"),
    ("--doctor", "look for what is missing or broken here, and say which command mends it (--arch gpu asks for a GPU)"),
    (FIX, "with --doctor: write a stale solver configuration anew"),
    ("--build-kernels", "compile the kernels into the cache"),
    (CHECK_PROOF, "check a proof that --proof has written"),
    ("--list-variants", "show the names that --variant takes, with the engines that have each"),
)

TAKE_FOLDER = tuple(flag for flag, _ in ACTIONS if flag.endswith("solver"))

EXIT = (
    "0 for every answer, also unsatisfiable and unknown, and where a signal, a limit of time or memory or a reader who "
    "leaves has ended the run; 1 for an error, which is one line on stderr. With --doctor, 0 when the CPU engine "
    "solves models and everything that you asked for works: what CXX, NVCC or TURBO_FZN_CACHE names, the GPU if PyCUDA "
    "is installed or --arch gpu is given, MiniZinc if --install-solver has been typed."
)


def minizinc_extra_flags() -> list[list[str]]:
    """The extraFlags of the solver configuration: [flag, help, type, default] for each option of our own."""
    defaults = {field.name: field.default for field in fields(Options)}
    flags = []
    for row in OPTIONS:
        if row.extra_type:
            default = "false" if row.extra_type == "bool" else str(defaults[row.field] or "")
            flags.append([row.flags[0], row.help, row.extra_type, default])
    return flags


def grouped() -> list[tuple[str, list[Row]]]:
    """The options under their headings."""
    headings = dict(GROUPS)
    groups: list[tuple[str, list[Row]]] = []
    for row in OPTIONS:
        if row.flags[0] in headings:
            groups.append((headings[row.flags[0]], []))
        groups[-1][1].append(row)
    return groups


def help_of(row: Row) -> str:
    """The help of an option, with its default if that is a text or a number that the help does not mention."""
    default = next(field.default for field in fields(Options) if field.name == row.field)
    told = "default" in row.help or not isinstance(default, (str, float)) or row.kind.startswith("const")
    return row.help if told else f"{row.help} (default: {default})"


def metavar_of(row: Row) -> str:
    """The placeholder for an option's value in the help; empty for an option without a value."""
    kind, *values = row.kind.split(":")
    names = {"switch": "", "const": "", "choice": "|".join(values), "pair": "ID,PORT", "int": "N"}
    return names[kind] if kind in names else values[0] if values else "FILE"
