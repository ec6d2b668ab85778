"""Which column a branch and bound over the relaxation divides."""

from __future__ import annotations

import itertools
from types import SimpleNamespace

import numpy as np
import pytest

from support.relaxations import beside_of, root_of, unsolved
from turbo_fzn.bounds.lp.highs import Answer
from turbo_fzn.bounds.lp.relaxation import LinearRows, Relaxation
from turbo_fzn.bounds.rows.cliques import Conflicts
from turbo_fzn.bounds.search import tree as tree_module
from turbo_fzn.bounds.search.root import Root
from turbo_fzn.bounds.search.tree import Node, Tree
from turbo_fzn.bounds.search.tuning import TUNING
from turbo_fzn.bounds.thread.relaxation_thread import Beside
from turbo_fzn.bounds.thread.tuning import TUNING as THREAD

SQUARES = """
var 0..40: x :: output_var; var 0..40: y :: output_var; var 0..40: z :: output_var;
var 0..1600: p; var 0..1600: q; var 0..1600: r; var 0..9999: total;
constraint int_lin_le([-3,-5,-7],[x,y,z],-200);
constraint int_times(x,x,p);
constraint int_times(y,y,q);
constraint int_times(z,z,r);
constraint int_lin_eq([1,1,1,-1],[p,q,r,total],0);
solve minimize total;
"""
LEAST = min(
    x * x + y * y + z * z for x in range(41) for y in range(41) for z in range(41) if 3 * x + 5 * y + 7 * z >= 200
)


def tree_of(n_columns: int) -> Tree:
    ends = np.zeros(n_columns, np.int64), np.full(n_columns, 9, np.int64)
    rows = LinearRows.of([({0: 1}, 0, 9)])
    relaxation = Relaxation(*ends, rows, n_columns - 1, 1, np.arange(n_columns), {}, Conflicts())
    listener = SimpleNamespace(work_time=lambda: 0.0)
    return Tree(relaxation, SimpleNamespace(), SimpleNamespace(rows=rows), listener)  # type: ignore[arg-type]


def tree_ends(tree: Tree) -> tuple[np.ndarray, np.ndarray]:
    return tree.relaxation.lower.copy(), tree.relaxation.upper.copy()


def learn_nothing(column: int) -> None:
    """A probe."""


def test_the_column_is_divided_that_has_brought_most_on_both_sides() -> None:
    tree = tree_of(6)
    point = np.array([0.9, 0.4, 0, 0, 4.5, 0])
    tree.counts[:] = TUNING.reliable
    tree.gains[:, 4], tree.gains[0, 1] = 50, 500
    assert tree.choose(point, *tree_ends(tree), learn_nothing) == 4


@pytest.mark.parametrize(("probing", "hopeless"), [(0.0, True), (0.5, True), (10.0, False)])
def test_time_of_probes_is_no_sign_that_the_bound_stands_still(probing: float, hopeless: bool) -> None:
    """The first nodes are nearly all probes, whose use comes later: only the time of nodes is given up on."""
    beside = Beside(lambda: None, SimpleNamespace())  # type: ignore[arg-type]
    beside.bound, beside.best = 68, 1133
    steps = []
    tree = SimpleNamespace(n_nodes=0, probing=probing, bound=68, can_rise=lambda: True, is_full=lambda: len(steps) > 3)
    tree.step = lambda: steps.append(1)
    beside.rest = lambda: None  # type: ignore[method-assign]
    beside.work_time = lambda: THREAD.tree_seconds + 1 if steps else 0.0  # type: ignore[method-assign]
    beside.divide(tree)
    assert len(steps) == (1 if hopeless else 4)


def test_probes_are_timed() -> None:
    tree, clock = tree_of(4), iter(range(10))
    tree.listener.work_time = lambda: float(next(clock))
    tree.choose(np.array([0.5, 0.5, 0, 0]), *tree_ends(tree), learn_nothing)
    assert tree.probing == 1.0


