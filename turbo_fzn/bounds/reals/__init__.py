"""Models with real variables: the rows of a box, its proofs, and bounds where intervals find none."""
