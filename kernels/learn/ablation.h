// What a learner can do without, to see what it is good for (docs/measurements/learning.md).
#pragma once

#include "../core/port.h"

// Bits of -DLEARN_WITHOUT.
enum Ablation {
  WITHOUT_RULES = 1,    // the oracle explains everything
  WITHOUT_LIFTING = 2,  // bounds as they were
  WITHOUT_MINIMISATION = 4,
  WITHOUT_PHASES = 8,
  WITHOUT_SPLITS = 16,   // variables are split at their phase, not where the last conflict looked at them
  WITHOUT_SHARING = 32,  // clauses are neither told nor heard; units and bounds are
  WITHOUT_PROBES = 64,   // of the objective's bound
  WITHOUT_LEAPS = 128,
  WITHOUT_FUSION = 256,  // all learners have ternary rows
  WITHOUT_WIDE = 512,    // nobody reasons about a constraint as a whole; nor has fused rows, which may lean on that
};
#ifndef LEARN_WITHOUT
#define LEARN_WITHOUT 0
#endif

DEVICE bool is_left_out(Ablation part) { return (LEARN_WITHOUT & part) != 0; }
