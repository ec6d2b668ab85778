// When to begin again at level 0, and what is different then.
//
// A finder restarts as Luby's sequence says (Luby, Sinclair, Zuckerman 1993), so that some of its runs are long. A
// prover restarts when the clauses of late have come from more levels than usual (Audemard, Simon, CP 2012): then it is
// not where it learns well. Every third of its runs begins by supposing that the objective is at its proved bound, or a
// little above it: if that fails, the bound rises, and the step with it (a lower bound search, as in destructive lower
// bounds: Klein, Scholl, EJOR 1999). Whoever probes finds fewer solutions, so only the prover does.
#pragma once

#include "../free/neighbourhood.h"
#include "analyse.h"
#include "decide.h"

#define LUBY_UNIT 100          // conflicts
#define GLUCOSE_LEAST 50       // conflicts between restarts
#define GLUCOSE_EXCESS 1.2
#define RECENT_SHARE (1.0 / 32)
#define USUAL_SHARE (1.0 / 8192)
#define PROBE_EVERY 3          // restarts

DEVICE bool is_prover(const Learner& l) { return l.role == METHOD_PROVER; }

DEVICE void note_lbd(Learner& l) {
  ++l.conflicts_here;
  l.recent_lbd += (l.lbd - l.recent_lbd) * RECENT_SHARE;
  l.usual_lbd += (l.lbd - l.usual_lbd) * USUAL_SHARE;
}

DEVICE bool wants_restart(const Learner& l) {
  if (l.level == 0) return false;
  if (l.clauses_full || l.lists_full) return true;
  if (is_prover(l)) return l.conflicts_here > GLUCOSE_LEAST && l.recent_lbd > GLUCOSE_EXCESS * l.usual_lbd;
  return l.conflicts_here >= l.conflict_limit;
}

DEVICE void restart(Learner& l) {
  backtrack(l, 0);
  ++l.restarts;
  ++statistics(*l.block).restarts;
  l.conflicts_here = 0;
  l.conflict_limit = luby(l.restarts % RESTART_CYCLE + 1) * LUBY_UNIT;
  l.recent_lbd = l.usual_lbd;
  l.pending_level = NO_LEVEL;
  l.probing = is_prover(l) && l.problem->sense != 0 && l.restarts % PROBE_EVERY == PROBE_EVERY - 1;
}

// The side that grows with the proved bound of the objective, and the opposite one, which grows with the incumbent.
DEVICE i32 goal_side(const Problem* p) { return 2 * p->objective + (p->sense < 0); }
DEVICE i32 cut_side(const Problem* p) { return opposite(goal_side(p)); }

// At level 0: the objective within so many of its proved bound. The step doubles while the bound rises, and shrinks
// when a probe has left it where it was.
DEVICE Literal probe_literal(Learner& l) {
  i32 side = cut_side(l.problem);
  i64 bound = -(i64)l.now[goal_side(l.problem)], least = (i64)l.now[side] + 1;
  l.probe_step = bound < l.probe_gap ? minimum(2 * l.probe_step, (i64)1 << 60) : maximum(l.probe_step / 4, (i64)1);
  l.probe_gap = bound;
  return literal(side, (bound_t)maximum(bound - minimum(l.probe_step - 1, bound - least), least));
}
