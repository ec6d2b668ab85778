// Depth-first search of one subproblem, with a trail.
//
// Lane 0 owns the state: level, path, alternatives. The first change of a variable at a level appends its old bounds to
// the trail; leaving the level writes them back. A level is a choice point with at least one alternative left: when the
// last one is taken the level is dropped and the decision joins the level below, so the stack is as deep as there are
// left branches, however many values were refuted on the way. Each segment of the trail holds a variable at most once.
//
// When the trail lacks room for one more segment it is forgotten (`trail_base` rises to the current level): what is
// below can then not be undone, but replayed from the root along the path, which is what a subproblem from another
// block needs anyway. So a full trail costs time. Only where the path was not kept either, an alternative is given up,
// and `incomplete` says so.
#pragma once

#include "mailbox.h"

#define OPEN_LEVELS 2   // with fewer, a subproblem is thought small
#define SMALL_NODES 16  // until it has proved larger
#define COUNT_NODES 64  // after so many the host may read what was counted

// What a block does after a fixpoint.
enum Next {
  NODE,       // propagate the decision just made
  REPLAY,     // propagate a path just replayed, to go back to a level below the trail
  FAILED,     // leave the node
  EXHAUSTED,  // nothing is left of the subproblem
  STOPPED     // leave the subproblem as it is: the host says stop, or a limit is spent
};

// Lane 0: the path gains a decision; one on the variable decided last replaces it, within the same level.
DEVICE void extend_path(const Block& b, i32 level_start, Decision d) {
  BlockState* s = b.state;
  i32 capacity = b.problem->path_capacity, size = s->path_size;
  if (size > level_start && size <= capacity && b.path[size - 1].var == d.var) {
    b.path[size - 1] = d;  // alternatives are parts of the interval that the earlier decision left
    return;
  }
  if (size < capacity) b.path[size] = d;
  s->path_size = size + 1;
}

// Lane 0: only solutions better than the incumbent are wanted; in a neighbourhood perhaps much better ones, or worse
// ones.
DEVICE void bound_objective(const Block& b) {
  const Problem* p = b.problem;
  const BlockState* s = b.state;
  if (p->sense == 0 || s->best == NO_INCUMBENT) return;
  i64 most = !s->neighbourhood ? s->best - 1 : s->island ? s->limit : minimum(s->best - 1, s->target);
  if (p->sense > 0) tighten_upper(b, p->objective, (value_t)most);
  else tighten_lower(b, p->objective, (value_t)-most);
}

// Lane 0, at the root: what has been proved of the objective by others.
DEVICE void apply_proved_bound(const Block& b) {
  const Problem* p = b.problem;
  if (p->sense == 0) return;
  i64 bound = global_load(&p->common->bound);
  if (p->sense > 0) tighten_lower(b, p->objective, (value_t)bound);
  else tighten_upper(b, p->objective, (value_t)-bound);
}

// Lane 0: enters a node.
DEVICE void decide(const Block& b, i32 var, bound_t lower, bound_t upper) {
  BlockState* s = b.state;
  s->failed = 0;
  s->last_var = var;
  s->culprit = -1;
  ++s->statistics.nodes;
  restrict_domain(b, var, interval(lower, upper));
  bound_objective(b);
}

// The root store, without any change pending. Ends with a barrier.
DEVICE void restore_root(const Block& b) {
  const Problem* p = b.problem;
  for (i32 v = lane(); v < p->n_vars; v += lanes()) {
    b.lower[v] = p->root_lower[v];
    b.upper[v] = p->root_upper[v];
  }
  for (i32 i = lane(); i < flag_words(p->n_vars); i += lanes()) b.flags[i] = 0;
  clear_queue(b);
  if (lane() == 0) {
    BlockState* s = b.state;
    s->n_changed[0] = s->n_changed[1] = s->n_queue[0] = s->n_queue[1] = 0;
    s->failed = 0;
    s->culprit = -1;
    s->trail_size = s->n_retired = 0;
    s->trailing = 0;
  }
  barrier();
}

