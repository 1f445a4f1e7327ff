"""CSV: the records of RFC 4180, streamed."""
