// cumulative by energy: what tasks use in windows of time.
//
// Of a task, use times length is its energy. In a window from a to b there is room for b - a times the capacity. What
// tasks that lie in the window need, and what others are sure to use there by the time table (cumulative.h), is at most
// that; and a task that, started early, would need more than is left starts later (time-table edge finding: Vilim,
// CPAIOR 2011; Schutt, Feydy, Stuckey, CPAIOR 2013). The windows are those from an earliest start to a latest end. Each
// end is taken with the beginnings in descending order, so that sums grow by a task a step, n^2 steps in all. With the
// opposite sides the same code lowers the latest starts, as in cumulative.h.
//
// A reason is one window, and of each task that is sure to run e units of time in it, that it does: it starts e units
// before the end of the window at the latest, and not so early that less than e units are left when the window begins.
// What is used beyond what is needed is given away, whole tasks first, then units of time, so that premises are few and
// weak. A run may have moved a side before it looked at the window for the next one; so a window is sought in the sides
// before the entry, then in those before the entry of the same row that is next to it, and so on.
#pragma once

#include "../../core/assert.h"
#include "../../core/interval.h"
#include "../state/ablation.h"
#include "../state/literal.h"
#include "../state/parts.h"
#include "../state/sides.h"
#include "../state/trail.h"
#include "../tuning.h"
#include "cumulative.h"
#include "oracle.h"
#include "priority.h"
#include "time_table.h"
#include "wide.h"

constexpr wide_t MOST_ENERGY = (wide_t)1 << 60;  // formula: larger energies are left out, so that nothing overflows

// The tasks that use anything, by their beginnings, the last first. `free`: the energy that is not in the profile;
// `before_begin`, `before_end`: what the profile has before a beginning and an end.
struct Energies {
  i32* task;
  wide_t *begin, *end, *free, *use, *before_begin, *before_end;
  i32 count;
};

DEVICE Profile profile_of(const Learner& l, const Tasks& tasks, i32 t) {
  Profile p = {scratch(l).numbers, scratch(l).numbers + 2 * tasks.count, 0};
  for (i32 i = 0; i < tasks.count; ++i) {
    Span s = span_of(l, tasks, i, 0, t);
    if (!is_sure(s)) continue;
    p.at[p.count++] = s.from;
    p.at[p.count++] = s.to;
  }
  p.count = sort_distinct(p.at, p.count);
  for (i32 k = 0; k < p.count; ++k) p.use[k] = 0;
  for (i32 i = 0; i < tasks.count; ++i) {
    Span s = span_of(l, tasks, i, 0, t);
    if (!is_sure(s)) continue;
    p.use[rank_of(p.at, p.count, s.from)] += s.use;
    p.use[rank_of(p.at, p.count, s.to)] -= s.use;
  }
  for (i32 k = 1; k < p.count; ++k) p.use[k] += p.use[k - 1];
  return p;
}

// The profile where time runs backwards.
DEVICE void mirror(Profile& p) {
  for (i32 i = 0, j = p.count - 1; i <= j; ++i, --j) {
    wide_t early = p.at[i];
    p.at[i] = -p.at[j];
    p.at[j] = -early;
  }
  for (i32 i = 0, j = p.count - 2; i < j; ++i, --j) {
    wide_t use = p.use[i];
    p.use[i] = p.use[j];
    p.use[j] = use;
  }
}

// The energy of the profile before each of its pieces.
DEVICE void sum_profile(const Profile& p, wide_t* before) {
  wide_t sum = 0;
  for (i32 k = 0; k < p.count; ++k) {
    before[k] = sum;
    if (k + 1 < p.count) sum += p.use[k] * (p.at[k + 1] - p.at[k]);
  }
}

DEVICE wide_t energy_before(const Profile& p, const wide_t* before, wide_t time) {
  if (p.count == 0 || time <= p.at[0]) return 0;
  i32 k = maximum(first_above(p.at, p.count, time) - 1, 0);  // the first piece that ends behind the time
  return before[k] + p.use[k] * (time - p.at[k]);
}

// Sorts the tasks by their beginnings, the last first (Shell, CACM 1959, with Knuth's increments).
DEVICE void sort_by_begin(const Energies& s) {
  i32 gap = 1;
  while (gap < s.count / 3) gap = 3 * gap + 1;
  for (; gap > 0; gap /= 3) {
    for (i32 i = gap; i < s.count; ++i) {
      wide_t begin = s.begin[i];
      i32 task = s.task[i], j = i;
      for (; j >= gap && s.begin[j - gap] < begin; j -= gap) {
        s.begin[j] = s.begin[j - gap];
        s.task[j] = s.task[j - gap];
      }
      s.begin[j] = begin;
      s.task[j] = task;
    }
  }
}

