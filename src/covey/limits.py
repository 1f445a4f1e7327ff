"""Lower and upper bounds of the papers: the public names (docs/reference/limits.md)."""

from covey.theory.limits import *  # noqa: F403
from covey.theory.limits import __all__ as _bounds
from covey.theory.samples import sample_size

__all__ = [*_bounds, "sample_size"]
