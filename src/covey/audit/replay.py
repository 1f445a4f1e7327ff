"""Replay: on neighbouring data, with what was released frozen, an algorithm must ask exactly the same questions.

Each algorithm of the registry is fitted to a data set, and a tape records what it asks and what it is told. It is then
fitted to a neighbour while the tape is played: every release is the recorded one. If plans, queries, mechanisms,
sizes, the released document or the words of an error differ, something besides the released values decided: a leak.
And every exact statistic must differ by at most the sensitivity that its noise was scaled to.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from covey.audit import targets
from covey.audit.families import FAMILIES, ROWS_PER_PERSON, Family, Floats, Pair, Row, Seen, seen_in
from covey.audit.likelihood import by_block
from covey.audit.tape import Diverged, Step, Tape
from covey.errors import CoveyError
from covey.post.random import public_rng
from covey.public import Domain, Neighbours, resolve_bounds

FULL_SEEDS = 80
COLUMNS = (1, 2, 2, 3, 6)


@dataclass(frozen=True)
class Result:
    """One pair of neighbours. what: what diverged, if it is not ok. refusal: the words in which both ended, if any.

    statistics: how many exact statistics were compared; reached: the largest change seen, as a part of what is allowed.
    """

    algorithm: str
    relation: str
    family: str
    seed: int
    ok: bool
    what: str = ""
    refusal: str = ""
    statistics: int = 0
    reached: float = 0.0


def run(
    algorithms: Iterable[str] | None = None,
    seeds: int | Iterable[int] = FULL_SEEDS,
    report: Callable[[Result], None] | None = None,
    *,
    relations: Iterable[Neighbours] | None = None,
    families: Sequence[Family] = FAMILIES,
) -> list[Result]:
    """Every algorithm, under every relation that it supports, on every family of neighbours, for every seed.

    algorithms: names, None for the whole registry and the slider. seeds: how many, or which. report: called with
    each result.
    """
    results = []
    for case in cases(algorithms, seeds, relations=relations, families=families):
        results.append(replay_pair(*case))
        if report is not None:
            report(results[-1])
    return results


def cases(
    algorithms: Iterable[str] | None,
    seeds: int | Iterable[int],
    *,
    relations: Iterable[Neighbours] | None = None,
    families: Sequence[Family] = FAMILIES,
) -> Iterator[tuple[str, Neighbours, Family, int]]:
    """All that there is to run: algorithm, relation, family, seed."""
    numbers = list(range(seeds)) if isinstance(seeds, int) else list(seeds)
    asked = set(Neighbours if relations is None else relations)
    for name in targets.names() if algorithms is None else algorithms:
        target = targets.find(name)
        for relation in (each for each in target.relations if each in asked):
            for family in families:
                if relation in family.relations and (target.people or not family.people):
                    yield from ((name, relation, family, seed) for seed in numbers)


def replay_pair(algorithm: str, relation: Neighbours, family: Family, seed: int) -> Result:
    """One algorithm on one pair of neighbours."""

    def result(ok: bool, **more: Any) -> Result:
        return Result(algorithm, str(relation), family.name, seed, ok, **more)

    try:
        first, second, rows = record_pair(algorithm, relation, family, seed)
    except Diverged as difference:
        return result(False, what=str(difference))
    reached, compared = 0.0, 0
    for place, (ours, theirs) in enumerate(zip(first.steps, second.steps, strict=True)):
        if not ours.kind:
            continue
        compared += 1
        used, what = moved(ours, theirs, relation, rows)
        reached = max(reached, used)
        if what:
            return result(False, what=f"step {place + 1}, {ours.words()}: {what}", statistics=compared)
    what = f"crashed: {first.ended!s}" if first.crashed else ""
    return result(not what, what=what, refusal=first.refusal, statistics=compared, reached=reached)


def record_pair(
    algorithm: str,
    relation: Neighbours,
    family: Family,
    seed: int,
    *,
    chooses: Callable[[Step], Any] | None = None,
    **fixed: Any,
) -> tuple[Tape, Tape, int]:
    """The tape of one data set, and that of its neighbour with the first one's answers; and the rows of a person.

    fixed: settings that are otherwise drawn from the seed.
    """
    target = targets.find(algorithm)
    for columns in (None, 2, 1):  # fewer columns, if the algorithm refuses so many before it asks anything
        rng = public_rng(1000 * seed + (FAMILIES.index(family) if family in FAMILIES else len(FAMILIES)))
        d = int(columns or rng.choice(COLUMNS))
        settings = {**target.settings(relation, rng, d), **fixed, "random_state": seed, "engine": "memory"}
        pair = family.make(rng, d, seed)
        swap = rng.random() < 0.5
        first, second = replayed(target, relation, pair, settings, swap=swap, chooses=chooses)
        if any(step.kind for step in first.steps):
            break
    return first, second, ROWS_PER_PERSON if family.people else 1


def replayed(
    target: targets.Target,
    relation: Neighbours,
    pair: Pair,
    settings: Mapping[str, Any],
    *,
    swap: bool,
    chooses: Callable[[Step], Any] | None = None,
) -> tuple[Tape, Tape]:
    """Record one data set of a pair, play the tape on the other. swap: which of the two is the first."""
    there: Row | None = pair.person
    away: Floats | None = pair.other if relation is Neighbours.REPLACE_ONE else None
    tapes: list[Tape] = []
    for person in (there, away) if swap and not pair.follows else (away, there):
        if callable(person):
            person = person(_seen(tapes[0], pair, settings))
        tape = Tape(seed=settings["random_state"], played=tapes[0] if tapes else None, chooses=chooses)
        with targets.data_of(pair, person, settings["bounds"]) as data:
            record(target, tape, {**settings, **data})
        tapes.append(tape)
    return tapes[0], tapes[1]


def record(target: targets.Target, tape: Tape, settings: Mapping[str, Any]) -> None:
    """Fit with a tape running."""
    ended: bytes | str
    try:
        ended = target.run(tape, settings)
    except Diverged:
        raise
    except Exception as error:  # any error is an outcome, and must be the same on neighbours
        ended = f"{type(error).__name__}: {error}"
        tape.crashed = not isinstance(error, CoveyError)
    tape.end(ended)


def moved(ours: Step, theirs: Step, relation: Neighbours, rows: int = 1) -> tuple[float, str]:
    """How far a statistic moved, as a part of what it may; and in words, if that is too far.

    rows: how many rows a person has at most; mechanisms then run at that part of epsilon, so this many times as far.
    """
    times = rows * (2 if relation is Neighbours.REPLACE_ONE else 1)
    if ours.kind == "lines":
        lines = int((ours.exact != theirs.exact).any(axis=1).sum())
        return lines / rows, f"{lines} blocks changed" if lines > rows else ""
    change = _change(ours.exact, theirs.exact)
    if ours.bound is None:  # rows in disjoint places: each row is in one of them
        l1, most = sum(map(abs, change)), max(map(abs, change), default=0)
        return l1 / times, f"{l1} rows moved" if l1 > times or most > rows else ""
    bound = ours.bound
    l1, l2, linf = sum(map(abs, change)), sum(each * each for each in change), max(map(abs, change), default=0)
    limits: dict[str, tuple[float, int]] = {
        "L1": (l1, rows * bound.l1),
        "L2 squared": (l2, rows * rows * bound.l2_squared),
        "Linf": (linf, rows * bound.linf),
        "coordinates": (len(change), rows * bound.coordinates),
    }
    blocks = by_block(ours.exact, theirs.exact, bound.block) if bound.block > 1 else l1
    limits["L2 by block"] = (blocks, rows * bound.l2_by_block)
    broken = [f"{name} {value} > {most}" for name, (value, most) in limits.items() if value > most]
    if bound.monotone and min(change, default=0) < 0 < max(change, default=0):
        broken.append("not monotone")
    return max(value / most for value, most in limits.values()), "; ".join(broken)


def _change(ours: Any, theirs: Any) -> list[int]:
    """The changes that are not zero, as Python integers."""
    if isinstance(ours, dict):
        both = [ours.get(key, 0) - theirs.get(key, 0) for key in ours.keys() | theirs.keys()]
        return [each for each in both if each]
    where = np.flatnonzero(np.ravel(ours) != np.ravel(theirs))
    return [a - b for a, b in zip(np.ravel(ours)[where].tolist(), np.ravel(theirs)[where].tolist(), strict=True)]


def _seen(tape: Tape, pair: Pair, settings: Mapping[str, Any]) -> Seen:
    domain: Domain = resolve_bounds(settings["bounds"], names=None, width=pair.rows.shape[1])
    centres = json.loads(tape.ended).get("centres") if isinstance(tape.ended, bytes) else None
    return seen_in(tape.queries, centres, domain)
