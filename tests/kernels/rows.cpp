#include <stdlib.h>

#include "rows.h"

// Returns 0, or 1 when there is no memory.
extern "C" int propagate_rows(const Problem* problem, bound_t* lower, bound_t* upper, i32* consistent) {
  char* memory = (char*)calloc(1, (size_t)(store_bytes(*problem) + list_bytes(*problem)));
  if (!memory) return 1;
  BlockState state;
  Block b = make_block(problem, &state, memory, memory + store_bytes(*problem), 0, 0);
  b.lower = lower;
  b.upper = upper;
  propagate_rows_apart(b, 1, consistent);
  free(memory);
  return 0;
}
