// The CPU engine with the many lanes of lanes.h: what solve.cu does on a GPU.
#include <stdlib.h>

#include "block.h"
#include "core/model.h"
#include "solver.h"

static thread_local const Problem* lanes_problem;
static thread_local char* lanes_memory;
static thread_local BlockState* lanes_state;
static thread_local i32 lanes_index;

static void run_lane() {
  const Problem* p = lanes_problem;
  char* workspace = p->workspace + lanes_index * p->workspace_bytes;
  Block b = make_block(p, lanes_state, lanes_memory, lanes_memory + store_bytes(*p), workspace, lanes_index);
#if MODEL_SHARED
  share_rows(b, lanes_memory + store_bytes(*p) + list_bytes(*p));
#endif
  run_block(b);
  loom->left[loom->lane] = true;
  if (--loom->remaining == 0) setcontext(&loom->outside);
  change_lane();
}

// Runs block `index` to its end. Returns 0, or 1 when there is no memory for it.
extern "C" int solve_block(const Problem* problem, i32 index) {
  i64 rows = (i64)problem->n_rows * (i64)sizeof(Row);
  char* memory = (char*)calloc(1, (size_t)(store_bytes(*problem) + list_bytes(*problem) + rows));
  char* stacks = (char*)malloc((size_t)MANY_LANES * STACK_BYTES);
  Loom* own = (Loom*)calloc(1, sizeof(Loom));
  BlockState state;
  bool fits = memory && stacks && own;
  if (fits) {
    lanes_problem = problem;
    lanes_memory = memory;
    lanes_state = &state;
    lanes_index = index;
    loom = own;
    own->remaining = MANY_LANES;
    own->random = (u64)problem->seed + (u64)index * 77;
    for (i32 i = 0; i < MANY_LANES; ++i) {
      getcontext(&own->contexts[i]);
      own->contexts[i].uc_stack.ss_sp = stacks + (i64)i * STACK_BYTES;
      own->contexts[i].uc_stack.ss_size = STACK_BYTES;
      makecontext(&own->contexts[i], run_lane, 0);
    }
    swapcontext(&own->outside, &own->contexts[0]);
  }
  free(memory);
  free(stacks);
  free(own);
  return !fits;
}
