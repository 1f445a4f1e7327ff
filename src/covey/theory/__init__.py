"""What can be said without any rows: forecasts, lower bounds, groups, truthfulness."""
