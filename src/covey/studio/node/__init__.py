"""The page of a node: one HTML file that thins a person's own track in their browser, and asks nothing of a network."""
