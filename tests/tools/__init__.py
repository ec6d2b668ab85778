"""Commands for those who work on the project, and what they are made of."""
