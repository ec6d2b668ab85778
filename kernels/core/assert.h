// What must hold. Only builds with -DCHECK_ASSERTIONS look; the tests make one, and end where something does not hold.
// In other builds nothing is left of an assertion.
//
// Lanes run at the same time: an assertion looks at what nobody changes between two barriers, or at what a lane owns.
#pragma once

#ifdef CHECK_ASSERTIONS

#include <stdio.h>
#include <stdlib.h>

#include "port.h"

#ifdef __CUDACC__
#define END_PROCESS() __trap()
#else
#define END_PROCESS() abort()
#endif

#define ASSERT(condition)                                                              \
  do {                                                                                 \
    if (!(condition)) {                                                                \
      printf("%s:%d: does not hold: %s\n", __FILE__, __LINE__, #condition);            \
      END_PROCESS();                                                                   \
    }                                                                                  \
  } while (0)

#else

#define ASSERT(condition) ((void)sizeof(!(condition)))

#endif
