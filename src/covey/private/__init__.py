"""ROWS: the only folder that meets them. `Curator` is the door; everything else here stands behind it."""
