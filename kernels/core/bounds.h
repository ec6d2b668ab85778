// How a row writes a bound that other lanes write at the same time.
//
// By an atomic maximum or minimum no bound is ever lost. PLAIN_BOUNDS writes it plainly, as Turbo does since 1.2.3: a
// lane may then overwrite a better bound that another one wrote in the same round. Every bound written is still implied
// by the rows, and better than the bound at the begin of the round. So the fixpoint is reached if each row whose bound
// was lost runs again: each row that has written a bound does, in the next round (docs/design/correctness.md).
//
// Decisions and root bounds from the host are not rows: the bounds that they write must not be lost, and are written
// atomically in every build.
#pragma once

#include "abi.h"

#ifndef PLAIN_BOUNDS
#define PLAIN_BOUNDS 0
#endif

constexpr bool ROWS_WRITE_PLAINLY = PLAIN_BOUNDS;

DEVICE void raise_bound_to(bound_t* p, bound_t v, bool plainly) {
  if (plainly) *p = v;
  else block_max(p, v);
}

DEVICE void reduce_bound_to(bound_t* p, bound_t v, bool plainly) {
  if (plainly) *p = v;
  else block_min(p, v);
}
