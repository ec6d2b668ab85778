// A learner: what it holds in memory, and how that is laid out.
//
// Everything lies in one piece of memory whose size the host fixes: arrays by side, variable, row and level, then the
// trail, the clauses and the lists of watchers, which share what is left. Nothing grows beyond: a full list or clause
// store is reduced (clauses.h), a full trail makes the search restart, and where that does not help the learner leaves
// without a claim.
#pragma once

#include "literal.h"

// A change of a side: from `was` to `now`. `previous` is the entry of the same side before it, or -1.
struct Entry {
  i32 side, level, previous, reason;
  bound_t now, was;
};

// Reasons: a decision, 2 * row + 1, or 2 * clause.
#define DECISION (-1)
DEVICE i32 row_reason(i32 row) { return 2 * row + 1; }
DEVICE i32 clause_reason(i32 clause) { return 2 * clause; }
DEVICE bool is_row_reason(i32 reason) { return reason & 1; }

// What minimisation has found out about an entry in the conflict number `stamp` (analyse.h).
struct Memo {
  i32 stamp;
  bound_t implied, refused;
};

// Where a level begins, and how far the annotation had been followed then.
struct Mark { i32 trail_size, strategy, position; };

// A growing list, of 1 << log cells of the pool; log is -1 while it has none.
struct List { i32 start, size, log; };

// Clauses are named by their place in the store, in units of CLAUSE_UNIT bytes; the literals follow.
#define CLAUSE_UNIT 8
struct Clause {
  i32 size, lbd;
  float activity;
  u32 used;  // as a reason since the last reduction
};

// In the list of a literal, somebody to be told when it becomes true. `blocker` is another literal of the clause.
struct Watcher {
  Literal blocker;
  i32 clause;
  i32 binary;
};

// A literal of a side that somebody watches: its threshold, and the list.
struct Node {
  bound_t k;
  List watchers;
};

union Cell {
  Watcher watcher;
  Node node;
  i32 next_free;
};

// The rows that a side wakes: where each priority begins in the lists, where the thresholds do, and the end (wake.h).
#define N_PRIORITIES 3
struct Wakes { i32 start[N_PRIORITIES], thresholds, end; };

#define N_LOGS 28

// What `propagate` and its parts come to.
enum Outcome { CONSISTENT, CONFLICT, FULL, LEAVE };

struct Learner {
  Block* block;
  const Problem* problem;
  LearnStatistics* statistics;
  i32 role, part;      // the part that it plays now: its role, but for a soloist
  // of each side
  bound_t* now;
  bound_t* root;       // at level 0
  i32* last;           // its last entry of the trail, or -1
  bound_t* needed;     // the resolvent: its threshold,
  i32* needed_at;      // and the entry that reached it, or -1
  List* nodes;         // of watched literals, by threshold
  Wakes* wakes;
  i32* touched;        // sides that were in the resolvent
  Literal* learned;    // the clause that came out of the last analysis
  // of each variable
  double* activity;
  i32* heap;
  i32* place;          // in the heap, or -1
  bound_t* phase;      // its value last, or the one that the annotation prefers
  bound_t* split;      // the threshold at which the last conflict looked at it
  bound_t* best;       // values of the incumbent
  // of each row
  i32* next_row;       // in the queue of its priority; NOT_QUEUED, or -1 at the end
  // of each row that a side wakes
  i32* woken;
  bound_t* woken_at;   // its threshold
  // of each level
  Mark* marks;
  i32* stamps;
  Entry* trail;
  Memo* memos;         // one an entry
  char* clauses;
  Cell* pool;
  u64* keys;           // of the clauses, to choose the half that goes

  i32 trail_size, trail_capacity, head;
  i32 level, level_capacity, peak_level;
  i32 first_row[N_PRIORITIES], last_row[N_PRIORITIES];
  i32 clause_end, clause_capacity;  // in units
  i32 n_clauses, most_clauses;      // and the number from which on they are reduced
  i32 pool_size, pool_capacity, free_cells[N_LOGS];
  i32 lists_full, clauses_full;     // a restart is to make room
  i32 refused, refused_reason;      // the side that could not grow, and what would have made it
  i32 n_touched, n_learned, lbd, conflict_level, open_here, stamp;
  i32 outcome;                      // why the last change was refused
  i32 creeping, suspended;          // see advance.h
  i32 heap_size, set;               // the decision set that comes first
  double activity_step;
  i32 pending_side, pending_level;  // the second half of a decision, see decide.h
  bound_t pending_k;
  i32 strategy, position;
  i64 cut;                          // only solutions better than this value of sense * objective are wanted
  i64 best_version;                 // of the incumbent in `best`
  i32 has_best, by_wish;
  i32 exhausted;                    // the space holds nothing better than the cut
  i32 restarts, conflicts_here, conflict_limit, probing, full_restarts;
  i32 gave_up;                      // the trail was full, and restarts were in vain
  i32 turns, luby_runs, prover_runs, wish_runs;
  i64 conflicts_in_turn;            // of a soloist
  double recent_lbd, usual_lbd;
  i64 probe_step, probe_gap, leap;
  i64 runs, polls;                  // of rows; calls of wants_end
  i64* heard;                       // of each block: the clauses of its ring that were read
  i64 units_seen;
  i32 root_news;                    // something came to hold at level 0 that nobody was told
  i32 reduce_at;                    // number of clauses
};

