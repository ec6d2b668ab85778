// What the kernels for a GPU have in common: the macros of a build, and which memory a block has.
//
// STORE_SHARED: the store lies in shared memory; without it, in the block's workspace. The two lists are shared either
// way, and behind them, with MODEL_SHARED, the rows (core/model.h). A compiler of the host sees the macros alone.
#pragma once

#include "block.h"
#include "core/model.h"
#include "core/store.h"

#ifndef STORE_SHARED
#define STORE_SHARED 1
#endif
#ifndef MAX_THREADS
#define MAX_THREADS (BOUND_BITS == 32 && STORE_SHARED ? 640 : 512)  // with 640 a lane has at most 96 registers
#endif
#ifndef MIN_BLOCKS
#define MIN_BLOCKS 1
#endif

#ifdef __CUDACC__

extern "C" __constant__ const char abi_digest[] = ABI_DIGEST;  // which agreement between host and kernels this is for

// The block of this CUDA block, with its rows if they are shared.
DEVICE Block block_on_gpu(const Problem* problem, BlockState* state, char* shared) {
  i64 store = store_bytes(*problem);
  char* workspace = problem->workspace + (i64)blockIdx.x * problem->workspace_bytes;
#if STORE_SHARED
  Block b = make_block(problem, state, shared, shared + store, workspace, (i32)blockIdx.x);
#else
  Block b = make_block(problem, state, workspace, shared, workspace + store, (i32)blockIdx.x);
#endif
#if MODEL_SHARED
  share_rows(b, shared + (STORE_SHARED ? store : 0) + list_bytes(*problem));
#endif
  return b;
}

#endif
