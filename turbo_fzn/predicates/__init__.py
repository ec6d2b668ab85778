"""The signatures of the predicates, shared by lowering, check and MiniZinc's library."""
