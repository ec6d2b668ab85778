// A block's time by activity: lane 0 counts, in PROFILE builds. In others these functions are empty.
#pragma once

#include "store.h"

struct Stopwatch {
  i64 began;     // when the block did, in nanoseconds; in all builds
  i64 since;     // ticks
  i32 activity;  // of the time since then
};

DEVICE Stopwatch& stopwatch(const Block& b);

// From here on lane 0's time counts for `activity`.
DEVICE void turn_to(const Block& b, i32 activity) {
#ifdef PROFILE
  if (lane() != 0) return;
  Stopwatch& s = stopwatch(b);
  i64 now = ticks();
  statistics(b).activity_ticks[s.activity] += now - s.since;
  s.since = now;
  s.activity = activity;
#else
  (void)b;
  (void)activity;
#endif
}
