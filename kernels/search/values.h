// The value of a variable that is tried first, in restarts and neighbourhoods and by the warm start.
//
// The value that a variable was last fixed to by any block is kept (phase saving: Pipatsrisawat and Darwiche, SAT
// 2007).
#pragma once

#include "../core/random.h"
#include "../core/store.h"
#include "branch.h"
#include "incumbent.h"
#include "tuning.h"

// The values that VALUE_PHASE tries first.
enum ValueMode {
  MODE_MIXED,  // every other time the incumbent's value, else one at random or an end of the interval
  MODE_SAVED,  // mostly the value last tried in any block
  MODE_LOWER,
  MODE_UPPER,
  MODE_FRESH  // one at random or an end of the interval
};

struct ValueOrder {
  i32 mode;
  i32 flips;  // of 1024 branchings, how many try the last branch first
};

DEVICE ValueOrder& value_order(const Block& b);

// Whether a mode tries the value that it is named after this time: mostly, every other time, or never.
DEVICE bool tries_saved_value(u64 draw) { return high_bits(draw, 3) != 0; }
DEVICE bool tries_incumbent_value(u64 draw) { return coin(draw, 0); }

// A value of lower..upper at random, or one of its ends.
DEVICE bound_t fresh_value(u64 draw, bound_t lower, bound_t upper) {
  i64 size = interval_size(lower, upper);
  if (coin(draw, 4) && size < RANDOM_SIZE) return (bound_t)(lower + (bound_t)below(draw, (u64)(size + 1)));
  return coin(draw, 3) ? lower : upper;
}

// Lane 0.
DEVICE bound_t preferred_value(const Block& b, i32 var) {
  if (choice(b).value_choice == VALUE_HINT) return b.problem->hints[choice(b).position];
  u64 draw = next_random(b);
  i32 mode = value_order(b).mode;
  bool saved = mode == MODE_SAVED ? tries_saved_value(draw) : mode == MODE_MIXED && tries_incumbent_value(draw);
  if (saved && mode == MODE_MIXED && has_incumbent(b.problem)) {
    return global_load(&island_values(b.problem, island_access(b).source)[var]);
  }
  if (saved && b.problem->lns_percent) return global_load(&b.problem->phases[var]);
  if (mode == MODE_LOWER) return lower_of(b, var);
  if (mode == MODE_UPPER) return upper_of(b, var);
  return fresh_value(draw, lower_of(b, var), upper_of(b, var));
}

// Lane 0: restarts try the last branch first now and then, or they would all be the same.
DEVICE void flip_branches(const Block& b, Branches* branches) {
  i32 flips = value_order(b).flips;
  if (flips == 0 || high_bits(next_random(b), 10) >= flips) return;
  i32 last = branches->count - 1;
  bound_t lower = branches->lower[0], upper = branches->upper[0];
  branches->lower[0] = branches->lower[last];
  branches->upper[0] = branches->upper[last];
  branches->lower[last] = lower;
  branches->upper[last] = upper;
}

// Lane 0.
DEVICE void save_phase(const Block& b, Decision d) {
  if (claim(b).limited && d.lower == d.upper) global_store(&b.problem->phases[d.var], d.lower);
}
