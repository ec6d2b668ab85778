// Tunable constants of this folder, which decide by which way, how far or how long, and never which answer is given.
// Printed from turbo_fzn/engine/abi/kernel_tuning.py, which says what each trades, by
// `python -m turbo_fzn.engine.abi.header --write`: edit that one.
#pragma once

#include "../core/port.h"

// looks for a message between two at the host's stop flag
constexpr u32 LOOKS_A_STOP = 32;
// looks without a message before a block pauses between them
constexpr u32 LOOKS_A_PAUSE = 4096;
// looks of a thread for its answer before it yields the processor
constexpr i32 EAGER_LOOKS = 64;
