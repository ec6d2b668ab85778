// Presolve of the root by probing: cases of which one must hold are propagated one by one.
//
// The cases of a group of literals are: each of them is true; and all of them are false. Each variable lies in the hull
// of its bounds in all cases that have a solution (Savelsbergh, ORSA Journal on Computing 1994), so one that has no
// bounds at all may get some. With a single literal these are its two values: if one fails, the other one holds (failed
// literals: Freeman, 1995). What either of them implies of other truths is noted.
//
// All of it follows from the rows and the root alone, so it holds in every solution. Propagation that is cut, since it
// costs too much, has found bounds all the same, but no fixpoint: the root is changed only where its fixpoint has been
// reached. A case in which a bound cannot be stored says nothing, so the group does not, either. One lane does all
// this.
#pragma once

#include "../core/fixpoint.h"
#include "../core/interval.h"
#include "../core/store.h"
#include "levels.h"

enum Supposed {
  SETTLED,   // at a fixpoint
  CUT,       // before that: the bounds hold
  DENIED,    // no solution
  OVERFLOWN  // a bound that cannot be stored
};

struct Presolve {
  Block& b;
  Probes* task;
  Decision* box;  // the hull of the cases so far, of the variables that the first one has changed
  i32 n_box;
  i32 n_cases;  // that have a solution, of the group
};

// A literal of a task: twice a truth, plus its value.
DEVICE i32 truth_of_literal(i32 literal) { return literal >> 1; }
DEVICE i32 value_of_literal(i32 literal) { return literal & 1; }

// Propagates the root or a case, for at most so many propagations.
DEVICE Supposed settle(Block& b, i64 most) {
  Propagation& s = propagation(b);
  const i64 end = statistics(b).propagations + most;
  for (;;) {
    i32 n_changed = s.n_changed[b.round & 1];
    if (s.failed) {
      forget_changes(b);
      return claim(b).given_up ? OVERFLOWN : DENIED;
    }
    if (n_changed == 0) return SETTLED;
    if (s.stop || statistics(b).propagations >= end) {
      forget_changes(b);
      return CUT;
    }
    run_round(b, n_changed);
  }
}

// Writes the bounds of the root back.
DEVICE void leave_case(const Block& b) {
  Propagation& s = propagation(b);
  Level whole = {};
  undo_segment(b, &whole);
  s.trail_size = s.n_retired = 0;
  s.failed = 0;
}

// Joins the box with that of the current case.
DEVICE void join_case(Presolve& p) {
  const Block& b = p.b;
  if (p.n_cases++ == 0) {
    p.n_box = propagation(b).trail_size;
    for (i32 i = 0; i < p.n_box; ++i) {
      i32 var = b.trail[i].var;
      Decision here = {lower_of(b, var), upper_of(b, var), var};
      p.box[i] = here;
    }
    return;
  }
  for (i32 i = 0; i < p.n_box; ++i) {
    Decision& hull = p.box[i];
    hull.lower = minimum(hull.lower, lower_of(b, hull.var));
    hull.upper = maximum(hull.upper, upper_of(b, hull.var));
  }
}

// Notes what the literal implies of other truths, and of variables that have no bound.
DEVICE void note_implied(const Presolve& p, i32 literal) {
  const Block& b = p.b;
  Probes* task = p.task;
  for (i32 i = 0; i < propagation(b).trail_size; ++i) {
    TrailEntry before = b.trail[i];
    bound_t lower = lower_of(b, before.var), upper = upper_of(b, before.var);
    i32 kinds = 0;
    if (before.lower == 0 && before.upper == 1) kinds = 1 << (lower == 1 ? IMPLIES_TRUE : IMPLIES_FALSE);
    if (is_infinite(widen(before.lower)) && !is_infinite(widen(lower))) kinds |= 1 << IMPLIES_LOWER;
    if (is_infinite(widen(before.upper)) && !is_infinite(widen(upper))) kinds |= 1 << IMPLIES_UPPER;
    for (i32 kind = 0; kinds >> kind && task->n_implied < task->most_implied; ++kind) {
      if (!(kinds >> kind & 1) || before.var == truth_of_literal(literal)) continue;
      i32* implied = task->implied + 3 * (i64)task->n_implied++;
      implied[0] = literal;
      implied[1] = before.var;
      implied[2] = kind;
    }
  }
}

