// exp, sin and tan as codes rounded down or up: one text for GPU and CPU, so that both have the same bits.
//
// Arguments are reduced by multiples of ln 2 or π/2 that are known to 130 bits and more (Cody, Waite, 1980), then a
// Taylor polynomial is formed in double-double arithmetic (Dekker 1971; error bounds: Joldes, Muller, Popescu, ACM TOMS
// 2017). Error bound: each operation on Pairs has a relative error below 2^-100, there are fewer than 64 of them, and
// the remainder of each polynomial is below 2^-100; so the value before its last rounding has a relative error below
// 2^-70, also where sin or tan is near 0 (the reduced argument of a double below TRIG_LIMIT is at least 2^-75, and its
// absolute error below 2^-150). Rounded to nearest it is therefore less than one code from the exact value: below and
// above are its neighbours.
//
// Inverses (logarithm, arc functions) are found by bisection on codes with the function itself. The result is sound
// whatever the error of the function, since every step is a comparison with a bound that is rounded outwards.
#pragma once

#include "../core/assert.h"
#include "../core/float_abi.h"
#include "../core/interval.h"
#include "codes.h"
#include "exact.h"

constexpr double TRIG_LIMIT = 0x1p19;  // formula: beyond it only the ranges of sin and tan are known
constexpr double HALF_PI = 0x1.921fb54442d18p+0;  // formula: the double next below π/2
constexpr double EXP_LIMIT = 360.0;  // formula: beyond it e^y has no code
constexpr i32 EXP_TERMS = 26;  // formula: of the series
constexpr i32 TRIG_TERMS = 28;  // formula: of the series

#ifdef __CUDACC__
#define TABLE static __device__ const
#else
#define TABLE static const
#endif

// 1 / n!
TABLE Pair INVERSE_FACTORIALS[] = {
    {0x1.0000000000000p+0, 0x0.0p+0},
    {0x1.0000000000000p+0, 0x0.0p+0},
    {0x1.0000000000000p-1, 0x0.0p+0},
    {0x1.5555555555555p-3, 0x1.5555555555555p-57},
    {0x1.5555555555555p-5, 0x1.5555555555555p-59},
    {0x1.1111111111111p-7, 0x1.1111111111111p-63},
    {0x1.6c16c16c16c17p-10, -0x1.f49f49f49f49fp-65},
    {0x1.a01a01a01a01ap-13, 0x1.a01a01a01a01ap-73},
    {0x1.a01a01a01a01ap-16, 0x1.a01a01a01a01ap-76},
    {0x1.71de3a556c734p-19, -0x1.c154f8ddc6c00p-73},
    {0x1.27e4fb7789f5cp-22, 0x1.cbbc05b4fa99ap-76},
    {0x1.ae64567f544e4p-26, -0x1.c062e06d1f209p-80},
    {0x1.1eed8eff8d898p-29, -0x1.2aec959e14c06p-83},
    {0x1.6124613a86d09p-33, 0x1.f28e0cc748ebep-87},
    {0x1.93974a8c07c9dp-37, 0x1.05d6f8a2efd1fp-92},
    {0x1.ae7f3e733b81fp-41, 0x1.1d8656b0ee8cbp-97},
    {0x1.ae7f3e733b81fp-45, 0x1.1d8656b0ee8cbp-101},
    {0x1.952c77030ad4ap-49, 0x1.ac981465ddc6cp-103},
    {0x1.6827863b97d97p-53, 0x1.eec01221a8b0bp-107},
    {0x1.2f49b46814157p-57, 0x1.2650f61dbdcb4p-112},
    {0x1.e542ba4020225p-62, 0x1.ea72b4afe3c2fp-120},
    {0x1.71b8ef6dcf572p-66, -0x1.d043ae40c4647p-120},
    {0x1.0ce396db7f853p-70, -0x1.aebcdbd20331cp-124},
    {0x1.761b41316381ap-75, -0x1.3423c7d91404fp-130},
    {0x1.f2cf01972f578p-80, -0x1.9ada5fcc1ab14p-135},
    {0x1.3f3ccdd165fa9p-84, -0x1.58ddadf344487p-139},
    {0x1.88e85fc6a4e5ap-89, -0x1.71c37ebd16540p-143},
    {0x1.d1ab1c2dccea3p-94, 0x1.054d0c78aea14p-149},
    {0x1.0a18a2635085dp-98, 0x1.b9e2e28e1aa54p-153},
};

