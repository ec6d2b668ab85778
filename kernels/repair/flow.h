// Changing an assignment: a value is set, definitions carry the change on, and the change is measured, and kept or
// taken back.
#pragma once

#include "../core/store.h"
#include "state.h"
#include "violation.h"

// Sets a value, and the sums that it is in.
DEVICE void put(Walk& w, i32 var, bound_t value) {
  const Problem* p = w.problem;
  const Reach reach = reach_of(w, var);
  const i64 grown = (i64)value - w.value[var];
  warp_barrier();  // all lanes have read the old value
  if (warp_lane() == 0) w.value[var] = value;
  for (i32 i = reach.start + warp_lane(); i < reach.rows; i += WARP_LANES) {
    const Reader reader = load_constant(&p->readers[i]);
    w.sums[reader.row - p->n_store_rows] += grown * reader.factor;
  }
  warp_barrier();
}

DEVICE void await_definition(Walk& w, i32 place) {
  const i32 word = place >> 5;
  block_or(&w.pending[word], 1u << (place & 31));
  block_or(&w.groups[word >> 5], 1u << (word & 31));
}

// Takes the first definition that is pending; -1 where none is. None before `group` words of groups is.
DEVICE i32 take_pending(Walk& w, i32& group) {
  const i32 end = pending_groups(*w.problem);
  while (group < end && w.groups[group] == 0) ++group;
  if (group == end) return -1;
  const i32 word = group << 5 | lowest_bit(w.groups[group]);
  const u32 bits = w.pending[word], rest = bits & (bits - 1);
  warp_barrier();
  if (warp_lane() == 0) {
    w.pending[word] = rest;
    if (rest == 0) w.groups[group] &= ~(1u << (word & 31));
  }
  warp_barrier();
  return word << 5 | lowest_bit(bits);
}

// Notes constraints that the trial may change, one of each lane that `has` one; each once.
DEVICE void touch(Walk& w, bool has, i32 constraint) {
  const bool fresh = has && w.stamp[constraint] != w.trial;
  const i32 before = warp_sum_before(fresh);
  if (fresh) {
    w.stamp[constraint] = w.trial;
    w.touched[w.n_touched + before] = constraint;
  }
  w.n_touched += warp_last(before + fresh);
}

// Changes a value in the current trial; what depends on it is pending, or touched.
OUTLINE void change(Walk& w, i32 var, bound_t value) {
  const Problem* p = w.problem;
  const Reach reach = reach_of(w, var);
  const bound_t before = w.value[var];
  if (before == value) return;
  const i64 grown = (i64)value - before;
  warp_barrier();  // all lanes have read the old value
  if (warp_lane() == 0) {
    w.value[var] = value;
    w.changes[w.n_changes] = {before, var};
  }
  ++w.n_changes;
  touch(w, warp_lane() == 0 && (reach.definer >= 0 || is_objective(w, var)), domain_of(p, var));
  for (i32 first = reach.start; first < reach.end; first += WARP_LANES) {
    const i32 i = first + warp_lane();
    const bool reads = i < reach.end;
    const Reader reader = load_constant(&p->readers[reads ? i : first]);
    if (reads && reader.factor != 0) w.sums[reader.row - p->n_store_rows] += grown * reader.factor;
    if (reads && reader.place >= 0) await_definition(w, reader.place);
    touch(w, reads && reader.place < 0, reader.row);
  }
  w.work += reach.end - reach.start + 1;
  warp_barrier();
}

// Computes all definitions that are pending, in their order.
OUTLINE void carry_on(Walk& w) {
  i32 group = 0;
  for (i32 place = take_pending(w, group); place >= 0; place = take_pending(w, group)) {
    const Definition d = load_constant(&w.problem->definitions[place]);
    change(w, d.var, defined_value(w, d));
  }
}

// No constraint has been touched by a trial, of which the next one is number 1.
OUTLINE void forget_trials(Walk& w) {
  for (i32 i = warp_lane(); i < count_constraints(*w.problem); i += WARP_LANES) w.stamp[i] = 0;
  w.trial = 1;
  warp_barrier();
}

DEVICE void begin_trial(Walk& w) {
  if (++w.trial == 0) forget_trials(w);
  w.n_touched = w.n_changes = 0;
}

