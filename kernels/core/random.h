// Random numbers: a block's own sequence, hashes by which each lane decides for itself, and decisions made of either.
//
// A number is 64 independent bits. Code that makes several decisions of one number takes different bits for each.
#pragma once

#include "assert.h"
#include "port.h"

constexpr u64 GOLDEN = 0x9e3779b97f4a7c15ull;  // formula: 2^64 / the golden ratio: its multiples are spread evenly
constexpr u64 SPREAD = 0xd1342543de82ef95ull;  // formula: another multiplier that spreads (Steele and Vigna 2021)

struct Random { u64 state; };  // never 0

DEVICE u64 next_random(Random& r) {  // xorshift64*, Vigna 2016
  r.state ^= r.state >> 12;
  r.state ^= r.state << 25;
  r.state ^= r.state >> 27;
  return r.state * 2685821657736338717ull;
}

// The sequence of block `index` in the run number `seed`.
DEVICE void seed_random(Random& r, i64 seed, i32 index) {
  r.state = ((u64)seed + 1) * GOLDEN ^ ((u64)(index + 1) * SPREAD);
  if (r.state == 0) r.state = 1;
  for (i32 i = 0; i < 8; ++i) next_random(r);
  ASSERT(r.state != 0);
}

// splitmix64's finaliser: another random number for each one.
DEVICE u64 hash(u64 h) {
  h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9ull;
  h = (h ^ (h >> 27)) * 0x94d049bb133111ebull;
  return h ^ (h >> 31);
}

// The i-th of many random numbers that all lanes can make of one, and the i-th of others.
DEVICE u64 hash_of(u64 draw, i32 i) { return hash(draw + (u64)(i + 1) * GOLDEN); }
DEVICE u64 other_hash_of(u64 draw, i32 i) { return hash(draw ^ (u64)(i + 1) * SPREAD); }

// A lane's own sequence, from a number that all lanes know.
struct LaneRandom { u64 state; };
DEVICE LaneRandom lane_random(u64 draw) {
  LaneRandom r = {draw + (u64)(lane() + 1) * SPREAD};
  return r;
}
DEVICE u64 next_random(LaneRandom& r) { return hash(r.state += GOLDEN); }

// Decisions made of a number: the i-th of its coins, its n highest bits, a number below n from the bits above the
// `skipped` lowest, how many coins in a row show heads, and a fraction of 1, of 24 or 53 bits.
DEVICE bool coin(u64 draw, i32 i = 0) { return draw >> (63 - i) & 1; }
DEVICE i32 high_bits(u64 draw, i32 n) { return (i32)(draw >> (64 - n)); }
DEVICE u64 below(u64 draw, u64 n, i32 skipped = 0) { return (draw >> skipped) % n; }
DEVICE i32 heads_in_a_row(u64 draw, i32 most) {
  i32 heads = 0;
  while (heads < most && coin(draw, heads)) ++heads;
  return heads;
}
DEVICE double fraction(u64 draw) { return (double)(draw >> 40) * 0x1p-24; }
DEVICE double fine_fraction(u64 draw) { return (double)(draw >> 11) * 0x1p-53; }
