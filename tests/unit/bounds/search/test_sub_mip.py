"""Programs near a solution: what stays, what is released, and what becomes of the points that are found."""

from __future__ import annotations

import time
from itertools import combinations
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from support.command import PATIENCE
from support.relaxations import beside_a, numbers_of, prepared_of, unsolved
from turbo_fzn.bounds.lp.highs import Outcome
from turbo_fzn.bounds.lp.relaxation import LinearRows, Relaxation
from turbo_fzn.bounds.rows.cliques import Conflicts
from turbo_fzn.bounds.search.root import Root
from turbo_fzn.bounds.search.sub_mip import Near
from turbo_fzn.bounds.search.tuning import TUNING
from turbo_fzn.bounds.thread.relaxation_thread import Beside
from turbo_fzn.bounds.thread.tuning import TUNING as THREAD
from turbo_fzn.bounds.thread.turns import BesideInTurns
from turbo_fzn.engine.contract import Found
from turbo_fzn.options.options import Options
from turbo_fzn.run.bounding import Bounding, EngineBoxes
from turbo_fzn.run.judge import Judge

# Ordered things, whose lengths keep them apart, each with a place that it would like to have: b<i>_<j> says that i is
# before j. One thing alone can hardly move.
LENGTHS, WISHES, END = np.array([6, 9, 4, 7]), np.array([22, 20, 21, 19]), 40
THINGS = range(len(LENGTHS))
PAIRS = [*combinations(THINGS, 2)]
LAYOUT = "\n".join(
    [
        *(f"var 0..{END}: x{i} :: output_var; var 0..{END}: off{i} :: output_var;" for i in THINGS),
        *(f"var bool: b{i}_{j} :: output_var; var bool: b{j}_{i} :: output_var;" for i, j in PAIRS),
        "var 0..999: total :: output_var;",
        *(f"constraint int_lin_le([1,-1],[x{i},off{i}],{WISHES[i]});" for i in THINGS),
        *(f"constraint int_lin_le([-1,-1],[x{i},off{i}],{-WISHES[i]});" for i in THINGS),
        *(
            f"constraint int_lin_le_reif([1,-1],[x{i},x{j}],{-LENGTHS[i]},b{i}_{j});"
            for pair in PAIRS
            for i, j in (pair, pair[::-1])
        ),
        *(f"constraint array_bool_or([b{i}_{j},b{j}_{i}],true);" for i, j in PAIRS),
        "constraint int_lin_eq([1,1,1,1,-1],[off0,off1,off2,off3,total],0);",
        "solve minimize total;",
    ]
)
PLACES = np.stack(np.meshgrid(*[np.arange(END + 1)] * len(LENGTHS), indexing="ij"), axis=-1).reshape(-1, len(LENGTHS))
FAR = np.array([0, 8, 20, 36])  # in the order 0, 1, 2, 3


def least(is_before: dict[tuple[int, int], bool]) -> int:
    """The least total of all places in which these things are, or are not, before others."""
    places = PLACES
    for i, j in PAIRS:
        before, after = (places[:, a] + LENGTHS[a] <= places[:, b] for a, b in ((i, j), (j, i)))
        places = places[before == is_before[i, j]] if (i, j) in is_before else places[before | after]
    return int(np.abs(places - WISHES).sum(axis=1).min())


IN_ORDER, OF_ALL = least(dict.fromkeys(PAIRS, True)), least({})


