// Intervals and exact arithmetic on their ends.
//
// 32-bit stores: every bound is within ±(2^30 - 1) at the root and only tightens, so that a sum or difference of two
// ends fits into 32 bits; products are formed in 64 bits and cut off beyond every bound. 64-bit stores: a bound may be
// infinite, and ends are 128 bits wide. An infinite end is ±2^63: any sum with a finite number stays beyond
// INFINITE_BOUND and any product but with 0 too, and 2^63 * 2^63 still fits, so sums and products need no special case.
// Quotients of an infinite numerator need one, and have it here.
#pragma once

#include "abi.h"

#if BOUND_BITS == 64
typedef __int128 value_t;  // an end of an interval, or a sum of two
typedef __int128 wide_t;   // a product of two
constexpr value_t BEYOND = (value_t)1 << 63;  // format: no end
#else
typedef i32 value_t;
typedef i64 wide_t;
constexpr value_t BEYOND = INT32_MAX;
#endif

struct Interval { value_t l, u; };

DEVICE value_t widen(bound_t v) {
#if BOUND_BITS == 64
  if (v >= INFINITE_BOUND) return BEYOND;
  if (v <= -INFINITE_BOUND) return -BEYOND;
#endif
  return v;
}

DEVICE Interval interval(bound_t lower, bound_t upper) {
  Interval v = {widen(lower), widen(upper)};
  return v;
}

DEVICE bool is_infinite(value_t v) {
#if BOUND_BITS == 64
  return v >= INFINITE_BOUND || v <= -INFINITE_BOUND;
#else
  (void)v;
  return false;
#endif
}

// -a. A negated operand of minimum, maximum, raise or reduce is written so, for the sake of port.h's negative.
DEVICE value_t minus(value_t a) {
#if BOUND_BITS == 64
  return -a;
#else
  return negative(a);
#endif
}

template <typename T> DEVICE T minimum(T a, T b) { return a < b ? a : b; }
template <typename T> DEVICE T maximum(T a, T b) { return a > b ? a : b; }
DEVICE value_t magnitude(value_t a) { return a < 0 ? minus(a) : a; }

// A product as an end, cut off beyond every bound.
DEVICE value_t cut_off(wide_t v) {
#if BOUND_BITS == 64
  return v;
#else
  return (value_t)minimum(maximum(v, (wide_t)-BEYOND), (wide_t)BEYOND);
#endif
}

DEVICE value_t multiply(value_t a, value_t b) { return cut_off((wide_t)a * b); }

DEVICE bool is_empty(Interval v) { return v.l > v.u; }
DEVICE bool is_single(Interval v) { return v.l == v.u; }
DEVICE bool is_same(Interval a, Interval b) { return a.l == b.l && a.u == b.u; }
DEVICE void make_empty(Interval& v) { v.u = v.l - 1; }
DEVICE void raise(Interval& v, value_t lower) { if (lower > v.l) v.l = lower; }
DEVICE void reduce(Interval& v, value_t upper) { if (upper < v.u) v.u = upper; }
DEVICE bool excludes_zero(Interval v) { return v.l > 0 || v.u < 0; }
DEVICE Interval negated(Interval v) {
  Interval result = {minus(v.u), minus(v.l)};
  return result;
}

// v is not k; only the ends of an interval can be cut off.
DEVICE void exclude(Interval& v, value_t k) {
  if (v.l == k) v.l = k + 1;
  if (v.u == k) v.u = k - 1;
}

// floor, ceiling and truncation of n / d for d > 0. A numerator is a bound, a divisor too.
DEVICE value_t divide_floor(value_t n, value_t d) {
  if (is_infinite(n)) return n;
  if (is_infinite(d)) return n < 0 ? -1 : 0;
  bound_t q = (bound_t)n / (bound_t)d;
  return q - ((bound_t)n % (bound_t)d < 0);
}

DEVICE value_t divide_ceil(value_t n, value_t d) {
  if (is_infinite(n)) return n;
  if (is_infinite(d)) return n > 0 ? 1 : 0;
  bound_t q = (bound_t)n / (bound_t)d;
  return q + ((bound_t)n % (bound_t)d > 0);
}

DEVICE value_t divide_truncate(value_t n, value_t d) {
  if (is_infinite(n)) return n;
  if (is_infinite(d)) return 0;
  return (bound_t)n / (bound_t)d;
}

// The greatest s with s * s <= n, for 0 <= n < SQUARE_LIMIT.
constexpr i64 SQUARE_LIMIT = (i64)1 << 62;  // formula: below it a root has 31 bits
DEVICE i64 floor_sqrt(i64 n) {
  i64 s = (i64)__builtin_sqrt((double)n);
  while (s * s > n) --s;
  while ((s + 1) * (s + 1) <= n) ++s;
  return s;
}
