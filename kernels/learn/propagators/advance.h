// Propagation with reasons: clauses and rows in turn, to the fixpoint.
//
// Each entry first visits the watchers of clauses, with two watched literals (Moskewicz et al., DAC 2001) and a
// blocking literal in the list (Sörensson, Eén, SAT-Race 2008), then wakes rows (wake.h): cheap ones run at once, the
// others when all entries are done.
//
// Convergence can be slow ("bounds creep"): x >= y + 1 and y >= x push each other through a domain of a million values,
// an entry a step. Such rows are cheap, so they would run for long before a product or an element that takes a thousand
// of their steps at once. So when sides have moved many times no row runs at once any more, and the costliest run
// first. After too many entries the search goes on before the fixpoint, with a decision that moves the creeping side
// half way to its opposite bound; the queue is kept. If a conflict empties the queue while a level suspended in this
// way is still on the trail, all rows are queued again.
#pragma once

#include "../../core/assert.h"
#include "../../core/interval.h"
#include "../../core/propagate.h"
#include "../../search/task.h"
#include "../clauses/clauses.h"
#include "../state/lists.h"
#include "../state/literal.h"
#include "../state/parts.h"
#include "../state/sides.h"
#include "../state/trail.h"
#include "../tuning.h"
#include "counters.h"
#include "delay.h"
#include "linear.h"
#include "posted.h"
#include "priority.h"
#include "wake.h"
#include "wide.h"
#include "wide_rows.h"
#ifdef CHECK_EXPLANATIONS
#include "check.h"
#endif

struct Progress {
  i32 creeping;   // the creeping side at which propagation was suspended, or -1
  i32 suspended;  // the lowest level where this happened, or NO_LEVEL
  i64 runs;       // of rows
  i64 polls;      // calls of wants_end
};

PART(Progress, progress);

DEVICE void clear_progress(Learner& l) { progress(l).suspended = NO_LEVEL; }

DEVICE bool narrow(Learner& l, i32 var, Interval before, Interval after, i32 row) {
  if (after.l > before.l && !set_side(l, lower_side(var), after.l, row_reason(row))) return false;
  return after.u >= before.u || set_side(l, upper_side(var), -after.u, row_reason(row));
}

DEVICE bool run_now(Learner& l, i32 row, const Wide& r) {
  progress(l).runs += 1 + runs_of(r);
  return run_kind(l, row, r);
}

DEVICE bool run_wide(Learner& l, i32 row) {
  const Wide& r = wide_at(problem(l), row);
  delay_of(l, row).has_said_all = false;
  if (!may_wait(r)) return run_now(l, row, r);
  if (waits(l, row)) return true;
  i32 size = trail(l).size;
  bool good = run_now(l, row, r);
  note_run(l, row, !good || trail(l).size > size);
  return good;
}

// A row that is not ternary.
DEVICE bool run_whole(Learner& l, i32 row) {
  if (is_wide(problem(l), row)) return run_wide(l, row);
  if (is_counter(problem(l), row)) return run_counter(l, row);
  const Linear& r = linear_at(problem(l), row);
  progress(l).runs += 1 + (r.end - r.start) / TERMS_A_RUN;
  return run_linear(l, row);
}

OUTLINE bool run_row(Learner& l, i32 row) {
  ASSERT(0 <= row && row < n_all_rows(problem(l)));
  if (row >= problem(l)->n_rows) return run_whole(l, row);
  const Row r = load_constant(&problem(l)->rows[row]);
  i32 z_var = third_var(r);
  const Interval x = interval_of(l, r.x), y = interval_of(l, r.y), z = interval_of(l, z_var);
  Interval new_x = x, new_y = y, new_z = z;
  propagate_operator(block(l), r, new_x, new_y, new_z);
  ++progress(l).runs;
  return narrow(l, r.x, x, new_x, row) && narrow(l, r.y, y, new_y, row) && narrow(l, z_var, z, new_z, row);
}

// The place of a literal that is not false and not one of the two that are watched; 0 when there is none.
DEVICE i32 find_another(const Learner& l, const Literal* literals, i32 size) {
  for (i32 i = 2; i < size; ++i) {
    if (!is_false(l, literals[i])) return i;
  }
  return 0;
}