// The first `length` decisions of the path, all at once, from the root; the fixpoint is the caller's.
DEVICE void replay_path(const Block& b, i32 length) {
  restore_root(b);
  for (i32 i = lane(); i < length; i += lanes()) {
    Decision d = b.path[i];
    restrict_domain(b, d.var, interval(d.lower, d.upper));
  }
  barrier();  // so that the bound sees what the path says of the objective
  if (lane() == 0) {
    apply_proved_bound(b);
    bound_objective(b);
  }
}

// Forgets the stack: the current store is where the search starts.
DEVICE void start_search(const Block& b, i32 strategy) {
  if (lane() == 0) {
    BlockState* s = b.state;
    s->level = s->base = s->trail_base = 0;
    s->strategy = strategy;
    s->position = 0;
    s->output_position = 0;
    s->keep_level = NO_PLACE;
    trace_root(b);
    level_at(b, 0)->trail_start = 0;
    level_at(b, 0)->retired_start = 0;
    level_at(b, 0)->path_start = 0;
  }
  barrier();
}

// Writes back the bounds that the segment of the current level holds, and brings back its retired rows. Ends with a
// barrier.
DEVICE void undo_segment(const Block& b, const Level* level) {
  for (i32 i = level->trail_start + lane(); i < b.state->trail_size; i += lanes()) {
    TrailEntry entry = b.trail[i];
    b.lower[entry.var] = entry.lower;
    b.upper[entry.var] = entry.upper;
    block_and(flag_word(b, entry.var), ~(FLAG_SAVED << flag_shift(entry.var)));
  }
  for (i32 i = level->retired_start + lane(); i < b.state->n_retired; i += lanes()) {
    i32 row = b.retired[i];
    u32 bit = 1u << (row & 31);
    block_and(&b.entailed[row >> 5], ~bit);
    block_and(&b.queued[row >> 5], ~bit);
  }
  barrier();
}

// A segment is the current one again (set) or no more (clear): says so in the flags of its variables. Ends with a
// barrier.
DEVICE void mark_segment(const Block& b, i32 start, i32 end, bool current) {
  for (i32 i = start + lane(); i < end; i += lanes()) {
    i32 var = b.trail[i].var;
    u32 bit = FLAG_SAVED << flag_shift(var);
    if (current) block_or(flag_word(b, var), bit);
    else block_and(flag_word(b, var), ~bit);
  }
  barrier();
}

#define RANDOM_SIZE 65536  // in larger domains a random value means little

// What VALUE_PHASE tries first.
enum ValueMode {
  MODE_MIXED,  // every other time the incumbent's value, else one at random or an end of the interval
  MODE_SAVED,  // mostly the value last tried in any block (phase saving: Pipatsrisawat and Darwiche, SAT 2007)
  MODE_LOWER,
  MODE_UPPER,
  MODE_FRESH  // one at random or an end of the interval
};

DEVICE bound_t preferred_value(const Block& b, i32 var) {
  BlockState* s = b.state;
  if (s->value_choice == VALUE_HINT) return b.problem->hints[s->position];
  u64 draw = next_random(s);
  bool saved = s->value_mode == MODE_SAVED ? draw >> 61 != 0 : s->value_mode == MODE_MIXED && draw >> 63;
  if (saved && s->value_mode == MODE_MIXED && has_incumbent(b.problem)) {
    return global_load(&island_values(b.problem, s->source)[var]);
  }
  if (saved && b.problem->lns_percent) return global_load(&b.problem->phases[var]);
  if (s->value_mode == MODE_LOWER) return b.lower[var];
  if (s->value_mode == MODE_UPPER) return b.upper[var];
  i64 size = interval_size(b.lower[var], b.upper[var]);
  if (draw >> 59 & 1 && size < RANDOM_SIZE) return (bound_t)(b.lower[var] + (bound_t)(draw % (u64)(size + 1)));
  return draw >> 60 & 1 ? b.lower[var] : b.upper[var];
}

