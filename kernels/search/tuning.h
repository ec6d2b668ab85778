// Tunable constants of this folder, which decide by which way, how far or how long, and never which answer is given.
// Printed from turbo_fzn/engine/abi/kernel_tuning.py, which says what each trades, by
// `python -m turbo_fzn.engine.abi.header --write`: edit that one.
#pragma once

#include "../core/port.h"

// neighbourhoods in vain for each variable, before an island is given up
constexpr i32 TRIES_A_VARIABLE = 20;
// ns that a run of a propagator counts for, where one block must act alike on each machine
constexpr i32 RUN_NS = 50;
// ns that a node counts for
constexpr i32 NODE_NS = 1000;
// blocks for which one subproblem is kept in reserve
constexpr i32 BLOCKS_A_RESERVE = 16;
// open levels from which a subproblem is worth being divided
constexpr i32 OPEN_LEVELS = 2;
// nodes after which it is in any case
constexpr i32 SMALL_NODES = 16;
// nodes between two writings of the counts that the host reads
constexpr i32 COUNT_NODES = 64;
// values of a domain up to which a random value is tried
constexpr i32 RANDOM_SIZE = 65536;
