"""Benchmarks: the papers' own experiments, redone with Covey's algorithms on public or made-up rows."""
