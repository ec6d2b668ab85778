#include <stdlib.h>
#include <string.h>

#include "probe_rows.h"
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

// A learner of the problem, in memory of its own. `fits` tells whether there is enough.
struct LoneLearner {
  char *store, *memory;
  BlockState state;
  LearnStatistics counted;
  Block block;
  WholeLearner l;
  bool fits;

  explicit LoneLearner(const Problem* problem) : state(), counted(), block(), l() {
    store = (char*)calloc(1, (size_t)(store_bytes(*problem) + list_bytes(*problem)));
    memory = (char*)calloc(1, (size_t)problem->learn_bytes);
    l.problem = problem;
    l.statistics = &counted;
    l.restarts.role = METHOD_FINDER;
    fits = store && memory && lay_out(l, memory, problem->learn_bytes);
    if (!fits) return;
    block = make_block(problem, &state, store, store + store_bytes(*problem), 0, 0);
    l.block = &block;
    clear_learner(l);
  }
  ~LoneLearner() {
    free(memory);
    free(store);
  }
};

// See probe_row: rows share no variable. The same learner runs them in each of the boxes; what they say in the last one
// is recorded. Returns the number of records, or -1 without memory.
extern "C" i64 explain_rows(
    const Problem* problem, const bound_t* lower, const bound_t* upper, i32 n_boxes, i64* words, i64 capacity) {
  LoneLearner own(problem);
  Records records = {words, 0, capacity};
  for (i32 box = 0; own.fits && box < n_boxes; ++box) {
    i64 place = (i64)box * problem->n_vars;
    memset(words, 0, (size_t)records.count * RECORD_WORDS * sizeof(i64));
    records.count = 0;
    for (i32 row = 0; row < n_all_rows(problem); ++row) probe_row(own.l, row, lower + place, upper + place, &records);
  }
  return own.fits ? records.count : -1;
}

// See count_movers: of the first row, in each of the boxes. Returns 0, or -1 without memory.
extern "C" i64 movers_in_boxes(
    const Problem* problem, const bound_t* lower, const bound_t* upper, i32 n_boxes, i64* counts, i64 capacity) {
  LoneLearner own(problem);
  for (i32 box = 0; own.fits && box < n_boxes && box < capacity; ++box) {
    i64 place = (i64)box * problem->n_vars;
    counts[box] = count_movers(own.l, 0, lower + place, upper + place);
  }
  return own.fits ? 0 : -1;
}

// A learner that follows the steps (a level to return to, side, k): it supposes the literal, unless that is decided, and
// propagates. Writes for each step the outcome and then all sides. Returns 0, or -1 without memory.
extern "C" i64 walk_rows(const Problem* problem, const i64* steps, i32 n_steps, i64* words) {
  LoneLearner own(problem);
  if (!own.fits) return -1;
  WholeLearner& l = own.l;
  i32 n = n_model_sides(problem);
  for (i32 i = 0; i < n_steps; ++i, steps += 3, words += n + 1) {
    if (steps[0] < trail(l).level) backtrack(l, (i32)steps[0]);
    Literal a = literal((i32)steps[1], (bound_t)steps[2]);
    bool is_open = sides(l).now[a.side] < a.k && sides(l).now[opposite(a.side)] < 1 - a.k;
    if (i > 0 && is_open) suppose(l, a);
    words[0] = propagate(l);
    for (i32 side = 0; side < n; ++side) words[1 + side] = sides(l).now[side];
    if (words[0] != CONSISTENT && trail(l).level == 0) return 0;
    if (words[0] != CONSISTENT) backtrack(l, trail(l).level - 1);
  }
  return 0;
}

// See learner.h.
extern "C" i32 learns_with_fused_rows(const Problem* problem, i32 index) {
  Block b = {};
  b.problem = problem;
  b.index = index;
  return has_fused_rows(b);
}

// See restart.h.
extern "C" i32 next_set(const i64* work, i32 sets, i32 last) { return least_worked_set(work, sets, last); }

extern "C" i32 delay_after(i32 last, i32 found) { return next_delay(last, found != 0); }

// See softs.h: a side that pays for the pieces (unit, from and to of each), in ascending order, and then `weight` less
// for reaching k. Writes what it costs to reach each of 0..limit, and the least threshold of each stratum 1..limit (-1:
// none). Returns the most that a threshold costs which costs at most `weight`, or -1 without memory.
extern "C" i64 reduced_costs(const i64* given, i32 n_pieces, i32 k, i64 weight, i64* costs, i64* thresholds, i32 limit) {
  Problem problem = {};
  problem.n_counters = 8;
  char* memory = (char*)calloc(1, (size_t)softs_bytes(&problem) + 4096);
  if (!memory) return -1;
  WholeLearner l = {};
  l.problem = &problem;
  Room room = {memory};
  take_memory(l.softs, &problem, room);
  l.softs.free = -1;
  Soft soft = {0, -1};
  i32* tail = &soft.first;
  for (i32 i = 0; i < n_pieces; ++i, given += 3) {
    tail = append_piece(l, tail, (bound_t)given[1], given[2] - given[1] + 1, given[0]);
  }
  soft.first = reduce_cost(l, soft, k, weight);
  for (i32 at = 0; at <= limit; ++at) costs[at] = cost_of(l, soft, at);
  for (i32 stratum = 1; stratum <= limit; ++stratum) {
    bound_t found;
    thresholds[stratum] = find_threshold(l, soft, stratum, &found) ? found : -1;
  }
  i64 most = most_below(l, soft, weight);
  free(memory);
  return most;
}
