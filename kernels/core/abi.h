// What the host and the kernels agree on: the words that blocks share, the solution ring, the input of a kernel.
// Printed from turbo_fzn/engine/abi/abi.py by `python -m turbo_fzn.engine.abi.header --write`: edit that one.
// BOUND_BITS (32 or 64) is the width of a bound in a store.
#pragma once

#include "model_abi.h"
#include "port.h"

#ifndef BOUND_BITS
#define BOUND_BITS 32
#endif

#if BOUND_BITS == 64
typedef i64 bound_t;
#else
typedef i32 bound_t;
#endif

constexpr i64 INFINITE_BOUND = 0x4000000000000000;  // "no bound", in 64-bit stores only: an upper one; negated, a lower
constexpr i64 NO_INCUMBENT = 0x7fffffffffffffff;  // in place of an objective value: nothing was found so far
constexpr i32 FREE_STRATEGY = 0;  // the strategy of restarts and neighbourhoods
constexpr i32 WARM_START = 1;  // that of the warm start
constexpr i32 FIRST_ANNOTATED = 2;  // the first one of the model
constexpr i32 SHARE_UNIT = 65536;  // the whole, of a share of variables
constexpr i32 N_EXTENTS = 2;  // of neighbourhoods: with and without whole arrays of variables set free
constexpr i32 N_SIZES = 4;  // of neighbourhoods: how long they may be searched
constexpr i32 N_METHODS = 15;
constexpr i32 N_ACTIVITIES = 6;
constexpr i32 N_DECISION_SETS = 4;
constexpr i32 FIRST_RESTART = 7;  // the method from which on they are restarts
constexpr i32 FIRST_LEARNER = 10;  // and from which on they learn from conflicts
constexpr i32 N_DEPTHS = 25;  // classes of depths
constexpr i32 STATE_BYTES = 544;  // room for a block's state in the static shared memory of the GPU's kernel
constexpr i32 EXCHANGE_SLOTS = 512;  // of a learner's ring: how many of its clauses the others can still read
constexpr i32 EXCHANGE_LITERALS = 8;  // of a clause in it, at most
constexpr i32 POSTED_ROWS = 32;  // linear rows that the host posts to learners: bits of a word
constexpr i32 POSTED_TERMS = 512;  // of such a row, at most
constexpr i32 HOLE_BITS = 30;  // of a word of holes, each for a value; so many that a word is no negative number
constexpr i32 MOST_HOLE_VALUES = 256;  // of a variable with holes

// Op of turbo_fzn/tnf/language.py.
enum Operator {
  OP_ADD = 0, OP_MUL = 1, OP_DIV = 2, OP_MOD = 3, OP_MIN = 4, OP_MAX = 5, OP_EQ = 6, OP_LEQ = 7, OP_ELEMENT = 8,
};

// The three forms of a linear row that the module's docstring defines, and CLAUSE, the RANGE of at least one
// of some literals, which arrange.py makes for the search of a tree.
enum LinearKind {
  LINEAR_RANGE = 0, LINEAR_AT_MOST = 1, LINEAR_EQUAL = 2, LINEAR_CLAUSE = 3,
};

// What a wide row says; the table above tells.
enum WideKind {
  WIDE_ALL_DIFFERENT = 0, WIDE_CUMULATIVE = 1, WIDE_ELEMENT = 2, WIDE_ENERGY = 3, WIDE_CIRCUIT = 4, WIDE_REACHABLE = 5,
};

// VarChoice of turbo_fzn/tnf/language.py.
enum VarChoice {
  VAR_INPUT_ORDER = 0, VAR_FIRST_FAIL = 1, VAR_ANTI_FIRST_FAIL = 2, VAR_SMALLEST = 3, VAR_LARGEST = 4,
  VAR_DOM_W_DEG = 5, VAR_MAX_REGRET = 6, VAR_ROW = 7,
};

