// The thread's side of a round trip, which replaces `fixpoint` in HYBRID builds.
//
// The thread sends the bounds that its block lacks (mirror.h), waits, and takes the changes as it takes those of a
// decision, so that its trail has them. Rows are woken in the block alone. A waiting thread or block has no other work,
// so both poll without a pause, but the thread yields its processor.
// Other builds have only `reach_fixpoint`, the name by which the search calls it.
#pragma once

#include "../core/assert.h"
#include "../core/fixpoint.h"
#include "../core/interval.h"
#include "../core/store.h"
#include "mailbox.h"
#include "mirror.h"
#include "tuning.h"

#ifdef HYBRID

// A thread's connection with its block.
struct Remote {
  Mailbox* box;
  RoundTrips* counts;
  i32 entries;  // that a list has room for
  u32 number;   // of the last message
};

// Makes the connection with block `index`.
static Remote make_remote(const Mailboxes& boxes, RoundTrips* counts, i32 index) {
  Remote remote;
  remote.box = mailbox_of(boxes, index);
  remote.counts = &counts[index];
  remote.entries = boxes.entries;
  remote.number = 0;
  return remote;
}

// The change bits of a variable that are set.
DEVICE u32 change_flags(const Block& b, i32 var) { return *flag_word(b, var) >> flag_shift(var) & FLAG_CHANGED; }

// Notes the variables changed here since the last fixpoint: the block has other bounds, whether this fixpoint sends
// these or not.
static void note_changed(const Block& b) {
  i32 n_changed = propagation(b).n_changed[b.round & 1];
  if (n_changed <= b.problem->changed_capacity) {
    for (i32 i = 0; i < n_changed; ++i) note_restored(b, b.changed[i]);
    return;
  }
  for (i32 var = 0; var < b.problem->n_vars; ++var) {
    if (change_flags(b, var)) note_restored(b, var);
  }
}

static void send_message(Remote& remote, u32 kind, i32 count) {
  fence_host();
  global_store(&remote.box->asked, message(++remote.number, kind, count));
  ++remote.counts->messages;
  remote.counts->sent_bytes += (i64)sizeof(i64) + count * CHANGE_BYTES;
}

// Waits for the answer to the last message and returns it; ANSWER_STOPPED where the host asks for a stop before.
static i64 await_answer(const Block& b) {
  const Remote& remote = *b.remote;
  for (i32 looks = 0;;) {
    i64 answer = global_load(&remote.box->answered);
    if (number_of(answer) == remote.number) return answer;
    if (global_load(&b.problem->common->stop)) return message(remote.number, ANSWER_STOPPED, 0);
    if (looks < EAGER_LOOKS) ++looks;
    else yield_processor();
  }
}

// Sends the block all bounds that it lacks. Returns its answer to the last part.
static i64 tell_changes(const Block& b) {
  Remote& remote = *b.remote;
  Mirror& mirror = *b.mirror;
  Changes list = changes_of(remote.box, remote.entries, false);
  u32 root = mirror.root ? ASK_FROM_ROOT : 0;
  i32 count = 0;
  for (i32 i = 0; i < mirror.n_noted; ++i) {
    if (count == remote.entries) {
      send_message(remote, root | ASK_PART, count);
      i64 answer = await_answer(b);
      if (kind_of(answer) & ANSWER_STOPPED) return answer;
      root = count = 0;
    }
    i32 var = mirror.noted[i];
    write_change(b, list, count++, var, change_flags(b, var));
  }
  send_message(remote, root, count);
  forget_noted(b);
  mirror.root = false;
  return await_answer(b);
}

// Takes the changes of an answer, and of those that follow. False when the host asks for a stop before the last.
static bool take_changes(const Block& b, i64 answer) {
  Remote& remote = *b.remote;
  Changes list = changes_of(remote.box, remote.entries, true);
  for (;;) {
    i32 count = count_of(answer);
    ASSERT(count <= remote.entries);
    for (i32 i = 0; i < count; ++i) {
      Change change = read_change(b, list, i);
      ASSERT(b.lower[change.var] <= change.lower && change.upper <= b.upper[change.var]);
      restrict_domain(b, change.var, interval(change.lower, change.upper));
    }
    remote.counts->returned_bytes += (i64)sizeof(i64) + count * CHANGE_BYTES;
    if (!(kind_of(answer) & ANSWER_PART)) return true;
    send_message(remote, 0, 0);
    answer = await_answer(b);
    if (kind_of(answer) & ANSWER_STOPPED) return false;
  }
}

#ifdef CHECK_ASSERTIONS
// Asserts that the block's store is equal to this one.
static void assert_mirrored(const Block& b) {
  i64 checksum = 0;
  for (i32 var = 0; var < b.problem->n_vars; ++var) checksum = (i64)((u64)checksum + (u64)mark_of(b, var));
  ASSERT(checksum == b.remote->box->checksum);
}
#else
DEVICE void assert_mirrored(const Block&) {}
#endif

// Takes the block's counters, and the row that failed.
static void take_counts(const Block& b, i64 since) {
  const Mailbox* box = b.remote->box;
  RoundTrips* counts = b.remote->counts;
  statistics(b).propagations = box->propagations;
  statistics(b).iterations = box->iterations;
  propagation(b).culprit = box->culprit;
  ++counts->round_trips;
  counts->round_trip_ns += now_ns() - since;
  counts->propagation_ns = box->busy_ns;
}

// Has the block propagate. Returns whether the store is consistent, as far as that is known at a stop.
static bool make_round_trip(const Block& b) {
  i64 since = now_ns();
  i64 answer = tell_changes(b);
  bool stopped = kind_of(answer) & ANSWER_STOPPED, failed = kind_of(answer) & ANSWER_FAILED;
  if (kind_of(answer) & ANSWER_GAVE_UP) give_up(b);
  if (failed) fail(b);
  else stopped = stopped || !take_changes(b, answer);
  if (stopped) {
    propagation(b).stop = 1;
    return !failed;
  }
  take_counts(b, since);
  assert_mirrored(b);
  return !failed;
}

// Does the work of `fixpoint`. A node that has failed already, or in which nothing has changed, sends no message.
static bool remote_fixpoint(Block& b) {
  const Propagation& s = propagation(b);
  note_changed(b);
  bool open = !s.failed && !s.stop;
  bool consistent = open && s.n_changed[b.round & 1] > 0 ? make_round_trip(b) : !s.failed;
  forget_changes(b);
#ifdef CHECK_FIXPOINT
  if (consistent && !s.stop) check_fixpoint(b);
#endif
  return consistent;
}

// Ends the connection. This message has no answer.
static void leave_block(Remote& remote) {
  global_store(&remote.box->asked, message(++remote.number, ASK_LEAVE, 0));
}

DEVICE bool reach_fixpoint(Block& b) { return remote_fixpoint(b); }

#else

DEVICE bool reach_fixpoint(Block& b) { return fixpoint(b); }

#endif
