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
    restart: str = "auto"
    restart_base: float = 1.5
    restart_scale: int = 250
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
        more="MiniZinc does not pass the short names to solvers; use the long name there."),
    Row(("--project",), "project", "text:NAMES",
        "print only these variables and arrays, comma-separated, as in x,y (default: the model's output)",
        more="With `-a` each combination of their values is printed once. The names are those of the FlatZinc."),
    Row(("--count",), "count", "switch",
        "satisfaction: find all solutions, but print only their number, as the statistic solutions",
        more="With `--project`, combinations of the values of these variables are counted."),
    Row(("--lexicographic",), "lexicographic", "text:GOALS",
        "optimise goals in this order of priority, as in 'minimize x, maximize y' (default: the model's objective)"),
    Row(("--front",), "front", "text:GOALS",
        "find the Pareto front of these goals: all solutions that no other solution dominates (default: off)"),
    Row(("--explain",), "explain", "switch",
        "for a model without a solution, show a minimal set of constraints that conflict", "bool",
        more="If any constraint of the set is removed, the others have a solution. Constraints are named as in the "
             "model (docs/guide/explain.md)."),
    Row(("-f", "--free-search"), "free_search", "switch",
        "free search: large neighbourhood search and restarts beside the annotated search",
        more="The default for models without a search annotation. On a CPU some threads also learn from conflicts."),
    Row(("-p", "--parallel"), "threads", "int",
        "threads of the CPU engine (default: 1; free search: 2, beside a GPU up to 16)"),
    Row(("-r", "--random-seed"), "seed", "int",
        "random seed; with it, runs of one CPU thread without a GPU print the same (default: 0)",
        more="With `-r` and without `-p` and `-f`, the CPU engine uses one thread."),
    Row(("-s", "--statistics"), "statistics", "switch", "print statistics"),
    Row(("--turbo-statistics",), "turbo_statistics", "switch",
        "with -s: use the statistics names of C++ Turbo", "bool",
        more="docs/guide/from-turbo.md lists the names, and the flags of C++ Turbo that are accepted."),
    Row((JSON_STREAM,), "json_stream", "switch",
        "print solutions, bounds, statistics, status, warnings and errors as JSON, one object a line",
        more="The message types are MiniZinc's (docs/guide/json.md). Under MiniZinc, pass the flag to `minizinc`."),
    Row(("-t", "--time-limit"), "time_limit", "int",
        "time limit in milliseconds, from the start of the process (0, the default: none)",
        more="The best solution is printed before the limit. If preparation is not finished by then, the search still "
             "gets 0.2 s. With a negative limit, the model is not read."),
    Row(("--memory-limit",), "memory_limit", "int",
        "memory limit of the process, in MiB (default: none)", "int:1:1000000000",
        more="Resident memory counts, including that of compilers that the process starts, but not GPU memory. At "
             "15/16 of the limit the run ends as at the time limit, with the best solution or UNKNOWN. `--memory` then "
             "defaults to a quarter of the limit."),
    Row(("-v", "-l", "--verbose"), "verbose", "switch", "report progress on stderr",
        more="A line for each stage with its time and sizes, the search methods and the reasons for them, each "
             "solution, and the state of the search at growing intervals."),
    Row(("--log-file",), "log_file", "text",
        "append the output of -v, warnings and errors to this file (default: none)", "string",
        more="Each line begins with the time (UTC) and the level: `INFO`, `WARNING` or `ERROR`."),
    Row(("--arch",), "arch", "choice:auto:gpu:cpu:hybrid",
        "engine: the GPU, CPU threads, or the CPU until the GPU is ready (auto); hybrid serves for comparisons",
        "opt:auto:gpu:cpu:hybrid",
        more="With `auto` the search starts on the CPU, and the GPU, if the machine has one, joins when it is ready. "
             "With `hybrid` one CPU thread a core searches the tree, without learners and neighbourhoods, and a block "
             "of the first GPU propagates for each thread."),
    Row(("--gpus",), "gpus", "text:WHICH",
        "GPUs to use: all, a count, or a list of device numbers, as in 0,2", "string",
        more="The driver numbers GPUs from 0; `1,` is GPU 1 alone. All GPUs search one tree together."),
    Row(("--blocks",), "blocks", "int",
        "number of blocks that search at once (default: -p on a CPU, on a GPU as many as it holds)",
        "int:1:1000000"),
    Row(("--lns",), "lns", "choice:auto:on:off", "large neighbourhood search in some of the blocks", "opt:auto:on:off",
        more="For optimisation; `auto`: on a GPU, and with `-f`."),
    Row(("--learn",), "learn", "text:ROLES",
        "threads that learn from conflicts: auto, off, or a list of their roles, as in prover,finder", "string",
        more="The roles are `prover`, `finder`, `follower`, `soloist` and `cores`; "
             "only CPU threads learn (docs/design/learning.md). With `auto` "
             "threads learn in free search, and when a model with an annotation is optimised. A role may name sets of "
             "variables to branch on first, in equal shares of its time, as in `finder:all+labelled`; the sets are "
             "`all`, `truths`, `unlinked` and `labelled`."),
    Row(("--memory",), "memory", "int",
        "memory limit of all learning threads together, in MiB (default: a quarter of the machine's)",
        "int:1:1000000"),
    Row(("--without",), "without", "text:LIST",
        "methods that free search does not use, comma-separated, as in window,probe (default: none)", "string",
        more="The methods are `tree`, `random`, `window`, `graph`, `objective`, `stated`, `repair`, "
             "`weighted`, `annotated`, `probe`, and the roles of `--learn` (docs/design/search.md)."),
    Row(("--restart",), "restart", "choice:auto:none:constant:linear:luby:geometric",
        "sequence of restarts (default: the model's beside relax_and_reconstruct, else our own)",
        "opt:auto:none:constant:linear:luby:geometric"),
    Row(("--restart-base",), "restart_base", "number:B",
        "with --restart geometric: factor between restarts (default: 1.5)", "float:1:1000"),
    Row(("--restart-scale",), "restart_scale", "int",
        "with --restart: failures before the first restart (default: 250)", "int:1:1000000000"),
    Row(("--relaxation",), "relaxation", "choice:auto:on:off",
        "linear relaxation beside the search, which proves bounds on the objective", "opt:auto:on:off",
        more="It often finds the best solution, too. `auto` uses it in free search and with several blocks; with one "
             "thread and a seed only beside a learner."),
    Row(("--symmetry",), "symmetry", "choice:auto:on:off",
        "find only one solution of each symmetry class", "opt:auto:on:off",
        more="Off when several solutions are requested. `auto` uses it with `-f`, unless the model has a warm start."),
    Row(("--float-precision",), "float_precision", "number:P",
        "tolerance of float variables, absolute up to 1, relative beyond", "float:0:1",
        more="At least 1e-12 (docs/guide/floats.md)."),
    Row(("--check",), "check", "const:always", "check every solution against the FlatZinc (large models too)", "bool",
        more="By default, solutions of models with up to 2,000,000 literals are checked. With `-a` on an easy "
             "model checks can take most of the time."),
    Row(("--no-check",), "check", "const:never", "do not check solutions", "bool"),
    Row(("--no-simplify",), "simplify", "const:", "do not simplify the model", "bool"),
    Row(("--gpu-threads",), "gpu_threads", "int",
        "threads of a GPU block, a multiple of 32 from 32 to 512 (default: by the size of the store)", "int:32:512"),
    Row(("--gpu-memory",), "gpu_memory", "int",
        "GPU memory limit in MiB (default: all)", "int:1:1000000"),
    Row(("--variant",), "variant", "text:NAMES",
        "variants of the engine, comma-separated, as in sweep,recompute (default: the usual build)", "string",
        more="`--list-variants` lists them, docs/measurements/journal.md compares them. Kernels of a variant are "
             "compiled at first use. Threads learn from conflicts only if `--learn` names roles."),
    Row(("--subproblems",), "subproblems", "int",
        "with --variant static-split: number of subtrees, a power of two (default: 32 a block)"),
    Row(("--profile",), "profile", "switch",
        "measure the time of each part of the search: statistics profileFixpoint, profileChoice, ...", "bool"),
    Row(("--cp-profiler",), "cp_profiler", "pair",
        "send the search tree to a listening CP profiler: execution ID and port (default: none)",
        more="MiniZinc's IDE contains this profiler. The search uses one CPU block."),
    Row(("--report",), "report", "text",
        "write a report of the run, an HTML page with charts, to this file (default: none)", "string",
        more="Objective and bound over time, the method behind each improvement, nodes per second, shares of the "
             "methods, sizes of the model, date, command, settings, machine, and the time of every solution. It is "
             "written after the answer."),
    Row(("--proof",), "proof", "text",
        "write a proof that a checker can verify to this file (default: none)", "string",
        more="Learners log, others find solutions: docs/design/proofs.md."),
    Row(("--proof-limit",), "proof_limit", "int",
        "size limit of the proof log, in MiB (default: none)",
        "int:1:1000000"),
    Row(("--dump-tnf",), "dump_tnf", "text",
        "write the model in ternary normal form to this file and exit (default: solve)"),
)  # fmt: skip

