"""The mutations of the hybrid engine's messages. See mutations.py."""

from __future__ import annotations

from tools.mutation import host, kernel

ROOM, TRAVELS = "test_hybrid.py -k little_room", "test_hybrid.py -k travels"
SPLIT = "search/split.h"
HYBRID = [
    kernel("hybrid engine", "what going back has restored is not told", "search/levels.h",
           "note_restored(b, entry.var);", "", ROOM),
    kernel("hybrid engine", "the root is not told", "search/levels.h", "note_root(b);", "", ROOM),
    kernel("hybrid engine", "a failure is not taken back", "hybrid/propagator.h",
           "if (!consistent || stopped) take_back(b);", "", ROOM),
    kernel("hybrid engine", "a decision wakes no row", "hybrid/propagator.h",
           "if (change.flags) record_change", "if (false) record_change", ROOM),
    kernel("hybrid engine", "what has changed once is never told again", "hybrid/propagator.h",
           "block_and(flag_word(b, var), ~(FLAG_SAVED << flag_shift(var)));", "(void)var;", ROOM),
    kernel("hybrid engine", "a thread takes the first part of a list alone", "hybrid/remote.h",
           "if (!(kind_of(answer) & ANSWER_PART)) return true;", "return true;", ROOM),
    kernel("hybrid engine", "a block takes the last part of a list alone", "hybrid/propagator.h",
           "  take_list(b, changes_of(box, entries, false), count_of(s.asked));\n  if (kind_of(s.asked) & ASK_PART) {",
           "  if (!(kind_of(s.asked) & ASK_PART)) take_list(b, changes_of(box, entries, false), count_of(s.asked));\n"
           "  if (kind_of(s.asked) & ASK_PART) {", ROOM),
    kernel("hybrid engine", "what was told is told again", "hybrid/remote.h",
           "  send_message(remote, root, count);\n  forget_noted(b);", "  send_message(remote, root, count);", TRAVELS),
    kernel("hybrid engine", "a variable is told twice", "hybrid/mirror.h",
           "if (mirror.noted_in[var] == mirror.epoch) return;", "", TRAVELS),
    kernel("hybrid engine", "what a block gave up is denied", "hybrid/remote.h",
           "if (kind_of(answer) & ANSWER_GAVE_UP) give_up(b);", "", "test_hybrid.py -k beyond_the_store"),
    kernel("hybrid engine", "a thread that dives runs rows", SPLIT,
           "reach_fixpoint(b);", "fixpoint(b);", "test_hybrid_variants.py -k every_solution"),
    host("hybrid engine", "the blocks of a variant are the usual ones", "engine/hybrid.py",
         "extra = (*gpu.float_flags(layout.tnf), *settings.macros)", "extra = gpu.float_flags(layout.tnf)",
         "test_hybrid_variants.py -k blocks_sweep"),
    host("hybrid engine", "a kernel that has failed is not looked at", "engine/hybrid.py",
         "                self.device.look()\n", "                pass\n",
         "test_hybrid_host.py -k kernel_that_fails"),
]  # fmt: skip
