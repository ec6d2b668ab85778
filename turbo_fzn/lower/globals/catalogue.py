"""The table of global constraints: name, kinds of the arguments (see lower/table.py), lowering.

These are the predicates without a body of share/minizinc/turbo, so that MiniZinc passes each as one constraint.
Matrices come row by row in one array; index sets that do not begin at 1 come as their first index. What each means is
the table of check/meanings.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

from turbo_fzn.domains import IntSet
from turbo_fzn.lower.globals import automata, counting, different, graph, order, packing, scheduling, sort, table

CARDINALITY, LIMITS = "[I] [i] [I]", "[I] [i] [i] [i]"

GLOBALS: dict[str, tuple[str, Callable[..., None]]] = {
    "turbo_all_different": ("[I]", different.all_different),
    "turbo_all_different_except": ("[I] s", different.all_different_except),
    "turbo_inverse": ("[I] i [I] i", different.inverse),
    "turbo_symmetric_all_different": ("[I] i", different.symmetric_all_different),
    "turbo_circuit": ("[I] i", graph.circuit),
    "turbo_subcircuit": ("[I] i", graph.subcircuit),
    "turbo_table_int": ("[I] i [i]", table.table),
    "turbo_table_bool": ("[B] i [b]", table.table),
    "turbo_regular": ("[I] i s [i] i s", automata.regular),
    "turbo_cost_regular": ("[I] i s [i] i s [i] I", automata.cost_regular),
    "turbo_mdd": ("[I] i [i] i [i] [s] [i]", automata.mdd),
    "turbo_cost_mdd": ("[I] i [i] i [i] [s] [i] [i] I", automata.cost_mdd),
    "turbo_cumulative": ("[I] [I] [I] I", scheduling.cumulative),
    "turbo_disjunctive": ("[I] [I]", packing.disjunctive),
    "turbo_disjunctive_strict": ("[I] [I]", packing.disjunctive_strict),
    "turbo_diffn": ("[I] [I] [I] [I]", packing.diffn),
    "turbo_diffn_nonstrict": ("[I] [I] [I] [I]", packing.diffn_nonstrict),
    "turbo_diffn_k": ("i [I] [I]", packing.diffn_k),
    "turbo_diffn_nonstrict_k": ("i [I] [I]", packing.diffn_nonstrict_k),
    "turbo_lex_less_int": ("[I] [I]", order.lex_less),
    "turbo_lex_less_bool": ("[B] [B]", order.lex_less),
    "turbo_lex_lesseq_int": ("[I] [I]", order.lex_lesseq),
    "turbo_lex_lesseq_bool": ("[B] [B]", order.lex_lesseq),
    "turbo_value_precede": ("i i [I]", order.value_precede),
    "turbo_value_precede_chain": ("[i] [I]", order.value_precede_chain),
    "turbo_seq_precede_chain": ("[I]", order.seq_precede_chain),
    "turbo_sort": ("[I] [I]", sort.sort),
    "turbo_arg_sort": ("[I] i [I]", sort.arg_sort),
    "turbo_count_eq": ("[I] I I", counting.count_eq),
    "turbo_count_neq": ("[I] I I", counting.count_neq),
    "turbo_count_lt": ("[I] I I", counting.count_lt),
    "turbo_count_leq": ("[I] I I", counting.count_leq),
    "turbo_count_gt": ("[I] I I", counting.count_gt),
    "turbo_count_geq": ("[I] I I", counting.count_geq),
    "turbo_among": ("I [I] s", counting.among),
    "turbo_nvalue": ("I [I]", counting.nvalue),
    "turbo_global_cardinality": (CARDINALITY, counting.global_cardinality),
    "turbo_global_cardinality_closed": (CARDINALITY, counting.global_cardinality_closed),
    "turbo_global_cardinality_low_up": (LIMITS, counting.global_cardinality_low_up),
    "turbo_global_cardinality_low_up_closed": (LIMITS, counting.global_cardinality_low_up_closed),
    "turbo_bin_packing": ("i [I] [i]", counting.bin_packing),
    "turbo_bin_packing_capa": ("[i] i [I] [i]", counting.bin_packing_capa),
    "turbo_bin_packing_load": ("[I] i [I] [i]", counting.bin_packing_load),
    "turbo_sliding_sum": ("i i i [I]", counting.sliding_sum),
    "turbo_member_int": ("[I] I", counting.member),
    "turbo_member_bool": ("[B] B", counting.member),
    "turbo_all_equal": ("[I]", counting.all_equal),
    "turbo_increasing_int": ("[I]", counting.increasing),
    "turbo_increasing_bool": ("[B]", counting.increasing),
    "turbo_strictly_increasing_int": ("[I]", counting.strictly_increasing),
}


# The sizes that the arguments must have; MiniZinc sees to it, other writers of FlatZinc may not.


def same_length(*positions: int) -> Callable[..., bool]:
    first, *others = positions
    if len(others) == 1:
        (other,) = others
        return lambda *arguments: len(arguments[first]) == len(arguments[other])
    return lambda *arguments: len({len(arguments[position]) for position in positions}) == 1


def is_table(x: Sequence[int], n_rows: int, cells: Sequence[int], *_: Any) -> bool:
    return n_rows >= 0 and len(cells) == n_rows * len(x)


def is_automaton(_: Any, n_states: int, letters: IntSet, d: Sequence[int], *rest: Any) -> bool:
    costs = rest[2] if len(rest) > 3 else d
    return not letters.has_holes and n_states >= 0 and len(d) == len(costs) == n_states * letters.size


def is_diagram(
    _: Any, n: int, level: Sequence[int], n_edges: int, source: Sequence[int], *sides: Sequence[Any]
) -> bool:
    """Every edge leaves one of the nodes 1 to n and leads to one of 0 to n; no value leads from a node along two."""
    lists = [side for side in sides if isinstance(side, list)]
    nodes = all(1 <= node <= n for node in source) and all(0 <= node <= n for node in lists[-1])
    fits = nodes and len(level) == n and all(len(side) == n_edges for side in (source, *lists))
    return fits and is_deterministic(source, lists[0])


def is_deterministic(source: Sequence[int], labels: Sequence[IntSet]) -> bool:
    """Whether the labels (IntSet) of the edges that leave one node have no value in common."""
    leaving = sorted((node, *pair) for node, label in zip(source, labels) for pair in label.ranges)
    return all(node != following or high < low for (node, _, high), (following, low, _) in pairwise(leaving))


def is_window(low: int, high: int, length: int, *_: Any) -> bool:
    return length >= 0


def is_boxes(k: int, positions: Sequence[int], sizes: Sequence[int], *_: Any) -> bool:
    return k >= 0 and len(positions) == len(sizes) and len(positions) % max(k, 1) == 0


SHAPES: dict[str, Callable[..., bool]] = {
    "turbo_table_int": is_table,
    "turbo_table_bool": is_table,
    "turbo_regular": is_automaton,
    "turbo_cost_regular": is_automaton,
    "turbo_mdd": is_diagram,
    "turbo_cost_mdd": is_diagram,
    "turbo_cumulative": same_length(0, 1, 2),
    "turbo_disjunctive": same_length(0, 1),
    "turbo_disjunctive_strict": same_length(0, 1),
    "turbo_diffn": same_length(0, 1, 2, 3),
    "turbo_diffn_nonstrict": same_length(0, 1, 2, 3),
    "turbo_diffn_k": is_boxes,
    "turbo_diffn_nonstrict_k": is_boxes,
    "turbo_global_cardinality": same_length(1, 2),
    "turbo_global_cardinality_closed": same_length(1, 2),
    "turbo_global_cardinality_low_up": same_length(1, 2, 3),
    "turbo_global_cardinality_low_up_closed": same_length(1, 2, 3),
    "turbo_bin_packing": same_length(1, 2),
    "turbo_bin_packing_capa": same_length(2, 3),
    "turbo_bin_packing_load": same_length(2, 3),
    "turbo_sliding_sum": is_window,
}
