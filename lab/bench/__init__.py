"""Benchmarks: `python -m lab.bench`, `python -m lab.bench.anytime`, `python -m lab.bench.front`."""
