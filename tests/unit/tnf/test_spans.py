"""Bounds from things that stand in a row: never above the least value, and what each form of a model gives."""

from __future__ import annotations

from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support import naive
from support.oracle import all_solutions
from support.small_tnf import check_simplified
from support.span_models import FORMS, TEXT_FORMS, Sheet, Text, refuted, rows_of, sheets, state_pair, stretched, texts
from turbo_fzn.lower.rewrite import lower
from turbo_fzn.read.flatzinc import parse_text
from turbo_fzn.tnf.simplify import simplify
from turbo_fzn.tnf.spans import stretch
from turbo_fzn.tnf.tuning import TUNING

# ---- never too much


@given(sheets())
def test_no_solution_is_below_a_bound(sheet):
    tnf = sheet.tnf()
    for variable, bound in stretched(tnf).items():
        assert refuted(tnf, variable, bound), (variable, bound)


@given(sheets(), st.sampled_from((1, 2)))
def test_no_solution_is_below_a_bound_where_few_things_are_looked_at(sheet, most):
    """Also where no two of them are neighbours."""
    tnf = sheet.tnf()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(TUNING, "span_things", most)
        found = stretched(tnf)
    for variable, bound in found.items():
        assert refuted(tnf, variable, bound), (variable, bound)


@given(sheets(large=False))
def test_what_stands_in_a_row_neither_loses_nor_invents_solutions(sheet):
    check_simplified(sheet.tnf())


@given(texts())
def test_no_solution_of_a_text_is_below_a_bound(text):
    lowered = lower(parse_text(text.text()))
    solutions = all_solutions(parse_text(text.plain()))
    assert not (lowered.tnf.infeasible and solutions)
    found = {} if lowered.tnf.infeasible else stretched(lowered.tnf)
    simplified = simplify(lowered.tnf, naive.propagate)
    small, back = simplified.tnf, simplified.reconstruction
    assert not (small.infeasible and solutions)
    for name in solutions[0] if solutions else ():
        variable, values = lowered.origin[name], [one[name] for one in solutions]
        assert found.get(variable, -100) <= min(values), name
        place = back.position[back.representative[variable]]
        assert place < 0 or small.lower[place] <= min(values) <= max(values) <= small.upper[place], name


# ---- numbers that are large


def machine(text: Text, starts: list[str], sizes: list[object], form: str = "or") -> None:
    for i, j in combinations(range(len(starts)), 2):
        state_pair(text, form, starts[i], sizes[i], starts[j], sizes[j])


def bounds_of(text: Text) -> dict[str, int]:
    """The lower bounds that are found, of variables with a name."""
    lowered = lower(parse_text(text.text()))
    found = stretched(lowered.tnf)
    return {name: found[variable] for name, variable in lowered.origin.items() if variable in found}


@pytest.mark.parametrize("domain", ["int", f"{-(2**42)}..9", f"{-(2**41)}..{2**41}"])
def test_where_things_may_begin_very_early_nothing_is_said_of_the_end(domain):
    text = Text()
    starts = [text.variable(f"x{i}", domain) for i in range(3)]
    text.variable("m", "int")
    machine(text, starts, [2, 3, 4])
    for x in starts:
        text.post(f"int_lt({x},m)")
    assert "m" not in bounds_of(text)


def test_what_no_path_leads_to_is_not_behind():
    text, far = Text(), 2**39 + 2**38
    starts = [text.variable(f"x{i}", f"0..{2**42}") for i in range(3)]
    for name in ("near", "last", "other"):
        text.variable(name, f"{-(2**42)}..{2**44}")
    machine(text, starts, [2, 3, 4])
    text.post("int_le(other,last)")
    for x in starts:
        text.post(f"int_lin_le([1,-1],[{x},near],{-far})")
    assert bounds_of(text) == {"near": far + 5}


@pytest.mark.parametrize("exponent", [30, 41, 59, 61])
def test_lengths_beyond_any_bound_are_no_contradiction(exponent):
    """5 * 2**61 is no number that can be stored; that a model has no solutions must not be said."""
    text = Text()
    starts = [text.variable(f"x{i}", "0..4000000000000000000") for i in range(5)]
    sizes: list[object] = [text.variable(f"d{i}", f"{2**exponent}..{2**exponent + 1}") for i in range(5)]
    text.variable("m", "int")
    machine(text, starts, sizes)
    for x in starts:
        text.post(f"int_le({x},m)")
    lowered = lower(parse_text(text.text()))
    low, high = np.copy(lowered.tnf.lower), np.copy(lowered.tnf.upper)
    variables, bounds = stretch(rows_of(lowered.tnf), low, high)
    found = dict(zip(variables.tolist(), bounds.tolist()))
    assert found[lowered.origin["m"]] == 4 * min(2**exponent, 2**40)


