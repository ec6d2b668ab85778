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

// See probe_row: rows share no variable. Returns the number of records, or -1 without memory.
extern "C" i64 explain_rows(const Problem* problem, const bound_t* lower, const bound_t* upper, i64* words, i64 capacity) {
  char* store = (char*)calloc(1, (size_t)(store_bytes(*problem) + list_bytes(*problem)));
  char* memory = (char*)calloc(1, (size_t)problem->learn_bytes);
  BlockState state;
  memset(&state, 0, sizeof state);
  LearnStatistics counted = {};
  Records records = {words, 0, capacity};
  WholeLearner l = {};
  l.problem = problem;
  l.statistics = &counted;
  l.restarts.role = METHOD_FINDER;
  bool fits = store && memory && lay_out(l, memory, problem->learn_bytes);
  if (fits) {
    Block b = make_block(problem, &state, store, store + store_bytes(*problem), 0, 0);
    l.block = &b;
    clear_learner(l);
    for (i32 row = 0; row < n_all_rows(problem); ++row) probe_row(l, row, lower, upper, &records);
  }
  free(memory);
  free(store);
  return fits ? records.count : -1;
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
