// The state of a walk: an assignment of all variables, and what it violates (violation-guided local search).
//
// Some rows are *definitions*: in a fixed order, found by the host (turbo_fzn/engine/layout/repair.py), each computes
// one variable from others. What no definition computes is free. So a walk changes free variables only, and the
// definitions carry a change on to what depends on them (one-way constraints: Van Hentenryck and Michel,
// Constraint-Based Local Search, 2005). All other rows are *constraints*, and so are the domains of defined variables
// and of the objective: each has a cost, which is 0 where the assignment satisfies it, and a weight, which grows while
// it stays violated (breakout: Morris, AAAI 1993).
//
// A constraint is named by its row, the domain of a variable by the number of rows plus the variable. One warp walks;
// what is not in memory that it shares, its lanes compute alike.
#pragma once

#include "../core/random.h"
#include "../core/room.h"
#include "../core/store.h"

// Whether blocks walk. Not on a GPU: the calls below the solver's kernel cost it registers, and a kernel for walks
// alone finds hardly more than threads of the CPU, with 100 times as many moves (docs/measurements/free-search.md).
#ifndef WALKS
#if defined(__CUDACC__) || PACKED
#define WALKS 0
#else
#define WALKS 1
#endif
#endif

constexpr i32 MOST_CHANGES = 4;  // format: of free variables, in a move

// How a walk chooses, drawn anew at each of its beginnings.
struct Manner {
  i32 samples;       // moves that a step compares
  i32 chain;         // changes that a move has at most, each to mend what the one before it has raised
  i32 noise;         // steps of 1024 that take a move which makes things worse
  i32 rest;          // steps in which a variable that has moved mostly stays
  i32 logarithmic;   // a cost is the logarithm of a violation, and not the violation
  i32 all_violated;  // a step without a move raises the weights of all violated constraints, and not of one
};

// What stays of a walk between two tasks of its block, and what a task is given.
struct WalkHeader {
  i64 best;                // the best objective that is known when the task begins
  u64 draw;                // the task's random number
  i64 steps, stale_since;  // since its beginning; and the step of its last gain, a solution or fewer violations
  i64 moves;               // tried in the last task
  i32 n_violated, least;   // the number of violated constraints, now and at least since the beginning
  u32 trial;               // the number of the last trial
  i32 chosen;              // by one lane, for all
  i32 begun;               // whether the block has walked before
  i32 found;               // whether the task has found a solution
  Manner manner;
};
static_assert(sizeof(WalkHeader) == 88, "turbo_fzn/engine/layout/repair.py has the same");

struct ValueChange { bound_t before; i32 var; };

// The values are in the store's `lower`, which is not needed meanwhile.
struct Walk {
  const Problem* problem;
  bound_t* value;
  WalkHeader* header;
  i64* sums;        // of the terms of each sum, without the term that it defines
  i32* cost;        // of each constraint
  i32* weight;
  i32* place;       // of each constraint in `violated`, or -1
  i32* violated;
  u32* stamp;       // the last trial that has touched each constraint
  i32* touched;     // constraints that the current trial may change
  u32* pending;     // a bit for each definition that is to be computed
  u32* groups;      // and one for each word of these that is not 0
  ValueChange* changes;  // of the current trial: no variable changes more often than a move has changes
  i64* rests_until;  // the step until which each variable rests
  bound_t* kept;    // the values between two tasks
  bound_t* found;   // those of the last solution
  i32 n_violated, n_touched, n_changes;
  u32 trial;
  i64 work;                 // readers visited in the task
  i64 moves;                // and moves tried
  bound_t least, most;      // the objective's bounds
  LaneRandom random;        // the same in all lanes
  Manner manner;
};

DEVICE i32 count_constraints(const Problem& p) { return count_rows(p) + p.n_store_vars; }
DEVICE i32 pending_words(const Problem& p) { return (p.n_definitions + 31) / 32; }
DEVICE i32 pending_groups(const Problem& p) { return (pending_words(p) + 31) / 32; }

// Lays out a walk in a block's memory. Returns the end of it.
DEVICE char* lay_out(Walk& w, const Problem* p, char* memory) {
  Room room = {memory};
  const i32 n = p->n_store_vars, constraints = count_constraints(*p);
  w.problem = p;
  w.header = take<WalkHeader>(room, 1);
  w.sums = take<i64>(room, p->n_sums);
  w.cost = take<i32>(room, constraints);
  w.weight = take<i32>(room, constraints);
  w.place = take<i32>(room, constraints);
  w.violated = take<i32>(room, constraints);
  w.stamp = take<u32>(room, constraints);
  w.touched = take<i32>(room, constraints);
  w.pending = take<u32>(room, pending_words(*p));
  w.groups = take<u32>(room, pending_groups(*p));
  w.changes = take<ValueChange>(room, (i64)n * MOST_CHANGES);
  w.rests_until = take<i64>(room, n);
  w.kept = take<bound_t>(room, n);
  w.found = take<bound_t>(room, n);
  return room.next;
}

// The bytes of a walk; turbo_fzn/engine/layout/repair.py has an equal sum. None where a model cannot be walked on.
DEVICE i64 walk_bytes(const Problem& p) {
  if (!p.walks) return 0;
  Walk w;
  char* begin = (char*)&w;  // any address
  return lay_out(w, &p, begin) - begin;
}

// A block's walk lies behind all else in its workspace (block.h).
DEVICE char* walk_memory(const Block& b) {
  const Problem& p = *b.problem;
  return (char*)b.others + align16((i64)(p.n_vars - p.n_store_vars) * (i64)sizeof(bound_t));
}

DEVICE WalkHeader& walk_header(const Block& b) { return *(WalkHeader*)walk_memory(b); }

DEVICE i32 domain_of(const Problem* p, i32 var) { return count_rows(*p) + var; }
DEVICE bool is_domain(const Problem* p, i32 constraint) { return constraint >= count_rows(*p); }
DEVICE Reach reach_of(const Walk& w, i32 var) { return load_constant(&w.problem->reaches[var]); }
DEVICE bool is_objective(const Walk& w, i32 var) { return var == w.problem->objective; }

// The bounds between which a variable is to be.
DEVICE bound_t least_of(const Walk& w, i32 var) { return is_objective(w, var) ? w.least : w.problem->root_lower[var]; }
DEVICE bound_t most_of(const Walk& w, i32 var) { return is_objective(w, var) ? w.most : w.problem->root_upper[var]; }
DEVICE bool is_constant(const Walk& w, i32 var) { return w.problem->root_lower[var] == w.problem->root_upper[var]; }

DEVICE u64 draw_number(Walk& w, u64 n) { return below(next_random(w.random), n, 8); }
DEVICE bool draw_one_in(Walk& w, u64 n) { return draw_number(w, n) == 0; }
