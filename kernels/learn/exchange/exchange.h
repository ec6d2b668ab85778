// The exchange between learners: units, short clauses, and the proved bound of the objective.
//
// A clause that one learner has learned is valid for all, since all search the same space; it may cut off only
// solutions that are not better than the incumbent, which is common (docs/design/correctness.md). As in ManySAT
// (Hamadi, Jabbour, Sais, JSAT 2009) only few clauses are sent: units, clauses of two or three literals, and those
// whose literals come from two levels.
//
// No learner waits for another. Units are words that only grow, one for each side (search/units.h); all bounds of level
// 0 are sent as units, since blocks that only propagate rows, or a GPU, would not find them. Clauses go into a ring of
// the learner that learned them, which the others read at their next restart; a slow reader misses some. A slot's
// sequence number is odd while it is written; a reader that finds the number changed afterwards drops the clause (a
// sequence lock).
#pragma once

#include "../../core/assert.h"
#include "../../core/interval.h"
#include "../../core/room.h"
#include "../../search/logged.h"
#include "../../search/task.h"
#include "../../search/units.h"
#include "../state/ablation.h"
#include "../clauses/clauses.h"
#include "../state/literal.h"
#include "../state/log.h"
#include "../state/parts.h"
#include "../state/sides.h"
#include "../state/trail.h"
#include "../tuning.h"

struct ExchangeSlot {
  i64 sequence;
  i32 size, lbd;
  Literal literals[EXCHANGE_LITERALS];
  NAMED_CLAUSE
};

struct alignas(64) ExchangeRing {
  i64 head;  // the number of clauses ever put in
  ExchangeSlot slots[EXCHANGE_SLOTS];
};

struct Exchange {
  i64* heard;  // for each block: the number of clauses of its ring that were read
  i64 units_seen;
};

PART(Exchange, exchange);

DEVICE i64 exchange_bytes(const Problem* p) { return p->n_blocks * (i64)sizeof(i64); }

DEVICE void take_memory(Exchange& s, const Problem* p, Room& room) { s.heard = take<i64>(room, p->n_blocks); }

// The sizes that the host allocates (Layout.first_exchange).
static_assert(sizeof(ExchangeSlot) == 16 + EXCHANGE_LITERALS * 2 * sizeof(bound_t) + 8 * IS_LOGGED, "a slot's size");
static_assert(sizeof(ExchangeRing) == (8 + EXCHANGE_SLOTS * sizeof(ExchangeSlot) + 63) / 64 * 64, "and a ring");

DEVICE ExchangeRing* ring_of(const Problem* p, i32 block) { return (ExchangeRing*)p->exchange + block; }

// Short enough, and of variables that others have.
DEVICE bool is_told(const Learner& l) {
  const Learned& clause = learned(l);
  if (clause.size > TOLD_SIZE && (clause.lbd > TOLD_LBD || clause.size > EXCHANGE_LITERALS)) return false;
  for (i32 i = 0; i < clause.size; ++i) {
    if (var_of(clause.literals[i].side) >= problem(l)->n_vars) return false;
  }
  return true;
}

// Raises the units to at least these values, one for each side.
DEVICE void tell_units(const Problem* p, const bound_t* sides) {
  bound_t* words = unit_words(p);
  bool news = false;
  for (i32 side = 0; side < n_model_sides(p); ++side) {
    if (sides[side] > global_load(&words[side])) news |= global_max(&words[side], sides[side]) < sides[side];
  }
  if (news) global_add(&p->units->version, (i64)1);
}

// Level 0, at its fixpoint: sends its bounds as units, if there are new ones.
DEVICE void tell_root(Learner& l) {
  if (trail(l).root_news) tell_units(problem(l), sides(l).root);
  trail(l).root_news = false;
}

