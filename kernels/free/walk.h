// Random walks over the constraint graph, to find variables that belong together.
//
// A walk goes from a variable to a row that watches it, and on to another variable of that row; it marks the variables
// that it visits as free. Each lane walks by itself. The objective's walks first descend from the objective to its
// operands, at each row more likely to the one that holds it further from its best bound.
#pragma once

#include "../core/random.h"
#include "../core/store.h"
#include "../core/sums.h"
#include "../search/incumbent.h"
#include "tuning.h"

DEVICE void mark_free(const Block& b, i32 var) { block_or(flag_word(b, var), FLAG_FREE << flag_shift(var)); }
DEVICE bool is_marked_free(const Block& b, i32 var) { return *flag_word(b, var) >> flag_shift(var) & FLAG_FREE; }

// A row that watches `var`, drawn at random; -1 when there is none.
DEVICE i32 draw_row(const Block& b, i32 var, u64 draw) {
  Watch w = load_constant(&b.problem->store_watches[var]);
  i32 degree = w.end - w.start;
  return degree == 0 ? -1 : load_constant(&b.problem->store_watchers[w.start + (i32)below(draw, (u64)degree)]);
}

// Whether a walk goes back to its start: now and then, and mostly from a hub.
DEVICE bool turns_back(u64 draw, i32 degree) {
  if (degree == 0 || below(draw, RETURN_ODDS) == 0) return true;
  return degree > HUB_DEGREE && below(draw, (u64)degree, 8) >= HUB_DEGREE;
}

// The sides of a sum: those of its terms, and that of its truth, which falls where the sum grows.
DEVICE i32 count_sides(const Linear& r) { return r.end - r.start + has_truth(r); }
DEVICE i32 side_of_sum(const Problem* p, const Linear& r, i32 i) {
  return r.start + i < r.end ? load_constant(&p->sum_terms[r.start + i]).side : 2 * r.truth;
}

// Draws one of the row's variables.
DEVICE i32 draw_variable(const Block& b, u64 draw, i32 index) {
  const Problem* p = b.problem;
  if (is_sum(p, index)) {
    Linear sum = sum_at(p, index);
    return side_of_sum(p, sum, (i32)below(draw, (u64)count_sides(sum), 32)) >> 1;
  }
  Row row = load_constant(&p->rows[index]);
  i32 place = high_bits(draw, 4) % (row.op == OP_ELEMENT ? 2 : 3);
  return place == 0 ? row.x : place == 1 ? row.y : row.z;
}

// Walks `steps` steps from `start`, and marks the variables visited as free.
DEVICE void walk(const Block& b, LaneRandom& random, i32 start, i32 steps) {
  i32 var = start;
  mark_free(b, start);
  for (i32 step = 0; step < steps; ++step) {
    u64 draw = next_random(random);
    Watch w = load_constant(&b.problem->store_watches[var]);
    i32 degree = w.end - w.start;
    if (turns_back(draw, degree) && var != start) {
      var = start;
      continue;
    }
    if (degree == 0) return;
    i32 index = load_constant(&b.problem->store_watchers[w.start + (i32)below(draw, (u64)degree, 16)]);
    i32 next = draw_variable(b, draw, index);
    if (is_fixed(b, next)) continue;
    var = next;
    mark_free(b, var);
  }
}

// How far the incumbent's value of `var` lies from the bound that is best for the objective; `sign` > 0 when less is
// better, < 0 when more, 0 when unknown.
DEVICE double gap_to_best(const Block& b, i32 var, i32 sign) {
  bound_t value = global_load(&island_values(b.problem, island_access(b).source)[var]);
  if (sign > 0) return (double)value - (double)lower_of(b, var);
  if (sign < 0) return (double)upper_of(b, var) - (double)value;
  return 1;
}

DEVICE i32 sign_of(const Block& b, i32 var) { return lower_of(b, var) > 0 ? 1 : upper_of(b, var) < 0 ? -1 : 0; }

