// From a violated constraint down to a move: the change of one free variable that may satisfy it.
//
// A wish is a value for a variable. A wish for a defined variable becomes one for an operand of its definition, drawn
// at random among those that can grant it, with the value that the operand would need (path selection with inverse
// values: Niemetz, Preiner, Biere, Propagation based local search for bit-precise reasoning, 2017). At the end stands
// a free variable.
#pragma once

#include "../core/interval.h"
#include "../core/store.h"
#include "../core/sums.h"
#include "state.h"
#include "tuning.h"
#include "violation.h"

struct Wish { i32 var; i64 value; };
DEVICE Wish no_move() { return {-1, 0}; }

DEVICE i64 draw_between(Walk& w, i64 low, i64 high) {
  return low >= high ? low : low + (i64)draw_number(w, (u64)(high - low) + 1);
}

// A random value of a variable's domain.
DEVICE i64 draw_value(Walk& w, i32 var) { return draw_between(w, least_of(w, var), most_of(w, var)); }

// n / d, rounded away from 0.
DEVICE i64 divide_away(i64 n, i64 d) {
  const i64 q = n / d;
  return q * d == n ? q : (n > 0) == (d > 0) ? q + 1 : q - 1;
}

// A wish for a term of a sum that is to change by `needed`: for one that has room in that direction.
DEVICE Wish term_wish(Walk& w, const Linear& sum, i64 needed, i32 defined) {
  if (needed == 0) return no_move();
  for (i32 tries = 0; tries < TERM_TRIES; ++tries) {
    const Term t = load_constant(&w.problem->sum_terms[sum.start + (i32)draw_number(w, (u64)(sum.end - sum.start))]);
    const i32 var = t.side >> 1;
    if (var == defined || is_constant(w, var)) continue;
    const i64 factor = t.side & 1 ? -(i64)t.factor : t.factor, now = w.value[var];
    const i64 value = minimum(maximum(now + divide_away(needed, factor), (i64)least_of(w, var)), (i64)most_of(w, var));
    if (value != now) return {var, value};
  }
  return no_move();
}

DEVICE Wish sum_wish(Walk& w, i32 row, bool truth) {
  const Linear sum = sum_at(w.problem, row);
  const i64 total = w.sums[row - w.problem->n_store_rows];
  i64 needed = needed_change(sum, total, truth);
  if (sum.kind == LINEAR_EQUAL && !truth && draw_one_in(w, 2)) needed = -needed;
  return term_wish(w, sum, needed, -1);
}

// An index whose entry is as near to `value` as that of any of some indices.
DEVICE Wish index_wish(Walk& w, const Row& row, i64 value) {
  const Problem* p = w.problem;
  const i64 first = p->root_lower[row.y], count = (i64)p->root_upper[row.y] - first + 1;
  const bool all = count <= INDEX_TRIES;
  const i64 start = (i64)draw_number(w, (u64)count);
  Wish best = no_move();
  i64 least = INT64_MAX;
  for (i64 i = 0; i < (all ? count : INDEX_TRIES); ++i) {
    const i64 index = first + (all ? (start + i) % count : (i64)draw_number(w, (u64)count));
    const i64 gap = (i64)p->tables[row.z + (i32)index] - value, away = gap < 0 ? -gap : gap;
    if (index == w.value[row.y] || away >= least) continue;
    least = away;
    best = {row.y, index};
  }
  return best;
}

// A wish for the operand `own` of a product that is to be `value`; `other` is the other operand.
DEVICE Wish factor_wish(Walk& w, i32 own, i32 other, i64 value) {
  const i64 factor = w.value[other], now = w.value[own];
  if (factor == 0) {
    if (is_constant(w, other)) return no_move();
    return {other, now != 0 && value / now != 0 ? value / now : 1};
  }
  const i64 wanted = value / factor;
  if (wanted != now) return {own, wanted};
  return {own, now + ((value > factor * now) == (factor > 0) ? 1 : -1)};
}

// Wishes for an operand of y = z or y <= z that is to be true, or false.
DEVICE Wish comparison_wish(Walk& w, const Row& row, bool first, bool truth) {
  const i32 own = first ? row.y : row.z, other = first ? row.z : row.y;
  const i64 now = w.value[other], low = least_of(w, own), high = most_of(w, own);
  if (row.op == OP_EQ) {
    if (truth) return {own, now};
    const i64 drawn = draw_value(w, own);
    return {own, drawn != now ? drawn : now < high ? now + 1 : now - 1};
  }
  const bool falls = first == truth;  // y must fall to make it true, z to make it false
  const i64 limit = truth ? now : first ? now + 1 : now - 1;
  if (!draw_one_in(w, 4)) return {own, limit};
  return {own, falls ? draw_between(w, low, limit) : draw_between(w, limit, high)};
}