// Propagates the case in which the first `n` literals are true, or false. Returns whether something is known of it;
// then its bounds have been joined.
DEVICE bool try_case(Presolve& p, const i32* literals, i32 n, bool truth) {
  Block& b = p.b;
  i64 before = statistics(b).propagations;
  for (i32 i = 0; i < n && !propagation(b).failed; ++i) {
    i32 value = value_of_literal(literals[i]) ^ !truth;
    restrict_domain(b, truth_of_literal(literals[i]), interval(value, value));
  }
  Supposed supposed = settle(b, p.task->probe_work);
  p.task->work -= statistics(b).propagations - before + propagation(b).trail_size + 1;
  if (supposed == DENIED) ++p.task->n_failed;
  if (supposed == SETTLED || supposed == CUT) {
    if (n == 1) note_implied(p, literals[0] ^ !truth);
    join_case(p);
  }
  leave_case(b);
  return supposed != OVERFLOWN;
}

// Restricts the root to the box, if that is tighter, and propagates. Returns whether the root is at a fixpoint.
DEVICE bool restrict_root(Presolve& p) {
  Block& b = p.b;
  Probes* task = p.task;
  if (p.n_cases == 0) {
    task->infeasible = 1;
    return false;
  }
  i64 before = statistics(b).propagations;
  for (i32 i = 0; i < p.n_box; ++i) {
    if (p.box[i].lower > lower_of(b, p.box[i].var) || p.box[i].upper < upper_of(b, p.box[i].var)) {
      restrict_domain(b, p.box[i].var, interval(p.box[i].lower, p.box[i].upper));
    }
  }
  Supposed supposed = settle(b, maximum(task->work, task->probe_work));
  task->work -= statistics(b).propagations - before;
  task->infeasible = supposed == DENIED;
  if (supposed != SETTLED) {
    leave_case(b);
    return false;
  }
  Propagation& s = propagation(b);
  i64 n_fixed = 0;
  for (i32 i = 0; i < s.trail_size; ++i) n_fixed += is_fixed(b, b.trail[i].var);
  i64 reward = minimum(task->reward * n_fixed, task->most_rewards);
  task->most_rewards -= reward;
  task->work += reward;
  mark_segment(b, 0, s.trail_size, false);
  s.trail_size = s.n_retired = 0;
  return true;
}

// Probes a group of literals. Returns whether the root is at a fixpoint.
DEVICE bool probe_group(Presolve& p, const i32* literals, i32 n) {
  p.n_box = p.n_cases = 0;
  claim(p.b).given_up = 0;
  for (i32 i = 0; i < n; ++i) {
    if (is_fixed(p.b, truth_of_literal(literals[i]))) return true;
  }
  ++p.task->n_probes;
  for (i32 i = 0; i < n; ++i) {
    if (!try_case(p, literals + i, 1, true)) return true;
  }
  return !try_case(p, literals, n, false) || restrict_root(p);
}

// Probes the groups of the task, in order, while there is work left.
DEVICE void probe_groups(Presolve& p) {
  Probes* task = p.task;
  claim(p.b).limited = 1;  // so that an overflow is noted in the block, and not as one of the search
  propagation(p.b).trailing = 1;
  while (task->next < task->n_groups && task->work > 0 && !global_load(&p.b.problem->common->stop)) {
    i32 start = task->starts[task->next], end = task->starts[task->next + 1];
    ++task->next;
    if (!probe_group(p, task->literals + start, end - start)) return;
  }
}
