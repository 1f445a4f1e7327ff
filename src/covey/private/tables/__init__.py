"""Readers: one record is one row, whatever it comes in. No row is read before it is asked for."""
