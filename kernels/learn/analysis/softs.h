// What is left to pay for an objective: the softs of a learner that seeks cores (cores.h).
//
// All solutions that are wanted cost at least `base`, and for each soft side its *pieces*: so much for each value that
// the side reaches. So an objective begins, with a piece for each of its terms; a counter of literals of which one is
// paid for has one, too. Where a reason says that a side must reach k or others something else, w is paid in common,
// and each of them owes w less: the last w of what it owes up to k. Without the first w instead, a value below k could
// owe what k does not.
#pragma once

#include "../../core/assert.h"
#include "../../core/interval.h"
#include "../../core/room.h"
#include "../state/literal.h"
#include "../state/parts.h"
#include "../state/sides.h"
#include "../tuning.h"

// `unit` is paid for each value from..to that the side reaches.
struct Piece {
  i64 unit;
  bound_t from, to;
  i32 next;
};

// What is left to pay for a side: its first piece, or -1.
struct Soft { i32 side, first; };

struct Softs {
  Piece* pieces;
  Soft* of_side;
  i32 n_pieces, free, count;
  i64 base;
};

PART(Softs, softs);

DEVICE i32 most_softs(const Problem* p) { return p->n_counters ? p->n_goal_terms + p->n_counters : 0; }
DEVICE i32 most_pieces(const Problem* p) { return most_softs(p) + PIECES_A_COUNTER * p->n_counters; }

DEVICE i64 softs_bytes(const Problem* p) {
  return most_softs(p) * (i64)sizeof(Soft) + most_pieces(p) * (i64)sizeof(Piece);
}

DEVICE void take_memory(Softs& s, const Problem* p, Room& room) {
  s.pieces = take<Piece>(room, most_pieces(p));
  s.of_side = take<Soft>(room, most_softs(p));
}

// A new piece; -1 where there is no room, so that something is not paid, and the bound is lower than it could be.
DEVICE i32 add_piece(Learner& l, bound_t from, bound_t to, i64 unit) {
  Softs& s = softs(l);
  ASSERT(unit > 0 && from <= to);
  if (s.free < 0 && s.n_pieces == most_pieces(problem(l))) return -1;
  i32 place = s.free >= 0 ? s.free : s.n_pieces++;
  if (place == s.free) s.free = s.pieces[place].next;
  Piece piece = {unit, from, to, -1};
  s.pieces[place] = piece;
  return place;
}

// Frees a piece, and returns the next one.
DEVICE i32 drop_piece(Learner& l, i32 place) {
  Softs& s = softs(l);
  i32 next = s.pieces[place].next;
  s.pieces[place].next = s.free;
  s.free = place;
  return next;
}

DEVICE i64 values_of(const Piece& p) { return (i64)p.to - p.from + 1; }

// What the side pays for reaching k.
DEVICE i64 cost_of(const Learner& l, Soft soft, bound_t k) {
  i64 cost = 0;
  for (i32 i = soft.first; i >= 0; i = softs(l).pieces[i].next) {
    Piece p = softs(l).pieces[i];
    if (p.from > k) break;
    p.to = minimum(p.to, k);
    cost += p.unit * values_of(p);
  }
  return cost;
}

// The least threshold that costs the stratum. False when none does.
DEVICE bool find_threshold(const Learner& l, Soft soft, i64 stratum, bound_t* k) {
  i64 rest = stratum;
  for (i32 i = soft.first; i >= 0; i = softs(l).pieces[i].next) {
    const Piece& p = softs(l).pieces[i];
    i64 steps = (rest - 1) / p.unit;  // that are not enough
    *k = (bound_t)(p.from + minimum(steps, values_of(p)));
    if (steps < values_of(p)) return true;
    rest -= p.unit * values_of(p);
  }
  return false;
}

// The most that some threshold costs, of what is at most `limit`.
DEVICE i64 most_below(const Learner& l, Soft soft, i64 limit) {
  i64 cost = 0;
  for (i32 i = soft.first; i >= 0; i = softs(l).pieces[i].next) {
    const Piece& p = softs(l).pieces[i];
    i64 steps = minimum((limit - cost) / p.unit, values_of(p));
    cost += p.unit * steps;
    if (steps < values_of(p)) break;
  }
  return cost;
}

// Appends a piece to the list that ends at `tail`. Returns the new end.
DEVICE i32* append_piece(Learner& l, i32* tail, bound_t from, i64 values, i64 unit) {
  if (values <= 0) return tail;
  i32 place = add_piece(l, from, (bound_t)(from + values - 1), unit);
  if (place < 0) return tail;
  *tail = place;
  return &softs(l).pieces[place].next;
}

// The side pays `weight` less for reaching k: the last of what it pays up to there. Returns the first piece.
DEVICE i32 reduce_cost(Learner& l, Soft soft, bound_t k, i64 weight) {
  i64 kept = cost_of(l, soft, k) - weight;
  ASSERT(kept >= 0);
  i32 first = -1;
  i32* tail = &first;
  for (i32 i = soft.first; i >= 0;) {
    Piece p = softs(l).pieces[i];
    i = drop_piece(l, i);
    i64 below = maximum(minimum((i64)p.to, (i64)k) - p.from + 1, (i64)0), whole = minimum(below, kept / p.unit);
    tail = append_piece(l, tail, p.from, whole, p.unit);
    kept -= whole * p.unit;
    if (whole < below && kept > 0) {
      tail = append_piece(l, tail, (bound_t)(p.from + whole), 1, kept);
      kept = 0;
    }
    tail = append_piece(l, tail, (bound_t)(p.from + below), values_of(p) - below, p.unit);
  }
  return first;
}

DEVICE void add_soft(Learner& l, i32 side, bound_t from, bound_t to, i64 unit) {
  Softs& s = softs(l);
  ASSERT(s.count < most_softs(problem(l)));
  Soft soft = {side, add_piece(l, from, to, unit)};
  s.of_side[s.count++] = soft;
}

// Level 0: pays for certain what the side has reached, and drops what it cannot reach.
DEVICE void settle_soft(Learner& l, Soft& soft) {
  Softs& s = softs(l);
  bound_t least = sides(l).now[soft.side], most = -sides(l).now[opposite(soft.side)];
  s.base += cost_of(l, soft, least);
  for (i32* link = &soft.first; *link >= 0;) {
    Piece& p = s.pieces[*link];
    p.from = maximum(p.from, (bound_t)(least + 1));
    p.to = minimum(p.to, most);
    if (p.from > p.to) *link = drop_piece(l, *link);
    else link = &p.next;
  }
}

DEVICE void settle_softs(Learner& l) {
  Softs& s = softs(l);
  i32 kept = 0;
  for (i32 i = 0; i < s.count; ++i) {
    settle_soft(l, s.of_side[i]);
    if (s.of_side[i].first >= 0) s.of_side[kept++] = s.of_side[i];
  }
  s.count = kept;
}
