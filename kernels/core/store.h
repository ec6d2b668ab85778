// A block's working memory, and the only functions that change a bound.
//
// The store is `lower` and `upper`, one bound a variable. Four flag bits a variable, eight variables a word: whether
// its lower or upper bound changed since its watchers were last walked, whether the current level's trail segment holds
// its old bounds, and a mark for the choice of neighbourhoods. `changed` lists the variables with a change bit; `queue`
// the rows whose bit in `queued` is set. Both lists have a capacity: the bits are the truth, a list that overflows is
// replaced by a sweep over the bits. Where rows retire, `entailed` marks those, and `retired` lists them beside the trail.
#pragma once

#include "interval.h"

#define FLAG_LOWER 1u
#define FLAG_UPPER 2u
#define FLAG_CHANGED 3u
#define FLAG_SAVED 4u
#define FLAG_FREE 8u  // while a neighbourhood is being chosen: the variable is set free
#define FLAG_BITS 4
#define FLAGS_PER_WORD 8
#define ALL_SAVED_FLAGS 0x44444444u

// What the lanes of a block share; lane 0 writes, all read after a barrier.
struct BlockState {
  i32 failed, stop;
  i32 n_changed[2], n_queue[2];  // two of each, used in turn, so that resetting one needs no barrier of its own
  i32 trail_size, trailing;      // trailing: whether changes are recorded (not at the level that is never undone)
  i32 level, base, trail_base;   // base: no open alternative at or below; trail_base: no trail at or below
  i32 path_size;
  i32 n_retired;                 // rows that the trail has to bring back
  i32 strategy, position;        // where the search for the next variable goes on
  i32 output_position;           // no output variable before this place is unfixed
  i32 keep_level;                // levels above it are left without a look at their alternatives
  i32 var, index;                // the chosen variable, or -1
  i32 value_choice;
  i32 donate;                    // the pool runs low: give a subproblem away
  i32 granted;                   // answer of lane 0 to the others, valid until the next barrier but one
  i32 neighbourhood;             // the block searches neighbourhoods and restarts, not subproblems of the complete search
  i32 warm_start;                // it tries the warm start, after which it takes part in the complete search
  i32 method;                    // how
  i32 given_up;                  // a neighbourhood was not searched to its end, though it looks so
  i32 improvements;              // solutions published in it
  i32 source, island;            // where its values come from, and where its solutions go to
  i32 settles;                   // the first solution found is the island's, however bad
  i32 value_mode;                // which values VALUE_PHASE tries first
  i32 flips;                     // of 1024 branchings, how many try the last branch first
  i32 failures_left;             // before that search is cut
  i64 target;                    // a neighbourhood wants sense * objective to be at most this
  i64 limit;                     // the same for one that lies on an island
  i64 runs_limit;                // count of propagator runs at which its search is cut,
  i32 failures_sure;             // but not before so many failures are left
  i32 extent, size;              // of the neighbourhood: which groups of variables it fixes, how long it may be searched
  i32 share;                     // of their variables, in SHARE_UNITs
  i32 last_var;                  // the variable decided last
  i32 culprit;                   // a row that has seen since then that there is no solution, or -1
  i32 early;                     // the task began without an incumbent: it ends when there is one
  i32 conflict_var;              // the variable decided last before the last failure, or -1; -2 when not to be remembered
  i64 place;                     // slot of the pool or ring that is being written or read
  i64 score;
  i64 value;                     // sense * objective of the solution being published
  i64 best;                      // copy of Common.best that all lanes may read
  i64 version;                   // of the incumbent that a neighbourhood was made from
  i64 since, began;              // when the task, and when the block began, in nanoseconds
  i64 solutions_before;          // of the block, then
  i64 first_node;                // of the subproblem, in statistics.nodes
  u64 random;
  u64 noise;                     // of the scores in this neighbourhood
  i64 phase_since;
  i32 phase;
  struct Statistics statistics;
};
static_assert(sizeof(BlockState) <= STATE_BYTES, "the host leaves STATE_BYTES (engine/abi.py) for a block's state");

// One lane's view of its block.
struct Block {
  const Problem* problem;
  BlockState* state;
  bound_t* lower;
  bound_t* upper;
  u32* flags;
  u32* queued;
  u32* entailed;
  i32* changed;
  i32* queue;
  TrailEntry* trail;
  i32* retired;
  Level* levels;
  Decision* path;
  i32 index;  // of the block
  i32 round;  // of propagation; its parity selects the counters in use
};

