"""Lowering of the global constraints, a module a family; catalogue.py lists them all."""
