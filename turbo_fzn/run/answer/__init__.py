"""Answers of a run: which solutions are printed, how the run ends, and in which form all is written."""
