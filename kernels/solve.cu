// The GPU engine: the solver of solver.h, one CUDA block a block.
//
// STORE_SHARED: the store lies in shared memory; without it, in the block's workspace. The two lists are shared either
// way, and behind them, with MODEL_SHARED, the rows (core/model.h).
#include "block.h"
#include "core/model.h"
#include "core/store.h"
#include "solver.h"

#ifndef STORE_SHARED
#define STORE_SHARED 1
#endif
#ifndef MAX_THREADS
#define MAX_THREADS 512
#endif
#ifndef MIN_BLOCKS
#define MIN_BLOCKS 1
#endif

extern "C" __constant__ const char abi_digest[] = ABI_DIGEST;  // which agreement between host and kernels this is for

extern "C" __global__ void __launch_bounds__(MAX_THREADS, MIN_BLOCKS) solve(const __grid_constant__ Problem problem) {
  extern __shared__ __align__(16) char shared[];
  __shared__ BlockState state;
  i64 store = store_bytes(problem);
  char* workspace = problem.workspace + (i64)blockIdx.x * problem.workspace_bytes;
#if STORE_SHARED
  Block b = make_block(&problem, &state, shared, shared + store, workspace, (i32)blockIdx.x);
#else
  Block b = make_block(&problem, &state, workspace, shared, workspace + store, (i32)blockIdx.x);
#endif
#if MODEL_SHARED
  share_rows(b, shared + (STORE_SHARED ? store : 0) + list_bytes(problem));
#endif
  run_block(b);
}
