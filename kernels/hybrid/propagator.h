// The block's side of a round trip: it takes bounds, propagates, and sends the bounds that have changed (mailbox.h).
//
// A round trip is like one level: its trail has each variable that has changed once, with the bounds that it had
// before. So the trail is the list of changes to send, and undoes a failure.
//
// A block waits for a message until one is there, or until the host asks for a stop. Then it leaves whatever its thread
// does, so that the kernel ends by one word of the host; and with the process, whose context the driver destroys.
#pragma once

#include "../block.h"
#include "../core/fixpoint.h"
#include "../core/store.h"
#include "../search/levels.h"
#include "mailbox.h"
#include "tuning.h"

// What the lanes of a block share of its service; lane 0 writes, all read after a barrier.
struct Service {
  union {
    i64 asked;     // the thread's message
    i64 checksum;  // of the store, once that has been read; in CHECK_ASSERTIONS builds only
  };
  i32 leaves;  // there are no more messages
};
static_assert(sizeof(BlockState) + sizeof(Service) <= STATE_BYTES, "the host leaves STATE_BYTES for both");

// Waits for the message with this number. Ends with a barrier.
DEVICE void await_message(const Block& b, const Mailbox* box, Service& s, u32 number) {
  if (lane() == 0) {
    s.leaves = 0;
    for (u32 looks = 1;; ++looks) {  // wraps around after hours
      s.asked = global_load(&box->asked);
      if (number_of(s.asked) == number) break;
      if (looks % LOOKS_A_STOP == 0 && global_load(&b.problem->common->stop)) {
        s.leaves = 1;
        break;
      }
      if (looks < LOOKS_A_PAUSE) yield_processor();
      else pause_briefly((i32)(looks / LOOKS_A_PAUSE < 8 ? looks / LOOKS_A_PAUSE : 8));
    }
    if (!s.leaves && kind_of(s.asked) & ASK_LEAVE) s.leaves = 1;
    fence_host();
  }
  barrier();
}

// Answers the thread. All lanes have written the list, and each has made a fence after it.
DEVICE void give_answer(const Block& b, Mailbox* box, u32 number, u32 kind, i32 count) {
  barrier();
  if (lane() == 0) {
    box->propagations = statistics(b).propagations;
    box->iterations = statistics(b).iterations;
    box->busy_ns = statistics(b).busy_ns;
    box->culprit = propagation(b).culprit;
    fence_host();
    global_store(&box->answered, message(number, kind, count));
  }
  barrier();
}

// Takes the bounds of a message; those that are new to the rows will wake them. Ends with a barrier.
DEVICE void take_list(const Block& b, const Changes& list, i32 count) {
  for (i32 i = lane(); i < count; i += lanes()) {
    Change change = read_change(b, list, i);
    if (change.flags) record_change(b, change.var, change.lower, change.upper, change.flags);
    b.lower[change.var] = change.lower;
    b.upper[change.var] = change.upper;
  }
  barrier();
}

// Restores the bounds of before this message's propagation. Ends with a barrier.
DEVICE void take_back(const Block& b) {
  for (i32 i = lane(); i < propagation(b).trail_size; i += lanes()) {
    TrailEntry entry = b.trail[i];
    b.lower[entry.var] = entry.lower;
    b.upper[entry.var] = entry.upper;
  }
  barrier();
}

// Empties the trail: the next message has a trail of its own. Ends with a barrier.
DEVICE void forget_trail(const Block& b) {
  for (i32 i = lane(); i < propagation(b).trail_size; i += lanes()) {
    i32 var = b.trail[i].var;
    block_and(flag_word(b, var), ~(FLAG_SAVED << flag_shift(var)));
  }
  barrier();
  if (lane() == 0) propagation(b).trail_size = propagation(b).trailing = 0;
  barrier();
}

// Propagates the thread's changes. Returns the kind of the answer; after a failure it has no changes.
DEVICE u32 propagate_message(Block& b) {
  if (lane() == 0) {
    Propagation& now = propagation(b);
    now.failed = 0;
    now.culprit = -1;
    now.trailing = 1;
    claim(b).given_up = 0;
  }
  barrier();
  bool consistent = fixpoint(b);
  bool stopped = propagation(b).stop, gave_up = claim(b).given_up;
  barrier();
  if (!consistent || stopped) take_back(b);
  return (consistent ? 0 : ANSWER_FAILED) | (stopped ? ANSWER_STOPPED : 0) | (gave_up ? ANSWER_GAVE_UP : 0);
}

#ifdef CHECK_ASSERTIONS
// Writes the checksum of the store, for the thread to compare.
DEVICE void sum_up(const Block& b, Mailbox* box, Service& s) {
  barrier();
  if (lane() == 0) s.checksum = 0;
  barrier();
  for (i32 var = lane(); var < b.problem->n_vars; var += lanes()) global_add(&s.checksum, mark_of(b, var));
  barrier();
  if (lane() == 0) box->checksum = s.checksum;
}
#else
DEVICE void sum_up(const Block&, Mailbox*, Service&) {}
#endif

// Sends the changes, in as many answers as it takes. Returns the number of the last message, or the next number if the
// thread leaves before the rest.
DEVICE u32 tell_list(const Block& b, Mailbox* box, i32 entries, Service& s, u32 number) {
  Changes list = changes_of(box, entries, true);
  i32 size = propagation(b).trail_size;
  for (i32 first = 0;; first += entries) {
    i32 count = size - first < entries ? size - first : entries;
    for (i32 i = lane(); i < count; i += lanes()) write_change(b, list, i, b.trail[first + i].var, 0);
    fence_host();
    bool last = first + count == size;
    give_answer(b, box, number, last ? 0 : ANSWER_PART, count);
    if (last) return number;
    await_message(b, box, s, ++number);
    if (s.leaves) return number;
  }
}

// Serves one message. Returns the number of the last message.
DEVICE u32 serve_message(Block& b, Mailbox* box, i32 entries, Service& s, u32 number) {
  i64 since = now_ns();
  if (kind_of(s.asked) & ASK_FROM_ROOT) take_root(b);
  take_list(b, changes_of(box, entries, false), count_of(s.asked));
  if (kind_of(s.asked) & ASK_PART) {
    give_answer(b, box, number, 0, 0);
    return number;
  }
  u32 kind = propagate_message(b);
  if (lane() == 0) statistics(b).busy_ns += now_ns() - since;
  sum_up(b, box, s);
  if (kind & (ANSWER_FAILED | ANSWER_STOPPED)) give_answer(b, box, number, kind, 0);
  else number = tell_list(b, box, entries, s, number);
  forget_trail(b);
  return number;
}

// The whole work of a block.
DEVICE void serve(Block& b, const Mailboxes& boxes, Service& s) {
  Mailbox* box = mailbox_of(boxes, b.index);
  zero_state(b);
  if (lane() == 0) claim(b).limited = 1;  // the answer reports what was given up; the thread decides what follows
  take_root(b);
  for (u32 number = 1; !propagation(b).stop; ++number) {
    await_message(b, box, s, number);
    if (s.leaves) return;
    number = serve_message(b, box, boxes.entries, s, number);
    if (s.leaves) return;
  }
}
