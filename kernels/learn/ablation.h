// What a learner can do without, to see what it is good for: bits of -DLEARN_WITHOUT (docs/learning.md).
#pragma once

#define WITHOUT_RULES 1         // the oracle explains everything
#define WITHOUT_LIFTING 2       // bounds as they were
#define WITHOUT_MINIMISATION 4
#define WITHOUT_PHASES 8
#define WITHOUT_SPLITS 16       // variables are split at their phase, not where the last conflict looked at them
#define WITHOUT_SHARING 32      // clauses are neither told nor heard; units and bounds are
#define WITHOUT_PROBES 64       // of the objective's bound
#define WITHOUT_LEAPS 128
#ifndef LEARN_WITHOUT
#define LEARN_WITHOUT 0
#endif
