// The bounds of a thread's store that its block does not have: they are sent with the next message (mailbox.h).
//
// A variable is noted when backtracking restores its bounds, once between two messages; the variables that decisions
// change are in the list of changed variables anyway. Only HYBRID builds have this: in others these functions are
// empty.
#pragma once

#include "../core/assert.h"
#include "../core/store.h"

#ifdef HYBRID

#include <stdlib.h>

// The differences between a thread's store and its block's.
struct Mirror {
  i32* noted;     // the variables whose bounds may be others there
  u32* noted_in;  // of each variable: the last epoch in which it was noted
  i32 n_noted;
  u32 epoch;      // of what was noted since the last message
  bool root;      // the block is to begin with the root bounds
};

// Opens the mirror of a block that has the root bounds. Returns false when there is no memory for it.
static bool open_mirror(Mirror& mirror, const Problem* problem) {
  mirror.noted = (i32*)malloc((size_t)problem->n_vars * sizeof(i32));
  mirror.noted_in = (u32*)calloc((size_t)problem->n_vars, sizeof(u32));
  mirror.n_noted = 0;
  mirror.epoch = 1;
  mirror.root = false;
  return problem->n_vars == 0 || (mirror.noted && mirror.noted_in);
}

static void close_mirror(Mirror& mirror) {
  free(mirror.noted);
  free(mirror.noted_in);
}

static void note_restored(const Block& b, i32 var) {
  ASSERT(0 <= var && var < b.problem->n_vars);
  Mirror& mirror = *b.mirror;
  if (mirror.noted_in[var] == mirror.epoch) return;
  mirror.noted_in[var] = mirror.epoch;
  mirror.noted[mirror.n_noted++] = var;
}

// Forgets what was noted. After 2^32 messages old epochs would count as the current one, so all are cleared then.
static void forget_noted(const Block& b) {
  Mirror& mirror = *b.mirror;
  mirror.n_noted = 0;
  if (++mirror.epoch != 0) return;
  for (i32 var = 0; var < b.problem->n_vars; ++var) mirror.noted_in[var] = 0;
  mirror.epoch = 1;
}

// Notes that the thread's store is the root store.
static void note_root(const Block& b) {
  forget_noted(b);
  b.mirror->root = true;
}

#else

DEVICE void note_restored(const Block&, i32) {}
DEVICE void note_root(const Block&) {}

#endif