def test_columns_that_were_hardly_divided_are_probed_and_others_are_not() -> None:
    """What the probe says decides."""
    tree = tree_of(6)
    point = np.array([0.5, 0.5, 0.5, 0, 0, 0])
    tree.gains[:, 0], tree.counts[:, 0] = 5, TUNING.reliable
    probed = []

    def probe(column: int) -> None:
        probed.append(column)
        tree.gains[:, column], tree.counts[:, column] = (90 if column == 2 else 1), 1

    assert tree.choose(point, *tree_ends(tree), probe) == 2 and sorted(probed) == [1, 2]


def test_a_fixed_column_is_not_divided() -> None:
    tree = tree_of(12)
    lower, upper = tree_ends(tree)
    lower[0] = upper[0] = 1
    point = np.where(np.arange(12) == 4, 2.5, np.where(np.arange(12) == 0, 1.0, 0.0))
    assert tree.choose(point, lower, upper, learn_nothing) == 4
    assert tree.choose(np.zeros(12), upper, upper, learn_nothing) is None


def test_a_first_program_has_duals_though_nothing_better_is_left() -> None:
    """The best solution was there before the relaxation. What proves it is for learners, too."""
    beside = beside_of(STABLE, simplify=False)
    beside.tell(-4)
    root = unsolved(beside)
    assert root.settle() is not None
    assert root.value == -4.5 and root.proof is not None and beside.n_rays == 0


def test_infeasible_programs_are_counted_with_those_that_are_not_proved(monkeypatch) -> None:
    for is_proof in (True, False):
        tree, beside = grown(STABLE, simplify=False)
        if not is_proof:
            monkeypatch.setattr(tree_module, "refute", lambda *arguments: None)
        beside.tell(-3)
        while tree.can_rise():
            tree.step()
        assert beside.best == -4 and beside.n_rays > 0 and (beside.n_refused > 0) != is_proof


KNAPSACK = """
array [1..6] of var 0..3: x :: output_array([1..6]) = [a,b,c,d,e,f];
var 0..3: a; var 0..3: b; var 0..3: c; var 0..3: d; var 0..3: e; var 0..3: f; var 0..999: total;
constraint int_lin_le([41,37,53,29,61,47],[a,b,c,d,e,f],263);
constraint int_lin_le([23,51,19,44,35,31],[a,b,c,d,e,f],201);
constraint int_lin_eq([40,47,39,38,50,41,-1],[a,b,c,d,e,f,total],0);
solve maximize total;
"""


def grown(text: str, simplify: bool = True) -> tuple[Tree, Beside]:
    """The tree at the root of a model, without cuts."""
    root = root_of(text, simplify)
    tree = Tree(root.relaxation, root.program, root.certifier, root.listener)
    tree.push(Node(root.bound, (), None))
    return tree, root.listener


def test_a_probe_learns_and_leaves_the_program_as_it_was() -> None:
    tree, _ = grown(KNAPSACK)
    before = tree.program.solve()
    basis, ends = tree.program.basis(), (tree.program.lower.copy(), tree.program.upper.copy())
    column = int(np.argmax(np.abs(before.values - np.rint(before.values))))
    tree.probe(column, before.values, tree.objective(before), basis)
    assert tree.counts[:, column].tolist() == [1, 1] and np.all(tree.gains[:, column] >= 0)
    assert tree.gains[:, column].max() > 0
    assert all(np.array_equal(now, then) for now, then in zip((tree.program.lower, tree.program.upper), ends))
    after = tree.program.solve()
    assert np.array_equal(after.values, before.values) and tree.program.meter.iterations <= 1


