"""The command: from argv to the exit code."""
