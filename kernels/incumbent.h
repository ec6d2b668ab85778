// The solutions that neighbourhoods start from, one an island.
//
// Island 0 holds the best solution so far, the others solutions at most so much worse: record-to-record travel (Dueck,
// J. Comp. Physics 1993), a different distance on each, so that a thousand blocks do not all stand before the same local
// optimum.
//
// One writer at a time and any number of readers: the version is odd while the values are written (a sequence lock), and
// a reader that finds another version afterwards starts anew. Values of two solutions must not mix: a neighbourhood that
// fixes such a mixture holds no solution, and all blocks would search it in vain.
#pragma once

#include "pool.h"

DEVICE bool has_incumbent(const Problem* p) { return global_load(&p->islands[0].version) > 1; }

DEVICE bound_t* island_values(const Problem* p, i32 island) { return p->incumbents + (i64)island * p->n_vars; }

// Lane 0: the right to write the island, with its version in state->version. False when the best solution is to be
// replaced by one that is not the best any more.
DEVICE bool begin_writing(const Block& b, i32 index, i64 value) {
  const Problem* p = b.problem;
  Island* island = &p->islands[index];
  for (;;) {
    if (index == 0 && global_load(&p->common->best) < value) return false;
    i64 version = global_load(&island->version);
    if (!(version & 1) && global_replace(&island->version, version, version + 1)) {
      b.state->version = version;
      break;
    }
    pause_briefly(0);
  }
  if (index != 0 || global_load(&p->common->best) == value) return true;
  global_store(&island->version, b.state->version);  // overtaken meanwhile; nothing was written
  return false;
}

// All variables are fixed, and state->value is sense * objective.
DEVICE void keep_solution(const Block& b, i32 index) {
  const Problem* p = b.problem;
  BlockState* s = b.state;
  if (lane() == 0) s->granted = begin_writing(b, index, s->value);
  barrier();
  bool granted = s->granted;
  if (granted) {
    bound_t* values = island_values(p, index);
    for (i32 i = lane(); i < p->n_vars; i += lanes()) global_store(&values[i], b.lower[i]);
    if (lane() == 0) global_store(&p->islands[index].value, s->value);
    fence();
    barrier();
    if (lane() == 0) global_store(&p->islands[index].version, s->version + 2);
  }
  barrier();
}

// Lane 0: notes the version of the source that is about to be read.
DEVICE void begin_reading(const Block& b) {
  BlockState* s = b.state;
  for (;;) {
    s->version = global_load(&b.problem->islands[s->source].version);
    if (!(s->version & 1)) break;
    pause_briefly(0);
  }
  fence();
}

// Lane 0: whether what was read since is of one solution.
DEVICE bool is_reading_whole(const Block& b) {
  fence();
  return global_load(&b.problem->islands[b.state->source].version) == b.state->version;
}