@pytest.mark.parametrize(("pace", "least", "most"), [(0.0, 6, 200), (1.0, 2, 4)])
def test_a_probe_ends_when_its_time_is_over(pace: float, least: int, most: int) -> None:
    """From a basis of slacks it has far to go. The clock moves on at each look."""
    tree, beside = grown(KNAPSACK.replace("0..3", "0..9"))
    before = tree.program.solve()
    basis = tree.program.basis()
    status = type(basis.col_status[0])
    basis.col_status = [status.kLower] * len(basis.col_status)
    basis.row_status = [status.kBasic] * len(basis.row_status)
    tree.program.start_from(basis)
    clock, meter = itertools.count(), tree.program.meter
    spent: list[float] = []
    is_over = meter.is_over
    meter.account = spent.append
    beside.work_time = lambda: pace * next(clock)  # type: ignore[method-assign]
    tree.probe(0, before.values + 0.5, tree.objective(before), basis)
    assert least <= round(sum(spent) / meter.unit) <= most and meter.is_over is is_over


@pytest.mark.parametrize("rounds", [1, TUNING.node_rounds])
def test_cuts_are_added_at_nodes_and_bases_from_before_them_go_on(monkeypatch, rounds: int) -> None:
    """A sum of squares, whose lines come as cuts: without them a node's bound is that of the root's three lines."""
    monkeypatch.setattr(TUNING, "node_rounds", rounds)
    tree, beside = grown(SQUARES)
    n_rows = len(tree.certifier.rows)
    beside.tell(1 + LEAST)
    while tree.can_rise() and not (tree.bound is not None and tree.bound >= beside.best):
        tree.step()
    assert beside.best == LEAST and (tree.bound is None or tree.bound >= LEAST)
    assert tree.n_cuts == len(tree.certifier.rows) - n_rows == tree.program.solver.getNumRow() - n_rows > 0


def test_a_basis_from_before_cuts_is_started_from() -> None:
    tree, _ = grown(SQUARES)
    answer = tree.program.solve()
    before, n_rows = tree.program.basis(), len(tree.certifier.rows)
    assert tree.add_cuts(answer)
    tree.program.solve()
    assert list(tree.program.basis().row_status)[:n_rows] != list(before.row_status)
    tree.program.start_from(before)
    now = tree.program.basis()
    assert list(now.col_status) == list(before.col_status) and list(now.row_status) == list(before.row_status)
    assert len(now.row_status) == n_rows + tree.n_cuts


def test_the_cuts_of_nodes_count_among_those_of_the_relaxation() -> None:
    root = root_of(SQUARES)
    beside = root.listener
    beside.began, beside.worked = beside.now(), beside.work_time()
    beside.tell(1 + LEAST)
    beside.search(root)
    assert root.n_cuts == 0 < beside.n_cuts and beside.best == LEAST


CYCLE = 9
EXCLUDING = "".join(f"var bool: x{i} :: output_var;\n" for i in range(CYCLE)) + "".join(
    f"constraint bool_clause([],[x{i},x{(i + 1) % CYCLE}]);\n" for i in range(CYCLE)
)
STABLE = f"""{EXCLUDING}var 0..9: total;
constraint bool_lin_eq({[1] * CYCLE},[{",".join(f"x{i}" for i in range(CYCLE))}],total);
solve maximize total;
"""


def test_zero_half_cuts_stay_where_they_prove_more_than_the_tree_has() -> None:
    """Half of each thing is 4.5, and the sum of all pairs says 4."""
    root = root_of(STABLE)
    rows, n_kept = root.rows, len(root.rows)
    assert root.value == -4.5
    root.cut_deeper(rows, root.bound - 1)
    assert root.value == -4 and len(root.rows) > n_kept
    assert root.program.solver.getNumRow() == len(root.rows) == len(root.certifier.rows)


def test_zero_half_cuts_leave_where_they_prove_no_more() -> None:
    root = root_of(STABLE)
    rows, n_kept = root.rows, len(root.rows)
    root.cut_deeper(rows, -4)
    assert root.rows is root.certifier.rows is rows and root.program.solver.getNumRow() == n_kept