def test_more_things_than_are_looked_at_none_of_them_neighbours(monkeypatch):
    """The first things of pairs of equal weight are looked at."""
    monkeypatch.setattr(TUNING, "span_things", 16)
    sheet, n = Sheet(), TUNING.span_things + 1
    length, s = sheet.constant(2), sheet.variable(0, 100)
    firsts, seconds = ([sheet.variable(0, 50) for _ in range(n)] for _ in range(2))
    for first, second in zip(firsts, seconds):
        ends = sheet.sum(first, length), sheet.sum(second, length)
        sheet.either("or", (ends[0], second), (ends[1], first))
    sheet.holds(ends[0], sheet.sum(s, second))
    tnf = sheet.tnf()
    assert [len(column) for column in stretch(rows_of(tnf), tnf.lower, tnf.upper)] == [0, 0]


# ---- what is found


def airport(form: str, drop: tuple[int, int] | None = None, c: int = -1) -> Text:
    """Counters in a row for flights that meet: how many are between the first and the last?"""
    text = Text()
    sizes: list[object] = [2, 3, 4]
    starts = [text.variable(f"x{i}", "0..20") for i in range(3)]
    text.variable("s", "0..50")
    machine(text, starts, sizes, form)
    for i, j in permutations(range(3), 2):
        if (i, j) != drop:
            text.post(f"int_lin_le([1,-1,-1],[x{i},x{j},s],{-int(str(sizes[i])) - c})")
    return text


@pytest.mark.parametrize("form", TEXT_FORMS)
def test_a_clique_spans_what_its_sizes_sum_up_to(form):
    assert bounds_of(airport(form)) == {"s": 9 - 1}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("strictly_not", [False, True])
def test_rows_of_each_form_are_understood(form, strictly_not):
    sheet = Sheet()
    starts = [sheet.variable(0, 20) for _ in range(3)]
    ends = [sheet.more(start, size) for start, size in zip(starts, (2, 3, 4))]
    s = sheet.variable(0, 50)
    for i, j in combinations(range(3), 2):
        sheet.either(form, (ends[i], starts[j]), (ends[j], starts[i]))
    for i, j in permutations(range(3), 2):
        sheet.holds(sheet.more(ends[i], -1), sheet.sum(s, starts[j]), strictly_not)
    assert stretched(sheet.tnf())[s] == 9 - 1


def test_a_pair_whose_distance_is_known_in_one_direction_only_is_no_pair_of_a_span():
    found = bounds_of(airport("or", drop=(1, 2)))
    assert found == {"s": 2 + 4 - 1}


def test_the_nearest_of_first_and_last_decides():
    text = airport("or")
    text.post("int_lin_le([1,-1,-1],[x2,x0,s],-14)")
    text.post("int_lin_le([1,-1,-1],[x0,x2,s],-12)")
    assert bounds_of(text) == {"s": 9 - 1}


def test_sizes_that_vary_count_at_their_least():
    text = Text()
    starts = [text.variable(f"x{i}", "0..20") for i in range(3)]
    sizes: list[object] = [text.variable(f"d{i}", f"{i + 2}..{2 * i + 4}") for i in range(3)]
    text.variable("m", "0..50")
    machine(text, starts, sizes)
    for x, d in zip(starts, sizes):
        text.post(f"int_lin_le([1,1,-1],[{x},{d},m],0)")
    assert bounds_of(text) == {"m": 2 + 3 + 4}


@pytest.mark.parametrize("moved", [-7, 4])
def test_things_may_stand_a_constant_beside_a_variable(moved):
    sheet = Sheet()
    bases = [sheet.variable(10 - moved * number, 30 - moved * number) for number in range(3)]
    starts = [sheet.more(base, moved * number) for number, base in enumerate(bases)]
    ends = [sheet.more(start, size) for start, size in zip(starts, (2, 3, 4))]
    s, m = sheet.variable(0, 90), sheet.variable(0, 90)
    for i, j in combinations(range(3), 2):
        sheet.either("or", (ends[i], starts[j]), (ends[j], starts[i]))
    for i, j in permutations(range(3), 2):
        sheet.holds(ends[i], sheet.sum(s, starts[j]))
        sheet.holds(ends[i], m)
    assert stretched(sheet.tnf()) == {s: 9, m: 10 + 9}


def test_sizes_that_vary_have_setup_times_too():
    sheet = Sheet()
    starts = [sheet.more(sheet.variable(0, 20), number) for number in range(3)]
    ends = [sheet.sum(sheet.variable(size, 9), start) for start, size in zip(starts, (2, 3, 4))]
    m = sheet.variable(0, 90)
    for i, j in combinations(range(3), 2):
        sheet.either("or", (sheet.more(ends[i], 5), starts[j]), (sheet.more(ends[j], 5), starts[i]))
    for end in ends:
        sheet.holds(end, m)
    assert stretched(sheet.tnf()) == {m: 9 + 2 * 5}


def test_of_setup_times_the_shortest_counts():
    text = Text()
    starts = [text.variable(f"x{i}", "0..30") for i in range(3)]
    text.variable("m", "0..50")
    for (i, j), (h, k) in zip(combinations(range(3), 2), ((3, 4), (5, 6), (7, 8))):
        state_pair(text, "or", starts[i], h, starts[j], k)
    for x in starts:
        text.post(f"int_lin_le([1,-1],[{x},m],0)")
    assert bounds_of(text) == {"m": 3 + 4}  # the weights are 3, 4 and 6


