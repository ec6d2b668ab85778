"""Proofs in exact integers from a solver's multipliers, and the inequalities that learners get of them."""
