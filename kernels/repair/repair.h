// Repairing an assignment step by step until nothing is violated (violation-guided local search, as in Davies, Didier,
// Perron: ViolationLS, CPAIOR 2024; jumps to the value that a constraint needs: Luteberget and Sartor, Feasibility
// jump, MPC 2023).
//
// A step draws a violated constraint, compares some moves that may satisfy it, and takes the best if it lowers the
// weighted cost. Where none does, weights rise. A walk goes on from task to task of its block. After too many steps
// without a gain it begins anew, from an incumbent that it changes a little, or from nothing; each beginning draws its
// manner. A walk proves nothing: where nothing is violated, the block propagates the assignment like any other choice,
// and what comes out is checked like any other solution.
#pragma once

#include "../core/interval.h"
#include "../core/random.h"
#include "../search/branch.h"
#include "../search/incumbent.h"
#include "../search/task.h"
#include "check.h"
#include "flow.h"
#include "state.h"
#include "tuning.h"
#include "violation.h"
#include "wish.h"

// Draws how a walk chooses: no manner is the best on every model (docs/measurements/free-search.md).
DEVICE Manner draw_manner(Walk& w) {
  const u64 draw = next_random(w.random);
  Manner m;
  m.samples = 2 << high_bits(draw, 2);  // 2, 4, 8, 16
  m.chain = 1 + high_bits(draw << 8, 2);  // 1 to MOST_CHANGES
  m.noise = coin(draw, 2) ? 8 : coin(draw, 3) ? 50 : 0;
  m.rest = coin(draw, 4) ? 3 : 1;
  m.logarithmic = coin(draw, 5) || coin(draw, 6);
  m.all_violated = coin(draw, 7);
  return m;
}

// The values of a new beginning: a random one of each domain, the one that is nearest to 0, or that of an incumbent.
DEVICE void choose_values(Walk& w) {
  const Problem* p = w.problem;
  const u64 draw = next_random(w.random);
  const bool has = group_first(p->sense != 0 && has_incumbent(p), WARP_LANES) && !coin(draw, 0);
  // Of 256 variables, so many get random values.
  const i32 changed = has ? 1 << high_bits(draw << 1, 3) : coin(draw, 5) ? 256 : 0;
  const bound_t* known = island_values(p, 0);
  for (i32 var = warp_lane(); var < p->n_store_vars; var += WARP_LANES) {
    const bound_t low = p->root_lower[var], high = p->root_upper[var];
    const u64 own = hash_of(draw, var);
    bound_t value = minimum(maximum((bound_t)0, low), high);
    if (has) value = minimum(maximum(global_load(&known[var]), low), high);
    if ((i32)below(own, 256) < changed) value = (bound_t)(low + (i64)below(own, (u64)((i64)high - low) + 1, 8));
    w.value[var] = value;
  }
  warp_barrier();
}

OUTLINE void begin_walk(Walk& w) {
  const i32 n = count_constraints(*w.problem);
  w.manner = draw_manner(w);
  choose_values(w);
  for (i32 c = warp_lane(); c < n; c += WARP_LANES) w.weight[c] = 1;
  for (i32 var = warp_lane(); var < w.problem->n_store_vars; var += WARP_LANES) w.rests_until[var] = 0;
  evaluate(w);
  judge_all(w);
  w.work += n;
  if (warp_lane() == 0) {
    WalkHeader& h = *w.header;
    h.steps = h.stale_since = 0;
    h.least = w.n_violated;
    h.manner = w.manner;
  }
  warp_barrier();
}

// Goes on where the block's last task has ended.
DEVICE void resume_walk(Walk& w) {
  for (i32 var = warp_lane(); var < w.problem->n_store_vars; var += WARP_LANES) w.value[var] = w.kept[var];
  w.manner = w.header->manner;
  w.n_violated = w.header->n_violated;
  w.trial = w.header->trial;
  warp_barrier();
}

// Wants solutions with an objective of at most `most` times sense.
DEVICE void aim(Walk& w, i64 most) {
  const Problem* p = w.problem;
  if (p->sense == 0) return;
  const i32 var = p->objective;
  w.least = p->root_lower[var];
  w.most = p->root_upper[var];
  if (most == NO_INCUMBENT) return;
  if (p->sense > 0) w.most = (bound_t)minimum((i64)w.most, most);
  else w.least = (bound_t)maximum((i64)w.least, 0 - most);
}

// The worst sense * objective that is wanted.
DEVICE i64 aimed_at(const Walk& w) { return w.problem->sense > 0 ? (i64)w.most : -(i64)w.least; }

