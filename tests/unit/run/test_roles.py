"""Which blocks learn, and in which roles, where the user leaves it open."""

from __future__ import annotations

import pytest

from turbo_fzn.engine.abi.abi import METHODS
from turbo_fzn.options.options import Options
from turbo_fzn.process.interrupt import Interrupt
from turbo_fzn.read.flatzinc import parse_text
from turbo_fzn.run.engines import cpu_settings
from turbo_fzn.run.machine import Machine
from turbo_fzn.run.policy import Decision, decide
from turbo_fzn.run.prepare import prepare
from turbo_fzn.run.roles import IN_TURN, TEAM, Learner, choose_alone, choose_learners
from turbo_fzn.tnf.language import TNF

TWICE = ("prover", "finder", "finder")  # who joins when the team begins again


@pytest.mark.parametrize(
    ("goal", "blocks", "roles"),
    [
        ("minimize x", 1, ("soloist",)),
        ("satisfy", 1, ("soloist",)),
        ("maximize x", 2, ("soloist",)),
        ("satisfy", 2, ("soloist",)),
        ("satisfy", 3, ("prover", "finder")),
        ("minimize x", 3, ("prover", "finder")),
        ("maximize x", 4, ("prover", "finder", "finder")),
        ("satisfy", 7, ("prover", "finder", "finder", "prover", "follower", "finder")),
        ("maximize x", 8, ("prover", "finder", "finder", "prover", "follower", "finder")),
        ("maximize x", 13, ("prover", "finder", "finder", "prover", "follower", "finder", "follower", *TWICE)),
    ],
)
def test_free_search_learns_in_some_blocks(goal, blocks, roles):
    text = f"var 0..9: x; solve :: int_search([x], input_order, indomain_min, complete) {goal};"
    tnf = prepare(parse_text(text), Options(), Interrupt()).tnf
    assert roles_of(tnf, Options(free_search=True, threads=blocks)) == roles
    assert roles_of(tnf, Options(free_search=True, threads=blocks, learn="off")) == ()


@pytest.mark.parametrize(("terms", "blocks", "seeks"), [(3, 5, True), (3, 4, False), (2, 5, False)])
def test_one_seeks_cores_where_the_objective_is_a_sum_of_several_terms(terms, blocks, seeks):
    names = [f"x{i}" for i in range(terms)]
    factors = ",".join("1" * terms)
    text = "".join(f"var 0..9: {name};" for name in names) + "var 0..27: z;"
    text += f"constraint int_lin_eq([{factors},-1],[{','.join(names)},z],0); solve minimize z;"
    tnf = prepare(parse_text(text), Options(), Interrupt()).tnf
    assert ("cores" in roles_of(tnf, Options(free_search=True, threads=blocks))) == seeks


@pytest.mark.parametrize(
    ("asked", "sets"),
    [
        ({"threads": 1}, [IN_TURN]),
        ({"threads": 3}, [IN_TURN, ("all",)]),
        ({"threads": 8}, [IN_TURN, ("all",), ("labelled",), ("labelled",), ("all",), ("truths",)]),
        ({"threads": 3, "learn": "prover,finder"}, [IN_TURN, IN_TURN]),
        ({"threads": 3, "learn": "finder:truths,finder"}, [("truths",), IN_TURN]),
    ],
)
def test_members_of_a_team_differ_in_what_they_decide_first(asked, sets):
    text = "var 0..9: x; solve :: int_search([x], input_order, indomain_min, complete) minimize x;"
    tnf = prepare(parse_text(text), Options(), Interrupt()).tnf
    options = Options(free_search=True, **asked)
    decision = decide(tnf, options, Machine(2, "none"), wanted=1)
    assert list(cpu_settings(decision, options).decides) == sets


@pytest.mark.parametrize(("threads", "learners", "percent"), [(3, 2, 100), (4, 2, 50), (8, 4, 50)])
def test_half_of_a_rank_without_a_gpu_search_the_tree_and_neighbourhoods(threads, learners, percent):
    tnf = prepare(parse_text("var 0..9: x; solve minimize x;"), Options(), Interrupt()).tnf
    options = Options(free_search=True, threads=threads)
    decision = decide(tnf, options, Machine(8, "none", is_rank=True), wanted=1)
    wanted = (*TEAM[:3], Learner("prover", ("labelled",)))[:learners]
    assert decision.learners == tuple(one._replace(fused=place % 2 == 0) for place, one in enumerate(wanted))
    assert decision.cpu_lns_percent == percent


def fused_in(decision: Decision) -> dict[tuple, list[bool]]:
    """Whether they have fused rows, for each kind of learners, in the order in which they join."""
    found: dict[tuple, list[bool]] = {}
    for learner in decision.learners:
        found.setdefault(learner[:2], []).append(learner.fused)
    return found


@pytest.mark.parametrize("flags", [{}, {"without": "prover"}, {"without": "finder"}, {"learn": "finder,prover"}])
def test_those_who_join_again_have_fused_rows_by_turns(flags):
    """With an even number of kinds, as without finders, each kind had always the rows that it had first."""
    tnf = prepare(parse_text("var 0..9: x; solve minimize x;"), Options(), Interrupt()).tnf
    if "learn" in flags:
        flags = {"learn": ",".join([flags["learn"]] * 7)}
    decision = decide(tnf, Options(free_search=True, threads=32, **flags), Machine(32, "none"), wanted=1)
    kinds = fused_in(decision)
    assert min(map(len, kinds.values())) > 1
    assert all(rows == [rows[0] ^ (place % 2 == 1) for place in range(len(rows))] for rows in kinds.values())
    assert abs(2 * sum(one.fused for one in decision.learners) - len(decision.learners)) <= 1


