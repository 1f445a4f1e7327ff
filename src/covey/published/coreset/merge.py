"""One coreset for the people of several: what is added up, what is not, and what is refused."""

from __future__ import annotations

import numpy as np

import covey
from covey.budget.accounting.promise import Disjoint
from covey.checks import whole_number
from covey.errors import ParameterError
from covey.events import float_at_least
from covey.published.certificate import MOST_EPSILON, Certificate
from covey.published.coreset.coreset import Coreset


def merge(a: Coreset, b: Coreset, *, disjoint: bool) -> Coreset:
    """Both sets of points side by side, under one certificate. Where one alone has spreads, the other's count as 0."""
    check_mergeable(a, b, disjoint=disjoint)
    cells = None
    if a.cells is not None or b.cells is not None:
        cells = np.concatenate([np.zeros_like(c.points) if c.cells is None else c.cells for c in (a, b)])
    spreads = None
    if a.spreads is not None or b.spreads is not None:
        spreads = np.concatenate([np.zeros(len(c)) if c.spreads is None else c.spreads for c in (a, b)])
    return Coreset(
        np.concatenate([a.points, b.points]),
        np.concatenate([a.weights, b.weights]),
        cells=cells,
        noise=None if a.noise is None or b.noise is None else a.noise.joined(b.noise, lengths=(len(a), len(b))),
        spreads=spreads,
        columns=a.columns,
        certificate=joint_certificate(a.certificate, b.certificate, disjoint=disjoint),
        objective=a.objective if a.objective == b.objective else "k-means",
        origins=(*a.origins, *b.origins),
    )


def check_mergeable(a: Coreset, b: Coreset, *, disjoint: bool) -> None:
    """Refuse what cannot be added, in words that say what would work."""
    if not isinstance(b, Coreset):
        raise ParameterError("other", "must be a Coreset; Coreset.load reads one from a file")
    if not isinstance(disjoint, bool):
        raise ParameterError("disjoint", "must be True or False")
    if a.columns != b.columns:
        raise ParameterError("other", f"has the columns {', '.join(b.columns)}, not {', '.join(a.columns)}")
    for name, why in (
        ("domain", "distances are measured in units of it: fit both with the same bounds"),
        ("neighbours", "the promises hide different things: fit both with the same relation"),
        ("person", "the promises protect different units: fit both for the same person"),
    ):
        if getattr(a.certificate, name) != getattr(b.certificate, name):
            raise ParameterError("other", f"has another {name}; {why}")
    if set(a.origins) & set(b.origins):
        raise ParameterError("other", "holds a release that is in this coreset already: its people would count twice")


def joint_certificate(a: Certificate, b: Certificate, *, disjoint: bool) -> Certificate:
    """What both releases together promise.

    Formal guarantee. Each part is (ε, δ)-DP for its own rows under one relation and person, and all further steps are
    post-processing. In general one person may be in both sets: basic composition, the sums. If nobody is in both, and
    who is in which set does not depend on values, then neighbouring data sets differ in one of the two parts only,
    and each part keeps its own promise: parallel composition, the larger of each amount. Under replace-one the
    second condition matters: a replaced row stays in its set.

    The data sets must also be named, and differently: two unnamed ones, or one name twice, are as likely one data set.
    Amounts are exact fractions and are only ever rounded up. A seeded part makes the whole seeded.
    """
    ours, theirs = ([each.dataset for each in side.leaves()] for side in (a, b))
    apart = Disjoint.declared(ours, theirs, unit=a.unit) if disjoint else None
    rule = "sum" if apart is None else "largest"
    promise = a.promise + b.promise if apart is None else a.promise.largest(b.promise, apart)
    epsilon, delta = float_at_least(promise.epsilon), float_at_least(promise.delta)
    if epsilon > MOST_EPSILON or delta >= 1:
        raise ParameterError("other", "together they promise nothing: the sums of epsilon or delta are too large")
    notes = {"composition": rule}
    if disjoint and apart is None:
        notes["disjoint"] = "claimed, but not counted: both data sets must be named at the fit, and differently"
    return Certificate(
        algorithm="merge",
        parameters=notes,
        epsilon=epsilon,
        delta=delta,
        neighbours=a.neighbours,
        person=a.person,
        unit=a.unit,
        domain=a.domain,
        seeded=a.seeded or b.seeded,
        covey=covey.__version__,
        parts=[*_parts(a, rule), *_parts(b, rule)],
    )


def _parts(certificate: Certificate, rule: str) -> list[Certificate]:
    """A sum within a sum, and a maximum within a maximum, is one list."""
    same = certificate.parts is not None and certificate.parameters.get("composition") == rule
    return list(certificate.parts or ()) if same else [certificate]


class CoresetStream:
    """Coresets that arrive one after another, as one of at most m points: merge and reduce.

    A binary tree: two coresets of the same height are merged, reduced to m points and carried one higher, so that
    each point is redrawn only log2(batches) times and memory holds m points for each height.

    Parameters
    ----------
    m : int
        The most points of the result, at least 2.
    disjoint : bool, default=False
        Vouch that nobody is in two of the coresets, as in `Coreset.merge`.
    random_state : int or None, default=None
        A seed for the draws, which are public: it changes no promise.
    """

    def __init__(self, m: int, *, disjoint: bool = False, random_state: int | None = None) -> None:
        self.m = whole_number("m", m, least=2, most=10**9)
        self.disjoint = disjoint
        self._seed = None if random_state is None else whole_number("random_state", random_state, least=0, most=2**62)
        self._draws = 0
        self._heights: list[Coreset | None] = []

    def add(self, coreset: Coreset) -> None:
        """Take in one more coreset."""
        if not isinstance(coreset, Coreset):
            raise ParameterError("coreset", "must be a Coreset, such as PrivateCoreset(...).fit(batch).coreset_")
        for held in self._heights:  # first of all: a coreset that is refused leaves the stream as it was
            if held is not None:
                check_mergeable(held, coreset, disjoint=self.disjoint)
        heights, carried = [*self._heights, None], self._reduced(coreset)
        for i, held in enumerate(heights):
            if held is None:
                heights[i] = carried
                break
            carried = self._reduced(merge(held, carried, disjoint=self.disjoint))
            heights[i] = None
        self._heights = heights if heights[-1] is not None else heights[:-1]

    def result(self) -> Coreset:
        """The coreset of everything so far. The stream may go on."""
        held = [each for each in reversed(self._heights) if each is not None]
        if not held:
            raise ParameterError("batches", "there were none: an empty stream has no coreset")
        whole_stream = held[0]
        for each in held[1:]:
            whole_stream = merge(whole_stream, each, disjoint=self.disjoint)
        return self._reduced(whole_stream)

    def _reduced(self, coreset: Coreset) -> Coreset:
        seed = None if self._seed is None else self._seed + self._draws
        self._draws += 1
        return coreset.reduce(self.m, random_state=seed)
