"""`covey bench utility --suite hard`: where private clustering is hard, and how bad its worst runs are."""
