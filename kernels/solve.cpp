// The CPU engine: the solver of solver.h with one lane a block, one OS thread a block.
#include <stdlib.h>
#include <string.h>

#include "block.h"
#include "core/fixpoint.h"
#include "core/propagate.h"
#include "core/store.h"
#include "free/portfolio.h"
#include "learn/exchange/exchange.h"
#include "learn/learner.h"
#include "learn/propagators/posted.h"
#include "proof/conflict.h"
#include "proof/trim.h"
#include "search/implications.h"
#include "search/incumbent.h"
#include "search/logged.h"
#include "search/presolve.h"
#include "search/task.h"
#include "search/units.h"
#include "solver.h"

extern "C" {

// The digest of the agreement between host and kernels that this was compiled for.
const char* abi_digest = ABI_DIGEST;

// The bytes that a block needs as the kernels compute them: for its store where no rows retire, its lists, and its
// stacks.
void block_bytes(const Problem* problem, i64* sums) {
  sums[0] = store_bytes(*problem, false, problem->packed);
  sums[1] = list_bytes(*problem);
  sums[2] = stack_bytes(*problem);
}

// Runs a block that learns. False when there is no memory for that.
static bool learn_block(Block& b) {
  char* memory = (char*)calloc(1, (size_t)b.problem->learn_bytes);  // it touches only the part that it needs
  open_batch();
  bool done = memory && run_learner(b, memory);
  close_batch(!done);
  if (done) report_block(b);
  free(memory);
  return done;
}

// Searches without learning. Leaves the search incomplete where only learners know all constraints. Does nothing where
// other learners log, and it would search the tree: the end of that has no derivation.
static void search_block(Block& b) {
  if (b.problem->needs_learners) global_store(&b.problem->common->incomplete, 1);
  else if (!searches_tree(b.problem) || !lacks_derivations()) run_block(b);
}

// Runs block `index` to its end. Returns 0, or 1 when there is no memory for it.
int solve_block(const Problem* problem, i32 index) {
  char* workspace = problem->workspace + index * problem->workspace_bytes;
  i64 store = store_bytes(*problem), lists = list_bytes(*problem);
  char* memory = (char*)aligned_alloc(64, (size_t)((store + lists + 63) & ~(i64)63));
  if (!memory) return 1;
  BlockState state;
  Block b = make_block(problem, &state, memory, memory + store, workspace, index);
  if (!is_learner(problem, index) || !learn_block(b)) search_block(b);
  free(memory);
  return 0;
}

// Propagates the root from scratch: lower and upper (store_vars each) are tightened to the fixpoint of all rows. Gives
// 1 when consistent, 0 when not, -1 when stopped, -2 without memory, -3 when a bound left the representable range.
int propagate_root(const Problem* problem, bound_t* lower, bound_t* upper) {
  i64 store = store_bytes(*problem), lists = list_bytes(*problem);
  char* memory = (char*)calloc(1, (size_t)(store + lists));
  if (!memory) return -2;
  BlockState state;
  memset(&state, 0, sizeof state);
  Block b = make_block(problem, &state, memory, memory + store, 0, 0);
  write_store(b, lower, upper);
  for (i32 row = 0; row < problem->n_store_rows && !propagation(b).failed; ++row) propagate_row(b, row);
  bool consistent = fixpoint(b);
  read_store(b, lower, upper);
  free(memory);
  if (problem->common->incomplete) return -3;
  return !consistent ? 0 : propagation(b).stop ? -1 : 1;
}

// Probes the groups of a task. The bounds (store_vars each), a fixpoint of all rows, are tightened to another one.
// Gives 1, or -2 without memory; the task says whether there is a solution.
int probe_root(const Problem* problem, Probes* task, bound_t* lower, bound_t* upper) {
  i64 store = store_bytes(*problem) + list_bytes(*problem), n = store_vars(*problem);
  i64 trail = align16(n * (i64)sizeof(TrailEntry)), retired = align16((i64)count_rows(*problem) * 4);
  char* memory = (char*)calloc(1, (size_t)(store + trail + retired + n * (i64)sizeof(Decision)));
  if (!memory) return -2;
  BlockState state;
  memset(&state, 0, sizeof state);
  Block b = make_block(problem, &state, memory, memory + store_bytes(*problem), 0, 0);
  b.trail = (TrailEntry*)(memory + store);
  b.retired = (i32*)(memory + store + trail);
  write_store(b, lower, upper);
  Presolve p = {b, task, (Decision*)(memory + store + trail + retired), 0, 0};
  probe_groups(p);
  read_store(b, lower, upper);
  free(memory);
  return 1;
}

// Numbers the strongly connected components of n literals (component: n numbers), by pairs of which the first implies
// the second. Gives 1, or -2 without memory.
int connect_literals(i32 n, i64 n_pairs, const i32* pairs, i32* component) {
  i64 size = n;
  i32* memory = (i32*)calloc((size_t)(1 + size * (1 + COMPONENT_ARRAYS) + 2 * n_pairs), sizeof(i32));
  if (!memory) return -2;
  i32 *numbers = memory + size + 1, *targets = numbers + COMPONENT_ARRAYS * size;
  Implications graph = {memory, targets, n};
  fill_graph(graph, pairs, n_pairs);
  memset(component, -1, (size_t)size * sizeof(i32));
  Components s = {component, numbers, numbers + size, numbers + 2 * size, numbers + 3 * size, numbers + 4 * size,
                  0,         0,       0,              0};
  find_components(s, graph);
  free(memory);
  return 1;
}

// Takes a solution of the host's (n_vars values) if it is better than those of the blocks. Returns whether it is.
int adopt_solution(const Problem* problem, const bound_t* values, i64 value) {
  if (value >= global_min(&problem->common->best, value)) return 0;
  global_store(&problem->common->improved_ns, now_ns());
  if (keeps_incumbents(problem)) {
    BlockState state;
    memset(&state, 0, sizeof state);
    Block b = make_block(problem, &state, 0, 0, 0, 0);
    island_access(b).value = value;
    keep_values(b, 0, [&](i32 var) { return values[var]; });
  }
  return 1;
}

// Copies the units to `words` (2 n_vars). Returns the value of sense * objective below which they hold.
i64 read_units(const Problem* problem, bound_t* words) {
  for (i64 side = 0; side < 2 * (i64)problem->n_vars; ++side) words[side] = global_load(&unit_words(problem)[side]);
  fence();  // a block that wrote a unit had read `best` before
  return global_load(&problem->common->best);
}

// Takes units from elsewhere (2 n_vars words), which hold in solutions better than the incumbent.
void write_units(const Problem* problem, const bound_t* words) { tell_units(problem, words); }

// Posts the row sum of terms <= high, which holds in solutions better than the incumbent, at a place.
void post_row(const Problem* problem, i32 place, i64 high, const Term* terms, i32 n_terms) {
  post(problem, place, high, terms, n_terms);
}

// Begins to trim a log. Gives null without memory.
Trimming* trim_begin(ProofTrim* host, Explainer explainer) { return begin_trim(host, explainer); }
void trim_end(Trimming* t) { end_trim(t); }

// Finds the hints of the clause of the event. Gives 0, or a TrimFault.
i64 trim_clause(Trimming* t) { return explain_clause(*t); }

// Notes a step that assumes these literals. Gives its number, or -1 without memory.
i64 trim_note_step(Trimming* t, const i64* literals, i64 size) { return note_step(*t, literals, size); }

// Adds the hints for what is needed. These give 0, or a TrimFault.
i64 trim_need_event(Trimming* t, i64 event) { return fault_of(*t, need_event(*t, event)); }
i64 trim_need_clause(Trimming* t, i64 name) { return fault_of(*t, need_clause(*t, name)); }
i64 trim_need_step(Trimming* t, i64 step) { return fault_of(*t, need_step(*t, step)); }
i64 trim_need_root(Trimming* t, i64 side, i64 k) { return fault_of(*t, need_root(*t, side, k)); }

// Shows the host the hints and the chains, and begins with no hints again.
void trim_show(Trimming* t) { show_hints(*t); }

// Finds the records of a log that are no explanations: their places among these words. Gives their number; `end` is the
// place behind the last record that was looked at.
i64 trim_find_events(const i64* words, i64 size, i64* places, i64* end) {
  return find_events(words, size, places, end);
}

#ifdef TRACE
// Makes blocks write a trace of the search from now on; null ends that.
void set_trace(Trace* where) { trace = where; }
#endif

#ifdef PROOF
// Makes the learner log its conclusions from now on; null ends that.
void set_log(ProofLog* where) { proof_log = where; }
#endif

// Orders the reads of a ring slot's sequence number before those of its values, and of the values before `consumed`.
void memory_fence(void) { fence_host(); }
}
