"""The independent check of solutions against the original model. Imports nothing of how they were found."""
