// cumulative as a whole: a time table.
//
// A task whose latest start is before its earliest end runs between these two times for certain. What such tasks use
// together at a time is the profile (Lahrichi 1982): the capacity is at least that much, and a task that does not fit
// beside the profile at a time either ends before or starts behind it. A row raises the earliest starts; with the
// opposite sides, where time runs backwards, the same code lowers the latest ones: `flip` says which.
//
// A task is moved behind one time after the other, each less than its length away from its start, so that one time is
// the reason for each step: the tasks that are sure to run then leave no room (pointwise explanations: Schutt, Feydy,
// Stuckey, Wallace, Constraints 2011). Their thresholds are the weakest with which they run then, and only as many of
// them are named as are needed. A piece of the profile that is many times as long as the task would take as many steps,
// and fill the trail: behind that the task is moved at once, and the reason is what runs all the time.
#pragma once

#include "../../core/assert.h"
#include "../../core/interval.h"
#include "../tuning.h"
#include "delay.h"
#include "../state/literal.h"
#include "oracle.h"
#include "../state/parts.h"
#include "../state/sides.h"
#include "../state/trail.h"
#include "time_table.h"
#include "wide.h"

// Moves a task behind the times at which it does not fit. False on a fault. `settled` becomes false if the profile is
// another one then, for the task is sure to run.
DEVICE bool move_task(Learner& l, i32 row, const Tasks& tasks, const Profile& p, i32 i, i32 flip, bool& settled) {
  Span s = span_of(l, tasks, i, flip, trail(l).size);
  i32 side = 2 * start_of(tasks, i) + flip;
  wide_t room = -(wide_t)sides(l).now[upper_side(tasks.capacity)] - s.use, start = s.start, back = flip ? s.length : 0;
  if (!uses(s) || start == s.from) return true;
  for (i32 k = first_behind(p, start); k + 1 < p.count && p.at[k] < start + s.length; ++k) {
    bool is_own = s.from <= p.at[k] && p.at[k + 1] <= s.to;
    if (is_own || p.use[k] <= room) continue;
    bool walks = (p.at[k + 1] - start) / s.length < MOST_STEPS;
    while (start < p.at[k + 1]) {
      start = walks ? minimum(p.at[k + 1], start + s.length) : p.at[k + 1];
      if (!set_side(l, side, (value_t)(start + back), row_reason(row))) return false;
    }
  }
  settled = settled && (start == s.start || start <= s.from - s.length);
  return true;
}

// Of the tasks that are looked at, those that may have to move: not fixed, and too large for the room beside the peak.
DEVICE i32 keep_movers(const Table& table, i32* looked, i32 n) {
  wide_t room = -(wide_t)table.capacity - table.peak;
  i32 kept = 0;
  for (i32 k = 0; k < n; ++k) {
    const Seen& task = table.seen[looked[k]];
    bool is_fixed = task.earliest == -task.negated_latest;
    if (uses(task) && task.use > room && !is_fixed) looked[kept++] = looked[k];
  }
  return kept;
}

// The profile where time runs backwards, in memory for one.
DEVICE Profile mirrored(const Profile& p, wide_t* memory, i32 n) {
  Profile back = {memory, memory + n, p.count};
  for (i32 k = 0; k < p.count; ++k) {
    back.at[k] = p.at[k];
    back.use[k] = p.use[k];
  }
  mirror(back);
  return back;
}

// What the first half of a run has found out is not in the profile that the other one uses: the row runs again if a
// task that was moved is sure to run.
OUTLINE bool run_cumulative(Learner& l, i32 row) {
  Tasks tasks = tasks_of(l, row);
  Table& table = table_of(l, row);
  i32* looked = scratch(l).places;
  Look look = look_at(l, tasks, table, looked);
  table.is_settled = false;
  wide_t needed = minimum(maximum(look.most, table.peak), 1 - (wide_t)table.capacity);
  if (!set_side(l, lower_side(tasks.capacity), (value_t)needed, row_reason(row))) return false;
  i32 n_movers = keep_movers(table, looked, look.count), size = trail(l).size;
  bool settled = n_movers == 0 || !names_twice(l, row);
  for (i32 flip = 0; flip < 2 && n_movers > 0; ++flip) {
    Profile p = flip ? mirrored(table.profile, scratch(l).numbers, 2 * tasks.count) : table.profile;
    for (i32 k = 0; k < n_movers; ++k) {
      if (!move_task(l, row, tasks, p, looked[k], flip, settled)) return false;
    }
  }
  table.is_settled = trail(l).size == size;
  delay_of(l, row).has_said_all = settled;
  return true;
}

// ---- explanations

// Times from..to.
struct Period { wide_t from, to; };

DEVICE Period moment(wide_t time) {
  Period period = {time, time};
  return period;
}

