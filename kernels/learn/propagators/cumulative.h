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

// The pieces of the profile that leave no room for some task that may move, in order of time.
struct Crowd {
  wide_t *from, *to, *use;
  i32 count;
};

// Those that leave less than `most`. With `flip` time runs backwards.
DEVICE Crowd crowd_of(const Learner& l, const Table& table, wide_t most, i32 flip) {
  const Profile& p = table.profile;
  wide_t *numbers = scratch(l).numbers, room = -(wide_t)table.capacity - most;
  Crowd crowd = {numbers, numbers + p.count, numbers + 2 * p.count, 0};
  for (i32 i = 0; i + 1 < p.count; ++i) {
    i32 k = flip ? p.count - 2 - i : i;
    if (p.use[k] <= room) continue;
    crowd.from[crowd.count] = flip ? -p.at[k + 1] : p.at[k];
    crowd.to[crowd.count] = flip ? -p.at[k] : p.at[k + 1];
    crowd.use[crowd.count++] = p.use[k];
  }
  return crowd;
}

// Moves a task behind the times at which it does not fit. False on a fault. `settled` becomes false if the profile is
// another one then, for the task is sure to run.
DEVICE bool move_task(Learner& l, i32 row, const Tasks& tasks, const Crowd& crowd, i32 i, i32 flip, bool& settled) {
  Span s = span_of(l, tasks, i, flip, trail(l).size);
  i32 side = 2 * start_of(tasks, i) + flip;
  wide_t room = -(wide_t)sides(l).now[upper_side(tasks.capacity)] - s.use, start = s.start, back = flip ? s.length : 0;
  if (start == s.from) return true;
  for (i32 k = first_above(crowd.to, crowd.count, start); k < crowd.count && crowd.from[k] < start + s.length; ++k) {
    bool is_own = s.from <= crowd.from[k] && crowd.to[k] <= s.to;
    if (is_own || crowd.use[k] <= room) continue;
    bool walks = (crowd.to[k] - start) / s.length < MOST_STEPS;
    while (start < crowd.to[k]) {
      start = walks ? minimum(crowd.to[k], start + s.length) : crowd.to[k];
      if (!set_side(l, side, (value_t)(start + back), row_reason(row))) return false;
    }
  }
  settled = settled && (start == s.start || start <= s.from - s.length);
  return true;
}

// The most that one of the tasks uses.
DEVICE wide_t most_of(const Table& table, const i32* tasks, i32 n) {
  wide_t most = 0;
  for (i32 k = 0; k < n; ++k) most = maximum(most, (wide_t)table.seen[tasks[k]].use);
  return most;
}

