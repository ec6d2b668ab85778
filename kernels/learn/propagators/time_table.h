// Time tables of cumulative rows: what tasks that are sure to run use together at each time, the profile.
//
// Models have many rows over the same tasks, and a change of one start wakes them all, though few of them gain by it.
// So each row keeps its profile with the bounds that it was made of. A run reads the bounds of its tasks again: where
// all sure parts are the same the profile stays, and where it stays and the last run moved nothing, only tasks whose
// own bounds are others have to be looked at. The events of the profile stay sorted, so that a few that moved find
// their places in linear time (as in Gay, Hartert, Schaus, CP 2015). All of this is compared with the sides as they
// are, so nothing has to be undone on return to a level.
#pragma once

#include "../../core/interval.h"
#include "../../core/room.h"
#include "../../core/store.h"
#include "../state/literal.h"
#include "../state/parts.h"
#include "../state/sides.h"
#include "../state/trail.h"
#include "../tuning.h"
#include "wide.h"

// The variables of a row: the capacity, and start, length, use of each task.
struct Tasks {
  i32 capacity;
  const i32* first;
  i32 count;
};

DEVICE i32 n_tasks_of(const Wide& r) { return (n_arguments(r) - 1) / 3; }

DEVICE Tasks tasks_of(const Learner& l, i32 row) {
  const Wide& r = wide_at(problem(l), row);
  const i32* arguments = arguments_of(problem(l), r);
  Tasks tasks = {arguments[0], arguments + 1, n_tasks_of(r)};
  return tasks;
}

DEVICE i32 start_of(const Tasks& tasks, i32 i) { return tasks.first[3 * i]; }
DEVICE i32 length_of(const Tasks& tasks, i32 i) { return tasks.first[3 * i + 1]; }
DEVICE i32 use_of(const Tasks& tasks, i32 i) { return tasks.first[3 * i + 2]; }

// When a task runs for certain, [from, to), and what it uses at least, before entry t. `start`: its earliest one. With
// `flip` time runs backwards.
struct Span { wide_t start, from, to, length, use; };

DEVICE Span span_of(const Learner& l, const Tasks& tasks, i32 i, i32 flip, i32 t) {
  i32 side = 2 * start_of(tasks, i) + flip;
  wide_t length = value_before(l, lower_side(length_of(tasks, i)), t), back = flip ? length : 0;
  wide_t start = value_before(l, side, t) - back, latest = -(wide_t)value_before(l, opposite(side), t) - back;
  Span span = {start, latest, start + length, length, value_before(l, lower_side(use_of(tasks, i)), t)};
  return span;
}

DEVICE bool uses(const Span& s) { return s.length > 0 && s.use > 0; }
DEVICE bool is_sure(const Span& s) { return uses(s) && s.from < s.to; }

// What is used for certain from each of `count` times on, up to the next one; nothing from the last one on.
struct Profile {
  wide_t* at;
  wide_t* use;
  i32 count;
};

// ---- what a row keeps

// The bounds of a task that count: sides of its start, and the least length and use.
struct Seen { bound_t earliest, negated_latest, length, use; };

// Before entry t, or now.
DEVICE Seen see(const Learner& l, const Tasks& tasks, i32 i, i32 t) {
  i32 start = start_of(tasks, i), length = lower_side(length_of(tasks, i)), use = lower_side(use_of(tasks, i));
  Seen seen = {value_before(l, lower_side(start), t), value_before(l, upper_side(start), t), value_before(l, length, t),
               value_before(l, use, t)};
  return seen;
}

// Likewise, with length and use of `other`.
DEVICE Seen see_start(const Learner& l, const Tasks& tasks, i32 i, const Seen& other, i32 t) {
  i32 start = start_of(tasks, i);
  Seen seen = {
      value_before(l, lower_side(start), t), value_before(l, upper_side(start), t), other.length, other.use};
  return seen;
}

DEVICE bool uses(const Seen& s) { return s.length > 0 && s.use > 0; }
DEVICE wide_t sure_from(const Seen& s) { return -(wide_t)s.negated_latest; }
DEVICE wide_t sure_to(const Seen& s) { return (wide_t)s.earliest + s.length; }
DEVICE bool is_sure(const Seen& s) { return uses(s) && sure_from(s) < sure_to(s); }

DEVICE bool are_same(const Seen& a, const Seen& b) {
  return a.earliest == b.earliest && a.negated_latest == b.negated_latest && a.length == b.length && a.use == b.use;
}

