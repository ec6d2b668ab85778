// The store of learned clauses and its reduction.
//
// The store is one piece of memory that fills up; at level 0, where no clause is a reason, it is reduced and compacted.
// The reduction follows Audemard and Simon (IJCAI 2009): clauses whose literals come from few levels (LBD, the literals
// block distance) are likely to be used again. So clauses of two levels are kept for ever, those of up to six while
// they are used, and the half of the rest with the greatest LBD and the least activity is deleted. A clause costs time
// only where it is watched, so lists and nodes are built anew from the clauses that are kept.
#pragma once

#include "../../core/assert.h"
#include "../../core/interval.h"
#include "../../core/room.h"
#include "../state/lists.h"
#include "../state/literal.h"
#include "../state/log.h"
#include "../state/parts.h"
#include "../state/sides.h"
#include "../state/trail.h"
#include "../tuning.h"

#ifndef FIRST_REDUCTION
#define FIRST_REDUCTION 4000  // clauses; tests have fewer
#endif

// Clauses are named by their place in the store, in units of CLAUSE_UNIT bytes; the literals follow.
constexpr i32 CLAUSE_UNIT = 8;  // format: bytes
constexpr i64 MOST_UNITS = ((i64)1 << 30) - 1;  // format: a place has 30 bits
constexpr i64 MOST_KEYS = (i64)1 << 28;  // format: that an i32 can count
struct Clause {
  i32 size, lbd;
  float activity;
  u32 used : 1;      // as a reason since the last reduction
  u32 vivified : 1;  // whether it was tried to make it shorter (vivify.h)
  NAMED_CLAUSE
};

struct Clauses {
  char* store;
  u64* keys;          // to choose the half that is deleted
  i32 end, capacity;  // in units
  i32 count, most;    // the number of clauses, and of keys that fit
  bool full;          // a restart must make room
  i32 reduce_at;      // the number of clauses above which a restart reduces them
};

PART(Clauses, clauses);

// A clause that is not in the store: one that the last analysis has learned, or that another learner has sent.
struct Learned {
  Literal* literals;
  i32 size, lbd;
  NAMED_CLAUSE
};

PART(Learned, learned);

DEVICE i64 learned_bytes(const Problem* p) { return n_sides(p) * (i64)sizeof(Literal); }

DEVICE void take_memory(Learned& s, const Problem* p, Room& room) { s.literals = take<Literal>(room, n_sides(p)); }

DEVICE void take_memory(Clauses& s, i64 store_bytes, i64 key_bytes, Room& room) {
  s.capacity = (i32)minimum(store_bytes / CLAUSE_UNIT, MOST_UNITS);
  s.most = (i32)minimum(key_bytes / (i64)sizeof(u64), MOST_KEYS);
  s.store = take<char>(room, (i64)s.capacity * CLAUSE_UNIT);
  s.keys = take<u64>(room, s.most);
}

DEVICE void clear_clauses(Learner& l) { clauses(l).reduce_at = FIRST_REDUCTION; }

constexpr i32 STATED = 0;  // instead of an LBD: a clause of the model, which is always kept
constexpr i32 REPLACED = INT32_MAX;  // and one that leaves with the next reduction, since a shorter one has its place

DEVICE Clause* clause_at(const Learner& l, i32 clause) {
  ASSERT(0 <= clause && clause < clauses(l).end);
  return (Clause*)(clauses(l).store + (i64)clause * CLAUSE_UNIT);
}
#ifdef PROOF
static void log_clause(Learner& l) { learned(l).name = log_learned(l, learned(l).literals, learned(l).size); }

// A clause that is stored is that in learned(l), or number `count - 1` of the model's.
static void name_clause(const Learner& l, Clause* clause, i32 count) {
  clause->name = clause->lbd == STATED ? -count : learned(l).name;
}
static void keep_name(Clause* to, const Clause& from) { to->name = from.name; }

// The reason in the log: that of a row, of the clause of this name, or DECISION.
static i64 logged_reason(const Learner& l, i32 reason) {
  if (reason == DECISION) return DECISION;
  return is_row_reason(reason) ? 2 * (i64)logged_row(l, reason >> 1) + 1 : 2 * clause_at(l, reason >> 1)->name;
}

// Level 0: logs its entries, which are about to become the root's bounds.
static void log_entries(const Learner& l) {
  for (i32 i = 0; i < trail(l).size; ++i) {
    const Entry& e = trail(l).entries[i];
    if (e.reason != DECISION) log_root(l, literal(e.side, e.now), logged_reason(l, e.reason));
  }
}

