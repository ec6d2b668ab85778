"""Faults for `tests/mutate.py` to put into the solver, one at a time, and the tests that must see each.

A mutation says which mechanism it breaks and how, in which file which text (found there exactly once) becomes which,
and what pytest is to run. A kernel that is changed must be compiled, so the tests are few. What cannot be seen by a
test on a CPU is not here: a fence that is missing, and an incumbent that changes while it is read, which costs a
neighbourhood that finds nothing.
"""

from __future__ import annotations

from typing import NamedTuple


class Mutation(NamedTuple):
    mechanism: str
    fault: str
    file: str
    text: str
    replacement: str
    tests: str


def kernel(mechanism: str, fault: str, file: str, text: str, replacement: str, tests: str) -> Mutation:
    return Mutation(mechanism, fault, f"kernels/{file}", text, replacement, tests)


def host(mechanism: str, fault: str, file: str, text: str, replacement: str, tests: str) -> Mutation:
    return Mutation(mechanism, fault, f"turbo_fzn/{file}", text, replacement, tests)


SHARING, CAPACITIES, FREE = "tests/test_sharing.py", "tests/test_capacities.py", "tests/test_free_search.py"
FIXPOINT, PORTFOLIO, ORDER = "tests/test_fixpoint.py", "tests/test_portfolio.py", "tests/test_search_order.py"
POOL, SEARCH, LEVELS, TASK, VALUES = (f"search/{name}.h" for name in ("pool", "search", "levels", "task", "values"))
NEIGHBOURHOOD, BANDIT = "free/neighbourhood.h", "free/portfolio.h"

SUBPROBLEMS = [
    kernel("donation", "nothing is given away", SEARCH,
           "is_worth_sharing(b) ? who_wants(b)", "false ? who_wants(b)", SHARING),
    kernel("donation", "what is given away is not counted", POOL,
           "global_add(&b.problem->common->outstanding, 1)", "(void)0", SHARING),
    kernel("donation", "what is exhausted is not counted", POOL,
           "global_add(&b.problem->common->outstanding, -1)", "global_load(&b.problem->common->outstanding)",
           SHARING),
    kernel("donation", "small subproblems are shared too", SEARCH,
           "#define OPEN_LEVELS 2", "#define OPEN_LEVELS 1", SHARING),
    kernel("donation", "no subproblem is kept ready", POOL,
           "n_blocks / BLOCKS_A_RESERVE", "n_blocks * 0", SHARING),
    kernel("donation", "one is kept ready for each block", POOL,
           "n_blocks / BLOCKS_A_RESERVE", "n_blocks", SHARING),
    kernel("donation", "the path lacks its last decision", POOL,
           "path[length] = last;", "(void)last;", SHARING),
    kernel("tickets", "those who wait draw the same one", POOL,
           "global_add(&common->pool_head, (i64)1)", "global_load(&common->pool_head)", SHARING),
    kernel("tickets", "a slot is used once only", POOL,
           "+ b.problem->pool_slots);", "+ 2);", SHARING),
    kernel("replay", "the path is not followed", LEVELS,
           "restrict_domain(b, d.var, interval(d.lower, d.upper));", "(void)d;", f"{SHARING} {CAPACITIES}"),
    kernel("replay", "a level below the trail is entered without one", SEARCH,
           "if (known) replay_path(b, length);", "(void)length;", CAPACITIES),
    kernel("path", "a refuted value stays on it", LEVELS,
           "if (size > level_start && size <= capacity &&", "if (false &&", CAPACITIES),
]  # fmt: skip

