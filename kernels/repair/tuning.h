// Tunable constants of this folder, which decide by which way, how far or how long, and never which answer is given.
// Printed from turbo_fzn/engine/abi/kernel_tuning.py, which says what each trades, by
// `python -m turbo_fzn.engine.abi.header --write`: edit that one.
#pragma once

#include "../core/port.h"

// readers that are visited in a short task
constexpr i64 TASK_WORK = 262144;
// sizes of tasks above the smallest
constexpr i32 MOST_TASK_DOUBLINGS = 6;
// samples without a gain after which a walk begins anew
constexpr i64 STALE_WORK = 262144;
// steps between looks at the news
constexpr i32 STEPS_A_LOOK = 64;
// more steps in which a moved variable rests, fewer than this
constexpr i32 LONGEST_REST = 10;
// moves, one of which takes a random value
constexpr i32 FRESH_VALUES = 16;
// steps without a move, one of which lowers the weights of rows
constexpr i32 EASING = 128;
// definitions that a wish is handed down
constexpr i32 DEEPEST_WISH = 100;
// most draws of a term of a sum for a wish
constexpr i32 TERM_TRIES = 12;
// indices of an element that it compares
constexpr i32 INDEX_TRIES = 64;