class Case:
    """The relaxation of a model beside no search, and a solution: places of things."""

    def __init__(self) -> None:
        prepared = prepared_of(LAYOUT)
        self.beside = beside_a(prepared)
        self.near = Near(unsolved(self.beside), self.beside)
        assert isinstance(self.beside.boxes, EngineBoxes)
        self.boxes = self.beside.boxes
        self.lower, self.upper = self.near.relaxation.lower, self.near.relaxation.upper
        column = dict(zip(self.boxes.places.tolist(), self.boxes.columns.tolist()))
        self.columns = {name: column.get(number, -1) for name, number in numbers_of(prepared).items()}
        self.take(FAR)
        self.near.seconds = PATIENCE  # on a busy machine, too

    def take(self, places: np.ndarray) -> None:
        lower, upper = self.lower.copy(), self.upper.copy()
        for i, place in enumerate(places.tolist()):
            for name, value in ((f"x{i}", place), (f"off{i}", abs(place - WISHES[i]))):
                lower[self.columns[name]] = upper[self.columns[name]] = value
        assert self.boxes.narrow(lower, upper, 999) is None
        self.boxes.incumbent = self.boxes.found.pop()
        self.boxes.take_best()
        self.beside.tell(self.boxes.incumbent.objective)


def test_amounts_move_together_where_all_truths_stay():
    case = Case()
    assert case.beside.best > IN_ORDER > OF_ALL
    case.near.look_again()
    assert case.beside.best == IN_ORDER == case.boxes.found[-1].objective


def test_truths_are_released_near_a_solution_that_has_no_new_ones():
    case = Case()
    case.near.look_again()
    case.near.part = 1.0
    case.near.look_again()
    assert case.beside.best == OF_ALL


@pytest.mark.parametrize("part", [0.1, 0.4])
def test_of_what_is_released_so_many_are_truths_and_the_others_stay(part, monkeypatch):
    case, stayed = Case(), []
    monkeypatch.setattr(Near, "solve", lambda near, stay, values: stayed.append(stay) or Outcome.UNFINISHED)
    case.near.part = part
    for _ in range(2):
        case.near.look_again()
    are_truths = (case.lower == 0) & (case.upper == 1)
    assert np.array_equal(stayed[0], are_truths)
    assert not np.any(stayed[1] & ~are_truths)
    assert are_truths.sum() - stayed[1].sum() == np.ceil(part * are_truths.sum())


def test_what_is_released_is_connected_by_short_rows(monkeypatch):
    """Two groups of truths that one long row connects: a part of one fifth is of one group, of more it is of both."""
    rows = [({i: 1, i + 1: 1}, 0, 1) for group in (0, 10) for i in range(group, group + 9)]
    rows.append((dict.fromkeys(range(20), 1), 0, 20))
    monkeypatch.setattr(TUNING, "connecting_row", 2)
    ends = np.zeros(20, np.int64), np.ones(20, np.int64)
    relaxation = Relaxation(*ends, LinearRows.of(rows), 0, 1, np.arange(20), {}, Conflicts())
    known = np.ones(20, bool)
    for seed in range(20):
        near = Near(SimpleNamespace(relaxation=relaxation), SimpleNamespace(), seed)
        near.part = 0.5
        assert near.some_of(known).sum() == 10 and near.some_of(known)[:10].sum() in (0, 10)
        near.part = 0.2
        chosen = np.flatnonzero(near.some_of(known))
        assert len(chosen) == 4 and chosen[-1] - chosen[0] == 3
        near.part = 0.7
        assert near.some_of(known).sum() == 14


def near_that(outcomes: list[tuple[Outcome, bool]], monkeypatch: pytest.MonkeyPatch) -> tuple[Case, list[int]]:
    """A case whose programs end so, with or without a solution, and the number of columns that stay in each."""
    case, stayed, script = Case(), [], iter(outcomes)
    case.near.seconds = TUNING.sub_mip_seconds

    def solve(near: Near, stay: np.ndarray, values: np.ndarray) -> Outcome:
        stayed.append(int(stay.sum()))
        outcome, found = next(script)
        case.beside.n_found += found
        return outcome

    monkeypatch.setattr(Near, "solve", solve)
    return case, stayed


N_TRUTHS = 2 * len(PAIRS)
DONE, LATE = Outcome.OPTIMAL, Outcome.UNFINISHED


