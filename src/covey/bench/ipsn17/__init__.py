"""`covey bench ipsn17`: small-ball coresets (Feldman et al. 2017)."""