TRAIL = [
    kernel("trail", "the old bounds are not written back", LEVELS,
           "b.lower[entry.var] = entry.lower;", "", CAPACITIES),
    kernel("trail", "a dropped level's changes are forgotten", LEVELS,
           "for (i32 i = start + lane(); i < end; i += lanes()) {", "for (i32 i = end; i < end; ++i) {", CAPACITIES),
    kernel("retired rows", "none retires", "core/fixpoint.h",
           "propagate_row(b, row) && RETIRES_ROWS", "propagate_row(b, row) && false", f"{FIXPOINT} -k entailed"),
    kernel("retired rows", "a row retires too early", "core/propagate.h",
           "case OP_LEQ: return x.l ? y.u <= z.l", "case OP_LEQ: return x.l ? y.l <= z.l", f"{CAPACITIES} {FIXPOINT}"),
    kernel("retired rows", "they do not come back", LEVELS,
           "block_and(&b.queued[row >> 5], ~bit);", "", f"{FIXPOINT} {CAPACITIES}"),
    kernel("full stack", "it gives one alternative and no more", SEARCH,
           "while (!claim(b).limited && donate_alternative(b)) {", "if (!claim(b).limited && donate_alternative(b)) {",
           CAPACITIES),
    kernel("full stack", "what is given up is not told", "core/store.h",
           "global_store(&b.problem->common->incomplete, 1)", "(void)0", CAPACITIES),
    kernel("overflow", "what cannot be stored is denied", "core/store.h",
           "give_up(b);\n  return fail(b);", "return fail(b);", "tests/test_overflow.py"),
    kernel("leaving levels out", "levels that print the same are searched", SEARCH,
           "&& lane() == 0) keep_output_levels(b);", "&& false) keep_output_levels(b);",
           "tests/test_profiler.py -k skipped"),
]  # fmt: skip

ROUNDS = [
    kernel("wake step", "a lower bound wakes only who watches both", "core/fixpoint.h",
           "old & FLAG_LOWER ? w.start : w.both", "w.both", FIXPOINT),
    kernel("wake step", "an upper bound wakes only who watches both", "core/fixpoint.h",
           "old & FLAG_UPPER ? w.end : w.upper", "w.upper", FIXPOINT),
    kernel("wake step", "a full list wakes nobody", "core/fixpoint.h",
           "var < b.problem->n_vars; var += groups) wake", "var < 0; var += groups) wake", CAPACITIES),
    kernel("run step", "a full queue runs nothing", "core/fixpoint.h",
           "pending = take_queued(b, i);", "pending = 0;", CAPACITIES),
    kernel("run step", "a stop is not heard", "core/fixpoint.h",
           "b.round % STOP_POLL_ROUNDS == 0 || n_queue >= LONG_ROUND * lanes()", "false",
           "tests/test_concurrency.py -k ages"),
    host("watch lists", "y <= z watches the wrong bound of y", "engine/watch.py",
         "(leq & x_true, WAKE_LOWER, WAKE_UPPER)", "(leq & x_true, WAKE_UPPER, WAKE_UPPER)", FIXPOINT),
]  # fmt: skip

BRANCHING = [
    kernel("branching", "a branch is missing", "search/branch.h",
           "add_branch(&branches, u, u); add_branch(&branches, l, u - 1);", "add_branch(&branches, u, u);", ORDER),
    kernel("branching", "variables without annotation are not labelled", "search/branch.h",
           "Strategy rest = {VAR_INPUT_ORDER, VALUE_MIN, -1, b.problem->n_vars};",
           "Strategy rest = {VAR_INPUT_ORDER, VALUE_MIN, -1, 0};", "tests/test_random_models.py"),
    kernel("failure weights", "they do not steer the search", "search/branch.h",
           "(weight > 1 ? weight : 1)", "1", FREE),
    kernel("failure weights", "no failure is charged", SEARCH,
           "if (b.problem->use_weights) charge_failure(b);", "", FREE),
    kernel("failure weights", "only the last decision is charged", SEARCH,
           "if (by_row && ", "if (by_row && false && ", PORTFOLIO),
    kernel("failure weights", "the row's own variables are charged", SEARCH,
           "add_weight(&b.problem->weights[owner])", "add_weight(&b.problem->weights[var])", PORTFOLIO),
    kernel("warm start", "it is not tried", "block.h",
           "b.problem->n_hints > 0", "false", "tests/test_warm_start.py"),
    kernel("warm start", "it is never given up", NEIGHBOURHOOD,
           "failures_left = FAILURE_LIMIT;", "failures_left = INT32_MAX;", "tests/test_warm_start.py"),
    kernel("warm start", "values outside of the bounds become the least", "search/branch.h",
           "hint > u ? u : hint", "hint > u ? l : hint", "tests/test_warm_start.py"),
]  # fmt: skip