DEVICE Pair pair_add(Pair a, double b) {
  Pair s = two_sum(a.hi, b);
  return quick_two_sum(s.hi, a.lo + s.lo);
}

DEVICE Pair pair_add(Pair a, Pair b) {
  Pair s = two_sum(a.hi, b.hi), t = two_sum(a.lo, b.lo);
  Pair v = quick_two_sum(s.hi, s.lo + t.hi);
  return quick_two_sum(v.hi, t.lo + v.lo);
}

DEVICE Pair pair_multiply(Pair a, Pair b) {
  Pair p = two_product(a.hi, b.hi);
  return quick_two_sum(p.hi, p.lo + (a.hi * b.lo + a.lo * b.hi));
}

DEVICE Pair pair_negated(Pair a) { return pair(-a.hi, -a.lo); }

DEVICE Pair pair_divide(Pair a, Pair b) {
  ASSERT(b.hi != 0);
  double first = a.hi / b.hi;
  Pair rest = pair_add(a, pair_negated(pair_multiply(b, pair(first, 0))));
  double second = rest.hi / b.hi;
  rest = pair_add(rest, pair_negated(pair_multiply(b, pair(second, 0))));
  return pair_add(quick_two_sum(first, second), rest.hi / b.hi);
}

DEVICE double nearest_integer(double v) {
  double n = (double)(i64)v, rest = v - n;
  return rest > 0.5 ? n + 1 : rest < -0.5 ? n - 1 : n;
}

// e^y for |y| <= EXP_LIMIT.
DEVICE double exp_nearest(double y) {
  ASSERT(-EXP_LIMIT <= y && y <= EXP_LIMIT);
  double k = nearest_integer(y * 0x1.71547652b82fep+0);
  Pair r = two_sum(y, -k * 0x1.62e42fefa2000p-1);
  r = pair_add(pair_add(r, -k * 0x1.9ef35793c6000p-41), -k * 0x1.673007e5ed5e8p-81);
  Pair sum = INVERSE_FACTORIALS[EXP_TERMS];
  for (i32 n = EXP_TERMS - 1; n >= 0; --n) sum = pair_add(pair_multiply(sum, r), INVERSE_FACTORIALS[n]);
  return sum.hi * number_of_bits(((i64)k + 1023) << 52);
}

// y as a multiple n of π/2 and a rest of at most about π/4.
struct Angle {
  i64 n;
  Pair rest;
};

// |y| is at most TRIG_LIMIT.
DEVICE Angle angle_of(double y) {
  ASSERT(-TRIG_LIMIT <= y && y <= TRIG_LIMIT);
  double n = nearest_integer(y * 0x1.45f306dc9c883p-1);
  Pair r = two_sum(y, -n * 0x1.921fb54400000p+0);
  r = pair_add(pair_add(r, -n * 0x1.0b4611a600000p-34), -n * 0x1.3198a2e000000p-69);
  r = pair_add(pair_add(r, -n * 0x1.b839a25200000p-104), -n * 0x1.27044533e63a0p-142);
  Angle angle = {(i64)n, r};
  return angle;
}

// The number of the part between two odd multiples of π/2 in which it lies: there sin and tan are monotone.
DEVICE i64 branch_of(Angle angle) {
  ASSERT(magnitude(angle.rest.hi) < 0.8);  // about π/4
  if (angle.n % 2 == 0) return angle.n / 2;
  return angle.rest.hi < 0 ? (angle.n - 1) / 2 : (angle.n + 1) / 2;
}

// The alternating Taylor sum from term `first` on: of sin (1) or cos (0).
DEVICE Pair taylor(Pair r, i32 first) {
  Pair square = pair_negated(pair_multiply(r, r)), sum = INVERSE_FACTORIALS[TRIG_TERMS - first];
  for (i32 n = TRIG_TERMS - first - 2; n >= first; n -= 2) {
    sum = pair_add(pair_multiply(sum, square), INVERSE_FACTORIALS[n]);
  }
  return first ? pair_multiply(sum, r) : sum;
}