def test_a_learner_that_is_alone_has_fused_rows():
    tnf = prepare(parse_text("var 0..9: x; solve minimize x;"), Options(), Interrupt()).tnf
    decision = decide(tnf, Options(free_search=True, threads=4, learn="prover"), Machine(4, "none"), wanted=1)
    assert decision.learners == (Learner("prover", IN_TURN, fused=True),)


def test_one_for_cores_decides_labelled_variables_first_and_a_lone_team_has_other_sets():
    text = "".join(f"var 0..9: x{i};" for i in range(3)) + "var 0..27: z;"
    text += "constraint int_lin_eq([1,1,1,-1],[x0,x1,x2,z],0); solve minimize z;"
    tnf = prepare(parse_text(text), Options(), Interrupt()).tnf
    assert choose_learners(tnf, Options(), 5, True)[3] == Learner("cores", ("labelled",))
    alone = choose_alone(Options(), 6, True, frozenset(METHODS))
    roles = ("soloist", "finder", "prover", "follower", "cores", "soloist")
    assert alone == tuple(Learner(role, ("all",) if role == "finder" else IN_TURN) for role in roles)


@pytest.mark.parametrize(
    ("goal", "flags", "is_rank", "percent"),
    [
        ("minimize x", {"free_search": True, "threads": 8}, False, 100),
        ("minimize x", {"free_search": True, "threads": 8}, True, 50),
        ("satisfy", {"free_search": True, "threads": 8}, False, 50),
        ("satisfy", {"free_search": True, "threads": 3}, False, 100),
        ("minimize x", {"free_search": True, "threads": 4, "learn": "prover"}, False, 50),
        ("minimize x", {"threads": 4, "lns": "on"}, False, 50),
        ("minimize x", {"free_search": True, "threads": 1}, False, 50),
    ],
)
def test_all_others_search_neighbourhoods_where_most_learn_in_free_search_for_an_optimum(goal, flags, is_rank, percent):
    text = f"var 0..9: x; solve :: int_search([x], input_order, indomain_min, complete) {goal};"
    tnf = prepare(parse_text(text), Options(), Interrupt()).tnf
    options = Options(**flags)
    assert decide(tnf, options, Machine(8, "none", is_rank=is_rank), wanted=1).cpu_lns_percent == percent


@pytest.mark.parametrize("threads", [None, 1, 2, 5])
@pytest.mark.parametrize(("goal", "roles"), [("minimize x", ("follower",)), ("satisfy", ())])
def test_an_annotation_is_followed_by_a_learner_to_optimise(goal, roles, threads):
    text = f"var 0..9: x; solve :: int_search([x], input_order, indomain_min, complete) {goal};"
    tnf = prepare(parse_text(text), Options(), Interrupt()).tnf
    assert roles_of(tnf, Options(threads=threads)) == roles
    assert roles_of(tnf, Options(threads=threads, learn="off")) == ()


def roles_of(tnf: TNF, options: Options) -> tuple[str, ...]:
    return cpu_settings(decide(tnf, options, Machine(2, "none"), wanted=1), options).roles


@pytest.mark.parametrize(("no_gpu", "learners"), [("none", 6), (None, 7)])
def test_the_memory_is_for_all_learners_together(no_gpu, learners):
    tnf = prepare(parse_text("var 0..9: x; solve minimize x;"), Options(), Interrupt()).tnf
    options = Options(free_search=True, threads=8, memory=60)
    settings = cpu_settings(decide(tnf, options, Machine(2, no_gpu), 1), options)
    assert len(settings.roles) == learners
    assert settings.learn_bytes == 60 * 2**20 // learners


@pytest.mark.parametrize(
    ("cores", "asked", "threads"),
    [(16, {}, 14), (64, {}, 16), (3, {}, 2), (1, {}, 2), (16, {"threads": 5}, 5), (16, {"learn": "off"}, 2)],
)
def test_beside_a_gpu_the_hosts_threads_learn(cores, asked, threads):
    """All but one, which searches neighbourhoods; the members of the team come again and again."""
    tnf = prepare(parse_text("var 0..9: x; solve minimize x;"), Options(), Interrupt()).tnf
    options = Options(**asked)
    settings = cpu_settings(decide(tnf, options, Machine(cores, None), wanted=1), options)
    assert settings.blocks == threads
    learning = 0 if asked.get("learn") else threads - 1
    assert len(settings.roles) == learning
    if learning > 1:
        members = [*TEAM[:3], Learner("prover", ("labelled",)), *TEAM[4:]]  # x is no sum
        own = list(zip(settings.roles, settings.decides))
        assert own == [members[i % len(members)][:2] for i in range(learning)] and settings.lns_percent == 100
        assert settings.fuses == tuple(number % 2 == 0 for number in range(learning))


@pytest.mark.parametrize(
    ("text", "asked", "wanted", "roles"),
    [
        ("var 0..9: x; solve :: int_search([x],input_order,indomain_min,complete) minimize x;", {}, 1, ("follower",)),
        ("var 0..9: x; solve satisfy;", {"all_solutions": True}, 0, ()),
    ],
    ids=["annotated", "all solutions"],
)
def test_beside_a_gpu_one_thread_follows_an_annotation_or_enumerates(text, asked, wanted, roles):
    options = Options(**asked)
    tnf = prepare(parse_text(text), options, Interrupt()).tnf
    settings = cpu_settings(decide(tnf, options, Machine(16, None), wanted), options)
    assert settings.blocks == 1 and settings.roles == roles
