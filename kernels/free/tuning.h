// Tunable constants of this folder, which decide by which way, how far or how long, and never which answer is given.
// Printed from turbo_fzn/engine/abi/kernel_tuning.py, which says what each trades, by
// `python -m turbo_fzn.engine.abi.header --write`: edit that one.
#pragma once

#include "../core/port.h"

// steps of walks for each variable to be set free
constexpr i32 STEPS_A_VARIABLE = 4;
// rows of a variable above which a walk may turn back for that
constexpr i32 HUB_DEGREE = 64;
// steps, one of which goes back to the beginning
constexpr i32 RETURN_ODDS = 8;
// most rows that a descent draws
constexpr i32 DEEPEST_DESCENT = 64;
// steps of a walk after each descent
constexpr i32 STEPS_A_DESCENT = 8;
// least share of variables that stay fixed (of SHARE_UNIT)
constexpr i32 SHARE_LEAST = 1310;
// the greatest such share
constexpr i32 SHARE_MOST = 64881;
// change of the learned share by one neighbourhood, divided by the number of blocks
constexpr i32 SHARE_STEP = 1310;
// greatest distance of a neighbourhood from the learned share
constexpr i32 SHARE_SPREAD = 16384;
// failures in a neighbourhood of the smallest size; each next size has twice as many
constexpr i32 FAILURE_LIMIT = 100;
// runs of propagators, besides one for each row, in a neighbourhood of the smallest size
constexpr i32 WORK_UNIT = 64;
// sizes above the smallest
constexpr i32 MOST_DOUBLINGS = 10;
// failures for which the limit of work does not count
constexpr i32 FAILURES_SURE = 10;
// parts of the possible gain, one of which is the most that a neighbourhood must reach
constexpr i32 AMBITION = 16;
// halvings of the gap at which a proof from below tries a value
constexpr i32 PROBE_DEPTHS = 12;
// powers of two from which the rate of flipped branchings is drawn, of 1024
constexpr i32 FLIP_SIZES = 8;
// failures of the first restart
constexpr i32 RESTART_UNIT = 400;
// runs of each row in the first restart, where there are few blocks
constexpr i32 RESTART_WORK = 1024;
// attempts to read a solution that others may be writing
constexpr i32 READ_TRIES = 8;
// distances of islands from the record: 1/32 of the gap to the bound, 1/128, 1/512, ...
constexpr i32 DISTANCES = 5;
// parts of the run; for one after an improvement the record counts as improving
constexpr i32 LIVELY = 8;
// neighbourhoods before another block tries to settle an island
constexpr i32 SETTLE_TRIES = 64;
// of 1024 branchings, how many are flipped to settle an island
constexpr i32 SETTLE_FLIPS = 256;
// of the time, spread evenly
constexpr float EVEN_SHARE = 0.3f;
// weight of proofs from below
constexpr float PROBE_WEIGHT = 0.25f;
// weight of walks before a solution is known
constexpr float FIRST_REPAIR_WEIGHT = 2.0f;
// and afterwards
constexpr float REPAIR_WEIGHT = 0.5f;
// ns of a block that are added to the time of each method
constexpr i32 PRIOR_NS = 20000000;
// expected ns of a first try
constexpr i32 PRIOR_TRY_NS = 1000000;
// ns of a block after which the recent figures are halved
constexpr i32 RECENT_NS = 500000000;
