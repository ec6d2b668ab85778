"""Proofs that others can check: what a learner has concluded, as a pseudo-Boolean proof (docs/design/proofs.md)."""
