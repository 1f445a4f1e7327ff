"""Lower and upper bounds of the papers: the public names (docs/reference/limits.md)."""

from covey.theory.limits import *  # noqa: F403
from covey.theory.limits import __all__ as __all__
