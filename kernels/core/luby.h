// The lengths of runs between restarts: mostly short, now and then long.
#pragma once

#include "port.h"

constexpr i32 RESTART_CYCLE = 1 << 20;  // formula: Luby's sequence begins anew, before limits of 2^20 units

// Luby, Sinclair, Zuckerman 1993: 1 1 2 1 1 2 4 …, for i >= 1.
DEVICE i32 luby(i32 i) {
  for (;;) {
    i32 k = 1;
    while ((1 << k) - 1 < i) ++k;
    if ((1 << k) - 1 == i) return 1 << (k - 1);
    i -= (1 << (k - 1)) - 1;
  }
}