// Watches literal `place` of the clause instead of literal 1. False when the lists are full.
DEVICE bool watch_instead(Learner& l, i32 clause, Literal* literals, i32 place) {
  ASSERT(2 <= place && place < clause_at(l, clause)->size && !is_false(l, literals[place]));
  Watcher moved = {literals[0], clause, false};
  if (!watch(l, negation(literals[place]), moved)) return false;
  Literal other = literals[place];
  literals[place] = literals[1];
  literals[1] = other;
  return true;
}

// Visits a watcher of `a`, which has become true. Whether it stays in the list; a conflict is in the trail's outcome.
DEVICE bool tell(Learner& l, Literal a, Watcher* watcher) {
  if (is_true(l, watcher->blocker)) return true;
  Literal first = watcher->blocker;
  if (!watcher->binary) {
    Literal* literals = literals_of(clause_at(l, watcher->clause));
    Literal fallen = negation(a);
    if (literals[0].side == fallen.side && literals[0].k == fallen.k) {
      literals[0] = literals[1];
      literals[1] = fallen;
    }
    ASSERT(literals[1].side == fallen.side && literals[1].k == fallen.k);
    first = literals[0];
    if (is_true(l, first)) {
      watcher->blocker = first;
      return true;
    }
    i32 another = find_another(l, literals, clause_at(l, watcher->clause)->size);
    if (another) return !watch_instead(l, watcher->clause, literals, another);
  }
  set_side(l, first.side, first.k, clause_reason(watcher->clause));
  return true;
}

// Visits the watchers of `a`, node `place` of its side. Lists and nodes of other literals may move meanwhile.
DEVICE bool tell_watchers(Learner& l, Literal a, i32 place) {
  ASSERT(is_true(l, a) && node_at(l, a.side, place)->k == a.k);
  List list = node_at(l, a.side, place)->watchers;
  Lists& s = lists(l);
  i32 kept = list.start, i = list.start, end = list.start + list.size;
  while (i < end && trail(l).outcome == CONSISTENT) {
    Watcher watcher = s.cells[i++].watcher;
    if (tell(l, a, &watcher)) s.cells[kept++].watcher = watcher;
  }
  while (i < end) s.cells[kept++] = s.cells[i++];
  node_at(l, a.side, place)->watchers.size = kept - list.start;
  return trail(l).outcome == CONSISTENT;
}

// Visits the watchers of all literals that became true. Nodes created meanwhile have a threshold above `now`.
DEVICE bool tell_clauses(Learner& l, i32 side, bound_t was, bound_t now) {
  if (lists(l).nodes[side].size == 0) return true;
  for (i32 i = first_node_above(l, side, was); i < lists(l).nodes[side].size; ++i) {
    bound_t k = node_at(l, side, i)->k;
    if (k > now) break;
    if (!tell_watchers(l, literal(side, k), i)) return false;
  }
  return true;
}

// A side that creeps, or -1.
DEVICE i32 find_creeping(const Learner& l) {
  const Trail& t = trail(l);
  const Sides& s = sides(l);
  for (i32 i = t.size - 1; i >= 0 && i >= t.size - CREEP_LOOK_BACK; --i) {
    i32 side = t.entries[i].side;
    if (-(wide_t)s.now[side] - s.now[opposite(side)] > CREEP_DOMAIN) return side;
  }
  return -1;
}

// Runs a cheap row at once, or queues it. False on a fault.
DEVICE bool wake_row(Learner& l, i32 row, i32 self, bool at_once) {
  if (row == self) return true;
  if (at_once) return run_row(l, row);
  queue_row(l, row, AT_ONCE);
  return true;
}

// Whether a change of a variable concerns a wide row that has it at the place, or ANYWHERE.
DEVICE bool is_asked_for(const Learner& l, i32 row, bound_t place) {
  return place == ANYWHERE || is_concerned(l, row, (i32)place);
}

