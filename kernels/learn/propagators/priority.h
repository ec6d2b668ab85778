// The order in which rows of different cost run: a lower number first.
#pragma once

enum Priority { AT_ONCE, SUMS, COSTLY, WHOLE, LAST };
constexpr int N_PRIORITIES = 5;  // format: classes of propagators
