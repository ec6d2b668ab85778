// Tunable constants of this folder, which decide by which way, how far or how long, and never which answer is given.
// Printed from turbo_fzn/engine/abi/kernel_tuning.py, which says what each trades, by
// `python -m turbo_fzn.engine.abi.header --write`: edit that one.
#pragma once

#include "port.h"

// rounds of a fixpoint before the first look for cycles of differences; then twice as many
constexpr i32 CREEP_ROUNDS = 500;
// more of these rounds for each row
constexpr i32 ROUNDS_A_ROW = 1;
// most passes over all rows in a look
constexpr i32 CYCLE_PASSES = 16;
// most terms without a value, in a row that differences are made of
constexpr i32 CYCLE_TERMS = 4;
// rounds between looks at the host's stop flag
constexpr i32 STOP_POLL_ROUNDS = 16;
// runs of propagators for each lane, in a round before which the flag is read in any case
constexpr i32 LONG_ROUND = 32;
// most passes of a warp over its rows in a round
constexpr i32 LOCAL_PASSES = 64;
