// Rows that are left out because they are entailed: all values left to their variables satisfy them.
//
// Such a row can neither tighten nor fail until the level is left. It stays marked as queued, so that no lane queues
// it; `entailed` marks it, and `retired` lists it beside the trail, which brings it back. On a GPU it does not pay,
// since the lanes of a warp wait for the longest row anyway, so there it is a variant; on a CPU it is a variant not to
// retire.
//
// Where lanes run rows at the same time, two rows may empty a domain from both sides without seeing it, and both must
// run again to see it. So there a row retires only in a run that had nothing to change (docs/design/correctness.md).
#pragma once

#include "assert.h"
#include "store.h"

#ifndef RETIRES_ROWS
#define RETIRES_ROWS RETIRING_PAYS
#endif

// Whether a row may retire that is found to be entailed by a run that has `changed` something, or not.
#define MAY_RETIRE(changed) (RETIRES_ROWS && (WARP_LANES == 1 || !(changed)))

// The result of a run: whether all values left to the row's variables satisfy it, where rows retire; and whether it has
// changed a bound, where the caller needs that (sweep.h).
constexpr i32 RUN_ENTAILED = 1;
constexpr i32 RUN_CHANGED = 2;
#if SWEEP
typedef i32 Told;
#define TELL(changed, entailed) ((entailed ? RUN_ENTAILED : 0) | (changed ? RUN_CHANGED : 0))
#else
typedef bool Told;
#define TELL(changed, entailed) (entailed)
#endif

DEVICE bool is_retired(const Block& b, i32 row) { return b.entailed[row >> 5] >> (row & 31) & 1; }

// Retires the row. Each row is in the list at most once, so the list has room.
DEVICE void retire_row(const Block& b, i32 row) {
  u32 bit = 1u << (row & 31);
  Propagation& s = propagation(b);
  ASSERT(s.n_retired < count_rows(*b.problem) && !(b.entailed[row >> 5] & bit));
  if (s.trailing) b.retired[block_add(&s.n_retired, 1)] = row;
  block_or(&b.entailed[row >> 5], bit);
  block_or(&b.queued[row >> 5], bit);
}
