// From a conflict to a clause: the first unique implication point.
//
// The resolvent holds true literals that cannot be true together, at most one threshold a side: of two, the higher
// implies the other. The trail is walked down; a literal of the conflict's level is replaced by its reason until only
// one is left of that level (1UIP: Zhang et al., ICCAD 2001). A row is asked to explain the threshold that is needed,
// not what it set. Then each other literal is left out that the rest implies (recursive minimisation: Sörensson, Biere,
// SAT 2009), with a memo of each entry's thresholds. A literal may be implied only through entries *before* its own:
// else two could remove each other.
#pragma once

#include "undo.h"

#define DEEPEST_MINIMISATION 30
#define NEVER_NEEDED (-1)
#define NO_MORE_NEEDED (-2)

// The resolvent needs `a`, which is true.
DEVICE void require(Learner& l, Literal a) {
  if (a.k <= l.root[a.side]) return;
  i32 before = l.needed_at[a.side];
  if (before >= 0 && l.needed[a.side] >= a.k) return;
  i32 i = entry_of(l, a, l.trail_size);
  if (before == NEVER_NEEDED) l.touched[l.n_touched++] = a.side;
  if (before < 0) bump(l, var_of(a.side));
  bool was_open = before >= 0 && l.trail[before].level == l.conflict_level;
  if (l.trail[i].level == l.conflict_level && !was_open) ++l.open_here;
  l.needed_at[a.side] = i;
  l.needed[a.side] = a.k;
}

// The highest level of the conflict's literals.
DEVICE i32 find_conflict_level(const Learner& l, const Reason& why) {
  i32 level = 0;
  for (i32 i = 0; i < why.count; ++i) {
    Literal a;
    if (!get_premise(why, i, &a) || a.k <= l.root[a.side]) continue;
    level = maximum(level, l.trail[entry_of(l, a, l.trail_size)].level);
  }
  return level;
}

// The conflict as a reason for nothing: true literals that cannot be true together. Those by which the side would have
// grown, and the one that forbids it, if they come from a row; all those of a clause.
DEVICE void get_conflict(const Learner& l, Reason& why) {
  bound_t against = l.now[opposite(l.refused)];
  Literal least = literal(l.refused, 1 - against);  // what contradicts it already
  explain(l, l.refused_reason, least, l.trail_size + 1, why);
  why.skipped = -1;
  if (!why.clause) why.own.literals[why.count++] = negation(least);
}

DEVICE void require_all(Learner& l, const Reason& why) {
  for (i32 i = 0; i < why.count; ++i) {
    Literal a;
    if (get_premise(why, i, &a)) require(l, a);
  }
}

// Resolves down to the first unique implication point; its entry. Walked entries are taken out of the links, or long
// chains of one side would be walked again and again.
DEVICE i32 resolve(Learner& l) {
  for (i32 i = l.trail_size - 1;; --i) {
    Entry e = l.trail[i];
    if (l.needed_at[e.side] == i) {
      if (l.open_here == 1) return i;
      Reason why;
      explain(l, e.reason, literal(e.side, l.needed[e.side]), i, why);
      if (!is_row_reason(e.reason)) clause_at(l, e.reason >> 1)->activity += 1;
      l.needed_at[e.side] = NO_MORE_NEEDED;
      --l.open_here;
      l.last[e.side] = e.previous;
      require_all(l, why);
    } else {
      l.last[e.side] = e.previous;
    }
  }
}

