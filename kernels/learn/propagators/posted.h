// Posted rows: linear rows that the host gives to learners while they run, in places that are kept free for them.
//
// The host knows inequalities that no row of the model states: what the multipliers of a linear relaxation prove, with
// reduced costs for coefficients (turbo_fzn/bounds/prove/reasons.py). As rows they bound variables at every node and
// explain that, so that learning uses them (CP-SAT does the like: Perron, Didier, Gay, CP 2023). A learner's linear
// rows are those of the model, then POSTED_ROWS of its own, at first without terms. Each of these is a copy of the row
// at that place of the postbox (turbo_fzn/engine/posted.py), made at level 0, where no reason names a row. Like a
// clause, it may leave out solutions that are no better than the incumbent.
//
// A place has a sequence number that is odd while the host writes; a reader that finds it changed drops its copy, and
// reads again when the box has a new version.
#pragma once

#include "../../core/assert.h"
#include "../../core/interval.h"
#include "../../core/room.h"
#include "../state/literal.h"
#include "../state/parts.h"
#include "../state/trail.h"
#include "priority.h"
#include "wake.h"

struct PostedRows {
  Linear* linears;  // all linear rows of the learner
  Term* terms;      // of all of them
  u32* woken;       // for each side: bit i is set if it wakes posted row i
  i64* used;        // explanations by each row that the host has not been told
  i64* sequences;   // of the rows that were copied
  i64 version;      // of the box
};

PART(PostedRows, posted);

DEVICE Posted* posted_at(const Problem* p, i32 place) {
  return (Posted*)((char*)(p->posted + 1) + (i64)place * p->posted_bytes);
}
DEVICE Term* posted_terms(Posted* row) { return (Term*)(row + 1); }

// The number of the row, and of its first term, at a place.
DEVICE i32 posted_row(const Problem* p, i32 place) { return p->n_rows + p->n_linears - POSTED_ROWS + place; }
DEVICE i32 first_posted_term(const Problem* p, i32 place) { return p->n_terms - (POSTED_ROWS - place) * POSTED_TERMS; }

// The host: writes a row to a place, of which it is the only writer.
OUTLINE void post(const Problem* p, i32 place, i64 high, const Term* terms, i32 n_terms) {
  ASSERT(0 <= place && place < POSTED_ROWS && 0 < n_terms && n_terms <= POSTED_TERMS);
  Posted* row = posted_at(p, place);
  i64 sequence = global_load(&row->sequence);
  global_store(&row->sequence, sequence + 1);
  fence();  // no other word is written before the odd number
  global_store(&row->high, high);
  global_store(&row->n_terms, n_terms);
  for (i32 i = 0; i < n_terms; ++i) {
    global_store(&posted_terms(row)[i].side, terms[i].side);
    global_store(&posted_terms(row)[i].factor, terms[i].factor);
  }
  fence();
  global_store(&row->sequence, sequence + 2);
  global_add(&p->posted->version, (i64)1);
}

// ---- a learner's copies

// Makes room in a learner's model `own` for the rows that the host may post.
DEVICE void expect_rows(Problem& own) {
  if (!own.posted) return;
  own.n_linears += POSTED_ROWS;
  own.n_terms += POSTED_ROWS * POSTED_TERMS;
  own.most_terms = maximum(own.most_terms, POSTED_TERMS);
}

DEVICE i64 posted_bytes(const Problem* p) {
  if (!p->posted) return 0;
  return n_sides(p) * (i64)sizeof(u32) + p->n_linears * (i64)sizeof(Linear) + p->n_terms * (i64)sizeof(Term) +
         2 * POSTED_ROWS * (i64)sizeof(i64);
}

DEVICE void take_memory(PostedRows& s, const Problem* p, Room& room) {
  if (!p->posted) return;
  s.woken = take<u32>(room, n_sides(p));
  s.linears = take<Linear>(room, p->n_linears);
  s.terms = take<Term>(room, p->n_terms);
  s.used = take<i64>(room, POSTED_ROWS);
  s.sequences = take<i64>(room, POSTED_ROWS);
}

