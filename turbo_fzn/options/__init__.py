"""Options of a run, stated once for the command and for Python."""
