// Memory that is given out array by array.
#pragma once

#include "store.h"

// A piece of memory, allocated from its beginning.
struct Room { char* next; };

// Allocates `count` elements.
template <typename T> DEVICE T* take(Room& room, i64 count) {
  T* place = (T*)room.next;
  room.next += align16(count * (i64)sizeof(T));
  return place;
}