// What the first half of a run has found out is not in the profile that the other one uses: the row runs again if a
// task that was moved is sure to run.
OUTLINE bool run_cumulative(Learner& l, i32 row) {
  Tasks tasks = tasks_of(l, row);
  Table& table = table_of(l, row);
  i32 *movers = scratch(l).places, n_movers = renew_table(l, tasks, table, movers);
  table.is_settled = false;
  wide_t needed = minimum(maximum(table.most, table.peak), 1 - (wide_t)table.capacity);
  if (!set_side(l, lower_side(tasks.capacity), (value_t)needed, row_reason(row))) return false;
  bool settled = !names_twice(l, row);
  wide_t most = most_of(table, movers, n_movers);
  i32 size = trail(l).size;
  for (i32 flip = 0; flip < 2 && n_movers > 0; ++flip) {
    Crowd crowd = crowd_of(l, table, most, flip);
    for (i32 k = 0; k < n_movers; ++k) {
      if (!move_task(l, row, tasks, crowd, movers[k], flip, settled)) return false;
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

// The tasks as they were before entry t.
DEVICE const Seen* see_all(const Learner& l, i32 row, const Tasks& tasks, i32 t) {
  const Table& table = table_of(l, row);
  Seen* then = tables(l).then;
  for (i32 i = 0; i < tasks.count; ++i) {
    if (table.is_rigid) then[i] = see_start(l, tasks, i, table.seen[i], t);
    else then[i] = see(l, tasks, i, t);
  }
  return then;
}

// What a task uses all the time of a period for certain.
DEVICE wide_t use_in(const Seen& task, Period period) {
  bool runs = sure_from(task) <= period.from && sure_to(task) > period.to;
  return runs ? maximum((wide_t)task.use, (wide_t)0) : 0;
}

// What `n` tasks but `own` use, each of them all the time.
DEVICE wide_t use_of_others(const Seen* then, i32 n, i32 own, Period period) {
  wide_t sum = 0;
  for (i32 i = 0; i < n; ++i) {
    if (i != own) sum += use_in(then[i], period);
  }
  return sum;
}

// A task runs all the time and uses what it uses.
DEVICE void add_running(const Learner& l, const Tasks& tasks, i32 i, const Seen& task, Period period, Premises& why) {
  add_premise(l, why, literal(upper_side(start_of(tasks, i)), (bound_t)-period.from));
  add_premise(l, why, literal(lower_side(start_of(tasks, i)), (bound_t)(period.to + 1 - task.length)));
  add_premise(l, why, literal(lower_side(length_of(tasks, i)), task.length));
  add_premise(l, why, literal(lower_side(use_of(tasks, i)), task.use));
}

// Tasks but `own` that use `need` together all the time. What is more than that is left out, one task after the other.
DEVICE void add_profile(
    const Learner& l, const Tasks& tasks, const Seen* then, i32 own, Period period, wide_t need, Premises& why) {
  wide_t slack = use_of_others(then, tasks.count, own, period) - need;
  ASSERT(slack >= 0);
  for (i32 i = 0; i < tasks.count; ++i) {
    wide_t use = i == own ? 0 : use_in(then[i], period);
    if (use == 0) continue;
    if (use <= slack) slack -= use;
    else add_running(l, tasks, i, then[i], period, why);
  }
}

// The first of the times from..to at which the others use `need`; to + 1 if there is none. If it is behind `from`, a
// task that is sure to run begins then.
DEVICE wide_t find_crowded(const Seen* then, i32 n, i32 own, wide_t from, wide_t to, wide_t need) {
  if (from > to || use_of_others(then, n, own, moment(from)) >= need) return from;
  wide_t found = to + 1;
  for (i32 i = 0; i < n; ++i) {
    wide_t time = sure_from(then[i]);
    if (i == own || time <= from || time >= found || use_in(then[i], moment(time)) == 0) continue;
    if (use_of_others(then, n, own, moment(time)) >= need) found = time;
  }
  return found;
}

// The capacity is at least k, since one task uses that much.
DEVICE bool explain_by_task(const Learner& l, const Tasks& tasks, const Seen* then, wide_t k, Premises& why) {
  for (i32 i = 0; i < tasks.count; ++i) {
    if (then[i].length <= 0 || then[i].use < k) continue;
    add_premise(l, why, literal(lower_side(length_of(tasks, i)), 1));
    add_premise(l, why, literal(lower_side(use_of(tasks, i)), (bound_t)k));
    return true;
  }
  return false;
}

// The capacity is at least k, since some tasks use that much at a time.
DEVICE bool explain_capacity(const Learner& l, const Tasks& tasks, const Seen* then, wide_t k, Premises& why) {
  wide_t first = INFINITE_BOUND, last = -INFINITE_BOUND;
  for (i32 i = 0; i < tasks.count; ++i) {
    first = minimum(first, sure_from(then[i]));
    last = maximum(last, sure_from(then[i]));
  }
  wide_t time = find_crowded(then, tasks.count, -1, first, last, k);
  if (time > last) return false;
  add_profile(l, tasks, then, -1, moment(time), k, why);
  return true;
}

// When the others leave task i no room, so that a holds: at a time that it cannot run behind, or, where it has been
// moved far at once, all the time from where it could have begun on. False if there is no such time.
DEVICE bool find_barred(const Seen* then, i32 n, i32 i, Literal a, wide_t need, Period& barred) {
  const Seen& own = then[i];
  wide_t from = is_upper(a.side) ? sure_from(own) : (wide_t)a.k - 1;
  wide_t to = is_upper(a.side) ? (wide_t)own.length - a.k : sure_to(own) - 1;
  if (from > to) {
    barred = {to, from};
    return use_of_others(then, n, i, barred) >= need;
  }
  barred = moment(find_crowded(then, n, i, from, to, need));
  return barred.from <= to;
}

// Task i does not run while the others leave it no room, and does not end before that, or, backwards, does not start
// behind it.
DEVICE bool explain_start(
    const Learner& l, const Tasks& tasks, const Seen* then, i32 i, Literal a, bound_t negated_capacity, Premises& why) {
  const Seen& own = then[i];
  if (!uses(own)) return false;
  wide_t need = -(wide_t)negated_capacity - own.use + 1;
  Period barred;
  if (!find_barred(then, tasks.count, i, a, need, barred)) return false;
  add_premise(l, why, literal(a.side, (bound_t)(is_upper(a.side) ? -barred.to : barred.from + 1 - own.length)));
  add_premise(l, why, literal(lower_side(length_of(tasks, i)), own.length));
  add_premise(l, why, literal(lower_side(use_of(tasks, i)), own.use));
  add_premise(l, why, literal(upper_side(tasks.capacity), negated_capacity));
  add_profile(l, tasks, then, i, barred, need, why);
  return true;
}

OUTLINE bool explain_cumulative(const Learner& l, i32 row, Literal a, i32 t, Premises& why) {
  Tasks tasks = tasks_of(l, row);
  const Seen* then = see_all(l, row, tasks, t);
  if (a.side == lower_side(tasks.capacity)) {
    if (explain_by_task(l, tasks, then, a.k, why) || explain_capacity(l, tasks, then, a.k, why)) return true;
  }
  bound_t negated_capacity = held(l, upper_side(tasks.capacity), t);
  for (i32 i = 0; i < tasks.count; ++i) {
    if (start_of(tasks, i) != var_of(a.side)) continue;
    if (explain_start(l, tasks, then, i, a, negated_capacity, why)) return true;
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
  static constexpr bool IS_CHOOSY = true;
  DEVICE bool concerns(const Learner& l, i32 row, i32 place) {
    return place % 3 != 1 || is_start_news(l, row, (place - 1) / 3);
  }
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
