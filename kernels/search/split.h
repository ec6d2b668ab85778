// The tree split ahead, without a look at how much work each part is: embarrassingly parallel search as Turbo does it.
//
// Part i of 2^k is the path from the root that the bits of i give, the highest first: at a choice of two branches a bit
// selects one, at a choice of three two bits do. A block draws the next number, dives, and searches the node that it
// reaches. When a dive fails, the parts of all numbers that begin with the same bits are empty, and are not drawn any
// more. They are also not drawn after a dive with nothing left to choose, whose node belongs to the first of these
// parts. (Régin, Rezgui, Malapert, CP 2013; prefixes are skipped by Turbo since its version for many blocks.) By
// contrast, pool.h splits the tree where a block has nothing to do.
//
// The parts are a partition because all blocks choose alike, whenever they dive. So a dive does not use incumbents,
// root bounds or failures, and its random numbers begin alike; the host ensures that no strategy follows weights, and
// that the variables are integers, whose fixpoint is the same in any order of rows.
#pragma once

#include "../core/profile.h"
#include "../core/random.h"
#include "../core/store.h"
#include "../hybrid/remote.h"
#include "branch.h"
#include "levels.h"
#include "queue.h"
#include "search.h"
#include "task.h"

// The result of a dive.
enum Dive {
  DIVE_PART,     // the part with this number
  DIVE_NOTHING,  // its first bits lead to a failure, or to a node of another part
  DIVE_STOPPED   // the host asks for a stop
};

// Lane 0: draws a number, or waits until the search is over.
DEVICE void draw_part(const Block& b) {
  Common* common = b.problem->common;
  Transfer& s = transfer(b);
  s.ticket = global_add(&common->next_part, (i64)1);
  s.arrived = s.ticket < (i64)1 << b.problem->split_bits && !global_load(&common->stop);
  if (s.arrived) return;
  i64 since = now_ns();
  for (i32 tries = 0; !global_load(&common->stop) && !is_search_over(common); ++tries) pause_briefly(tries);
  statistics(b).idle_ns += now_ns() - since;
}

// Lane 0: counts as done the parts from `number` on that have its first `bits` bits.
DEVICE void skip_parts(const Block& b, i64 number, i32 bits) {
  Common* common = b.problem->common;
  i64 end = (number | (((i64)1 << (b.problem->split_bits - bits)) - 1)) + 1;
  i64 next = global_max(&common->next_part, end);
  i64 not_drawn = next < end ? end - next : 0;
  global_add(&common->skipped_parts, not_drawn + 1);
  fence();
  global_add(&common->outstanding, -(i32)(not_drawn + 1));
}

// Starts from the root store with an empty path, for all blocks alike. Ends with a barrier.
DEVICE void begin_dive(const Block& b) {
  if (lane() == 0) {
    Task& s = task(b);
    s.first_node = statistics(b).nodes++;
    s.best = NO_INCUMBENT;
    s.method = METHOD_TREE;
    s.island = 1;  // no root bounds
    stack(b).path_size = 0;
    choice(b).strategy = FIRST_ANNOTATED;
    choice(b).position = 0;
    seed_random(block_random(b), b.problem->seed, 0);
  }
  barrier();
  restore_root(b);
}

// Lane 0: follows the branch that the bits of `number` behind the first `bits` name. Returns how many bits that takes;
// 0 where there are too few, or no such branch.
DEVICE i32 follow_branch(const Block& b, i64 number, i32 bits) {
  Branches branches = order_branches(b);
  i32 wanted = branches.count - 1, left = b.problem->split_bits - bits;
  if (wanted > left) return 0;
  i32 branch = (i32)(number >> (left - wanted)) & ((1 << wanted) - 1);
  if (branch >= branches.count) return 0;
  Decision d = {branches.lower[branch], branches.upper[branch], choice(b).var};
  extend_path(b, stack(b).path_size, d);
  decide(b, d.var, d.lower, d.upper);
  return wanted;
}

// Whether the bits behind the first `bits` are all 0.
DEVICE bool is_first_part(const Block& b, i64 number, i32 bits) {
  return (number & (((i64)1 << (b.problem->split_bits - bits)) - 1)) == 0;
}

// Follows the bits of `number`; `bits` becomes the number of bits followed.
DEVICE Dive dive(Block& b, i64 number, i32& bits) {
  bits = 0;
  for (;;) {
    bool consistent = reach_fixpoint(b);
    if (propagation(b).stop) return DIVE_STOPPED;
    if (!consistent) return DIVE_NOTHING;
    if (bits == b.problem->split_bits) return DIVE_PART;
    choose_variable(b);
    if (lane() == 0) {
      propagation(b).stop = global_load(&b.problem->common->stop);
      transfer(b).reserved = choice(b).var < 0 ? 0 : follow_branch(b, number, bits);
    }
    barrier();
    i32 taken = transfer(b).reserved;
    barrier();
    if (taken == 0) return is_first_part(b, number, bits) ? DIVE_PART : DIVE_NOTHING;
    bits += taken;
  }
}

// Lane 0: restores what a dive does not use: the incumbent, a random sequence of its own, the proved bound.
DEVICE void end_dive(const Block& b) {
  Task& s = task(b);
  s.island = 0;
  s.best = known_best(b.problem->common);
  seed_random(block_random(b), b.problem->seed, (i32)transfer(b).ticket + 1);
  apply_proved_bound(b);
  bound_objective(b);
}

// Draws parts until a dive reaches one to search. False when the search is over.
DEVICE bool take_part(Block& b) {
  for (;;) {
    turn_to(b, ACTIVITY_WAIT);
    if (lane() == 0) draw_part(b);
    barrier();
    turn_to(b, ACTIVITY_DIVE);
    bool arrived = transfer(b).arrived;
    i64 number = transfer(b).ticket;
    barrier();
    if (!arrived) return false;
    begin_dive(b);
    i32 bits;
    Dive end = dive(b, number, bits);
    barrier();
    if (end == DIVE_STOPPED) return false;
    if (lane() == 0) {
      if (end == DIVE_PART) end_dive(b);
      else skip_parts(b, number, bits);
    }
    barrier();
    if (end == DIVE_PART) return true;
  }
}
