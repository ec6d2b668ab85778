"""The independent check of solutions against the original model. Imports nothing of the code that finds them."""
