// The GPU engine: the solver of solver.h, one CUDA block a block. Macros and memory: gpu_block.h.
#include "core/store.h"
#include "gpu_block.h"
#include "solver.h"

extern "C" __global__ void __launch_bounds__(MAX_THREADS, MIN_BLOCKS) solve(const __grid_constant__ Problem problem) {
  extern __shared__ __align__(16) char shared[];
  __shared__ BlockState state;
  Block b = block_on_gpu(&problem, &state, shared);
  run_block(b);
}
