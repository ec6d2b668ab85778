// The definitions that differ between a GPU and a CPU: the only file that depends on the compiler.
//
// A *block* solves one subproblem at a time. On a GPU it is a CUDA block and its *lanes* are the threads; on a CPU it
// is one OS thread with a single lane, for which a barrier is nothing and a block-wide atomic is an ordinary operation.
// So an algorithm is written once, as `for (i = lane(); i < n; i += lanes())` with explicit barriers.
//
// block_* atomics act on memory that one block owns; global_* ones on memory shared by all blocks.
#pragma once

#include <stdint.h>

typedef int32_t i32;
typedef uint32_t u32;
typedef int64_t i64;
typedef uint64_t u64;

#ifdef __CUDACC__

#define DEVICE static __device__ __forceinline__
#define OUTLINE static __device__ __noinline__  // for rare calls: their registers do not count for the hot parts
#define WARP_LANES 32
#define RETIRING_PAYS 0  // whether it pays to leave out entailed rows (docs/measurements/tree-search.md)
#define MANY_BLOCKS 1  // whether there are so many that one of them may be busy for long

DEVICE i32 lane() { return (i32)threadIdx.x; }
DEVICE i32 lanes() { return (i32)blockDim.x; }
DEVICE void barrier() { __syncthreads(); }

DEVICE i32 block_add(i32* p, i32 v) { return atomicAdd_block(p, v); }
DEVICE u32 block_or(u32* p, u32 v) { return atomicOr_block(p, v); }
DEVICE u32 block_and(u32* p, u32 v) { return atomicAnd_block(p, v); }
DEVICE void block_max(i32* p, i32 v) { atomicMax_block(p, v); }
DEVICE void block_min(i32* p, i32 v) { atomicMin_block(p, v); }
DEVICE void block_max(i64* p, i64 v) { atomicMax_block((long long*)p, (long long)v); }
DEVICE void block_min(i64* p, i64 v) { atomicMin_block((long long*)p, (long long)v); }

DEVICE i32 global_add(i32* p, i32 v) { return atomicAdd(p, v); }
DEVICE i64 global_add(i64* p, i64 v) { return (i64)atomicAdd((unsigned long long*)p, (unsigned long long)v); }
DEVICE i64 global_min(i64* p, i64 v) { return (i64)atomicMin((long long*)p, (long long)v); }
DEVICE i64 global_max(i64* p, i64 v) { return (i64)atomicMax((long long*)p, (long long)v); }
DEVICE bool global_replace(i64* p, i64 expected, i64 v) {
  return (i64)atomicCAS((unsigned long long*)p, (unsigned long long)expected, (unsigned long long)v) == expected;
}
// A load of a record of 4, 8, 16 or 32 bytes that is never written while the kernel runs, by the read-only path.
DEVICE i32 load_constant(const i32* p) { return __ldg(p); }
template <typename T> DEVICE T load_constant(const T* p) {
  static_assert(sizeof(T) == 8 || sizeof(T) == 16 || sizeof(T) == 32, "another size");
  union { int2 half; int4 words[2]; T record; } u;
  if constexpr (sizeof(T) == 8) u.half = __ldg((const int2*)p);
  if constexpr (sizeof(T) >= 16) u.words[0] = __ldg((const int4*)p);
  if constexpr (sizeof(T) == 32) u.words[1] = __ldg((const int4*)p + 1);
  return u.record;
}
// A load that is never cached or moved; fences order it against the payload it announces.
template <typename T> DEVICE T global_load(const T* p) { return *(const volatile T*)p; }
template <typename T> DEVICE void global_store(T* p, T v) { *(volatile T*)p = v; }
DEVICE void fence() { __threadfence(); }
DEVICE void fence_host() { __threadfence_system(); }
DEVICE void pause_briefly(i32 tries) { __nanosleep(tries < 4 ? 1000u << tries : 16000u); }
DEVICE i64 now_ns() {
  u64 t;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
  return (i64)t;
}
DEVICE i64 ticks() { return (i64)clock64(); }
DEVICE void yield_processor() {}  // between two looks at a word that will change soon
// The lanes of a power-of-two group of lanes, as bits of their warp.
DEVICE u32 group_mask(i32 group) {
  return group == 32 ? 0xffffffffu : ((1u << group) - 1u) << ((u32)lane() & 31u & ~(u32)(group - 1));
}
// The value that the first lane of the group holds.
DEVICE u32 group_first(u32 v, i32 group) {
  return group == 1 ? v : __shfl_sync(group_mask(group), v, lane() & 31 & ~(group - 1));
}
// Whether one of them, at least, has a true value.
DEVICE bool group_any(bool v, i32 group) { return group == 1 ? v : __any_sync(group_mask(group), v); }
// The sum of their values.
DEVICE i64 group_sum(i64 v, i32 group) {
  for (i32 step = group / 2; step > 0; step /= 2) v += __shfl_xor_sync(group_mask(group), (long long)v, step);
  return v;
}
// -v, which ptxas does not know for one. From CUDA 12.8 to 13.3, at least, it may make one instruction (VIMNMX3) of two
// minima or maxima, and forget that an operand is negated: min(-a, min(-b, -c)) where -b is used elsewhere
// (github.com/pytorch/pytorch/issues/190973).
DEVICE i32 negative(i32 v) {
  i32 result;
  asm("{.reg .b32 t; not.b32 t, %1; add.s32 %0, t, 1;}" : "=r"(result) : "r"(v));
  return result;
}
DEVICE i32 lowest_bit(u32 word) { return __ffs((int)word) - 1; }
DEVICE i32 highest_bit(u32 word) { return 31 - __clz((int)word); }
DEVICE i32 count_bits(u32 word) { return __popc(word); }