// The tasks as they were before entry t.
DEVICE Energies energies_of(const Learner& l, const Tasks& tasks, i32 flip, i32 t) {
  Profile p = profile_of(l, tasks, t);
  if (flip) mirror(p);
  i32 n = tasks.count;
  wide_t *before = scratch(l).numbers + 4 * n, *own = before + 2 * n;
  Energies s = {scratch(l).places, own, own + n, own + 2 * n, own + 3 * n, own + 4 * n, own + 5 * n, 0};
  sum_profile(p, before);
  for (i32 i = 0; i < n; ++i) {
    Span task = span_of(l, tasks, i, flip, t);
    if (!uses(task)) continue;
    s.task[s.count] = i;
    s.begin[s.count++] = task.start;
  }
  sort_by_begin(s);
  for (i32 j = 0; j < s.count; ++j) {
    Span task = span_of(l, tasks, s.task[j], flip, t);
    s.end[j] = task.from + task.length;
    s.use[j] = task.use;
    s.free[j] = task.use * (task.length - maximum(task.to - task.from, (wide_t)0));
    s.before_begin[j] = energy_before(p, before, s.begin[j]);
    s.before_end[j] = energy_before(p, before, s.end[j]);
  }
  return s;
}

// Whether the energies of all tasks and of any window can be stored.
DEVICE bool are_storable(const Learner& l, const Tasks& tasks) {
  wide_t first = INFINITE_BOUND, last = -INFINITE_BOUND, most = -(wide_t)sides(l).now[upper_side(tasks.capacity)];
  wide_t sum = 0;
  for (i32 i = 0; i < tasks.count; ++i) {
    Span task = span_of(l, tasks, i, 0, trail(l).size);
    first = minimum(first, task.start);
    last = maximum(last, maximum(task.from + task.length, task.to));
    sum += maximum(task.use, (wide_t)0);
  }
  return maximum(most, sum) < MOST_ENERGY / maximum(last - first, (wide_t)1);
}

// What the task runs in the window at least if it starts from `start` to `latest`.
DEVICE wide_t overlap(wide_t start, wide_t latest, wide_t length, wide_t from, wide_t to) {
  return maximum(minimum(minimum(length, to - from), minimum(start + length - from, to - latest)), (wide_t)0);
}

// The task does not start early enough to use more of the window than the others leave. False on a fault.
DEVICE bool leave_window(Learner& l, i32 row, const Tasks& tasks, const Energies& s, i32 j, wide_t from, wide_t to,
                         wide_t room, i32 flip) {
  i32 i = s.task[j], side = 2 * start_of(tasks, i) + flip;
  wide_t length = sides(l).now[lower_side(length_of(tasks, i))], latest = s.end[j] - length;
  wide_t sure = maximum(minimum(to, s.begin[j] + length) - maximum(from, latest), (wide_t)0);
  wide_t start = to - (room / s.use[j] + sure), back = flip ? length : 0;
  return set_side(l, side, (value_t)minimum(start + back, -(wide_t)sides(l).now[opposite(side)] + 1), row_reason(row));
}

// The windows that end with task e. False on a fault.
DEVICE bool run_windows(Learner& l, i32 row, const Tasks& tasks, const Energies& s, i32 e, i32 flip) {
  const bound_t* now = sides(l).now;
  wide_t high = -(wide_t)now[upper_side(tasks.capacity)], to = s.end[e], inside = 0, most = 0;
  i32 own = 0;
  for (i32 j = 0; j < s.count; ++j) {
    wide_t from = s.begin[j], width = to - from;
    if (width <= 0) continue;
    wide_t part = s.end[j] <= to ? 0 : minimum(s.free[j], s.use[j] * width);
    if (s.end[j] <= to) inside += s.free[j];
    if (part > most) {
      most = part;
      own = j;
    }
    wide_t used = inside + s.before_end[e] - s.before_begin[j];
    if (used > now[lower_side(tasks.capacity)] * width) {
      wide_t needed = minimum((used - 1) / width + 1, high + 1);
      if (!set_side(l, lower_side(tasks.capacity), (value_t)needed, row_reason(row))) return false;
    }
    if (used + most <= high * width || most == 0) continue;
    if (!leave_window(l, row, tasks, s, own, from, to, high * width - used, flip)) return false;
  }
  return true;
}

