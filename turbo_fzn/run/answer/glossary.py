"""The meaning of each statistic: the table that docs/guide/reference.md is printed from.

A name in angle brackets stands for several, such as <method> for each of abi.METHODS. Times are in seconds.
"""

from __future__ import annotations

from typing import NamedTuple

from turbo_fzn.engine.abi.abi import ACTIVITIES, METHODS

EVERYWHERE, SEARCHED, FOUND, OPTIMISED = "always", "after a search", "with a solution", "of optimisation models"
SHARED, RANKED = "with several GPUs or ranks", "with several ranks"
LEARNED, PROFILED, GPU = "where clauses were learned", "with `--profile`", "on a GPU"
RELAXED = "with a relaxation"
HYBRID = "with `--arch hybrid`"


class Entry(NamedTuple):
    """A statistic: its name, when it is printed, and its meaning."""

    name: str
    when: str
    text: str


GLOSSARY = (
    Entry("nodes", EVERYWHERE, "decisions, of all blocks"),
    Entry("failures", EVERYWHERE, "nodes without a solution; of learners, conflicts"),
    Entry("restarts", EVERYWHERE, "restarts; neighbourhoods count, too"),
    Entry("peakDepth", EVERYWHERE, "open choice points on the deepest stack"),
    Entry("propagations", EVERYWHERE, "propagations of ternary rows"),
    Entry("nogoods", EVERYWHERE, "learned clauses"),
    Entry("backjumps", EVERYWHERE, "conflicts after which more than one level was left"),
    Entry("variables", EVERYWHERE, "variables of the simplified ternary model"),
    Entry("boolVariables", EVERYWHERE, "those of `variables` with values 0 and 1 only"),
    Entry("intVariables", EVERYWHERE, "the other integer ones of `variables`"),
    Entry("floatVariables", "of models with floats", "the real ones of `variables`"),
    Entry("propagators", EVERYWHERE, "rows of the simplified ternary model"),
    Entry("flatzincVariables", EVERYWHERE, "variables of the model that was read"),
    Entry("flatzincConstraints", EVERYWHERE, "constraints of the model that was read"),
    Entry("loweredVariables", EVERYWHERE, "ternary variables before the simplifier"),
    Entry("loweredPropagators", EVERYWHERE, "ternary rows before the simplifier"),
    Entry("solutions", EVERYWHERE, "solutions that were found"),
    Entry("objective", OPTIMISED, "objective of the best solution"),
    Entry("bestTime", OPTIMISED, "time from the start of the search to the best solution"),
    Entry("objectiveBound", OPTIMISED, "proved bound, beyond which no solution lies"),
    Entry("peakMem", EVERYWHERE, "greatest memory, in MiB"),
    Entry("initTime", EVERYWHERE, "time before the search"),
    Entry("solveTime", EVERYWHERE, "time of the search"),
    Entry("parseTime", EVERYWHERE, "part of `initTime`: reading"),
    Entry("lowerTime", EVERYWHERE, "part of `initTime`: from FlatZinc to ternary rows"),
    Entry("simplifyTime", EVERYWHERE, "part of `initTime`: the simplifier"),
    Entry("rootTime", SEARCHED, "part of `initTime`: propagation before the first decision"),
    Entry("engineTime", SEARCHED, "part of `initTime`: starting the engine"),
    Entry("compileTime", SEARCHED, "part of `engineTime`: compiling kernels that are not in the cache"),
    Entry("firstNodeTime", SEARCHED, "from the start of the process to the start of the search"),
    Entry("engine", SEARCHED, "`cpu`, `gpu`, `hybrid`, `cpu+gpu` where the GPU joined, `gpu0+gpu1`; counts are of all"),
    Entry("blocks", SEARCHED, "subproblems that are searched at once"),
    Entry("iterations", SEARCHED, "rounds of propagation"),
    Entry("donations", SEARCHED, "subproblems given to other blocks"),
    Entry("subproblems", SEARCHED, "parts of the tree: the whole and what was given away, or what it was split into"),
    Entry("subproblemsTaken", SEARCHED, "those that a block took over: the whole, and what others gave"),
    Entry("subproblemsSolved", SEARCHED, "those searched to their end"),
    Entry("subproblemsSkipped", SEARCHED, "of a tree split ahead: those of which the first decisions fail already"),
    Entry("parcels", SHARED, "subproblems that engines of this rank have given to the others, through the host"),
    Entry("ranks", RANKED, "ranks of MPI; counts are of all of them"),
    Entry("stolen", RANKED, "subproblems that rank 0 got from other ranks"),
    Entry("replays", SEARCHED, "stores rebuilt because the trail was forgotten"),
    Entry("moves", SEARCHED, "changes that walks have tried"),
    Entry("fixpointErrors", SEARCHED, "0, except in a faulty debug build"),
    Entry("busyTime", SEARCHED, "time in which blocks searched, summed"),
    Entry("idleTime", SEARCHED, "time in which blocks waited for work, summed"),
    Entry("foundBy", FOUND, "engine and method of the solutions printed: `gpu window 12, cpu finder 3`"),
    Entry("provedBy", SEARCHED, "engine and method that searched the whole space or proved the bound"),
    Entry("<method>Share", SEARCHED, "share of the blocks' time that the method had"),
    Entry("<method>Tries", SEARCHED, "how often the method was used"),
    Entry("<method>Improvements", SEARCHED, "solutions of the method that were better than all before"),
    Entry("nogoodLength", LEARNED, "mean literals of a learned clause"),
    Entry("nogoodLevels", LEARNED, "mean levels of these literals"),
    Entry("nogoodMinimised", LEARNED, "mean literals that minimisation removed"),
    Entry("cores", LEARNED, "sets of objective terms that cannot all be small"),
    Entry("nogoodsShortened", LEARNED, "learned clauses made shorter"),
    Entry("nogoodsTold", LEARNED, "clauses that learners sent"),
    Entry("nogoodsHeard", LEARNED, "clauses that learners received"),
    Entry("reductions", LEARNED, "how often less useful clauses were forgotten"),
    Entry("explanations", LEARNED, "rows that explained why they tightened a bound"),
    Entry("explanationLength", LEARNED, "mean premises of an explanation"),
    Entry("explanationErrors", LEARNED, "0, except in a faulty debug build"),
    Entry("infeasiblePrograms", RELAXED, "linear programs without a point"),
    Entry("infeasibleProgramsRefused", RELAXED, "those not proved so"),
    Entry("memoryRows", SEARCHED, "bytes of the rows of the model"),
    Entry("memoryWatches", SEARCHED, "bytes of the watch lists of the model"),
    Entry("memoryStore", SEARCHED, "bytes of the domains of one block, with flags"),
    Entry("memoryLists", SEARCHED, "bytes of the propagation lists of one block"),
    Entry("memoryStack", SEARCHED, "bytes of the trail, levels and path of one block"),
    Entry("depth", PROFILED, "mean number of decisions on the path from the root to a node"),
    Entry("iterationsByDepth", PROFILED, "rounds of propagation per node, by depth: `0: 9.0, 1: 4.5, 2: 3.1, 4: 2.8`"),
    Entry("profile<Activity>", PROFILED, "share of the blocks' time for this activity"),
    Entry("threadsPerBlock", GPU, "threads of a block"),
    Entry("store", GPU, "where the blocks keep domains: `shared` or `global` memory"),
    Entry("model", GPU, "where the blocks read the rows: `shared` or `global` memory"),
    Entry("transferTime", GPU, "time to fill the device's memory, part of `engineTime`"),
    Entry("workspaceMebibytes", GPU, "memory of all blocks on the GPU"),
    Entry("contextTime", GPU, "time to make the CUDA context"),
    Entry("joinTime", GPU, "from the start of the search to where the GPU joined it, with `--arch auto`"),
    Entry("roundTrips", HYBRID, "fixpoints that threads asked the GPU for"),
    Entry("roundTripSeconds", HYBRID, "time that threads waited for these, summed"),
    Entry("propagationSeconds", HYBRID, "part of `roundTripSeconds`: blocks of the GPU propagated"),
    Entry("messagesToGpu", HYBRID, "messages to blocks; more than `roundTrips` where a list of changes went in parts"),
    Entry("bytesToGpu", HYBRID, "bytes of these messages"),
    Entry("bytesFromGpu", HYBRID, "bytes of the answers"),
    Entry("nodesBy", GPU, "nodes of each engine in the first search, where the GPU joined: `cpu 120, gpu 4500`"),
)  # fmt: skip


def names_of(entry: Entry) -> list[str]:
    """The names of all statistics that the entry stands for."""
    if "<method>" in entry.name:
        return [entry.name.replace("<method>", method) for method in METHODS]
    if "<Activity>" in entry.name:
        return [entry.name.replace("<Activity>", activity.capitalize()) for activity in ACTIVITIES]
    return [entry.name]
