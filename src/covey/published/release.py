"""What gets published: centres, noisy sizes, and a certificate that says exactly what was promised to whom.

A release file is one JSON document, readable without Covey; docs/reference/release-format.md describes it.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from covey.errors import FormatError
from covey.files import write_whole
from covey.geo.geojson import feature_collection, find_axes
from covey.published.certificate import Certificate, is_possible, scale_of
from covey.published.errors import BoxNoise, Errors
from covey.published.outside import Share, share_outside

if TYPE_CHECKING:
    from covey.published.profile.profile import Profile

FORMAT, VERSION = "covey-release", 1


class Synopsis(msgspec.Struct, frozen=True):
    """A noisy histogram on a grid of equal cells over the domain's cube; the last column's cells come fastest.

    A count stands for `rows_per_count` rows: 1, or more where the histogram is of a sample.
    """

    cells_per_axis: int
    counts: list[int]
    rows_per_count: float = 1.0
    noise: BoxNoise | None = None


class WeightedPoints(msgspec.Struct, frozen=True):
    """A private coreset: points, their noisy weights, and the width of the cell that each point is the middle of.

    Weights may be negative. Without `cells`, a point stands for rows at it, or about it where there are `spreads`:
    their mean squared distance from it, with columns scaled to [-1, 1] by the bounds.
    """

    points: list[list[float]]
    weights: list[float]
    cells: list[list[float]] | None = None
    noise: BoxNoise | None = None
    spreads: list[float] | None = None

    def fits(self, width: int) -> bool:
        """Whether the lists match one another and the number of columns."""
        rows, lists = [*self.points, *(self.cells or ())], (self.weights, self.cells, self.spreads)
        same = all(each is None or len(each) == len(self.points) for each in lists)
        possible = all(each >= 0 for each in self.spreads or ())
        known = self.noise is None or self.noise.fits(len(self.points))
        return same and possible and known and bool(self.points) and all(len(row) == width for row in rows)


class Document(msgspec.Struct, frozen=True, kw_only=True):
    """The JSON document of a release."""

    format: str
    version: int
    objective: str
    columns: list[str]
    centres: list[list[float]]
    sizes: list[float] | None
    certificate: Certificate
    statement: str
    errors: Errors | None = None
    synopsis: Synopsis | None = None
    coreset: WeightedPoints | None = None


def _covers(synopsis: Synopsis, width: int) -> bool:
    return synopsis.cells_per_axis > 0 and len(synopsis.counts) == synopsis.cells_per_axis**width


def _known(synopsis: Synopsis) -> bool:
    return synopsis.noise is None or synopsis.noise.fits(len(synopsis.counts))


def _table(pairs: list[tuple[float, float]] | None) -> NDArray[np.float64] | None:
    return None if pairs is None else np.array(pairs, dtype=np.float64).reshape(-1, 2)


class Release(msgspec.Struct, frozen=True, kw_only=True):
    """Centres to publish. `sizes` are noisy numbers of rows (they may be negative), or None if none were paid for."""

    objective: str
    columns: list[str]
    centres: list[list[float]]
    sizes: list[float] | None
    certificate: Certificate
    errors: Errors | None = None
    synopsis: Synopsis | None = None
    coreset: WeightedPoints | None = None

    @property
    def size_intervals(self) -> NDArray[np.float64] | None:
        """k x 2: between which two numbers each size is, nine times in ten. None where that cannot be told."""
        return _table(None if self.errors is None else self.errors.sizes)

    @property
    def joint_size_intervals(self) -> NDArray[np.float64] | None:
        """k x 2: wider ones, in which nine times in ten *all* sizes are."""
        return _table(None if self.errors is None else self.errors.joint_sizes)

    @property
    def doubtful(self) -> NDArray[np.bool_] | None:
        """Which centres may be only noise. None where that cannot be told."""
        known = None if self.errors is None else self.errors.doubtful
        return None if known is None else np.array(known, dtype=np.bool_)

    @property
    def centre_radii(self) -> NDArray[np.float64] | None:
        """How far each centre may be from where it would be without noise, nine times in ten, in half-widths.

        1 is half of every column's range (a ball's radius). nan: the place is not determined. Where they were not asked
        for at the fit but its synopsis was kept, the first call runs the fit some times on made-up rows: a second or
        two. None where there is no synopsis.
        """
        rerun = self._reruns()
        return None if rerun is None or rerun.radii is None else np.array(rerun.radii, dtype=np.float64)

    @property
    def excess_bound(self) -> float | None:
        """By what part the centres may cost more than those without privacy, if no cluster was missed: 0.05 is 5%."""
        rerun = self._reruns()
        return None if rerun is None else rerun.excess

    def _reruns(self) -> Errors | None:
        if self.errors is None or self.errors.radii is not None or self.errors.excess is not None:
            return self.errors
        if self.synopsis is None and self.coreset is None:
            return None
        from covey.fit.rehearse import rehearsed

        return rehearsed(self)

    @property
    def words(self) -> list[str]:
        """How far off the release may be, in plain sentences: of what is stored in it, nothing is computed."""
        from covey.published.sentences import words_of

        return words_of(self)

    def to_json(self) -> bytes:
        document = Document(
            format=FORMAT,
            version=VERSION,
            objective=self.objective,
            columns=self.columns,
            centres=self.centres,
            sizes=self.sizes,
            certificate=self.certificate,
            statement=self.certificate.statement,
            errors=self.errors,
            synopsis=self.synopsis,
            coreset=self.coreset,
        )
        return msgspec.json.format(msgspec.json.encode(document), indent=2) + b"\n"

    @classmethod
    def from_json(cls, content: bytes) -> Release:
        """The release in a JSON document; anything else is refused with what is wrong."""
        try:
            head = msgspec.json.decode(content, type=dict[str, Any])
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            raise FormatError("release: not a JSON document of Covey") from None
        if head.get("format") != FORMAT:
            raise FormatError(f"release: not a Covey release (its format is not {FORMAT!r})")
        if head.get("version") != VERSION:
            raise FormatError(f"release: this Covey reads version {VERSION} of the format; use the Covey that wrote it")
        try:
            document = msgspec.convert(head, type=Document)
        except msgspec.ValidationError as error:
            raise FormatError(f"release: the document is damaged: {error}") from None
        width = len(document.columns)
        if not is_possible(document.certificate, width):
            raise FormatError("release: the document is damaged: the certificate holds no possible promise")
        if not document.centres or any(len(centre) != width for centre in document.centres):
            raise FormatError("release: the document is damaged: centres and columns do not match")
        if document.sizes is not None and len(document.sizes) != len(document.centres):
            raise FormatError("release: the document is damaged: sizes and centres do not match")
        if document.errors is not None and not document.errors.fits(len(document.centres)):
            raise FormatError("release: the document is damaged: errors and centres do not match")
        if document.synopsis is not None and not _covers(document.synopsis, width):
            raise FormatError("release: the document is damaged: the synopsis does not match the columns")
        if document.synopsis is not None and not 1 <= document.synopsis.rows_per_count < 1e15:
            raise FormatError("release: the document is damaged: the synopsis does not say how many rows a count is")
        if document.synopsis is not None and not _known(document.synopsis):
            raise FormatError("release: the document is damaged: the noise of the synopsis is none")
        if document.coreset is not None and not document.coreset.fits(width):
            raise FormatError("release: the document is damaged: the coreset does not match the columns")
        return cls(
            objective=document.objective,
            columns=document.columns,
            centres=document.centres,
            sizes=document.sizes,
            certificate=document.certificate,
            errors=document.errors,
            synopsis=document.synopsis,
            coreset=document.coreset,
        )

    def scale(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The middle of every column's public range, and what distances are measured in (`certificate.scale_of`)."""
        return scale_of(self.certificate.domain)

    @property
    def rows_outside(self) -> Share | None:
        """The share of rows outside the bounds or without a number, (share, low, high); None if it was not paid for."""
        return share_outside(self.certificate)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the release as JSON, whole or not at all."""
        write_whole(path, self.to_json())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Release:
        """Read a release that was saved."""
        try:
            content = Path(path).read_bytes()
        except OSError as error:
            raise FormatError(f"release: cannot read {str(path)!r}: {error.strerror}") from None
        return cls.from_json(content)

    def predict(self, X: Any) -> NDArray[np.intp]:
        """The nearest centre of each of your own rows, as the fit measures; rows outside are moved into the bounds.

        X : an array, a table or a path, in the units of the data; of a table, the columns by their names. Ordinary
        computation: labels of rows are as private as the rows. Do not publish them.
        """
        from covey.fit.assign import predict

        return predict(self, X)

    def profile(self, data: Any, *, columns: Any, epsilon: float, **asked: Any) -> Profile:
        """What is in the clusters: noisy counts of declared cells of other columns, for an epsilon of its own.

        The parameters are those of `covey.profile`.
        """
        from covey.fit.profile import profile

        return profile(self, data, columns=columns, epsilon=epsilon, **asked)

    def score(self, data: Any = None, **asked: Any) -> Any:
        """How good the centres are. Without data, what the release tells of itself, for nothing: by the name of a score
        the number, and between which two it lies (None where that is not known). With data, as `covey.score`."""
        if data is None and not asked:
            from covey.published.score.free import free_scores

            return free_scores(self)
        from covey.fit.score import score

        return score(self, data, **asked)

    def to_frame(self) -> Any:
        """A pandas table with a row for each centre: its place, noisy size, and what is stored of their errors."""
        from covey.published.frame import frame_of

        return frame_of(self)

    def plot(self, ax: Any = None, *, lon: str | None = None, lat: str | None = None) -> Any:
        """Draw centres and regions on axes of matplotlib (new ones, if none are given), and return the axes."""
        from covey.published.draw import plot

        return plot(self, ax, lon=lon, lat=lat)

    def _repr_html_(self) -> str:
        from covey.published.report import fragment

        return fragment(self)

    def to_geojson(self, *, lon: str | None = None, lat: str | None = None) -> dict[str, Any]:
        """The centres as GeoJSON points with their noisy sizes and what is stored of their errors, for any map."""
        from covey.published.places import centre_properties

        east, north = find_axes(self.columns, lon, lat)
        points = [(centre[east], centre[north]) for centre in self.centres]
        document = feature_collection(points, centre_properties(self, lon, lat))
        return document | {"covey": {"epsilon": self.certificate.epsilon, "statement": self.certificate.statement}}
