"""FREE: computation on what is public or already noisy."""
