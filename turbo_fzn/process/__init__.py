"""The process of the command: stop requests, standard streams, the worker process, and its end."""