@pytest.mark.parametrize(("nodes", "seconds", "deeper"), [(1, 99.0, True), (10**6, 0.0, True), (10**6, 99.0, False)])
def test_a_tree_that_is_not_small_goes_back_to_the_root_once(monkeypatch, nodes, seconds, deeper) -> None:
    monkeypatch.setattr(THREAD, "small_tree", nodes)
    monkeypatch.setattr(THREAD, "small_tree_seconds", seconds)
    went: list[int] = []
    monkeypatch.setattr(Beside, "cut_deeper", lambda beside, root, tree: went.append(tree.n_nodes))
    root = root_of(SQUARES)
    beside = root.listener
    beside.began, beside.worked = beside.now(), beside.work_time()
    beside.tell(1 + LEAST)
    beside.search(root)
    assert beside.best == LEAST and len(went) == deeper
    assert went in ([], [0] if seconds == 0 else [nodes])


def test_the_tree_goes_on_with_the_rows_and_the_box_of_the_root() -> None:
    """All of its nodes have bases from before."""
    root = root_of(STABLE)
    tree = Tree(root.relaxation, root.program, root.certifier, root.listener)
    tree.push(Node(root.bound, (), None))
    tree.step()
    root.listener.cut_deeper(root, tree)
    assert tree.certifier is root.certifier and tree.lower is root.lower and tree.upper is root.upper
    while tree.can_rise():
        tree.step()
    assert root.listener.best == -4 and tree.bound is None


@pytest.mark.parametrize("proves", [False, True])
def test_cuts_of_a_tree_stay_whether_those_of_the_root_do(monkeypatch, proves: bool) -> None:
    monkeypatch.setattr(TUNING, "root_cuts", 0)  # all slack cuts of the root leave at once
    root = root_of(SQUARES)
    tree = Tree(root.relaxation, root.program, root.certifier, root.listener)
    tree.push(Node(root.bound, (), None))
    tree.step()
    assert tree.n_cuts > 0 and tree.bound is not None
    rows = tree.certifier.rows
    monkeypatch.setattr(Root, "add_cuts", lambda root, answer, deep: add_a_slack_row(root, answer))
    root.cut_deeper(rows, -(10**9) if proves else tree.bound)
    assert root.program.solver.getNumRow() == len(root.rows) == len(root.certifier.rows) >= len(rows)
    assert [root.rows.row(number) for number in range(len(rows))] == [rows.row(number) for number in range(len(rows))]


def add_a_slack_row(root: Root, answer: Answer) -> bool:
    """A round of cuts in which one is added that says nothing."""
    root.drop_slack_cuts(answer)
    row = LinearRows.of([({0: 1}, -1000, 1000)])
    root.program.add(row)
    root.replace(root.rows.followed_by(row))
    return True


def test_time_for_cuts_of_the_root_is_no_time_of_nodes(monkeypatch) -> None:
    monkeypatch.setattr(THREAD, "small_tree", 1)
    root = root_of(SQUARES)
    beside = root.listener
    clock, spent = beside.work_time, [0.0]
    beside.work_time = lambda: clock() + spent[0]

    def take_long(root: Root, tree: Tree) -> None:
        spent[0] += 100 * THREAD.tree_seconds

    beside.cut_deeper = take_long
    beside.began, beside.worked = beside.now(), beside.work_time()
    beside.share = np.inf
    beside.tell(10**6)  # far off
    beside.search(root)
    assert beside.best == LEAST


def test_no_bound_is_below_the_interval_of_the_objective(monkeypatch) -> None:
    """Rounded duals may prove less."""
    monkeypatch.setattr(Root, "prove", lambda root, answer: None)
    for goal, bound in (("minimize", 3), ("maximize", -9)):
        text = f"var 3..9: z; var 0..9: x; constraint int_lin_le([1,-1],[x,z],0); solve {goal} z;"
        assert root_of(text).bound == bound
