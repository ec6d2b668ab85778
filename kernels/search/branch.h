// Choosing the next variable and splitting its interval, as the model's search annotation says.
//
// Strategies label their variables one after the other; after the last strategy come all variables of the model, in
// order, least value first, so that a solution is a store in which all variables are fixed. FREE_STRATEGY is that of
// restarts and neighbourhoods (neighbourhood.h), WARM_START tries the warm start; those of the model begin at
// FIRST_ANNOTATED. All lanes scan; the best candidate is found by a block-wide minimum of the score, then of the place
// in the list (ties: the earliest).
#pragma once

#include "../core/assert.h"
#include "../core/interval.h"
#include "../core/random.h"
#include "../core/store.h"
#ifdef FLOATS
#include "../floats/decided.h"
#else
#define is_decided is_fixed
#endif

constexpr i32 NO_PLACE = INT32_MAX;
constexpr i32 NOT_KEPT = -2;  // in place of a variable

// The next variable to branch on, and how its values are tried.
struct Choice {
  i32 strategy, position;  // where the search for the next variable goes on
  i32 var;                 // the chosen variable, or -1
  i32 value_choice;
  i32 conflict_var;        // the variable decided last before the last failure, or -1; NOT_KEPT where none is kept
  i32 place;               // the lanes' candidate, in the list of a strategy
  i64 score;               // and its score
  u64 noise;               // of the scores, in a limited search
};

DEVICE Choice& choice(const Block& b);
DEVICE Random& block_random(const Block& b);

// Lane 0: the block's next random number.
DEVICE u64 next_random(const Block& b) { return next_random(block_random(b)); }

// upper - lower, saturating where a side has no bound.
DEVICE i64 interval_size(i64 lower, i64 upper) {
  u64 size = (u64)upper - (u64)lower;
  return size < (u64)INT64_MAX ? (i64)size : INT64_MAX - 1;
}

// In limited searches, up to twice the score: another order in each, where failure weights say little.
DEVICE double score_noise(const Block& b, i32 var) {
  return claim(b).limited ? 1 + fraction(hash_of(choice(b).noise, var)) : 1;
}

// A positive number's bits, which are ordered as the numbers are.
DEVICE i64 ordered_bits(double number) {
  union { double number; i64 bits; } u;
  u.number = number;
  return u.bits;
}

// The rows of a strategy VAR_ROW: a place for each member, in `end` and `needed` 0 but for a row's first.
struct RowMembers {
  const i32 *vars, *end, *needed;
};

DEVICE RowMembers members_of_rows(const Problem* p, Strategy strategy) {
  const i32* vars = p->strategy_vars + strategy.start;
  return {vars, vars + 2 * strategy.count, vars + 3 * strategy.count};
}

DEVICE i32 strategy_var(const Block& b, Strategy strategy, i32 i) {
  return strategy.start < 0 ? i : b.problem->strategy_vars[strategy.start + i];
}

// The distance from `least`, the least value of the i-th variable's domain, to the second least.
DEVICE i64 regret(const Block& b, Strategy strategy, i32 i, bound_t least) {
  const i32* places = b.problem->strategy_vars + strategy.start + 2 * strategy.count;
  const bound_t* tables = b.problem->tables;
  i32 from = places[i], end = places[i + 1];
  while (from < end) {  // for the first gap that does not begin below `least`
    i32 middle = from + (end - from) / 4 * 2;
    if (tables[middle] < least) from = middle + 2;
    else end = middle;
  }
  return from < places[i + 1] && tables[from] == least ? interval_size(least, tables[from + 1]) : 1;
}

// The score of the i-th variable of a strategy, which is not fixed: the lower the better.
DEVICE i64 variable_score(const Block& b, Strategy strategy, i32 i, i32 var) {
  i32 measured = b.problem->strategy_vars[strategy.start + strategy.count + i];
  i64 lower = lower_of(b, measured), upper = upper_of(b, measured);
  switch (strategy.var_choice) {
    case VAR_FIRST_FAIL: return interval_size(lower, upper);
    case VAR_ANTI_FIRST_FAIL: return -interval_size(lower, upper);
    case VAR_SMALLEST: return lower;
    case VAR_LARGEST: return -upper;
    case VAR_DOM_W_DEG: {
      double size = (double)upper - (double)lower + 1, weight = global_load(&b.problem->weights[var]);
      return ordered_bits(size / (weight > 1 ? weight : 1) * score_noise(b, var));
    }
    case VAR_MAX_REGRET: return -regret(b, strategy, i, lower_of(b, measured));
    default: return 0;
  }
}

// The strategy of this index; after the annotated ones, that of all variables.
DEVICE Strategy strategy_at(const Block& b, i32 index) {
  Strategy rest = {VAR_INPUT_ORDER, VALUE_MIN, PACKED ? b.problem->rest : -1, b.problem->n_store_vars};
  return index < b.problem->n_strategies ? b.problem->strategies[index] : rest;
}