// Lane 0: restarts try the last branch first now and then, or they would all be the same.
DEVICE void flip_branches(BlockState* s, Branches* branches) {
  if (s->flips == 0 || (i32)(next_random(s) >> 54) >= s->flips) return;
  i32 last = branches->count - 1;
  bound_t lower = branches->lower[0], upper = branches->upper[0];
  branches->lower[0] = branches->lower[last];
  branches->upper[0] = branches->upper[last];
  branches->lower[last] = lower;
  branches->upper[last] = upper;
}

// Lane 0.
DEVICE void save_phase(const Block& b, Decision d) {
  if (b.state->neighbourhood && d.lower == d.upper) global_store(&b.problem->phases[d.var], d.lower);
}

// How far the search for variables had come.
struct Place { i32 strategy, position; };

// Branches on state->var: a new level, whose first branch is entered. False when the stack is full.
DEVICE bool push_level(const Block& b, Place before) {
  BlockState* s = b.state;
  const Problem* p = b.problem;
  i32 level = s->level;
  if (level - s->base + 2 > p->level_capacity) return false;
  mark_segment(b, level_at(b, level)->trail_start, s->trail_size, false);
  if (lane() == 0) {
    if (level == s->trail_base || s->trail_size + p->n_vars > p->trail_capacity) {
      s->trail_base = level;
      s->trail_size = s->n_retired = 0;
      level_at(b, level)->trail_start = level_at(b, level)->retired_start = 0;
    }
    i32 var = s->var;
    bound_t phase = s->value_choice >= VALUE_PHASE ? preferred_value(b, var) : 0;
    Branches branches = split_interval(s, s->value_choice, b.lower[var], b.upper[var], phase);
    flip_branches(s, &branches);
    Level* top = level_at(b, level + 1);
    top->var = var;
    top->pending = branches.count - 1;
    for (i32 i = 1; i < branches.count; ++i) {
      top->lower[branches.count - 1 - i] = branches.lower[i];
      top->upper[branches.count - 1 - i] = branches.upper[i];
    }
    top->trail_start = s->trail_size;
    top->retired_start = s->n_retired;
    top->path_start = s->path_size;
    top->strategy = before.strategy;
    top->position = before.position;
    top->output_position = s->output_position;
    s->level = level + 1;
    s->trailing = 1;
    if (s->level - s->base > s->statistics.peak_level) s->statistics.peak_level = s->level - s->base;
    Decision first = {branches.lower[0], branches.upper[0], var};
    save_phase(b, first);
    trace_branch(b, level + 1, branches.count, first);
    extend_path(b, s->path_size, first);
    decide(b, var, branches.lower[0], branches.upper[0]);
  }
  return true;
}

// Lane 0: enters the next alternative of the current level, whose segment has been undone.
DEVICE void take_alternative(const Block& b) {
  BlockState* s = b.state;
  Level* top = level_at(b, s->level);
  i32 place = --top->pending;
  s->keep_level = NO_PLACE;
  Decision d = {top->lower[place], top->upper[place], top->var};
  trace_alternative(b, s->level, place, d);
  s->strategy = top->strategy;
  s->position = top->position;
  s->output_position = top->output_position;
  s->path_size = top->path_start;
  s->trail_size = top->trail_start;
  s->n_retired = top->retired_start;
  if (place == 0) --s->level;
  s->trailing = s->level > s->trail_base;
  i32 level_start = place == 0 ? (s->level > s->base ? level_at(b, s->level)->path_start : 0) : top->path_start;
  extend_path(b, level_start, d);
  decide(b, d.var, d.lower, d.upper);
}