// Whether the objective can be what is aimed at.
DEVICE bool has_aim(const Walk& w) { return w.problem->sense == 0 || w.least <= w.most; }

// Lets the assignment keep up with an aim: what else would it do with an objective that is free?
DEVICE void follow_aim(Walk& w) {
  const Problem* p = w.problem;
  if (p->sense == 0) return;
  const i32 var = p->objective;
  begin_trial(w);
  if (has_aim(w) && reach_of(w, var).definer < 0 && outside(w.value[var], w.least, w.most) > 0) {
    change(w, var, p->sense > 0 ? w.most : w.least);
    carry_on(w);
  }
  touch(w, warp_lane() == 0, domain_of(p, var));
  keep(w);
}

// A violated constraint, the costlier of two.
DEVICE i32 draw_violated(Walk& w) {
  const i32 one = w.violated[draw_number(w, (u64)w.n_violated)], other = w.violated[draw_number(w, (u64)w.n_violated)];
  return (i64)w.weight[one] * w.cost[one] >= (i64)w.weight[other] * w.cost[other] ? one : other;
}

// Changes of free variables, and by how much they raise the weighted cost.
struct Move {
  Wish wishes[MOST_CHANGES];
  i32 size;
  i64 raised;
};

DEVICE void make_change(Walk& w, const Wish& wish) {
  change(w, wish.var, (bound_t)wish.value);
  carry_on(w);
}

// A change that may satisfy a constraint, of a variable that is none of the first `size` of the move's; it has no
// variable where none was found.
DEVICE Wish draw_change(Walk& w, i32 constraint, const Move& move, i32 size) {
  Wish wish = descend(w, wish_of(w, constraint));
  if (wish.var < 0) return wish;
  if (draw_one_in(w, FRESH_VALUES)) wish.value = draw_value(w, wish.var);
  if (wish.value == w.value[wish.var]) return no_move();
  if (w.rests_until[wish.var] > w.header->steps && !draw_one_in(w, 8)) return no_move();
  for (i32 i = 0; i < size; ++i) {
    if (move.wishes[i].var == wish.var) return no_move();
  }
  return wish;
}

// Tries a move for a constraint: a change, and while things are worse with it another one, for a constraint that it has
// raised (as compound moves of ViolationLS). Puts the best part of it into `best`, if that is better.
DEVICE void try_chain(Walk& w, i32 constraint, Move& best) {
  Move move;
  i64 raised = 0;
  ++w.work;  // also where nothing can be changed
  begin_trial(w);
  for (move.size = 0; move.size < w.manner.chain && raised >= 0 && constraint >= 0;) {
    const Wish wish = draw_change(w, constraint, move, move.size);
    if (wish.var < 0) break;
    move.wishes[move.size++] = wish;
    make_change(w, wish);
    ++w.moves;
    raised = move.raised = measure(w);
    if (raised < best.raised) best = move;
    if (raised >= 0 && move.size < w.manner.chain) constraint = draw_raised(w);
  }
  take_back(w);
}

// The best of some moves for a constraint; of size 0 where none was found.
DEVICE void find_best(Walk& w, i32 constraint, Move& best) {
  best.size = 0;
  best.raised = INT64_MAX;
  for (i32 i = 0; i < w.manner.samples; ++i) {
    try_chain(w, constraint, best);
    if (best.raised < 0 && i >= 3 && draw_one_in(w, 4)) break;
  }
}

// Raises the weights of what is violated, or now and then lowers some.
DEVICE void reweigh(Walk& w, i32 constraint) {
  const bool eases = draw_one_in(w, EASING);
  const u64 draw = next_random(w.random);
  warp_barrier();  // all lanes have read the weights by which they drew the constraint
  if (eases || w.manner.all_violated) {
    for (i32 i = warp_lane(); i < w.n_violated; i += WARP_LANES) {
      i32& weight = w.weight[w.violated[i]];
      if (!eases) ++weight;
      else if (weight > 1 && coin(hash_of(draw, i))) --weight;
    }
  } else if (warp_lane() == 0) {
    ++w.weight[constraint];
  }
  warp_barrier();
}

DEVICE bool takes_move(Walk& w, const Move& move) {
  if (move.size == 0) return false;
  return move.raised < 0 || (move.raised == 0 && draw_one_in(w, 3)) || (i32)draw_number(w, 1024) < w.manner.noise;
}

