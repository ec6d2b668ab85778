#include "rows.h"

// `workspace` holds flags and lists, one set a block.
extern "C" __global__ void propagate_rows(const __grid_constant__ Problem problem, bound_t* lower, bound_t* upper, i32* consistent) {
  __shared__ BlockState state;
  char* workspace = problem.workspace + (i64)blockIdx.x * problem.workspace_bytes;
  Block b = make_block(&problem, &state, workspace, workspace + store_bytes(problem), workspace, (i32)blockIdx.x);
  b.lower = lower;
  b.upper = upper;
  propagate_rows_apart(b, (i32)gridDim.x, consistent);
}
