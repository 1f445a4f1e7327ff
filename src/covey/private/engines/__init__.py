"""Where exact statistics are computed: over rows in memory, streamed from files, or on Spark; equal to the bit."""
