"""How uncertain what is published is: sizes, costs, places of centres, and what may be only noise. Free.

From released numbers and the known law of their noise alone. Guide: docs/guide/errors.md.
"""
