// A block with many lanes on one thread of a CPU: what port.h has of a GPU, for tests where there is none.
//
// Each lane is a coroutine. Before what a lane does to memory that others share, another lane may go on, by a random
// number of a sequence of the block's own: so lanes meet in any order, and a run repeats itself. A warp is narrow, so
// that there are several.
#pragma once

#include <ucontext.h>

#define WARP_LANES 4
#define RETIRING_PAYS 0
#define MANY_BLOCKS 1

constexpr i32 MANY_LANES = 8;
constexpr i32 STACK_BYTES = 1 << 17;  // of a coroutine

// Lanes that wait for each other.
struct Meeting { i32 arrived, turn; };

struct Loom {
  ucontext_t outside, contexts[MANY_LANES];
  bool left[MANY_LANES];
  i32 lane, remaining;
  u64 random;
  Meeting block, groups[MANY_LANES];  // the latter by their first lane
  i32 told[MANY_LANES];               // what lanes of a group tell each other
};
static thread_local Loom* loom;

DEVICE i32 lane() { return loom->lane; }
DEVICE i32 lanes() { return MANY_LANES; }

OUTLINE i32 draw_below(i32 n) {
  loom->random = loom->random * 6364136223846793005ull + 1442695040888963407ull;
  return (i32)((loom->random >> 33) % (u64)n);
}

// Another lane that has not left goes on, where there is one.
OUTLINE void change_lane() {
  i32 own = loom->lane;
  if (loom->remaining == 0) return;
  i32 next = (own + 1 + draw_below(MANY_LANES)) % MANY_LANES;
  while (loom->left[next]) next = (next + 1) % MANY_LANES;
  if (next == own) return;
  loom->lane = next;
  swapcontext(&loom->contexts[own], &loom->contexts[next]);
}

DEVICE void may_change_lane() {
  if (draw_below(4) == 0) change_lane();
}

OUTLINE void meet(Meeting& m, i32 count) {
  i32 turn = m.turn;
  if (++m.arrived == count) {
    m.arrived = 0;
    ++m.turn;
    return;
  }
  while (m.turn == turn) change_lane();
}

DEVICE void barrier() { meet(loom->block, MANY_LANES); }

DEVICE i32 block_add(i32* p, i32 v) { may_change_lane(); i32 old = *p; *p = old + v; return old; }
DEVICE u32 block_or(u32* p, u32 v) { may_change_lane(); u32 old = *p; *p = old | v; return old; }
DEVICE u32 block_and(u32* p, u32 v) { may_change_lane(); u32 old = *p; *p = old & v; return old; }
template <typename T> DEVICE void block_max(T* p, T v) { may_change_lane(); if (v > *p) *p = v; }
template <typename T> DEVICE void block_min(T* p, T v) { may_change_lane(); if (v < *p) *p = v; }

// What the lane `wanted` of a group tells; the group begins at lane `first`.
OUTLINE i32 told_by(i32 v, i32 first, i32 count, i32 wanted) {
  if (count == 1) return v;
  loom->told[loom->lane] = v;
  meet(loom->groups[first], count);
  i32 told = loom->told[wanted];
  meet(loom->groups[first], count);
  return told;
}

DEVICE u32 group_first(u32 v, i32 group) {
  i32 first = loom->lane & ~(group - 1);
  return (u32)told_by((i32)v, first, group, first);
}

OUTLINE i64 group_sum(i64 v, i32 group) {
  i32 first = loom->lane & ~(group - 1);
  i64 sum = 0;
  for (i32 i = 0; i < group; ++i) {
    u32 low = (u32)told_by((i32)(u64)v, first, group, first + i);
    i32 high = told_by((i32)((u64)v >> 32), first, group, first + i);
    sum += (i64)((u64)(u32)high << 32 | low);
  }
  return sum;
}

DEVICE bool group_any(bool v, i32 group) { return group_sum(v, group) != 0; }

DEVICE i32 warp_lane() { return loom->lane % WARP_LANES; }
DEVICE i32 warp_start() { return loom->lane - warp_lane(); }
DEVICE void warp_barrier() { meet(loom->groups[warp_start()], WARP_LANES); }
DEVICE i32 warp_last(i32 v) { return told_by(v, warp_start(), WARP_LANES, warp_start() + WARP_LANES - 1); }

OUTLINE i32 warp_sum_before(i32 v) {
  i32 sum = 0, own = warp_lane();
  for (i32 i = 0; i < WARP_LANES; ++i) {
    i32 other = told_by(v, warp_start(), WARP_LANES, warp_start() + i);
    sum += i < own ? other : 0;
  }
  return sum;
}

DEVICE bool warp_any(bool v) { return warp_last(warp_sum_before(v) + v) != 0; }
