// The hybrid engine on the GPU (hybrid/mailbox.h): blocks that only propagate, one for each thread of hybrid.cpp.
//
// All of them must be resident at once, for each waits for its own thread. STORE_SHARED and MODEL_SHARED as in
// solve.cu.
#include "block.h"
#include "core/model.h"
#include "core/store.h"
#include "hybrid/propagator.h"

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

extern "C" __global__ void __launch_bounds__(MAX_THREADS, MIN_BLOCKS)
    propagator(const __grid_constant__ Problem problem, const __grid_constant__ Mailboxes boxes) {
  extern __shared__ __align__(16) char shared[];
  __shared__ BlockState state;
  __shared__ Service service;
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
  serve(b, boxes, service);
}
