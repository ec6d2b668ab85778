"""The predicates of the language that is solved: their signatures, once for all who need them."""
