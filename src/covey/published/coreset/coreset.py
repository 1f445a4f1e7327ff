"""A private coreset: weighted points that answer questions about the rows for ever, at no further cost.

Everything here is free: the weights are noisy and were paid for when they were released. Distances are measured like
those of the fit: with every column scaled to [-1, 1] by the bounds (with the radius as the unit for a ball).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, Unpack, overload

import msgspec
import numpy as np
from numpy.typing import ArrayLike, NDArray

from covey.checks import check_objective, spreads_of, table, weights_of, whole_number
from covey.errors import ParameterError
from covey.post.distances import Objective
from covey.post.errors.boxes import MOST_COLUMNS, CountedBoxes
from covey.post.errors.costs import Cost
from covey.post.errors.mixture import Places
from covey.post.random import public_rng
from covey.post.reduce import reduce_points
from covey.published.certificate import Certificate, in_full, reach_of, scale_of
from covey.published.coreset import answers
from covey.published.coreset.answers import Limits
from covey.published.coreset.counting import Counts
from covey.published.coreset.outputs import Outputs
from covey.published.errors import BoxNoise
from covey.published.release import Release
from covey.published.ways import Unit

if TYPE_CHECKING:
    from covey.published.coreset.choose import Choice
    from covey.published.coreset.compare import Alternative

Floats = NDArray[np.float64]
MOST_ROWS = 1e40  # that a point may stand for: squares of squares of more overflow


class Coreset(Counts, Outputs):
    """Points and weights that stand for the rows of a release, with its certificate, which covers everything here.

    `PrivateCoreset(...).fit(rows).coreset_` is one; each parameter is an attribute too.

    Parameters
    ----------
    points : array of shape (m, d)
        In the units of the data.
    weights : array of shape (m,)
        Noisy numbers of rows. Some may be negative: noise of either sign cancels in sums, cut off at zero it does not.
    columns : sequence of str
        The names of the coordinates.
    certificate : Certificate
        What was promised, to whom.
    cells : array of shape (m, d) or None, default=None
        The widths of the cell that each point is the middle of; None where points stand for themselves.
    noise : BoxNoise or None, default=None
        The law of the noise in the weights; None where it is not known, and then costs have no interval.
    spreads : array of shape (m,) or None, default=None
        The mean squared distance of the rows that each point stands for from it, with columns scaled to [-1, 1] by
        the bounds; None where it is not known, or where there are cells.
    objective : {'k-means', 'k-median'}, default='k-means'
        What it was made for; both may be asked.
    origins : iterable of str or None, default=None
        Fingerprints of the releases it comes from, so that none is added twice; None for one of its own.
    """

    def __init__(
        self,
        points: ArrayLike,
        weights: ArrayLike,
        *,
        columns: Sequence[str],
        certificate: Certificate,
        cells: ArrayLike | None = None,
        noise: BoxNoise | None = None,
        spreads: ArrayLike | None = None,
        objective: str = "k-means",
        origins: Iterable[str] | None = None,
    ) -> None:
        self.columns = list(columns)
        self.certificate = certificate
        self.objective = check_objective(objective)
        self._middle, self._half = scale_of(certificate.domain)
        if len(self.columns) != len(self._middle) or len(set(self.columns)) != len(self.columns):
            raise ParameterError("columns", "must be as many as the domain has, with different names")
        self.points = table("points", points, len(self.columns))
        self.weights = weights_of(weights, len(self.points))
        self.cells = None if cells is None else table("cells", cells, len(self.columns))
        if self.cells is not None and (len(self.cells) != len(self.points) or (self.cells < 0).any()):
            raise ParameterError("cells", "must be a width, at least 0, for each point and column")
        if noise is not None and (self.cells is None or not noise.fits(len(self.points))):
            raise ParameterError("noise", "must be positive numbers, one for all weights or one for each, with cells")
        self.noise = noise
        self.spreads = None if spreads is None else spreads_of(spreads, len(self.points))
        self._origins = None if origins is None else tuple(sorted(set(origins)))

    @classmethod
    def of(cls, release: Release) -> Coreset:
        """The coreset of a release that holds one, or that kept the noisy histogram of `grid`."""
        made: dict[str, Any] = {
            "columns": release.columns,
            "certificate": release.certificate,
            "objective": release.objective,
        }
        if release.coreset is not None:
            given = release.coreset
            return cls(given.points, given.weights, cells=given.cells, noise=given.noise, spreads=given.spreads, **made)
        synopsis = release.synopsis
        if synopsis is None:
            raise ParameterError(
                "release",
                "holds centres only, no coreset: fit PrivateCoreset (or `covey coreset`), or KMeans with "
                'algorithm="grid", algorithm_params={"keep_synopsis": True}',
            )
        points, cells = answers.grid_of(synopsis, release.certificate.domain)
        weights = np.array(synopsis.counts) * synopsis.rows_per_count
        return cls(points, weights, cells=cells, noise=synopsis.noise, **made)

    @cached_property
    def origins(self) -> tuple[str, ...]:
        """Fingerprints of the releases that this coreset comes from."""
        if self._origins is not None:
            return self._origins
        digest = hashlib.blake2b(self.points.tobytes(), digest_size=16)
        digest.update(self.weights.tobytes())
        return (digest.hexdigest(),)

    @property
    def total(self) -> float:
        """The net weight: the noisy number of rows."""
        return float(self.weights.sum())

    def __len__(self) -> int:
        return len(self.weights)

    def __repr__(self) -> str:
        delta = f", delta={in_full(self.certificate.delta)}" if self.certificate.delta else ""
        promise = f"epsilon={in_full(self.certificate.epsilon)}{delta}"
        return f"Coreset({len(self)} points in {len(self.columns)} columns, {promise})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Coreset):
            return NotImplemented
        return (
            (self.columns, self.certificate, self.objective) == (other.columns, other.certificate, other.objective)
            and np.array_equal(self.points, other.points)
            and np.array_equal(self.weights, other.weights)
            and self.noise == other.noise
            and np.array_equal(np.asarray(self.cells), np.asarray(other.cells))  # None equals None alone
            and np.array_equal(np.asarray(self.spreads), np.asarray(other.spreads))
        )

    __hash__ = None  # type: ignore[assignment]

    # --- questions ----------------------------------------------------------------------------------------------------

    @cached_property
    def boxes(self) -> CountedBoxes | None:
        """The cells and their noisy counts in [-1, 1]^d; None where a point has no cell, or the noise is unknown, or
        there are more than four columns, or the counts are absurd."""
        many = len(self.columns) > MOST_COLUMNS or np.abs(self.weights).max() > MOST_ROWS
        if many or self.cells is None or self.noise is None or not (self.cells > 0).all():
            return None
        return self.noise.boxes(self.scaled(self.points), self.cells / self._half, self.weights)

    @cached_property
    def places(self) -> Places | None:
        """Where in its cells the rows probably are; None without cells."""
        return answers.places_of(self)

    @overload
    def cost(
        self, centres: ArrayLike, *, objective: Objective | None = None, interval: Literal[False] = False
    ) -> float | Floats: ...

    @overload
    def cost(
        self, centres: ArrayLike, *, objective: Objective | None = None, interval: Literal[True]
    ) -> Cost | list[Cost]: ...

    def cost(
        self, centres: ArrayLike, *, objective: Objective | None = None, interval: bool = False
    ) -> float | Floats | Cost | list[Cost]:
        """The estimated cost of the rows for one set of centres (k, d), or for each of many (s, k, d).

        The sum over rows of the squared distance to the nearest centre, or of the distance for "k-median", with
        columns scaled by the bounds; rows that are spread about their points are counted so. The default is the
        objective that the coreset was made for. A cost that noise dominates may come out negative. interval : return
        (cost, low, high, why) instead, for each set: between low and high nine times in ten; where that cannot be told
        they are nan and `why` says why not. Without cells (`ball`, `auto` beyond four columns) the ends are a bracket,
        which holds if rows lie about their points as is taken: it was judged for the coreset's own centres alone.
        Centres that were found on this coreset look better than they are.
        """
        sets = answers.check_centres(centres, self)
        chosen = check_objective(self.objective if objective is None else objective)
        many = self.scaled(sets if sets.ndim == 3 else sets[None])
        if interval:
            told = [answers.cost_with_interval(self, each, chosen) for each in many]
            return told if sets.ndim == 3 else told[0]
        costs = answers.likely_costs(self, many, chosen)
        return costs if sets.ndim == 3 else float(costs[0])

    def cost_difference(self, centres: ArrayLike, others: ArrayLike, *, objective: Objective | None = None) -> Cost:
        """By how much one set of centres (k, d) costs more than another: (cost, low, high, why), as `cost` tells it.

        Noise moves both costs alike: their difference is known far better. One that may be 0 cannot be told apart.
        """
        chosen = check_objective(self.objective if objective is None else objective)
        return answers.difference_with_interval(self, centres, others, chosen)

    def mean_way(
        self,
        centres: ArrayLike,
        *,
        objective: Objective | None = None,
        lon: str | None = None,
        lat: str | None = None,
        speed: float | None = None,
    ) -> Cost | None:
        """How far a row is from the nearest of the centres (k, d), on average: (distance, low, high, why), as `cost`
        tells it. In metres straight over the map where two columns are degrees, or in minutes at a `speed` in km/h;
        else in the units of the data, for "k-means" the root of the mean square. None where noise left no rows."""
        chosen = check_objective(self.objective if objective is None else objective)
        return answers.mean_way(self, centres, chosen, self.unit(lon, lat).at(speed))

    def unit(self, lon: str | None = None, lat: str | None = None) -> Unit:
        """What distances are told in: metres on a map, else the units of the data."""
        return Unit.of(self.columns, self._middle, self._half, reach_of(self.certificate.domain), lon=lon, lat=lat)

    def kmeans(self, k: int, *, starts: int = 30, random_state: int | None = None, **limits: Unpack[Limits]) -> Release:
        """k centres by k-means, for any k, as often as wanted: nothing further is spent.

        Limits on where they may be: allowed, forbidden : GeoJSON regions, as documents or paths, of the columns `lon`
        and `lat`; centres lie in what is allowed, and neither in what is forbidden nor on its border. candidates : the
        places (n, d) to choose from. fixed : places (n, d) that stand already, wherever that is; they come first, as
        they were given, and k counts them: of k=3 with two fixed, one centre is found. The certificate then says under
        "constraints" what they were, what the centres cost, and what the fixed places alone or any k centres would.
        """
        return answers.found(self, "k-means", k, starts=starts, random_state=random_state, limits=limits)

    def kmedian(
        self, k: int, *, starts: int = 30, random_state: int | None = None, **limits: Unpack[Limits]
    ) -> Release:
        """k centres by k-median, like `kmeans`."""
        return answers.found(self, "k-median", k, starts=starts, random_state=random_state, limits=limits)

    def choose_k(self, k_range: tuple[int, int] = (2, 20), *, objective: Objective | None = None) -> Choice:
        """How many clusters fit best, of a range, or that nothing stands out; with the cost of each: see `Choice`."""
        from covey.published.coreset.choose import choose_k

        return choose_k(self, k_range, check_objective(self.objective if objective is None else objective))

    def sample(self, m: int, *, random_state: int | None = None) -> Floats:
        """m made-up rows: a point in proportion to its weight where that is positive, anywhere in its cell."""
        return answers.made_up_rows(self, whole_number("m", m, least=0, most=10**9), public_rng(random_state))

    def compare(
        self,
        alternatives: Mapping[str, ArrayLike] | Sequence[ArrayLike],
        *,
        allowed: Any = None,
        forbidden: Any = None,
        fixed: ArrayLike | None = None,
        objective: Objective = "k-median",
        lon: str | None = None,
        lat: str | None = None,
        speed: float | None = None,
    ) -> list[Alternative]:
        """Alternatives (sets of centres, by name or in a list) as rows, the best admissible one first.

        allowed, forbidden : GeoJSON regions, as documents or paths. A set with a site outside what is allowed, or
        inside or on the border of what is forbidden, is not admissible, and the row says why. fixed : places that stand
        already, and may, wherever they are. speed : in km/h; rows then tell minutes too.
        """
        from covey.published.coreset.compare import compare

        return compare(
            self,
            alternatives,
            allowed=allowed,
            forbidden=forbidden,
            fixed=fixed,
            objective=check_objective(objective),
            lon=lon,
            lat=lat,
            speed=speed,
        )

    # --- other coresets -----------------------------------------------------------------------------------------------

    def reduce(self, m: int, *, random_state: int | None = None) -> Coreset:
        """At most m of the points with new weights, whose costs are those of the whole on average. Signs are kept."""
        number = whole_number("m", m, least=1, most=10**9)
        if number >= len(self):
            return self
        chosen, weights = reduce_points(self.scaled(self.points), self.weights, m=number, rng=public_rng(random_state))
        return Coreset(
            self.points[chosen],
            weights,
            cells=None if self.cells is None else self.cells[chosen],
            spreads=None if self.spreads is None else self.spreads[chosen],
            columns=self.columns,
            certificate=self._noted(reduced_to=len(chosen)),
            objective=self.objective,
            origins=self.origins,
        )

    def merge(self, other: Coreset, *, disjoint: bool = False) -> Coreset:
        """The coreset of both sets of rows. Columns, domain, relation and person must agree.

        The certificate adds up ε and δ. With disjoint=True you vouch that nobody is in both sets, and that who is in
        which does not depend on values; if both data sets were named at the fit, and differently, it then takes the
        larger ε and the larger δ. A release that is in both already is refused: its people would count twice.
        """
        from covey.published.coreset.merge import merge

        return merge(self, other, disjoint=disjoint)

    def __add__(self, other: object) -> Coreset:
        return self.merge(other) if isinstance(other, Coreset) else NotImplemented

    @classmethod
    def stream(
        cls, batches: Iterable[Coreset], m: int, *, disjoint: bool = False, random_state: int | None = None
    ) -> Coreset:
        """One coreset of at most m points for a stream of them, by merge and reduce: see CoresetStream."""
        from covey.published.coreset.merge import CoresetStream

        stream = CoresetStream(m, disjoint=disjoint, random_state=random_state)
        for batch in batches:
            stream.add(batch)
        return stream.result()

    def _noted(self, **notes: Any) -> Certificate:
        return msgspec.structs.replace(self.certificate, parameters={**self.certificate.parameters, **notes})

    def scaled(self, points: NDArray[Any]) -> Floats:
        """Points in the units of the data as they are measured: in [-1, 1]^d, if they lie in the domain."""
        return np.asarray((points - self._middle) / self._half, dtype=np.float64)
