// The hybrid engine on the GPU (hybrid/mailbox.h): blocks that only propagate, one for each thread of hybrid.cpp.
//
// All of them must be resident at once, for each waits for its own thread. Macros and memory: gpu_block.h.
#include "core/store.h"
#include "gpu_block.h"
#include "hybrid/propagator.h"

extern "C" __global__ void __launch_bounds__(MAX_THREADS, MIN_BLOCKS)
    propagator(const __grid_constant__ Problem problem, const __grid_constant__ Mailboxes boxes) {
  extern __shared__ __align__(16) char shared[];
  __shared__ BlockState state;
  __shared__ Service service;
  Block b = block_on_gpu(&problem, &state, shared);
  serve(b, boxes, service);
}
