// Depth-first search of one subproblem: the steps that follow a node.
//
// Lane 0 owns the state: it branches, takes alternatives and backtracks; all lanes divide the work on trail and path.
// The stack is that of levels.h.
#pragma once

#include "../core/assert.h"
#include "../core/profile.h"
#include "../core/random.h"
#include "../core/store.h"
#include "../core/sums.h"
#include "branch.h"
#include "levels.h"
#include "mailbox.h"
#include "others.h"
#include "parcels.h"
#include "pool.h"
#include "queue.h"
#include "recompute.h"
#include "task.h"
#include "trace.h"
#include "tuning.h"
#include "values.h"
#ifdef FLOATS
#include "../floats/decided.h"
#endif

// The next step of a block after a fixpoint.
enum Next {
  NODE,       // propagate the decision just made
  REPLAY,     // propagate a path just replayed, to go back to a level below the trail
  FAILED,     // leave the node
  EXHAUSTED,  // nothing is left of the subproblem
  STOPPED     // leave the subproblem as it is: the host asks for a stop, or the task is over or its limits are spent
};

// Forgets the stack: the current store is where the search starts.
DEVICE void start_search(const Block& b, i32 strategy) {
  if (lane() == 0) {
    Stack& s = stack(b);
    s.level = s.base = s.trail_base = 0;
    s.output_position = 0;
    s.keep_level = NO_PLACE;
    choice(b).strategy = strategy;
    choice(b).position = 0;
    trace_root(b);
    level_at(b, 0)->trail_start = 0;
    level_at(b, 0)->retired_start = 0;
    level_at(b, 0)->path_start = 0;
  }
  barrier();
}

// A position in the search for unfixed variables.
struct Place { i32 strategy, position; };

// Lane 0: forgets the trail, so that levels are undone by a replay.
DEVICE void drop_trail(const Block& b) {
  Propagation& now = propagation(b);
  stack(b).trail_base = stack(b).level;
  now.trail_size = now.n_retired = now.trailing = 0;
}

// Lane 0: forgets the trail where it may lack room for one more segment; the levels below are replayed.
DEVICE void make_room_on_trail(const Block& b) {
  Stack& s = stack(b);
  Propagation& now = propagation(b);
  if (RECOMPUTES(b)) return;
  if (s.level > s.trail_base && now.trail_size + store_vars(*b.problem) <= b.problem->trail_capacity) return;
  s.trail_base = s.level;
  now.trail_size = now.n_retired = 0;
  level_at(b, s.level)->trail_start = level_at(b, s.level)->retired_start = 0;
}

// Lane 0: the branches of the chosen variable, in the order in which they are tried.
DEVICE Branches order_branches(const Block& b) {
  i32 var = choice(b).var, value_choice = choice(b).value_choice;
  bound_t phase = value_choice >= VALUE_PHASE ? preferred_value(b, var) : 0;
#ifdef FLOATS
  Branches branches = is_float(b, var) ? split_float(b, value_choice, lower_of(b, var), upper_of(b, var), phase)
                                       : split_interval(b, value_choice, lower_of(b, var), upper_of(b, var), phase);
#else
  Branches branches = split_interval(b, value_choice, lower_of(b, var), upper_of(b, var), phase);
#endif
  flip_branches(b, &branches);
  return branches;
}

// Lane 0: writes a new level. All branches but the first are its alternatives.
DEVICE void fill_level(const Block& b, Level* top, const Branches& branches, Place before) {
  top->var = choice(b).var;
  top->pending = branches.count - 1;
  for (i32 i = 1; i < branches.count; ++i) {
    top->lower[branches.count - 1 - i] = branches.lower[i];
    top->upper[branches.count - 1 - i] = branches.upper[i];
  }
  top->trail_start = propagation(b).trail_size;
  top->retired_start = propagation(b).n_retired;
  top->path_start = stack(b).path_size;
  top->strategy = before.strategy;
  top->position = before.position;
  top->output_position = stack(b).output_position;
}

// Branches on the chosen variable: a new level, whose first branch is entered. False when the stack is full.
DEVICE bool push_level(const Block& b, Place before) {
  Stack& s = stack(b);
  i32 level = s.level;
  if (level - s.base + 2 > b.problem->level_capacity) return false;
  mark_segment(b, level_at(b, level)->trail_start, propagation(b).trail_size, false);
  if (lane() == 0) {
    make_room_on_trail(b);
    Branches branches = order_branches(b);
    fill_level(b, level_at(b, level + 1), branches, before);
    s.level = level + 1;
    propagation(b).trailing = 1;
    if (RECOMPUTES(b)) drop_trail(b);
    if (s.level - s.base > statistics(b).peak_level) statistics(b).peak_level = s.level - s.base;
    Decision first = {branches.lower[0], branches.upper[0], choice(b).var};
    save_phase(b, first);
    trace_branch(b, level + 1, branches.count, first);
    extend_path(b, s.path_size, first);
    assert_order(b);
    decide(b, first.var, first.lower, first.upper);
  }
  return true;
}

