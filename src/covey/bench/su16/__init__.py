"""`covey bench su16`: the figures and claims of Su et al. 2016."""
