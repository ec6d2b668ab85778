// A block's working memory, and the only functions that change a bound.
//
// The store is `lower` and `upper`, one bound a variable. Four flag bits a variable, eight variables a word: whether
// its lower or upper bound changed since its watchers were last walked, whether the current level's trail segment holds
// its old bounds, and a mark for the choice of neighbourhoods. `changed` lists the variables with a change bit; `queue`
// the rows whose bit in `queued` is set. Both lists have a capacity: the bits are the truth, a list that overflows is
// replaced by a sweep over the bits. Where rows retire, `entailed` marks those, and `retired` lists them beside the
// trail.
//
// PACKED: a *truth*, which lies within 0..1, has no place in `lower` and `upper`, but two more bits behind its flags,
// set where its lower bound has risen and where its upper bound has fallen: one byte for all, and one atomic for a
// change. Truths stand behind the other variables of the store (turbo_fzn/engine/layout/packed.py).
#pragma once

#include "assert.h"
#include "bounds.h"
#include "interval.h"

// Whether variables have holes (holes.h), whose words lie in the store behind the variables.
#ifndef BITSETS
#define BITSETS 0
#endif

// Whether truths are packed.
#ifndef PACKED
#define PACKED 0
#endif
static_assert(!PACKED || !BITSETS, "words of holes stand behind the variables, as truths do");

// How propagation chooses the rows of a round (fixpoint.h): by events, or all of them in one of two ways (sweep.h).
#define SWEEP_ROWS 1
#define SWEEP_WARPS 2
#ifndef SWEEP
#define SWEEP 0
#endif

constexpr u32 FLAG_LOWER = 1u;
constexpr u32 FLAG_UPPER = 2u;
constexpr u32 FLAG_CHANGED = 3u;
constexpr u32 FLAG_SAVED = 4u;
constexpr u32 FLAG_FREE = 8u;  // while a neighbourhood is being chosen: the variable is set free
constexpr i32 TRUTH_SHIFT = 4;  // format: what has changed of a truth since it was open, as FLAG_LOWER and FLAG_UPPER
constexpr u32 TRUTH_FLAGS = FLAG_CHANGED << TRUTH_SHIFT;
constexpr u32 ALL_LASTING_FLAGS = PACKED ? 0x34343434u : 0x44444444u;  // of a word: FLAG_SAVED, and TRUTH_FLAGS

// Whether a block keeps the rows in its shared memory (model.h).
#ifndef MODEL_SHARED
#define MODEL_SHARED 0
#endif

// What the lanes of a block share of its store; lane 0 writes, all read after a barrier.
struct Propagation {
  i32 failed;                    // the store has no solution
  i32 stop;                      // the host asks for a stop: everything is left as it is
  i32 n_changed[2], n_queue[2];  // two of each, used in turn, so that resetting one needs no barrier of its own
  i32 n_long[2];                 // long sums in the queue, which stand at its end; the others at its begin
  i32 trail_size, trailing;      // trailing: whether changes are recorded (not at the level that is never undone)
  i32 n_retired;                 // rows that the trail has to bring back
  i32 culprit;                   // a row that has failed since the last decision, or -1
#if SWEEP
  i32 n_listed;                  // rows that a sweep goes over, where they are listed
  i32 extra_runs;                // of rows, beyond one in a round
#endif
};

// Whether the end of a search proves anything.
struct Claim {
  i32 limited;   // the task is not of the complete search, but a neighbourhood, a restart or the warm start
  i32 given_up;  // a part of such a task was left out, so its end proves nothing
};

// One lane's view of its block. The state nests a part from each header that has one, and is put together at the end
// (block.h); a part is reached through the function of its name.
struct Block {
  const Problem* problem;
  struct BlockState* state;
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
  bound_t* others;  // in a solution: the values of the variables that are not in the store (search/others.h)
#if MODEL_SHARED
  const Row* rows;
#endif
  i32 index;  // of the block
  i32 round;  // of propagation; its parity selects the counters in use
#ifdef HYBRID
  struct Mirror* mirror = 0;  // of a thread that searches: bounds that its block does not have (hybrid/mirror.h)
  struct Remote* remote = 0;  // and its connection to that block (hybrid/remote.h)
#endif
};

DEVICE Propagation& propagation(const Block& b);
DEVICE Claim& claim(const Block& b);
DEVICE Statistics& statistics(const Block& b);