PUBLISHING = [
    kernel("incumbent", "a solution bounds nothing", TASK,
           "tighten_upper(b, p->objective, (value_t)most)", "(void)most", SHARING),
    kernel("incumbent", "what others find is not read", TASK,
           "s.best = known_best(common);", "", SHARING),
    kernel("incumbent", "solutions are published that improve on nothing", "search/mailbox.h",
           "if (*value >= global_min(&p->common->best, *value)) return false;", "global_min(&p->common->best, *value);",
           SHARING),
    kernel("incumbent", "two write it at the same time", "search/incumbent.h",
           "!(version & 1) && global_replace", "global_replace", FREE),
    kernel("incumbent", "it is read while it is written", "search/incumbent.h",
           "version & 1)) break;", "version & 0)) break;", FREE),
    kernel("proved bound", "the search goes on behind it", TASK,
           "proved_bound(common) >= s.best ||", "", SHARING),
    kernel("proved bound", "the root does not know it", TASK,
           "tighten_lower(b, p->objective, (value_t)bound)", "(void)bound", SHARING),
    kernel("ring", "a full one is overwritten", "search/mailbox.h",
           "ticket - global_load(&b.problem->common->consumed) >= b.problem->ring_slots", "false && ticket + tries",
           CAPACITIES),
    kernel("ring", "two solutions get the same place", "search/mailbox.h",
           "global_add(&p->common->ring_head, (i64)1)", "global_load(&p->common->ring_head)", CAPACITIES),
    kernel("profile", "a phase is not told", "solver.h",
           "turn_to(b, ACTIVITY_CHOICE);", "", "tests/test_protocol.py -k profile"),
]  # fmt: skip

FREE_SEARCH = [
    kernel("bandit", "what pays gets no more", BANDIT,
           "return ((float)global_load(&book->recent_gain) + 1) * 1e9f / time;", "return 1 + 0 * time;", FREE),
    kernel("bandit", "what does not pay gets nothing", BANDIT,
           "#define EVEN_SHARE 0.3f", "#define EVEN_SHARE 0.f", FREE),
    kernel("bandit", "long tries are drawn as often", BANDIT,
           "crowded ? 0 : share / usual_ns(book)", "crowded ? 0 : share", FREE),
    kernel("bandit", "all blocks may take the same method", BANDIT,
           "crowded ? 0 : share / usual_ns(book)", "share / usual_ns(book) + 0 * crowded", FREE),
    kernel("bandit", "nothing is forgotten", BANDIT,
           "global_replace(&book->recent_ns, recent, recent / 2)", "false", FREE),
    kernel("neighbourhoods", "random ones fix everything", NEIGHBOURHOOD,
           "SHARE_UNIT) >= share;", "SHARE_UNIT) >= SHARE_UNIT + 0 * share;", FREE),
    kernel("neighbourhoods", "windows fix everything", NEIGHBOURHOOD,
           "(place < 0 ? place + n : place) < length", "(place < 0 ? place + n : place) < 0 * length", FREE),
    kernel("neighbourhoods", "walks visit nothing", "free/walk.h",
           "block_or(flag_word(b, var), FLAG_FREE << flag_shift(var));", "(void)b, (void)var;", FREE),
    kernel("neighbourhoods", "their size is learnt the wrong way round", NEIGHBOURHOOD,
           "exhausted ? -step : step", "exhausted ? step : -step", FREE),
    kernel("islands", "all start from the record", NEIGHBOURHOOD,
           "if (stays_with_record(b)) return;", "return;", f"{PORTFOLIO} -k island"),
    kernel("islands", "none is apart", "search/incumbent.h",
           "island != 0 && island % 3 == 0", "false && island", f"{PORTFOLIO} -k island"),
    kernel("islands", "one apart is never given up", NEIGHBOURHOOD,
           "(i64)-1) == 0 ?", "(i64)-1) == 0 && !settled ?", FREE),
    kernel("probes", "they ask for the next better solution", NEIGHBOURHOOD,
           "bound + (i64)(gap >> (1 + below(next_random(b), PROBE_DEPTHS)))", "worst - 1 + 0 * (i64)gap", FREE),
    kernel("restarts", "they prove nothing", NEIGHBOURHOOD,
           "raise_bound(b, most == NO_INCUMBENT ? most : most + 1);", "(void)most;", FREE),
    kernel("restarts", "they prove too much", NEIGHBOURHOOD,
           "most : most + 1", "most : most + 2", FREE),
    kernel("restarts", "they prove what they gave up", NEIGHBOURHOOD,
           "exhausted && !claim(b).given_up", "exhausted", FREE),
    kernel("restarts", "all are as short as the first", NEIGHBOURHOOD,
           "if ((1 << k) - 1 == i) return 1 << (k - 1);", "return 1;", FREE),
    kernel("restarts", "no branches are reversed", SEARCH,
           "flip_branches(b, &branches);", "", FREE),
    kernel("last conflict", "it is not looked at first", "search/branch.h",
           "if (conflict >= 0 && !is_decided(b, conflict)) {", "if (false) {", FREE),
    kernel("phase saving", "values are not saved", VALUES,
           "global_store(&b.problem->phases[d.var], d.lower)", "(void)0", FREE),
    kernel("phase saving", "saved values are not tried", VALUES,
           "return global_load(&b.problem->phases[var]);", "return b.lower[var];", FREE),
]  # fmt: skip

