"""Small MiniZinc models, each a block of a larger text: index sets that begin anywhere, arrays of no, one or two
elements, optional variables, sets, calls of globals inside other expressions.

The names of block 7 end in `_7`, so that many blocks make one text (batches.py). All that is not shown is a function of
what is shown, or of no interest: an absent variable's value.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from random import Random
from string import Template
from typing import NamedTuple


class Part(NamedTuple):
    """A constraint, with `$name` for variables and `#name` for numbers drawn anew, for arrays of at least so many
    elements. Those that may not are never reified."""

    text: str
    least: int = 0
    may_be_reified: bool = True


def plain(text: str, least: int = 0) -> Part:
    return Part(text, least, False)


# x and y are arrays of integers over one index set, v one over another; p and q permute each other's index sets; b are
# Booleans over that of x, d and e numbers, not negative; z, u and i are single variables, i an index of x; s is a set,
# o an optional variable, oo an array of them over the index set of x. $F..$L is that index set. Left out is what the
# standard library of MiniZinc 2.6 gets wrong or refuses: a reified table over indices that do not begin at 1, a reified
# sliding_sum, a cover that has a value twice, and some calls without elements, or reified.
GLOBALS = [
    *map(Part, ("all_different($x)", "all_different_except_0($x)", "all_equal($x)", "increasing($x)")),
    *map(Part, ("decreasing($v)", "strictly_increasing($x)", "nvalue($z, $x)", "count($x, #k, $z)")),
    *map(Part, ("count($v, #k) <= $z", "count($x, $u, $z)", "count_leq($x, $u, $z)", "count_neq($v, #k, $z)")),
    *map(Part, ("among($z, $v, {0, 2})", "at_most(1, $x, #k)", "at_least(1, $v, #k)", "exactly(1, $x, #k)")),
    *map(Part, ("sum($x) != $z", "lex_lesseq($x, $y)", "lex_less($x, $y)", "lex_greater($x, $y)")),
    *map(Part, ("global_cardinality($v, [0, 1], [$z, $u])", "global_cardinality_closed($x, [0, 2], [$z, $u])")),
    Part("global_cardinality_low_up($x, [0, 1], [0, 0], [1, 2])"),
    *map(plain, ("sort($x, $y)", "inverse($p, $q)", "circuit($r)")),
    plain("subcircuit($r)", 1),
    plain("regular([k + 2 | k in $x], 2, 4, A, 1, {2})", 1),
    plain("value_precede(0, 1, $v)", 1),
    plain("value_precede_chain([0, 1, 2], $x)", 1),
    *map(Part, ("cumulative($x, $d, $e, 2)", "cumulative($x, $y, $e, $z)")),
    Part("disjunctive($x, $d)", 1),
    Part("disjunctive_strict($x, $d)", 1),
    Part("bin_packing(2, $x, $d)", 1),
    *map(Part, ("diffn($x, $y, $d, $e)", "diffn_nonstrict($x, $y, $d, $e)")),
    *map(Part, ("xorall($b)", "iffall($b)", "exists($b)", "forall($b)")),
    plain("sliding_sum(0, 2, 2, $v)"),
    Part("member($x, $z)"),
    plain("table($x, array2d(1..3, $F..$L, [i + j mod 3 | i in 1..3, j in $F..$L]))"),
    Part("not table([k | k in $x], array2d(1..2, 1..length($x), [i * j mod 2 | i in 1..2, j in index_set($x)]))", 1),
    Part("bin_packing_load([$z, $u], array1d($F..$L, [1 + (k mod 2) | k in $x]), $d)", 1),
    Part("max($x) >= $z", 1),
    Part("min($v) = $z", 1),
    Part("maximum($z, $x)", 1),
    Part("minimum($u, $v)", 1),
    Part("arg_max($x) = $i", 1),
    Part("arg_min($y) = $i", 1),
    Part("element($i, $x, $z)", 1),
    Part("$x[$i] = $z", 1),
    Part("$x[$z] <= $u", 1),
    Part("$d[$i] + $z = $x[$i]", 1),
    Part("array2d(0..1, $F..$L, $x ++ $y)[$u, $i] = $z", 1),
    Part("let {array[-1..0, $F..$L] of var 0..9: g = array2d(-1..0, $F..$L, $x ++ $y)} in sum(g) = $z + #k"),
    Part("knapsack($d, $e, $x, $z, $u)", 1),
    plain("arg_sort($x, [k | k in $r])"),
]  # fmt: skip
NESTED = [
    Part("count($x, max($v ++ [0])) = $z"),
    Part("nvalue($x) = count($y, 1)"),
    Part("max([count($x, k) | k in 0..2]) <= 1"),
    Part("all_different([min(k, 2) | k in $x])"),
    Part("all_different($x) <-> increasing($y)"),
    Part("bool2int(all_different($x)) + bool2int(increasing($v)) = $z"),
    Part("if all_equal($x) then $z = 1 else sum($y) = 2 endif"),
    Part("let {var 0..3: t} in (t = count($x, 1) /\\ all_different([t, $z]))"),
    Part("forall(k in $F..$L)(count($x, $x[k]) <= 1 + bool2int($b[k]))"),
    Part("not all_different($x)"),
    Part("not increasing($v) \\/ nvalue($x) = $z"),
    Part("all_different($x) xor lex_less($x, $y)"),
    Part("sum(k in $F..$L)(bool2int($x[k] = $y[k])) = $z"),
    Part("sum(k in $s)(k) = $z"),
    Part("card($s) = nvalue($x)"),
    Part("count($x, card($s)) = $u"),
    Part("$z in $s"),
    Part("exists(k in $s)(k = $u)"),
    Part("forall(k in $s)(k <= $z)"),
    Part("card({#k, 1} intersect $s) <= $u"),
    Part("{k | k in 0..1} subset $s"),
    Part("max($x ++ $v ++ [#k]) = $z + 1"),
    Part("$x[min($i, $L)] != $u", 1),
    Part("[$u, $z][1 + bool2int(all_equal($x))] = #k"),
    Part("abs(sum($x) - $z) mod 3 = $u"),
    Part("$z div max($x ++ [$u]) = 1"),
    Part("pow($z, count($x, 1)) <= 4"),
    Part("nvalue([nvalue($x), nvalue($y), $z]) = $u"),
]
OPTIONAL = [
    Part("occurs($o) -> deopt($o) = $z"),
    Part("absent($o) <-> $z > 1"),
    Part("$o < $z"),
    Part("sum($oo) = $z"),
    Part("sum([$o, $u]) <= 2"),
    Part("all_different($oo)"),
    Part("max([deopt($o), $z]) = 2"),
    Part("forall(k in $oo)(occurs(k))"),
    Part("sum(k in $F..$L)(bool2int(occurs($oo[k]))) = $z"),
    Part("sum([$x[k] | k in $F..$L where $b[k]]) = $z"),
    Part("forall([$x[k] > 0 | k in $F..$L where $b[k]])"),
    Part("exists([$x[k] = $z | k in $F..$L where $b[k]])"),
    Part("all_different([$x[k] | k in $F..$L where $b[k]])"),
    Part("sum([$y[k] | k in $F..$L where $x[k] > 0]) = $z"),
    Part("sum(k in $s)(if k > 0 then 1 else 0 endif) = $u"),
    Part("exists(k in $F..$L where $x[k] > 1)($y[k] = $z)"),
    plain("disjunctive($oo, $d)", 1),
    plain("cumulative($oo, $d, $e, 2)"),
    plain("alternative($o, 1, $oo, $d)", 1),
    plain("span($o, $z, $oo, $d)", 1),
]
# Arrays of one variable, since a single variable is in no FlatZinc any more once flattening has fixed it.
SINGLE = {"z": "0..4", "u": "0..2", "i": "", "w": "bool", "cost": "-20..20"}
FORMS = ("{} <-> $w", "$w -> ({})", "({}) \\/ $w", "not ({})", "({}) xor $w")
GOALS = (None, None, "$z - $u", "sum($x)", "sum($y) - $z", "$u")
HELPERS = 'include "globals.mzn";\narray[1..2, 1..4] of int: A = [|1, 2, 0, 1|2, 2, 1, 0|];\n'


@dataclass
class Block:
    """`shown` are the names of what its solutions are compared by; `cost` is that of its objective, if it has
    one, an array of one element."""

    number: int
    lines: list[str] = field(default_factory=list)
    shown: list[str] = field(default_factory=list)
    method: str = "satisfy"
    cost: str = ""

    @property
    def text(self) -> str:
        return "\n".join(self.lines) + "\n"


def draw_block(random: Random, number: int) -> Block:
    n = random.choice((0, 1, 1, 2, 2, 2, 3))
    parts = [draw_part(random, n) for _ in range(random.randint(1, 3))]
    block, goal = Block(number), random.choice(GOALS)
    if goal is not None:
        block.method, block.cost = random.choice(("minimize", "maximize")), f"cost_{number}"
        parts.append(f"$cost = {goal}")
    first = random.choice((-2, 0, 1, 1, 2, 5))
    names = set(re.findall(r"\$(\w+)", " ".join(parts)))
    values = {name: f"{name}_{number}{'[1]' * (name in SINGLE)}" for name in names}
    values |= {name: f"({end})" if end < 0 else f"{end}" for name, end in (("F", first), ("L", first + n - 1))}
    declare(block, random, names, n, first)
    block.lines += [f"constraint {Template(part).substitute(values)};" for part in parts]
    return block


def draw_part(random: Random, n: int) -> str:
    some = random.choice((GLOBALS, GLOBALS, NESTED, OPTIONAL))
    part = random.choice([part for part in some if part.least <= n])
    text = part.text.replace("#k", str(random.randint(0, 2)))
    return random.choice(FORMS).format(text) if part.may_be_reified and random.random() < 0.2 else text


def declare(block: Block, random: Random, names: set[str], n: int, first: int) -> None:
    """What the constraints name, and for what cannot be shown as it is, variables that show it."""
    k, own = block.number, f"{first}..{first + n - 1}"
    other = random.choice((-1, 0, 1, 3))
    beside = f"{other}..{other + n - 1}"
    domain = random.choice(("0..2", "-1..1", "{0, 2, 3}", "1..3", "0..1"))
    arrays = {
        "x": (own, f"var {domain}"), "y": (own, "var 0..2"), "v": (random.choice((own, beside)), "var 0..2"),
        "p": (own, f"var {beside}"), "q": (beside, f"var {own}"), "r": (own, f"var {own}"), "b": (own, "var bool"),
    }  # fmt: skip
    for name, (indices, kind) in arrays.items():
        if name in names:
            block.lines.append(f"array[{indices}] of {kind}: {name}_{k};")
            block.shown += [f"{name}_{k}"] if n else []
    for name in sorted(names & {"d", "e"}):
        numbers = ", ".join(str(random.randint(0, 2)) for _ in range(n))
        block.lines.append(f"array[{own}] of int: {name}_{k} = array1d({own}, [{numbers}]);")
    singles = SINGLE | {"i": own}
    for name in sorted(names & singles.keys()):
        block.lines.append(f"array[1..1] of var {singles[name]}: {name}_{k};")
        block.shown.append(f"{name}_{k}")
    if "s" in names:
        block.lines += [
            f"var set of {random.choice(('0..2', '-1..1', '{0, 1, 3}'))}: s_{k};",
            f"array[-1..3] of var bool: in_{k};",
            f"constraint forall(k in -1..3)(in_{k}[k] <-> k in s_{k});",
        ]
        block.shown.append(f"in_{k}")
    declare_optional(block, names, n, own)


def declare_optional(block: Block, names: set[str], n: int, own: str) -> None:
    """An optional variable is shown as -1 where it is absent."""
    k = block.number
    told = "(occurs({0}) <-> {1} >= 0) /\\ (occurs({0}) -> deopt({0}) = {1})"
    if "o" in names:
        block.lines.append(f"var opt 0..2: o_{k}; array[1..1] of var -1..2: has_{k};")
        block.lines.append(f"constraint {told.format(f'o_{k}', f'has_{k}[1]')};")
        block.shown.append(f"has_{k}")
    if "oo" in names:
        block.lines.append(f"array[{own}] of var opt 0..2: oo_{k}; array[{own}] of var -1..2: have_{k};")
        block.lines.append(f"constraint forall(k in {own})({told.format(f'oo_{k}[k]', f'have_{k}[k]')});")
        block.shown += [f"have_{k}"] if n else []