// ValueChoice of turbo_fzn/tnf/language.py.
// The value choices that MiniZinc does not have.
enum ValueChoice {
  VALUE_MIN = 0, VALUE_MAX = 1, VALUE_MEDIAN = 2, VALUE_SPLIT = 3, VALUE_REVERSE_SPLIT = 4, VALUE_RANDOM = 5,
  VALUE_SPLIT_RANDOM = 6, VALUE_OUT_MIN = 7, VALUE_OUT_MAX = 8, VALUE_OUT_MEDIAN = 9, VALUE_OUT_RANDOM = 10,
  VALUE_PHASE = 11,  // as ValueOrder.mode says
  VALUE_HINT = 12,   // the value of the warm start
};

// How a block searches: the complete tree search, the neighbourhoods of an incumbent, restarts from the root, or
// learning from conflicts, each time to the end of the run.
enum Method {
  METHOD_TREE = 0, METHOD_RANDOM = 1, METHOD_WINDOW = 2, METHOD_GRAPH = 3, METHOD_OBJECTIVE = 4, METHOD_STATED = 5,
  METHOD_REPAIR = 6, METHOD_WEIGHTED = 7, METHOD_ANNOTATED = 8, METHOD_PROBE = 9, METHOD_PROVER = 10,
  METHOD_FINDER = 11, METHOD_FOLLOWER = 12, METHOD_SOLOIST = 13, METHOD_CORES = 14,
};

// The variables that a learner decides before all others (decisions.py).
enum DecisionSet {
  DECIDE_ALL = 0,
  DECIDE_TRUTHS = 1,    // those in 0..1
  DECIDE_UNLINKED = 2,  // all but the inner links of sums and of minima and maxima
  DECIDE_LABELLED = 3,  // those of the search annotation, or that the model declares
};

// The activities of a block, whose times PROFILE builds measure.
enum Activity {
  ACTIVITY_FIXPOINT = 0, ACTIVITY_CHOICE = 1, ACTIVITY_BACKTRACK = 2, ACTIVITY_SOLUTION = 3, ACTIVITY_DIVE = 4,
  ACTIVITY_WAIT = 5,
};

// The status of a node of the search tree, with the numbers of the profiler's protocol.
enum TraceStatus {
  TRACE_SOLVED = 0, TRACE_FAILED = 1, TRACE_BRANCH = 2, TRACE_SKIPPED = 3,
};

// What a record of the log says. Each begins with its size in words and its kind (kernels/learn/state/log.h).
enum LogKind {
  LOG_BY_ROW = 1,     // entry, side, k, row, premises: how the row made the side reach k
  LOG_BY_CLAUSE = 2,  // entry, side, k, clause: likewise
  LOG_LEARNED = 3,    // clause, literals: it follows from the explanations since the last one
  LOG_ROOT = 4,       // side, k, reason: a bound of level 0
  LOG_REFUTED = 5,    // reason: it fails at level 0
  LOG_SOLUTION = 6,   // the values of all variables
  LOG_ENDED = 7,      // the space is exhausted
};

// What a hint is about: its lowest bits. LAST: the bit of the last use of that; its number begins behind it.
enum HintKind {
  HINT_EVENT = 0, HINT_STEP = 1, HINT_CHAIN = 2, HINT_LAST = 4,
};

// Why the hints of a clause cannot be told (turbo_fzn/proof/hints.py).
enum TrimFault {
  TRIM_MEMORY = 1, TRIM_HOST = 2, TRIM_DAMAGED = 3, TRIM_UNPROVED = 4, TRIM_UNKNOWN = 5, TRIM_SILENT = 6,
};

// A consequence of a literal: a truth is false, or true; a variable gets its first lower, or upper bound.
enum Implied {
  IMPLIES_FALSE = 0, IMPLIES_TRUE = 1, IMPLIES_LOWER = 2, IMPLIES_UPPER = 3,
};

// The messages between a thread that searches and the block that propagates for it (hybrid/mailbox.h), in mapped
// memory of the host; followed by the lists of changes, first those for the block.
struct alignas(64) Mailbox {
  alignas(64) i64 asked;     // the thread's last message
  alignas(64) i64 answered;  // the block's last one
  i64 propagations;          // of the block for all its answers
  i64 iterations, busy_ns;
  i64 checksum;              // of its store; in CHECK_ASSERTIONS builds only
  i32 culprit;               // a row that has failed, or -1
};

