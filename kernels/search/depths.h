// The depth of a search, and the cost of propagation by depth: lane 0 counts, in PROFILE builds. In others these
// functions are empty.
//
// A depth is a number of decisions on the path from the root. Few classes of them are kept, each twice as wide as the
// one before.
#pragma once

#include "../core/store.h"
#include "levels.h"

// The counts of a block so far.
struct Counted {
  i64 iterations, propagations;
};

DEVICE Counted counted_so_far(const Block& b) {
#ifdef PROFILE
  return {statistics(b).iterations, statistics(b).propagations};
#else
  (void)b;
  return {0, 0};
#endif
}

// A node has been propagated; `before` was counted until then.
DEVICE void note_depth(const Block& b, Counted before) {
#ifdef PROFILE
  if (lane() != 0) return;
  i32 length = stack(b).path_size, bits = 0;
  for (i32 rest = length; rest && bits < N_DEPTHS - 1; rest >>= 1) ++bits;
  DepthCounts& here = b.problem->depths[bits];
  global_add(&here.nodes, (i64)1);
  global_add(&here.length, (i64)length);
  global_add(&here.iterations, statistics(b).iterations - before.iterations);
  global_add(&here.propagations, statistics(b).propagations - before.propagations);
#else
  (void)b;
  (void)before;
#endif
}
