// Sums, products, quotients and roots of doubles, as codes rounded down or up.
//
// Every operation is rounded to nearest first; the error, or its sign, is then found exactly by error-free
// transformations (TwoSum: Knuth, TAOCP 2; products by splitting: Dekker, Numer. Math. 1971; residuals of quotients and
// roots: Boldo, Daumas, ARITH 2003). So an exact result is a single code, and no rounding mode or fused multiplication
// is needed: GPU and CPU compute the same bits from the same text. Both must be compiled without contraction of a * b +
// c.
//
// Operands are numbers of codes, or infinite. Errors are exact since products and quotients below LEAST are handled
// before: above it, no term of an error is as small as a subnormal number.
#pragma once

#include "../core/assert.h"
#include "../core/interval.h"
#include "codes.h"

constexpr double SPLITTER = 0x1.000002p+27;  // formula: 2^27 + 1

// A number in two parts that do not overlap: hi is the sum rounded to nearest.
struct Pair { double hi, lo; };

DEVICE double magnitude(double v) { return v < 0 ? -v : v; }

DEVICE Pair pair(double hi, double lo) {
  Pair v = {hi, lo};
  return v;
}

// a + b without an error.
DEVICE Pair two_sum(double a, double b) {
  double s = a + b, t = s - a;
  return pair(s, (a - (s - t)) + (b - t));
}

// a + b without an error, where |a| >= |b|.
DEVICE Pair quick_two_sum(double a, double b) {
  ASSERT(a == 0 || !(magnitude(a) < magnitude(b)));
  double s = a + b;
  return pair(s, b - (s - a));
}

DEVICE Pair split(double a) {
  double c = SPLITTER * a, hi = c - (c - a);
  return pair(hi, a - hi);
}

// a * b without an error.
DEVICE Pair two_product(double a, double b) {
  double p = a * b;
  Pair x = split(a), y = split(b);
  return pair(p, ((x.hi * y.hi - p) + x.hi * y.lo + x.lo * y.hi) + x.lo * y.lo);
}

// The code below v + error. Only the sign of `error` matters, since it is less than the distance to the next code.
DEVICE value_t corrected_below(double v, double error) {
  ASSERT(is_number(error) || v > GREATEST || v < -GREATEST);
  value_t code = code_below(v);
  return error < 0 && code > -INFINITE_BOUND && v <= GREATEST ? code - 1 : code;
}

// Below a + b, for lower ends: neither is plus infinity.
DEVICE value_t sum_below(double a, double b) {
  ASSERT(is_number(a) && is_number(b) && a <= GREATEST && b <= GREATEST);
  if (a < -GREATEST || b < -GREATEST) return -BEYOND;
  Pair s = two_sum(a, b);
  return corrected_below(s.hi, s.lo);
}

DEVICE value_t sum_above(double a, double b) { return -sum_below(-a, -b); }

DEVICE bool is_within(double v) { return v >= LEAST ? v <= GREATEST : v <= -LEAST && v >= -GREATEST; }

// The code below a number of this sign that is nearer to 0 than LEAST.
DEVICE value_t code_below_tiny(bool negative) { return negative ? -1 : 0; }

// Below a * b. Where one is 0 the product is, also with an infinite end: that stands for all numbers there are.
DEVICE value_t product_below(double a, double b) {
  ASSERT(is_number(a) && is_number(b));
  if (a == 0 || b == 0) return 0;
  double p = a * b;
  if (is_within(p)) return corrected_below(p, two_product(a, b).lo);
  if (p > GREATEST || p < -GREATEST) return code_below(p);
  return code_below_tiny((a < 0) != (b < 0));
}

DEVICE value_t product_above(double a, double b) { return -product_below(-a, b); }

// Below a / b for b != 0. An infinite divisor stands for its limit, 0.
DEVICE value_t quotient_below(double a, double b) {
  ASSERT(is_number(a) && is_number(b) && b != 0);
  if (a == 0 || b > GREATEST || b < -GREATEST) return 0;
  double q = a / b;
  if (is_within(q)) {
    Pair p = two_product(q, b);
    double rest = (a - p.hi) - p.lo;
    return corrected_below(q, b > 0 ? rest : -rest);
  }
  if (q > GREATEST || q < -GREATEST) return code_below(q);
  return code_below_tiny((a < 0) != (b < 0));
}

DEVICE value_t quotient_above(double a, double b) { return -quotient_below(-a, b); }

// The sign of a - s * s, for s near to the root of a.
DEVICE double rest_of_root(double a, double s) {
  Pair p = two_product(s, s);
  return (a - p.hi) - p.lo;
}

// Below and above the root of a >= 0.
DEVICE value_t root_below(double a) {
  ASSERT(a >= 0);
  if (a == 0) return 0;
  if (a > GREATEST) return GREATEST_CODE;
  double s = __builtin_sqrt(a);
  return corrected_below(s, rest_of_root(a, s));
}

DEVICE value_t root_above(double a) {
  ASSERT(a >= 0);
  if (a == 0) return 0;
  if (a > GREATEST) return BEYOND;
  double s = __builtin_sqrt(a);
  return -corrected_below(-s, -rest_of_root(a, s));
}

// Below and above an integer that is a bound, perhaps an infinite one.
DEVICE value_t integer_below(value_t n) {
  if (is_infinite(n)) return n > 0 ? (value_t)GREATEST_CODE : -BEYOND;
  double v = (double)(i64)n;
  return corrected_below(v, (value_t)v > n ? -1 : 0);
}

DEVICE value_t integer_above(value_t n) { return -integer_below(-n); }

// The greatest integer that is at most v, and the least that is at least v; infinite where it can be no bound.
DEVICE value_t floor_of(double v) {
  ASSERT(is_number(v));
  if (v >= 0x1p62) return BEYOND;
  if (v < -0x1p62) return -BEYOND;
  i64 n = (i64)v;
  return (double)n > v ? n - 1 : n;
}

DEVICE value_t ceiling_of(double v) { return -floor_of(-v); }
