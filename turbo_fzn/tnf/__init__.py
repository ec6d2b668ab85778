"""The ternary normal form: the language, its text form, and the simplifier."""
