// Exact arithmetic on bounds: sums and products in wide_t, quotients in bound_t.
//
// In 64-bit stores a bound may be infinite. Widened it becomes ±2^63: any sum with a finite number stays beyond
// INFINITE_BOUND and any product but with 0 too, and 2^63 * 2^63 still fits into 128 bits, so ADD and MUL need no
// special case. Quotients of an infinite numerator do, and have it here. 32-bit stores know no infinity: every bound is
// within ±2^30 at the root and only tightens.
#pragma once

#include "abi.h"

// Beyond every finite bound.
#if BOUND_BITS == 64
#define BEYOND ((wide_t)1 << 63)
#else
#define BEYOND ((wide_t)1 << 62)
#endif

struct Interval { wide_t l, u; };

DEVICE wide_t widen(bound_t v) {
#if BOUND_BITS == 64
  if (v >= INFINITE_BOUND) return BEYOND;
  if (v <= -INFINITE_BOUND) return -BEYOND;
#endif
  return v;
}

DEVICE bool is_infinite(wide_t v) {
#if BOUND_BITS == 64
  return v >= INFINITE_BOUND || v <= -INFINITE_BOUND;
#else
  (void)v;
  return false;
#endif
}

DEVICE wide_t minimum(wide_t a, wide_t b) { return a < b ? a : b; }
DEVICE wide_t maximum(wide_t a, wide_t b) { return a > b ? a : b; }
DEVICE wide_t magnitude(wide_t a) { return a < 0 ? -a : a; }

// floor, ceiling and truncation of n / d for d > 0. A numerator is a bound, a divisor too.
DEVICE wide_t divide_floor(wide_t n, wide_t d) {
  if (is_infinite(n)) return n;
  if (is_infinite(d)) return n < 0 ? -1 : 0;
  bound_t q = (bound_t)n / (bound_t)d;
  return q - ((bound_t)n % (bound_t)d < 0);
}

DEVICE wide_t divide_ceil(wide_t n, wide_t d) {
  if (is_infinite(n)) return n;
  if (is_infinite(d)) return n > 0 ? 1 : 0;
  bound_t q = (bound_t)n / (bound_t)d;
  return q + ((bound_t)n % (bound_t)d > 0);
}

DEVICE wide_t divide_truncate(wide_t n, wide_t d) {
  if (is_infinite(n)) return n;
  if (is_infinite(d)) return 0;
  return (bound_t)n / (bound_t)d;
}

// The greatest s with s * s <= n, for 0 <= n < 2^62.
DEVICE i64 floor_sqrt(i64 n) {
  i64 s = (i64)__builtin_sqrt((double)n);
  while (s * s > n) --s;
  while ((s + 1) * (s + 1) <= n) ++s;
  return s;
}
