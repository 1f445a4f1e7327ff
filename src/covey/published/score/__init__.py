"""How good released centres are: noisy histograms of distances, and what they tell."""