tasks = st.lists(st.tuples(st.integers(0, 12), st.integers(1, 6), st.integers(0, 12)), min_size=2, max_size=5)


def one_machine(jobs: list[tuple[int, int, int]]) -> Text:
    """(head, length, tail) of each."""
    text = Text()
    starts = [text.variable(f"x{i}", f"{head}..99") for i, (head, _, _) in enumerate(jobs)]
    text.variable("m", "0..200")
    machine(text, starts, [length for _, length, _ in jobs])
    for x, (_, length, tail) in zip(starts, jobs):
        text.post(f"int_lin_le([1,-1],[{x},m],{-length - tail})")
    return text


@given(tasks)
def test_heads_lengths_and_tails_count_as_in_the_best_set_of_tasks(jobs):
    sets = [part for n in range(1, len(jobs) + 1) for part in combinations(jobs, n)]
    least = max(min(r for r, _, _ in part) + sum(d for _, d, _ in part) + min(q for _, _, q in part) for part in sets)
    alone = max(sum(job) for job in jobs)
    assert bounds_of(one_machine(jobs)).get("m", alone) == least


def test_tails_are_lengths_of_paths_over_precedences_and_maxima():
    text = Text()
    starts = [text.variable(f"x{i}", "0..20") for i in range(3)]
    for name in ("next", "then", "top", "m"):
        text.variable(name, "0..50")
    machine(text, starts, [2, 3, 4])
    for x in starts[:2]:
        text.post(f"int_lin_le([1,-1],[{x},next],-4)")
    text.post("int_lin_le([1,-1],[next,then],-5)")
    text.post(f"array_int_maximum(top,[{starts[2]},then])")
    text.post("int_lin_le([1,-1],[top,m],-1)")
    assert bounds_of(text)["m"] == max(2 + 3 + 4 - 4 + 1, 2 + 3 - 3 + 4 + 5 + 1)


FT06 = (  # Fisher and Thompson 1963; machines and durations of each job, in order
    ((2, 1), (0, 3), (1, 6), (3, 7), (5, 3), (4, 6)),
    ((1, 8), (2, 5), (4, 10), (5, 10), (0, 10), (3, 4)),
    ((2, 5), (3, 4), (5, 8), (0, 9), (1, 1), (4, 7)),
    ((1, 5), (0, 5), (2, 5), (3, 3), (4, 8), (5, 9)),
    ((2, 9), (1, 3), (4, 5), (5, 4), (0, 3), (3, 1)),
    ((1, 3), (3, 3), (5, 9), (0, 10), (4, 4), (2, 1)),
)


@pytest.mark.parametrize("form", ["or", "implication", "disjunctive"])
@pytest.mark.parametrize("by_maximum", [False, True])
def test_ft06_takes_52_at_the_root(form, by_maximum):
    text = Text()
    horizon = sum(duration for job in FT06 for _, duration in job)
    machines: dict[int, list[tuple[str, int]]] = {}
    for i, job in enumerate(FT06):
        for j, (number, duration) in enumerate(job):
            start = text.variable(f"x{i}_{j}", f"0..{horizon}")
            machines.setdefault(number, []).append((start, duration))
            if j:
                text.post(f"int_lin_le([1,-1],[x{i}_{j - 1},{start}],{-job[j - 1][1]})")
    for number in machines:
        starts, sizes = zip(*machines[number])
        machine(text, list(starts), list(sizes), form)
    text.variable("makespan", f"0..{horizon}")
    for i, job in enumerate(FT06):
        if by_maximum:
            text.variable(f"end{i}", f"0..{horizon}")
            text.post(f"int_lin_eq([1,-1],[end{i},x{i}_5],{job[5][1]})")
        else:
            text.post(f"int_lin_le([1,-1],[x{i}_5,makespan],{-job[5][1]})")
    if by_maximum:
        text.post(f"array_int_maximum(makespan,[{','.join(f'end{i}' for i in range(6))}])")
    lowered = lower(parse_text(text.text("minimize makespan")))
    assert int(naive.propagate(lowered.tnf)[0][lowered.tnf.objective]) == 47
    small = simplify(lowered.tnf, naive.propagate).tnf
    assert int(small.lower[small.objective]) == 52


def test_many_machines_are_all_looked_at():
    """The longest one is not the heaviest, for its sizes come after a head."""
    text = Text()
    text.variable("m", "0..2000")
    for number in range(30):
        starts = [text.variable(f"x{number}_{i}", f"{300 if number == 29 else 0}..900") for i in range(5)]
        text.post(f"turbo_disjunctive([{','.join(starts)}],[{','.join('2' if number == 29 else '9' for _ in starts)}])")
        for x in starts:
            text.post(f"int_lin_le([1,-1],[{x},m],{-2 if number == 29 else -9})")
    assert bounds_of(text)["m"] == 300 + 5 * 2
