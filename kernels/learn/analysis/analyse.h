// From a conflict to a clause: the first unique implication point.
//
// The resolvent holds true literals that cannot be true together, at most one threshold a side: the higher of two
// implies the other. The trail is walked down; a literal of the conflict's level is replaced by its reason until only
// one of that level is left (1UIP: Zhang et al., ICCAD 2001). A row explains the threshold that is needed, not the
// bound that it set. Then literals that the others imply are removed (recursive minimisation: Sörensson, Biere, SAT
// 2009), with a memo of each entry's thresholds. A literal may be implied only through entries *before* its own, or two
// could remove each other.
#pragma once

#include "../../core/assert.h"
#include "../../core/interval.h"
#include "../../core/room.h"
#include "../state/ablation.h"
#include "../clauses/clauses.h"
#include "../search/decide.h"
#include "explain.h"
#include "../state/heap.h"
#include "../state/literal.h"
#include "../state/log.h"
#include "../state/parts.h"
#include "../propagators/resolvent.h"
#include "../state/sides.h"
#include "../state/trail.h"
#include "../search/undo.h"
#include "../tuning.h"

// The results of minimisation for an entry in the conflict number `stamp`.
struct Memo {
  i32 stamp;
  bound_t implied, refused;
};

struct Analysis {
  Memo* memos;  // one for each entry
  i32* stamps;  // for each level: the last conflict that counted it
  i32 stamp;    // the conflict's number
};

PART(Analysis, analysis);

constexpr i64 ANALYSIS_BYTES = (i64)(sizeof(Memo) + sizeof(i32));  // for each entry that the trail has room for

DEVICE void take_memory(Analysis& s, i32 capacity, Room& room) {
  s.stamps = take<i32>(room, capacity);
  s.memos = take<Memo>(room, capacity);
}

// Adds `a`, which is true, to the resolvent.
DEVICE void require(Learner& l, Literal a) {
  ASSERT(is_true(l, a));
  if (a.k <= sides(l).root[a.side]) return;
  Resolvent& s = resolvent(l);
  const Entry* entries = trail(l).entries;
  i32 before = s.entry[a.side];
  if (before >= 0 && s.k[a.side] >= a.k) return;
  i32 i = entry_of(l, a, trail(l).size);
  ASSERT(i >= 0 && entries[i].level <= s.level);
  if (before == NEVER_NEEDED) s.touched[s.n_touched++] = a.side;
  if (before < 0 && !s.is_tried) bump(l, var_of(a.side));
  bool was_open = before >= 0 && entries[before].level == s.level;
  if (entries[i].level == s.level && !was_open) ++s.open;
  s.entry[a.side] = i;
  s.k[a.side] = a.k;
}

// The highest level of the conflict's literals.
DEVICE i32 find_conflict_level(const Learner& l, const Reason& why) {
  i32 level = 0;
  for (i32 i = 0; i < why.count; ++i) {
    Literal a;
    if (!get_premise(why, i, &a) || a.k <= sides(l).root[a.side]) continue;
    level = maximum(level, trail(l).entries[entry_of(l, a, trail(l).size)].level);
  }
  return level;
}

// The conflict as a set of true literals that cannot be true together: those of a clause; or the premises by which a
// row would have moved the side, and the literal that contradicts it.
DEVICE void get_conflict(const Learner& l, Reason& why) {
  const Trail& t = trail(l);
  bound_t against = sides(l).now[opposite(t.refused)];
  Literal least = literal(t.refused, 1 - against);  // the least threshold that is a contradiction
  ASSERT(is_side(l, t.refused) && t.outcome == CONFLICT);
  explain(l, t.refused_reason, least, t.size + 1, why);
  why.skipped = -1;
  if (!why.clause) why.own.literals[why.count++] = negation(least);
}

DEVICE void require_all(Learner& l, const Reason& why) {
  for (i32 i = 0; i < why.count; ++i) {
    Literal a;
    if (get_premise(why, i, &a)) require(l, a);
  }
}