// Begins to rebuild the store of the level below, which the trail does not reach. False when the path was not kept.
DEVICE bool begin_replay(const Block& b, i32 level) {
  BlockState* s = b.state;
  i32 length = level_at(b, level)->path_start;
  bool fixed_apart = s->neighbourhood && s->method < FIRST_RESTART;  // by the neighbourhood, not along the path
  bool known = length <= b.problem->path_capacity && !fixed_apart;
  if (known) replay_path(b, length);
  barrier();
  if (lane() == 0) {
    if (!known) {
      give_up(b);
      s->level = level - 1;
    }
    ++s->statistics.replays;
    s->trail_base = level - 1;
    for (i32 i = level - 1; i <= level; ++i) level_at(b, i)->trail_start = level_at(b, i)->retired_start = 0;
    s->trail_size = s->n_retired = 0;
  }
  barrier();
  return known;
}

// The rebuilt store is at its fixpoint: enters the alternative, unless a better incumbent has made an end of the level.
DEVICE Next end_replay(const Block& b, bool consistent) {
  if (lane() == 0) {
    if (consistent) {
      take_alternative(b);
    } else {
      trace_skip(b, b.state->level);
      --b.state->level;
    }
  }
  barrier();
  return consistent ? NODE : FAILED;
}

// Leaves the current level for good, without trying its alternatives. Ends with a barrier.
DEVICE void drop_level(const Block& b, i32 level) {
  BlockState* s = b.state;
  const Level* top = level_at(b, level);
  if (level > s->trail_base) undo_segment(b, top);
  barrier();
  if (lane() == 0) {
    if (level > s->trail_base) {
      s->trail_size = top->trail_start;
      s->n_retired = top->retired_start;
    } else {
      s->trail_base = level - 1;
    }
    trace_skip(b, level);
    s->level = level - 1;
  }
  barrier();
}

// Lane 0, after a solution: the levels that were chosen when all output variables were fixed only lead to the same
// output.
DEVICE void keep_output_levels(const Block& b) {
  BlockState* s = b.state;
  i32 level = s->level;
  while (level > s->base && level_at(b, level)->output_position == NO_PLACE) --level;
  s->keep_level = level;
}

// Leaves a failed node for the next open alternative.
DEVICE Next backtrack(const Block& b) {
  BlockState* s = b.state;
  for (;;) {
    i32 level = s->level, below = level - 1;
    if (level == s->base) return EXHAUSTED;
    if (level > s->keep_level) {
      drop_level(b, level);
      continue;
    }
    if (level > s->trail_base) {
      undo_segment(b, level_at(b, level));
      if (level_at(b, level)->pending == 1 && below > s->trail_base) {
        mark_segment(b, level_at(b, below)->trail_start, level_at(b, level)->trail_start, true);
      }
      barrier();
      if (lane() == 0) take_alternative(b);
      return NODE;
    }
    if (begin_replay(b, level)) return REPLAY;
  }
}

// Lane 0: whether handing over a part of the subproblem is worth it: a young one with few open levels is likely to be
// searched before another block has replayed its path.
DEVICE bool is_worth_sharing(const BlockState* s) {
  return s->level - s->base >= OPEN_LEVELS || s->statistics.nodes - s->first_node >= SMALL_NODES;
}

// Lane 0 reads what other blocks and the host have to say, once a node.
DEVICE void poll(const Block& b) {
  BlockState* s = b.state;
  const Common* common = b.problem->common;
  if (lane() == 0) {
    i32 stop = global_load(&common->stop);
    s->best = global_load(&common->best);
    bool has_first = s->early && s->best != NO_INCUMBENT;
    bool over = global_load(&common->bound) >= s->best || (s->neighbourhood && global_load(&common->outstanding) == 0);
    s->stop = stop || has_first || over;
    s->donate = !s->neighbourhood && is_worth_sharing(s) && is_pool_low(b);
    if (s->statistics.nodes % COUNT_NODES == 0) b.problem->statistics[b.index] = s->statistics;
  }
  barrier();
}