// By how much the trial raises the weighted cost of all constraints.
DEVICE i64 measure(const Walk& w) {
  i64 raised = 0;
  for (i32 i = warp_lane(); i < w.n_touched; i += WARP_LANES) {
    const i32 c = w.touched[i];
    raised += (i64)w.weight[c] * (current_cost(w, c) - w.cost[c]);
  }
  return group_sum(raised, WARP_LANES);
}

// A constraint whose cost the trial has raised, drawn at random; -1 where there is none.
OUTLINE i32 draw_raised(Walk& w) {
  i32 own = 0;
  for (i32 i = warp_lane(); i < w.n_touched; i += WARP_LANES) {
    own += current_cost(w, w.touched[i]) > w.cost[w.touched[i]];
  }
  const i32 before = warp_sum_before(own), all = warp_last(before + own);
  if (all == 0) return -1;
  i32 left = (i32)draw_number(w, (u64)all) - before;
  warp_barrier();
  for (i32 i = warp_lane(); i < w.n_touched && 0 <= left && left < own; i += WARP_LANES) {
    const i32 c = w.touched[i];
    if (current_cost(w, c) <= w.cost[c] || left-- > 0) continue;
    w.header->chosen = c;
    break;
  }
  warp_barrier();
  return w.header->chosen;
}

DEVICE void take_back(Walk& w) {
  for (i32 i = w.n_changes - 1; i >= 0; --i) put(w, w.changes[i].var, w.changes[i].before);
}

// Lane 0 of the warp: puts a constraint among the violated ones, or takes it out.
DEVICE void file_constraint(Walk& w, i32 constraint, i32& n_violated) {
  const bool is_violated = w.cost[constraint] > 0;
  i32& place = w.place[constraint];
  if (is_violated == (place >= 0)) return;
  if (is_violated) {
    place = n_violated++;
    w.violated[place] = constraint;
    return;
  }
  const i32 last = w.violated[--n_violated];
  w.violated[place] = last;
  w.place[last] = place;
  place = -1;
}

// Keeps the trial.
DEVICE void keep(Walk& w) {
  for (i32 i = warp_lane(); i < w.n_touched; i += WARP_LANES) w.cost[w.touched[i]] = current_cost(w, w.touched[i]);
  warp_barrier();
  i32 n_violated = w.n_violated;
  if (warp_lane() == 0) {
    for (i32 i = 0; i < w.n_touched; ++i) file_constraint(w, w.touched[i], n_violated);
  }
  w.n_violated = (i32)group_first((u32)n_violated, WARP_LANES);
  warp_barrier();
}

// Computes everything anew from the values of the free variables.
DEVICE void evaluate(Walk& w) {
  const Problem* p = w.problem;
  for (i32 i = warp_lane(); i < p->n_sums; i += WARP_LANES) w.sums[i] = 0;
  warp_barrier();
  for (i32 var = 0; var < p->n_store_vars; ++var) {
    const bound_t value = w.value[var];
    warp_barrier();
    if (warp_lane() == 0) w.value[var] = 0;
    warp_barrier();
    put(w, var, value);
  }
  for (i32 i = 0; i < p->n_definitions; ++i) {
    const Definition d = load_constant(&p->definitions[i]);
    put(w, d.var, defined_value(w, d));
  }
}

// Whether a constraint is one: rows that define nothing, the domains of defined variables, and the objective's.
DEVICE bool counts(const Walk& w, i32 constraint) {
  const Problem* p = w.problem;
  if (!is_domain(p, constraint)) return p->definition_places[constraint] < 0;
  const i32 var = constraint - count_rows(*p);
  return reach_of(w, var).definer >= 0 || is_objective(w, var);
}

// Computes the costs of all constraints anew.
DEVICE void judge_all(Walk& w) {
  const i32 n = count_constraints(*w.problem);
  for (i32 c = warp_lane(); c < n; c += WARP_LANES) {
    w.cost[c] = counts(w, c) ? current_cost(w, c) : 0;
    w.place[c] = -1;
  }
  warp_barrier();
  i32 n_violated = 0;
  if (warp_lane() == 0) {
    for (i32 c = 0; c < n; ++c) file_constraint(w, c, n_violated);
  }
  w.n_violated = (i32)group_first((u32)n_violated, WARP_LANES);
  warp_barrier();
}
