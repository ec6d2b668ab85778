"""The global constraints: the signature of each (signature.py).

MiniZinc passes them without decomposition: share/minizinc/turbo has the solver's predicates without a body, and for
each a `fzn_NAME` that calls it, of the same name unless `faces` has others (minizinc.py prints both). Matrices are
passed row by row, and an index set as its first index, where it matters.
"""

from __future__ import annotations

from turbo_fzn.predicates import sizes
from turbo_fzn.predicates.signature import Face, Fits, Predicate, face, row

PREFIX = "turbo_"  # prefix of the solver's own predicates
ALL_DIFFERENT = PREFIX + "all_different"
COUNT = "x [I], y I, c I"
TASKS = "s [I] n, d [I] n"
BOXES = "x [I] n, y [I] n, dx [I] n, dy [I] n"
BOXES_OF_MANY_SIDES = "n i = card(index_set_2of2(box_posn)), box_posn [[I]], box_size [[I]]"
CARDINALITY = "x [I], cover [i] n, counts [I] n"
LIMITS = "x [I], cover [i] n, lbound [i] n, ubound [i] n"
N_ROWS = "n i = card(index_set_1of2(t))"
AUTOMATON = "x [I], Q i, S s, d [[i]], q0 i, F s"
COSTS = "c [[i]], C I"
ROOTED = "N i, E i, from [i] E, to [i] E, r I, ns [B] N, first_ns i = turbo_first(ns), es [B] E"
DIAGRAM = "x [I], N i, level [i], E i, from [i], label [s]"


def own(
    name: str,
    text: str,
    unordered: tuple[str, ...] = (),
    defined: str | None = None,
    fits: Fits | None = None,
    faces: tuple[str | Face, ...] = (),
) -> Predicate:
    """A row of the table. A face given as a name has the arguments of the row; the default is a face of the row's
    name."""
    named = tuple(face(one) if isinstance(one, str) else one for one in faces or (name,))
    return row(PREFIX + name, text, unordered, defined=defined, fits=fits, faces=named)


LETTERS = "S i -> 1..S"  # MiniZinc has their number
COST_FACES = (face("cost_regular", LETTERS),)
# In the file of `regular_set` both names are in use: MiniZinc 2.6.4 calls this one.
REGULAR_FACES = (face("regular", LETTERS), "regular_set", face("regular", file="regular_set"))
EXCEPT_FACES = ("alldifferent_except", face("alldifferent_except_0", "S s = {0}"))


def of_root(name: str) -> Predicate:
    """A graph with a root: MiniZinc has each name for nodes that are integers, and for those of an enumeration."""
    by_enum = face(name, "N i = length(ns), E i = length(es)", file=f"{name}_enum")
    return own(name, ROOTED, fits=sizes.is_rooted, faces=(face(name, file=f"{name}_int"), by_enum))


GLOBALS = (
    own("all_different", "x [I]", unordered=("x",), faces=("all_different_int",)),
    own("all_different_except", "vs [I], S s", unordered=("vs",), faces=EXCEPT_FACES),
    own("inverse", "f [I], first_f i = turbo_first(f), invf [I], first_invf i = turbo_first(invf)", defined="invf"),
    own("symmetric_all_different", "x [I], first_x i = turbo_first(x)"),
    own("circuit", "x [I], first_x i = turbo_first(x)"),
    own("subcircuit", "x [I], first_x i = turbo_first(x)"),
    own("connected", "from [i] E, to [i] E, ns [B], first_ns i = turbo_first(ns), es [B] E", fits=sizes.is_graph),
    *map(of_root, ("reachable", "dreachable", "tree", "dtree")),
    own("table_int", f"x [I], {N_ROWS}, t [[i]]", fits=sizes.is_table),
    own("table_bool", f"x [B], {N_ROWS}, t [[b]]", fits=sizes.is_table),
    own("regular", AUTOMATON, fits=sizes.is_automaton, faces=REGULAR_FACES),
    own("cost_regular", f"{AUTOMATON}, {COSTS}", defined="C", fits=sizes.is_automaton, faces=COST_FACES),
    own("mdd", f"{DIAGRAM}, to [i]", fits=sizes.is_diagram),
    own("cost_mdd", f"{DIAGRAM}, cost [i], to [i], totalcost I", defined="totalcost", fits=sizes.is_diagram),
    own("cumulative", "s [I] n, d [I] n, r [I] n, b I", unordered=("s d r",)),
    own("disjunctive", TASKS, unordered=("s d",)),
    own("disjunctive_strict", TASKS, unordered=("s d",)),
    own("diffn", BOXES, unordered=("x y dx dy",)),
    own("diffn_nonstrict", BOXES, unordered=("x y dx dy",)),
    own("diffn_k", BOXES_OF_MANY_SIDES, fits=sizes.is_boxes),
    own("diffn_nonstrict_k", BOXES_OF_MANY_SIDES, fits=sizes.is_boxes),
    own("lex_less_int", "x [I], y [I]"),
    own("lex_less_bool", "x [B], y [B]"),
    own("lex_lesseq_int", "x [I], y [I]"),
    own("lex_lesseq_bool", "x [B], y [B]"),
    own("value_precede", "s i, t i, x [I]", faces=("value_precede_int",)),
    own("value_precede_chain", "T [i], X [I]", faces=("value_precede_chain_int",)),
    own("seq_precede_chain", "X [I]", faces=("seq_precede_chain_int",)),
    own("sort", "x [I], y [I]", defined="y"),
    own("arg_sort", "x [I], first_x i = turbo_first(x), p [I]", defined="p", faces=("arg_sort_int",)),
    own("count_eq", COUNT, unordered=("x",), defined="c"),
    own("count_neq", COUNT, unordered=("x",)),
    own("count_lt", COUNT, unordered=("x",)),
    own("count_leq", COUNT, unordered=("x",)),
    own("count_gt", COUNT, unordered=("x",)),
    own("count_geq", COUNT, unordered=("x",)),
    own("among", "n I, x [I], v s", unordered=("x",), defined="n"),
    own("nvalue", "n I, x [I]", unordered=("x",), defined="n"),
    own("global_cardinality", CARDINALITY, unordered=("x", "cover counts"), defined="counts"),
    own("global_cardinality_closed", CARDINALITY, unordered=("x", "cover counts"), defined="counts"),
    own("global_cardinality_low_up", LIMITS, unordered=("x", "cover lbound ubound")),
    own("global_cardinality_low_up_closed", LIMITS, unordered=("x", "cover lbound ubound")),
    own("bin_packing", "c i, bin [I] n, w [i] n", unordered=("bin w",)),
    own("bin_packing_capa", "c [i], first_c i = turbo_first(c), bin [I] n, w [i] n"),
    own("bin_packing_load", "load [I], first_load i = turbo_first(load), bin [I] n, w [i] n", defined="load"),
    own("sliding_sum", "low i, up i, seq i, vs [I]", fits=sizes.is_window),
    own("member_int", "x [I], y I", unordered=("x",)),
    own("member_bool", "x [B], y B", unordered=("x",)),
    own("all_equal", "x [I]", unordered=("x",), faces=("all_equal_int",)),
    own("increasing_int", "x [I]"),
    own("increasing_bool", "x [B]"),
    own("strictly_increasing_int", "x [I]"),
)

# Predicates that the reader of XCSP3 writes, and MiniZinc does not.
XCSP3 = (
    row("int_expression", "e e, x [I]"),
    row("turbo_element", "x [I], first i, i I, z I", defined="z"),
    row("turbo_table_interval", "x [I], n i, low [[i]], high [[i]]", fits=sizes.is_interval_table),
)