DEVICE i64 align16(i64 bytes) { return (bytes + 15) & ~(i64)15; }
DEVICE constexpr i32 flags_per_word(bool packed) { return packed ? 4 : 8; }  // format: of 8 bits each, or 4
DEVICE i32 flag_words(i32 n_vars, bool packed = PACKED) {
  return (n_vars + flags_per_word(packed) - 1) / flags_per_word(packed);
}
DEVICE i32 store_vars(const Problem& p) { return p.n_store_vars + BITSETS * p.n_hole_words; }  // with words of holes
DEVICE i32 count_rows(const Problem& p) { return p.n_store_rows + p.n_sums; }  // that run
DEVICE i32 row_words(const Problem& p) { return (count_rows(p) + 31) / 32; }  // of one bit a row
DEVICE u32* flag_word(const Block& b, i32 var) { return &b.flags[(u32)var / flags_per_word(PACKED)]; }
DEVICE u32 flag_shift(i32 var) { return (u32)var % flags_per_word(PACKED) * (32 / flags_per_word(PACKED)); }

DEVICE bool is_truth(const Block& b, i32 var) { return PACKED && var >= b.problem->n_wide_vars; }
DEVICE u32 truth_flags(const Block& b, i32 var) { return ((const unsigned char*)b.flags)[var] >> TRUTH_SHIFT; }

DEVICE bound_t lower_of(const Block& b, i32 var) {
  return is_truth(b, var) ? (bound_t)(truth_flags(b, var) & FLAG_LOWER) : b.lower[var];
}
DEVICE bound_t upper_of(const Block& b, i32 var) {
  return is_truth(b, var) ? (bound_t)(~truth_flags(b, var) >> 1 & 1) : b.upper[var];
}
DEVICE Interval interval_of(const Block& b, i32 var) {
  return interval(lower_of(b, var), upper_of(b, var));
}

DEVICE bool is_fixed(const Block& b, i32 var) { return lower_of(b, var) == upper_of(b, var); }

// The value of any variable in a solution.
DEVICE bound_t value_of(const Block& b, i32 var) {
  i32 n = b.problem->n_store_vars;
  return var < n ? lower_of(b, var) : b.others[var - n];
}

// The flags of a truth with these bounds, at their place in a word.
DEVICE u32 flags_of_truth(i32 var, bound_t lower, bound_t upper) {
  return ((lower == 1 ? FLAG_LOWER : 0) | (upper == 0 ? FLAG_UPPER : 0)) << TRUTH_SHIFT << flag_shift(var);
}

// Sets it. By lanes together, each a variable of its own.
DEVICE void set_value(const Block& b, i32 var, bound_t value) {
  i32 n = b.problem->n_store_vars;
  if (var >= n) {
    b.others[var - n] = value;
  } else if (is_truth(b, var)) {
    block_and(flag_word(b, var), ~(TRUTH_FLAGS << flag_shift(var)));
    block_or(flag_word(b, var), flags_of_truth(var, value, value));
  } else {
    b.lower[var] = value;
  }
}

// Writes all bounds of the store, and no other flags. The lanes divide the work; the caller adds the barrier.
OUTLINE void write_store(const Block b, const bound_t* lower, const bound_t* upper) {
  i32 n = store_vars(*b.problem), wide = PACKED ? b.problem->n_wide_vars : n, per_word = flags_per_word(PACKED);
  for (i32 v = lane(); v < wide; v += lanes()) {
    b.lower[v] = lower[v];
    b.upper[v] = upper[v];
  }
  for (i32 i = lane(); i < flag_words(n); i += lanes()) {
    u32 word = 0;
    for (i32 v = maximum(i * per_word, wide); v < minimum((i + 1) * per_word, n); ++v) {
      word |= flags_of_truth(v, lower[v], upper[v]);
    }
    b.flags[i] = word;
  }
}

// Reads all of them.
DEVICE void read_store(const Block& b, bound_t* lower, bound_t* upper) {
  for (i32 v = lane(); v < store_vars(*b.problem); v += lanes()) {
    lower[v] = lower_of(b, v);
    upper[v] = upper_of(b, v);
  }
}

// False, for callers to return.
DEVICE bool fail(const Block& b) {
  propagation(b).failed = 1;
  return false;
}

