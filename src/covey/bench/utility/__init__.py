"""`covey bench utility`: cost relative to ordinary k-means, next to the peers."""
