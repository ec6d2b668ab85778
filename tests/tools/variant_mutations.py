"""The mutations of the variants of the engines. See mutations.py."""

from __future__ import annotations

from tools.mutation import host, kernel

TESTS = "test_variants.py"
EVERY, RETIRED, LOST = (f"{TESTS} -k {name}" for name in ("every_solution", "have_retired", "bound_that_is_lost"))
SWEEP, SPLIT = "core/sweep.h", "search/split.h"

VARIANTS = [
    kernel("sweeps", "the last row is left out", SWEEP,
           "has_list(b) ? s.n_listed : b.problem->n_rows;", "has_list(b) ? s.n_listed : b.problem->n_rows - 1;", EVERY),
    kernel("sweeps", "a change is seen once only", SWEEP, "  clear_changes(b, n_changed);\n", "", EVERY),
    kernel("sweeps", "a warp runs its rows once", SWEEP, "LOCAL_PASSES = 64;", "LOCAL_PASSES = 1;",
           f"{TESTS} -k in_one_round"),
    kernel("sweeps", "rows that have retired are run", SWEEP,
           "if (RETIRES_ROWS && is_retired(b, row)) return false;", "", EVERY),
    kernel("sweeps", "rows that have retired are listed", SWEEP,
           "i < words ? ~b.entailed[i] : 0;", "i < words ? ~0u : 0;", RETIRED),
    kernel("sweeps", "all warps list their rows in one place", SWEEP,
           "warp_lane() == 0 ? block_add(&count, all) : 0;", "0 * block_add(&count, warp_lane() == 0 ? all : 0);",
           f"{TESTS} -k of_all_warps"),
    kernel("retired rows", "one retires among many lanes that has changed something", "core/retire.h",
           "(WARP_LANES == 1 || !(changed))", "true", f"{TESTS} -k between_them"),
    kernel("plain bounds", "who has lost a lower one is not woken", "core/events.h",
           "ROWS_WRITE_PLAINLY || old & FLAG_UPPER", "old & FLAG_UPPER", LOST),
    kernel("plain bounds", "who has lost an upper one is not woken", "core/events.h",
           "ROWS_WRITE_PLAINLY || old & FLAG_LOWER", "old & FLAG_LOWER", LOST),
    kernel("plain bounds", "they are written atomically", "core/bounds.h",
           "ROWS_WRITE_PLAINLY = PLAIN_BOUNDS;", "ROWS_WRITE_PLAINLY = false;", LOST),
    kernel("plain bounds", "decisions are written plainly", "core/store.h",
           "Interval wanted, bool plainly = false) {", "Interval wanted, bool plainly = ROWS_WRITE_PLAINLY) {", EVERY),
    kernel("recomputation", "there is a trail", "search/recompute.h",
           "(!KEEPS_TRAIL && !IS_FIXED_APART(b))", "(!KEEPS_TRAIL && false)", f"{TESTS} -k replays"),
    kernel("recomputation", "neighbourhoods have no trail either", "search/recompute.h",
           "(!KEEPS_TRAIL && !IS_FIXED_APART(b))", "(!KEEPS_TRAIL)", f"{TESTS} -k keep_the_trail"),
    kernel("static split", "dives know the incumbent", SPLIT,
           "s.best = NO_INCUMBENT;", "s.best = known_best(b.problem->common);", f"{TESTS} -k whatever_blocks"),
    kernel("static split", "dives draw numbers of their own", SPLIT,
           "seed_random(block_random(b), b.problem->seed, 0);", "", f"{TESTS} -k parted"),
    kernel("static split", "parts that begin alike are not skipped", SPLIT,
           "i64 end = (number | (((i64)1 << (b.problem->split_bits - bits)) - 1)) + 1;", "i64 end = number + 1;",
           f"{TESTS} -k parted"),
    kernel("static split", "all parts below a leaf have it", SPLIT,
           "return is_first_part(b, number, bits) ? DIVE_PART : DIVE_NOTHING;", "return DIVE_PART;",
           f"{TESTS} -k parted"),
    kernel("static split", "one of three branches is lost", SPLIT,
           "i32 wanted = branches.count - 1,", "i32 wanted = 1,", f"{TESTS} -k parted"),
    kernel("static split", "parts are given away, too", "search/search.h",
           "transfer(b).donate = !STATIC_SPLIT && !claim", "transfer(b).donate = !claim", f"{TESTS} -k parted"),
    host("static split", "strategies follow failures", "engine/layout/split.py",
         "choices = {VarChoice.DOM_W_DEG: VarChoice.FIRST_FAIL}", "choices: dict = {}", f"{TESTS} -k whatever_blocks"),
    host("static split", "the pool's slots say that the root is in it", "engine/layout/layout.py",
         "sequences[0] += self.begins_with_root", "sequences[0] += 1", f"{TESTS} -k words_say"),
    host("orders of rows", "rows that share variables stand anywhere", "engine/layout/order.py",
         "for variable in variables_of[order[place]]:", "for variable in ():", f"{TESTS} -k beside_each_other"),
    host("variants", "the simplifier is there", "engine/variants.py",
         "return UNSIMPLIFIED not in", "return True or UNSIMPLIFIED not in", f"{TESTS} -k as_it_was_lowered"),
    host("variants", "learners do the work", "run/roles.py",
         'if options.variant and names_of(options) == ("auto",):', "if False:",
         "test_variant_names.py -k nobody_learns"),
]  # fmt: skip
