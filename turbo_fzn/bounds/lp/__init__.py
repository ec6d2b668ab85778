"""The linear program: its columns and rows, in exact numbers, and the solver."""
