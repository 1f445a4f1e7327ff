"""What no private method can beat, and what one promises: the bounds of the papers as functions. Never reads rows.

Most of these bounds are stated with O and Ω: the dependence is known, the constant is not. Each function says so. A
`Bound` whose constants are not known gives the expression inside the O or Ω, with constant 1: compare two of them, or
see what doubles what; do not subtract them from a measured cost.

Papers: STOC'09 is Feldman, Fiat, Kaplan, Nissim: Private Coresets (2009); AAAI'21 is Nguyen, Chaturvedi, Xu:
Differentially Private k-Means via Exponential Mechanism and Max Cover (2021); IPSN'17 is Feldman, Xiang, Zhu, Rus:
Coresets for Differentially Private k-Means Clustering (2017). Where Covey adds a constant, the proof is
in docs/reference/limits.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from covey.checks import whole_number
from covey.errors import ParameterError

__all__ = [
    "Bound",
    "CostCeiling",
    "ball_coreset_ceiling",
    "ball_floor",
    "clustering_floor",
    "coreset_floor",
    "exact_coreset_error",
    "indistinguishable",
    "max_cover_ceiling",
    "packing_floor",
    "possible_coreset_error",
    "pure_clustering_floor",
    "small_coreset_error",
]


@dataclass(frozen=True)
class Bound:
    """A bound on a cost, or on the additive error of one, in units of the data.

    value : the number. With `constants_known` it is a bound as it stands; otherwise the expression inside O or Ω.
    statement : the bound in words. source : where it is proven.
    """

    value: float
    statement: str
    constants_known: bool
    source: str


def clustering_floor(*, k: int, epsilon: float, delta: float, diameter: float = 1.0) -> Bound:
    """AAAI'21 Theorem 5: the expected k-means cost that some data of cost 0 forces on every (ε, δ)-private method."""
    k = _whole("k", k)
    _between("epsilon", epsilon, 0, 1)
    _between("delta", delta, 0, 1)
    _positive("diameter", diameter)
    value = max(0.0, diameter**2 * k * math.log(epsilon / delta) / epsilon)
    return Bound(
        value,
        f"some data that k = {k} centres fit perfectly cost every (ε, δ)-private method Ω(Δ²k·ln(ε/δ)/ε) on average",
        False,
        "AAAI'21, Theorem 5, with O(ln(k/(εδ))) columns",
    )


def pure_clustering_floor(*, k: int, d: int, epsilon: float, diameter: float = 1.0) -> Bound:
    """AAAI'21 Theorem 6: the same for pure ε, which pays for every column."""
    k = _whole("k", k)
    d = _whole("d", d)
    _between("epsilon", epsilon, 0, 1)
    _positive("diameter", diameter)
    return Bound(
        diameter**2 * k * d / epsilon,
        f"some data that k = {k} centres fit perfectly cost every ε-private method Ω(Δ²kd/ε) in expectation",
        False,
        "AAAI'21, Theorem 6, with at least Ω(ln k) columns",
    )


def coreset_floor(
    *, alpha: float, failure: float, objective: str = "k-median", error: float = 0.0, diameter: float = 1.0
) -> Bound:
    """STOC'09 Claim 2.4: the additive error of every α-private coreset, by objective; error is the relative one, ϵ.

    The paper states Ω and leaves out the proof. The constants here are Covey's, under both relations, for data of at
    least so many people as the statement says; docs/reference/limits.md proves them. The value is 0 where `failure` is
    so large that the argument says nothing.
    """
    _positive("alpha", alpha)
    _between("failure", failure, 0, 1)
    if error:
        _between("error", error, 0, 1)
    _positive("diameter", diameter)
    if objective not in ("k-median", "k-means", "k-center"):
        raise ParameterError("objective", "must be 'k-median', 'k-means' or 'k-center'")
    people = indistinguishable(alpha=alpha, failure=failure)
    source = "STOC'09, Claim 2.4; constant: docs/reference/limits.md"
    if objective == "k-center":
        return Bound(
            (1 - error) * diameter / 2 if people >= 1 else 0.0,
            "a coreset for k-center errs by at least (1 - ϵ)Λ/2, half of all that there is to say: do not use one",
            True,
            source,
        )
    power, shape = (1, "Λ") if objective == "k-median" else (2, "Λ²")
    return Bound(
        (1 - error) * diameter**power * people / 2,
        f"an α-private coreset for {objective} errs by at least (1 - ϵ){shape}·g/2 on some data of g or more people, "
        f"where g = {people} of them can move unnoticed: Ω({shape}·ln(1/δ)/α)",
        True,
        source,
    )


