"""`covey bench speed`: ratios of times in one run."""