LEARNING = [
    kernel("learners", "an explanation is too weak", "learn/rules.h",
           "2 * r.y + d, 2 * r.z + d, a.k, t)", "2 * r.y + d, 2 * r.z + d, a.k - 1, t)", "tests/test_explanations.py"),
    kernel("learners", "a comparison with a constant wakes a step too late", "learn/wake.h",
           "is_y == upper ? at : at + 1", "at + 1", "tests/test_learning.py -k canteen"),
    kernel("learners", "a clause passes over a literal when the lists are full", "learn/advance.h",
           "if (another) return !watch_instead(l, watcher->clause, literals, another);",
           "if (another && watch_instead(l, watcher->clause, literals, another)) return false;",
           "tests/test_learning.py -k full_memory"),
    kernel("learners", "they tell each other nothing", "learn/exchange.h",
           "if (!l.problem->exchange || !is_told(l)) return;", "return;", "tests/test_learning.py -k hear"),
    kernel("learners", "one that has seen all does not say so", "learn/learner.h",
           "if (l.exhausted) tell_end(l);", "", "tests/test_learning.py -k creep"),
    kernel("learners", "the bound at level 0 is not told", "learn/learner.h",
           "raise_bound(*l.block, minimum(proved, global_load(&p->common->best)));", "(void)proved;",
           "tests/test_learning.py -k level_0"),
    kernel("learners", "bounds that are none are explained", "learn/learner.h",
           "if (!has_infinite_bound(p)) {", "if (true) {", "tests/test_learning.py -k claims_nothing"),
    host("learners", "they are given models without bounds", "run/roles.py",
         "not finite or ", "", "tests/test_learning.py -k left_to_the_tree"),
    kernel("relaxation", "its bound is not read", TASK,
           "told = global_load(&common->host_bound)", "told = own", SHARING),
]  # fmt: skip

