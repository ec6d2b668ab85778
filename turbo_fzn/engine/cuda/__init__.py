"""The GPU engine: the driver, contexts, launches, and messages to a running kernel."""