// Whether the profile is the same with either of them.
DEVICE bool are_same_in_profile(const Seen& a, const Seen& b) {
  if (!is_sure(a) || !is_sure(b)) return is_sure(a) == is_sure(b);
  return a.negated_latest == b.negated_latest && sure_to(a) == sure_to(b) && a.use == b.use;
}

// The time table of a row. An event is a time at which a sure part begins, 2 * task, or ends, 2 * task + 1.
struct Table {
  Seen* seen;   // of each task
  i32* events;  // by time
  i32 n_events;
  Profile profile;
  wide_t peak;       // of the profile
  wide_t most;       // that a task uses by itself
  bound_t capacity;  // negated, at the last run
  bool is_open;      // the row has run
  bool is_rigid;     // lengths and uses are constants
  bool is_settled;   // the last run was over and moved nothing
};

struct Tables {
  Table* of_wide;
  Seen* then;  // tasks of a row that explains, as they were
};

PART(Tables, tables);

DEVICE i64 table_bytes(i64 n_tasks) {
  return align16(n_tasks * (i64)sizeof(Seen)) + align16(2 * n_tasks * (i64)sizeof(i32)) +
         2 * align16(2 * n_tasks * (i64)sizeof(wide_t));
}

DEVICE i64 tables_bytes(const Problem* p) {
  i64 bytes = align16(p->n_wides * (i64)sizeof(Table));
  for (i32 i = 0; i < p->n_wides; ++i) {
    if (p->wides[i].kind == WIDE_CUMULATIVE) bytes += table_bytes(n_tasks_of(p->wides[i]));
  }
  return bytes + align16(p->most_arguments * (i64)sizeof(Seen));
}

DEVICE void take_memory(Tables& s, const Problem* p, Room& room) {
  s.of_wide = take<Table>(room, p->n_wides);
  for (i32 i = 0; i < p->n_wides; ++i) {
    i64 n = n_tasks_of(p->wides[i]);
    if (p->wides[i].kind != WIDE_CUMULATIVE) continue;
    Table& own = s.of_wide[i];
    own.seen = take<Seen>(room, n);
    own.events = take<i32>(room, 2 * n);
    own.profile.at = take<wide_t>(room, 2 * n);
    own.profile.use = take<wide_t>(room, 2 * n);
  }
  s.then = take<Seen>(room, p->most_arguments);
}

DEVICE Table& table_of(const Learner& l, i32 row) {
  return tables(l).of_wide[row - problem(l)->n_rows - problem(l)->n_linears];
}

DEVICE wide_t time_of(const Table& table, i32 event) {
  const Seen& task = table.seen[event / 2];
  return event % 2 ? sure_to(task) : sure_from(task);
}

// Events of tasks that are no longer sure to run leave; events of `more` tasks, which now are, enter at the end.
DEVICE void renew_events(Table& table, const i32* more, i32 n_more) {
  i32 kept = 0;
  for (i32 k = 0; k < table.n_events; ++k) {
    if (is_sure(table.seen[table.events[k] / 2])) table.events[kept++] = table.events[k];
  }
  for (i32 k = 0; k < n_more; ++k) {
    table.events[kept++] = 2 * more[k];
    table.events[kept++] = 2 * more[k] + 1;
  }
  table.n_events = kept;
}

// Sorts the events (Shell, CACM 1959, with Knuth's increments); where few are out of place, by insertion alone.
DEVICE void sort_events(const Table& table, wide_t* times, bool few) {
  i32 n = table.n_events, gap = 1;
  for (i32 k = 0; k < n; ++k) times[k] = time_of(table, table.events[k]);
  while (!few && gap < n / 3) gap = 3 * gap + 1;
  for (; gap > 0; gap /= 3) {
    for (i32 i = gap; i < n; ++i) {
      wide_t time = times[i];
      i32 event = table.events[i], j = i;
      for (; j >= gap && times[j - gap] > time; j -= gap) {
        times[j] = times[j - gap];
        table.events[j] = table.events[j - gap];
      }
      times[j] = time;
      table.events[j] = event;
    }
  }
}

// Makes the profile of its sorted events.
DEVICE void sweep_events(Table& table, const wide_t* times) {
  Profile& p = table.profile;
  wide_t use = 0;
  p.count = 0;
  table.peak = 0;
  for (i32 k = 0; k < table.n_events; ++k) {
    bound_t own = table.seen[table.events[k] / 2].use;
    use += table.events[k] % 2 ? -(wide_t)own : own;
    if (k + 1 < table.n_events && times[k + 1] == times[k]) continue;
    p.at[p.count] = times[k];
    p.use[p.count++] = use;
    table.peak = maximum(table.peak, use);
  }
}