# The headings of `--help`, each with the first flag of the row that follows it.
GROUPS = (
    ("-a", "answers"),
    ("-f", "search"),
    ("-s", "output and time"),
    ("--arch", "engines and methods"),
    ("--check", "checks and simplifier"),
    ("--gpu-threads", "GPU"),
    ("--variant", "experiments"),
    ("--profile", "diagnosis"),
)

SOLVED = f"{known()} or a model in ternary normal form (.tnf), perhaps packed ({', '.join(PACKED)})"  # for --help
ACTIONS = (
    ("--install-solver", "write the solver configuration to ~/.minizinc/solvers, or to FOLDER"),
    ("--uninstall-solver", "remove it"),
    ("--info", "show version, engines, GPUs and the kernel cache"),
    ("--doctor", "check this installation and show the command that mends each fault (with --arch gpu, the GPU too)"),
    (FIX, "with --doctor: write a stale solver configuration anew"),
    ("--build-kernels", "compile the kernels into the cache"),
    (CHECK_PROOF, "check a proof written by --proof"),
    ("--list-variants", "list the names that --variant accepts, and the engines that have each variant"),
)

TAKE_FOLDER = tuple(flag for flag, _ in ACTIONS if flag.endswith("solver"))

EXIT = (
    "0 for every answer, including unsatisfiable and unknown, and for a run that a signal, a limit of time or memory "
    "or a closed output has ended; 1 for an error, which is one line on stderr. With --doctor, 0 if the CPU engine "
    "solves models and all that was set up works: what CXX, NVCC or TURBO_FZN_CACHE names, the GPU if PyCUDA is "
    "installed or --arch gpu is given, MiniZinc if --install-solver was run before."
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
