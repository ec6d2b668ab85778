// The parts of a learner: one from each header that has a state.
//
// A part is a struct with its own memory. Its header computes the bytes of its arrays of fixed sizes, and takes them
// from the learner's memory; memory.h adds the parts to the learner, and the bytes up. What all headers know of a
// learner is here; they reach a part by the function of its name, as with the state of a block (block.h).
#pragma once

#include "../../core/store.h"

// In a learner's model with fused rows (turbo_fzn/tnf/fuse.py): whether fused rows replace this row, and whether no row
// is left that has this variable.
DEVICE bool is_absorbed(const Problem* p, i32 row) { return p->n_links && p->absorbed[row]; }
DEVICE bool is_link(const Problem* p, i32 var) { return p->n_links && var < p->n_vars && p->links[var]; }

// Its variables: those of the model, then counters (counters.h).
DEVICE i32 n_all_vars(const Problem* p) { return p->n_vars + p->n_counters; }

// Its rows by number: ternary ones, linear ones (linear.h), wide ones (wide.h), counters.
DEVICE i32 n_model_rows(const Problem* p) { return p->n_rows + p->n_linears + p->n_wides; }
DEVICE i32 n_all_rows(const Problem* p) { return n_model_rows(p) + p->n_counters; }
DEVICE bool is_linear(const Problem* p, i32 row) { return p->n_rows <= row && row < p->n_rows + p->n_linears; }
DEVICE bool is_wide(const Problem* p, i32 row) { return p->n_rows + p->n_linears <= row && row < n_model_rows(p); }
DEVICE bool is_counter(const Problem* p, i32 row) { return row >= n_model_rows(p); }

// Each one is a WholeLearner (memory.h).
struct Learner {
  const Block* block;
  const Problem* problem;
  LearnStatistics* statistics;
};

DEVICE const Block& block(const Learner& l) { return *l.block; }
DEVICE const Problem* problem(const Learner& l) { return l.problem; }
DEVICE LearnStatistics& statistics(const Learner& l) { return *l.statistics; }

// Declares how a part is reached.
#define PART(Type, name)   \
  DEVICE Type& name(Learner& l); \
  DEVICE const Type& name(const Learner& l)
