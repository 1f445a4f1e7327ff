"""The default: a tree of boxes in few columns, a private subspace and clipped residuals in many.

Guide: docs/guide/auto.md.
"""