// Wakes the rows of an entry; with `at_once` the cheap ones run. False on a fault.
DEVICE bool wake_rows(Learner& l, const Entry& e, bool at_once) {
  const Wakes& w = wakes(l);
  const SideWakes& own = w.of_side[e.side];
  i32 self = is_row_reason(e.reason) ? e.reason >> 1 : -1;
  if (self >= 0 && !tells_all_at_once(problem(l), self) && !has_said_all(l, self)) self = -1;
  for (i32 priority = SUMS; priority < N_PRIORITIES; ++priority) {
    i32 end = priority + 1 < N_PRIORITIES ? own.start[priority + 1] : own.thresholds;
    for (i32 i = own.start[priority]; i < end; ++i) {
      if (w.rows[i] == self || (priority == WHOLE && !is_asked_for(l, w.rows[i], w.at[i]))) continue;
      queue_row(l, w.rows[i], priority);
    }
  }
  wake_posted(l, e.side, self);
  wake_counters(l, e);
  for (i32 i = own.start[AT_ONCE]; i < own.start[SUMS]; ++i) {
    if (!wake_row(l, w.rows[i], self, at_once)) return false;
  }
  if (own.thresholds == own.end) return true;
  for (i32 i = first_threshold_above(l, own, e.was); i < own.end && w.at[i] <= e.now; ++i) {
    if (!wake_row(l, w.rows[i], self, at_once)) return false;
  }
  return true;
}

// Whether the host asks the block to leave, or the search is over. Looks only once in POLL_EVERY calls.
DEVICE bool wants_end(Learner& l) {
  if (++progress(l).polls % POLL_EVERY) return false;
  const Common* common = problem(l)->common;
  return global_load(&common->stop) || is_search_over(common);
}

// Whether the side has moved at this level before. At level 0 that is not recorded, so every entry counts.
DEVICE bool moves_again(const Learner& l, const Entry& e) {
  const Trail& t = trail(l);
  return t.level == 0 || (e.previous >= 0 && t.entries[e.previous].level == t.level);
}

// The queue is empty: if the level is not above a suspended one, propagation of that level is complete too.
DEVICE void reach_fixpoint(Learner& l) {
  i32& suspended = progress(l).suspended;
  ASSERT(is_queue_empty(l) && trail(l).head == trail(l).size);
  if (trail(l).level <= suspended) suspended = NO_LEVEL;
#ifdef CHECK_EXPLANATIONS
  if (suspended == NO_LEVEL) check_fixpoint(l);
#endif
}

// Propagates to the fixpoint: CONSISTENT there, or where a side creeps. After CONFLICT or FULL the queue is empty.
OUTLINE Outcome propagate(Learner& l) {
  Trail& t = trail(l);
  Progress& s = progress(l);
  ASSERT(0 <= t.level && t.level <= t.level_capacity && t.head <= t.size && t.size <= t.capacity);
  const i64 n = n_sides(problem(l));
  i64 entries = 0, again = 0, enough = n + CREEP_ENTRIES;
  if (t.level == 0) enough *= ROOT_PATIENCE;
  const i64 few = enough / CREEP_WARNING + (t.level == 0 ? n : 0);
  t.outcome = CONSISTENT;
  s.creeping = -1;
  for (;;) {
    while (t.head < t.size && t.outcome == CONSISTENT) {
      Entry e = t.entries[t.head++];
      ++entries;
      again += moves_again(l, e);
      if (tell_clauses(l, e.side, e.was, e.now)) wake_rows(l, e, again <= few);
    }
    if (t.outcome != CONSISTENT) break;
    if (wants_end(l)) return LEAVE;
    if (entries > enough) {
      s.creeping = find_creeping(l);
      enough += entries;
    }
    if (t.level == 0) log_entries(l);
    if (t.level == 0) settle_root(l);
    if (s.creeping >= 0) {
      s.suspended = minimum(s.suspended, t.level);
      return CONSISTENT;
    }
    i32 row = take_row(l, again > few);
    if (row < 0) {
      reach_fixpoint(l);
      return CONSISTENT;
    }
    if (!run_row(l, row)) break;
  }
  empty_queue(l);
  t.head = t.size;
  return t.outcome;
}