OUTLINE bool run_energy(Learner& l, i32 row) {
  Tasks tasks = tasks_of(l, row);
  if (is_left_out(WITHOUT_ENERGY) || !are_storable(l, tasks)) return true;
  for (i32 flip = 0; flip < 2; ++flip) {
    Energies s = energies_of(l, tasks, flip, trail(l).size);
    for (i32 e = 0; e < s.count; ++e) {
      if (!run_windows(l, row, tasks, s, e, flip)) return false;
    }
  }
  return true;
}

// ---- explanations

// What is asked of a row: that task `own` does not start before k, or, without one, that the capacity is at least k;
// and the window that is the reason.
struct Window { i32 own; wide_t k, from, to; };

// What the task runs in the window at least, before entry t. The task that is asked about would start before k.
DEVICE wide_t held_overlap(const Span& task, const Window& w, bool is_own) {
  return overlap(task.start, is_own ? w.k - 1 : task.from, task.length, w.from, w.to);
}

// The room of the window.
DEVICE wide_t room_of(const Learner& l, const Tasks& tasks, const Window& w, i32 t) {
  wide_t capacity = w.own < 0 ? w.k - 1 : -(wide_t)held(l, upper_side(tasks.capacity), t);
  return capacity * (w.to - w.from);
}

// Looks for a window with too much energy; `own` is the task that is asked about.
DEVICE bool find_window(const Learner& l, const Tasks& tasks, const Energies& s, const Span& own, i32 t, Window* w) {
  for (i32 e = 0; e < s.count; ++e) {
    wide_t inside = 0;
    w->to = s.end[e];
    for (i32 j = 0; j < s.count; ++j) {
      w->from = s.begin[j];
      if (w->from >= w->to) continue;
      if (s.end[j] <= w->to && s.task[j] != w->own) inside += s.free[j];
      wide_t used = inside + s.before_end[e] - s.before_begin[j];
      if (w->own >= 0) {
        wide_t sure = maximum(minimum(w->to, own.to) - maximum(w->from, own.from), (wide_t)0);
        wide_t most = held_overlap(own, *w, true);
        if (most == 0) continue;
        used += own.use * (most - sure);
      }
      if (used > room_of(l, tasks, *w, t)) return true;
    }
  }
  return false;
}

// The task runs `units` in the window, or, if it is the one that is asked about, would.
DEVICE void add_overlap(const Learner& l, const Tasks& tasks, i32 i, const Span& task, const Window& w, wide_t units,
                        i32 flip, Premises& why) {
  i32 side = 2 * start_of(tasks, i) + flip;
  wide_t back = flip ? task.length : 0;
  add_premise(l, why, literal(side, (bound_t)(w.from + units - task.length + back)));
  if (i != w.own) add_premise(l, why, literal(opposite(side), (bound_t)(units - w.to - back)));
  add_premise(l, why, literal(lower_side(length_of(tasks, i)), (bound_t)task.length));
  add_premise(l, why, literal(lower_side(use_of(tasks, i)), (bound_t)task.use));
}

// As many of the tasks as are needed to fill the window.
DEVICE void add_energies(const Learner& l, const Tasks& tasks, const Window& w, i32 flip, i32 t, Premises& why) {
  wide_t slack = -room_of(l, tasks, w, t) - 1;
  for (i32 i = 0; i < tasks.count; ++i) {
    Span task = span_of(l, tasks, i, flip, t);
    if (uses(task)) slack += task.use * held_overlap(task, w, i == w.own);
  }
  ASSERT(slack >= 0);
  if (w.own >= 0) add_premise(l, why, literal(upper_side(tasks.capacity), held(l, upper_side(tasks.capacity), t)));
  for (i32 i = 0; i < tasks.count; ++i) {
    Span task = span_of(l, tasks, i, flip, t);
    if (!uses(task)) continue;
    wide_t units = held_overlap(task, w, i == w.own), spare = minimum(units - (i == w.own), slack / task.use);
    if (units == 0) continue;
    slack -= spare * task.use;
    if (units > spare) add_overlap(l, tasks, i, task, w, units - spare, flip, why);
  }
}

