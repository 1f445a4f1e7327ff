"""Choosing, on one part of the trials, the event that tells two neighbours apart; proving with the rest.

A score maps a line of features to a number that is larger the likelier the line comes from the first neighbour. Scores
are single features, logistic regression and boosted trees; half of the part that chooses fits them, its other half
chooses one of them, its direction and a threshold, and the rest, which nothing has looked at so far, counts. That is
one test, whatever was tried before.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from covey.audit.bounds import Claim

Features = NDArray[np.float64]
Score = Callable[[Features], NDArray[np.float64]]
THRESHOLDS = 96  # tried of each score, at quantiles of its values
SINGLES = 12  # features that are tried by themselves: those that differ most
MOST_TREES = 40_000  # lines that boosted trees are fitted to: more teach them little
QUICK_STEPS = 4  # of a bound that is only compared with others
FEWEST = 8  # trials of each neighbour below which nothing can be chosen


@dataclass(frozen=True)
class Finding:
    """What was proven about one claim, and by which event."""

    claimed: float
    lower: float
    kind: str
    delta: float
    event: str
    hits: int
    others: int
    trials: int  # of each neighbour, in the part that proves
    alpha: float

    @property
    def failed(self) -> bool:
        return self.lower > self.claimed

    def to_dict(self) -> dict[str, Any]:
        return {**asdict(self), "failed": self.failed}


def lower_bound(
    ours: Features,
    theirs: Features,
    claim: Claim,
    *,
    alpha: float,
    names: Sequence[str] | None = None,
    choosing: float = 0.5,
) -> Finding:
    """A lower bound on what the outputs on two neighbours, a line each, cost; too high with a chance of at most alpha.

    Lines must be independent of each other; the first `choosing` part of them chooses the event. Edge cases: features
    that are not numbers count as one more value; equal features everywhere, or too few lines, prove nothing: 0.
    """
    trials = min(len(ours), len(theirs))
    chosen = int(trials * choosing)
    fitted = chosen // 2
    labels = list(names) if names is not None else [f"feature {i}" for i in range(ours.shape[1])]
    if fitted < FEWEST:
        return _nothing(claim, trials - chosen, alpha, "too few trials")
    first, second = _filled(ours[:trials], theirs[:trials], chosen)
    varied = np.flatnonzero((np.concatenate([first[:chosen], second[:chosen]]) != first[0]).any(axis=0))
    if not varied.size:
        return _nothing(claim, trials - chosen, alpha, "nothing varies")
    first, second, labels = first[:, varied], second[:, varied], [labels[i] for i in varied]
    best: tuple[float, str, Score, float, int, bool] | None = None
    for name, score in _scores(first[:fitted], second[:fitted], labels):
        found = _best_event(score(first[fitted:chosen]), score(second[fitted:chosen]), claim, alpha)
        if best is None or found[0] > best[0]:
            best = (found[0], name, score, *found[1:])
    assert best is not None
    _, name, score, threshold, sign, swapped = best
    hits, others = (int((sign * score(each[chosen:]) >= threshold).sum()) for each in (first, second))
    if swapped:
        hits, others = others, hits
    lower = float(claim.lower(hits, others, trials=trials - chosen, alpha=alpha))
    relation = f"at least {threshold:.6g}" if sign > 0 else f"at most {-threshold:.6g}"
    event = f"{name} {relation}, likelier on the {'second' if swapped else 'first'}"
    return Finding(claim.amount, lower, claim.kind, claim.delta, event, hits, others, trials - chosen, alpha)


def _nothing(claim: Claim, trials: int, alpha: float, why: str) -> Finding:
    return Finding(claim.amount, 0.0, claim.kind, claim.delta, why, 0, 0, trials, alpha)


def _filled(ours: Features, theirs: Features, chosen: int) -> tuple[Features, Features]:
    """Missing and infinite features as a value of their own, below all that the choosing part has seen."""
    seen = np.concatenate([ours[:chosen], theirs[:chosen]])
    finite = np.where(np.isfinite(seen), seen, np.inf)
    least = finite.min(axis=0, initial=np.inf)
    least = np.where(np.isfinite(least), least, 0.0)
    fill = least - 1.0 - 0.1 * np.abs(least)
    return (np.where(np.isfinite(ours), ours, fill), np.where(np.isfinite(theirs), theirs, fill))


def _scores(ours: Features, theirs: Features, names: Sequence[str]) -> list[tuple[str, Score]]:
    """Candidates, fitted to these lines only."""
    apart = [_apart(ours[:, i], theirs[:, i]) for i in range(len(names))]
    order = np.argsort(apart)[::-1][:SINGLES]
    found: list[tuple[str, Score]] = [(names[i], _column(i)) for i in order]
    if len(names) > 1:
        x = np.concatenate([ours[:MOST_TREES], theirs[:MOST_TREES]])
        y = np.repeat([1, 0], [len(ours[:MOST_TREES]), len(theirs[:MOST_TREES])])
        with threadpool_limits(limits=1):
            found += [("boosted trees", _trees(x, y)), ("logistic regression", _logistic(x, y))]
    return found


def _apart(ours: NDArray[np.float64], theirs: NDArray[np.float64]) -> float:
    """The largest difference of the two distribution functions."""
    values = np.unique(np.concatenate([ours, theirs]))
    below = [np.searchsorted(np.sort(each), values, side="right") / len(each) for each in (ours, theirs)]
    return float(np.abs(below[0] - below[1]).max())


def _column(index: int) -> Score:
    return lambda lines: lines[:, index]


def _trees(x: Features, y: NDArray[np.int64]) -> Score:
    from sklearn.ensemble import HistGradientBoostingClassifier

    leaf = int(np.clip(len(x) // 40, 2, 50))
    model = HistGradientBoostingClassifier(
        max_iter=40, max_leaf_nodes=8, learning_rate=0.2, min_samples_leaf=leaf, early_stopping=False, random_state=0
    ).fit(x, y)

    def score(lines: Features) -> NDArray[np.float64]:
        with threadpool_limits(limits=1):
            return np.round(model.decision_function(lines), 6)

    return score


def _logistic(x: Features, y: NDArray[np.int64]) -> Score:
    from sklearn.linear_model import LogisticRegression

    middle = np.median(x, axis=0)
    spread = np.maximum(np.abs(x - middle).mean(axis=0), 1e-9)

    def scaled(lines: Features) -> Features:
        return np.clip((lines - middle) / spread, -5.0, 5.0)

    model = LogisticRegression(max_iter=200).fit(scaled(x), y)
    return lambda lines: np.round(model.decision_function(scaled(lines)), 6)


def _thresholds(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Where to cut: at every value if they are few, else at quantiles, closer together towards the ends."""
    distinct = np.unique(values)
    if len(distinct) <= 2 * THRESHOLDS:
        return distinct
    tail = np.geomspace(1 / len(values), 0.02, THRESHOLDS // 4)
    return np.unique(np.quantile(values, np.concatenate([tail, np.linspace(0, 1, THRESHOLDS), 1 - tail])))


def _best_event(
    ours: NDArray[np.float64], theirs: NDArray[np.float64], claim: Claim, alpha: float
) -> tuple[float, float, int, bool]:
    """(bound, threshold, sign, swapped) of the event sign·score >= threshold with the best bound on these lines."""
    trials = min(len(ours), len(theirs))
    best = (-1.0, 0.0, 1, False)
    for sign in (1, -1):
        first, second = np.sort(sign * ours), np.sort(sign * theirs)
        thresholds = _thresholds(np.concatenate([first, second]))
        counts = [len(each) - np.searchsorted(each, thresholds, side="left") for each in (first, second)]
        for swapped in (False, True):
            hits, others = counts[::-1] if swapped else counts
            bounds = claim.lower(hits, others, trials=trials, alpha=alpha, steps=QUICK_STEPS)
            bounds += 1e-9 * (hits - others) / trials  # where nothing is proven: what differs most
            place = int(np.argmax(bounds))
            if bounds[place] > best[0]:
                best = (float(bounds[place]), float(thresholds[place]), sign, swapped)
    return best