// Lane 0: enters the next alternative of the current level, whose segment has been undone.
DEVICE void take_alternative(const Block& b) {
  Stack& s = stack(b);
  Propagation& now = propagation(b);
  Level* top = level_at(b, s.level);
  i32 place = --top->pending;
  ASSERT(s.level > s.base && (place == 0 || place == 1));
  s.keep_level = NO_PLACE;
  Decision d = {top->lower[place], top->upper[place], top->var};
  trace_alternative(b, s.level, place, d);
  choice(b).strategy = top->strategy;
  choice(b).position = top->position;
  s.output_position = top->output_position;
  s.path_size = top->path_start;
  now.trail_size = top->trail_start;
  now.n_retired = top->retired_start;
  if (place == 0) --s.level;
  if (RECOMPUTES(b)) drop_trail(b);
  now.trailing = s.level > s.trail_base;
  i32 level_start = place == 0 ? (s.level > s.base ? level_at(b, s.level)->path_start : 0) : top->path_start;
  extend_path(b, level_start, d);
  assert_order(b);
  decide(b, d.var, d.lower, d.upper);
}

// Begins to rebuild the store of the level below, which the trail does not reach. False when the path was not kept.
DEVICE bool begin_replay(const Block& b, i32 level) {
  Stack& s = stack(b);
  i32 length = level_at(b, level)->path_start;
  bool fixed_apart = IS_FIXED_APART(b);
  bool known = length <= b.problem->path_capacity && !fixed_apart;
  if (known) replay_path(b, length);
  barrier();
  if (lane() == 0) {
    if (!known) {
      give_up(b);
      s.level = level - 1;
    }
    ++statistics(b).replays;
    s.trail_base = level - 1;
    for (i32 i = level - 1; i <= level; ++i) level_at(b, i)->trail_start = level_at(b, i)->retired_start = 0;
    propagation(b).trail_size = propagation(b).n_retired = 0;
  }
  barrier();
  return known;
}

// Enters the alternative from the rebuilt store, unless a better incumbent has made that inconsistent.
DEVICE Next end_replay(const Block& b, bool consistent) {
  if (lane() == 0) {
    if (consistent) {
      take_alternative(b);
    } else {
      trace_skip(b, stack(b).level);
      --stack(b).level;
    }
  }
  barrier();
  return consistent ? NODE : FAILED;
}

// Leaves the current level for good, without trying its alternatives. Ends with a barrier.
DEVICE void drop_level(const Block& b, i32 level) {
  Stack& s = stack(b);
  const Level* top = level_at(b, level);
  if (level > s.trail_base) undo_segment(b, top);
  barrier();
  if (lane() == 0) {
    if (level > s.trail_base) {
      propagation(b).trail_size = top->trail_start;
      propagation(b).n_retired = top->retired_start;
    } else {
      s.trail_base = level - 1;
    }
    trace_skip(b, level);
    s.level = level - 1;
  }
  barrier();
}

// Lane 0, after a solution: the levels that were chosen when all output variables were fixed only lead to the same
// output.
DEVICE void keep_output_levels(const Block& b) {
  Stack& s = stack(b);
  i32 level = s.level;
  while (level > s.base && level_at(b, level)->output_position == NO_PLACE) --level;
  s.keep_level = level;
}

// Leaves a failed node for the next open alternative.
DEVICE Next backtrack(const Block& b) {
  Stack& s = stack(b);
  for (;;) {
    i32 level = s.level, below = level - 1;
    if (level == s.base) return EXHAUSTED;
    if (level > s.keep_level) {
      drop_level(b, level);
      continue;
    }
    if (level > s.trail_base) {
      undo_segment(b, level_at(b, level));
      if (level_at(b, level)->pending == 1 && below > s.trail_base) {
        mark_segment(b, level_at(b, below)->trail_start, level_at(b, level)->trail_start, true);
      }
      barrier();
      if (lane() == 0) take_alternative(b);
      return NODE;
    }
    if (begin_replay(b, level)) return REPLAY;
  }
}

// Lane 0: whether it pays to give away a part of the subproblem: a young one with few open levels is likely to be
// searched before another block has replayed its path.
DEVICE bool is_worth_sharing(const Block& b) {
  return stack(b).level - stack(b).base >= OPEN_LEVELS || statistics(b).nodes - task(b).first_node >= SMALL_NODES;
}