// The place of the first unfixed variable from `from` on, or NO_PLACE. It looks at one variable a lane at a time.
DEVICE i32 first_unfixed(const Block& b, Strategy strategy, i32 from) {
  Choice& s = choice(b);
  for (i32 chunk = from; chunk < strategy.count; chunk += lanes()) {
    i32 i = chunk + lane();
    if (lane() == 0) s.place = NO_PLACE;
    barrier();
    if (i < strategy.count && !is_decided(b, strategy_var(b, strategy, i))) block_min(&s.place, i);
    barrier();
    i32 found = s.place;
    barrier();
    if (found != NO_PLACE) return found;
  }
  return NO_PLACE;
}

// The place with the least score of all lanes' candidates, the first of equal ones, or NO_PLACE.
DEVICE i32 best_of_lanes(const Block& b, i64 score, i32 place) {
  Choice& s = choice(b);
  if (lane() == 0) {
    s.score = INT64_MAX;
    s.place = NO_PLACE;
  }
  barrier();
  if (place != NO_PLACE) block_min(&s.score, score);
  barrier();
  if (place != NO_PLACE && score == s.score) block_min(&s.place, place);
  barrier();
  i32 found = s.place;
  barrier();
  return found;
}

// The place of the unfixed variable with the least score, or NO_PLACE.
DEVICE i32 best_unfixed(const Block& b, Strategy strategy) {
  i64 score = INT64_MAX;
  i32 place = NO_PLACE;
  for (i32 i = lane(); i < strategy.count; i += lanes()) {
    i32 var = strategy_var(b, strategy, i);
    if (is_decided(b, var)) continue;
    i64 candidate = variable_score(b, strategy, i, var);
    if (candidate < score) {
      score = candidate;
      place = i;
    }
  }
  return best_of_lanes(b, score, place);
}

// A row of a strategy VAR_ROW: its first open member, or NO_PLACE, and how many members are open for each that it
// still wants.
struct OpenRow {
  i32 place;
  double ratio;
};

// The row whose first member is at `start`; `lower` and `upper` tell the bounds of a variable. No place where the row
// wants no more.
template <class Lower, class Upper>
DEVICE OpenRow open_row(const RowMembers& rows, i32 start, Lower lower, Upper upper) {
  i32 open = 0, wanted = rows.needed[start], first = NO_PLACE;
  for (i32 i = rows.end[start] - 1; i >= start; --i) {
    i32 var = rows.vars[i];
    if (lower(var) > 0) {
      --wanted;
    } else if (upper(var) > 0) {
      ++open;
      first = i;
    }
  }
  return {wanted > 0 ? first : NO_PLACE, wanted > 0 ? (double)open / wanted : 0};
}

#ifndef __CUDACC__  // in the GPU's kernel this function costs every model 3 to 17 % of its nodes/s (H200)

// The place of the first open member of the row that has the fewest for each that it wants, or NO_PLACE.
DEVICE i32 best_of_rows(const Block& b, Strategy strategy) {
  const RowMembers rows = members_of_rows(b.problem, strategy);
  i64 score = INT64_MAX;
  i32 place = NO_PLACE;
  for (i32 i = lane(); i < strategy.count; i += lanes()) {
    if (rows.end[i] == 0) continue;
    auto lower = [&](i32 var) { return lower_of(b, var); };
    auto upper = [&](i32 var) { return upper_of(b, var); };
    OpenRow row = open_row(rows, i, lower, upper);
    if (row.place == NO_PLACE) continue;
    i64 candidate = ordered_bits(row.ratio * score_noise(b, rows.vars[i]));
    if (candidate < score) {
      score = candidate;
      place = row.place;
    }
  }
  return best_of_lanes(b, score, place);
}

#endif

// The place of the strategy's next variable, or NO_PLACE. A GPU takes members of rows in their order.
DEVICE i32 next_place(const Block& b, Strategy strategy, i32 from) {
  switch (strategy.var_choice) {
    case VAR_INPUT_ORDER: return first_unfixed(b, strategy, from);
#ifndef __CUDACC__
    case VAR_ROW: return best_of_rows(b, strategy);
#endif
    default: return best_unfixed(b, strategy);
  }
}

// Sets choice(b).var to the next variable to branch on, or to -1 when all are fixed.
DEVICE void choose_variable(const Block& b) {
  Choice& s = choice(b);
  i32 index = s.strategy, from = s.position, place = NO_PLACE;
  i32 conflict = s.conflict_var;
  if (conflict >= 0 && !is_decided(b, conflict)) {
    barrier();
    if (lane() == 0) {
      s.var = conflict;
      s.value_choice = VALUE_PHASE;
    }
    barrier();
    return;
  }
  Strategy strategy = strategy_at(b, index);
  for (;;) {
    bool in_order = strategy.var_choice == VAR_INPUT_ORDER;
    place = next_place(b, strategy, from);
    from = in_order ? place : 0;
    if (place != NO_PLACE || index == b.problem->n_strategies) break;
    strategy = strategy_at(b, ++index);
    from = 0;
  }
  if (lane() == 0) {
    s.var = place == NO_PLACE ? -1 : strategy_var(b, strategy, place);
    s.value_choice = strategy.value_choice;
    s.strategy = index;
    s.position = from;
    ASSERT(s.var < 0 || (place < strategy.count && !is_decided(b, s.var)));
  }
  barrier();
}

