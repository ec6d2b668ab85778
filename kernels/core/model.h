// The memory from which a block reads its rows: global memory, by the read-only path, or a copy in shared memory.
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
// Copies the rows to `memory`, which has room for them; from then on the block reads them there. Ends with a barrier.
DEVICE void share_rows(Block& b, char* memory) {
  Row* rows = (Row*)memory;
  for (i32 i = lane(); i < b.problem->n_store_rows; i += lanes()) rows[i] = load_constant(&b.problem->rows[i]);
  b.rows = rows;
  barrier();
}
#endif