def test_a_program_that_is_successful_to_the_end_of_its_time_goes_on(monkeypatch):
    case, stayed = near_that([(LATE, True), (LATE, True), (DONE, True), (DONE, False)], monkeypatch)
    for _ in range(4):
        case.near.look_again()
    assert [number == N_TRUTHS for number in stayed] == [True, True, True, False]
    assert case.near.seconds == TUNING.sub_mip_seconds


def test_programs_that_release_some_come_between_those_that_release_none(monkeypatch):
    """However often the truths of the best solution change."""
    case, stayed = near_that([(DONE, False)] * 4, monkeypatch)
    for order in ((0, 1, 2, 3), (1, 0, 2, 3), (2, 0, 1, 3), (3, 0, 1, 2)):
        places = np.zeros(len(LENGTHS), int)
        places[list(order)] = np.cumsum([0, *LENGTHS[list(order)][:-1]])
        case.take(places)
        case.near.look_again()
    assert [number == N_TRUTHS for number in stayed] == [True, False, True, False]


def test_near_the_same_truths_every_further_program_releases_some(monkeypatch):
    case, stayed = near_that([(DONE, False)] * 4, monkeypatch)
    for _ in range(4):
        case.near.look_again()
    assert [number == N_TRUTHS for number in stayed] == [True, False, False, False]


def test_what_propagation_finds_is_found_too():
    """All truths and all amounts but one stay: no program is solved."""
    case = Case()
    case.near.are_truths = np.ones(len(case.lower), bool)
    case.near.are_truths[[case.columns[name] for name in ("x3", "off3", "total")]] = False
    case.near.root.lower[case.columns["x3"]] = case.near.root.upper[case.columns["x3"]] = FAR[3] - 1
    case.near.look_again()
    assert case.near.failures == 0 and case.beside.n_found == 1 and case.beside.best < np.abs(FAR - WISHES).sum()


def test_truths_that_no_better_solution_has_do_not_stay(monkeypatch):
    """The relaxation has proved this of one, and the others stay."""
    case, stayed = near_that([(DONE, False)], monkeypatch)
    case.near.root.upper[case.columns["b0_1"]] = 0
    case.near.look_again()
    assert stayed == [N_TRUTHS - 1]


def test_truths_that_are_open_in_the_solution_do_not_stay():
    case, stayed = Case(), []
    point = case.boxes.take_point()
    assert point is not None
    column = case.columns["b0_1"]
    point[0][column], point[1][column] = 0, 1
    case.near.solve = lambda stay, values: stayed.append(stay) or DONE  # type: ignore[method-assign]
    case.near.look(point)
    assert not stayed[0][column] and stayed[0].sum() == N_TRUTHS - 1


def test_an_empty_box_is_a_program_that_has_ended():
    case = Case()
    case.beside.best = 0
    for _ in range(2):
        case.near.look_again()
    assert case.near.part == pytest.approx(TUNING.part_growth * TUNING.released_part) and case.near.seconds == PATIENCE


def test_time_grows_where_nothing_is_found_in_it(monkeypatch):
    case, _ = near_that([(LATE, False)] * 20, monkeypatch)
    for n in range(1, 7):
        case.near.may_keep, case.near.kept = True, np.empty(0, np.int64)
        case.near.look_again()
        assert case.near.seconds == min(TUNING.sub_mip_seconds * 2**n, TUNING.longest_sub_mip_seconds)


@pytest.mark.parametrize(
    ("outcome", "found", "part"),
    [
        (DONE, False, TUNING.part_growth * TUNING.released_part),
        (Outcome.INFEASIBLE, False, TUNING.part_growth * TUNING.released_part),
        (LATE, True, TUNING.released_part),
        (LATE, False, TUNING.part_decay * TUNING.released_part),
    ],
)
def test_a_part_grows_or_shrinks_with_the_time_that_it_takes(outcome, found, part, monkeypatch):
    case, _ = near_that([(DONE, False), (outcome, found)] + [(outcome, found)] * 50, monkeypatch)
    case.near.look_again()
    case.near.look_again()
    assert case.near.part == pytest.approx(part)
    for _ in range(40):
        case.near.look_again()
    assert TUNING.least_released_part <= case.near.part <= 1.0


