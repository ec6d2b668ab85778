// Lists of numbers that grow, and tables of keys of several numbers: the memory of host code that trims a log (trim.h).
#pragma once

#include <stdlib.h>
#include <string.h>

#include "../core/port.h"

struct NumberList {
  i64* at;
  i64 size, room;
};

// Makes room for so many further numbers. False without memory.
DEVICE bool make_room(NumberList& list, i64 more) {
  if (list.size + more <= list.room) return true;
  i64 room = list.size + more + list.room / 2;
  i64* moved = (i64*)realloc(list.at, (size_t)room * sizeof(i64));
  if (!moved) return false;
  list.at = moved;
  list.room = room;
  return true;
}

DEVICE bool add_number(NumberList& list, i64 number) {
  if (!make_room(list, 1)) return false;
  list.at[list.size++] = number;
  return true;
}

DEVICE bool add_numbers(NumberList& list, const i64* numbers, i64 count) {
  if (!make_room(list, count)) return false;
  memcpy(list.at + list.size, numbers, (size_t)count * sizeof(i64));
  list.size += count;
  return true;
}

// Keys of several numbers, each with a value, by open addressing. A slot is 1 + the place of its entry, or 0; an entry
// is the size of the key, the value, and the key.
struct KeyTable {
  NumberList entries;
  i64* slots;
  i64 room, count;  // slots, a power of two; keys
};

constexpr i64 ENTRY_HEAD = 2;  // format: the numbers of an entry before its key

DEVICE i64* slot_of(const KeyTable& table, const i64* key, i64 size) {
  u64 digest = (u64)size;
  for (i64 i = 0; i < size; ++i) {
    digest = (digest ^ (u64)key[i]) * 0x9E3779B97F4A7C15u;
    digest ^= digest >> 29;
  }
  for (;; ++digest) {
    i64* slot = &table.slots[digest & (u64)(table.room - 1)];
    if (!*slot) return slot;
    const i64* entry = table.entries.at + *slot - 1;
    if (entry[0] == size && !memcmp(entry + ENTRY_HEAD, key, (size_t)size * sizeof(i64))) return slot;
  }
}

// The value of a key, or -1.
DEVICE i64 recall(const KeyTable& table, const i64* key, i64 size) {
  i64 slot = table.room ? *slot_of(table, key, size) : 0;
  return slot ? table.entries.at[slot] : -1;
}

// Twice as many slots.
DEVICE bool grow_table(KeyTable& table) {
  i64 room = table.room ? 2 * table.room : 1024;
  i64* slots = (i64*)calloc((size_t)room, sizeof(i64));
  if (!slots) return false;
  free(table.slots);
  table.slots = slots;
  table.room = room;
  const i64* at = table.entries.at;
  for (i64 place = 0; place < table.entries.size; place += ENTRY_HEAD + at[place])
    *slot_of(table, at + place + ENTRY_HEAD, at[place]) = place + 1;
  return true;
}

// Gives the key a value. False without memory.
DEVICE bool memorise(KeyTable& table, const i64* key, i64 size, i64 value) {
  if (2 * table.count >= table.room && !grow_table(table)) return false;
  i64* slot = slot_of(table, key, size);
  if (*slot) {
    table.entries.at[*slot] = value;
    return true;
  }
  i64 place = table.entries.size;
  if (!make_room(table.entries, ENTRY_HEAD + size)) return false;
  add_number(table.entries, size);
  add_number(table.entries, value);
  add_numbers(table.entries, key, size);
  *slot = place + 1;
  ++table.count;
  return true;
}

DEVICE void forget_keys(KeyTable& table) {
  if (table.room) memset(table.slots, 0, (size_t)table.room * sizeof(i64));
  table.entries.size = table.count = 0;
}

DEVICE void free_table(KeyTable& table) {
  free(table.entries.at);
  free(table.slots);
}