HOST = [
    host("check", "a wrong solution passes", "run/judge.py",
         "if violation is not None:", "if False:", "tests/test_cli_errors.py -k check"),
    host("check", "many wrong solutions pass", "run/judge.py",
         "not self.floats and self._all_hold(batch)", "not self.floats", "tests/test_cli_errors.py -k check"),
    host("answers", "an output is printed again", "run/answers.py",
         "if key in self.seen:", "if False:", "tests/test_optimal.py"),
    host("answers", "the output is said to determine all", "run/answers.py",
         "return count == tnf.n_vars", "return count > 0", "tests/test_optimal.py tests/test_answers_determined.py"),
    host("reconstruction", "a removed definition gives no value", "tnf/simplify.py",
         "for rows in reversed(self.removed):", "for rows in ():", "tests/test_simplify.py"),
    host("32 and 64 bits", "a store is thought wider than it is", "tnf/language.py",
         "NARROW_LIMIT = 2**30 - 1", "NARROW_LIMIT = 2**31 - 1", "tests/test_limits.py -k witness"),
    host("team", "one that joins does not know the best solution", "engine/team.py",
         "engine.start(self.best)", "engine.start(None)", "tests/test_team.py"),
    host("team", "nobody is told what others find", "engine/team.py",
         "self._tell_best(self.best, finder)", "pass", "tests/test_team.py"),
    host("team", "nobody is told what others prove", "engine/team.py",
         "            self._tell_bound()\n", "", "tests/test_team.py"),
    host("team", "what one that fails has found is lost", "engine/member.py",
         "self.left = engine.poll()", "self.left = []", "tests/test_team.py"),
    host("team", "the end waits until the GPU is ready", "engine/member.py",
         "self.maker.abandon()", "self.maker.thread.join()", "tests/test_team.py"),
    kernel("parcels", "nothing is sent to other engines", "search/parcels.h",
           "if (length >= p->parcel_path || !is_wanted_elsewhere(p)) return false;", "return false;",
           "tests/test_ranks.py -k stolen"),
    kernel("parcels", "what comes from other engines is not counted", "search/parcels.h",
           "global_add(&p->common->outstanding, 1);", "", "tests/test_ranks.py -k every_part"),
    host("tree", "what an engine had that fails is lost", "engine/tree.py",
         "                self.hand += branch.given\n", "", "tests/test_fleet.py -k had_that_fails"),
    host("tree", "what is dropped is not missed", "engine/tree.py",
         "return self.ledger.balances(len(self.hand))", "return True", "tests/test_ranks.py -k dropped"),
    host("census", "a rank that has something left is thought passive", "ranks/census.py",
         "self.passive and other.passive", "True", "tests/test_ranks.py -k census"),
    host("census", "what is under way is not looked at", "ranks/census.py",
         "before.received == total.sent", "True", "tests/test_ranks.py -k census"),
    host("ranks", "rank 0 knows a solution before it hands it out", "ranks/ranks.py",
         "if self.wire.rank:  # to rank 0 it comes as a solution, to be handed out", "if True:",
         "tests/test_ranks.py -k rank_0_knows"),
    host("team", "a running GPU is not told of solutions", "engine/gpu.py",
         "if self.running_kernel and self.layout.is_whole(found):", "if False:", "tests/test_exchange.py"),
    host("team", "root bounds are told before the solution is handed out", "engine/team.py",
         "if teller.roots is None or have > teller.roots.under:", "if teller.roots is None:", "tests/test_team.py"),
    host("team", "root bounds are taken without the solution", "engine/cpu.py",
         "if self.common.best <= roots.under:", "if True:", "tests/test_exchange.py -k left_alone"),
    kernel("units", "nobody uses them", "search/levels.h", "  apply_units(b);\n", "",
           "tests/test_exchange.py -k root_bounds"),
    kernel("units", "they wake no row", "search/units.h",
           "restrict_domain(b, v, interval(maximum(lower, b.lower[v]), minimum(upper, b.upper[v])));",
           "b.lower[v] = maximum(lower, b.lower[v]), b.upper[v] = minimum(upper, b.upper[v]);",
           "tests/test_exchange.py -k wake"),
    kernel("units", "neighbourhoods fix what must change", "free/neighbourhood.h",
           "if (value < b.lower[var] || value > b.upper[var]) continue;", "", "tests/test_exchange.py -k leaves_free"),
    kernel("units", "learners tell none", "learn/learner.h", "  tell_root(l);\n", "",
           "tests/test_exchange.py -k learner"),
    kernel("team", "what the host has found elsewhere does not bound the search", TASK,
           "return told < best ? minimum(global_min(&common->best, told), told) : best;", "return best;",
           "tests/test_exchange.py -k tree"),
    kernel("team", "what the host has found elsewhere starts no neighbourhood", "free/neighbourhood.h",
           "if (b.problem->sense != 0) take_host_solution(b);", "", "tests/test_exchange.py -k neighbourhoods"),
    host("errors", "the best solution is not printed before an error", "run/output.py",
         'all there is to say."""\n        self.print_held()', 'all there is to say."""',
         "tests/test_delivery.py -k before_the_error"),
    host("time limit", "one that passes early leaves no dive", "interrupt.py",
         "OVERTIME_SECONDS = 0.3", "OVERTIME_SECONDS = 0.0", "tests/test_delivery.py -k spent"),
    host("stops", "the reader's end is not noticed", "cli.py",
         "or bool(self.stdout.poll(0))", "", "tests/test_protocol.py -k reader"),
    host("cache", "a damaged file is used", "cache.py",
         "return data if trailer ==", "return data if data or trailer ==", "tests/test_cache.py"),
    host("cache", "a folder that others can write is used", "cache.py",
         "return status.st_uid == os.geteuid() and not status.st_mode & OTHERS_MAY_WRITE", "return True",
         "tests/test_cache.py"),
]  # fmt: skip

MUTATIONS = [*SUBPROBLEMS, *TRAIL, *ROUNDS, *BRANCHING, *PUBLISHING, *FREE_SEARCH, *LEARNING, *HOST]
