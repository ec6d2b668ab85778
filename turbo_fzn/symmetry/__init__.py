"""Symmetries of a model, found and broken."""
