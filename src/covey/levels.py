"""Privacy levels to slide between: the public names (docs/guide/slider.md)."""

from covey.fit.slider import *  # noqa: F403
from covey.fit.slider import __all__ as __all__
