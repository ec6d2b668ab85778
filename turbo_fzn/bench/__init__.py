"""Benchmarks: `python -m turbo_fzn.bench`, `python -m turbo_fzn.bench.anytime`, `python -m turbo_fzn.bench.front`."""
