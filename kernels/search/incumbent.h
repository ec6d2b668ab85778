// The solutions that neighbourhoods start from, one an island.
//
// Island 0 holds the best solution so far: the record. Most others hold solutions that are worse by at most a given
// distance (record-to-record travel: Dueck, J. Comp. Physics 1993), a different one on each island, so that a thousand
// blocks do not converge to one local optimum. Every third is apart: it begins with any solution, only gets better, and
// is settled anew after too many failures (multi-start: Martí, Handbook of Metaheuristics 2003).
//
// One writer at a time and any number of readers: the version is odd while the values are written (a sequence lock),
// and a reader that finds another version afterwards starts anew. Values of two solutions must not mix: a neighbourhood
// that fixes such a mixture holds no solution, and all blocks would search it in vain.
//
// The island after the last one belongs to the host, which writes solutions found elsewhere there, in the same way. Its
// `patience` is the version that a block has taken to make it the record, so that only one block does.
#pragma once

#include "../core/assert.h"
#include "../core/store.h"
#include "tuning.h"

// An island that is being read or written.
struct IslandAccess {
  i32 source;   // the island that a neighbourhood's values come from
  i32 settles;  // the first solution found is the island's, however bad
  i32 writes;   // lane 0's answer whether the block may write it
  i32 takes;    // and whether it takes over a solution of the host's
  i64 version;  // of the island, when that was begun
  i64 value;    // sense * objective of the solution that is to be kept
};

DEVICE IslandAccess& island_access(const Block& b);

// Whether neighbourhoods or learners use the values of the incumbent.
DEVICE bool keeps_incumbents(const Problem* p) { return p->sense != 0 && (p->lns_percent || p->learn_bytes); }

// The clock that tasks are measured by, in nanoseconds. For a single block it is computed from its work, so that equal
// runs do the same, however busy the machine is.
DEVICE i64 task_clock(const Block& b) {
  const Statistics& done = statistics(b);
  return b.problem->n_blocks > 1 ? now_ns() : done.propagations * RUN_NS + done.nodes * NODE_NS;
}

DEVICE bool has_incumbent(const Problem* p) { return global_load(&p->islands[0].version) > 1; }

DEVICE bound_t* island_values(const Problem* p, i32 island) { return p->incumbents + (i64)island * p->n_vars; }

DEVICE bool is_apart(i32 island) { return island != 0 && island % 3 == 0; }

// The number of neighbourhoods in a row that may fail on an island apart.
DEVICE i64 full_patience(const Problem* p) { return (i64)TRIES_A_VARIABLE * (p->n_neighbours + 1); }

// Lane 0: whether the island still takes the solution.
DEVICE bool is_welcome(const Block& b, i32 index, i64 value) {
  if (index == 0) return global_load(&b.problem->common->best) == value;
  return !is_apart(index) || island_access(b).settles || value < global_load(&b.problem->islands[index].value);
}

// Lane 0: acquires the right to write the island. False when it has got a better solution meanwhile.
DEVICE bool begin_writing(const Block& b, i32 index, i64 value) {
  const Problem* p = b.problem;
  Island* island = &p->islands[index];
  for (;;) {
    if (!is_welcome(b, index, value)) return false;
    i64 version = global_load(&island->version);
    if (!(version & 1) && global_replace(&island->version, version, version + 1)) {
      island_access(b).version = version;
      break;
    }
    pause_briefly(0);
  }
  if (is_welcome(b, index, value)) return true;
  global_store(&island->version, island_access(b).version);  // overtaken meanwhile; nothing was written
  return false;
}

// Writes a solution to the island, given the value of each variable; island_access(b).value is sense * objective.
template <class Value> DEVICE void keep_values(const Block& b, i32 index, Value value) {
  const Problem* p = b.problem;
  IslandAccess& s = island_access(b);
  ASSERT(0 <= index && index < p->n_islands);
  if (lane() == 0) s.writes = begin_writing(b, index, s.value);
  barrier();
  if (s.writes) {
    fence();  // no value is written before the odd version
    bound_t* values = island_values(p, index);
    for (i32 i = lane(); i < p->n_vars; i += lanes()) global_store(&values[i], value(i));
    if (lane() == 0) {
      global_store(&p->islands[index].value, s.value);
      if (is_apart(index)) global_store(&p->islands[index].patience, full_patience(p));
    }
    fence();
    barrier();
    if (lane() == 0) {
      ASSERT(global_load(&p->islands[index].version) == s.version + 1 && s.version % 2 == 0);
      global_store(&p->islands[index].version, s.version + 2);
    }
  }
  barrier();
}

// Writes the store's solution to the island. All variables are fixed.
DEVICE void keep_solution(const Block& b, i32 index) {
  keep_values(b, index, [&](i32 var) { return value_of(b, var); });
}

// Lane 0: takes the right to a solution on the host's island that no block has taken. False when there is none.
DEVICE bool claims_host_solution(const Block& b) {
  Island* island = &b.problem->islands[b.problem->n_islands];
  IslandAccess& s = island_access(b);
  i64 taken = global_load(&island->patience);
  s.version = global_load(&island->version);
  if (s.version <= taken || s.version & 1) return false;
  return global_replace(&island->patience, taken, s.version);
}

// Lane 0: whether the values read from the host's island are of one solution; if so, it bounds the search.
DEVICE bool adopts_host_solution(const Block& b) {
  const Problem* p = b.problem;
  const Island* island = &p->islands[p->n_islands];
  IslandAccess& s = island_access(b);
  s.value = global_load(&island->value);
  fence();
  if (global_load(&island->version) != s.version) return false;  // a better one will be there in a moment
  global_min(&p->common->best, s.value);
  global_store(&p->common->improved_ns, task_clock(b));
  return true;
}

// Copies a solution that was found elsewhere to the record, through the block's store, which is not needed any more.
OUTLINE void take_host_solution(const Block b) {
  IslandAccess& s = island_access(b);
  if (lane() == 0) s.takes = claims_host_solution(b);
  barrier();
  bool takes = s.takes;
  barrier();
  if (!takes) return;
  fence();
  const bound_t* values = island_values(b.problem, b.problem->n_islands);
  for (i32 i = lane(); i < b.problem->n_vars; i += lanes()) set_value(b, i, global_load(&values[i]));
  fence();
  barrier();
  if (lane() == 0) s.takes = adopts_host_solution(b);
  barrier();
  takes = s.takes;
  barrier();
  if (takes) keep_solution(b, 0);
}

// Lane 0: notes the version of the source that is about to be read.
DEVICE void begin_reading(const Block& b) {
  IslandAccess& s = island_access(b);
  ASSERT(0 <= s.source && s.source < b.problem->n_islands);
  for (;;) {
    s.version = global_load(&b.problem->islands[s.source].version);
    if (!(s.version & 1)) break;
    pause_briefly(0);
  }
  fence();
}

// Lane 0: whether the values read since then are of one solution.
DEVICE bool is_reading_whole(const Block& b) {
  fence();
  return global_load(&b.problem->islands[island_access(b).source].version) == island_access(b).version;
}
