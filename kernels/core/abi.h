// What the host and the kernels agree on: the model in memory, the words that blocks share, the solution ring.
// turbo_fzn/problem.py mirrors every struct here; abi_sizes() lets it check that both sides mean the same.
//
// BOUND_BITS (32 or 64) is the width of a bound in a store.
#pragma once

#include "port.h"

#ifndef BOUND_BITS
#define BOUND_BITS 32
#endif

#if BOUND_BITS == 64
typedef i64 bound_t;
#else
typedef i32 bound_t;
#endif

// "No bound", and only in 64-bit stores: lower == -INFINITE_BOUND or upper == INFINITE_BOUND.
#define INFINITE_BOUND ((i64)1 << 62)
#define NO_INCUMBENT INT64_MAX

enum Operator { OP_ADD, OP_MUL, OP_DIV, OP_MOD, OP_MIN, OP_MAX, OP_EQ, OP_LEQ, OP_ELEMENT };

enum VarChoice {
  VAR_INPUT_ORDER, VAR_FIRST_FAIL, VAR_ANTI_FIRST_FAIL, VAR_SMALLEST, VAR_LARGEST, VAR_DOM_W_DEG, VAR_MAX_REGRET
};

enum ValueChoice {
  VALUE_MIN, VALUE_MAX, VALUE_MEDIAN, VALUE_SPLIT, VALUE_REVERSE_SPLIT, VALUE_RANDOM,
  VALUE_SPLIT_RANDOM, VALUE_OUT_MIN, VALUE_OUT_MAX, VALUE_OUT_MEDIAN, VALUE_OUT_RANDOM,
  VALUE_PHASE,  // as BlockState.value_mode says; not one of MiniZinc's
  VALUE_HINT    // the value of the warm start; not one of MiniZinc's
};

// How a block searches: the complete tree search, the neighbourhoods of an incumbent, or restarts from the root.
enum Method {
  METHOD_TREE,
  METHOD_RANDOM, METHOD_WINDOW, METHOD_GRAPH, METHOD_OBJECTIVE,
  METHOD_WEIGHTED, METHOD_ANNOTATED, METHOD_PROBE,
  N_METHODS
};
#define FIRST_RESTART METHOD_WEIGHTED

// A propagator x = y op z; 16 bytes, so that a lane loads it at once.
struct alignas(16) Row { i32 op, x, y, z; };

// The rows to wake when a variable changes: watchers[start, both) on its lower bound only, [both, upper) on either,
// [upper, end) on its upper bound only.
struct alignas(16) Watch { i32 start, both, upper, end; };

// From `start` on, `strategy_vars` has `count` variables to label, then as many whose bounds the variable choice looks at
// (measured), then, for VAR_MAX_REGRET, count + 1 places in `tables`: from place i to place i + 1 lie the gaps in the
// domain of measured variable i, in order, each as the last value before it and the first one behind it.
struct alignas(16) Strategy { i32 var_choice, value_choice, start, count; };

// `var` is restricted to lower..upper.
struct Decision { bound_t lower, upper; i32 var; };

struct TrailEntry { bound_t lower, upper; i32 var; };

// A choice point: the alternatives not tried yet, and what to restore when it is left.
struct Level {
  bound_t lower[2], upper[2];  // alternatives, the last one in place 0
  i32 var, pending;
  i32 trail_start, path_start, retired_start;
  i32 strategy, position;
  i32 output_position;  // place of the first unfixed output variable before the choice
};

// Words shared by all blocks. The host writes `stop` and `consumed` while the kernel runs. Every node reads the first
// line, those of the tree search also how full the pool is.
struct alignas(64) Common {
  i64 best;         // least value of sense * objective found so far
  i32 stop;         // set by the host: leave at once
  i64 consumed;     // solutions that the host has taken out of the ring
  i64 ring_head;    // solutions put into the ring
  i32 incomplete;   // something was given up (a capacity, an overflow): no claim of completeness
  i64 bound;        // no solution has a smaller sense * objective
  i64 improved_ns;  // when `best` was last improved, by now_ns()
  alignas(64) i64 pool_head;  // blocks that have asked the pool for a subproblem
  alignas(64) i64 pool_tail;  // subproblems put into it
  alignas(64) i32 outstanding;  // subproblems that exist, in the pool or in a block; 0: the search is complete
};

