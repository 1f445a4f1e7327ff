"""The page that is sent: its map, what lies under it, and the few lines of script that let a reader ask it."""
