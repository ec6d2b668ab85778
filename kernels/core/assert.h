// Assertions. Only builds with -DCHECK_ASSERTIONS evaluate them; the tests make one, and end where an assertion fails.
// In other builds an assertion is nothing.
//
// Lanes run at the same time: an assertion reads only values that no lane changes between two barriers, or that its own
// lane owns.
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
