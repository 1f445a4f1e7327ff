"""The cells of an audit: what is attacked, how often, and what one cell's answer is. Each can be done by itself.

Bonferroni: all bounds of an audit hold at once with confidence 99%. Half of the remaining 1% is shared by the single
mechanisms, by weight, half by the fits, equally; replays and transcripts are not statistics and need none of it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol

from covey.algorithms.registry import find
from covey.audit import replay, targets, transcript
from covey.audit.blackbox import attack, attack_mechanism, share
from covey.audit.cases import PAIRS, Case, cases
from covey.audit.mechanisms import experiments
from covey.audit.systems import Promised, trial_of
from covey.errors import ParameterError
from covey.public import Neighbours

Answer = dict[str, Any]
ALPHA = 0.01
MECHANISM_TRIALS = 200_000
PAIR_SHARES = {"corner to corner": 0.5, "six columns": 0.25}  # of the trials: slower, and harder to tell apart
SEEDS_PER_CELL = 10
FEWEST_TRIALS = 40
NO_PART = ("bench/", "studio/", "cli", "draw.py", "demo.py", "audit/report", "audit/plots", "audit/summary")


@dataclass(frozen=True)
class Size:
    """How much is done. seeds: of replays and transcripts for each family.

    trials: fits of each neighbour on the pair that tells most, one row or none; half and a quarter as many on others.
    """

    trials: int
    epsilons: tuple[float, ...]
    pairs: tuple[str, ...]
    seeds: int
    mechanism_epsilons: tuple[float, ...]
    mechanism_trials: int = MECHANISM_TRIALS


USUAL = Size(trials=400, epsilons=(1.0,), pairs=tuple(PAIRS)[:2], seeds=2, mechanism_epsilons=(1.0, 2.0))
FULL = Size(trials=1_500, epsilons=(1.0, 4.0), pairs=tuple(PAIRS), seeds=80, mechanism_epsilons=(0.5, 1.0, 2.0, 4.0))


@dataclass(frozen=True)
class Cell:
    """One piece of an audit, known by its kind and parameters."""

    kind: str  # "mechanism", "fit", "replay", "transcript" or "system"
    parameters: dict[str, Any]
    label: str


class Asked(Protocol):
    """A cell, or a task made of one."""

    @property
    def kind(self) -> str: ...
    @property
    def parameters(self) -> dict[str, Any]: ...


def plan(size: Size, *, algorithms: Sequence[str] | None = None) -> list[Cell]:
    """Every cell of an audit of this size; with names, of these algorithms alone."""
    for name in algorithms or ():
        find(name)
    if size.trials < 1 or size.seeds < 1 or not size.epsilons or not all(each > 0 for each in size.epsilons):
        raise ParameterError("trials", "trials, seeds and epsilons must be positive")
    sources = fingerprint()
    return [
        *(_mechanisms(size, sources) if algorithms is None else ()),
        *_tapes(size, sources, targets.names() if algorithms is None else algorithms),
        *_fits(size, sources, algorithms),
    ]


def plan_systems(promised: Sequence[Promised], *, trials: int) -> list[Cell]:
    """A cell for every promise of a system from outside. Bonferroni: all of their bounds hold at once."""
    common = {"trials": trials, "alpha": share(ALPHA, len(promised)), "sources": fingerprint()}
    return [Cell("system", {**asdict(each), "code": each.code, **common}, each.name) for each in promised]


def _mechanisms(size: Size, sources: str) -> list[Cell]:
    tried = [
        (epsilon, experiment)
        for epsilon in size.mechanism_epsilons
        for experiment in experiments(epsilon, trials=size.mechanism_trials)
    ]
    unit = share(ALPHA / 2, sum(experiment.weight for _, experiment in tried))
    common = {"trials": size.mechanism_trials, "sources": sources}
    return [
        Cell(
            "mechanism",
            {"name": experiment.name, "epsilon": epsilon, "alpha": experiment.weight * unit, **common},
            f"{experiment.name}, ε = {epsilon:g}",
        )
        for epsilon, experiment in tried
    ]


def _fits(size: Size, sources: str, algorithms: Sequence[str] | None) -> list[Cell]:
    found = cases(algorithms, epsilons=size.epsilons, pairs=size.pairs)
    common = {"alpha": share(ALPHA / 2, len(found)), "sources": sources}
    return [Cell("fit", {**asdict(each), "trials": _trials(size, each.pair), **common}, each.name) for each in found]


def _trials(size: Size, pair: str) -> int:
    return max(min(size.trials, FEWEST_TRIALS), int(size.trials * PAIR_SHARES.get(pair, 1.0)))


def _tapes(size: Size, sources: str, algorithms: Iterable[str]) -> list[Cell]:
    starts = range(0, size.seeds, SEEDS_PER_CELL)
    return [
        Cell(
            kind,
            {
                "algorithm": name,
                "neighbours": str(relation),
                "seeds": [start, min(start + SEEDS_PER_CELL, size.seeds)],
                "sources": sources,
            },
            f"{kind} of {name}, {relation}",
        )
        for name in algorithms
        for relation in targets.find(name).relations
        for kind in ("replay", "transcript")
        for start in starts
    ]


def work(asked: Asked) -> Answer:
    """The answer of one cell. What goes wrong in it is an answer, too: the audit fails, and goes on."""
    try:
        return WORK[asked.kind](asked.parameters)
    except Exception as error:
        return {"status": "error", "why": f"{type(error).__name__}: {error}"}


def _mechanism(asked: dict[str, Any]) -> Answer:
    trials = asked["trials"]
    chosen = next(each for each in experiments(asked["epsilon"], trials=trials) if each.name == asked["name"])
    found = attack_mechanism(chosen, trials=trials, alpha=asked["alpha"])
    return {"status": "done", "single": chosen.single, **found.to_dict()}


def _fit(asked: dict[str, Any]) -> Answer:
    names = Case.__dataclass_fields__
    case = Case(**{name: asked[name] for name in names})
    return attack(case, trials=asked["trials"], alpha=asked["alpha"])


def _system(asked: dict[str, Any]) -> Answer:
    promised = Promised(**{name: asked[name] for name in Promised.__dataclass_fields__})
    return attack(promised, trials=asked["trials"], alpha=asked["alpha"], trial=trial_of(promised))


def _replay(asked: dict[str, Any]) -> Answer:
    relation = Neighbours.parse(asked["neighbours"])
    results = replay.run([asked["algorithm"]], seeds=range(*asked["seeds"]), relations=[relation])
    wrong = [each for each in results if not each.ok]
    return {
        "status": "done",
        "pairs": len(results),
        "statistics": sum(each.statistics for each in results),
        "reached": max((each.reached for each in results), default=0.0),
        "diverged": len(wrong),
        "failed": bool(wrong),
        "what": [f"{each.family}, seed {each.seed}: {each.what}" for each in wrong[:5]],
    }


def _transcript(asked: dict[str, Any]) -> Answer:
    relation = Neighbours.parse(asked["neighbours"])
    losses = transcript.run([asked["algorithm"]], seeds=range(*asked["seeds"]), relations=[relation])
    wrong = [each for each in losses if not each.ok]
    (most,) = transcript.worst(losses)
    return {
        "status": "done",
        "transcripts": len(losses),
        **{name: getattr(most, name) for name in ("drawn", "chosen", "possible", "event")},
        "uncounted": list(most.uncounted),
        "failed": bool(wrong),
        "what": [f"{each.family}, seed {each.seed}: {each.what}" for each in wrong[:5]],
    }


WORK = {"replay": _replay, "transcript": _transcript, "mechanism": _mechanism, "fit": _fit, "system": _system}


def fingerprint() -> str:
    """Changes whenever a source changes that a cell's answer may depend on: old answers are then not used again."""
    package = Path(__file__).parents[1]
    digest = hashlib.sha256()
    for path in sorted(package.rglob("*.py")):
        name = path.relative_to(package).as_posix()
        if not name.startswith(NO_PART):
            digest.update(name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:12]