// The row at a place, with these terms.
DEVICE Linear posted_linear(const Problem* p, i32 place, i64 high, i32 n_terms) {
  i32 start = first_posted_term(p, place);
  Linear row = {-INFINITE_BOUND, high, start, start + n_terms, -1, LINEAR_RANGE};
  return row;
}

// Copies the model's linear rows to the learner's memory, before rows without terms, and lets `own` name them.
DEVICE void own_linears(Learner& l, Problem& own) {
  if (!own.posted) return;
  PostedRows& s = posted(l);
  for (i32 i = 0; i < own.n_linears - POSTED_ROWS; ++i) s.linears[i] = own.linears[i];
  for (i32 i = 0; i < own.n_terms - POSTED_ROWS * POSTED_TERMS; ++i) s.terms[i] = own.terms[i];
  own.linears = s.linears;
  own.terms = s.terms;
  for (i32 i = 0; i < POSTED_ROWS; ++i) {
    s.linears[posted_row(&own, i) - own.n_rows] = posted_linear(&own, i, INFINITE_BOUND, 0);
  }
}

// Sets or clears the bit of the row for the sides that wake it.
DEVICE void let_wake(Learner& l, i32 place, bool wakes) {
  const Linear& row = posted(l).linears[posted_row(problem(l), place) - problem(l)->n_rows];
  for (i32 i = row.start; i < row.end; ++i) {
    u32& word = posted(l).woken[posted(l).terms[i].side];
    word = wakes ? word | 1u << place : word & ~(1u << place);
  }
}

// Copies the row at a place, if the host is not writing it; then it is a row without terms until the next look.
DEVICE void copy_row(Learner& l, i32 place, i64 sequence) {
  const Problem* p = problem(l);
  Posted* told = posted_at(p, place);
  Linear& row = posted(l).linears[posted_row(p, place) - p->n_rows];
  let_wake(l, place, false);
  row = posted_linear(p, place, global_load(&told->high), global_load(&told->n_terms));
  for (i32 i = row.start; i < row.end; ++i) {
    posted(l).terms[i].side = global_load(&posted_terms(told)[i - row.start].side);
    posted(l).terms[i].factor = global_load(&posted_terms(told)[i - row.start].factor);
  }
  fence();
  if (global_load(&told->sequence) != sequence) {
    row = posted_linear(p, place, INFINITE_BOUND, 0);
    return;
  }
  posted(l).sequences[place] = sequence;
  let_wake(l, place, true);
  queue_row(l, posted_row(p, place), WHOLE);
}

// Level 0, at its fixpoint: copies the rows that are new, which are then queued.
DEVICE void hear_rows(Learner& l) {
  const Problem* p = problem(l);
  if (!p->posted) return;
  ASSERT(trail(l).level == 0 && is_queue_empty(l));
  i64 version = global_load(&p->posted->version);
  if (version == posted(l).version) return;
  posted(l).version = version;
  for (i32 i = 0; i < POSTED_ROWS; ++i) {
    i64 sequence = global_load(&posted_at(p, i)->sequence);
    if (sequence % 2 == 0 && sequence != posted(l).sequences[i]) copy_row(l, i, sequence);
  }
}

// Tells the host how often each row has explained something.
DEVICE void tell_use(Learner& l) {
  const Problem* p = problem(l);
  for (i32 i = 0; p->posted && i < POSTED_ROWS; ++i) {
    if (posted(l).used[i]) global_add(&posted_at(p, i)->used, posted(l).used[i]);
    posted(l).used[i] = 0;
  }
}

// The place of a posted row, -1 for another one.
DEVICE i32 place_of(const Problem* p, i32 row) {
  i32 place = p->posted ? row - posted_row(p, 0) : -1;
  return place < POSTED_ROWS ? place : -1;
}

DEVICE void count_use(const Learner& l, i32 row) {
  i32 place = place_of(problem(l), row);
  if (place >= 0) ++posted(l).used[place];
}

// Queues the posted rows that a side wakes, but `self`: a row whose last run was the cause.
DEVICE void wake_posted(Learner& l, i32 side, i32 self) {
  if (!problem(l)->posted) return;
  for (u32 rest = posted(l).woken[side]; rest; rest &= rest - 1) {
    i32 row = posted_row(problem(l), lowest_bit(rest));
    if (row != self) queue_row(l, row, WHOLE);
  }
}
