"""Private local search (Gupta, Ligett, McSherry, Roth, Talwar 2010, Algorithm 3): k of a public list of candidates."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from covey.errors import ParameterError
from covey.events import Pure
from covey.noise.mechanisms import Exponential
from covey.post.leaves import cluster
from covey.post.starts import plus_plus
from covey.private.curator import Curator
from covey.queries.costs import NegativeCosts
from covey.queries.swaps import SwapGains

MOST_SWAPS = 10_000
USUAL_SWAPS = 32  # at most: more would cut epsilon into too many parts
MOST_PAIRS = 2**24  # of a centre and a candidate: the utilities of one step
FIRST_CANDIDATES = 2_000  # of a long list: as many are looked at for a start
CLUSTERED_PAIRS = 2**16  # of a centre and a candidate: up to here the start is clustered, a fraction of a second

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]


@dataclass(frozen=True)
class Search:
    """T swaps and one final pick, each a pick of the exponential mechanism with epsilon/(T+1).

    Guarantee: all picks together are epsilon-DP under add/remove and replace-one; sensitivities in queries/swaps.md
    and queries/costs.md. The number of swaps is fixed beforehand: the search never stops because it has converged,
    and every pick is among all swaps, good or bad.
    """

    epsilon: Fraction
    swaps: int

    @property
    def pick(self) -> Exponential:
        return Exponential(self.epsilon / (self.swaps + 1))

    def events(self) -> tuple[Pure, ...]:
        """What a plan must hold."""
        return (self.pick.event(),) * (self.swaps + 1)

    def run(self, curator: Curator, candidates: Floats, start: Indices, *, objective: str) -> Indices:
        """The k candidates that are found from k others, in lattice units of the curator's domain."""
        pick, current = self.pick, start
        visited = [current]
        for _ in range(self.swaps):
            swaps = SwapGains(candidates, current, curator.domain, objective=objective)
            current = swaps.after(curator.select(swaps, pick))
            visited.append(current)
        sets = NegativeCosts(np.stack([candidates[each] for each in visited]), curator.domain, objective=objective)
        return visited[curator.select(sets, pick)]


def usual_swaps(k: int) -> int:
    """How many swaps a search makes where the user does not say."""
    return min(k, USUAL_SWAPS)


def check_pairs(*, k: int, candidates: int) -> None:
    """Refuse more swaps than a step can weigh, before anything is paid."""
    if k * candidates > MOST_PAIRS:
        raise ParameterError("n_clusters", f"times the number of candidates, {candidates}, must be at most 2^24")


def first_choice(candidates: Floats, k: int, *, rng: np.random.Generator) -> Indices:
    """k different candidates that stand for the list itself: those nearest to its k-means centres. Free."""
    some = candidates
    if len(some) > FIRST_CANDIDATES:
        some = candidates[rng.choice(len(candidates), FIRST_CANDIDATES, replace=False)]
    weights = np.ones(len(some))
    if k * len(some) > CLUSTERED_PAIRS:  # many centres of a long list: a draw is good enough, and quick
        centres = plus_plus(some, weights, k, starts=1, rng=rng)[0]
    else:
        lower, upper = candidates.min(axis=0), candidates.max(axis=0)
        centres = cluster(some, weights, k=k, lower=lower, upper=upper, objective="k-means", rng=rng).centres
    chosen: list[int] = []
    free = np.ones(len(candidates), dtype=np.bool_)
    for centre in centres:
        away = np.where(free, np.square(candidates - centre).sum(axis=1), np.inf)
        chosen.append(int(away.argmin()))
        free[chosen[-1]] = False
    return np.array(chosen, dtype=np.intp)
