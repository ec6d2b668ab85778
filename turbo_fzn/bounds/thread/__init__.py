"""The thread of the relaxation, what it asks of the search, and the turns that it takes with it."""