// Whether the block learns, rather than search the tree or neighbourhoods.
DEVICE bool is_learner(const Problem* p, i32 block) { return p->roles && p->roles[block] >= FIRST_LEARNER; }

// Takes the next `count` elements of a piece of memory.
template <typename T> DEVICE T* take(char** memory, i64 count) {
  T* place = (T*)*memory;
  *memory += align16(count * (i64)sizeof(T));
  return place;
}

// How long the lists of wakes are at most: a row of EQ and a constant has two thresholds a side.
DEVICE i64 most_wakes(const Problem* p) {
  i64 count = 0;
  for (i32 v = 0; v < p->n_vars; ++v) {
    Watch w = load_constant(&p->watches[v]);
    for (i32 i = w.start; i < w.end; ++i) {
      i32 op = load_constant(&p->rows[load_constant(&p->watchers[i])]).op;
      count += (1 + (w.both <= i && i < w.upper)) * (1 + (op == OP_EQ));
    }
  }
  return count;
}

#define LEAST_ENTRIES 256
#define SIDE_BYTES (3 * (i64)sizeof(bound_t) + 3 * 4 + (i64)(sizeof(List) + sizeof(Literal) + sizeof(Wakes)))
#define VAR_BYTES (8 + 2 * 4 + 3 * (i64)sizeof(bound_t))
#define LEVEL_BYTES ((i64)sizeof(Mark) + 4)
#define CLAUSE_LEAST (2 * (i64)sizeof(Literal) + (i64)sizeof(Clause))

// How much of what there is room for in `bytes` of memory. False when that is too little.
DEVICE bool set_capacities(Learner* l, i64 bytes, i64 wakes) {
  const Problem* p = l->problem;
  i64 n = p->n_vars;
  i64 fixed = n * (2 * SIDE_BYTES + VAR_BYTES) + (i64)p->n_rows * 4 + (i64)p->n_blocks * 8 + 4096;
  fixed += wakes * (4 + (i64)sizeof(bound_t));
  i64 rest = bytes - fixed;
  i64 entries = rest / 5 / (i64)(sizeof(Entry) + sizeof(Memo) + LEVEL_BYTES);
  i64 clause_bytes = rest * 2 / 5, cells = rest * 7 / 20 / (i64)sizeof(Cell), keys = rest / 40 / 8;
  if (rest < 0 || entries < LEAST_ENTRIES + 2 * n) return false;
  l->trail_capacity = (i32)minimum(entries, (i64)1 << 28);
  l->level_capacity = l->trail_capacity - 1;
  l->clause_capacity = (i32)minimum(clause_bytes / CLAUSE_UNIT, ((i64)1 << 30) - 1);
  l->pool_capacity = (i32)minimum(cells, ((i64)1 << 30) - 1);
  l->most_clauses = (i32)minimum(keys, ((i64)1 << 28));
  return true;
}

// Lays the learner out in `bytes` of memory. False when that is too little.
DEVICE bool lay_out(Learner* l, char* memory, i64 bytes) {
  const Problem* p = l->problem;
  i64 n = p->n_vars, wakes = most_wakes(p);
  if (!set_capacities(l, bytes, wakes)) return false;
  l->now = take<bound_t>(&memory, 2 * n);
  l->root = take<bound_t>(&memory, 2 * n);
  l->last = take<i32>(&memory, 2 * n);
  l->needed = take<bound_t>(&memory, 2 * n);
  l->needed_at = take<i32>(&memory, 2 * n);
  l->nodes = take<List>(&memory, 2 * n);
  l->wakes = take<Wakes>(&memory, 2 * n);
  l->touched = take<i32>(&memory, 2 * n);
  l->learned = take<Literal>(&memory, 2 * n);
  l->activity = take<double>(&memory, n);
  l->heap = take<i32>(&memory, n);
  l->place = take<i32>(&memory, n);
  l->phase = take<bound_t>(&memory, n);
  l->split = take<bound_t>(&memory, n);
  l->best = take<bound_t>(&memory, n);
  l->next_row = take<i32>(&memory, p->n_rows);
  l->woken = take<i32>(&memory, wakes);
  l->woken_at = take<bound_t>(&memory, wakes);
  l->marks = take<Mark>(&memory, l->level_capacity + 1);
  l->stamps = take<i32>(&memory, l->level_capacity + 1);
  l->trail = take<Entry>(&memory, l->trail_capacity);
  l->memos = take<Memo>(&memory, l->trail_capacity);
  l->clauses = take<char>(&memory, (i64)l->clause_capacity * CLAUSE_UNIT);
  l->pool = take<Cell>(&memory, l->pool_capacity);
  l->keys = take<u64>(&memory, l->most_clauses);
  l->heard = take<i64>(&memory, p->n_blocks);
  return true;
}