OUTLINE void take_step(Walk& w) {
  const i32 constraint = draw_violated(w);
  const i64 until = w.header->steps + w.manner.rest + (i64)draw_number(w, LONGEST_REST);
  Move move;
  find_best(w, constraint, move);
  if (takes_move(w, move)) {
    begin_trial(w);
    for (i32 i = 0; i < move.size; ++i) make_change(w, move.wishes[i]);
    keep(w);
    for (i32 i = 0; warp_lane() == 0 && i < move.size; ++i) w.rests_until[move.wishes[i].var] = until;
  } else {
    reweigh(w, constraint);
  }
  if (warp_lane() == 0) {
    WalkHeader& h = *w.header;
    ++h.steps;
    if (w.n_violated < h.least) {
      h.least = w.n_violated;
      h.stale_since = h.steps;
    }
  }
  warp_barrier();
}

DEVICE bool is_stale(const Walk& w) {
  return (w.header->steps - w.header->stale_since) * (w.manner.samples + 1) > STALE_WORK;
}

// Keeps the values of a solution, and aims at better ones.
DEVICE void keep_found(Walk& w) {
  const Problem* p = w.problem;
  for (i32 var = warp_lane(); var < p->n_store_vars; var += WARP_LANES) w.found[var] = w.value[var];
  warp_barrier();
  if (p->sense == 0) return;
  aim(w, p->sense * (i64)w.value[p->objective] - 1);
  follow_aim(w);
  if (warp_lane() == 0) w.header->stale_since = w.header->steps;
  warp_barrier();
}

// Lane 0 of the warp reads the news, for all lanes: whether the walk should end, since the host asks for a stop, the
// search is over, or it was to find a first solution and there is one. Aims at better solutions than others have found.
DEVICE bool look_at_news(Walk& w, bool first) {
  const Common* common = w.problem->common;
  const bool stop = group_first(global_load(&common->stop) || is_search_over(common), WARP_LANES);
  i64 best = global_load(&common->best);
  best = (i64)((u64)group_first((u32)((u64)best >> 32), WARP_LANES) << 32 | group_first((u32)best, WARP_LANES));
  if (stop || w.problem->sense == 0 || best == NO_INCUMBENT) return stop;
  if (best - 1 < aimed_at(w)) {
    aim(w, best - 1);
    follow_aim(w);
  }
  return first;
}

// Walks until `limit` readers were visited. Returns whether `found` has a solution; the first one ends the walk where
// none is known.
DEVICE bool walk_on(Walk& w, i64 limit, bool first) {
  bool found = false;
  for (i64 step = 0; w.work < limit && has_aim(w); ++step) {
    if (step % STEPS_A_LOOK == 0 && look_at_news(w, first)) break;
    if (w.n_violated == 0) {
      keep_found(w);
      found = true;
      if (first || w.problem->sense == 0) break;
    } else if (is_stale(w)) {
      begin_walk(w);
      follow_aim(w);
    } else {
      take_step(w);
    }
  }
  return found;
}

// Before the first walk of a block: nothing is pending, and no trial has touched a constraint.
DEVICE void clear_walk(Walk& w) {
  const Problem* p = w.problem;
  for (i32 i = warp_lane(); i < pending_words(*p); i += WARP_LANES) w.pending[i] = 0;
  for (i32 i = warp_lane(); i < pending_groups(*p); i += WARP_LANES) w.groups[i] = 0;
  forget_trials(w);
}

// Keeps what the block's next task needs.
OUTLINE void end_walk(Walk& w, bool found) {
  for (i32 var = warp_lane(); var < w.problem->n_store_vars; var += WARP_LANES) w.kept[var] = w.value[var];
  if (warp_lane() == 0) {
    assert_whole(w);
    WalkHeader& h = *w.header;
    h.n_violated = w.n_violated;
    h.moves = w.moves;
    h.trial = w.trial;
    h.found = found;
  }
  warp_barrier();
}

// One warp: a task of walking, with its values in `value`, as the header at `memory` says.
OUTLINE void walk_task(const Problem* p, char* memory, bound_t* value) {
  Walk w;
  lay_out(w, p, memory);
  const i64 best = w.header->best;
  w.value = value;
  w.random = {w.header->draw};
  w.work = w.moves = 0;
  aim(w, best == NO_INCUMBENT ? best : best - 1);
  if (w.header->begun) {
    resume_walk(w);
  } else {
    clear_walk(w);
    begin_walk(w);
  }
  follow_aim(w);
  const i32 doublings = w.header->begun ? heads_in_a_row(next_random(w.random), MOST_TASK_DOUBLINGS) : 0;
  end_walk(w, walk_on(w, TASK_WORK << doublings, best == NO_INCUMBENT));
}
