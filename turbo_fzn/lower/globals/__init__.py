"""Lowering of the global constraints: a module for each family, which lists them at its end."""
