"""Answers that were paid for by themselves, read from their files: profiles, scores, and bounds that were found."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import msgspec

from covey.published import bounds
from covey.published.bounds import FoundBounds
from covey.published.profile import profile as profiles
from covey.published.profile.profile import Profile
from covey.published.score import score as scores
from covey.published.score.score import Score

Answer = Profile | Score | FoundBounds
READERS: dict[str, Callable[[bytes], Answer]] = {
    profiles.FORMAT: Profile.from_json,
    scores.FORMAT: Score.from_json,
    bounds.FORMAT: FoundBounds.from_json,
}


class Head(msgspec.Struct):
    """What a document says it is."""

    format: str = ""


def read_answer(path: str | os.PathLike[str]) -> Answer | None:
    """The answer in a file; None if it says that it is something else, or does not say what it is."""
    try:
        content = Path(path).read_bytes()
        read = READERS.get(msgspec.json.decode(content, type=Head).format)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return None if read is None else read(content)
