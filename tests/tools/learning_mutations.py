"""The mutations of blocks that learn from conflicts. See mutations.py."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # for who runs it as a script
from tools.mutation import host, kernel

LEARNING = [
    kernel("learners", "an explanation is too weak", "learn/rules.h",
           "2 * r.y + d, 2 * r.z + d, a.k, t)", "2 * r.y + d, 2 * r.z + d, a.k - 1, t)", "test_explanations.py"),
    kernel("learners", "a comparison with a constant wakes a step too late", "learn/wake.h",
           "is_y == upper ? at : at + 1", "at + 1", "test_learning.py -k canteen"),
    kernel("learners", "a clause passes over a literal when the lists are full", "learn/advance.h",
           "if (another) return !watch_instead(l, watcher->clause, literals, another);",
           "if (another && watch_instead(l, watcher->clause, literals, another)) return false;",
           "test_learning.py -k full_memory"),
    kernel("learners", "they tell each other nothing", "learn/exchange.h",
           "if (!problem(l)->exchange || is_left_out(WITHOUT_SHARING) || !is_told(l)) return;", "return;",
           "test_learning.py -k hear"),
    kernel("learners", "a finder never leaps", "learn/learner.h",
           "restarts(l).leap = minimum(2 * restarts(l).leap, LONGEST_LEAP);", "", "test_learning.py -k leaps"),
    kernel("learners", "a leap takes a bound of level 0 back", "learn/restart.h",
           "i64 open = -(i64)sides(l).now[cut_side(problem(l))] -", "i64 open = s.cut -",
           "test_learning.py -k leap"),
    kernel("learners", "no set is decided first", "learn/heap.h",
           "return first != is_first(l, b) ? first : heap(l).activity", "return heap(l).activity",
           "test_decisions.py -k is_of_the_set"),
    kernel("learners", "the heap keeps the order of the last set", "learn/heap.h",
           "for (i32 i = heap(l).size / 2 - 1; i >= 0; --i) sink(l, i);", "",
           "test_decisions.py -k is_of_the_set"),
    kernel("learners", "a set that was not named has its turn", "learn/restart.h",
           "if ((sets >> set & 1) && (next", "if ((next", "test_decisions.py -k next_set"),
    kernel("learners", "sets are not taken by their work", "learn/restart.h",
           "work[set] < work[next]", "false", "test_decisions.py -k next_set"),
    kernel("learners", "sets take no turns", "learn/restart.h",
           "  take_part(l);\n  take_set(l);", "  take_part(l);", "test_decisions.py -k turns"),
    kernel("learners", "a seed changes nothing", "learn/learner.h",
           "p->seed != 0 || ", "", "test_decisions.py -k seeds"),
    host("learners", "an operand of another row is a link", "engine/layout/decisions.py",
         "& (uses == 1) ", "", "test_decisions.py -k no_link"),
    kernel("learners", "what creeps goes first for ever", "learn/advance.h",
           "take_row(l, again > few)", "take_row(l, false)", "test_learning.py -k great_steps"),
    kernel("learners", "one that has seen all does not say so", "learn/learner.h",
           "if (trail(l).exhausted) tell_end(l);", "", "test_learning.py -k creep"),
    kernel("learners", "the bound at level 0 is not told", "learn/learner.h",
           "raise_bound(block(l), minimum(proved, global_load(&p->common->best)));", "(void)proved;",
           "test_learning.py -k level_0"),
    kernel("learners", "bounds that are none are explained", "learn/learner.h",
           "if (!has_infinite_bound(p)) {", "if (true) {", "test_learning.py -k claims_nothing"),
    host("learners", "they are given models without bounds", "run/roles.py",
         "finite and ", "", "test_learning.py -k left_to_the_tree"),
]  # fmt: skip
