"""Tables of fewer rows: at most m of a person, a random sample, rows that their zones keep."""
