"""Other systems: their published figures, and how one of them is run in an environment of its own."""
