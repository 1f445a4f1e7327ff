"""`covey bench data`: where the sets of the benchmarks come from, and getting those that can be got."""
