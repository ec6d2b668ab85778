"""The compiled kernels: found, compiled, kept."""