def test_programs_in_vain_are_followed_by_longer_rests(monkeypatch):
    case, _ = near_that([(DONE, False)] * 12 + [(DONE, True)], monkeypatch)
    clock = {"work": 0.0, "now": 100.0}

    def work_time() -> float:
        clock["work"] += 0.5
        return clock["work"]

    monkeypatch.setattr(case.beside, "work_time", work_time)
    monkeypatch.setattr(case.beside, "now", lambda: clock["now"])
    for n in range(1, 13):
        case.near.look_again()
        assert case.near.next == 100 + 0.5 * min(2**n, TUNING.sub_mip_rest) and not case.near.is_due()
    case.near.look_again()
    assert case.near.next == 100 and case.near.is_due()


def test_a_point_that_is_no_solution_is_a_suggestion(monkeypatch):
    """It satisfies the rows, but the relaxation may lack a constraint."""
    case, suggested = Case(), []
    best = case.beside.best
    monkeypatch.setattr(case.beside, "suggest", suggested.append)
    monkeypatch.setattr(case.beside, "offer", lambda relaxation, values: None)
    case.near.look_again()
    assert case.beside.best == best and case.near.failures == 1
    totals = [int(np.rint(values[case.columns["total"]])) for values in suggested]
    assert totals[-1] == IN_ORDER and all(total < best for total in totals)


def test_a_false_point_is_no_solution():
    """Whatever HiGHS says: the point is propagated by all rows."""
    case = Case()
    best, rng = case.beside.best, np.random.default_rng(0)
    for _ in range(200):
        values = rng.integers(case.lower, case.upper, endpoint=True).astype(float)
        values[case.columns["total"]] = rng.integers(best)
        case.near.take(values)
    assert case.beside.best == best and not case.boxes.found


def test_where_no_truth_can_stay_nothing_is_looked_for():
    rows = LinearRows.of([({0: 1, 1: 1}, 0, 9)])
    relaxation = Relaxation(np.zeros(2, np.int64), np.array([9, 9]), rows, 1, 1, np.arange(2), {}, Conflicts())
    root: Any = SimpleNamespace(relaxation=relaxation)
    assert not Near(root, SimpleNamespace()).is_worth_it()
    root.relaxation.upper[0] = 1
    assert Near(root, SimpleNamespace()).is_worth_it()


def test_a_relaxation_that_is_too_large_has_no_programs_near(monkeypatch):
    case = Case()
    assert case.beside.programs_near(case.near.root) is not None
    monkeypatch.setattr(TUNING, "sub_mip_entries", len(case.near.relaxation.rows.values) - 1)
    assert case.beside.programs_near(case.near.root) is None


def test_a_relaxation_with_a_small_share_of_the_time_has_none():
    case = Case()
    case.beside.share = 0.1
    assert case.beside.programs_near(case.near.root) is None


def test_a_program_ends_before_the_interpreter_stops_waiting_for_its_thread():
    assert TUNING.longest_sub_mip_seconds < THREAD.last_seconds


def test_in_turns_there_are_none_since_their_seconds_are_those_of_a_clock():
    case = Case()
    in_turns = BesideInTurns(lambda: case.near.relaxation, 0.0, case.boxes, lambda: None, 1.0)
    assert in_turns.programs_near(case.near.root) is None


