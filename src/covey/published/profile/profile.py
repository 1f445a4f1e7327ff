"""A profile: what is in the clusters of a release. Noisy counts with a certificate of their own, and what they tell."""

from __future__ import annotations

import os
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from covey.errors import FormatError, ParameterError
from covey.files import write_whole
from covey.post.errors.quantiles import LEVEL
from covey.post.shares import Counts
from covey.published.certificate import Certificate, is_possible
from covey.published.profile.columns import Column

FORMAT, VERSION = "covey-profile", 1
MOST_FINDINGS = 1_000
WIDEST = 0.5  # of the interval of a share: beyond it, nothing is said of a cluster
MOST_NUMBERS = 2**62


class Finding(msgspec.Struct, frozen=True):
    """That a cluster differs from the whole: a share of its rows, or a median, each (number, low, high)."""

    cluster: int
    column: str
    cell: str | None
    here: tuple[float, float, float]
    overall: tuple[float, float, float]


class Document(msgspec.Struct, frozen=True, kw_only=True):
    """A profile as it is stored: readable without Covey."""

    format: str
    version: int
    centres: list[list[float]]
    columns: list[Column]
    counts: list[list[list[int]]]
    noise_scale: float
    certificate: Certificate
    statement: str
    standing_out: list[Finding] = []


