// Real numbers in a store of integers: each end of a real variable's interval is the code of a double.
//
// The order of codes is the order of the numbers, so the operations of a store on bounds (trail, atomic maximum and
// minimum, donation, the bound on the objective) need not know their meaning. 0 is 0.0, k > 0 is the k-th double from
// 2^-511 on, -k the negative of that. A code is within ±(2^62 - 1), like every bound, so the greatest number lies next
// below 2^513; INFINITE_BOUND means no bound, here too. Other numbers are rounded outwards: an interval of a store
// always contains the real numbers that are meant, and nan never occurs.
#pragma once

#include "../core/assert.h"
#include "../core/interval.h"

constexpr i64 LEAST_BITS = (i64)512 << 52;  // format: the bits of LEAST
constexpr double LEAST = 0x1p-511;  // format: the least positive number that has a code
constexpr i64 GREATEST_CODE = INFINITE_BOUND - 1;
constexpr double GREATEST = 0x1.ffffffffffffep+512;  // format: the greatest
constexpr double BOUNDLESS = __builtin_inf();

struct Numbers { double l, u; };

// Whether v is a number or infinite: nan is neither less than another nor equal to itself.
DEVICE bool is_number(double v) { return v == v; }

DEVICE double number_of_bits(i64 bits) {
  union { i64 bits; double number; } u;
  u.bits = bits;
  return u.number;
}

DEVICE i64 bits_of_number(double number) {
  union { double number; i64 bits; } u;
  u.number = number;
  return u.bits;
}

// The number of a code; that of an infinite bound is infinite.
DEVICE double number_of(value_t code) {
  if (code >= INFINITE_BOUND) return BOUNDLESS;
  if (code <= -INFINITE_BOUND) return -BOUNDLESS;
  i64 place = (i64)code;
  if (place == 0) return 0;
  return place > 0 ? number_of_bits(place - 1 + LEAST_BITS) : -number_of_bits(-place - 1 + LEAST_BITS);
}

DEVICE Numbers numbers_of(Interval codes) {
  ASSERT(!is_empty(codes));
  Numbers v = {number_of(codes.l), number_of(codes.u)};
  return v;
}

// The greatest code whose number is at most v; -BEYOND where there is none.
DEVICE value_t code_below(double v) {
  ASSERT(is_number(v));
  if (v >= LEAST) return v > GREATEST ? (value_t)GREATEST_CODE : (value_t)(bits_of_number(v) - LEAST_BITS + 1);
  if (v >= 0) return 0;
  if (v > -LEAST) return -1;
  return v < -GREATEST ? -BEYOND : -(value_t)(bits_of_number(-v) - LEAST_BITS + 1);
}
