"""What is in the clusters of a release: noisy counts of declared cells of other columns."""
