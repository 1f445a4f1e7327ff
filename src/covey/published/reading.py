"""Whatever Covey publishes, read from its file: releases, coresets and levels, by what the file says it is."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from covey.errors import FormatError
from covey.published.coreset import files as coresets
from covey.published.coreset.answers import FARTHEST
from covey.published.coreset.coreset import Coreset
from covey.published.errors import Errors
from covey.published.levels import files as levels
from covey.published.levels.levels import LevelSet
from covey.published.release import FORMAT as RELEASE
from covey.published.release import Release

KINDS = "a release, a coreset or levels"
MOST_ROWS = 1e18  # a whole number of more is none in other programs


def read_published(path: str | os.PathLike[str]) -> Release | Coreset | LevelSet:
    """What is published in a file; anything else is refused with what is wrong."""
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise FormatError(f"release: cannot read {str(path)!r}: {error.strerror}") from None
    if content[:4] == coresets.PARQUET:
        return _few(coresets.from_parquet(content))
    try:
        head = msgspec.json.decode(content, type=dict[str, Any])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise FormatError(
            f"release: {str(path)!r} is no file that Covey publishes, {KINDS}, or it is damaged"
        ) from None
    match head.get("format"):
        case coresets.FORMAT:
            return _few(coresets.from_json(content))
        case levels.FORMAT:
            return levels.from_json(content)
        case other if other == RELEASE:
            return near(Release.from_json(content))
    if head.get("type") == "FeatureCollection":
        raise FormatError(f"release: {str(path)!r} is GeoJSON; give the file that it was made of: {KINDS}")
    raise FormatError(f"release: {str(path)!r} is JSON, but not {KINDS}")


def near(release: Release) -> Release:
    """Refuse names, centres and numbers of rows that no fit has, and that nothing can be drawn or computed with."""
    if len(set(release.columns)) < len(release.columns):
        raise FormatError("release: the document is damaged: two columns have the same name")
    middle, half = release.scale()
    with np.errstate(all="ignore"):
        far = np.abs((np.array(release.centres, dtype=np.float64) - middle) / half)
    if not (far <= FARTHEST).all():
        raise FormatError("release: the document is damaged: centres lie absurdly far from the domain")
    errors = Errors() if release.errors is None else release.errors
    ends = [*(errors.sizes or ()), *(errors.joint_sizes or ())]
    if any(abs(each) > MOST_ROWS for each in (*(release.sizes or ()), *(end for pair in ends for end in pair))):
        raise FormatError("release: the document is damaged: there are absurdly many rows")
    return release


def _few(coreset: Coreset) -> Coreset:
    """Refuse weights that no rows add up to."""
    if not (np.abs(coreset.weights) <= MOST_ROWS).all():
        raise FormatError("coreset: the document is damaged: there are absurdly many rows")
    return coreset
