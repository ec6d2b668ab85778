// Counting rows, which a learner makes while it runs: the new variable of a counter is at least the number of its
// literals that are true.
//
// They are for cores.h. A counter says nothing of the model: each solution has a value for it, the number of its true
// literals. So clauses over counters cut off no solution, but other learners, which lack them, must not hear them.
//
// Literals wake their counters by a list of each side. A row has no state, and finds a reason anew, as all rows do:
// at least k literals are true, or as many as the upper bound says are true already, so the others are false.
#pragma once

#include "../../core/assert.h"
#include "../../core/interval.h"
#include "../../core/room.h"
#include "../state/literal.h"
#include "../state/parts.h"
#include "../state/sides.h"
#include "../state/trail.h"
#include "../tuning.h"
#include "oracle.h"
#include "priority.h"
#include "resolvent.h"
#include "wake.h"

constexpr i64 COUNTER_BYTES = 4096;  // format: of a counter, with all that cores.h and reasons need for it, at most

struct Counters {
  Literal* literals;  // of all counters
  i32* starts;        // where the literals of each counter begin, and the last ones end
  i32* owners;        // for each literal: its counter
  i32* next;          // for each literal: another one of the same side, or -1
  i32* first;         // for each side: one of its literals, or -1
  i32 made;           // the number of counters that exist
};

PART(Counters, counters);

// The number of counters that a small part of the memory has room for.
DEVICE i32 counters_in(i64 bytes) { return (i32)minimum(bytes / 64 / COUNTER_BYTES, (i64)MOST_COUNTERS); }

DEVICE i32 n_counted(const Problem* p) { return p->n_counters * LITERALS_A_COUNTER; }
DEVICE i32 most_counted(const Problem* p) { return minimum(n_counted(p) / 16, MOST_COUNTED); }

DEVICE i64 counters_bytes(const Problem* p) {
  if (!p->n_counters) return 0;
  return n_counted(p) * (i64)(sizeof(Literal) + 2 * sizeof(i32)) +
         (p->n_counters + 1 + (i64)n_sides(p)) * (i64)sizeof(i32);
}

DEVICE void take_memory(Counters& s, const Problem* p, Room& room) {
  if (!p->n_counters) return;
  s.literals = take<Literal>(room, n_counted(p));
  s.owners = take<i32>(room, n_counted(p));
  s.next = take<i32>(room, n_counted(p));
  s.starts = take<i32>(room, p->n_counters + 1);
  s.first = take<i32>(room, n_sides(p));
}

// Counters that do not exist yet are fixed to 0, as their memory says.
DEVICE void clear_counters(Learner& l) {
  for (i32 side = 0; problem(l)->n_counters && side < n_sides(problem(l)); ++side) counters(l).first[side] = -1;
}

DEVICE i32 counter_var(const Problem* p, i32 counter) { return p->n_vars + counter; }
DEVICE i32 counter_row(const Problem* p, i32 counter) { return p->n_rows + p->n_linears + p->n_wides + counter; }
DEVICE i32 counter_of(const Problem* p, i32 row) { return row - counter_row(p, 0); }

DEVICE bool may_count(const Learner& l, i32 size) {
  const Counters& s = counters(l);
  bool fits = size <= most_counted(problem(l)) && s.starts[s.made] + size <= n_counted(problem(l));
  return fits && s.made < problem(l)->n_counters;
}

// Level 0: makes a counter of literals, of which at most `size` are true. Returns its variable.
DEVICE i32 make_counter(Learner& l, const Literal* literals, i32 size) {
  ASSERT(trail(l).level == 0 && may_count(l, size));
  Counters& s = counters(l);
  i32 counter = s.made++, at = s.starts[counter], side = upper_side(counter_var(problem(l), counter));
  for (i32 i = 0; i < size; ++i, ++at) {
    s.literals[at] = literals[i];
    s.owners[at] = counter;
    s.next[at] = s.first[literals[i].side];
    s.first[literals[i].side] = at;
  }
  s.starts[s.made] = at;
  sides(l).now[side] = sides(l).root[side] = -size;
  queue_row(l, counter_row(problem(l), counter), SUMS);
  return counter_var(problem(l), counter);
}

// Queues the counters of the literals that an entry makes true, and the one whose upper bound it is.
DEVICE void wake_counters(Learner& l, const Entry& e) {
  const Problem* p = problem(l);
  if (!p->n_counters) return;
  const Counters& s = counters(l);
  for (i32 i = s.first[e.side]; i >= 0; i = s.next[i]) {
    if (e.was < s.literals[i].k && s.literals[i].k <= e.now) queue_row(l, counter_row(p, s.owners[i]), SUMS);
  }
  i32 counter = var_of(e.side) - p->n_vars;
  if (counter >= 0 && is_upper(e.side)) queue_row(l, counter_row(p, counter), SUMS);
}

DEVICE bool run_counter(Learner& l, i32 row) {
  const Counters& s = counters(l);
  i32 counter = counter_of(problem(l), row), var = counter_var(problem(l), counter), count = 0;
  for (i32 i = s.starts[counter]; i < s.starts[counter + 1]; ++i) count += is_true(l, s.literals[i]);
  if (!set_side(l, lower_side(var), count, row_reason(row))) return false;
  if (count < -(value_t)sides(l).now[upper_side(var)]) return true;
  for (i32 i = s.starts[counter]; i < s.starts[counter + 1]; ++i) {
    if (is_true(l, s.literals[i])) continue;
    Literal a = negation(s.literals[i]);
    if (!set_side(l, a.side, a.k, row_reason(row))) return false;
  }
  return true;
}

// Adds `need` literals that were true before entry t as premises: first those that hold at the root or that the
// resolvent needs anyway, which cost nothing. False when there are fewer.
DEVICE bool explain_count(const Learner& l, i32 counter, wide_t need, i32 t, Premises& why) {
  const Counters& s = counters(l);
  for (i32 pass = 0; pass < 2; ++pass) {
    for (i32 i = s.starts[counter]; i < s.starts[counter + 1] && need > 0; ++i) {
      Literal a = s.literals[i];
      if (held(l, a.side, t) < a.k) continue;
      bool is_free = a.k <= sides(l).root[a.side] || is_needed(l, a.side, a.k);
      if (is_free != (pass == 0)) continue;
      add_premise(l, why, a);
      --need;
    }
  }
  return need <= 0;
}

// The reason of `a`, which became true at entry t: enough literals were true; and the upper bound, if `a` is not the
// lower one of the counter.
DEVICE bool explain_counter(const Learner& l, i32 row, Literal a, i32 t, Premises& why) {
  i32 counter = counter_of(problem(l), row), var = counter_var(problem(l), counter);
  if (a.side == lower_side(var)) return explain_count(l, counter, a.k, t, why);
  bound_t upper = held(l, upper_side(var), t);
  add_premise(l, why, literal(upper_side(var), upper));
  return explain_count(l, counter, -(wide_t)upper, t, why);
}
