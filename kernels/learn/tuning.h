// Tunable constants of this folder, which decide by which way, how far or how long, and never which answer is given.
// Printed from turbo_fzn/engine/abi/kernel_tuning.py, which says what each trades, by
// `python -m turbo_fzn.engine.abi.header --write`: edit that one.
#pragma once

#include "../core/port.h"

// clauses that each reduction lets the store grow by
constexpr i32 REDUCTION_STEP = 300;
// LBD up to which a clause is kept, unless memory is full
constexpr i32 KEPT_LBD = 2;
// LBD up to which a clause is kept that was a reason since the last reduction
constexpr i32 KEPT_WHILE_USED = 6;
// restarts in succession because memory is full, before the learner gives up
constexpr i32 MOST_FULL_RESTARTS = 3;
// units of work, one of which is for vivification
constexpr i32 VIVIFIED_SHARE = 10;
// most literals of a clause that is vivified
constexpr i32 MOST_VIVIFIED = 64;
// premises of premises that minimisation follows
constexpr i32 DEEPEST_MINIMISATION = 30;
// literals up to which a clause is exported
constexpr i32 TOLD_SIZE = 3;
// LBD up to which a longer one is
constexpr i32 TOLD_LBD = 2;
// rows or fixpoints between looks at the host's stop flag
constexpr i32 POLL_EVERY = 1024;
// entries of the trail, besides one for each side, before propagation is suspended
constexpr i32 CREEP_ENTRIES = 2000;
// parts of these; one of them, of sides that move again, makes the costliest rows run first
constexpr i32 CREEP_WARNING = 256;
// upper less lower bound that a creeping variable must exceed
constexpr i32 CREEP_DOMAIN = 8;
// entries among which the creeping side is looked for
constexpr i32 CREEP_LOOK_BACK = 200;
// times as many entries at level 0, which is propagated once
constexpr i32 ROOT_PATIENCE = 20;
// most runs of a costly row that are left out after it has found nothing: 1, 3, 7, ...
constexpr i32 LONGEST_DELAY = 63;
// most arguments of an all_different that never waits
constexpr i32 SHORT_ROW = 64;
// steps of its own length in which a task passes a piece of the profile; where it takes more, it passes at once
constexpr i32 MOST_STEPS = 8;
// tasks whose sure parts changed, up to which events are sorted by insertion
constexpr i32 FEW_MOVED = 8;
// trials for the weakest premise of a ternary row
constexpr i32 BISECTIONS = 12;
// passes of the check of explanations, which only tests compile
constexpr i32 CHECK_PASSES = 100;
// values that a step of it tries to remove
constexpr i32 SHAVED_AT_ONCE = 64;
// units: a run of a row with the clauses that it wakes
constexpr i32 RUN_WORK = 40;
// units: a node
constexpr i32 NODE_WORK = 500;
// units: a conflict
constexpr i32 CONFLICT_WORK = 20000;
// terms of a linear row that cost a run
constexpr i32 TERMS_A_RUN = 8;
// arguments of a wide row that cost a run
constexpr i32 ARGUMENTS_A_RUN = 2;
// pairs of arguments that do
constexpr i32 PAIRS_A_RUN = 64;
// conflicts of the first restart
constexpr i32 LUBY_UNIT = 100;
// least conflicts between restarts by LBD
constexpr i32 GLUCOSE_LEAST = 50;
// times the usual LBD that the recent one must exceed
constexpr double GLUCOSE_EXCESS = 1.2;
// of the recent LBD, the last clause
constexpr double RECENT_SHARE = 0.03125;
// of the usual LBD, the last clause
constexpr double USUAL_SHARE = 0.0001220703125;
// runs of a prover, one of which tries a bound of the objective
constexpr i32 PROBE_EVERY = 3;
// runs of a finder, one of which begins with a wish
constexpr i32 WISH_EVERY = 4;
// conflicts of each of a soloist's first turns; each next round of turns has as many more
constexpr i32 TURN_CONFLICTS = 500;
// of the activities, lost with a conflict at first
constexpr double FIRST_FADING = 0.05;
// and in the end
constexpr double LAST_FADING = 0.01;
// conflicts between the two
constexpr double FADING_CONFLICTS = 50000.0;
// conflicts to refute a core without one of its literals
constexpr i32 TRIAL_CONFLICTS = 30;
// conflicts without a core, after which literals of less weight are assumed
constexpr i32 STRATUM_CONFLICTS = 100;
// pieces of cost there is room for, for each counter, besides one for each term and counter
constexpr i32 PIECES_A_COUNTER = 32;
// counters of cores
constexpr i32 MOST_COUNTERS = 1000;
// literals of one, in the mean
constexpr i32 LITERALS_A_COUNTER = 64;
// literals of one, at most
constexpr i32 MOST_COUNTED = 1024;
