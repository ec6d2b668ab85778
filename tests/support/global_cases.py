"""The global constraints of MiniZinc as a table: small calls of each, and what they mean in plain Python.

Each case is posted, reified and negated by test_globals.py, and all of its solutions are compared with enumeration.
The calls vary what decompositions tend to get wrong: index sets that do not begin at 1, negative values, domains
with holes, constants among the variables, arrays of length 0 and 1, values outside of the index set.
"""

from __future__ import annotations

from itertools import pairwise

from support.global_meanings import (
    accepts,
    apart,
    beside,
    chained,
    cost_of,
    counts_are,
    counts_within,
    different,
    fits,
    is_circuit,
    is_inverse,
    is_subcircuit,
    joins_any,
    joins_rooted,
    loads,
    precedes,
    sorted_places,
    steps,
    transposed_is_sorted,
    two_by_three,
)
from support.global_notation import Case, Vars, bools, ints, one

TAILS, HEADS = [1, 2, 3, 2], [2, 3, 1, 1]
ROOTED = {
    f"{word}{kind}": joins_rooted(word == "d", kind == "tree") for word in ("", "d") for kind in ("reachable", "tree")
}
DFA = [[2, 3], [0, 1], [3, 2]]
DFA_TEXT = "[|2,3|0,1|3,2|]"
COSTS = [[1, 4], [2, 0], [5, 3]]
COSTS_TEXT = "[|1,4|2,0|5,3|]"
MDD_TEXT = "4, [1,2,2,3], 7, [1,1,2,2,3,3,4], [{0},{1,2},{0,1},{2},{1},{2},{0,2}], [2,3,4,4,4,4,0]"
MDD_WORDS = {(0, v, w) for v in (0, 1, 2) for w in (0, 2)} | {(u, v, w) for u in (1, 2) for v in (1, 2) for w in (0, 2)}
COST_MDD_TEXT = MDD_TEXT.replace(", [2,3,4,4,4,4,0]", ", [0,3,1,2,0,5,1], [2,3,4,4,4,4,0]")
EDGE_COSTS = [{0: 1, 1: 1, 2: 2}, {1: 3, 2: 8}]  # by whether the first letter is 0, and the second letter
MDD_COSTS = {word: (EDGE_COSTS[word[0] > 0][word[1]] + 1,) for word in MDD_WORDS}
ROWS = [(0, 1, 2), (1, 1, -1), (2, 0, 0), (0, 2, 2), (3, 3, 3)]
ROWS_TEXT = "[|0,1,2|1,1,-1|2,0,0|0,2,2|3,3,3|]"