// One mailbox for each thread, `bytes` apart. A list has room for `entries` changes.
struct Mailboxes {
  char* memory;
  i64 bytes;
  i32 entries;
};

// The counts of a thread on its block's answers.
struct RoundTrips {
  i64 round_trips;
  i64 round_trip_ns;   // that the thread has waited
  i64 propagation_ns;  // of that, the block was at work
  i64 messages;        // to the block; more than round trips, where lists were sent in parts
  i64 sent_bytes, returned_bytes;
};

// The counts at nodes with paths of certain lengths; in PROFILE builds only. Class c has the lengths of c bits.
struct DepthCounts {
  i64 nodes;
  i64 length;  // the sum of the lengths
  i64 iterations, propagations;
};

// The counters of a block that learns.
struct LearnStatistics {
  i64 nogoods;             // clauses learned, and the sums of their sizes and LBDs
  i64 literals, lbd;
  i64 minimised;           // literals removed by minimisation
  i64 backjumps;           // conflicts that went back more than one level
  i64 reductions;          // of the clauses
  i64 shortened;           // clauses, by vivification
  i64 told;                // clauses sent to other blocks
  i64 heard;               // clauses received from them
  i64 explanations;        // of rows
  i64 premises;
  i64 cores;               // of the objective's terms (learn/analysis/cores.h)
  i64 explanation_errors;  // counted by CHECK_EXPLANATIONS builds only
};

// `var` is restricted to lower..upper.
struct Decision {
  bound_t lower, upper;
  i32 var;
};

// The bounds that `var` had.
struct TrailEntry {
  bound_t lower, upper;
  i32 var;
};

// A choice point: the alternatives not tried yet, and the state to restore when it is left.
struct Level {
  bound_t lower[2];     // alternatives, the last one in place 0
  bound_t upper[2];
  i32 var, pending;
  i32 trail_start, path_start, retired_start;
  i32 strategy, position;
  i32 output_position;  // place of the first unfixed output variable before the choice
};

// A task of probing at the root (search/presolve.h): groups of literals, what they may cost, and what was found.
// Work is counted in propagations, and in variables that a case changes. A literal is twice a truth, plus its value.
struct Probes {
  const i32* literals;
  const i32* starts;  // for each group and one more: where its literals begin
  i32* implied;       // three numbers each: a literal, another variable, and an Implied
  i64 work;           // that is left
  i64 reward;         // more of it, for each variable of the root that becomes fixed
  i64 most_rewards;   // in total
  i64 probe_work;     // of a case, at most
  i32 n_groups;
  i32 next;           // the first group that was not looked at
  i32 n_probes;       // groups that were probed
  i32 n_failed;       // cases without a solution
  i32 n_implied, most_implied;
  i32 infeasible;     // whether the root has no solution
};

// A node: its place among its siblings and the decision that led to it (var -1: none). Each task searches its own
// tree, and numbers its nodes from 0; the parent of a root is -1.
struct TraceRecord {
  i64 lower, upper;
  i32 tree, node, parent, alternative, children, status, var;
};

// The choice point of an open level.
struct TraceBranch {
  i32 node, children;
};

// The ring of the search tree's nodes, from the block that searches to the host.
struct Trace {
  TraceRecord* records;
  TraceBranch* branches;
  i64 capacity, written, taken;
  i64 lower;  // the decision that leads to the current node
  i64 upper;
  i32 tree, next, parent, alternative, var;
};

