"""Several engines on one model: teams of them, a tree that they share, all GPUs of a host."""