def indistinguishable(*, alpha: float, failure: float) -> int:
    """The most people g with e^(-αg)·(1 - failure) > failure: no answer that good can tell whether they are there."""
    _positive("alpha", alpha)
    _between("failure", failure, 0, 1)
    odds = (1 - failure) / failure
    return 0 if odds <= 1 else max(0, math.ceil(math.log(odds) / alpha * (1 - 1e-12)) - 1)


def packing_floor(*, points: int, k: int, alpha: float, failure: float) -> Bound:
    """STOC'09 Theorem 6.1: the additive error of k-median coresets in the unit ball, by how many far places it has."""
    k = _whole("k", k)
    points = _whole("points", points)
    _positive("alpha", alpha)
    _between("failure", failure, 0, 1)
    if points <= 2 * k:
        raise ParameterError("points", "of mutual distance at least 1 must be more than 2k")
    return Bound(
        (math.log(points) + math.log(1 / failure)) / alpha,
        f"with D = {points} places in the unit ball, at least 1 apart, the additive error is Ω((ln D + ln 1/δ)/α)",
        False,
        "STOC'09, Theorem 6.1, for a relative error below 1/2",
    )


def ball_floor(*, d: int, alpha: float, failure: float, radius: float = 1.0) -> Bound:
    """STOC'09 Corollary 6.5: the additive error of k-median coresets in a ball of d dimensions."""
    d = _whole("d", d)
    _positive("alpha", alpha)
    _between("failure", failure, 0, 1)
    _positive("radius", radius)
    return Bound(
        radius * (math.log(1 / failure) + math.sqrt(d)) / alpha,
        "the additive error of a private k-median coreset in the unit ball is Ω((ln 1/δ + √d)/α)",
        False,
        "STOC'09, Corollary 6.5",
    )


def exact_coreset_error(*, candidates: int, alpha: float, failure: float, row_cost: float) -> Bound:
    """STOC'09 Claim 3.1, as `exact-coreset` has it: how far beyond the best candidate the picked one errs.

    The paper's O((m·d·log n + log(1/δ))/α) counts (n^d)^m candidates in the unit ball; with the number of
    candidates given, the exponential mechanism's own bound has no hidden constant, under either relation.
    """
    candidates = _whole("candidates", candidates)
    _positive("alpha", alpha)
    _between("failure", failure, 0, 1)
    _positive("row_cost", row_cost)
    return Bound(
        2 * row_cost * math.log(candidates / failure) / alpha,
        f"with probability {1 - failure:g} the picked one errs by at most (2Λ/α)·ln(candidates/δ) more than the best",
        True,
        "STOC'09, Claim 3.1; McSherry and Talwar 2007",
    )


def small_coreset_error(*, points: int, n: int, d: int, alpha: float, failure: float, base_error: float = 0.0) -> Bound:
    """STOC'09 Claim 3.1 as printed: small coresets of m points imply private ones, in the unit ball on a fine grid."""
    points, n, d = _whole("points", points), _whole("n", n), _whole("d", d)
    _positive("alpha", alpha)
    _between("failure", failure, 0, 1)
    return Bound(
        base_error + (points * d * math.log(n) + math.log(1 / failure)) / alpha,
        "a private k-median coreset of additive error β + O((m·d·ln n + ln(1/δ))/α) exists; finding it may take ages",
        False,
        "STOC'09, Claim 3.1",
    )


def possible_coreset_error(*, n: int, d: int, k: int, error: float, alpha: float, failure: float) -> Bound:
    """STOC'09 Corollary 3.3: an additive error that is possible for k-median in the unit ball, if time is no object."""
    n, d, k = _whole("n", n), _whole("d", d), _whole("k", k)
    if n < 3:
        raise ParameterError("n", "must be at least 3")
    _between("error", error, 0, 1)
    _positive("alpha", alpha)
    _between("failure", failure, 0, 1)
    inner = d * math.log(1 / error) + math.log(k) + math.log(math.log(n))
    additive = k**2 * math.log(n) ** 2 * d * inner / (alpha * error**2) + math.log(1 / failure) / alpha
    return Bound(
        additive,
        "a private k-median coreset of relative error ϵ and additive error "
        "O(k²·ln²n·d·(d·ln(1/ϵ) + ln k + ln ln n)/(αϵ²) + ln(1/δ)/α) exists",
        False,
        "STOC'09, Corollary 3.3",
    )


@dataclass(frozen=True)
class CostCeiling:
    """A promise about the cost of an algorithm: at most factor·(best cost) + additive."""

    factor: Bound
    additive: Bound