// Words shared by all blocks. The host writes `stop`, `consumed` and `host_*` while the kernel is running. Every
// node reads the first line; nodes of the tree search also read how full the pool is.
struct alignas(64) Common {
  i64 best;                     // least value of sense * objective found so far
  i32 stop;                     // set by the host: leave at once
  i64 consumed;                 // solutions that the host has taken out of the ring
  i64 ring_head;                // solutions put into the ring
  i32 incomplete;               // a part was left unsearched (a capacity, an overflow): no proof of completeness
  i64 bound;                    // no solution has a smaller sense * objective
  i64 host_bound;               // a bound like `bound` that only the host writes, at any time
  i64 host_best;                // of a solution that was found elsewhere; `best` follows it. Only the host writes it
  i64 improved_ns;              // when `best` was last improved, by now_ns()
  i32 proved_by;                // the method that has raised `bound` last
  i32 wished;                   // set by the host: there are `wishes`
  i64 turn_end;                 // set by the host: the work after which a single learner waits for it; 0: never
  i64 turn_over;                // the last `turn_end` at which it has waited
  alignas(64) i64 pool_head;    // blocks that have asked the pool for a subproblem
  alignas(64) i64 pool_tail;    // subproblems put into it
  alignas(64) i32 outstanding;  // subproblems that exist, in pool or blocks; 0: nothing is open here
  i32 shared;                   // set by the host: other engines may still have parts of the tree
  alignas(64) i64 wanted;       // set by the host: parcels that it asks for, in total
  i64 sent;                     // parcels put into the outbox
  i64 brought;                  // set by the host: parcels that it has put into the inbox
  i64 fetched;                  // twice the number of parcels taken out of the inbox; odd while one is being taken
  alignas(64) i64 next_part;    // the next part of a tree that is split ahead (search/split.h)
  i64 skipped_parts;            // parts that no block had to take
};

// The counters of a block.
struct Statistics {
  i64 nodes, failures, propagations, iterations, solutions, donations, replays, restarts, peak_level, busy_ns, idle_ns;
  i64 moves;            // that walks have tried (repair/repair.h)
  i64 fixpoint_errors;  // rows that could still tighten at a fixpoint; counted by CHECK_FIXPOINT builds only
  i64 activity_ticks[N_ACTIVITIES];
};

// A solution that neighbourhoods start from, written version / 2 times; an odd version is being written.
struct alignas(64) Island {
  i64 version;
  i64 value;     // sense * objective
  i64 patience;  // neighbourhoods that may fail before the island is resettled; for the host's see incumbent.h
};

// Root bounds (search/units.h): `version` is 0 until one was set; followed by 2 n_vars of type bound_t.
struct alignas(64) Units {
  i64 version;
};

// The costs and gains of a method over all blocks. Recent figures are halved at intervals.
struct alignas(64) MethodBook {
  i64 tries, busy_ns, improvements, recent_ns, recent_gain;
  i64 running;                    // blocks that use it now
  i32 share[N_EXTENTS][N_SIZES];  // of variables that its neighbourhoods fix, in SHARE_UNITs
};

// A subproblem; followed by pool_path decisions.
struct alignas(16) PoolSlot {
  i32 length;
};

// A subproblem on its way to another engine, or from one; followed by parcel_path decisions.
struct alignas(16) Parcel {
  i64 sequence;  // in the outbox: the number of the parcel, from 1 on
  i32 length;
};

// A solution; followed by n_exports values of type bound_t.
struct RingSlot {
  i64 sequence, objective, block, method;
};

