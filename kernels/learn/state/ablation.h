// Parts of a learner that can be left out, to measure what each contributes (docs/measurements/learning.md).
#pragma once

#include "../../core/port.h"

// Bits of -DLEARN_WITHOUT.
enum Ablation {
  WITHOUT_RULES = 1,    // the oracle explains everything
  WITHOUT_LIFTING = 2,  // premises are the bounds of that time, not weaker ones
  WITHOUT_MINIMISATION = 4,
  WITHOUT_PHASES = 8,
  WITHOUT_SPLITS = 16,   // variables are split at their phase, not at the last conflict's threshold
  WITHOUT_SHARING = 32,  // learners exchange no clauses, but units and bounds
  WITHOUT_PROBES = 64,   // of the objective's bound
  WITHOUT_LEAPS = 128,
  WITHOUT_FUSION = 256,  // all learners have ternary rows
  WITHOUT_WIDE = 512,    // nobody reasons about a constraint as a whole; nor has fused rows, which may lean on that
  WITHOUT_ENERGY = 1024,  // of windows of time; the time table stays
  WITHOUT_CORES = 2048,   // of an objective's terms; probes instead
  WITHOUT_VIVIFICATION = 4096,
};
#ifndef LEARN_WITHOUT
#define LEARN_WITHOUT 0
#endif

DEVICE bool is_left_out(Ablation part) { return (LEARN_WITHOUT & part) != 0; }