class Profile:
    """What is in the clusters of a release: for each column the noisy number of rows of every cluster in every cell.

    columns : what was asked, with the public cells of each. counts : for each column clusters x cells, noisy and so
    negative at times. noise_scale : of the discrete Laplace noise of every count. certificate : its own promise, which
    adds to that of the release.
    """

    def __init__(
        self,
        *,
        centres: list[list[float]],
        columns: list[Column],
        counts: list[NDArray[np.int64]],
        noise_scale: float,
        certificate: Certificate,
    ) -> None:
        self.centres, self.columns, self.counts = centres, columns, counts
        self.noise_scale, self.certificate = noise_scale, certificate

    def of(self, column: str) -> tuple[Column, Counts]:
        """A column by its name, and its counts, of which shares and medians with intervals can be asked."""
        names = [each.name for each in self.columns]
        if column not in names:
            raise ParameterError(
                "column", f"the profile has no column {column!r}; it has {', '.join(map(repr, names))}"
            )
        place = names.index(column)
        return self.columns[place], Counts(self.counts[place].astype(np.float64), self.noise_scale)

    def shares(self, column: str, *, level: float = LEVEL) -> NDArray[np.float64]:
        """clusters x cells x 3: the share of each cell in its cluster, and the two ends of its interval."""
        return self.of(column)[1].shares(level)

    def medians(self, column: str, *, level: float = LEVEL) -> NDArray[np.float64]:
        """clusters x 3: the median of a column of numbers in each cluster, and the two ends of its interval."""
        known, counts = self.of(column)
        if known.edges is None:
            raise ParameterError("column", f"{column!r} has no numbers, and so no median; ask for its shares")
        return _numbers_only(counts).medians(np.array(known.edges), level)

    def whole_median(self, column: str, *, level: float = LEVEL) -> NDArray[np.float64]:
        """The median of a column of numbers in all clusters together, and the two ends of its interval."""
        known, counts = self.of(column)
        return _numbers_only(counts).whole.medians(np.array(known.edges), level)[0]

    @cached_property
    def standing_out(self) -> list[Finding]:
        """How clusters differ from the whole beyond doubt, the surest difference first. For all of them together, the
        chance that any is due to noise is at most 1 in 10."""
        tests = len(self.centres) * sum(len(each.cells) if each.edges is None else 1 for each in self.columns)
        level = 1 - (1 - LEVEL) / (2 * tests)
        found: list[tuple[float, Finding]] = []
        for column in self.columns:
            _, counts = self.of(column.name)
            edges = None if column.edges is None else np.array(column.edges)
            sure, now = (_told(counts, edges, each) for each in (level, LEVEL))
            overall, known = (_told(counts.whole, edges, each)[0] for each in (level, LEVEL))
            apart = np.maximum(sure[..., 1] - overall[:, 2], overall[:, 1] - sure[..., 2])
            span = 1.0 if edges is None else float(edges[-1] - edges[0])
            for cluster, cell in np.argwhere(apart > 0).tolist():
                here, there = now[cluster, cell].tolist(), known[cell].tolist()
                name = column.cells[cell] if edges is None else None
                found.append(
                    (apart[cluster, cell] / span, Finding(cluster, column.name, name, tuple(here), tuple(there)))
                )
        return [each for _, each in sorted(found, key=lambda pair: -pair[0])[:MOST_FINDINGS]]

    def cannot_tell(self, column: str) -> NDArray[np.bool_]:
        """For each cluster: whether it has too few rows for this budget to say anything of the column."""
        shares = self.shares(column)
        return np.asarray((shares[..., 2] - shares[..., 1]).max(axis=1) > WIDEST)

    def to_json(self) -> bytes:
        """The profile as JSON."""
        return msgspec.json.encode(
            Document(
                format=FORMAT,
                version=VERSION,
                centres=self.centres,
                columns=self.columns,
                counts=[each.tolist() for each in self.counts],
                noise_scale=self.noise_scale,
                certificate=self.certificate,
                statement=self.certificate.statement,
                standing_out=self.standing_out,
            )
        )

    @classmethod
    def from_json(cls, content: bytes) -> Profile:
        """The profile in a JSON document; anything else is refused with what is wrong."""
        try:
            document = msgspec.json.decode(content, type=Document)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            raise FormatError("profile: not a profile of Covey, or a damaged one") from None
        if (document.format, document.version) != (FORMAT, VERSION):
            raise FormatError(f"profile: this Covey reads {FORMAT!r} of version {VERSION}")
        counts = [np.array(each, dtype=object) for each in document.counts]
        shapes = [(len(document.centres), len(each.cells)) for each in document.columns]
        width = len(document.centres[0]) if document.centres else 0
        if (
            width < 1
            or any(len(each) != width for each in document.centres)
            or [each.shape for each in counts] != shapes
            or not all(each.is_possible() for each in document.columns)
            or not all((np.abs(each) < MOST_NUMBERS).all() for each in counts)
            or not 0 < document.noise_scale < MOST_NUMBERS
            or not is_possible(document.certificate, width)
        ):
            raise FormatError("profile: the document is damaged: its numbers, columns and certificate do not match")
        return cls(
            centres=document.centres,
            columns=document.columns,
            counts=[each.astype(np.int64) for each in counts],
            noise_scale=document.noise_scale,
            certificate=document.certificate,
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the profile as JSON, whole or not at all."""
        write_whole(path, self.to_json())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Profile:
        """Read a profile that was saved."""
        try:
            content = Path(path).read_bytes()
        except OSError as error:
            raise FormatError(f"profile: cannot read {str(path)!r}: {error.strerror}") from None
        return cls.from_json(content)

    def records(self) -> list[dict[str, Any]]:
        """A line for each cluster, column and cell, for tables: the noisy count, its share and the share's interval."""
        lines = []
        for column, counts in zip(self.columns, self.counts, strict=True):
            shares = self.shares(column.name)
            for cluster, cell in np.ndindex(counts.shape):
                share, low, high = shares[cluster, cell].tolist()
                told = {"cluster": cluster, "column": column.name, "cell": column.cells[cell]}
                lines.append({**told, "count": int(counts[cluster, cell]), "share": share, "low": low, "high": high})
        return lines

    def plot(self) -> bytes:
        """Small multiples as PNG: a line of panels for each cluster, a panel for each column."""
        from covey.published.profile.draw import small_multiples

        return small_multiples(self)


def _numbers_only(counts: Counts) -> Counts:
    """The bins of a column of numbers, without the cell of what is missing."""
    return Counts(counts.numbers[:, :-1], counts.scale, counts.times)


def _told(counts: Counts, edges: NDArray[np.float64] | None, level: float) -> NDArray[np.float64]:
    """What is compared: shares of all cells, or the median alone, lines x cells x 3."""
    return counts.shares(level) if edges is None else _numbers_only(counts).medians(edges, level)[:, None, :]
