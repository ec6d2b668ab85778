// Holes: values between the bounds of a variable that are excluded (variant `bitset`).
//
// A variable with few values has a bit for each, set where the value is excluded. The words of these bits stand in the
// store behind the variables, each as the lower bound of one more variable, which no row names (store_vars; in
// root_lower and root_upper, too): so the trail, the change bits and the watch lists serve them as they are. Bits are
// only set, so a word only grows, as a lower bound does.
//
// Rows make holes and are told of them. Whoever makes a hole also cuts it off where it comes to lie at an end, so no
// other row needs to look. `x = (y = z)`: false with y fixed, z has a hole there; true, both have the holes of either;
// and it is false where no value is left to both. `x = table[y]`: holes of y whose entry x cannot take, and of x where
// no entry is left. On two variables each of them is then consistent by values, not by bounds alone.
//
// Literature: Lecoutre, Vion: Enforcing arc consistency using bitwise operations (CP Letters 2008).
#pragma once

#include "assert.h"
#include "interval.h"
#include "store.h"

#if BITSETS
constexpr i32 MOST_HOLE_WORDS = MOST_HOLE_VALUES / HOLE_BITS + 2;  // of a variable
constexpr u32 WHOLE_WORD = (1u << HOLE_BITS) - 1;

// The holes of a variable: the variable whose lower bound is their first word, and the value of its first bit, a
// multiple of HOLE_BITS, so that the words of any two variables can be compared. `place` < 0: it has none.
struct Holes { i32 place, first; };

DEVICE Holes holes_of(const Block& b, i32 var) {
  const i32* all = b.problem->holes;
  Holes none = {-1, 0};
  if (!all) return none;
  Holes found = {all[2 * var], all[2 * var + 1]};
  return found;
}

DEVICE u32 hole_word(const Block& b, Holes h, i32 word) {
  return h.place < 0 ? 0 : (u32)b.lower[h.place + word - h.first / HOLE_BITS];
}

// The word that has the value's bit, numbered over all integers: rounded down.
DEVICE i32 word_of(value_t v) { return (i32)divide_floor(v, HOLE_BITS); }
DEVICE u32 bit_of(value_t v) { return 1u << (v - (value_t)word_of(v) * HOLE_BITS); }

DEVICE bool is_hole(const Block& b, Holes h, value_t v) {
  return h.place >= 0 && (hole_word(b, h, word_of(v)) & bit_of(v));
}

// Adds the holes in `bits` of a word. Returns whether one of them is new.
DEVICE bool add_holes(const Block& b, Holes h, i32 word, u32 bits) {
  if (h.place < 0) return false;
  i32 var = h.place + word - h.first / HOLE_BITS;
  bound_t lower = b.lower[var], upper = b.upper[var];
  ASSERT(b.problem->n_vars <= var && var < store_vars(*b.problem) && bits <= WHOLE_WORD);
  if (!(bits & ~(u32)lower)) return false;
  record_change(b, var, lower, upper, FLAG_LOWER);
  block_or((u32*)&b.lower[var], bits);
  return true;
}

// The bits of a word whose values lie within the interval.
DEVICE u32 bits_within(Interval v, i32 word) {
  value_t first = (value_t)word * HOLE_BITS, last = first + HOLE_BITS - 1;
  if (v.u < first || v.l > last) return 0;
  u32 below = v.l <= first ? 0 : bit_of(v.l) - 1;
  u32 above = v.u >= last ? 0 : WHOLE_WORD & ~(bit_of(v.u) | (bit_of(v.u) - 1));
  return WHOLE_WORD & ~below & ~above;
}

// x = (y = z), after its bounds.
DEVICE bool propagate_eq_holes(const Block& b, Row r, Interval& x, Interval y, Interval z) {
  Holes of_y = holes_of(b, r.y), of_z = holes_of(b, r.z);
  if (of_y.place < 0 && of_z.place < 0) return false;
  bool news = false;
  if (x.u == 0) {
    if (is_single(y) && z.l < y.l && y.l < z.u) news |= add_holes(b, of_z, word_of(y.l), bit_of(y.l));
    if (is_single(z) && y.l < z.l && z.l < y.u) news |= add_holes(b, of_y, word_of(z.l), bit_of(z.l));
    return news;
  }
  Interval both = {maximum(y.l, z.l), minimum(y.u, z.u)};
  if (is_empty(both)) return false;
  bool shared = false;  // whether a value is left to both
  for (i32 word = word_of(both.l); word <= word_of(both.u); ++word) {
    u32 within = bits_within(both, word), holes = within & (hole_word(b, of_y, word) | hole_word(b, of_z, word));
    shared |= holes != within;
    if (x.l == 1) news |= add_holes(b, of_y, word, holes) | add_holes(b, of_z, word, holes);
  }
  if (!shared) reduce(x, 0);
  return news;
}

// x = table[y], after its bounds.
DEVICE bool propagate_element_holes(const Block& b, Row r, Interval& x, Interval& y) {
  Holes of_x = holes_of(b, r.x), of_y = holes_of(b, r.y);
  if (of_x.place < 0 && of_y.place < 0) return false;
  const bound_t* table = b.problem->tables + r.z;
  u32 left[MOST_HOLE_WORDS] = {};  // of x: the values that an entry has
  i32 base = of_x.place < 0 ? 0 : word_of(x.l);
  value_t least = BEYOND, most = -BEYOND, first = y.u + 1, last = y.l - 1;
  bool news = false;
  for (value_t i = y.l; i <= y.u; ++i) {
    if (is_hole(b, of_y, i)) continue;
    value_t value = table[i];
    if (value < x.l || value > x.u || is_hole(b, of_x, value)) {
      if (y.l < i && i < y.u) news |= add_holes(b, of_y, word_of(i), bit_of(i));
      continue;
    }
    first = minimum(first, i);
    last = i;
    least = minimum(least, value);
    most = maximum(most, value);
    if (of_x.place < 0) continue;
    ASSERT(base <= word_of(value) && word_of(value) - base < MOST_HOLE_WORDS);
    left[word_of(value) - base] |= bit_of(value);
  }
  raise(y, first);
  reduce(y, last);
  if (is_empty(y)) return news;
  raise(x, least);
  reduce(x, most);
  if (of_x.place < 0) return news;
  for (i32 word = word_of(x.l); word <= word_of(x.u); ++word) {
    news |= add_holes(b, of_x, word, bits_within(x, word) & ~left[word - base]);
  }
  return news;
}

// Makes the holes that the row implies, and tightens its variables by holes. Returns whether there are new ones.
DEVICE bool propagate_holes(const Block& b, Row r, Interval& x, Interval& y, Interval& z) {
  if (is_empty(x) || is_empty(y) || is_empty(z)) return false;
  if (r.op == OP_EQ) return propagate_eq_holes(b, r, x, y, z);
  return r.op == OP_ELEMENT && propagate_element_holes(b, r, x, y);
}
#endif