// The direction in which `other` should move when `var`, another variable of the row, should move in direction `sign`.
DEVICE i32 sign_across(const Block& b, Row row, i32 var, i32 other, i32 sign) {
  switch (row.op) {
    case OP_ADD: return var != row.x && other != row.x ? -sign : sign;
    case OP_MUL: {
      if (var != row.x && other != row.x) return 0;
      i32 factor = var == row.x ? (other == row.y ? row.z : row.y) : (var == row.y ? row.z : row.y);
      return sign * sign_of(b, factor);
    }
    case OP_MIN:
    case OP_MAX: return sign;
    default: return 0;
  }
}

// A step of a descent: a variable, or -1, and the direction in which it should move.
struct Step { i32 var, sign; };

// How likely a descent goes on to a variable.
DEVICE double weight_of(const Block& b, Step s) {
  return is_fixed(b, s.var) ? 0 : gap_to_best(b, s.var, s.sign) + 0.01;
}

// From `var` to another variable of a ternary row.
DEVICE Step ternary_step(const Block& b, LaneRandom& random, i32 index, i32 var, i32 sign) {
  Row row = load_constant(&b.problem->rows[index]);
  i32 one = var == row.x ? row.y : row.x;
  i32 other = row.op == OP_ELEMENT ? one : var == row.z ? row.y : row.z;
  Step first = {one, sign_across(b, row, var, one, sign)}, second = {other, sign_across(b, row, var, other, sign)};
  double first_weight = weight_of(b, first), second_weight = weight_of(b, second);
  if (first_weight == 0 && second_weight == 0) return {-1, 0};
  return fine_fraction(next_random(random)) * (first_weight + second_weight) < first_weight ? first : second;
}

// From `var` to another variable of a sum: of all of them, as it would be in a tree of ternary rows. Of sides that grow
// together one falls where the other rises.
DEVICE Step sum_step(const Block& b, LaneRandom& random, i32 index, i32 var, i32 sign) {
  const Problem* p = b.problem;
  const Linear r = sum_at(p, index);
  i32 n = count_sides(r), own = 0;
  for (i32 i = 0; i < n; ++i) {
    i32 side = side_of_sum(p, r, i);
    if (side >> 1 == var) own = side;
  }
  Step chosen = {-1, 0};
  double all = 0;
  for (i32 i = 0; i < n; ++i) {
    i32 side = side_of_sum(p, r, i);
    if (side >> 1 == var) continue;
    Step step = {side >> 1, (side & 1) == (own & 1) ? -sign : sign};
    double weight = weight_of(b, step);
    all += weight;
    if (fine_fraction(next_random(random)) * all < weight) chosen = step;
  }
  return chosen;
}

// Walks from the objective down to a variable that no row defines further. Returns the last variable.
DEVICE i32 descend(const Block& b, LaneRandom& random) {
  const Problem* p = b.problem;
  i32 var = p->objective, sign = p->sense, came_by = -1;
  for (i32 depth = 0; depth < DEEPEST_DESCENT; ++depth) {
    i32 index = draw_row(b, var, next_random(random));
    if (index < 0 || index == came_by) {
      if (index < 0 || below(next_random(random), 4) == 0) break;
      continue;
    }
    Step next = is_sum(p, index) ? sum_step(b, random, index, var, sign) : ternary_step(b, random, index, var, sign);
    if (next.var < 0) break;
    var = next.var;
    sign = next.sign;
    came_by = index;
    mark_free(b, var);
  }
  return var;
}

// Marks about as many variables as `steps` of all lanes together visit, around one decision variable.
DEVICE void free_by_graph(const Block& b, u64 draw, i64 steps) {
  const Problem* p = b.problem;
  i32 start = p->neighbours[below(draw, (u64)p->n_neighbours)];
  LaneRandom random = lane_random(draw);
  walk(b, random, start, (i32)(steps / lanes()) + 1);
}

// Marks about as many variables as `steps` of all lanes together visit, around variables that hold the objective back.
DEVICE void free_by_objective(const Block& b, u64 draw, i64 steps) {
  LaneRandom random = lane_random(draw);
  for (i64 done = 0; done < steps; done += (i64)lanes() * 2 * STEPS_A_DESCENT) {
    if (done + (i64)lane() * 2 * STEPS_A_DESCENT >= steps && done) break;
    walk(b, random, descend(b, random), STEPS_A_DESCENT);
  }
}
