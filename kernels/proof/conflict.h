// The bounds that follow while the literals of a learned clause are false, up to two that contradict each other; and
// the hints that lead there, from the last to the first. Host code of trim.h.
#pragma once

#include <stdlib.h>
#include <string.h>

#include "../core/abi.h"
#include "numbers.h"
#include "trim.h"

constexpr i64 FROM_CLAUSE = -1, FROM_LEVEL_0 = -2;  // format: places of bounds that no explanation implies
constexpr i64 BOUND_NUMBERS = 3, SOURCE_NUMBERS = 4, CHANGE_NUMBERS = 2;  // format: of an element of these lists
constexpr i64 ENTRY_NUMBERS = 2;  // format: likewise

// A bound of a side while the literals are false: `place` is that of its explanation in `fired`; -1 ends `next`.
struct FiredBound {
  i64 k, place, next;
};

DEVICE FiredBound* bound_at(const Trimming& t, i64 place) { return (FiredBound*)(t.bounds.at + place); }

// Appends a bound to those of its side, and sets `now` to it if that is less.
DEVICE void add_bound(Trimming& t, i64 side, i64 k, i64 place) {
  i64 at = t.bounds.size;
  FiredBound bound = {k, place, -1};
  add_numbers(t.bounds, &bound.k, BOUND_NUMBERS);
  if (t.first_bound[side] >= 0) {
    bound_at(t, t.last_bound[side])->next = at;
  } else {
    t.first_bound[side] = at;
    add_number(t.changed, side);
    add_number(t.changed, t.host->now[side]);
  }
  t.last_bound[side] = at;
  if (t.host->now[side] < k) t.host->now[side] = k;
}

// Whether the literals hold now.
DEVICE bool are_known(const i64* now, const i64* literals, i64 size) {
  for (i64 i = 0; i < size; i += 2)
    if (now[literals[i]] < literals[i + 1]) return false;
  return true;
}

// The premises by which a clause implies a bound of the side, and the bound.
DEVICE bool take_premises(Trimming& t, i64 name, i64 side, i64* k) {
  const NumberList* clause = literals_of(t, name);
  if (!clause) return false;
  t.premises.size = 0;
  if (!make_room(t.premises, clause->size)) return trim_fault(t, TRIM_MEMORY);
  bool found = false;
  for (i64 i = 0; i < clause->size; i += 2) {
    i64 other = clause->at[i], bound = clause->at[i + 1];
    if (other == side) {
      *k = bound;
      found = true;
    } else {
      add_number(t.premises, other ^ 1);
      add_number(t.premises, 1 - bound);
    }
  }
  return found || trim_fault(t, TRIM_SILENT);
}

static int compare_entries(const void* one, const void* other) {
  const i64 *a = (const i64*)one, *b = (const i64*)other;
  i64 way = a[0] != b[0] ? (a[0] < b[0] ? -1 : 1) : (a[1] < b[1] ? -1 : a[1] > b[1]);
  return (int)way;
}

// Lists the explanations in the order of the entries of the trail; `size` words of the record are explanations.
DEVICE bool list_entries(Trimming& t, i64 size) {
  t.entries.size = 0;
  const i64* words = t.record.at;
  for (i64 at = 0; at < size; at += words[at]) {
    bool whole = size - at >= RECORD_PREMISES && words[at] >= RECORD_PREMISES && words[at] <= size - at;
    if (!whole || !is_side(t, words[at + 3]) ||
        !are_literals(t, words + at + RECORD_PREMISES, words[at] - RECORD_PREMISES))
      return trim_fault(t, TRIM_DAMAGED);
    if (!make_room(t.entries, ENTRY_NUMBERS)) return trim_fault(t, TRIM_MEMORY);
    add_number(t.entries, words[at + RECORD_HEAD]);
    add_number(t.entries, at);
  }
  qsort(t.entries.at, (size_t)(t.entries.size / ENTRY_NUMBERS), ENTRY_NUMBERS * sizeof(i64), compare_entries);
  return true;
}

// The place of a literal that holds at level 0, or -1: another learner has proved it, and this one had not heard of it.
DEVICE i64 find_true(const Trimming& t, const i64* literals, i64 size) {
  for (i64 i = 0; i < size; i += 2)
    if (t.host->now[literals[i]] >= literals[i + 1]) return i;
  return -1;
}

// Makes the literals false.
DEVICE void suppose(Trimming& t, const i64* literals, i64 size) {
  for (i64 i = 0; i < size; i += 2) {
    i64 side = literals[i] ^ 1, k = 1 - literals[i + 1];
    add_bound(t, side, k, FROM_CLAUSE);
  }
}

// Adds each bound whose premises are known, until one contradicts another: the last one of `fired`. False if none does.
DEVICE bool fire(Trimming& t) {
  i64* now = t.host->now;
  for (i64 i = 0; i < t.entries.size; i += ENTRY_NUMBERS) {
    i64 at = t.entries.at[i + 1];
    const i64* words = t.record.at + at;
    i64 side = words[3], k = words[4];
    const i64* premises = words + RECORD_PREMISES;
    i64 size = words[0] - RECORD_PREMISES;
    if (words[1] == LOG_BY_CLAUSE) {
      if (!take_premises(t, words[5], side, &k)) return false;
      premises = t.premises.at;
      size = t.premises.size;
    }
    if (now[side] >= k || !are_known(now, premises, size)) continue;
    add_bound(t, side, k, t.fired.size);
    add_number(t.fired, at);
    if (now[side ^ 1] > -k) return true;
  }
  return trim_fault(t, TRIM_UNPROVED);
}

