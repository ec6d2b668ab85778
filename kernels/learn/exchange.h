// What learners tell each other: units, short clauses, and the proved bound of the objective.
//
// A clause that one has learned holds for all, for all search the same space; only solutions that are not better than
// the incumbent may be cut off, and the incumbent is common (docs/correctness.md). As in ManySAT (Hamadi, Jabbour,
// Sais, JSAT 2009) only few are worth telling: units, clauses of two or three literals, and those whose literals come
// from two levels.
//
// Nobody waits for anybody. Units are words that only grow, one a side (search/units.h), and all that holds at level 0
// is told as such: whoever propagates rows alone, or a GPU, would not find it. Clauses go into a ring of the learner
// that learned them, which the others read at their next restart: whoever is too slow misses some. A slot's sequence
// number is odd while it is written; a reader that finds another one afterwards drops what it has read (a sequence
// lock).
#pragma once

#include "restart.h"

#define EXCHANGE_SLOTS 512
#define EXCHANGE_LITERALS 8
#define TOLD_SIZE 3
#define TOLD_LBD 2

struct ExchangeSlot {
  i64 sequence;
  i32 size, lbd;
  Literal literals[EXCHANGE_LITERALS];
};

struct alignas(64) ExchangeRing {
  i64 head;  // clauses that were ever put in
  ExchangeSlot slots[EXCHANGE_SLOTS];
};

// The host knows this size: Layout.first_exchange.
DEVICE ExchangeRing* ring_of(const Problem* p, i32 block) { return (ExchangeRing*)p->exchange + block; }

DEVICE bool is_told(const Learner& l) {
  return l.n_learned <= TOLD_SIZE || (l.lbd <= TOLD_LBD && l.n_learned <= EXCHANGE_LITERALS);
}

// Makes the units at least these, one a side.
DEVICE void tell_units(const Problem* p, const bound_t* sides) {
  bound_t* words = unit_words(p);
  bool news = false;
  for (i32 side = 0; side < 2 * p->n_vars; ++side) {
    if (sides[side] > global_load(&words[side])) news |= global_max(&words[side], sides[side]) < sides[side];
  }
  if (news) global_add(&p->units->version, (i64)1);
}

// Level 0, at its fixpoint: what has come to hold there.
DEVICE void tell_root(Learner& l) {
  if (l.root_news) tell_units(l.problem, l.root);
  l.root_news = 0;
}

DEVICE void tell_clause(Learner& l) {
  ExchangeRing* ring = ring_of(l.problem, l.block->index);
  i64 head = ring->head;
  ExchangeSlot* slot = &ring->slots[head % EXCHANGE_SLOTS];
  global_store(&slot->sequence, 2 * head + 1);
  fence();  // no word before the odd number
  global_store(&slot->size, l.n_learned);
  global_store(&slot->lbd, l.lbd);
  for (i32 i = 0; i < l.n_learned; ++i) {
    global_store(&slot->literals[i].k, l.learned[i].k);
    global_store(&slot->literals[i].side, l.learned[i].side);
  }
  fence();
  global_store(&slot->sequence, 2 * head + 2);
  global_store(&ring->head, head + 1);
}

// The clause just learned, if others may want it.
DEVICE void tell_others(Learner& l) {
  if (!l.problem->exchange || (LEARN_WITHOUT & WITHOUT_SHARING) || !is_told(l)) return;
  ++l.statistics->told;
  if (l.n_learned > 1) tell_clause(l);  // a unit is told with all that holds at level 0
}

// Clause `number` of the ring, into l.learned. False when it has been overwritten.
DEVICE bool read_clause(Learner& l, const ExchangeRing* ring, i64 number) {
  const ExchangeSlot* slot = &ring->slots[number % EXCHANGE_SLOTS];
  i64 sequence = 2 * number + 2;
  if (global_load(&slot->sequence) != sequence) return false;
  i32 size = global_load(&slot->size);
  l.lbd = global_load(&slot->lbd);
  l.n_learned = 0;
  for (i32 i = 0; i < size && i < EXCHANGE_LITERALS; ++i) {
    l.learned[l.n_learned++] = literal(global_load(&slot->literals[i].side), global_load(&slot->literals[i].k));
  }
  fence();
  return global_load(&slot->sequence) == sequence;
}

// Level 0: the clause in l.learned becomes one of the learner's.
DEVICE void adopt_clause(Learner& l) {
  ++l.statistics->heard;
  i32 size = strip_literals(l, l.learned, l.n_learned, l.learned);
  if (size < 0) return;
  if (size == 0) l.exhausted = 1;
  if (size == 1) set_root(l, l.learned[0].side, l.learned[0].k);
  if (size < 2) return;
  i32 clause = store_clause(l, l.learned, size, minimum(l.lbd, size));
  if (clause >= 0) attach(l, clause);
}

DEVICE void adopt_units(Learner& l) {
  i64 version = global_load(&l.problem->units->version);
  if (version == l.units_seen) return;
  l.units_seen = version;
  for (i32 side = 0; side < 2 * l.problem->n_vars; ++side) {
    bound_t k = global_load(&unit_words(l.problem)[side]);
    if (k > l.now[side]) set_root(l, side, k);
  }
}

// Level 0: what others have told since the last time.
DEVICE void hear_others(Learner& l) {
  const Problem* p = l.problem;
  adopt_units(l);
  if (!p->exchange) return;
  for (i32 block = 0; block < p->n_blocks && !l.exhausted; ++block) {
    if (block == l.block->index || !is_learner(p, block)) continue;
    const ExchangeRing* ring = ring_of(p, block);
    i64 head = global_load(&ring->head);
    i64 from = maximum(l.heard[block], head - EXCHANGE_SLOTS);
    for (; from < head && !l.exhausted; ++from) {
      if (read_clause(l, ring, from)) adopt_clause(l);
    }
    l.heard[block] = head;
  }
}
