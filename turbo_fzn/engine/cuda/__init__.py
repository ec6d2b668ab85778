"""The GPU engine: the driver, contexts, launches, and what goes into a running kernel."""