// Makes level 0 the bounds of now again.
DEVICE void take_back(Trimming& t) {
  for (i64 i = 0; i < t.changed.size; i += CHANGE_NUMBERS) t.host->now[t.changed.at[i]] = t.changed.at[i + 1];
}

// How the premises except one are known from what was fired before `place`: side, k, its known bound, and the place of
// that. Bounds of the model are left out. False if one is not known.
DEVICE bool find_sources(Trimming& t, const i64* premises, i64 size, i64 place, i64 except_side, i64 except_k) {
  t.sources.size = 0;
  for (i64 i = 0; i < size; i += 2) {
    i64 side = premises[i], k = premises[i + 1], known = k, by = FROM_LEVEL_0;
    if (k <= t.host->first[side] || (side == except_side && k == except_k)) continue;
    if (t.host->now[side] < k) {
      i64 at = t.first_bound[side];
      while (at >= 0 && bound_at(t, at)->k < k) at = bound_at(t, at)->next;
      if (at < 0 || bound_at(t, at)->place >= place) return false;
      known = bound_at(t, at)->k;
      by = bound_at(t, at)->place;
    }
    const i64 source[] = {side, k, known, by};
    if (!add_numbers(t.sources, source, SOURCE_NUMBERS)) return trim_fault(t, TRIM_MEMORY);
  }
  return true;
}

// Adds the hints for the sources, and notes which explanations they need.
DEVICE bool link_sources(Trimming& t) {
  for (i64 i = 0; i < t.sources.size; i += SOURCE_NUMBERS) {
    const i64* source = t.sources.at + i;
    if (source[3] == FROM_LEVEL_0) {
      if (!need_root(t, source[0], source[1])) return false;
      continue;
    }
    if (source[3] != FROM_CLAUSE) t.wanted.at[source[3]] = 1;
    if (source[2] > source[1] && !need_chain(t, source[0], source[2], source[1])) return false;
  }
  return true;
}

// Adds the hints for one explanation.
DEVICE bool tell_one(Trimming& t, i64 place) {
  const i64* words = t.record.at + t.fired.at[place];
  i64 side = words[3], k = words[4], size;
  if (words[1] == LOG_BY_CLAUSE) {
    if (!need_clause(t, words[5]) || !take_premises(t, words[5], side, &k)) return false;
    if (!find_sources(t, t.premises.at, t.premises.size, place, -1, 0))
      return t.fault ? false : trim_fault(t, TRIM_UNKNOWN);
    return link_sources(t);
  }
  for (i32 tries = 0; tries < 2; ++tries) {  // an older step may assume more of level 0 than holds here
    i64 step = step_of(t, words + 3, words[0] - 3, tries > 0);
    if (step < 0) return false;
    const i64* assumed = assumed_by(t, step, &size);
    if (find_sources(t, assumed, size, place, side ^ 1, 1 - k)) return need_step(t, step) && link_sources(t);
    if (t.fault) return false;
  }
  return trim_fault(t, TRIM_UNKNOWN);
}

// Adds the hints that lead to the contradiction, from the last to the first.
DEVICE bool tell(Trimming& t) {
  i64 n_fired = t.fired.size;
  t.wanted.size = 0;
  if (!make_room(t.wanted, n_fired)) return trim_fault(t, TRIM_MEMORY);
  memset(t.wanted.at, 0, (size_t)n_fired * sizeof(i64));
  t.wanted.at[n_fired - 1] = 1;
  const i64* last = t.record.at + t.fired.at[n_fired - 1];
  i64 side = last[3], k = last[4];
  if (last[1] == LOG_BY_CLAUSE && !take_premises(t, last[5], side, &k)) return false;
  const i64 against[] = {side ^ 1, 1 - k};
  if (!find_sources(t, against, 2, n_fired, -1, 0)) return t.fault ? false : trim_fault(t, TRIM_UNKNOWN);
  if (!link_sources(t)) return false;
  for (i64 place = n_fired - 1; place >= 0; --place)
    if (t.wanted.at[place] && !tell_one(t, place)) return false;
  return true;
}

// Finds the hints of the clause that the event has learned. Returns 0, or a TrimFault.
static i64 explain_clause(Trimming& t) {
  const ProofTrim& host = *t.host;
  i64 start = host.event ? host.ends[host.event - 1] : 0, size = host.places[host.event] - start;
  t.fault = 0;
  if (!read_log(t, start, host.ends[host.event], t.record)) return t.fault;
  const i64* literals = t.record.at + size + RECORD_HEAD + 1;
  i64 n_numbers = t.record.size - size - RECORD_HEAD - 1;
  if (!are_literals(t, literals, n_numbers)) return TRIM_DAMAGED;
  i64 known = find_true(t, literals, n_numbers);
  if (known >= 0) return fault_of(t, need_root(t, literals[known], literals[known + 1]));
  t.fired.size = t.bounds.size = t.changed.size = 0;
  i64 most = t.record.size;  // bounds at most: half as many literals, and a sixth as many explanations
  bool room = make_room(t.fired, most) && make_room(t.bounds, BOUND_NUMBERS * most);
  if (!room || !make_room(t.changed, CHANGE_NUMBERS * most)) return TRIM_MEMORY;
  if (!list_entries(t, size)) return t.fault;
  suppose(t, literals, n_numbers);
  bool failed = fire(t);
  take_back(t);
  if (failed) tell(t);
  for (i64 i = 0; i < t.changed.size; i += CHANGE_NUMBERS) t.first_bound[t.changed.at[i]] = -1;
  return t.fault;
}
