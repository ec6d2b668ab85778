"""The process of the command: how it is told to stop, its streams, who waits for it, and how it leaves."""
