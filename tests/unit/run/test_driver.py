"""A run as events: the prepared model, answers, how it goes where that is wanted, and the end with its outcome."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lab.bench.nodes import SearchClock
from support.command import GREATEST_SUM, LEAST_SUM, NO_SOLUTION, THREE_SOLUTIONS, golomb, write
from turbo_fzn.base.errors import ModelError, UsageError
from turbo_fzn.options.options import Options
from turbo_fzn.process.interrupt import Interrupt
from turbo_fzn.read.flatzinc import parse_text
from turbo_fzn.run.answer.outcome import Finished, Sample, Solution
from turbo_fzn.run.driver import Run, events_of
from turbo_fzn.run.prepare import prepare
from turbo_fzn.run.prepared import Prepared
from turbo_fzn.run.search import Search
from turbo_fzn.tnf.text import write_file

OPTIONS = Options(arch="cpu", threads=1, seed=1)
ALL = replace(OPTIONS, all_solutions=True)
TERMS = ",".join(f"x{i}" for i in range(9))
LONG_SUM = "".join(f"var 0..9: x{i} :: output_var;\n" for i in range(9))  # whose inner links come last
LONG_SUM += f"constraint int_lin_le([1,2,3,4,5,6,7,8,9],[{TERMS}],40); solve satisfy;"


def kinds(events: list) -> list[type]:
    """The kinds of the events, with repetitions in succession removed."""
    every = [type(event) for event in events]
    return [kind for before, kind in zip([None, *every], every) if kind is not before]


@pytest.mark.parametrize(
    ("text", "options", "between", "status"),
    [
        (LEAST_SUM, OPTIONS, [Solution], "OPTIMAL_SOLUTION"),
        (THREE_SOLUTIONS, OPTIONS, [Solution], "SATISFIED"),
        (THREE_SOLUTIONS, ALL, [Solution], "ALL_SOLUTIONS"),
        (NO_SOLUTION, OPTIONS, [], "UNSATISFIABLE"),
    ],
)
def test_the_model_comes_first_and_the_outcome_last(tmp_path, text, options, between, status):
    events = list(events_of(str(write(tmp_path, text)), options, Interrupt()))
    assert kinds(events) == [Prepared, *between, Finished]
    assert events[-1].status == status
    assert events[-1].n_solutions == len(events) - 2
    times = [event.seconds for event in events[1:]]
    assert times == sorted(times) and times[-1] == events[-1].statistics["solveTime"]


def test_a_run_that_its_interrupt_ends_is_open_to_more(tmp_path):
    interrupt, seen = Interrupt(), []
    for event in events_of(parse_text(golomb(11)), OPTIONS, interrupt):
        seen.append(event)
        if isinstance(event, Solution):
            interrupt.request()
    assert kinds(seen) == [Prepared, Solution, Finished] and seen[-1].status == "SATISFIED"


def test_how_the_search_goes_is_told_where_a_report_is_wanted(tmp_path):
    reported = replace(OPTIONS, report=str(tmp_path / "run.html"))
    for options, told in ((OPTIONS, False), (reported, True)):
        events = list(events_of(parse_text(golomb(7)), options, Interrupt()))
        assert any(isinstance(event, Sample) for event in events) == told
    samples = [event for event in events if isinstance(event, Sample)]
    assert samples == sorted(samples) and samples[-1].nodes <= events[-1].statistics["nodes"]


def test_a_file_a_model_and_its_normal_form_have_the_same_answers(tmp_path):
    path = write(tmp_path, GREATEST_SUM)
    prepared = Run(parse_text(GREATEST_SUM), OPTIONS, Interrupt()).prepare()
    assert prepared.model is not None and "parseTime" not in prepared.times
    write_file(prepared.tnf, str(tmp_path / "model.tnf"))
    answers = []
    for source in (str(path), parse_text(GREATEST_SUM), str(tmp_path / "model.tnf")):
        first, *events = events_of(source, OPTIONS, Interrupt())
        assert (first.model is None) == (source == str(tmp_path / "model.tnf"))
        answers.append(([e.objective for e in events if isinstance(e, Solution)][-1], events[-1].status))
    assert answers[0] == answers[1] == answers[2] and answers[0][1] == "OPTIMAL_SOLUTION"


def test_from_its_arrangement_on_a_run_has_one_numbering(tmp_path):
    """The search had numbers of its own, and the run those of the simplifier still."""
    run = Run(parse_text(LONG_SUM), OPTIONS, Interrupt())
    first = run.prepare()
    events = list(run.events())
    assert events[0] is first and first.tnf.arranged is None
    assert run.search.prepared is run.prepared and run.prepared.tnf.arranged is not None
    run.close()


def test_a_search_has_the_numbers_of_the_model_that_it_is_given():
    prepared = prepare(parse_text(LONG_SUM), OPTIONS, Interrupt())
    assert Search(prepared, OPTIONS, Interrupt()).prepared is prepared


@pytest.mark.parametrize("objectives", ["", ":: lex_minimize([x, y])", ":: lex_minimize([3])"])
def test_to_ask_for_the_objectives_changes_nothing_of_a_run(tmp_path, objectives):
    path = str(write(tmp_path, f"var 1..2: x; var 1..2: y;\nsolve {objectives} satisfy;"))
    asked, silent = Run(path, OPTIONS, Interrupt()), Run(path, OPTIONS, Interrupt())
    model, source = asked.model, asked.source
    assert (asked.several() is not None) == ("[x" in objectives)
    assert asked.model is model and asked.source == source == path
    assert len(silent.model.goal.annotations) == len(model.goal.annotations) == ("[x" in objectives)


def test_messages_call_the_file_as_the_options_do(tmp_path):
    path = str(write(tmp_path, "var 1..2: x; solve"))
    for options, name in ((OPTIONS, path), (replace(OPTIONS, file="mine.fzn"), "mine.fzn")):
        with pytest.raises(ModelError) as caught:
            Run(path, options, Interrupt()).prepare()
        assert caught.value.file == name


def test_a_name_that_there_is_not_is_refused_before_the_file_is_read():
    with pytest.raises(UsageError, match="no role sage"):
        Run("there is no such file", replace(OPTIONS, learn="sage"), Interrupt())


def test_who_stops_listening_closes_the_search(tmp_path):
    run = Run(parse_text(golomb(11)), OPTIONS, Interrupt())
    events = run.events()
    assert isinstance(next(events), Prepared) and run.search is None
    assert isinstance(next(events), Solution)
    run.close()
    assert not run.search.engine.running


def test_the_seconds_of_a_benchmark_count_from_its_search_on(tmp_path):
    """Preparation asks, too, whether it is to stop."""
    clock = SearchClock(300)
    events = events_of(parse_text(golomb(7)), OPTIONS, clock)
    assert isinstance(next(events), Prepared)
    assert not clock and clock.deadline is None
    *_, finished = events
    assert clock.deadline is not None and finished.status == "OPTIMAL_SOLUTION"
