"""`covey bench coverage`: how often what releases say about their own errors holds."""
