"""Engines: a TNF -> solutions, by the kernels, on CPU threads or on a GPU."""