// An empty resolvent of a conflict at this level.
DEVICE void begin_resolvent(Learner& l, i32 level) {
  resolvent(l).level = level;
  resolvent(l).n_touched = resolvent(l).open = 0;
}

DEVICE void end_resolvent(Learner& l) {
  Resolvent& s = resolvent(l);
  for (i32 i = 0; i < s.n_touched; ++i) s.entry[s.touched[i]] = NEVER_NEEDED;
}

// Resolves from behind entry `i` down to the next decision that the resolvent needs. Returns its entry, and in `needed`
// what is needed of it; -1 where there is none. Entries passed are unlinked, as by `resolve`; `relink` ends that.
DEVICE i32 resolve_to_decision(Learner& l, i32 i, Literal* needed) {
  Trail& t = trail(l);
  Resolvent& s = resolvent(l);
  while (--i >= 0) {
    const Entry e = t.entries[i];
    if (s.entry[e.side] != i) {
      t.last[e.side] = e.previous;
      continue;
    }
    *needed = literal(e.side, s.k[e.side]);
    s.entry[e.side] = NO_MORE_NEEDED;
    if (e.reason == DECISION) break;
    Reason why = reason_at(l, 0);
    explain(l, e.reason, *needed, i, why);
    t.last[e.side] = e.previous;
    require_all(l, why);
  }
  return i;
}

// Links all entries from `from` on again.
DEVICE void relink(Learner& l, i32 from) {
  Trail& t = trail(l);
  for (i32 i = from; i < t.size; ++i) t.last[t.entries[i].side] = i;
}

// Resolves down to the first unique implication point and returns its entry. Entries passed are unlinked, or long
// chains of one side would be walked repeatedly.
DEVICE i32 resolve(Learner& l) {
  Trail& t = trail(l);
  Resolvent& s = resolvent(l);
  for (i32 i = t.size - 1;; --i) {
    ASSERT(i >= 0 && t.entries[i].level == s.level && s.open > 0);
    Entry e = t.entries[i];
    if (s.entry[e.side] == i) {
      if (s.open == 1) return i;
      Reason why = reason_at(l, 0);
      explain(l, e.reason, literal(e.side, s.k[e.side]), i, why);
      if (!is_row_reason(e.reason)) clause_at(l, e.reason >> 1)->activity += 1;
      s.entry[e.side] = NO_MORE_NEEDED;
      --s.open;
      t.last[e.side] = e.previous;
      require_all(l, why);
    } else {
      t.last[e.side] = e.previous;
    }
  }
}

// Whether the other literals of the resolvent imply the side's k, which entry i reached.
OUTLINE bool is_redundant(Learner& l, i32 i, bound_t k, i32 depth) {
  ASSERT(0 <= i && i < trail(l).size && trail(l).entries[i].now >= k);
  const Analysis& s = analysis(l);
  Entry e = trail(l).entries[i];
  if (e.reason == DECISION || depth > DEEPEST_MINIMISATION) return false;
  Memo* memo = &s.memos[i];
  if (memo->stamp != s.stamp) {
    Memo fresh = {s.stamp, sides(l).root[e.side], e.now};
    *memo = fresh;
    ++memo->refused;  // above the entry's threshold
  }
  if (memo->implied >= k) return true;
  if (memo->refused <= k) return false;
  Reason why = reason_at(l, depth + 1);
  explain(l, e.reason, literal(e.side, k), i, why);
  bool implied = true;
  for (i32 j = 0; implied && j < why.count; ++j) {
    Literal a;
    if (!get_premise(why, j, &a) || a.k <= sides(l).root[a.side]) continue;
    if (is_needed(l, a.side, a.k) && resolvent(l).entry[a.side] < i) continue;
    i32 at = entry_of(l, a, i);
    implied = s.stamps[trail(l).entries[at].level] == s.stamp && is_redundant(l, at, a.k, depth + 1);
  }
  if (implied) memo->implied = maximum(memo->implied, k);
  else memo->refused = minimum(memo->refused, k);
  return implied;
}

