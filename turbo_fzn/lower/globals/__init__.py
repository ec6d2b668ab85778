"""Lowering of the global constraints, a module a family, which lists them at its end."""
