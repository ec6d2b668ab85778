"""A MiniZinc solver that runs wholly on a GPU, or on CPU threads from the same kernel sources."""

__version__ = "0.1.0"