// Reads the news of other blocks and the host, once a node. Ends with a barrier.
DEVICE void poll(const Block& b) {
  if (lane() == 0) {
    look_around(b);
    transfer(b).donate = !STATIC_SPLIT && !claim(b).limited && is_worth_sharing(b) ? who_wants(b) : UNWANTED;
    tell_counts(b);
  }
  barrier();
}

// Adds 1, up to 2^30: below that there is room for many blocks that add at once.
DEVICE void add_weight(i32* weight) {
  if (global_load(weight) < 1 << 30) global_add(weight, 1);
}

DEVICE void charge_owner(const Block& b, i32 var) {
  i32 owner = load_constant(&b.problem->owners[var]);
  if (owner >= 0) add_weight(&b.problem->weights[owner]);
}

// Lane 0: charges the decision variables near a row that has failed.
DEVICE void charge_row(const Block& b, i32 row) {
  const Problem* p = b.problem;
  if (is_sum(p, row)) {
    Linear sum = sum_at(p, row);
    for (i32 i = sum.start; i < sum.end; ++i) charge_owner(b, load_constant(&p->sum_terms[i]).side >> 1);
    if (has_truth(sum)) charge_owner(b, sum.truth);
    return;
  }
  Row r = load_constant(&p->rows[row]);
  charge_owner(b, r.x);
  charge_owner(b, r.y);
  if (r.op != OP_ELEMENT) charge_owner(b, r.z);
}

// Lane 0: charges a failure to variables. Where the tree follows the model's failure weights, to the variable decided
// last, so that one block searches the same tree on every engine. Else to the decision variables nearest to the row
// that failed: the row's own variables are mostly introduced ones, on which no method branches. Neither is better
// everywhere (docs/measurements/free-search.md), so where blocks are few each task draws one of both.
DEVICE void charge_failure(const Block& b) {
  i32 culprit = propagation(b).culprit, last_var = stack(b).last_var;
  bool by_row = claim(b).limited && (MANY_BLOCKS || coin(choice(b).noise));
  if (by_row && culprit >= 0) {
    charge_row(b, culprit);
  } else if (last_var >= 0) {
    add_weight(&b.problem->weights[last_var]);
  }
}

// Counts a failure, and charges it. True when the limits of the task are spent.
DEVICE bool note_failure(const Block& b) {
  Task& s = task(b);
  if (lane() == 0) {
    ++statistics(b).failures;
    if (choice(b).conflict_var != NOT_KEPT) choice(b).conflict_var = stack(b).last_var;
    if (b.problem->use_weights) charge_failure(b);
    s.spent = claim(b).limited && is_spent(b);
  }
  barrier();
  bool spent = s.spent;
  barrier();
  return spent;
}

// Brings stack(b).output_position up to date: NO_PLACE when all output variables are fixed. Ends with a barrier.
DEVICE void find_unfixed_output(const Block& b) {
  Stack& s = stack(b);
  i32 from = s.output_position;
  barrier();
  i32 place = first_unfixed(b, b.problem->outputs, from);
  if (lane() == 0) s.output_position = place;
  barrier();
}

// Publishes the solution in which all variables are fixed, and returns the next step.
OUTLINE Next leave_solution(const Block b) {
  turn_to(b, ACTIVITY_SOLUTION);
  define_others(b);
  publish_solution(b);
  if (lane() == 0) trace_leaf(b, TRACE_SOLVED);
  if (claim(b).limited && task(b).island != 0) return STOPPED;  // the island's next neighbourhood starts from there
  if (lane() == 0) task(b).target = NO_INCUMBENT;
  poll(b);
  if (b.problem->project && lane() == 0) keep_output_levels(b);
  barrier();
  return FAILED;
}

// The next step, with the store at its fixpoint or inconsistent.
DEVICE Next visit_node(const Block& b, bool consistent) {
  poll(b);
  if (propagation(b).stop || task(b).over) return STOPPED;
  if (!consistent) {
    if (lane() == 0) trace_leaf(b, TRACE_FAILED);
    return note_failure(b) ? STOPPED : FAILED;
  }
  Place before = {choice(b).strategy, choice(b).position};
  barrier();
  choose_variable(b);
  if (choice(b).var < 0) return leave_solution(b);
  if (b.problem->project) find_unfixed_output(b);
  if (transfer(b).donate && stack(b).level > stack(b).base) donate_alternative(b);
  if (push_level(b, before)) return NODE;
  // The stack is full: make room at its base, where a level may have two alternatives.
  if (lane() == 0) transfer(b).donate = WANTED_HERE;
  while (!STATIC_SPLIT && !claim(b).limited && donate_alternative(b)) {
    if (push_level(b, before)) return NODE;
  }
  if (lane() == 0) give_up(b);
  return FAILED;
}
