"""Why a model has no solution: a minimal set of its constraints that contradict each other."""