def ball_coreset_ceiling(
    *, n: int, d: int, k: int, epsilon: float, delta: float, failure: float = 0.05, side: int = 1024
) -> CostCeiling:
    """IPSN'17 Theorem 3.6: the cost of PRIVATE-K-MEAN (`ball-coreset`), for more than `additive.value` rows.

    side : `|X|`, the places along an axis. The shares are those of its Algorithm 1 and its proof, 3ε/(8k·ln n) etc.;
    the theorem prints 3ε/(3k·ln n), with which (8k/3)·ln n rounds would cost 8/3 of what is promised. Distances are in
    units of the domain's diameter. No constant is known: of the additive term only how it grows.
    """
    n, d, k, side = _whole("n", n), _whole("d", d), _whole("k", k), _whole("side", side)
    if n < 3:
        raise ParameterError("n", "must be at least 3")
    _positive("epsilon", epsilon)
    _between("delta", delta, 0, 1)
    _between("failure", failure, 0, 1)
    share = 3 / (8 * k * math.log(n))
    one_epsilon, one_delta, one_failure = (min(1.0, share) * each for each in (epsilon, delta, failure))
    logs = math.log(1 / one_failure) * math.log(n * d / (one_failure * one_epsilon * one_delta))
    fewest = k * math.sqrt(d) / one_epsilon * logs * math.sqrt(math.log(1 / (one_failure * one_delta)))
    source = "IPSN'17, Theorem 3.6, with the shares of its proof"
    return CostCeiling(
        Bound(k * math.log(n), "O(k·ln n) times the best cost, with probability 1 - failure", False, source),
        Bound(
            fewest * 9 ** _iterated_logs(2 * side * math.sqrt(d)),
            "plus t_min = O((k√d/ε')·ln(1/β')·ln(nd/(β'ε'δ'))·√ln(1/(β'δ'))·9^(log*(2|X|√d))), and only for n above it",
            False,
            source,
        ),
    )


def max_cover_ceiling(
    *,
    n: int,
    d: int,
    k: int,
    epsilon_picks: float,
    epsilon_counts: float,
    epsilon_means: float,
    delta_means: float,
    error: float = 0.1,
    failure: float = 0.05,
    clustering_factor: float = 1.0,
    diameter: float = 1.0,
) -> CostCeiling:
    """AAAI'21 Theorem 15: the expected cost of Algorithm 1 (`max-cover`).

    The ε are those of its parts: picks (ε_E), counts (ε_L), means (ε_G, δ_G). error : ϵ, below 0.618, where
    1 - ϵ - ϵ² > 0. clustering_factor : how far the plain clustering in it may be from the best (E_M). The additive term
    leaves out poly(1/ϵ) besides the constants.
    """
    n, d, k = _whole("n", n), _whole("d", d), _whole("k", k)
    _between("error", error, 0, (math.sqrt(5) - 1) / 2)
    for name, part in (("epsilon_picks", epsilon_picks), ("epsilon_counts", epsilon_counts), ("diameter", diameter)):
        _positive(name, part)
    _positive("epsilon_means", epsilon_means)
    _between("delta_means", delta_means, 0, 1)
    _between("failure", failure, 0, 1)
    if not clustering_factor >= 1:
        raise ParameterError("clustering_factor", "must be at least 1")
    source = "AAAI'21, Theorem 15"
    factor = (1 + error) * (8 + 12 * error / (1 - error - error**2)) * (clustering_factor + 1)
    unit, log = k * diameter**2, math.log(max(n, 2))
    additive = unit * (
        log * math.log(max(n, 2) / failure) / epsilon_picks
        + log / epsilon_counts
        + math.sqrt(d * math.log(1 / delta_means)) / epsilon_means
        + math.log(n / delta_means) / epsilon_means
    )
    return CostCeiling(
        Bound(factor, "(1 + ϵ)(8 + 12ϵ/(1 - ϵ - ϵ²))(E_M + 1) times the best cost", True, source),
        Bound(
            additive,
            "plus O(kΔ²·ln n·ln(n/γ)/ε_E) + O(kΔ²·ln n/ε_L) + O(kΔ²·√(d·ln(1/δ_G))/ε_G) + O(kΔ²·ln(n/δ_G)/ε_G), "
            "the first two times poly(1/ϵ)",
            False,
            source,
        ),
    )


def _iterated_logs(value: float) -> int:
    """log*: how often the logarithm is taken until 1 or less is left."""
    times = 0
    while value > 1:
        value, times = math.log(value), times + 1
    return times


def _whole(name: str, value: int) -> int:
    return whole_number(name, value, least=1, most=math.inf)


def _positive(name: str, value: float) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < math.inf:
        raise ParameterError(name, "must be a positive number")


def _between(name: str, value: float, low: float, high: float) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not low < value <= high:
        raise ParameterError(name, f"must be a number above {low:g} and at most {high:g}")
