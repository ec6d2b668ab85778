// Tunable constants of this folder, which decide by which way, how far or how long, and never which answer is given.
// Printed from turbo_fzn/engine/abi/kernel_tuning.py, which says what each trades, by
// `python -m turbo_fzn.engine.abi.header --write`: edit that one.
#pragma once

#include "../core/port.h"

// of an interval, the least part that a row of arithmetic may cut off
constexpr double SMALL_STEP = 0.0625;
// up to which the middle of an interval is that of its numbers, beyond that of their codes
constexpr double ARITHMETIC_LIMIT = 1099511627776.0;
// where an interval that reaches beyond ARITHMETIC_LIMIT is split first
constexpr double USUAL_LIMIT = 1048576.0;
