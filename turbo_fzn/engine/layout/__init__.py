"""A TNF model in the memory layout of the kernels."""