// The input of a kernel.
struct Problem {
  const Row* rows;
  const Watch* watches;
  const i32* watchers;
  const bound_t* tables;
  const bound_t* root_lower;
  const bound_t* root_upper;
  const Strategy* strategies;
  const i32* strategy_vars;
  const i32* exports;
  const i32* neighbours;              // the variables that large neighbourhood search fixes
  const i32* neighbour_groups;        // for each of them: the number of its array
  const i32* owners;                  // for each variable: a near one of these, or -1
  const bound_t* hints;               // the warm start: a value for each variable of the strategy WARM_START
  i32* weights;                       // failure weights of the variables, for VAR_DOM_W_DEG
  Island* islands;                    // island 0 holds the best solution so far; behind the last is the host's
  bound_t* incumbents;                // n_vars values an island
  bound_t* phases;                    // the value that each variable was last fixed to, by a decision of any block
  bound_t* wishes;                    // the suggested value of each variable, or one out of range
  Units* units;
  MethodBook* books;                  // one a method
  Common* common;
  Statistics* statistics;             // one a block
  i64* pool_sequences;                // one a slot
  char* pool;
  char* ring;                         // in host memory
  char* outbox;                       // in host memory
  char* inbox;
  char* workspace;                    // workspace_bytes a block
  i64 workspace_bytes, pool_slot_bytes, ring_slot_bytes;
  i64 seed;
  i32 n_vars, n_rows, n_strategies, n_exports, n_neighbours, n_groups, n_islands;
  i32 objective, sense;
  i32 changed_capacity, queue_capacity, trail_capacity, level_capacity, path_capacity;
  i32 pool_slots, pool_path, ring_slots;
  i32 parcels;                        // that fit the outbox and the inbox; 0 where no other engines share the tree
  i32 parcel_path, parcel_bytes, n_goal_terms;
  i32 lns_percent;                    // share of the blocks that search neighbourhoods once there is an incumbent
  i32 n_blocks, use_weights;
  i32 project;                        // one solution for each assignment of the output variables is enough
  i32 methods;                        // bit m: method m may be used
  i32 n_hints, n_linears, n_terms, n_links, n_stated, n_restart_limits, n_definitions, n_wides, most_arguments;
  i32 most_terms;                     // of a linear row
  i32 walks;                          // whether blocks may walk on the model
  Strategy outputs;                   // the output variables, as a list in strategy_vars
  const i32* roles;                   // for each block: its method if it learns, else METHOD_TREE
  const char* decision_sets;          // for each variable: bit s is set if it is in DecisionSet s
  const LearnerSettings* learners;    // for each block
  LearnStatistics* learn_statistics;  // one a block
  char* exchange;                     // between learners (learn/exchange/exchange.h); null with fewer than two
  i64 learn_bytes;                    // of a learner's memory
  DepthCounts* depths;                // for each class of depths, of all blocks; in PROFILE builds
  i32 split_bits;                     // a tree that is split ahead has 2^split_bits parts
  i32 needs_learners;                 // whether only wide rows say all that a solution is
  const Linear* linears;              // rows that replace others for learners (tnf/fuse.py)
  const Term* terms;
  const i32* linear_wakes;            // for each side and one more: where its rows begin in this list
  const i32* clauses;                 // in the form of `linear_wakes`: for each clause its sides of truth values
  const char* absorbed;               // for each row: whether linear rows or clauses replace it
  const char* links;                  // for each variable: whether it has left with such rows
  const i32* link_rows;               // the rows that define these, operands first
  i32 n_clauses, n_clause_literals, n_hole_words, n_wide_vars, packed, rest;
  i32 n_levels;                       // of `defining_rows`
  const Wide* wides;                  // rows that learners run beside all others (tnf/wide.py)
  const i32* wide_arguments;
  const i32* holes;                   // for each variable two numbers (core/holes.h); null where none has any
  const i32* wide_wakes;              // as `linear_wakes`
  Postbox* posted;                    // null where the host posts no rows
  i32 posted_bytes;                   // of a row in it, with its terms
  i32 n_counters;                     // of a learner, in its own copy (learn/propagators/counters.h)
  i32 n_store_vars;                   // the first variables are in a block's store (tnf/arrange.py)
  i32 n_store_rows;                   // and the first rows run in it, with sums
  i32 n_sums;
  i32 n_short_sums;                   // the first ones
  const Watch* store_watches;
  const i32* store_watchers;
  const Linear* sums;                 // the rows behind these
  const Term* sum_terms;
  const i32* defining_rows;           // of the variables that are not in the store
  const i32* defining_levels;         // where each level begins among these, and the last one ends
  const Term* goal_terms;             // sense * objective is goal_constant and the sum of these
  const i64* goal_constant;
  const Definition* definitions;      // of walks, in their order (kernels/repair)
  const i32* definition_places;       // for each row of a block: its place among these, or -1
  const Reach* reaches;               // one a variable of the store
  const Reader* readers;
  const i32* sum_scales;              // one a sum: a violation of so much counts as one
  const Stated* stated;               // the neighbourhood that the model states
  const i32* restart_limits;          // failures before each (search/schedule.h); none: its own
};

#include "abi_check.h"
