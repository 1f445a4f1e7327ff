"""Transcript loss: the exact privacy loss of recorded runs never exceeds epsilon.

A run is recorded on one data set and played on its neighbour (replay.py), so that both statistics behind every answer
are known, and with them the likelihood ratio of the whole transcript, adaptive as it is. Under pure epsilon its
logarithm lies in [-epsilon, epsilon] for every transcript. So besides drawn answers, ugly ones are put in their place:
numbers that lie just beyond both neighbours', candidates picked at random, trees that split where there are rows.

Blocks and parts: the loss is that given the rows' coins, which bounds the loss without them. What has no bound is not
here: of runs that promise (epsilon, delta), single events are checked, those of pure epsilon by their loss and those of
Gaussian noise by how many standard deviations a statistic moved.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from covey.audit import targets
from covey.audit.families import FAMILIES, Family
from covey.audit.likelihood import NOTHING, Ratio, counted, pieces, shift
from covey.audit.replay import FULL_SEEDS, cases, record_pair
from covey.audit.tape import Diverged, Raised, Step, Tape
from covey.noise.chain import ChainedLaplace
from covey.noise.mechanisms import DiscreteGaussian, DiscreteLaplace, Exponential, RadialLaplace
from covey.noise.tree import PrivTree
from covey.post.random import public_rng
from covey.public import Neighbours

EPSILONS = (0.1, 1.0, 3.0)
ANSWERS = ("drawn", "chosen")
WITH_DELTA = 4  # of so many seeds, one has a delta, where an algorithm can do with or without
SLACK = 1e-9  # relative and absolute: floats of likelihood.py are off by far less
DEEPEST, WIDEST = 12, 2**10  # of a tree that splits wherever there are rows


@dataclass(frozen=True)
class Loss:
    """The privacy loss of one transcript. All losses are absolute values, as shares of what was promised.

    total: of the whole transcript; None where only (epsilon, delta) is promised. event: of the worst single event.
    possible: of every event's worst answer at its place, added up. uncounted: mechanisms that cannot be checked.
    """

    algorithm: str
    relation: str
    family: str
    seed: int
    answers: str
    epsilon: float
    ok: bool
    total: float | None = None
    event: float = 0.0
    possible: float | None = None
    uncounted: tuple[str, ...] = ()
    what: str = ""
    refusal: str = ""


@dataclass(frozen=True)
class Worst:
    """The largest shares of epsilon that were seen for an algorithm: how tight its accounting is."""

    algorithm: str
    transcripts: int
    drawn: float | None
    chosen: float | None
    possible: float | None
    event: float
    uncounted: tuple[str, ...]


def run(
    algorithms: Iterable[str] | None = None,
    seeds: int | Iterable[int] = FULL_SEEDS,
    report: Callable[[Loss], None] | None = None,
    *,
    relations: Iterable[Neighbours] | None = None,
    families: Sequence[Family] = FAMILIES,
) -> list[Loss]:
    """Transcripts of every algorithm, under every relation, on every family of neighbours, for every seed.

    algorithms: names, None for the whole registry and the slider. seeds: how many, or which. report: called with
    each result. Every other transcript has drawn answers, the rest chosen ones.
    """
    losses = []
    for name, relation, family, seed in cases(algorithms, seeds, relations=relations, families=families):
        number = seed + list(families).index(family)
        answers, epsilon = ANSWERS[number % 2], EPSILONS[number // 2 % len(EPSILONS)]
        losses.append(loss_of(name, relation, family, seed, answers=answers, epsilon=epsilon))
        if report is not None:
            report(losses[-1])
    return losses


def worst(losses: Iterable[Loss]) -> list[Worst]:
    """The worst of each algorithm."""
    by_algorithm: dict[str, list[Loss]] = defaultdict(list)
    for loss in losses:
        by_algorithm[loss.algorithm].append(loss)

    def most(values: Iterable[float | None]) -> float | None:
        return max((value for value in values if value is not None), default=None)

    return [
        Worst(
            algorithm=name,
            transcripts=len(own),
            drawn=most(loss.total for loss in own if loss.answers == "drawn"),
            chosen=most(loss.total for loss in own if loss.answers == "chosen"),
            possible=most(loss.possible for loss in own),
            event=max(loss.event for loss in own),
            uncounted=tuple(sorted({name for loss in own for name in loss.uncounted})),
        )
        for name, own in by_algorithm.items()
    ]


def loss_of(
    algorithm: str,
    relation: Neighbours,
    family: Family,
    seed: int,
    *,
    answers: str = "drawn",
    epsilon: float = 1.0,
    **fixed: Any,
) -> Loss:
    """The loss of one transcript. Settings other than epsilon are drawn from the seed, unless they are fixed."""
    guarantee = targets.find(algorithm).guarantee
    pure = guarantee == "pure" or (guarantee == "either" and seed % WITH_DELTA != WITH_DELTA - 1)
    if guarantee == "either":
        fixed["delta"] = None if pure else targets.DELTA

    def loss(ok: bool, **more: Any) -> Loss:
        return Loss(algorithm, str(relation), family.name, seed, answers, epsilon, ok, **more)

    try:
        first, second, rows = record_pair(
            algorithm,
            relation,
            family,
            seed,
            chooses=_ugly(seed) if answers == "chosen" else None,
            epsilon=epsilon,
            **fixed,
        )
    except Diverged as difference:
        return loss(False, what=str(difference))
    events, shifts, uncounted = events_of(first, second, relation)
    single = max([0.0, *(_share(each, paid * rows) for each, paid in events), *(each / rows for each in shifts)])
    total = sum((each for each, _ in events), NOTHING)
    seen = abs(total.seen) / epsilon
    if first.crashed:
        return loss(False, what=f"crashed: {first.refusal}")
    what = "" if single <= 1 + SLACK else f"an event lost {single:.6g} of what it paid"
    if pure and seen > 1 + SLACK:
        what = f"{what} the transcript lost {seen:.6g} of epsilon".strip()
    possible = max(total.most, -total.least) / epsilon
    return loss(
        not what,
        total=seen if pure else None,
        event=single,
        possible=possible if pure else None,
        uncounted=uncounted,
        what=what,
        refusal=first.refusal,
    )


def events_of(
    first: Tape, second: Tape, relation: Neighbours
) -> tuple[list[tuple[Ratio, float]], list[float], tuple[str, ...]]:
    """The likelihood ratio of every pure event and what it paid; how far Gaussian events went, as a share of what they
    paid for; and the mechanisms of which neither is known.
    """
    shifts: list[float] = []
    ratios: dict[tuple[int, int], Ratio] = defaultdict(lambda: NOTHING)
    paid: dict[tuple[int, int], float] = {}
    uncounted = set()
    for ours, theirs in zip(first.steps, second.steps, strict=True):
        if ours.mechanism is None or isinstance(ours.answer, Raised):
            continue
        if isinstance(ours.mechanism, DiscreteGaussian):
            shifts.append(shift(ours, theirs) * float(ours.mechanism.event().multiplier))
            continue
        if not counted(ours):
            uncounted.add(type(ours.mechanism).__name__)
            continue
        for place, (loss, share) in enumerate(pieces(ours, theirs, relation)):
            ratios[ours.event, place] += loss
            paid[ours.event, place] = float(ours.mechanism.event().epsilon * share)
    return [(ratios[event], paid[event]) for event in ratios], shifts, tuple(sorted(uncounted))


def _share(event: Ratio, paid: float) -> float:
    """The worst of an event's losses, as a share of what was paid for it."""
    worst = max(abs(event.seen), event.most, -event.least)
    return 0.0 if worst == 0 else worst / paid if math.isfinite(worst) else math.inf


def _ugly(seed: int) -> Callable[[Step], Any]:
    """Answers that a mechanism gives with some probability, and that tell much."""
    rng = public_rng(seed)
    sign = 1 if seed // 2 % 2 else -1

    def answer(step: Step) -> Any:
        if isinstance(step.mechanism, DiscreteLaplace | RadialLaplace) and step.bound is not None:
            return step.exact + sign * step.bound.linf
        if isinstance(step.mechanism, ChainedLaplace) and step.bound is not None:
            return [level + (step.exact + sign * step.bound.linf - step.drawn[-1]) for level in step.drawn]
        if isinstance(step.mechanism, Exponential):
            return int(rng.integers(len(step.exact)))
        if isinstance(step.mechanism, PrivTree):
            small = step.at < DEEPEST and len(step.exact) <= WIDEST
            often = rng.random(len(step.exact)) < (1.0 if seed // 4 % 2 else 0.8)
            return (step.exact > 0) & small & often
        return step.drawn

    return answer
