// The records of the model in memory: rows, watch lists, strategies; and those of a log of conclusions.
// Printed from model_records.py and log_records.py of turbo_fzn/engine/abi by
// `python -m turbo_fzn.engine.abi.header --write`: edit these.
#pragma once

#include "port.h"

// The ring of these records, from the blocks that learn to the host, which empties it.
struct ProofLog {
  i64* words;
  i64* roots;    // by side, the best bound of level 0 in the log
  i64 capacity;  // a power of two
  i64 written, taken;
  i64 writer;    // 1 while a learner appends
  i64 clauses;   // the number of clauses that have been named
  i64 n_roots;   // the number of bounds of level 0 in the log
  i64 best;      // the least sense * objective of its solutions
  i32 learners;  // those that have not given up
  i32 stopped;   // nothing more is wanted; set by the host, or where the last learner gives up
};

// What the host knows of a log that is trimmed, by event, side, name of a clause, or bound of level 0.
struct ProofTrim {
  const i64* first;         // by side, its bound in the model
  i64* now;                 // by side, its bound at level 0 before the event that is looked at
  const i64* places;        // by event, its place in the log, in words
  const i64* ends;
  const i64* clauses;       // by name, the event
  char* needed;             // by event
  const i64* last_roots;    // by side, its last bound of level 0, or -1
  const i64* root_bounds;
  const i64* root_events;
  const i64* root_before;   // the bound before of the same side, or -1
  i64* given;               // the literals of clauses that replace rows, whose names are -1, -2, ...
  const i64* given_starts;  // of each, and the end
  i64 n_given, n_sides, n_clauses;
  i64 most_explained;       // explanations whose steps are remembered
  i64 most_clauses;         // clauses that are remembered
  i64 event;                // that is looked at
  i64 log_file;             // its descriptor
  i64* hints;               // those of the event
  i64 n_hints;
  i64* chains;              // side, higher, lower: that the side is the one implies that it is the other
  i64 n_chains;
};

// A propagator x = y op z; 16 bytes, so that a lane loads it at once.
struct alignas(16) Row {
  i32 op, x, y, z;
};

// The rows to wake when a bound of a variable changes: watchers[start, both) for its lower bound only, [both,
// upper) for either, [upper, end) for its upper bound only.
struct alignas(16) Watch {
  i32 start, both, upper, end;
};

// A labelling strategy. From `start` on, `strategy_vars` has `count` variables to label, then as many whose bounds
// the variable choice compares (measured), then, for VAR_MAX_REGRET, count + 1 places in `tables`: from place i to
// place i + 1 are the gaps in the domain of measured variable i, in order, each as the last value before it and the
// first one behind it. For VAR_ROW come a place for each variable that is the first member of its row, the end of the
// row, and as many places for how many members of the row must be 1; both have 0 for other members.
struct alignas(16) Strategy {
  i32 var_choice, value_choice, start, count;
};

// A linear row (tnf/linear_rows.py) with the terms in terms[start, end). `truth` is a variable, or -1 in a
// LINEAR_RANGE and a LINEAR_CLAUSE. A missing end of the range is ±INFINITE_BOUND.
struct alignas(16) Linear {
  i64 low, high;
  i32 start, end, truth, kind;
};

// `factor`, a positive number, times `side`: the side of the variable that grows with the sum.
struct alignas(8) Term {
  i32 side, factor;
};

// A variable of the neighbourhood that the model states, and the probability with which it is fixed, in
// SHARE_UNITs.
struct alignas(8) Stated {
  i32 var, share;
};

// A row that defines a variable for walks (engine/layout/repair.py). `sign`: of the variable's term, where the row
// is an equation, else 0.
struct alignas(16) Definition {
  i32 row, var, sign;
  i32 spare;  // 16 bytes, so that a lane loads it at once
};

// What depends on a variable in a walk: readers[start, rows) are the sums that it is a term of, [rows, end) other
// rows. `definer`: the row that defines it, or -1.
struct alignas(16) Reach {
  i32 start, rows, end, definer;
};

// A row that depends on a variable. `factor` of the variable in it, where it is a sum that the variable is a term
// of, else 0; `place` of the row among the definitions, or -1 where it is a constraint.
struct alignas(16) Reader {
  i32 row, factor, place;
  i32 spare;  // 16 bytes, so that a lane loads it at once
};

// A wide row (tnf/wide.py): the variables of its head and groups are wide_arguments[start, end).
struct Wide {
  i32 kind, start, end;
};

// Linear rows that the host posts to running learners (posted.h): followed by POSTED_ROWS of type Posted.
struct alignas(64) Postbox {
  i64 version;  // grows with each row
};

// A row sum <= high; followed by POSTED_TERMS of type Term, of which `n_terms` are used.
struct alignas(64) Posted {
  i64 sequence;  // odd while it is written
  i64 high;
  i64 used;      // explanations by the row, in all learners
  i32 n_terms;
};

// How a block searches if it learns.
struct LearnerSettings {
  i32 sets;      // bit s is set if it decides by DecisionSet s, in turn
  i32 is_fused;  // whether it has fused rows (tnf/fuse.py)
};
