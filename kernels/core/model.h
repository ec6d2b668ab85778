// Where a block reads its rows from: global memory, through the read-only path, or a copy in its shared memory.
//
// Rows are never written, and the blocks of an SM read the same ones, so they are mostly in its cache. MODEL_SHARED
// copies them into the shared memory of each block when it begins, which costs room for stores.
#pragma once

#include "store.h"

DEVICE Row row_at(const Block& b, i32 row) {
#if MODEL_SHARED
  return b.rows[row];
#else
  return load_constant(&b.problem->rows[row]);
#endif
}

#if MODEL_SHARED
// From here on the block reads its rows from `memory`, which has room for them. Ends with a barrier.
DEVICE void share_rows(Block& b, char* memory) {
  Row* rows = (Row*)memory;
  for (i32 i = lane(); i < b.problem->n_rows; i += lanes()) rows[i] = load_constant(&b.problem->rows[i]);
  b.rows = rows;
  barrier();
}
#endif