// What a task uses all the time of a period for certain, before entry t.
DEVICE wide_t held_use(const Learner& l, const Tasks& tasks, i32 i, Period period, i32 t) {
  i32 start = start_of(tasks, i);
  if (-(wide_t)held(l, upper_side(start), t) > period.from) return 0;
  wide_t end = (wide_t)held(l, lower_side(start), t) + held(l, lower_side(length_of(tasks, i)), t);
  return end > period.to ? maximum((wide_t)held(l, lower_side(use_of(tasks, i)), t), (wide_t)0) : 0;
}

// What the tasks but `own` use, each of them all the time.
DEVICE wide_t held_profile(const Learner& l, const Tasks& tasks, i32 own, Period period, i32 t) {
  wide_t sum = 0;
  for (i32 i = 0; i < tasks.count; ++i) {
    if (i != own) sum += held_use(l, tasks, i, period, t);
  }
  return sum;
}

// A task runs all the time and uses what it uses.
DEVICE void add_running(const Learner& l, const Tasks& tasks, i32 i, Period period, i32 t, Premises& why) {
  bound_t length = held(l, lower_side(length_of(tasks, i)), t), use = held(l, lower_side(use_of(tasks, i)), t);
  add_premise(l, why, literal(upper_side(start_of(tasks, i)), (bound_t)-period.from));
  add_premise(l, why, literal(lower_side(start_of(tasks, i)), (bound_t)(period.to + 1 - length)));
  add_premise(l, why, literal(lower_side(length_of(tasks, i)), length));
  add_premise(l, why, literal(lower_side(use_of(tasks, i)), use));
}

// Tasks but `own` that use `need` together all the time. What is more than that is left out, one task after the other.
DEVICE void add_profile(
    const Learner& l, const Tasks& tasks, i32 own, Period period, wide_t need, i32 t, Premises& why) {
  wide_t slack = held_profile(l, tasks, own, period, t) - need;
  ASSERT(slack >= 0);
  for (i32 i = 0; i < tasks.count; ++i) {
    wide_t use = i == own ? 0 : held_use(l, tasks, i, period, t);
    if (use == 0) continue;
    if (use <= slack) slack -= use;
    else add_running(l, tasks, i, period, t, why);
  }
}

// The first of the times from..to at which the others use `need`; to + 1 if there is none. If it is behind `from`, a
// task that is sure to run begins then.
DEVICE wide_t find_crowded(const Learner& l, const Tasks& tasks, i32 own, wide_t from, wide_t to, wide_t need, i32 t) {
  if (from > to || held_profile(l, tasks, own, moment(from), t) >= need) return from;
  wide_t found = to + 1;
  for (i32 i = 0; i < tasks.count; ++i) {
    wide_t time = -(wide_t)held(l, upper_side(start_of(tasks, i)), t);
    if (i == own || time <= from || time >= found || held_use(l, tasks, i, moment(time), t) == 0) continue;
    if (held_profile(l, tasks, own, moment(time), t) >= need) found = time;
  }
  return found;
}

// The capacity is at least k, since one task uses that much.
DEVICE bool explain_by_task(const Learner& l, const Tasks& tasks, wide_t k, i32 t, Premises& why) {
  for (i32 i = 0; i < tasks.count; ++i) {
    i32 length = lower_side(length_of(tasks, i)), use = lower_side(use_of(tasks, i));
    if (held(l, length, t) <= 0 || held(l, use, t) < k) continue;
    add_premise(l, why, literal(length, 1));
    add_premise(l, why, literal(use, (bound_t)k));
    return true;
  }
  return false;
}

// The capacity is at least k, since some tasks use that much at a time.
DEVICE bool explain_capacity(const Learner& l, const Tasks& tasks, wide_t k, i32 t, Premises& why) {
  wide_t first = INFINITE_BOUND, last = -INFINITE_BOUND;
  for (i32 i = 0; i < tasks.count; ++i) {
    wide_t time = -(wide_t)held(l, upper_side(start_of(tasks, i)), t);
    first = minimum(first, time);
    last = maximum(last, time);
  }
  wide_t time = find_crowded(l, tasks, -1, first, last, k, t);
  if (time > last) return false;
  add_profile(l, tasks, -1, moment(time), k, t, why);
  return true;
}

// When the others leave task i no room, so that a holds: at a time that it cannot run behind, or, where it has been
// moved far at once, all the time from where it could have begun on. False if there is no such time.
DEVICE bool find_barred(
    const Learner& l, const Tasks& tasks, i32 i, Literal a, wide_t length, wide_t need, i32 t, Period& barred) {
  bool backwards = is_upper(a.side);
  bound_t now = held(l, a.side, t);
  wide_t from = backwards ? -(wide_t)now : (wide_t)a.k - 1;
  wide_t to = backwards ? length - a.k : now + length - 1;
  if (from > to) {
    barred = {to, from};
    return held_profile(l, tasks, i, barred, t) >= need;
  }
  barred = moment(find_crowded(l, tasks, i, from, to, need, t));
  return barred.from <= to;
}

