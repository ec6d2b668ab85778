"""The mutations of what comes before the search: reading, tables, things in a row, symmetries; and of who waits for
whom. See mutations.py."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # for who runs it as a script
from tools.mutation import host, kernel

ROW = "test_spans.py"
SPANS = [
    host("things in a row", "the length of the last one counts", "tnf/spans.py",
         "known[np.ix_(clique, clique)] - weight[:, None]", "known[np.ix_(clique, clique)]", ROW),
    host("things in a row", "a distance in one direction is enough", "tnf/spans.py",
         "(known > UNKNOWN) & (known.T > UNKNOWN)", "(known > UNKNOWN) | (known.T > UNKNOWN)", ROW),
    host("things in a row", "lengths hold before some of the others", "tnf/spans.py",
         "        np.minimum.at(weight, q, behind)\n", "", ROW),
    host("things in a row", "a strict comparison counts as one more", "tnf/spans.py",
         "np.where(true, 0, 1)", "np.where(true, 0, 2)", ROW),
    host("things in a row", "a clause of two opposites is one of two truths", "tnf/spans.py",
         "self.comparisons(z, op != MIN)", "self.comparisons(z, op >= MIN)", ROW),
    host("things in a row", "where a thing is ahead, the other one is not behind", "tnf/spans.py",
         "backward + other.gap - shift", "backward + other.gap + shift", ROW),
    host("things in a row", "heads do not count", "tnf/spans.py",
         "now = max(now, begin)", "now = max(now, 0)", ROW),
    host("things in a row", "tails count from the variable, not from the place", "tnf/spans.py",
         "tails[p] - place - w", "tails[p] - w", ROW),
    host("things in a row", "what has begun goes on to its end", "tnf/spans.py",
         "if left > until - now:", "if False:", ROW),
    host("things in a row", "what has no bound begins somewhere", "tnf/spans.py",
         "bounded = np.abs(self.begin[things]) < LARGEST", "bounded = things >= 0", ROW),
    host("things in a row", "paths have one arc", "tnf/spans.py",
         "for _ in range(MOST_DEPTH):", "for _ in range(1):", ROW),
    host("things in a row", "a few seeds are all", "tnf/spans.py",
         "if covered >> seed & 1 and seeds >= MOST_SEEDS:", "if seeds >= MOST_SEEDS:", ROW),
]  # fmt: skip

SWAPS, ORDERS, GRAPH = "test_symmetry.py", "test_symmetry_breaking.py", "symmetry/graph.py"
SYMMETRY = [
    host("symmetry", "any guess will do", "symmetry/automorphisms.py",
         "return np.array_equal(before, after)", "return True", SWAPS),
    host("symmetry", "domains are not compared", "symmetry/automorphisms.py",
         " or np.any(graph.colours[swap.moved] != graph.colours[swap.images])", "", SWAPS),
    host("symmetry", "the work has no limit", "symmetry/automorphisms.py",
         "return self.work > MOST_WORK", "return False", ORDERS),
    host("symmetry", "the objective is a variable like others", GRAPH,
         "v.domain, v.name == objective", "v.domain", SWAPS),
    host("symmetry", "a variable's constants do not tell it apart", GRAPH,
         "else member for member in members])", "else None for member in members])", SWAPS),
    host("symmetry", "constants among variables do not count", GRAPH,
         "tuple(map(len, columns)), tuple(sorted(constants, key=repr))", "tuple(map(len, columns))", SWAPS),
    host("symmetry", "an element forgets its place", GRAPH,
         "(number, (label, i), element)", "(number, label, element)", SWAPS),
    host("symmetry", "every constraint is commutative", GRAPH, "form is not None and form.predicate.commutes", "True",
         SWAPS),
    host("symmetry", "right-hand sides say nothing", GRAPH, "if variable.value is not None", "if False", SWAPS),
    host("symmetry", "one order is the other way round", "symmetry/breaking.py",
         "return [one for one, _ in chosen], [other for _, other in chosen]",
         "return [pair[len(chosen) % 2] for pair in chosen], [pair[1 - len(chosen) % 2] for pair in chosen]", SWAPS),
    host("symmetry", "orders differ in what comes first", "symmetry/breaking.py",
         "np.argsort(graph.rank[swap.moved[first]])", "np.argsort((-1) ** first.sum() * graph.rank[swap.moved[first]])",
         SWAPS),
    host("symmetry", "large values are compared", "symmetry/breaking.py",
         "domain.upper) <= LARGEST", "0) >= 0", ORDERS),
    host("symmetry", "solutions are left out where several are wanted", "run/prepare.py",
         " and wanted == 1", "", ORDERS),
    host("symmetry", "what a warm start suggests is left out", "run/prepare.py",
         " and not has_warm_start(goal.annotations)", "", ORDERS),
]  # fmt: skip

TURNS = [
    host("turns", "the search does not wait for the relaxation", "bounds/turns.py",
         "return self.declared <= self.reached", "return False", "test_turns.py"),
    host("turns", "a linear program is accounted for at its end", "bounds/highs.py",
         "self.reach(_iterations_of(state))", "pass", "test_turns.py -k linear_program"),
    host("turns", "a fault within a linear program is forgotten", "bounds/highs.py",
         "raise self.fault", "pass", "test_turns.py -k linear_program"),
    kernel("turns", "a learner does not wait for its next turn", "learn/turns.h",
           "while (global_load(&common->turn_end) == end &&", "while (false &&", "test_turns.py"),
    kernel("turns", "a learner that is alone gives up the search, too", "learn/learner.h",
           "return !restarts(l).gave_up || p->n_blocks > 1;", "return true;", "test_learning.py -k gives_up"),
]  # fmt: skip

TABLE_TESTS = "test_tables.py"
PAIR_TESTS = "test_table_pairs.py"
TABLES = [
    host("tables", "each name is a table of its own", "lower/globals/table_relation.py",
         "return equal if equal.is_same(values, places) else Relation(", "return Relation(", TABLE_TESTS),
    host("tables", "each constraint has disjunctions of its own", "lower/globals/table_forms.py",
         "if key not in sets.unions:", "if True:", TABLE_TESTS),
    host("tables", "there is no limit for all of them", "lower/globals/table.py",
         "if b.rows_of_tables + rows > MOST_ROWS:", "if False:", TABLE_TESTS),
    host("tables", "there is none for those of intervals", "lower/globals/own.py",
         " or b.rows_of_tables + rows.n_truths > MOST_ROWS", "", TABLE_TESTS),
    host("tables", "supports are looked for in one direction", "lower/globals/table_forms.py",
         "for heads in (plan.heads, plan.backwards):\n        (held,)", "for heads in (plan.heads,):\n        (held,)",
         TABLE_TESTS),
    host("tables", "a value of the last column needs no head", "lower/globals/table_forms.py",
         "_imply(b, values.reshape(-1), bulk.grouped(b, MAX, held[rows], group, values.size))", "", TABLE_TESTS),
    host("tables", "a head needs no value of the last column", "lower/globals/table_forms.py",
         "    _imply(b, held, one_of.reshape(-1))\n", "", TABLE_TESTS),
    host("tables", "the codes of two rows are the same", "lower/globals/table_forms.py",
         "factors.append(factors[-1] * (high - low + 1))", "factors.append(factors[-1] * (high - low))", TABLE_TESTS),
    host("tables", "each is taken for what it says of pairs", "lower/globals/table_relation.py",
         "if len(row) > self.n_rows:", "if False:", PAIR_TESTS),
    host("tables", "what pairs say is not looked for", "lower/globals/table.py",
         "if plan.width > 2 and relation.pairs is not None:", "if False:", PAIR_TESTS),
    host("tables", "as many rows as there are permutations are these", "lower/globals/table_relation.py",
         " and not any(is_twice)", "", PAIR_TESTS),
    host("tables", "permutations are not looked for", "lower/globals/table.py",
         "if relation.is_all_different and", "if False and", PAIR_TESTS),
    host("tables", "nor are they for the relaxation", "bounds/flows.py",
         "if relation.is_all_different:", "if False:", "test_bounds_globals.py -k permutations"),
    host("tables", "the least difference makes each a comparison", "lower/globals/table_plan.py",
         "if int((len(self.values[j]) - below).sum()) == self.n_rows:", "if True:", PAIR_TESTS),
    host("tables", "no table is a comparison", "lower/globals/table.py",
         "if plan.comparison is not None:", "if False:", PAIR_TESTS),
    host("tables", "no table is a diagram that could be something else", "lower/globals/table.py",
         "elif _pays_as_diagram(b, plan):", "elif False:", "test_table_diagram.py"),
    host("tables", "a diagram costs nothing", "lower/globals/table.py",
         "diagram is not None and _afford(b, [x], n_rows_of(diagram), [])", "diagram is not None",
         "test_table_diagram.py"),
    host("tables", "a node of a diagram knows values, and not where they lead", "lower/globals/table_diagram.py",
         "_share(behind * n_values + relation", "_share(0 * behind + relation", "test_table_diagram.py"),
    host("symmetry", "a table is looked at by each constraint", "symmetry/graph.py",
         "if type(argument) is Ref and argument in self.constants:", "if False:", "test_symmetry.py -k table"),
]  # fmt: skip

TEXTS = "test_large_texts.py"
READING = [
    host("large texts", "all is read at once", "read/files.py",
         "while piece := stream.read(min(PIECE_BYTES, left + 1)):", "while piece := stream.read():", TEXTS),
    host("large texts", "there may be any amount", "read/files.py", "if left < 0:", "if False:", TEXTS),
    host("large texts", "expat gets all at once", "read/xcsp3/document.py",
         "PIECE_CHARACTERS = 2**20", "PIECE_CHARACTERS = 2**40", TEXTS),
    host("little memory", "the room is not tried", "cli.py",
         "    memory.require(memory.LIBRARIES_BYTES)\n", "", "test_low_memory.py"),
]  # fmt: skip