// Notes that the row has no solution. Returns false, for callers to return.
DEVICE bool refute(const Block& b, i32 row) {
  block_max(&propagation(b).culprit, row);
  return fail(b);
}

// Notes that a part of the search was left out: neither the whole search nor a limited one may claim to be complete.
DEVICE void give_up(const Block& b) {
  if (claim(b).limited) claim(b).given_up = 1;
  else global_store(&b.problem->common->incomplete, 1);
}

// Gives up the branch, because a bound lies beyond the values that a store can hold.
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

// Marks a change of `var`, which makes it where that is a truth, and trails its old bounds if this is the first at this
// level. The caller has read `lower` and `upper` before: the lane that sets the bit first has read the bounds before
// any change of this level.
DEVICE void record_change(const Block& b, i32 var, bound_t lower, bound_t upper, u32 flags) {
  Propagation& s = propagation(b);
  u32 shift = flag_shift(var);
  u32 saved = s.trailing ? FLAG_SAVED : 0;
  if (is_truth(b, var)) flags |= flags << TRUTH_SHIFT;
  u32 old = block_or(flag_word(b, var), (flags | saved) << shift) >> shift;
  if (saved & ~old) {
    TrailEntry entry = {lower, upper, var};
    i32 place = block_add(&s.trail_size, 1);
    ASSERT(0 <= place && place < b.problem->trail_capacity);
    b.trail[place] = entry;
  }
  if (!(old & FLAG_CHANGED)) {
    i32 place = block_add(&s.n_changed[b.round & 1], 1);
    if (place < b.problem->changed_capacity) b.changed[place] = var;
  }
}

// Writes back the bounds that a trail's entry holds, and ends their mark. A truth that changes was open.
DEVICE void restore_bounds(const Block& b, TrailEntry entry) {
  ASSERT(entry.lower <= lower_of(b, entry.var) && upper_of(b, entry.var) <= entry.upper);
  u32 marks = FLAG_SAVED;
  if (is_truth(b, entry.var)) {
    ASSERT(entry.lower == 0 && entry.upper == 1);
    marks |= TRUTH_FLAGS;
  } else {
    b.lower[entry.var] = entry.lower;
    b.upper[entry.var] = entry.upper;
  }
  block_and(flag_word(b, entry.var), ~(marks << flag_shift(entry.var)));
}

// Clears the change bits of variables whose watchers will not be walked. The caller adds the barrier.
DEVICE void clear_changes(const Block& b, i32 n_changed) {
  if (n_changed <= b.problem->changed_capacity) {
    for (i32 i = lane(); i < n_changed; i += lanes()) {
      block_and(flag_word(b, b.changed[i]), ~(FLAG_CHANGED << flag_shift(b.changed[i])));
    }
  } else {
    i32 words = flag_words(store_vars(*b.problem));
    for (i32 i = lane(); i < words; i += lanes()) block_and(&b.flags[i], ALL_LASTING_FLAGS);
  }
}

// Restricts `var` to `wanted`, a nonempty interval; fails if that empties the domain. `plainly`: how it writes bounds.
DEVICE void restrict_domain(const Block& b, i32 var, Interval wanted, bool plainly = false) {
  ASSERT(0 <= var && var < b.problem->n_store_vars && !is_empty(wanted));
  bound_t lower = lower_of(b, var), upper = upper_of(b, var);
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
  if (is_truth(b, var)) return;
  if (flags & FLAG_LOWER) raise_bound_to(&b.lower[var], (bound_t)wanted.l, plainly);
  if (flags & FLAG_UPPER) reduce_bound_to(&b.upper[var], (bound_t)wanted.u, plainly);
}

// Restricts `var` for a row that read `before` and wants `after`: most propagations change nothing.
DEVICE void tighten(const Block& b, i32 var, Interval before, Interval after) {
  if (after.l > before.l || after.u < before.u) restrict_domain(b, var, after, ROWS_WRITE_PLAINLY);
}

DEVICE void tighten_lower(const Block& b, i32 var, value_t value) {
  Interval wanted = {value, BEYOND};
  restrict_domain(b, var, wanted);
}

DEVICE void tighten_upper(const Block& b, i32 var, value_t value) {
  Interval wanted = {-BEYOND, value};
  restrict_domain(b, var, wanted);
}
