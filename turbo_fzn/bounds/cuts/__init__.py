"""Cuts from the rows of a linear program: mixed-integer rounding and zero-half cuts."""
