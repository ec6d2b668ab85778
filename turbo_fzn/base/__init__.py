"""Modules that any other may use, and that use no other."""
