"""Privacy levels to slide between, as they were released."""
