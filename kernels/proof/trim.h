// What trimming a log notes (turbo_fzn/proof/trim.py): the steps that explanations follow by, the hints of the event
// that is looked at, and what is needed. Host code, for one thread. The records come from a file and are checked.
#pragma once

#include <stdlib.h>
#include <unistd.h>

#include "../core/abi.h"
#include "numbers.h"

constexpr i64 RECORD_HEAD = 2, RECORD_PREMISES = 6;  // format: words of a record, of an explanation before these
constexpr i64 MOST_WORDS = (i64)1 << 40;  // formula: more than a log has
constexpr i64 HINT_SHIFT = 3;  // format: the first bit of a hint's number
constexpr i64 MOST_HINTED = (i64)1 << 29;  // format: hints are kept in 32 bits

// Has the host find the step of an explanation (side, k, row, premises), or of a clause that replaces rows (its name),
// and note it. Returns its number, or -1.
typedef i64 (*Explainer)(const i64* words, i64 size);

// A clause that was read: its name, and sides and thresholds.
struct ReadClause {
  i64 name;
  NumberList literals;
};

struct Trimming {
  ProofTrim* host;
  Explainer explainer;
  KeyTable explained, chained;
  NumberList hints, chains;
  NumberList step_starts, step_needed, assumed;  // by step: its first number in `assumed`, whether it is needed
  ReadClause* clauses;
  NumberList given;                               // a clause that replaces rows
  NumberList record;                              // the explanations of the event, and the event
  NumberList entries, fired, bounds, changed, wanted, premises, sources;  // conflict.h
  i64 *first_bound, *last_bound;               // by side, in `bounds`
  i64 fault;
};

DEVICE bool trim_fault(Trimming& t, TrimFault why) {
  t.fault = why;
  return false;
}

DEVICE bool is_side(const Trimming& t, i64 side) { return side >= 0 && side < t.host->n_sides; }

// Whether the pairs of words between these places begin with sides.
DEVICE bool are_literals(const Trimming& t, const i64* words, i64 size) {
  bool good = size >= 0 && size % 2 == 0;
  for (i64 i = 0; good && i < size; i += 2) good = is_side(t, words[i]);
  return good;
}

// Reads words of the log.
DEVICE bool read_log(Trimming& t, i64 first, i64 last, NumberList& words) {
  words.size = 0;
  if (first < 0 || last < first) return trim_fault(t, TRIM_DAMAGED);
  if (!make_room(words, last - first)) return trim_fault(t, TRIM_MEMORY);
  char* at = (char*)words.at;
  size_t left = (size_t)(last - first) * sizeof(i64);
  for (off_t place = (off_t)first * (off_t)sizeof(i64); left;) {
    ssize_t moved = pread((int)t.host->log_file, at, left, place);
    if (moved <= 0) return trim_fault(t, TRIM_DAMAGED);
    at += moved;
    place += moved;
    left -= (size_t)moved;
  }
  words.size = last - first;
  return true;
}

// The event of a clause that is older than the event that is looked at, or -1.
DEVICE i64 event_of(Trimming& t, i64 name) {
  i64 event = name > 0 && name < t.host->n_clauses ? t.host->clauses[name] : -1;
  if (event < t.host->event) return event;
  trim_fault(t, TRIM_DAMAGED);
  return -1;
}

// A clause that replaces rows.
DEVICE const NumberList* given_clause(Trimming& t, i64 number) {
  const i64* starts = t.host->given_starts;
  if (number >= t.host->n_given) {
    trim_fault(t, TRIM_DAMAGED);
    return nullptr;
  }
  t.given = {t.host->given + starts[number], starts[number + 1] - starts[number], 0};
  return &t.given;
}

// The literals of a clause, until another one is asked for; null if it cannot be read.
DEVICE const NumberList* literals_of(Trimming& t, i64 name) {
  if (name < 0) return given_clause(t, -1 - name);
  i64 event = event_of(t, name);
  if (event < 0) {
    trim_fault(t, TRIM_DAMAGED);
    return nullptr;
  }
  ReadClause& read = t.clauses[name % t.host->most_clauses];
  if (read.name == name) return &read.literals;
  read.name = 0;
  if (!read_log(t, t.host->places[event] + RECORD_HEAD + 1, t.host->ends[event], read.literals)) return nullptr;
  if (!are_literals(t, read.literals.at, read.literals.size)) {
    trim_fault(t, TRIM_DAMAGED);
    return nullptr;
  }
  read.name = name;
  return &read.literals;
}

// ---- hints

DEVICE bool add_hint(Trimming& t, i64 number, HintKind kind, bool last) {
  if (number >= MOST_HINTED || !add_number(t.hints, number << HINT_SHIFT | (last ? HINT_LAST : 0) | kind))
    return trim_fault(t, TRIM_MEMORY);
  return true;
}

DEVICE bool need_event(Trimming& t, i64 event) {
  if (event < 0 || event > t.host->event) return trim_fault(t, TRIM_DAMAGED);
  bool last = !t.host->needed[event];
  t.host->needed[event] = 1;
  return add_hint(t, event, HINT_EVENT, last);
}

DEVICE bool need_step(Trimming& t, i64 step) {
  if (step < 0 || step >= t.step_starts.size) return trim_fault(t, TRIM_DAMAGED);
  bool last = !t.step_needed.at[step];
  t.step_needed.at[step] = 1;
  return add_hint(t, step, HINT_STEP, last);
}

