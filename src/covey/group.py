"""Group privacy of sampling: the public names (docs/guide/group-privacy.md)."""

from covey.theory.group import *  # noqa: F403
from covey.theory.group import __all__ as __all__
