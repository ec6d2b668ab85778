// Rows by themselves: what the tests of the operators look at.
#pragma once

#include "block.h"

// Block i propagates rows i, i + n_blocks, … each by itself to its fixpoint, or a thousand times, in a store of all
// variables that the rows do not share. consistent[row] tells whether it holds any solution.
DEVICE void propagate_rows_apart(Block& b, i32 n_blocks, i32* consistent) {
  Propagation& s = propagation(b);
  clear_state(b);
  for (i32 row = b.index; row < b.problem->n_rows; row += n_blocks) {
    if (lane() == 0) {  // at most three changes: the list is long enough
      s.failed = 0;
      i32 passes = 0;  // a product of large numbers can need billions to its fixpoint
      do {
        for (i32 i = 0; i < s.n_changed[0]; ++i) *flag_word(b, b.changed[i]) = 0;
        s.n_changed[0] = 0;
        propagate_row(b, row);
      } while (!s.failed && s.n_changed[0] && ++passes < 1000);
      consistent[row] = !s.failed;
    }
    barrier();
  }
}
