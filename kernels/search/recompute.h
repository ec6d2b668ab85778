// The way back to a level: by the trail, or by computing its store anew from the root.
//
// With KEEPS_TRAIL 0 no change is recorded, and each step back is a replay of the path: full recomputation, as Turbo
// does it (for copying, trailing and recomputation see Schulte, ICLP 1999). A level then costs no memory but its
// decision, and a step back a propagation of the whole path at once. Neighbourhoods keep the trail in any case, since
// the variables that they fix are not part of the path.
#pragma once

#include "../core/store.h"
#include "task.h"

#ifndef KEEPS_TRAIL
#define KEEPS_TRAIL 1
#endif

// Whether a task fixes variables apart from its path, as a neighbourhood does: it cannot be replayed. These are macros,
// since functions change what nvcc makes of the usual build.
#define IS_FIXED_APART(b) (claim(b).limited && task(b).method < FIRST_RESTART)
#define RECOMPUTES(b) (!KEEPS_TRAIL && !IS_FIXED_APART(b))
