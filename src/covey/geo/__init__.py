"""Maps: GeoJSON, regions and their borders; and `thin`, with which a node keeps its own zones to itself."""

from typing import Any


def __getattr__(name: str) -> Any:
    if name == "thin":  # it reads rows, and so lives with the fits
        from covey.fit.node import thin

        return thin
    raise AttributeError(f"module 'covey.geo' has no attribute {name!r}")