// Level 0: logs what is left of a clause, if that is a bound or a contradiction.
template <typename Named>
static void log_stripped(const Learner& l, const Named& clause, const Literal* literals, i32 size) {
  if (size == 0) log_refuted(l, 2 * clause.name);
  if (size == 1) log_root(l, literals[0], 2 * clause.name);
}
#else
DEVICE void log_clause(Learner&) {}
DEVICE void name_clause(const Learner&, Clause*, i32) {}
DEVICE void keep_name(Clause*, const Clause&) {}
DEVICE void log_entries(const Learner&) {}
template <typename Named>
DEVICE void log_stripped(const Learner&, const Named&, const Literal*, i32) {}
#endif

DEVICE Literal* literals_of(Clause* clause) { return (Literal*)(clause + 1); }
DEVICE i32 clause_units(i32 size) { return (i32)((sizeof(Clause) + (u64)size * sizeof(Literal)) / CLAUSE_UNIT); }

// Whether the literals are of valid sides, and the first two of different ones.
DEVICE bool is_clause(const Learner& l, const Literal* literals, i32 size) {
  bool good = 2 <= size && size <= n_sides(problem(l)) && literals[0].side != literals[1].side;
  for (i32 i = 0; good && i < size; ++i) good = is_side(l, literals[i].side);
  return good;
}

// Stores a clause. -1 when there is no room.
DEVICE i32 store_clause(Learner& l, const Literal* literals, i32 size, i32 lbd) {
  ASSERT(is_clause(l, literals, size) && lbd >= STATED);
  Clauses& s = clauses(l);
  i64 end = (i64)s.end + clause_units(size);
  if (end > s.capacity || s.count == s.most) {
    s.full = true;
    return -1;
  }
  i32 clause = s.end;
  s.end = (i32)end;
  ++s.count;
  Clause header = {size, lbd, 0, 1, 0};
  *clause_at(l, clause) = header;
  name_clause(l, clause_at(l, clause), s.count);
  for (i32 i = 0; i < size; ++i) literals_of(clause_at(l, clause))[i] = literals[i];
  return clause;
}

// Watches the first two literals. False when there is no room: then the clause propagates nothing until the lists are
// rebuilt.
DEVICE bool attach(Learner& l, i32 clause) {
  const Literal* literals = literals_of(clause_at(l, clause));
  ASSERT(is_clause(l, literals, clause_at(l, clause)->size));
  bool binary = clause_at(l, clause)->size == 2;
  for (i32 i = 0; i < 2; ++i) {
    Watcher watcher = {literals[1 - i], clause, binary};
    if (!watch(l, negation(literals[i]), watcher)) return false;
  }
  return true;
}

DEVICE bool is_crowded(const Learner& l) {
  const Clauses& s = clauses(l);
  return lists(l).full || s.end > s.capacity / 2 || s.count > s.most / 2;
}

// Stores the clauses that replace rows (turbo_fzn/tnf/clause_rows.py), before anything is learned. False when they are
// too many for the learner's memory.
DEVICE bool state_clauses(Learner& l) {
  const Problem* p = problem(l);
  Literal* literals = learned(l).literals;
  for (i32 c = 0; c < p->n_clauses; ++c) {
    i32 from = p->clauses[c], size = p->clauses[c + 1] - from;
    for (i32 i = 0; i < size; ++i) {
      i32 side = p->clauses[from + i];
      literals[i] = literal(side, 1 - is_upper(side));
    }
    i32 clause = store_clause(l, literals, size, STATED);
    if (clause < 0 || !attach(l, clause)) return false;
  }
  clauses(l).reduce_at += p->n_clauses;
  return !is_crowded(l);
}

// Whether each clause of the model has a true literal. One may not, if it is not watched because lists were full.
DEVICE bool are_stated_clauses_true(const Learner& l) {
  for (i32 c = 0; c < clauses(l).end; c += clause_units(clause_at(l, c)->size)) {
    if (clause_at(l, c)->lbd != STATED) break;  // they are the first
    const Literal* literals = literals_of(clause_at(l, c));
    bool good = false;
    for (i32 i = 0; !good && i < clause_at(l, c)->size; ++i) good = is_true(l, literals[i]);
    if (!good) return false;
  }
  return true;
}

// The key by which clauses are deleted, greatest first: LBD, then lack of activity.
DEVICE u64 badness(const Clause* c) {
  union { float number; u32 bits; } u;
  u.number = c->activity;  // positive, so its bits are ordered as numbers are
  return (u64)c->lbd << 32 | (0xffffffffu - u.bits);
}

DEVICE bool may_go(const Clause* c, bool pressed) {
  if (c->lbd == STATED) return false;
  return pressed || (c->lbd > KEPT_LBD && !(c->lbd <= KEPT_WHILE_USED && c->used));
}

