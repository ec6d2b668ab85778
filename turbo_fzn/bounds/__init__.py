"""Bounds on the objective from linear relaxations, proved in exact arithmetic; see docs/design/bounds.md."""
