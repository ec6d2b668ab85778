// What must hold. Only builds with -DCHECK_ASSERTIONS look; the tests make one, and end where something does not hold.
// In other builds nothing is left of an assertion.
//
// Lanes run at the same time: an assertion looks at what nobody changes between two barriers, or at what a lane owns.
#pragma once

#include "port.h"

#ifdef CHECK_ASSERTIONS

#include <stdio.h>

#ifdef __CUDACC__
#define COMPLAIN(...) (printf(__VA_ARGS__), __trap())
#else
#include <stdlib.h>
#define COMPLAIN(...) (fprintf(stderr, __VA_ARGS__), abort())
#endif

#define ASSERT(condition) \
  ((condition) ? (void)0 : COMPLAIN("%s:%d: does not hold: %s\n", __FILE__, __LINE__, #condition))

#else

#define ASSERT(condition) ((void)sizeof(!(condition)))

#endif