// A wish for an operand of a minimum (`sign` 1) or maximum (-1) that is to be `value`.
DEVICE Wish extreme_wish(Walk& w, const Row& row, i64 value, i64 sign, bool first) {
  const i64 y = sign * w.value[row.y], z = sign * w.value[row.z], wanted = sign * value;
  i32 own = first ? row.y : row.z;
  if (wanted > minimum(y, z) && (y < wanted) != (z < wanted)) own = y < wanted ? row.y : row.z;
  return is_constant(w, own) ? no_move() : Wish{own, value};
}

// A wish for an operand of y op z, which is to be `value`.
DEVICE Wish operand_wish(Walk& w, const Row& row, i64 value) {
  if (row.op == OP_ELEMENT) return index_wish(w, row, value);
  const bool y_stays = is_constant(w, row.y), z_stays = is_constant(w, row.z);
  if (y_stays && z_stays) return no_move();
  const bool first = z_stays || (!y_stays && draw_one_in(w, 2));
  const i32 own = first ? row.y : row.z, other = first ? row.z : row.y;
  switch (row.op) {
    case OP_ADD: return {own, value - w.value[other]};
    case OP_MUL: return factor_wish(w, own, other, value);
    case OP_DIV: return first ? Wish{row.y, cut((wide_t)value * w.value[row.z])} : Wish{row.z, draw_value(w, row.z)};
    case OP_MOD:
      return first ? Wish{row.y, w.value[row.y] + value - cut(result_of(w, row))} : Wish{row.z, draw_value(w, row.z)};
    case OP_MIN: return extreme_wish(w, row, value, 1, first);
    case OP_MAX: return extreme_wish(w, row, value, -1, first);
    default: return comparison_wish(w, row, first, value != 0);
  }
}

// A wish for what a definition computes the variable from.
DEVICE Wish wish_below(Walk& w, i32 definer, const Wish& wish) {
  const Problem* p = w.problem;
  if (definer < p->n_store_rows) return operand_wish(w, load_constant(&p->rows[definer]), wish.value);
  const Definition d = load_constant(&p->definitions[load_constant(&p->definition_places[definer])]);
  if (sum_at(p, definer).kind != LINEAR_RANGE) return sum_wish(w, definer, wish.value != 0);
  return term_wish(w, sum_at(p, definer), d.sign * (w.value[wish.var] - wish.value), wish.var);
}

// A move of a free variable to what is wished, or, where it is there already, to a random value.
DEVICE Wish grant(Walk& w, Wish wish) {
  const bound_t now = w.value[wish.var], low = least_of(w, wish.var), high = most_of(w, wish.var);
  if (low >= high) return no_move();
  wish.value = minimum(maximum(wish.value, (i64)low), (i64)high);
  if (wish.value == now && high - low > 1) wish.value = draw_value(w, wish.var);
  return wish.value == now ? no_move() : wish;
}

// From a wish down to a move; none where a definition cannot grant it.
OUTLINE Wish descend(Walk& w, Wish wish) {
  for (i32 depth = 0; depth < DEEPEST_WISH && wish.var >= 0 && !is_constant(w, wish.var); ++depth) {
    const i32 definer = reach_of(w, wish.var).definer;
    if (definer < 0) return grant(w, wish);
    if (wish.value == w.value[wish.var]) return no_move();
    wish = wish_below(w, definer, wish);
    wish.value = cut(wish.value);
  }
  return no_move();
}

DEVICE Wish violated_sum_wish(Walk& w, i32 row) {
  const Linear sum = sum_at(w.problem, row);
  const bool truth = truth_value(w, sum);
  if (has_truth(sum) && !is_constant(w, sum.truth) && draw_one_in(w, 2)) return {sum.truth, !truth};
  return sum_wish(w, row, truth);
}

DEVICE Wish violated_row_wish(Walk& w, i32 index) {
  const Row row = load_constant(&w.problem->rows[index]);
  if (!is_constant(w, row.x) && draw_one_in(w, 4)) return {row.x, cut(result_of(w, row))};
  return operand_wish(w, row, w.value[row.x]);
}

// What would satisfy a violated constraint.
DEVICE Wish wish_of(Walk& w, i32 constraint) {
  const Problem* p = w.problem;
  if (!is_domain(p, constraint)) {
    return constraint < p->n_store_rows ? violated_row_wish(w, constraint) : violated_sum_wish(w, constraint);
  }
  const i32 var = constraint - count_rows(*p);
  return {var, w.value[var] < least_of(w, var) ? least_of(w, var) : most_of(w, var)};
}
