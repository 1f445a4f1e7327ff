"""Bugs that nobody planted: mutants made from the syntax tree, a map from lines to tests, and a hunt for survivors."""
