"""Private coresets: weighted points that answer any number of queries."""
