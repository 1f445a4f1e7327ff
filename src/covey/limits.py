"""Lower and upper bounds of the papers: the public names (docs/reference/limits.md)."""

from covey.theory.limits import *  # noqa: F403
from covey.theory.limits import __all__ as _bounds
from covey.theory.nets import bicriteria_ceiling, net_coreset_error
from covey.theory.samples import sample_size

__all__ = [*_bounds, "bicriteria_ceiling", "net_coreset_error", "sample_size"]
