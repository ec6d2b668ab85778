"""Finds, compiles and caches the kernels."""
