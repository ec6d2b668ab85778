// The solutions that neighbourhoods start from, one an island.
//
// Island 0 holds the best solution so far: the record. Most others hold solutions at most so much worse
// (record-to-record travel: Dueck, J. Comp. Physics 1993), a different distance on each, so that a thousand blocks do
// not all stand before the same local optimum. Every third is apart: it begins with any solution, only gets better, and
// when that has failed for too long it is settled anew (multi-start: Martí, Handbook of Metaheuristics 2003).
//
// One writer at a time and any number of readers: the version is odd while the values are written (a sequence lock),
// and a reader that finds another version afterwards starts anew. Values of two solutions must not mix: a neighbourhood
// that fixes such a mixture holds no solution, and all blocks would search it in vain.
//
// The island behind the last one is the host's: there it puts, in the same way, solutions that were found elsewhere.
// Its `patience` is the version that a block has taken and made the record, so that one block does.
#pragma once

#include "../core/assert.h"
#include "../core/store.h"

constexpr i32 TRIES_A_VARIABLE = 20;  // in vain, and an island apart is given up

constexpr i32 RUN_NS = 50;     // what a run of a propagator takes
constexpr i32 NODE_NS = 1000;  // and a node

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

// Whether anybody wants to know the values of the incumbent.
DEVICE bool keeps_incumbents(const Problem* p) { return p->sense != 0 && (p->lns_percent || p->learn_bytes); }

// The time that tasks are measured by, in nanoseconds. Of a block that is alone it is what its work would take: so that
// equal runs do the same, however busy the machine is.
DEVICE i64 task_clock(const Block& b) {
  const Statistics& done = statistics(b);
  return b.problem->n_blocks > 1 ? now_ns() : done.propagations * RUN_NS + done.nodes * NODE_NS;
}

DEVICE bool has_incumbent(const Problem* p) { return global_load(&p->islands[0].version) > 1; }

DEVICE bound_t* island_values(const Problem* p, i32 island) { return p->incumbents + (i64)island * p->n_vars; }

DEVICE bool is_apart(i32 island) { return island != 0 && island % 3 == 0; }

// Of an island apart: neighbourhoods in a row that may fail.
DEVICE i64 full_patience(const Problem* p) { return (i64)TRIES_A_VARIABLE * (p->n_neighbours + 1); }

// Lane 0: whether the island still has a use for the solution.
DEVICE bool is_welcome(const Block& b, i32 index, i64 value) {
  if (index == 0) return global_load(&b.problem->common->best) == value;
  return !is_apart(index) || island_access(b).settles || value < global_load(&b.problem->islands[index].value);
}

// Lane 0: the right to write the island. False when there is a better one meanwhile.
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

// All variables are fixed, and island_access(b).value is sense * objective.
DEVICE void keep_solution(const Block& b, i32 index) {
  const Problem* p = b.problem;
  IslandAccess& s = island_access(b);
  ASSERT(0 <= index && index < p->n_islands);
  if (lane() == 0) s.writes = begin_writing(b, index, s.value);
  barrier();
  if (s.writes) {
    fence();  // no value before the odd version
    bound_t* values = island_values(p, index);
    for (i32 i = lane(); i < p->n_vars; i += lanes()) global_store(&values[i], b.lower[i]);
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

// Lane 0: whether the host has put a solution on its island that nobody has taken.
DEVICE bool claims_host_solution(const Block& b) {
  Island* island = &b.problem->islands[b.problem->n_islands];
  IslandAccess& s = island_access(b);
  i64 taken = global_load(&island->patience);
  s.version = global_load(&island->version);
  if (s.version <= taken || s.version & 1) return false;
  return global_replace(&island->patience, taken, s.version);
}

// Lane 0: whether what was read of the host's island is one solution; if so, it bounds the search.
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

// The block's store is of no use any more: a solution that was found elsewhere goes through it to the record.
OUTLINE void take_host_solution(const Block b) {
  IslandAccess& s = island_access(b);
  if (lane() == 0) s.takes = claims_host_solution(b);
  barrier();
  bool takes = s.takes;
  barrier();
  if (!takes) return;
  fence();
  const bound_t* values = island_values(b.problem, b.problem->n_islands);
  for (i32 i = lane(); i < b.problem->n_vars; i += lanes()) b.lower[i] = global_load(&values[i]);
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

// Lane 0: whether what was read since is of one solution.
DEVICE bool is_reading_whole(const Block& b) {
  fence();
  return global_load(&b.problem->islands[island_access(b).source].version) == island_access(b).version;
}