// Adds the hint that a side at `higher` is at `lower`, too.
DEVICE bool need_chain(Trimming& t, i64 side, i64 higher, i64 lower) {
  const i64 chain[] = {side, higher, lower};
  i64 number = recall(t.chained, chain, 3);
  if (number < 0) {
    number = t.chains.size / 3;
    if (!memorise(t.chained, chain, 3, number) || !add_numbers(t.chains, chain, 3)) return trim_fault(t, TRIM_MEMORY);
  }
  return add_hint(t, number, HINT_CHAIN, false);
}

// Adds the hints by which the side is at least k at level 0.
DEVICE bool need_root(Trimming& t, i64 side, i64 k) {
  const ProofTrim& host = *t.host;
  if (!is_side(t, side)) return trim_fault(t, TRIM_DAMAGED);
  if (k <= host.first[side]) return true;
  i64 root = host.last_roots[side];
  if (root < 0 || host.root_bounds[root] < k) return trim_fault(t, TRIM_UNKNOWN);
  for (i64 before; (before = host.root_before[root]) >= 0 && host.root_bounds[before] >= k;) root = before;
  if (host.root_bounds[root] > k && !need_chain(t, side, host.root_bounds[root], k)) return false;
  return need_event(t, host.root_events[root]);
}

// Shows the host the hints and the chains, and begins with no hints again.
DEVICE void show_hints(Trimming& t) {
  t.host->hints = t.hints.at;
  t.host->n_hints = t.hints.size;
  t.host->chains = t.chains.at;
  t.host->n_chains = t.chains.size / 3;
  t.hints.size = 0;
}

// 0 where something was done, else why not.
DEVICE i64 fault_of(const Trimming& t, bool done) { return done ? 0 : t.fault; }

// ---- steps

// Notes a step that assumes these literals. Returns its number, or -1 without memory.
DEVICE i64 note_step(Trimming& t, const i64* literals, i64 size) {
  i64 number = t.step_starts.size, start = t.assumed.size;
  bool noted = add_numbers(t.assumed, literals, size) && add_number(t.step_needed, 0);
  return noted && add_number(t.step_starts, start) ? number : -1;
}

// What a step assumes, and how many numbers these are.
DEVICE const i64* assumed_by(const Trimming& t, i64 step, i64* size) {
  i64 start = t.step_starts.at[step];
  *size = (step + 1 < t.step_starts.size ? t.step_starts.at[step + 1] : t.assumed.size) - start;
  return t.assumed.at + start;
}

// The step of an explanation, also one that was found before unless it is wanted `anew`: a step of a later event may
// assume more of level 0. -1 if the host finds none.
DEVICE i64 step_of(Trimming& t, const i64* words, i64 size, bool anew) {
  i64 step = anew ? -1 : recall(t.explained, words, size);
  if (step >= 0) return step;
  if (t.explained.count >= t.host->most_explained) forget_keys(t.explained);
  step = t.explainer(words, size);
  if (step < 0 || step >= t.step_starts.size) trim_fault(t, TRIM_HOST);
  else if (!memorise(t.explained, words, size, step)) trim_fault(t, TRIM_MEMORY);
  return t.fault ? -1 : step;
}

// Adds the hint of a clause.
DEVICE bool need_clause(Trimming& t, i64 name) {
  if (name >= 0) return need_event(t, event_of(t, name));
  i64 step = step_of(t, &name, 1, false);
  return step >= 0 && need_step(t, step);
}

// ---- the beginning and the end

static void end_trim(Trimming* t) {
  for (i64 i = 0; t->clauses && i < t->host->most_clauses; ++i) free(t->clauses[i].literals.at);
  free(t->clauses);
  free_table(t->explained);
  free_table(t->chained);
  NumberList* lists[] = {&t->hints,  &t->chains,  &t->step_starts, &t->step_needed, &t->assumed,
                         &t->record, &t->entries, &t->fired,       &t->bounds,      &t->changed,
                         &t->wanted, &t->premises, &t->sources};
  for (NumberList* list : lists) free(list->at);
  free(t->first_bound);
  free(t->last_bound);
  free(t);
}

// Null without memory.
static Trimming* begin_trim(ProofTrim* host, Explainer explainer) {
  Trimming* t = (Trimming*)calloc(1, sizeof(Trimming));
  if (!t) return nullptr;
  t->host = host;
  t->explainer = explainer;
  t->clauses = (ReadClause*)calloc((size_t)host->most_clauses, sizeof(ReadClause));
  t->first_bound = (i64*)malloc((size_t)host->n_sides * sizeof(i64));
  t->last_bound = (i64*)malloc((size_t)host->n_sides * sizeof(i64));
  if (!t->clauses || !t->first_bound || !t->last_bound) {
    end_trim(t);
    return nullptr;
  }
  for (i64 side = 0; side < host->n_sides; ++side) t->first_bound[side] = -1;
  return t;
}

// Finds the records that are no explanations among words of a log: their places, until a record that is not whole, or
// has a size that no record has. Returns their number; `end` is the place behind the last record that was looked at.
DEVICE i64 find_events(const i64* words, i64 size, i64* places, i64* end) {
  i64 count = 0, at = 0;
  for (; at + RECORD_HEAD <= size; at += words[at]) {
    if (words[at] < RECORD_HEAD || words[at] > MOST_WORDS) break;
    i64 kind = words[at + 1];
    if (kind != LOG_BY_ROW && kind != LOG_BY_CLAUSE) places[count++] = at;
    if (words[at] > size - at) {
      at += words[at];
      break;
    }
  }
  *end = at;
  return count;
}
