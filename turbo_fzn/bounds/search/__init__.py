"""Searches over the relaxation: its root, branch and bound, and integer programs near the best solution."""