// All lanes of a warp call these together: they wait for each other, and see what each has written before.
DEVICE i32 warp_lane() { return lane() & 31; }
DEVICE void warp_barrier() { __syncwarp(); }
DEVICE bool warp_any(bool v) {
  __syncwarp();
  return __any_sync(0xffffffffu, v);
}
// The sum of the values of the lanes before this one.
DEVICE i32 warp_sum_before(i32 v) {
  i32 sum = v;
  for (i32 step = 1; step < 32; step *= 2) {
    i32 other = __shfl_up_sync(0xffffffffu, sum, (unsigned)step);
    if (warp_lane() >= step) sum += other;
  }
  return sum - v;
}
DEVICE i32 warp_last(i32 v) { return __shfl_sync(0xffffffffu, v, 31); }  // the value of the last lane

#else

#include <sched.h>
#include <time.h>

#define DEVICE static inline __attribute__((always_inline))
#define OUTLINE static __attribute__((noinline))

#ifdef LANES
#include LANES  // a block with many lanes, as the tests have one
#else

#define WARP_LANES 1
#define RETIRING_PAYS 1
#define MANY_BLOCKS 0

DEVICE i32 lane() { return 0; }
DEVICE i32 lanes() { return 1; }
DEVICE void barrier() {}

DEVICE i32 block_add(i32* p, i32 v) { i32 old = *p; *p = old + v; return old; }
DEVICE u32 block_or(u32* p, u32 v) { u32 old = *p; *p = old | v; return old; }
DEVICE u32 block_and(u32* p, u32 v) { u32 old = *p; *p = old & v; return old; }
template <typename T> DEVICE void block_max(T* p, T v) { if (v > *p) *p = v; }
template <typename T> DEVICE void block_min(T* p, T v) { if (v < *p) *p = v; }
DEVICE u32 group_first(u32 v, i32) { return v; }
DEVICE bool group_any(bool v, i32) { return v; }
DEVICE i64 group_sum(i64 v, i32) { return v; }

DEVICE i32 warp_lane() { return 0; }
DEVICE void warp_barrier() {}
DEVICE bool warp_any(bool v) { return v; }
DEVICE i32 warp_sum_before(i32) { return 0; }
DEVICE i32 warp_last(i32 v) { return v; }

#endif

DEVICE i32 global_add(i32* p, i32 v) { return __atomic_fetch_add(p, v, __ATOMIC_SEQ_CST); }
DEVICE i64 global_add(i64* p, i64 v) { return __atomic_fetch_add(p, v, __ATOMIC_SEQ_CST); }
DEVICE i64 global_min(i64* p, i64 v) {
  i64 old = __atomic_load_n(p, __ATOMIC_SEQ_CST);
  while (v < old && !__atomic_compare_exchange_n(p, &old, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {}
  return old;
}
template <typename T> DEVICE T global_max(T* p, T v) {
  T old = __atomic_load_n(p, __ATOMIC_SEQ_CST);
  while (v > old && !__atomic_compare_exchange_n(p, &old, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {}
  return old;
}
DEVICE bool global_replace(i64* p, i64 expected, i64 v) {
  return __atomic_compare_exchange_n(p, &expected, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}
template <typename T> DEVICE T load_constant(const T* p) { return *p; }
template <typename T> DEVICE T global_load(const T* p) { return __atomic_load_n(p, __ATOMIC_ACQUIRE); }
template <typename T> DEVICE void global_store(T* p, T v) { __atomic_store_n(p, v, __ATOMIC_RELEASE); }
DEVICE void fence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
DEVICE void fence_host() { fence(); }
DEVICE i64 now_ns() {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (i64)t.tv_sec * 1000000000 + t.tv_nsec;
}
DEVICE i64 ticks() { return now_ns(); }
DEVICE void yield_processor() { sched_yield(); }
DEVICE void pause_briefly(i32 tries) {  // up to 1.6 ms: a thousand waiting threads must leave time to those that work
  struct timespec t = {0, 50000l << (tries < 5 ? tries : 5)};
  nanosleep(&t, 0);
}
DEVICE i32 negative(i32 v) { return -v; }
DEVICE i32 lowest_bit(u32 word) { return __builtin_ctz(word); }
DEVICE i32 highest_bit(u32 word) { return 31 - __builtin_clz(word); }
DEVICE i32 count_bits(u32 word) { return __builtin_popcount(word); }

#endif