DEVICE double sin_nearest(Angle angle) {
  i64 quarter = angle.n & 3;
  double v = taylor(angle.rest, quarter % 2 ? 0 : 1).hi;
  return quarter < 2 ? v : -v;
}

DEVICE double tan_nearest(Angle angle) {
  Pair s = taylor(angle.rest, 1), c = taylor(angle.rest, 0);
  return angle.n % 2 == 0 ? pair_divide(s, c).hi : -pair_divide(c, s).hi;
}

DEVICE value_t neighbour_below(double v) { return corrected_below(v, -1); }

// On each side of 0 it is also on one side of 1.
DEVICE value_t exp_below(double y) {
  if (y == 0) return code_below(1);
  if (y > EXP_LIMIT) return GREATEST_CODE;
  return y < -EXP_LIMIT ? 0 : maximum(neighbour_below(exp_nearest(y)), y > 0 ? code_below(1) : (value_t)0);
}

DEVICE value_t exp_above(double y) {
  if (y == 0) return code_below(1);
  if (y > EXP_LIMIT) return BEYOND;
  if (y < -EXP_LIMIT) return 1;
  return minimum(-neighbour_below(-exp_nearest(y)), y < 0 ? code_below(1) : (value_t)BEYOND);
}

DEVICE value_t sin_below(double y) {
  return y == 0 ? 0 : maximum(neighbour_below(sin_nearest(angle_of(y))), code_below(-1));
}

DEVICE value_t tan_below(double y) { return y == 0 ? 0 : neighbour_below(tan_nearest(angle_of(y))); }

// Below and above the function that a row of the operator applies; the argument of sin and tan is within TRIG_LIMIT.
OUTLINE value_t function_below(i32 op, double y) {
  ASSERT(op == OP_FLOAT_EXP || op == OP_FLOAT_SIN || op == OP_FLOAT_TAN);
  return op == OP_FLOAT_EXP ? exp_below(y) : op == OP_FLOAT_SIN ? sin_below(y) : tan_below(y);
}

OUTLINE value_t function_above(i32 op, double y) {
  ASSERT(op == OP_FLOAT_EXP || op == OP_FLOAT_SIN || op == OP_FLOAT_TAN);
  return op == OP_FLOAT_EXP ? exp_above(y) : op == OP_FLOAT_SIN ? -sin_below(-y) : -tan_below(-y);
}

// A function where it is monotone: it rises, or it falls and is replaced by its negative.
struct Monotone {
  i32 op;
  bool falls;
};

DEVICE value_t value_below(Monotone f, value_t y) {
  return f.falls ? -function_above(f.op, number_of(y)) : function_below(f.op, number_of(y));
}

DEVICE value_t value_above(Monotone f, value_t y) {
  return f.falls ? -function_below(f.op, number_of(y)) : function_above(f.op, number_of(y));
}

// Cuts off the ends of y, a finite interval, where f, which rises, is surely outside of x. The last code cut off stays
// as the end: between it and the next code there may be arguments where f is within x.
OUTLINE void cut_lower_end(Monotone f, value_t least, Interval& y) {
  ASSERT(!is_empty(y) && !is_infinite(y.l) && !is_infinite(y.u));
  if (y.l == y.u || value_above(f, y.l + 1) >= least) return;
  if (value_above(f, y.u) < least) return make_empty(y);
  value_t before = y.l + 1, behind = y.u;
  while (behind - before > 1) {
    value_t middle = before + (behind - before) / 2;
    if (value_above(f, middle) < least) before = middle;
    else behind = middle;
  }
  ASSERT(y.l < before && before < y.u && value_above(f, before) < least);
  y.l = before;
}

OUTLINE void cut_upper_end(Monotone f, value_t most, Interval& y) {
  ASSERT(!is_empty(y) && !is_infinite(y.l) && !is_infinite(y.u));
  if (y.l == y.u || value_below(f, y.u - 1) <= most) return;
  if (value_below(f, y.l) > most) return make_empty(y);
  value_t before = y.l, behind = y.u - 1;
  while (behind - before > 1) {
    value_t middle = before + (behind - before) / 2;
    if (value_below(f, middle) > most) behind = middle;
    else before = middle;
  }
  ASSERT(y.l < behind && behind < y.u && value_below(f, behind) > most);
  y.u = behind;
}
