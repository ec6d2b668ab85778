// The mailbox between a thread of the CPU that searches and the block of a GPU that propagates for it.
//
// This is the hybrid engine: the search of the CPU engine, whose fixpoints alone are reached elsewhere. Each thread has
// a block of its own, and shares nothing with it but a mailbox: the blocks of the persistent kernel know no search, and
// the threads run no row. Both have a store. At the end of each round trip the two stores are equal (remote.h is the
// thread's side, propagator.h the block's):
//
//   thread  the changes of its store since then, by decisions and by backtracking ──▶ block
//   block   takes these bounds, propagates to the fixpoint
//   thread  ◀── the changes by that, or that there is no solution; in that case the block undoes them
//
// So only changes are sent, and the thread alone has the trail. A change is a variable with its bounds. A change for
// the block also marks the bounds that are new to the rows: those of a decision are, those that backtracking has
// restored are not, since the store was at its fixpoint with them. Where a thread begins anew at the root, the block
// takes the root bounds from its own memory.
//
// A mailbox lies in memory of the host that the GPU reaches (mapped), and each side writes its own cache line: a
// message is one word there, written last. It has a number, which differs from that of the message before, a kind, and
// the number of changes in the list. A list that is too long is sent in parts; each part but the last is answered by an
// empty message. So it is always the turn of one side, and a message is never overwritten before it was read. Lists are
// columns, so that neighbouring lanes read neighbouring words across the bus.
//
// Such an engine was the first that had a persistent kernel in C++ Turbo (its version 1.2.2). A node costs at least a
// round trip over the bus, twice its latency; the purpose of the engine is to measure the effect of that.
#pragma once

#include "../core/assert.h"
#include "../core/store.h"
#ifdef CHECK_ASSERTIONS
#include "../core/random.h"
#endif

// The kinds of a thread's message.
constexpr u32 ASK_FROM_ROOT = 1;  // take the root bounds before those of the list
constexpr u32 ASK_PART = 2;       // more of the list follows
constexpr u32 ASK_LEAVE = 4;      // it was the last message

// The kinds of a block's answer.
constexpr u32 ANSWER_FAILED = 1;   // there is no solution
constexpr u32 ANSWER_STOPPED = 2;  // the host asked for a stop: the fixpoint was not reached
constexpr u32 ANSWER_GAVE_UP = 4;  // a bound beyond what a store can hold was met
constexpr u32 ANSWER_PART = 8;     // more of the list follows

constexpr i32 COUNT_BITS = 28;  // format: of a message, for the length of its list; the others are its kind

DEVICE i64 message(u32 number, u32 kind, i32 count) {
  ASSERT(0 <= count && count < 1 << COUNT_BITS && kind < 1u << (32 - COUNT_BITS));
  return (i64)((u64)number << 32 | kind << COUNT_BITS | (u32)count);
}

DEVICE u32 number_of(i64 word) { return (u32)((u64)word >> 32); }
DEVICE u32 kind_of(i64 word) { return (u32)word >> COUNT_BITS; }
DEVICE i32 count_of(i64 word) { return (i32)((u32)word & ((1u << COUNT_BITS) - 1)); }

// A list of changes, by columns. A word is a variable, and which of its bounds are new to the rows (FLAG_CHANGED).
struct Changes {
  u32* words;
  bound_t* lower;
  bound_t* upper;
};

constexpr i32 FLAGS_OF_WORD = 2;  // bits
constexpr i64 CHANGE_BYTES = sizeof(u32) + 2 * sizeof(bound_t);

DEVICE i64 column_bytes(i32 entries, i64 size) { return (entries * size + 63) & ~(i64)63; }

DEVICE i64 changes_bytes(i32 entries) {
  return column_bytes(entries, sizeof(u32)) + 2 * column_bytes(entries, sizeof(bound_t));
}

// Of a mailbox with its two lists.
DEVICE i64 mailbox_bytes(i32 entries) { return (i64)sizeof(Mailbox) + 2 * changes_bytes(entries); }

DEVICE Mailbox* mailbox_of(const Mailboxes& boxes, i32 index) {
  return (Mailbox*)(boxes.memory + index * boxes.bytes);
}

// The list of changes for the block, or of those from it.
DEVICE Changes changes_of(Mailbox* box, i32 entries, bool told_by_block) {
  char* start = (char*)(box + 1) + (told_by_block ? changes_bytes(entries) : 0);
  Changes list;
  list.words = (u32*)start;
  list.lower = (bound_t*)(start + column_bytes(entries, sizeof(u32)));
  list.upper = (bound_t*)((char*)list.lower + column_bytes(entries, sizeof(bound_t)));
  return list;
}

DEVICE void write_change(const Block& b, const Changes& list, i32 place, i32 var, u32 flags) {
  list.words[place] = (u32)var << FLAGS_OF_WORD | flags;
  list.lower[place] = b.lower[var];
  list.upper[place] = b.upper[var];
}

// A change that the other side has written.
struct Change {
  i32 var;
  u32 flags;
  bound_t lower, upper;
};

DEVICE Change read_change(const Block& b, const Changes& list, i32 place) {
  u32 word = global_load(&list.words[place]);
  Change change;
  change.var = (i32)(word >> FLAGS_OF_WORD);
  change.flags = word & FLAG_CHANGED;
  change.lower = global_load(&list.lower[place]);
  change.upper = global_load(&list.upper[place]);
  ASSERT(0 <= change.var && change.var < b.problem->n_vars && change.lower <= change.upper);
  return change;
}

#ifdef CHECK_ASSERTIONS
// The variable's part of the checksum of a store.
DEVICE i64 mark_of(const Block& b, i32 var) {
  return (i64)hash((u64)b.upper[var] ^ hash_of((u64)b.lower[var], var));
}
#endif