// Where a block's time goes; counted by PROFILE builds only.
enum Phase { PHASE_FIXPOINT, PHASE_CHOICE, PHASE_BACKTRACK, PHASE_SOLUTION, PHASE_DIVE, PHASE_WAIT, N_PHASES };

struct Statistics {
  i64 nodes, failures, propagations, iterations, solutions, donations, replays, restarts, peak_level, busy_ns, idle_ns;
  i64 fixpoint_errors;  // rows that could still tighten at a fixpoint; counted by CHECK_FIXPOINT builds only
  i64 phase_ticks[N_PHASES];
};

// A solution that neighbourhoods start from. Its values are version / 2 times rewritten, and in the middle of it when
// odd.
struct alignas(64) Island {
  i64 version;
  i64 value;     // sense * objective
  i64 patience;  // of an island apart: neighbourhoods that may fail before it is settled anew
};

// What a method has cost and brought, over all blocks. The recent figures are halved now and then: what paid off at
// first need not pay for ever.
//
// Of its neighbourhoods, by their extent and size: the share of the variables that they fix, in SHARE_UNITs.
#define SHARE_UNIT 65536
#define N_EXTENTS 2
#define N_SIZES 4
struct alignas(64) MethodBook {
  i64 tries, busy_ns, improvements, recent_ns, recent_gain;
  i64 running;  // blocks that are at it
  i32 share[N_EXTENTS][N_SIZES];
};

struct alignas(16) PoolSlot { i32 length; };  // followed by pool_path decisions

struct RingSlot { i64 sequence, objective, block, method; };  // followed by n_exports values of type bound_t

struct Problem {
  const struct Row* rows;
  const struct Watch* watches;
  const i32* watchers;
  const bound_t* tables;
  const bound_t* root_lower;
  const bound_t* root_upper;
  const struct Strategy* strategies;
  const i32* strategy_vars;
  const i32* exports;
  const i32* neighbours;      // the variables that large neighbourhood search fixes
  const i32* neighbour_groups;  // of each: which of the model's arrays of decision variables it belongs to
  const i32* owners;          // of each variable: a decision variable near to it in the constraint graph, or -1
  const bound_t* hints;       // the warm start: a value for each variable of the strategy WARM_START
  i32* weights;               // failure weights of the variables, for VAR_DOM_W_DEG
  struct Island* islands;     // island 0 holds the best solution so far
  bound_t* incumbents;        // n_vars values an island
  bound_t* phases;            // the value that each variable was last fixed to, by a decision of any block
  struct MethodBook* books;   // one a method
  struct Common* common;
  struct Statistics* statistics;  // one a block
  i64* pool_sequences;        // one a slot
  char* pool;
  char* ring;                 // in host memory
  char* workspace;            // workspace_bytes a block
  i64 workspace_bytes, pool_slot_bytes, ring_slot_bytes;
  i64 seed;
  i32 n_vars, n_rows, n_strategies, n_exports, n_neighbours, n_groups, n_islands;
  i32 objective, sense;
  i32 changed_capacity, queue_capacity, trail_capacity, level_capacity, path_capacity;
  i32 pool_slots, pool_path, ring_slots;
  i32 lns_percent;            // share of the blocks that search neighbourhoods once there is an incumbent
  i32 n_blocks;
  i32 use_weights;
  i32 project;                // one solution for each assignment of the output variables is enough
  i32 methods;                // bit m: method m may be used
  i32 n_hints, padding[5];
  struct Strategy outputs;    // the output variables, as a list in strategy_vars
};
