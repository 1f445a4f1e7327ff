"""What counts as clean: nothing but a CoveyError gets out, nothing that is said holds the canary, and it is quick."""

from __future__ import annotations

import contextlib
import io
import logging
import signal
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from canary import COUNTED, traces
from covey import CoveyError

MOST_SECONDS = 20.0
OUTCOMES: Counter[str] = Counter()  # how often all went well, and how often Covey refused


@dataclass(frozen=True)
class Target:
    """inputs: the strategy; check(input, folder): raises whatever is not clean; weight: its share of all inputs.

    good: an input that is accepted, so that no target is passed by refusing everything.
    """

    inputs: st.SearchStrategy[Any]
    check: Callable[[Any, Path], None]
    good: Any
    weight: int = 1


class Overheard(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.NOTSET)
        self.words: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.words.append(record.getMessage())


def leaks(words: str, *, public: str = "") -> list[str]:
    """The forms of the canary in some words, except those that what is public holds as well."""
    known = {COUNTED, *traces(public.encode(errors="replace"))}
    return [form for form in traces(words.encode(errors="replace")) if form not in known]


def too_slow(*_: object) -> None:
    raise TimeoutError(f"an input took more than {MOST_SECONDS} seconds")


@contextlib.contextmanager
def clean(public: str = "") -> Iterator[None]:
    """Only clean errors get out of here, and nothing that was said holds a canary that is not public."""
    handler, root, said = Overheard(), logging.getLogger(), io.StringIO()
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    before = signal.signal(signal.SIGALRM, too_slow)
    signal.setitimer(signal.ITIMER_REAL, 6 * MOST_SECONDS)  # by the clock on the wall: others use the machine, too
    begin = time.process_time()
    try:
        with warnings.catch_warnings(record=True) as warned, contextlib.redirect_stderr(said):
            warnings.simplefilter("always")
            yield
        OUTCOMES["accepted"] += 1
    except CoveyError as error:
        OUTCOMES["refused"] += 1
        handler.words += [str(error), repr(error.__cause__)]
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        root.removeHandler(handler)
        root.setLevel(level)
    assert time.process_time() - begin < MOST_SECONDS, "an input took too long"
    words = "\n".join([said.getvalue(), *handler.words, *(str(each.message) for each in warned)])
    assert leaks(words, public=public) == [], "what was said holds the canary"