// Task i does not run while the others leave it no room, and does not end before that, or, backwards, does not start
// behind it.
DEVICE bool explain_start(const Learner& l, const Tasks& tasks, i32 i, Literal a, i32 t, Premises& why) {
  bound_t length = held(l, lower_side(length_of(tasks, i)), t), use = held(l, lower_side(use_of(tasks, i)), t);
  bound_t capacity = -held(l, upper_side(tasks.capacity), t);
  if (length <= 0 || use <= 0) return false;
  wide_t need = (wide_t)capacity - use + 1;
  Period barred;
  if (!find_barred(l, tasks, i, a, length, need, t, barred)) return false;
  add_premise(l, why, literal(a.side, (bound_t)(is_upper(a.side) ? -barred.to : barred.from + 1 - length)));
  add_premise(l, why, literal(lower_side(length_of(tasks, i)), length));
  add_premise(l, why, literal(lower_side(use_of(tasks, i)), use));
  add_premise(l, why, literal(upper_side(tasks.capacity), -capacity));
  add_profile(l, tasks, i, barred, need, t, why);
  return true;
}

OUTLINE bool explain_cumulative(const Learner& l, i32 row, Literal a, i32 t, Premises& why) {
  Tasks tasks = tasks_of(l, row);
  if (a.side == lower_side(tasks.capacity)) {
    if (explain_by_task(l, tasks, a.k, t, why) || explain_capacity(l, tasks, a.k, t, why)) return true;
  }
  for (i32 i = 0; i < tasks.count; ++i) {
    if (start_of(tasks, i) == var_of(a.side) && explain_start(l, tasks, i, a, t, why)) return true;
  }
  return false;
}

#ifdef CHECK_EXPLANATIONS
// The check of debug builds, which shares nothing with the propagation above.

// The sides that a row of tasks moves: the lower one of the capacity, and both of each start.
static bool moves_of_tasks(i32 argument, bool upper) { return argument == 0 ? !upper : argument % 3 == 1; }

// Whether each task by itself uses at most the capacity, and so do those that run for certain when one starts at the
// latest.
static bool may_fit(const Learner& l, const Wide& r, const bound_t* plain) {
  const i32* arguments = arguments_of(problem(l), r);
  i32 n = n_arguments(r);
  for (i32 j = 1; j < n; j += 3) {
    __int128 time = -(__int128)plain[upper_side(arguments[j])], used = 0;
    bool runs = plain[lower_side(arguments[j + 1])] > 0;
    if (runs && plain[lower_side(arguments[j + 2])] > -(__int128)plain[upper_side(arguments[0])]) return false;
    for (i32 i = 1; i < n; i += 3) {
      __int128 start = plain[lower_side(arguments[i])], latest = -(__int128)plain[upper_side(arguments[i])];
      __int128 length = plain[lower_side(arguments[i + 1])], use = plain[lower_side(arguments[i + 2])];
      if (latest <= time && time < start + length && use > 0) used += use;
    }
    if (used > -(__int128)plain[upper_side(arguments[0])]) return false;
  }
  return true;
}

// Whether a start is impossible, whatever its value is. Where there is room for the task, there is also room for it if
// it starts at the lowest value, or at an end of another task that is sure to run: between them it can begin earlier.
static bool has_no_start(const Learner& l, const Wide& r, bound_t* plain, i32 start) {
  const i32* arguments = arguments_of(problem(l), r);
  bound_t low = plain[lower_side(start)], negated_high = plain[upper_side(start)];
  bool any = false, is_start = false;
  for (i32 i = 1; i < n_arguments(r) && !any; i += 3) {
    is_start = is_start || arguments[i] == start;
    __int128 end = (__int128)plain[lower_side(arguments[i])] + plain[lower_side(arguments[i + 1])];
    __int128 first = arguments[i] == start ? low : end;
    if (first < low || first > -(__int128)negated_high) continue;
    plain[lower_side(start)] = (bound_t)first;
    plain[upper_side(start)] = (bound_t)-first;
    any = may_fit(l, r, plain);
    plain[lower_side(start)] = low;
    plain[upper_side(start)] = negated_high;
  }
  return is_start && !any;
}
#endif

struct Cumulative : WideRow {
  DEVICE bool run(Learner& l, i32 row) { return run_cumulative(l, row); }
  DEVICE bool reason(const Learner& l, i32 row, Literal a, i32 t, Premises& why) {
    return explain_cumulative(l, row, a, t, why);
  }
#ifdef CHECK_EXPLANATIONS
  static bool allows(const Learner& l, const Wide& r, const bound_t* plain) { return may_fit(l, r, plain); }
  static bool moves(i32 argument, bool upper) { return moves_of_tasks(argument, upper); }
  static bool refutes_place(const Learner& l, const Wide& r, bound_t* plain, Literal a) {
    plain[a.side] = maximum(plain[a.side], a.k);
    return has_no_start(l, r, plain, var_of(a.side));
  }
#endif
};
