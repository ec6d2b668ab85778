// Whether a real variable needs no further split, and where it is split.
//
// After the last strategy lies one more record: from its `start` on, `tables` has the FLOAT_WORDS, then a bit for each
// variable, 64 a word, whether it is real. So the layout of models without real variables is as usual.
#pragma once

#include "../core/assert.h"
#include "../core/float_abi.h"
#include "../core/interval.h"
#include "../core/store.h"
#include "codes.h"
#include "tuning.h"

DEVICE const bound_t* float_words(const Block& b) {
  return b.problem->tables + b.problem->strategies[b.problem->n_strategies].start;
}

DEVICE bool is_float(const Block& b, i32 var) {
  ASSERT(0 <= var && var < b.problem->n_vars);
  return float_words(b)[FLOAT_WORDS + (var >> 6)] >> (var & 63) & 1;
}

// The tolerance of a number: the precision, relative to the number beyond 1.
DEVICE double tolerance(const Block& b, i32 word, double size) {
  double precision = number_of_bits(float_words(b)[word]);
  ASSERT(precision >= 0 && size >= 0);
  return size > 1 ? precision * size : precision;
}

// Whether a variable has one value, or is real and its interval is as small as wanted or cannot be split.
DEVICE bool is_decided(const Block& b, i32 var) {
  bound_t lower = b.lower[var], upper = b.upper[var];
  ASSERT(lower <= upper);
  if (lower == upper) return true;
  if (!is_float(b, var)) return false;
  if (lower >= GREATEST_CODE || upper <= -GREATEST_CODE || upper - 1 <= lower) return true;
  double l = number_of(lower), u = number_of(upper);
  if (l < -GREATEST || u > GREATEST) return false;
  return u - l <= tolerance(b, FLOAT_WIDTH, minimum(maximum(l, -l), maximum(u, -u)));
}

// Of an interval that reaches far: the sign of the side that does, 0 for others.
DEVICE i32 far_side(bound_t lower, bound_t upper) {
  return number_of(upper) > ARITHMETIC_LIMIT && lower > -upper ? 1 : number_of(lower) < -ARITHMETIC_LIMIT ? -1 : 0;
}

// Whether nothing is known of a variable but that it is not far.
DEVICE bool is_usual(bound_t lower, bound_t upper) {
  return number_of(lower) == -USUAL_LIMIT && number_of(upper) == USUAL_LIMIT;
}

// A code between lower and upper, which are not decided.
DEVICE bound_t middle_code(bound_t lower, bound_t upper) {
  ASSERT(lower < upper - 1);
  double l = number_of(lower), u = number_of(upper);
  i32 far = far_side(lower, upper);
  if (far == 0) {
    bound_t middle = (bound_t)code_below(l + (u - l) / 2);
    return middle <= lower ? lower + 1 : middle >= upper ? upper - 1 : middle;
  }
  if (far > 0 && l < USUAL_LIMIT) return (bound_t)code_below(USUAL_LIMIT);
  if (far < 0 && u > -USUAL_LIMIT) return (bound_t)code_below(-USUAL_LIMIT);
  return lower + (upper - lower) / 2;
}

// The best end of the objective's interval in a box that is published.
DEVICE bound_t best_end(const Block& b, i32 objective) {
  return b.problem->sense > 0 ? b.lower[objective] : b.upper[objective];
}

// The greatest sense * objective that counts as better than `best`. A real objective must be better by the precision,
// or each solution would be followed by its neighbour.
DEVICE i64 better_than(const Block& b, i64 best) {
  if (!is_float(b, b.problem->objective)) return best - 1;
  ASSERT(best != NO_INCUMBENT);
  double value = number_of(best);
  return minimum((i64)code_below(value - tolerance(b, FLOAT_STEP, value < 0 ? -value : value)), best - 1);
}