// Whether the other literals of the resolvent imply the side's k, which entry i reached.
OUTLINE bool is_redundant(Learner& l, i32 i, bound_t k, i32 depth) {
  Entry e = l.trail[i];
  if (e.reason == DECISION || depth > DEEPEST_MINIMISATION) return false;
  Memo* memo = &l.memos[i];
  if (memo->stamp != l.stamp) {
    Memo fresh = {l.stamp, l.root[e.side], e.now};
    *memo = fresh;
    ++memo->refused;  // beyond what the entry gives
  }
  if (memo->implied >= k) return true;
  if (memo->refused <= k) return false;
  Reason why;
  explain(l, e.reason, literal(e.side, k), i, why);
  bool implied = true;
  for (i32 j = 0; implied && j < why.count; ++j) {
    Literal a;
    if (!get_premise(why, j, &a) || a.k <= l.root[a.side]) continue;
    if (is_needed(l, a.side, a.k) && l.needed_at[a.side] < i) continue;
    i32 at = entry_of(l, a, i);
    implied = l.stamps[l.trail[at].level] == l.stamp && is_redundant(l, at, a.k, depth + 1);
  }
  memo = &l.memos[i];
  if (implied) memo->implied = maximum(memo->implied, k);
  else memo->refused = minimum(memo->refused, k);
  return implied;
}

// Counts the level of an entry once.
DEVICE void count_level(Learner& l, i32 level) {
  if (l.stamps[level] == l.stamp) return;
  l.stamps[level] = l.stamp;
  ++l.lbd;
}

// The variable is next split where this conflict looked at it.
DEVICE void note_split(Learner& l, i32 side) {
  l.split[var_of(side)] = is_upper(side) ? 1 - l.needed[side] : l.needed[side];
}

// Writes the clause: the asserting literal, then the others, one of the highest level first. The level to go back to.
DEVICE i32 write_clause(Learner& l, i32 point) {
  for (i32 i = 0; i < l.n_touched; ++i) {
    i32 at = l.needed_at[l.touched[i]];
    if (at >= 0) l.stamps[l.trail[at].level] = l.stamp;
  }
  i32 uip_side = l.trail[point].side, back = 0;
  l.n_learned = 0;
  l.learned[l.n_learned++] = negation(literal(uip_side, l.needed[uip_side]));
  note_split(l, uip_side);
  for (i32 i = 0; i < l.n_touched; ++i) {
    i32 side = l.touched[i], at = l.needed_at[side];
    if (at < 0 || at == point) continue;
    if (!(LEARN_WITHOUT & WITHOUT_MINIMISATION) && is_redundant(l, at, l.needed[side], 0)) {
      ++l.statistics->minimised;
      continue;
    }
    l.learned[l.n_learned++] = negation(literal(side, l.needed[side]));
    note_split(l, side);
    if (l.trail[at].level <= back) continue;
    back = l.trail[at].level;
    Literal highest = l.learned[l.n_learned - 1];
    l.learned[l.n_learned - 1] = l.learned[1];
    l.learned[1] = highest;
  }
  return back;
}

// How many levels the clause's literals come from.
DEVICE void count_levels(Learner& l) {
  ++l.stamp;
  l.lbd = 0;
  for (i32 i = 0; i < l.n_learned; ++i) {
    i32 side = opposite(l.learned[i].side);
    count_level(l, l.trail[l.needed_at[side]].level);
  }
}

// The clause of the last conflict, in l.learned; the level at which its first literal follows, or -1 when nothing is
// left to search. The conflict's own level is entered.
OUTLINE i32 analyse(Learner& l) {
  if (l.level == 0) return -1;
  Reason why;
  get_conflict(l, why);
  l.conflict_level = find_conflict_level(l, why);
  if (l.conflict_level == 0) return -1;
  backtrack(l, l.conflict_level);
  ++l.stamp;
  l.n_touched = l.open_here = 0;
  require_all(l, why);
  i32 point = resolve(l);
  for (i32 i = point; i < l.trail_size; ++i) l.last[l.trail[i].side] = i;
  i32 back = write_clause(l, point);
  count_levels(l);
  for (i32 i = 0; i < l.n_touched; ++i) l.needed_at[l.touched[i]] = NEVER_NEEDED;
  l.activity_step *= ACTIVITY_GROWTH;
  return back;
}