struct Branches {
  bound_t lower[3], upper[3];
  i32 count;
};

DEVICE void add_branch(Branches* branches, wide_t lower, wide_t upper) {
  if (lower > upper) return;
  branches->lower[branches->count] = (bound_t)lower;
  branches->upper[branches->count++] = (bound_t)upper;
}

// A finite stand-in for l..u when a side has no bound: 0 if it can be, else the finite end.
DEVICE wide_t anchor(wide_t l, wide_t u) { return l > 0 ? l : u < 0 ? u : 0; }

// The value choice that is possible where a side has no bound: the end or value that it wants must be a number.
DEVICE i32 choice_without_end(i32 choice, wide_t l, wide_t u, bound_t phase) {
  bool possible = false;
  if (choice == VALUE_MIN || choice == VALUE_OUT_MIN) possible = l > -INFINITE_BOUND;
  if (choice == VALUE_MAX || choice == VALUE_OUT_MAX) possible = u < INFINITE_BOUND;
  if (choice == VALUE_PHASE || choice == VALUE_HINT) possible = !is_infinite(phase);
  return possible ? choice : VALUE_MEDIAN;
}

#ifdef FLOATS
// The halves of a real variable's interval, which share their common end: that of the upper values first where
// `choice` prefers these, or the one with `phase`. Of an interval that reaches far the part next to 0 is the first: a
// search that went to the far one would end between the largest numbers, where nothing can be computed.
DEVICE Branches split_float(const Block& b, i32 choice, bound_t lower, bound_t upper, bound_t phase) {
  bound_t middle = middle_code(lower, upper);
  bool upper_first = choice == VALUE_MAX || choice == VALUE_REVERSE_SPLIT || choice == VALUE_OUT_MIN;
  if (choice == VALUE_PHASE || choice == VALUE_HINT) upper_first = phase > middle;
  if (choice == VALUE_RANDOM || choice == VALUE_SPLIT_RANDOM || choice == VALUE_OUT_RANDOM) {
    upper_first = coin(next_random(b));
  }
  i32 far = far_side(lower, upper);
  if (far != 0) upper_first = far < 0;
  if (is_usual(lower, upper)) upper_first = true;
  Branches branches;
  branches.count = 0;
  if (upper_first) add_branch(&branches, middle, upper);
  add_branch(&branches, lower, middle);
  if (!upper_first) add_branch(&branches, middle, upper);
  return branches;
}
#endif

// The branches of lower..upper, in the order in which `choice` tries them; together they cover the interval.
// `phase` is the value that VALUE_PHASE and VALUE_HINT prefer.
DEVICE Branches split_interval(const Block& b, i32 choice, bound_t lower, bound_t upper, bound_t phase) {
  ASSERT(lower < upper);
  Branches branches;
  branches.count = 0;
  wide_t l = lower, u = upper, middle = l + (u - l) / 2;  // wide: the sizes of intervals do not fit a bound
#if BOUND_BITS == 64
  if (l <= -INFINITE_BOUND || u >= INFINITE_BOUND) {
    middle = anchor(l, u);
    choice = choice_without_end(choice, l, u, phase);
  }
#endif
  if (choice == VALUE_RANDOM || choice == VALUE_OUT_RANDOM) {
    middle = l + (wide_t)below(next_random(b), (u64)(u - l + 1));
    choice = choice == VALUE_RANDOM ? VALUE_MEDIAN : VALUE_OUT_MEDIAN;
  }
  if (choice == VALUE_PHASE || choice == VALUE_HINT) {
    wide_t hint = phase;
    middle = hint < l ? l : hint > u ? u : hint;
  }
  if (choice == VALUE_SPLIT_RANDOM) choice = coin(next_random(b)) ? VALUE_SPLIT : VALUE_REVERSE_SPLIT;
  switch (choice) {
    case VALUE_MIN: add_branch(&branches, l, l); add_branch(&branches, l + 1, u); break;
    case VALUE_MAX: add_branch(&branches, u, u); add_branch(&branches, l, u - 1); break;
    case VALUE_SPLIT: add_branch(&branches, l, middle); add_branch(&branches, middle + 1, u); break;
    case VALUE_REVERSE_SPLIT: add_branch(&branches, middle + 1, u); add_branch(&branches, l, middle); break;
    case VALUE_OUT_MIN: add_branch(&branches, l + 1, u); add_branch(&branches, l, l); break;
    case VALUE_OUT_MAX: add_branch(&branches, l, u - 1); add_branch(&branches, u, u); break;
    case VALUE_OUT_MEDIAN:
      add_branch(&branches, l, middle - 1);
      add_branch(&branches, middle + 1, u);
      add_branch(&branches, middle, middle);
      break;
    default:
      add_branch(&branches, middle, middle);
      add_branch(&branches, l, middle - 1);
      add_branch(&branches, middle + 1, u);
  }
  ASSERT(branches.count >= 2 && branches.count <= 3);
  return branches;
}