def test_the_thread_looks_near_solutions_until_the_search_ends(monkeypatch):
    """Here no bound is proved, so what is found is found near the solution."""
    case = Case()
    monkeypatch.setattr(TUNING, "sub_mip_seconds", PATIENCE)
    monkeypatch.setattr(Root, "settle", lambda root: None)
    monkeypatch.setattr(Beside, "search", lambda beside, root: None)
    case.beside.start()
    last = time.monotonic() + PATIENCE
    while case.beside.best > OF_ALL and time.monotonic() < last:
        time.sleep(0.01)
    assert case.beside.best == OF_ALL and case.beside.thread.is_alive()
    case.beside.stop()
    case.beside.thread.join(PATIENCE)
    assert not case.beside.thread.is_alive() and case.beside.fault is None


@pytest.mark.parametrize(("slow", "new", "looks"), [(True, False, 1), (False, True, 1), (False, False, 0)])
def test_beside_a_tree_it_looks_near_new_solutions_or_if_the_bound_stands_still(slow, new, looks, monkeypatch):
    case, looked = Case(), []
    monkeypatch.setattr(Near, "look_again", lambda near: looked.append(1))
    case.beside.near, case.beside.first = case.near, -1000
    case.beside.bound = case.beside.first if slow else case.beside.best - 1
    if not new:
        case.boxes.take_point()
    case.beside.look_aside()
    assert len(looked) == looks
    case.near.next = np.inf
    case.beside.look_aside()
    assert len(looked) == looks


def test_a_tree_that_is_not_small_is_interrupted_by_looks(monkeypatch):
    case, looked = Case(), []
    for name, value in (("small_tree", 2), ("tree_seconds", 99.0)):
        monkeypatch.setattr(THREAD, name, value)
    monkeypatch.setattr(Beside, "look_aside", lambda beside: looked.append(tree.n_nodes))
    tree = SimpleNamespace(n_nodes=0, probing=0.0, bound=0, is_full=lambda: False, can_rise=lambda: tree.n_nodes < 4)
    tree.step = lambda: setattr(tree, "n_nodes", tree.n_nodes + 1)
    case.beside.began, case.beside.worked = case.beside.now(), case.beside.work_time()
    case.beside.divide(tree)
    assert looked == [2, 3]


@pytest.mark.parametrize("end", ["stop", "proof"])
def test_it_stays_until_the_search_ends_or_nothing_better_is_left(end, monkeypatch):
    case, rests = Case(), []
    case.beside.near = case.near

    def look_again(near: Near) -> None:
        if len(rests) == 2:
            case.beside.stop() if end == "stop" else case.beside.publish(case.beside.best)

    monkeypatch.setattr(Near, "look_again", look_again)
    monkeypatch.setattr(Beside, "rest", lambda beside: rests.append(1))
    monkeypatch.setattr(THREAD, "rest_seconds", 0)
    case.beside.stay()
    assert len(rests) == 3


class Silent:
    """An engine that takes what the relaxation has."""

    def __getattr__(self, name: str) -> Any:
        return lambda *arguments: None


@pytest.mark.parametrize("sense", [1, -1])
def test_the_relaxation_knows_the_best_solution_of_engine_and_relaxation(sense):
    goal = "minimize x" if sense > 0 else "maximize x"
    text = f"var -9..9: x :: output_var; constraint int_le(-8,x); solve {goal};"
    bounding = Bounding(Judge(prepared_of(text), Options()))
    solutions = {value: Found(sense * value, 0, "finder", np.array([sense * value])) for value in (4, 5, 6, 7, 8)}
    for arrived, found, best in (([7, 6, 8], [], 6), ([7], [], 6), ([], [5], 5), ([8], [4, 7], 4)):
        bounding.boxes.found.extend(solutions[value] for value in found)
        bounding.exchange(Silent(), None, [solutions[value] for value in arrived])
        assert bounding.boxes.incumbent is solutions[best]
    bounding.start()  # another engine: the one before may have taken a box for a solution that was none
    bounding.close()
    bounding.exchange(Silent(), None, [solutions[8]])
    assert bounding.boxes.incumbent is bounding.latest is solutions[7]