// Whether the bounds of a task are others than those that were seen.
DEVICE bool is_other(const Learner& l, const Tasks& tasks, const Table& table, i32 i) {
  const bound_t* now = sides(l).now;
  const Seen& seen = table.seen[i];
  i32 start = start_of(tasks, i);
  if (now[lower_side(start)] != seen.earliest || now[upper_side(start)] != seen.negated_latest) return true;
  if (table.is_rigid) return false;
  return now[lower_side(length_of(tasks, i))] != seen.length || now[lower_side(use_of(tasks, i))] != seen.use;
}

// How many tasks have other bounds, another sure part, and one where they had none.
struct News { i32 other, moved, more; };

// Reads the bounds of all tasks. The tasks that have others go to `others`, those that are newly sure to run to `more`.
DEVICE News read_tasks(const Learner& l, const Tasks& tasks, Table& table, i32* others, i32* more) {
  News news = {0, 0, 0};
  for (i32 i = 0; i < tasks.count; ++i) {
    if (table.is_open && !is_other(l, tasks, table, i)) continue;
    Seen now = see(l, tasks, i, trail(l).size), was = table.seen[i];
    others[news.other++] = i;
    table.seen[i] = now;
    if (are_same_in_profile(now, was)) continue;
    ++news.moved;
    if (!is_sure(was)) more[news.more++] = i;
  }
  return news;
}

// The first run: whether all lengths and uses are constants.
DEVICE bool are_rigid(const Learner& l, const Tasks& tasks) {
  const bound_t* root = sides(l).root;
  for (i32 i = 0; i < tasks.count; ++i) {
    i32 length = length_of(tasks, i), use = use_of(tasks, i);
    if (root[lower_side(length)] != -root[upper_side(length)]) return false;
    if (root[lower_side(use)] != -root[upper_side(use)]) return false;
  }
  return true;
}

// The most that a task uses by itself.
DEVICE wide_t most_use(const Table& table, i32 n) {
  wide_t most = 0;
  for (i32 i = 0; i < n; ++i) {
    if (uses(table.seen[i])) most = maximum(most, (wide_t)table.seen[i].use);
  }
  return most;
}

// Whether the task may have to move: it is not fixed, and too large for the room beside the peak of the profile.
DEVICE bool may_move(const Table& table, const Seen& task) {
  return uses(task) && task.use > -(wide_t)table.capacity - table.peak && task.earliest != -task.negated_latest;
}

// Whether a change of a task's start concerns the row: the task is sure to run, so the profile changes, or it may have
// to move. The peak is the last run's; that of the present is no higher, unless the row is queued: since then only
// levels were left, or tasks became sure to run, which the row was queued for.
DEVICE bool is_start_news(const Learner& l, i32 row, i32 i) {
  const Table& table = table_of(l, row);
  if (!table.is_open || !table.is_rigid) return true;
  Seen task = see_start(l, tasks_of(l, row), i, table.seen[i], trail(l).size);
  return is_sure(task) || may_move(table, task);
}

// Leaves of the tasks that are looked at, or of all, those that may have to move; how many.
DEVICE i32 keep_movers(const Table& table, i32* looked, i32 n, bool all) {
  i32 kept = 0;
  for (i32 k = 0; k < n; ++k) {
    i32 i = all ? k : looked[k];
    if (may_move(table, table.seen[i])) looked[kept++] = i;
  }
  return kept;
}

// Brings the time table up to date. Writes the tasks that may have to move to `looked`, and returns how many: all where
// profile or capacity are others than at the end of the last run, or where that one moved a task.
DEVICE i32 renew_table(Learner& l, const Tasks& tasks, Table& table, i32* looked) {
  i32* more = looked + tasks.count;
  bound_t capacity = sides(l).now[upper_side(tasks.capacity)];
  News news = read_tasks(l, tasks, table, looked, more);
  if (news.moved > 0) {
    renew_events(table, more, news.more);
    sort_events(table, scratch(l).numbers, news.moved <= FEW_MOVED);
    sweep_events(table, scratch(l).numbers);
  }
  if (!table.is_open) table.is_rigid = are_rigid(l, tasks);
  if (!table.is_open || !table.is_rigid) table.most = most_use(table, tasks.count);
  bool all = news.moved > 0 || capacity != table.capacity || !table.is_settled;
  table.is_open = true;
  table.capacity = capacity;
  return keep_movers(table, looked, all ? tasks.count : news.other, all);
}
