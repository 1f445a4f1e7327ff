"""Planted privacy bugs, each with the test that must notice it. `python -m mutants.page` writes the table of them."""