// Counts the level of an entry once.
DEVICE void count_level(Learner& l, i32 level) {
  Analysis& s = analysis(l);
  if (s.stamps[level] == s.stamp) return;
  s.stamps[level] = s.stamp;
  ++learned(l).lbd;
}

// The variable will next be split at the threshold of this conflict.
DEVICE void note_split(Learner& l, i32 side) {
  bound_t k = resolvent(l).k[side];
  guidance(l).split[var_of(side)] = is_upper(side) ? 1 - k : k;
}

// Adds the negation of the resolvent's literal of the side to the clause.
DEVICE void write_literal(Learner& l, i32 side) {
  Learned& clause = learned(l);
  ASSERT(clause.size < n_sides(problem(l)));
  clause.literals[clause.size++] = negation(literal(side, resolvent(l).k[side]));
  note_split(l, side);
}

// Writes the clause: the asserting literal, then the others, one of the highest level first. Returns the level to
// backtrack to.
DEVICE i32 write_clause(Learner& l, i32 point) {
  const Resolvent& s = resolvent(l);
  const Entry* entries = trail(l).entries;
  Learned& clause = learned(l);
  for (i32 i = 0; i < s.n_touched; ++i) {
    i32 at = s.entry[s.touched[i]];
    if (at >= 0) analysis(l).stamps[entries[at].level] = analysis(l).stamp;
  }
  i32 back = 0;
  clause.size = 0;
  write_literal(l, entries[point].side);
  for (i32 i = 0; i < s.n_touched; ++i) {
    i32 side = s.touched[i], at = s.entry[side];
    if (at < 0 || at == point) continue;
    if (!is_left_out(WITHOUT_MINIMISATION) && is_redundant(l, at, s.k[side], 0)) {
      ++statistics(l).minimised;
      continue;
    }
    write_literal(l, side);
    if (entries[at].level <= back) continue;
    back = entries[at].level;
    Literal highest = clause.literals[clause.size - 1];
    clause.literals[clause.size - 1] = clause.literals[1];
    clause.literals[1] = highest;
  }
  return back;
}

// Sets the number of levels that the clause's literals come from (LBD).
DEVICE void count_levels(Learner& l) {
  ++analysis(l).stamp;
  learned(l).lbd = 0;
  for (i32 i = 0; i < learned(l).size; ++i) {
    i32 side = opposite(learned(l).literals[i].side);
    count_level(l, trail(l).entries[resolvent(l).entry[side]].level);
  }
}

// The last conflict holds at level 0: the space is exhausted.
DEVICE i32 refuse_space(const Learner& l) {
#ifdef PROOF
  log_refuted(l, logged_reason(l, trail(l).refused_reason));
#else
  (void)l;
#endif
  return -1;
}

// Writes the clause of the last conflict to learned(l). Returns the level at which its first literal follows, or -1
// when the space is exhausted. Backtracks to the conflict's level.
OUTLINE i32 analyse(Learner& l) {
  if (trail(l).level == 0) log_entries(l);
  if (trail(l).level == 0) return refuse_space(l);
  Reason why = reason_at(l, 0);
  get_conflict(l, why);
  const i32 level = find_conflict_level(l, why);
  if (level == 0) return refuse_space(l);
  backtrack(l, level);
  ++analysis(l).stamp;
  begin_resolvent(l, level);
  require_all(l, why);
  i32 point = resolve(l);
  relink(l, point);
  i32 back = write_clause(l, point);
  count_levels(l);
  ASSERT(0 <= back && back < level && 0 < learned(l).lbd && learned(l).lbd <= learned(l).size);
  end_resolvent(l);
  heap(l).step *= gain_growth(statistics(block(l)).failures);
  return back;
}