// Lane 0: whether a neighbourhood has had its share of failures, or, after a few of them, of work.
DEVICE bool is_spent(BlockState* s) {
  --s->failures_left;
  return s->failures_left < 0 || (s->failures_left < s->failures_sure && s->statistics.propagations > s->runs_limit);
}

// A billion failures of one variable are said clearly enough; many blocks may still add to it at once.
DEVICE void add_weight(i32* weight) {
  if (global_load(weight) < 1 << 30) global_add(weight, 1);
}

DEVICE void charge_owner(const Block& b, i32 var) {
  i32 owner = load_constant(&b.problem->owners[var]);
  if (owner >= 0) add_weight(&b.problem->weights[owner]);
}

// Lane 0: who is to blame for a failure. Where the tree follows the model's failure weights, the variable decided last,
// so that one block searches the same tree on every engine. Else the decision variables nearest to the row that failed:
// the rows' own variables are mostly introduced ones, which nobody branches on. Neither is better everywhere
// (docs/search.md), so where blocks are few each task draws one of both.
DEVICE void charge_failure(const Block& b) {
  const BlockState* s = b.state;
  bool by_row = s->neighbourhood && (MANY_BLOCKS || s->noise >> 63);
  if (by_row && s->culprit >= 0) {
    Row r = load_constant(&b.problem->rows[s->culprit]);
    charge_owner(b, r.x);
    charge_owner(b, r.y);
    if (r.op != OP_ELEMENT) charge_owner(b, r.z);
  } else if (s->last_var >= 0) {
    add_weight(&b.problem->weights[s->last_var]);
  }
}

// A failure: counted, and charged. True when the limit of a neighbourhood is spent.
DEVICE bool note_failure(const Block& b) {
  BlockState* s = b.state;
  if (lane() == 0) {
    ++s->statistics.failures;
    if (s->conflict_var >= -1) s->conflict_var = s->last_var;
    if (b.problem->use_weights) charge_failure(b);
    s->granted = s->neighbourhood && is_spent(s);
  }
  barrier();
  bool spent = s->granted;
  barrier();
  return spent;
}

// Brings state->output_position up to date: NO_PLACE when all output variables are fixed. Ends with a barrier.
DEVICE void find_unfixed_output(const Block& b) {
  BlockState* s = b.state;
  i32 from = s->output_position;
  barrier();
  i32 place = first_unfixed(b, b.problem->outputs, from);
  if (lane() == 0) s->output_position = place;
  barrier();
}

// The store is at its fixpoint, or inconsistent: what comes next.
DEVICE Next visit_node(const Block& b, bool consistent) {
  BlockState* s = b.state;
  poll(b);
  if (s->stop) return STOPPED;
  if (!consistent) {
    if (lane() == 0) trace_leaf(b, TRACE_FAILED);
    return note_failure(b) ? STOPPED : FAILED;
  }
  Place before = {s->strategy, s->position};
  barrier();
  choose_variable(b);
  if (s->var < 0) {
    enter_phase(b, PHASE_SOLUTION);
    publish_solution(b);
    if (lane() == 0) trace_leaf(b, TRACE_SOLVED);
    if (s->neighbourhood && s->island != 0) return STOPPED;  // the island's next neighbourhood starts from there
    if (lane() == 0) s->target = NO_INCUMBENT;
    poll(b);
    if (b.problem->project && lane() == 0) keep_output_levels(b);
    barrier();
    return FAILED;
  }
  if (b.problem->project) find_unfixed_output(b);
  if (s->donate && s->level > s->base) donate_alternative(b);
  if (push_level(b, before)) return NODE;
  // The stack is full: make room at its base, where a level may have two alternatives.
  while (!s->neighbourhood && donate_alternative(b)) {
    if (push_level(b, before)) return NODE;
  }
  if (lane() == 0) give_up(b);
  return FAILED;
}
