"""One run: prepare a model, choose an engine, search, check, report."""
