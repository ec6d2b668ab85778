// What a learner is made of: one part from each header that has something to remember.
//
// A part is a struct with its own memory. Its header says how many bytes the arrays of fixed sizes take, and takes them
// from the room that the learner has; memory.h puts the parts together and adds the bytes up. Until then a learner is
// only a name, and a part is reached through the function of its name, as with the state of a block (block.h).
#pragma once

#include "../core/store.h"

// Whether the block learns, rather than search the tree or neighbourhoods.
DEVICE bool is_learner(const Problem* p, i32 block) { return p->roles && p->roles[block] >= FIRST_LEARNER; }

// Of a learner's model, where fused rows stand for ternary ones (turbo_fzn/tnf/fuse.py): whether these say what the row
// says, and whether no row is left that names the variable.
DEVICE bool is_absorbed(const Problem* p, i32 row) { return p->n_links && p->absorbed[row]; }
DEVICE bool is_link(const Problem* p, i32 var) { return p->n_links && p->links[var]; }

// Its rows by number: ternary ones, linear ones (linear.h), wide ones (wide.h).
DEVICE i32 n_all_rows(const Problem* p) { return p->n_rows + p->n_linears + p->n_wides; }
DEVICE bool is_linear(const Problem* p, i32 row) { return p->n_rows <= row && row < p->n_rows + p->n_linears; }
DEVICE bool is_wide(const Problem* p, i32 row) { return p->n_rows + p->n_linears <= row && row < n_all_rows(p); }

struct Learner;

DEVICE const Block& block(const Learner& l);
DEVICE const Problem* problem(const Learner& l);
DEVICE LearnStatistics& statistics(const Learner& l);

// Declares how a part is reached.
#define PART(Type, name)   \
  DEVICE Type& name(Learner& l); \
  DEVICE const Type& name(const Learner& l)

// A piece of memory, handed out from its beginning.
struct Room { char* next; };

// The next `count` elements of it.
template <typename T> DEVICE T* take(Room& room, i64 count) {
  T* place = (T*)room.next;
  room.next += align16(count * (i64)sizeof(T));
  return place;
}