CASES: list[Case] = [
    # ---- values that differ, or are the same
    Case("all_different", "permutation", {"x": ints(3, -1, 1, first=0)}, "all_different(x)", different),
    Case("all_different", "more values", {"x": ints(3, 0, 3)}, "all_different(x)", different),
    Case("all_different", "fewer values", {"x": ints(3, 1, 2)}, "all_different(x)", different),
    Case("all_different", "holes", {"x": Vars((-5, 0, 7), 3)}, "all_different(x)", different),
    Case("all_different", "constant", {"x": ints(3, 1, 4)}, "all_different(x ++ [2])", lambda x: different([*x, 2])),
    Case("all_different", "one", {"x": ints(1, 1, 2)}, "all_different(x)", different),
    Case("all_different", "none", {"n": one(0, 1)}, "all_different([n | i in 1..0])", lambda n: True),
    Case(
        "alldifferent_except_0", "", {"x": ints(4, -1, 1)}, "alldifferent_except_0(x)",
        lambda x: different([v for v in x if v != 0]),
    ),
    Case(
        "alldifferent_except", "", {"x": ints(3, -1, 2)}, "alldifferent_except(x, {-1, 1})",
        lambda x: different([v for v in x if v not in (-1, 1)]),
    ),
    Case("all_equal", "", {"x": ints(3, 0, 2, first=-1)}, "all_equal(x)", lambda x: len(set(x)) == 1),
    Case("nvalue", "", {"n": one(0, 4), "x": ints(3, -1, 1)}, "nvalue(n, x)", lambda n, x: n == len(set(x))),
    Case(
        "symmetric_all_different", "", {"x": ints(4, 1, 4)}, "symmetric_all_different(x)",
        lambda x: all(x[v - 1] == i for i, v in enumerate(x, 1)),
    ),
    Case("inverse", "", {"f": ints(3, 1, 3), "g": ints(3, 1, 3)}, "inverse(f, g)", is_inverse),
    Case(
        "inverse", "shifted", {"f": ints(3, -1, 2, first=0), "g": ints(3, 0, 3, first=-1)}, "inverse(f, g)",
        lambda f, g: is_inverse(f, g, 0, -1),
    ),
    Case("inverse", "sizes", {"f": ints(2, 1, 3), "g": ints(3, 1, 2)}, "inverse(f, g)", is_inverse),
    # ---- counting
    Case("count", "eq", {"x": ints(3, 0, 2), "c": one(-1, 3)}, "count(x, 1, c)", lambda x, c: x.count(1) == c),
    Case(
        "count", "variable", {"x": ints(3, 0, 1), "y": one(-1, 2), "c": one(0, 3)}, "count(x, y, c)",
        lambda x, y, c: x.count(y) == c,
    ),
    *(
        Case(
            f"count_{word}", "", {"x": ints(3, 0, 1, first=4), "c": one(0, 3)}, f"count_{word}(x, 1, c)",
            lambda x, c, holds=holds: holds(c, x.count(1)),
        )
        for word, holds in {
            "neq": int.__ne__, "lt": int.__lt__, "leq": int.__le__, "gt": int.__gt__, "geq": int.__ge__,
        }.items()
    ),
    Case(
        "among", "", {"n": one(0, 4), "x": ints(3, -2, 2)}, "among(n, x, {-2, 0, 1})",
        lambda n, x: n == sum(v in (-2, 0, 1) for v in x),
    ),
    Case("at_most", "", {"x": ints(4, 0, 2)}, "at_most(2, x, 1)", lambda x: x.count(1) <= 2),
    Case("at_least", "", {"x": ints(4, 0, 2)}, "at_least(2, x, 1)", lambda x: x.count(1) >= 2),
    Case("exactly", "", {"x": ints(4, 0, 2)}, "exactly(2, x, 1)", lambda x: x.count(1) == 2),
    Case(
        "global_cardinality", "open", {"x": ints(3, -1, 2), "c": ints(2, 0, 3)},
        "global_cardinality(x, [0, 2], c)", lambda x, c: counts_are(x, [0, 2], c),
    ),
    Case(
        "global_cardinality", "constants", {"x": ints(4, 0, 2)}, "global_cardinality(x, [0, 2], [1, 2])",
        lambda x: counts_are(x, [0, 2], [1, 2]),
    ),
    Case(
        "global_cardinality_closed", "", {"x": ints(3, -1, 2), "c": ints(2, 0, 3)},
        "global_cardinality_closed(x, [0, 2], c)", lambda x, c: counts_are(x, [0, 2], c, closed=True),
    ),
    Case(
        "global_cardinality_low_up", "", {"x": ints(4, 0, 2)},
        "global_cardinality_low_up(x, [0, 2], [1, 0], [2, 1])", lambda x: counts_within(x, [0, 2], [1, 0], [2, 1]),
    ),
    Case(
        "global_cardinality_low_up_closed", "", {"x": ints(4, 0, 2)},
        "global_cardinality_low_up_closed(x, [0, 2], [1, 1], [3, 2])",
        lambda x: counts_within(x, [0, 2], [1, 1], [3, 2], closed=True),
    ),
    Case(
        "distribute", "", {"c": ints(2, 0, 2), "v": ints(2, 0, 1), "x": ints(2, 0, 1)}, "distribute(c, v, x)",
        lambda c, v, x: all(x.count(value) == n for value, n in zip(v, c)),
    ),
    # ---- orders
    *(
        Case(
            name, "", {"x": ints(3, -1, 1, first=0)}, f"{name}(x)",
            lambda x, holds=holds: all(holds(a, b) for a, b in pairwise(x)),
        )
        for name, holds in {
            "increasing": int.__le__, "decreasing": int.__ge__,
            "strictly_increasing": int.__lt__, "strictly_decreasing": int.__gt__,
        }.items()
    ),
    Case("increasing", "bool", {"x": bools(3)}, "increasing(x)", lambda x: x == sorted(x)),
    Case("decreasing", "bool", {"x": bools(3)}, "decreasing(x)", lambda x: x == sorted(x, reverse=True)),
    Case("increasing", "one", {"x": ints(1, 0, 1)}, "increasing(x)", lambda x: True),
    *(
        Case(
            name, title, {"x": ints(m, 0, 2, first=-1), "y": ints(n, 0, 2)}, f"{name}(x, y)",
            lambda x, y, holds=holds: holds(x, y),
        )
        for name, holds in {"lex_less": list.__lt__, "lex_lesseq": list.__le__, "lex_greater": list.__gt__}.items()
        for title, m, n in (("", 3, 3), ("longer", 3, 2), ("shorter", 1, 2))
    ),
    Case("lex_less", "bool", {"x": bools(3), "y": bools(3)}, "lex_less(x, y)", lambda x, y: x < y),
    Case("lex_lesseq", "bool", {"x": bools(3), "y": bools(2)}, "lex_lesseq(x, y)", lambda x, y: x <= y),
    Case("lex_less", "bool, shorter", {"x": bools(1), "y": bools(2)}, "lex_less(x, y)", lambda x, y: x < y),
    Case("lex_lesseq", "none", {"x": ints(1, 0, 1)}, "lex_lesseq([v | v in x where false], x)", lambda x: True),
    Case(
        "lex2", "", {"x": ints(6, 0, 2)}, "lex2(array2d(1..2, 1..3, x))",
        lambda x: all(map(transposed_is_sorted, two_by_three(x))),
    ),
    Case(
        "strict_lex2", "", {"x": ints(6, 0, 2)}, "strict_lex2(array2d(1..2, 1..3, x))",
        lambda x: all(transposed_is_sorted(lines, strict=True) for lines in two_by_three(x)),
    ),
    Case(
        "lex_chain_lesseq", "", {"x": ints(6, 0, 2)}, "lex_chain_lesseq(array2d(1..2, 1..3, x))",
        lambda x: transposed_is_sorted(two_by_three(x)[1]),
    ),
    Case("value_precede", "", {"x": ints(4, 1, 3, first=0)}, "value_precede(3, 1, x)", lambda x: precedes(3, 1, x)),
    Case("value_precede", "same", {"x": ints(3, 0, 1)}, "value_precede(1, 1, x)", lambda x: 1 not in x),
    Case(
        "value_precede_chain", "", {"x": ints(4, 0, 3)}, "value_precede_chain([1, 2, 3], x)",
        lambda x: chained([1, 2, 3], x),
    ),
    Case(
        "value_precede_chain", "order", {"x": ints(4, 0, 3)}, "value_precede_chain([3, 0, 2], x)",
        lambda x: chained([3, 0, 2], x),
    ),
    Case("seq_precede_chain", "", {"x": ints(4, -1, 3, first=2)}, "seq_precede_chain(x)", steps),
    # ---- extremes, and sorting
    Case("maximum", "", {"m": one(-2, 3), "x": ints(3, -1, 2)}, "maximum(m, x)", lambda m, x: m == max(x)),
    Case("minimum", "", {"m": one(-2, 3), "x": ints(3, -1, 2)}, "minimum(m, x)", lambda m, x: m == min(x)),
    *(
        Case(
            name, title, {"i": one(-1, 5), "x": values}, call,
            lambda i, x, best=best, first=values.first: i == first + x.index(best(x)),
        )
        for name, best, predicate in (("arg_max", max, "maximum_arg"), ("arg_min", min, "minimum_arg"))
        for title, values, call in (
            ("", ints(3, -1, 1), f"i = {name}(x)"),
            ("shifted", ints(3, 0, 2, first=0), f"i = {name}(x)"),
            ("predicate", ints(3, -1, 1), f"{predicate}(x, i)"),
            ("bool", bools(3), f"i = {name}(x)"),
            ("one", ints(1, 0, 1), f"i = {name}(x)"),
        )
    ),
    Case("sort", "", {"x": ints(3, -1, 1), "y": ints(3, -1, 1, first=5)}, "sort(x, y)", lambda x, y: sorted(x) == y),
    Case("sort", "five", {"x": ints(5, 0, 1), "y": ints(5, 0, 1)}, "sort(x, y)", lambda x, y: sorted(x) == y),
    Case("sort", "one", {"x": ints(1, 0, 2), "y": ints(1, 0, 2)}, "sort(x, y)", lambda x, y: x == y),
    Case(
        "arg_sort", "", {"x": ints(3, -1, 1), "p": ints(3, 0, 4)}, "arg_sort(x, p)",
        lambda x, p: sorted_places(x) == p,
    ),
    Case("arg_sort", "one", {"x": ints(1, 0, 1), "p": ints(1, 0, 2)}, "arg_sort(x, p)", lambda x, p: p == [1]),
    # ---- time and space
    Case(
        "cumulative", "pairs", {"s": ints(3, -1, 5)}, "cumulative(s, [3, 2, 4], [1, 2, 2], 3)",
        lambda s: fits(s, [3, 2, 4], [1, 2, 2], 3),
    ),
    Case(
        "cumulative", "table", {"s": ints(5, 0, 2)}, "cumulative(s, [1, 2, 1, 2, 1], [1, 2, 1, 1, 2], 3)",
        lambda s: fits(s, [1, 2, 1, 2, 1], [1, 2, 1, 1, 2], 3),
    ),
    Case(
        "cumulative", "variable", {"s": ints(2, 0, 3), "d": ints(2, 0, 2), "r": ints(2, 0, 2), "b": one(0, 3)},
        "cumulative(s, d, r, b)", fits,
    ),
    Case(
        "cumulative", "unit", {"s": ints(3, 0, 3)}, "cumulative(s, [1, 1, 1], [2, 2, 2], 3)", lambda s: different(s)
    ),
    Case(
        "disjunctive", "", {"s": ints(2, -1, 3), "d": ints(2, 0, 3)}, "disjunctive(s, d)",
        lambda s, d: apart(s, d, strict=False),
    ),
    Case(
        "disjunctive_strict", "", {"s": ints(2, -1, 3), "d": ints(2, 0, 3)}, "disjunctive_strict(s, d)",
        lambda s, d: apart(s, d, strict=True),
    ),
    Case(
        "diffn", "", {"x": ints(3, 0, 2), "y": ints(3, -1, 1)}, "diffn(x, y, [2, 1, 1], [1, 2, 2])",
        lambda x, y: beside(x, y, [2, 1, 1], [1, 2, 2]),
    ),
    Case(
        "diffn", "variable", {"x": ints(2, 0, 1), "y": ints(2, 0, 1), "w": ints(2, 0, 2), "h": ints(2, 0, 1)},
        "diffn(x, y, w, h)", beside,
    ),
    Case(
        "diffn_nonstrict", "", {"x": ints(2, 0, 2), "y": ints(2, 0, 1), "w": ints(2, 0, 2)},
        "diffn_nonstrict(x, y, w, [1, 2])", lambda x, y, w: beside(x, y, w, [1, 2], strict=False),
    ),
    Case(
        "diffn_k", "", {"x": ints(4, 0, 2)}, "diffn_k(array2d(1..2, 1..2, x), [|2, 1|1, 2|])",
        lambda x: beside(x[::2], x[1::2], [2, 1], [1, 2]),
    ),
    Case(
        "diffn_nonstrict_k", "", {"x": ints(4, 0, 1), "w": ints(2, 0, 2)},
        "diffn_nonstrict_k(array2d(1..2, 1..2, x), [|w[1], 1|1, w[2]|])",
        lambda x, w: beside(x[::2], x[1::2], [w[0], 1], [1, w[1]], strict=False),
    ),
    # ---- graphs
    Case("circuit", "", {"x": ints(4, 1, 4)}, "circuit(x)", is_circuit),
    Case("circuit", "shifted", {"x": ints(3, -1, 3, first=0)}, "circuit(x)", lambda x: is_circuit(x, 0)),
    Case("circuit", "one", {"x": ints(1, 0, 2)}, "circuit(x)", is_circuit),
    Case("subcircuit", "", {"x": ints(4, 1, 4)}, "subcircuit(x)", is_subcircuit),
    Case("subcircuit", "shifted", {"x": ints(3, 0, 4, first=2)}, "subcircuit(x)", lambda x: is_subcircuit(x, 2)),
    Case("subcircuit", "one", {"x": ints(1, 0, 2)}, "subcircuit(x)", is_subcircuit),
    *(
        Case(
            name, "", {"r": one(0, 4), "ns": bools(3), "es": bools(4)},
            f"{name}(3, 4, {TAILS}, {HEADS}, r, ns, es)",
            lambda r, ns, es, meant=meant: meant(3, 4, TAILS, HEADS, r, ns, 1, es),
        )
        for name, meant in ROOTED.items()
    ),
    *(
        Case(
            name, "shifted", {"r": one(-1, 2), "ns": bools(3)._replace(first=0), "es": bools(4)},
            f"{name}({[i - 1 for i in TAILS]}, {[j - 1 for j in HEADS]}, r, ns, es)",
            lambda r, ns, es, meant=meant: meant(3, 4, TAILS, HEADS, r + 1, ns, 1, es),
        )
        for name, meant in ROOTED.items()
    ),
    Case(
        "connected", "", {"ns": bools(3), "es": bools(4)}, f"connected({TAILS}, {HEADS}, ns, es)",
        lambda ns, es: joins_any(TAILS, HEADS, ns, 1, es),
    ),
    Case(
        "connected", "shifted", {"ns": bools(4)._replace(first=0), "es": bools(3)},
        "connected([0, 0, 2], [1, 2, 3], ns, es)",
        lambda ns, es: joins_any([0, 0, 2], [1, 2, 3], ns, 0, es),
    ),
    Case(
        "network_flow", "", {"f": ints(4, 0, 2)}, "network_flow([|1,2|1,3|2,3|3,1|], [1, 0, -1], f)",
        lambda f: (f[0] + f[1] - f[3], f[2] - f[0], f[3] - f[1] - f[2]) == (1, 0, -1),
    ),
    Case(
        "network_flow_cost", "", {"f": ints(3, 0, 2), "c": one(0, 9)},
        "network_flow_cost([|1,2|1,3|2,3|], [2, 0, -2], [1, 3, 1], f, c)",
        lambda f, c: (f[0] + f[1], f[2] - f[0], f[1] + f[2]) == (2, 0, 2) and c == f[0] + 3 * f[1] + f[2],
    ),
    # ---- tables and automata
    Case("table", "", {"x": ints(3, -1, 3)}, f"table(x, {ROWS_TEXT})", lambda x: tuple(x) in ROWS),
    Case(
        "table", "constant", {"x": ints(2, -1, 3)}, f"table([x[1], 1, x[2]], {ROWS_TEXT})",
        lambda x: (x[0], 1, x[1]) in ROWS,
    ),
    Case(
        "table", "shifted", {"x": ints(3, 0, 2, first=0)}, f"table(x, array2d(1..5, 0..2, array1d({ROWS_TEXT})))",
        lambda x: tuple(x) in ROWS,
    ),
    Case("table", "one", {"x": ints(1, 0, 4)}, "table(x, [|1|3|])", lambda x: x[0] in (1, 3)),
    Case("table", "none", {"x": ints(2, 0, 1)}, "table(x, array2d(1..0, 1..2, []))", lambda x: False),
    Case("table", "no row", {"x": ints(2, 0, 1)}, "table(x, [|2, 0|1, 5|])", lambda x: False),
    Case(
        "table", "six", {"x": Vars((0, 3), 6)}, "table(x, [|0,3,0,3,0,3|3,3,3,3,3,3|0,0,0,0,0,1|])",
        lambda x: x in ([0, 3] * 3, [3] * 6),
    ),
    Case(
        "table", "bool", {"x": bools(3)}, "table(x, [|true,false,true|false,false,true|])",
        lambda x: not x[1] and x[2],
    ),
    *(
        Case(
            "table", f"{rows} of no {kind}", {"n": Vars(domain)},
            f"table([n | i in 1..0], array2d(1..{rows}, 1..0, []))",
            lambda n, rows=rows: rows > 0,
        )
        for kind, domain in (("number", range(2)), ("bool", bool))
        for rows in (0, 2)
    ),
    Case(
        "regular", "", {"x": ints(4, 1, 2, first=0)}, f"regular(x, 3, 2, {DFA_TEXT}, 1, {{1, 2}})",
        lambda x: accepts(x, DFA, {1, 2}),
    ),
    Case(
        "regular", "outside", {"x": ints(3, 0, 3)}, f"regular(x, 3, 2, {DFA_TEXT}, 1, {{3}})",
        lambda x: accepts(x, DFA, {3}),
    ),
    Case(
        "regular", "set", {"x": ints(3, 3, 6)},
        f"regular(x, 3, 4..5, array2d(1..3, 4..5, array1d({DFA_TEXT})), 1, 1..3)",
        lambda x: accepts(x, DFA, {1, 2, 3}, first=4),
    ),
    Case(
        "regular_regexp", "", {"x": ints(3, 1, 3)}, 'regular(x, "1* (1|2) 3*")',
        lambda x: tuple(x) in {(1, 1, 1), (1, 1, 2), (1, 1, 3), (1, 2, 3), (1, 3, 3), (2, 3, 3)},
    ),
    Case("regular", "no word", {"x": ints(2, 1, 2)}, "regular(x, 2, 2, [|1,1|2,2|], 1, {2})", lambda x: False),
    Case(
        "cost_regular", "", {"x": ints(3, 1, 2), "c": one(0, 14)},
        f"cost_regular(x, 3, 2, {DFA_TEXT}, 1, {{1, 2}}, {COSTS_TEXT}, c)",
        lambda x, c: accepts(x, DFA, {1, 2}) and c == cost_of(x, DFA, COSTS),
    ),
    Case(
        "cost_mdd", "", {"x": ints(3, -1, 3), "c": one(0, 9)},
        f"cost_mdd(x, {COST_MDD_TEXT}, c)", lambda x, c: c in MDD_COSTS.get(tuple(x), ()),
    ),
    Case("mdd", "", {"x": ints(3, -1, 3)}, f"mdd(x, {MDD_TEXT})", lambda x: tuple(x) in MDD_WORDS),
    # ---- sums
    Case(
        "bin_packing", "", {"b": ints(4, -1, 1)}, "bin_packing(5, b, [3, 2, 2, 1])",
        lambda b: max(loads(b, [3, 2, 2, 1]).values()) <= 5,
    ),
    Case(
        "bin_packing_capa", "", {"b": ints(3, 0, 3)}, "bin_packing_capa([4, 3], b, [3, 2, 2])",
        lambda b: set(b) <= {1, 2} and loads(b, [3, 2, 2])[1] <= 4 and loads(b, [3, 2, 2])[2] <= 3,
    ),
    Case(
        "bin_packing_load", "", {"load": ints(2, 0, 7), "b": ints(3, 0, 3)},
        "bin_packing_load(load, b, [3, 2, 2])",
        lambda load, b: set(b) <= {1, 2} and [loads(b, [3, 2, 2])[k] for k in (1, 2)] == load,
    ),
    Case(
        "knapsack", "", {"x": ints(2, -1, 2), "w": one(0, 9), "p": one(0, 9)}, "knapsack([2, 1], [3, 1], x, w, p)",
        lambda x, w, p: min(x) >= 0 and 2 * x[0] + x[1] == w and 3 * x[0] + x[1] == p,
    ),
    Case(
        "sliding_sum", "", {"x": ints(4, 0, 2)}, "sliding_sum(2, 4, 3, x)",
        lambda x: all(2 <= sum(x[i : i + 3]) <= 4 for i in range(2)),
    ),
    # ---- elements of arrays
    Case(
        "element", "constants", {"i": one(-1, 4), "y": one(0, 9)}, "element(i, [4, 7, 4], y)",
        lambda i, y: 1 <= i <= 3 and [4, 7, 4][i - 1] == y,
    ),
    Case(
        "element", "variables", {"i": one(-2, 2), "a": ints(3, 0, 2, first=-1), "y": one(0, 2)}, "element(i, a, y)",
        lambda i, a, y: -1 <= i <= 1 and a[i + 1] == y,
    ),
    Case(
        "element", "two dimensions", {"i": one(0, 3), "j": one(-1, 1)},
        "array2d(1..2, 0..1, [5, 6, 7, 8])[i, j] >= 6",
        lambda i, j: i in (1, 2) and j in (0, 1) and (i, j) != (1, 0),
    ),
    Case(
        "member", "", {"x": ints(3, 0, 2), "y": one(-1, 3)}, "member(x, y)", lambda x, y: y in x,
    ),
    Case("member", "bool", {"x": bools(2), "y": Vars(bool)}, "member(x, y)", lambda x, y: y in x),
]  # fmt: skip