DEVICE void tell_clause(Learner& l) {
  ExchangeRing* ring = ring_of(problem(l), block(l).index);
  i64 head = ring->head;
  ExchangeSlot* slot = &ring->slots[head % EXCHANGE_SLOTS];
  ASSERT(1 < learned(l).size && learned(l).size <= EXCHANGE_LITERALS && slot->sequence % 2 == 0);
  global_store(&slot->sequence, 2 * head + 1);
  fence();  // no other word is written before the odd number
  const Learned& clause = learned(l);
  global_store(&slot->size, clause.size);
  global_store(&slot->lbd, clause.lbd);
#ifdef PROOF
  global_store(&slot->name, clause.name);
#endif
  for (i32 i = 0; i < clause.size; ++i) {
    global_store(&slot->literals[i].k, clause.literals[i].k);
    global_store(&slot->literals[i].side, clause.literals[i].side);
  }
  fence();
  global_store(&slot->sequence, 2 * head + 2);
  global_store(&ring->head, head + 1);
}

// Sends the clause just learned, if it is short enough.
DEVICE void tell_others(Learner& l) {
  if (!problem(l)->exchange || is_left_out(WITHOUT_SHARING) || !is_told(l)) return;
  ++statistics(l).told;
  if (learned(l).size > 1) tell_clause(l);  // a unit is sent with the bounds of level 0
}

// Reads clause `number` of the ring into learned(l). False when it has been overwritten.
DEVICE bool read_clause(Learner& l, const ExchangeRing* ring, i64 number) {
  const ExchangeSlot* slot = &ring->slots[number % EXCHANGE_SLOTS];
  i64 sequence = 2 * number + 2;
  if (global_load(&slot->sequence) != sequence) return false;
  Learned& clause = learned(l);
  i32 size = global_load(&slot->size);
  clause.lbd = global_load(&slot->lbd);
#ifdef PROOF
  clause.name = global_load(&slot->name);
#endif
  clause.size = 0;
  for (i32 i = 0; i < size && i < EXCHANGE_LITERALS; ++i) {
    const Literal* told = &slot->literals[i];
    clause.literals[clause.size++] = literal(global_load(&told->side), global_load(&told->k));
  }
  fence();
  bool whole = global_load(&slot->sequence) == sequence;
  ASSERT(!whole || (size == clause.size && is_clause(l, clause.literals, size)));
  return whole;
}

// Whether this learner has all variables of the clause in learned(l).
DEVICE bool knows_all(const Learner& l) {
  bool known = true;
  for (i32 i = 0; known && i < learned(l).size; ++i) {
    known = !is_link(problem(l), var_of(learned(l).literals[i].side));
  }
  return known;
}

// Level 0: adds the clause in learned(l) to the learner's clauses.
DEVICE void adopt_clause(Learner& l) {
  if (!knows_all(l)) return;
  ASSERT(trail(l).level == 0);
  ++statistics(l).heard;
  add_clause(l);
}

// The units that a learner may adopt: where learners log, those of the log, as the host's have no derivation.
DEVICE i64 unit_of(const Learner& l, i32 side) {
#ifdef PROOF
  (void)l;
  return logged_root(side);
#else
  return global_load(&unit_words(problem(l))[side]);
#endif
}

DEVICE i64 units_version(const Learner& l) {
#ifdef PROOF
  (void)l;
  return logged_roots();
#else
  return global_load(&problem(l)->units->version);
#endif
}

DEVICE void adopt_units(Learner& l) {
  i64 version = units_version(l);
  if (version == exchange(l).units_seen) return;
  exchange(l).units_seen = version;
  for (i32 side = 0; side < n_model_sides(problem(l)); ++side) {
    i64 k = unit_of(l, side);
    if (k > sides(l).now[side] && !is_link(problem(l), var_of(side))) set_root(l, side, k);
  }
}

// Level 0: adopts the units and clauses that others have sent since the last call. A follower adopts units only: along
// one order its clauses tell of the state that earlier decisions have led to, and those of others spoil that.
DEVICE void hear_others(Learner& l) {
  const Problem* p = problem(l);
  adopt_units(l);
  if (!p->exchange || p->roles[block(l).index] == METHOD_FOLLOWER) return;
  for (i32 other = 0; other < p->n_blocks && !trail(l).exhausted; ++other) {
    if (other == block(l).index || !is_learner(p, other)) continue;
    const ExchangeRing* ring = ring_of(p, other);
    i64 head = global_load(&ring->head);
    i64 from = maximum(exchange(l).heard[other], head - EXCHANGE_SLOTS);
    for (; from < head && !trail(l).exhausted; ++from) {
      if (read_clause(l, ring, from)) adopt_clause(l);
    }
    exchange(l).heard[other] = head;
  }
}