// From the sides before entry t.
DEVICE bool explain_by_window(const Learner& l, const Tasks& tasks, Window w, i32 flip, i32 t, Premises& why) {
  Energies s = energies_of(l, tasks, flip, t);
  Span own = {};
  if (w.own >= 0) {
    own = span_of(l, tasks, w.own, flip, t);
    if (!uses(own)) return false;
    w.k -= flip ? own.length : 0;
  }
  if (!find_window(l, tasks, s, own, t, &w)) return false;
  add_energies(l, tasks, w, flip, t, why);
  return true;
}

OUTLINE bool explain_energy(const Learner& l, i32 row, Literal a, i32 t, Premises& why) {
  Tasks tasks = tasks_of(l, row);
  const Entry* entries = trail(l).entries;
  for (i32 since = minimum(t, trail(l).size);; --since) {
    Window w = {-1, a.k, 0, 0};
    if (a.side == lower_side(tasks.capacity) && explain_by_window(l, tasks, w, 0, since, why)) return true;
    for (w.own = 0; w.own < tasks.count; ++w.own) {
      if (start_of(tasks, w.own) != var_of(a.side)) continue;
      if (explain_by_window(l, tasks, w, is_upper(a.side), since, why)) return true;
    }
    if (since == 0 || entries[since - 1].reason != row_reason(row)) return false;
  }
}

#ifdef CHECK_EXPLANATIONS
// The check of debug builds, which shares nothing with the propagation above.

// What all tasks use from a to b at least is not more than there is room for: energetic reasoning.
static bool may_fill(const Learner& l, const Wide& r, const bound_t* plain, __int128 a, __int128 b) {
  const i32* arguments = arguments_of(problem(l), r);
  __int128 room = -(b - a) * plain[upper_side(arguments[0])];
  for (i32 i = 1; i < n_arguments(r); i += 3) {
    __int128 first = plain[lower_side(arguments[i])], last = -(__int128)plain[upper_side(arguments[i])];
    __int128 length = plain[lower_side(arguments[i + 1])], use = plain[lower_side(arguments[i + 2])];
    __int128 left = maximum(minimum(first + length, b) - maximum(first, a), (__int128)0);
    __int128 right = maximum(minimum(last + length, b) - maximum(last, a), (__int128)0);
    if (use > 0 && length > 0) room -= use * minimum(left, right);
  }
  return room >= 0;
}

// If any window is too small, one of these is (Baptiste, Le Pape, Nuijten, Annals of OR 1999): from the earliest or
// latest start or the earliest end of a task to the latest end or start or the earliest end of one, or as far from the
// middle of all times that are left to a task.
static bool may_fill_all(const Learner& l, const Wide& r, const bound_t* plain) {
  const i32* arguments = arguments_of(problem(l), r);
  i32 n = (n_arguments(r) - 1) / 3;
  __int128* times = new __int128[4 * (u64)n];
  for (i32 i = 0; i < n; ++i) {
    i32 start = arguments[3 * i + 1];
    __int128 first = plain[lower_side(start)], last = -(__int128)plain[upper_side(start)];
    __int128 length = plain[lower_side(arguments[3 * i + 2])];
    const __int128 own[] = {first, last, first + length, last + length};
    for (i32 k = 0; k < 4; ++k) times[4 * i + k] = own[k];
  }
  bool good = true;
  for (i32 i = 0; good && i < 4 * n; ++i) {
    for (i32 j = 0; good && j < 4 * n; ++j) {
      __int128 other = times[j / 4 * 4] + times[j / 4 * 4 + 3] - times[i];
      if (times[i] < times[j]) good = may_fill(l, r, plain, times[i], times[j]);
      if (good && times[i] != other) good = may_fill(l, r, plain, minimum(times[i], other), maximum(times[i], other));
    }
  }
  delete[] times;
  return good;
}
#endif

struct Energy : WideRow {
  static constexpr Priority PRIORITY = LAST;
  DEVICE i64 runs(i64 n) { return n * n / PAIRS_A_RUN; }
  DEVICE bool is_costly(const Wide&) { return true; }
  DEVICE bool run(Learner& l, i32 row) { return run_energy(l, row); }
  DEVICE bool reason(const Learner& l, i32 row, Literal a, i32 t, Premises& why) {
    return explain_energy(l, row, a, t, why);
  }
#ifdef CHECK_EXPLANATIONS
  static bool allows(const Learner& l, const Wide& r, const bound_t* plain) { return may_fill_all(l, r, plain); }
  static bool moves(i32 argument, bool upper) { return moves_of_tasks(argument, upper); }
  static bool is_exact(const Learner&, const Wide&) { return false; }  // by energy more follows than a row looks for
#endif
};