// The k-th least of the keys (quickselect: Hoare, CACM 1961), k < count.
DEVICE u64 select_key(u64* keys, i32 count, i32 k) {
  ASSERT(0 <= k && k < count);
  i32 from = 0, to = count - 1;
  while (from < to) {
    u64 pivot = keys[(from + to) / 2];
    i32 i = from, j = to;
    while (i <= j) {
      while (keys[i] < pivot) ++i;
      while (keys[j] > pivot) --j;
      if (i > j) break;
      u64 key = keys[i];
      keys[i++] = keys[j];
      keys[j--] = key;
    }
    if (k <= j) to = j;
    else if (k >= i) from = i;
    else break;
  }
  return keys[k];
}

// Clauses with this badness or more are dropped.
DEVICE u64 badness_limit(Learner& l, bool pressed) {
  i32 count = 0;
  for (i32 c = 0; c < clauses(l).end; c += clause_units(clause_at(l, c)->size)) {
    const Clause* clause = clause_at(l, c);
    if (clause->lbd != REPLACED && may_go(clause, pressed)) clauses(l).keys[count++] = badness(clause);
  }
  return count == 0 ? UINT64_MAX : select_key(clauses(l).keys, count, count / 2);
}

// Level 0: copies the literals without false ones. Returns their number; -1 when one is true.
DEVICE i32 strip_literals(const Learner& l, const Literal* from, i32 size, Literal* to) {
  ASSERT(trail(l).level == 0);
  i32 kept = 0;
  for (i32 i = 0; i < size; ++i) {
    Literal a = from[i];
    if (is_true(l, a)) return -1;
    if (!is_false(l, a)) to[kept++] = a;
  }
  return kept;
}

// Level 0: adds the clause in learned(l), which holds; what is left of it may be a bound, or a contradiction.
DEVICE void add_clause(Learner& l) {
  Learned& s = learned(l);
  i32 size = strip_literals(l, s.literals, s.size, s.literals);
  log_stripped(l, s, s.literals, size);
  if (size == 0) trail(l).exhausted = true;
  if (size == 1) set_root(l, s.literals[0].side, s.literals[0].k);
  if (size < 2) return;
  i32 clause = store_clause(l, s.literals, size, minimum(s.lbd, size));
  if (clause >= 0) attach(l, clause);
}

// Level 0: deletes clauses with a key of `limit` or more, strips the others and compacts the store. Clauses of one
// literal are written to `units`. Returns their number; -1 for an empty clause: the space is exhausted.
DEVICE i32 close_up(Learner& l, u64 limit, bool pressed, Literal* units) {
  i32 end = 0, n_units = 0, left = 0;
  for (i32 c = 0, next; c < clauses(l).end; c = next) {
    Clause header = *clause_at(l, c);
    next = c + clause_units(header.size);
    if (header.lbd == REPLACED || (may_go(&header, pressed) && badness(&header) >= limit)) continue;
    Literal* literals = literals_of(clause_at(l, end));
    i32 size = strip_literals(l, literals_of(clause_at(l, c)), header.size, literals);
    log_stripped(l, header, literals, size);
    if (size == 0) return -1;
    if (size == 1 && n_units < n_sides(problem(l))) units[n_units++] = literals[0];
    if (size < 2) continue;
    Clause kept = {size, minimum(header.lbd, size), header.activity / 2, 0, header.vivified};
    keep_name(&kept, header);
    *clause_at(l, end) = kept;
    end += clause_units(size);
    ++left;
  }
  ASSERT(end <= clauses(l).end && left <= clauses(l).count);
  clauses(l).end = end;
  clauses(l).count = left;
  return n_units;
}

DEVICE void rebuild_lists(Learner& l) {
  clear_lists(l);
  for (i32 c = 0; c < clauses(l).end; c += clause_units(clause_at(l, c)->size)) attach(l, c);
}

// Whether a clause was lost, or is not watched, for lack of room.
DEVICE bool lacks_room(const Learner& l) { return clauses(l).full || lists(l).full; }

DEVICE bool wants_reduction(const Learner& l) { return lacks_room(l) || clauses(l).count > clauses(l).reduce_at; }

// Level 0, settled: deletes clauses and rebuilds the lists. New units are in learned(l). Returns their number, or -1
// when the space is exhausted.
OUTLINE i32 reduce_clauses(Learner& l) {
  ASSERT(trail(l).level == 0 && trail(l).size == 0);
  ++statistics(l).reductions;
  clauses(l).full = false;
  clauses(l).reduce_at += REDUCTION_STEP;
  i32 n_units = close_up(l, badness_limit(l, false), false, learned(l).literals);
  rebuild_lists(l);
  while (n_units == 0 && is_crowded(l)) {  // all learned clauses may be deleted now
    n_units = close_up(l, badness_limit(l, true), true, learned(l).literals);
    rebuild_lists(l);
  }
  return n_units;
}