// From here on lane 0's time counts for `phase`.
DEVICE void enter_phase(const Block& b, i32 phase) {
#ifdef PROFILE
  if (lane() != 0) return;
  i64 now = ticks();
  b.state->statistics.phase_ticks[b.state->phase] += now - b.state->phase_since;
  b.state->phase_since = now;
  b.state->phase = phase;
#else
  (void)b;
  (void)phase;
#endif
}

DEVICE i32 flag_words(i32 n_vars) { return (n_vars + FLAGS_PER_WORD - 1) / FLAGS_PER_WORD; }
DEVICE i32 row_words(i32 n_rows) { return (n_rows + 31) / 32; }  // of one bit a row
DEVICE u32* flag_word(const Block& b, i32 var) { return &b.flags[(u32)var / FLAGS_PER_WORD]; }
DEVICE u32 flag_shift(i32 var) { return ((u32)var % FLAGS_PER_WORD) * FLAG_BITS; }

DEVICE Interval interval_of(const Block& b, i32 var) {
  return interval(b.lower[var], b.upper[var]);
}

DEVICE bool is_fixed(const Block& b, i32 var) { return b.lower[var] == b.upper[var]; }

// False, for callers to return.
DEVICE bool fail(const Block& b) {
  b.state->failed = 1;
  return false;
}

// Something is not searched that should be: no claim can be made about the whole, or about the neighbourhood.
DEVICE void give_up(const Block& b) {
  if (b.state->neighbourhood) b.state->given_up = 1;
  else global_store(&b.problem->common->incomplete, 1);
}

// A bound beyond what a store can hold: the branch is given up.
DEVICE bool overflow(const Block& b) {
  give_up(b);
  return fail(b);
}

// Whether a side without a bound would have to lie beyond every number. That is no failure: the model may have a
// solution there, with an intermediate value that cannot be stored.
DEVICE bool is_beyond_store(Interval before, Interval after) {
#if BOUND_BITS == 64
  return (before.u >= INFINITE_BOUND && after.l >= INFINITE_BOUND) ||
         (before.l <= -INFINITE_BOUND && after.u <= -INFINITE_BOUND);
#else
  (void)before;
  (void)after;
  return false;
#endif
}

// Marks a change of `var`, and trails its old bounds if this is the first at this level. The caller has read `lower`
// and `upper` before: whoever sets the bit first saw the bounds before any change of this level.
DEVICE void record_change(const Block& b, i32 var, bound_t lower, bound_t upper, u32 flags) {
  BlockState* s = b.state;
  u32 shift = flag_shift(var);
  u32 saved = s->trailing ? FLAG_SAVED : 0;
  u32 old = block_or(flag_word(b, var), (flags | saved) << shift) >> shift;
  if (saved & ~old) {
    TrailEntry entry = {lower, upper, var};
    b.trail[block_add(&s->trail_size, 1)] = entry;
  }
  if (!(old & FLAG_CHANGED)) {
    i32 place = block_add(&s->n_changed[b.round & 1], 1);
    if (place < b.problem->changed_capacity) b.changed[place] = var;
  }
}

// Restricts `var` to `wanted`, a nonempty interval; fails if that empties the domain.
DEVICE void restrict_domain(const Block& b, i32 var, Interval wanted) {
  bound_t lower = b.lower[var], upper = b.upper[var];
  u32 flags = (wanted.l > lower ? FLAG_LOWER : 0) | (wanted.u < upper ? FLAG_UPPER : 0);
  if (!flags) return;
  if (is_beyond_store(interval(lower, upper), wanted)) {
    overflow(b);
    return;
  }
  if (wanted.l > upper || wanted.u < lower) {
    fail(b);
    return;
  }
  record_change(b, var, lower, upper, flags);
  if (flags & FLAG_LOWER) block_max(&b.lower[var], (bound_t)wanted.l);
  if (flags & FLAG_UPPER) block_min(&b.upper[var], (bound_t)wanted.u);
}

// The same, for a caller that read `before` and wants `after`: most propagations change nothing.
DEVICE void tighten(const Block& b, i32 var, Interval before, Interval after) {
  if (after.l > before.l || after.u < before.u) restrict_domain(b, var, after);
}

DEVICE void tighten_lower(const Block& b, i32 var, value_t value) {
  Interval wanted = {value, BEYOND};
  restrict_domain(b, var, wanted);
}

DEVICE void tighten_upper(const Block& b, i32 var, value_t value) {
  Interval wanted = {-BEYOND, value};
  restrict_domain(b, var, wanted);
}
