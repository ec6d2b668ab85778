"""The families of predicates, each a module that is imported with the first constraint of the family.

A small model has constraints of few families, and to import all of them takes longer than to solve it. So their names
are listed here, and a test compares them with the tables LOWERINGS and NARROWERS of the modules.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any

from turbo_fzn.lower.narrow import Narrower
from turbo_fzn.predicates.floats import FLOATS
from turbo_fzn.predicates.globals import PREFIX

FAMILIES = {
    "different": "all_different all_different_except inverse symmetric_all_different",
    "graph": "circuit subcircuit",
    "reachability": "connected reachable dreachable tree dtree",
    "table": "table_int table_bool",
    "automata": "regular cost_regular mdd cost_mdd",
    "scheduling": "cumulative",
    "packing": "disjunctive disjunctive_strict diffn diffn_nonstrict diffn_k diffn_nonstrict_k",
    "order": "lex_less_int lex_less_bool lex_lesseq_int lex_lesseq_bool value_precede value_precede_chain "
    "seq_precede_chain",
    "sort": "sort arg_sort",
    "counting": "count_eq count_neq count_lt count_leq count_gt count_geq among nvalue global_cardinality "
    "global_cardinality_closed global_cardinality_low_up global_cardinality_low_up_closed bin_packing "
    "bin_packing_capa bin_packing_load sliding_sum member_int member_bool all_equal increasing_int increasing_bool "
    "strictly_increasing_int",
    "own": "element table_interval",
}  # names without PREFIX, by the modules of globals/
NARROWING = {
    "different": "inverse symmetric_all_different",
    "graph": "circuit subcircuit",
    "table": "table_int table_bool",
    "automata": "regular cost_regular mdd cost_mdd",
    "counting": "global_cardinality_closed global_cardinality_low_up_closed bin_packing_capa bin_packing_load",
}  # those that narrow domains without rows
FLOAT_FAMILY = "turbo_fzn.lower.float_table"


@cache
def table_of(module: str, name: str) -> dict[str, Callable[..., Any]]:
    """A table of a family, which is imported."""
    found: dict[str, Callable[..., Any]] = getattr(import_module(module), name)
    return found


def _later(module: str, table: str, predicate: str) -> Callable[..., Any]:
    """The function of a family's table for a predicate, which is looked up when it is called."""
    return lambda *arguments: table_of(module, table)[predicate](*arguments)


def _all_later(families: dict[str, str], table: str) -> dict[str, Callable[..., Any]]:
    return {
        PREFIX + name: _later(f"turbo_fzn.lower.globals.{family}", table, PREFIX + name)
        for family, names in families.items()
        for name in names.split()
    }


def posts() -> dict[str, Callable[..., Any]]:
    """The function that states a constraint, for every predicate of the families."""
    floats = {one.name: _later(FLOAT_FAMILY, "LOWERINGS", one.name) for one in FLOATS}
    return floats | _all_later(FAMILIES, "LOWERINGS")


def narrowers() -> dict[str, Narrower]:
    """The function that narrows domains, for every predicate that has one."""
    return _all_later(NARROWING, "NARROWERS")
