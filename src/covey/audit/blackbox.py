"""Black-box lower bounds: many runs on two neighbours, an event chosen on some of them, a proof with the others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from covey.audit.bounds import Claim
from covey.audit.cases import Case, Neighbouring
from covey.audit.features import REFUSED, Line, matrix
from covey.audit.mechanisms import Experiment
from covey.audit.scores import Finding, lower_bound
from covey.audit.systems import Promised
from covey.errors import CoveyError, ParameterError
from covey.noise.source import OsSource, Source

Answer = dict[str, Any]
CHOOSING = 0.2  # of the releases of a mechanism: its few numbers are soon known
NOT_YET = ("person", "rows_per_person", "zones")  # parameters that a version may refuse as a whole


def attack_mechanism(experiment: Experiment, *, trials: int, alpha: float, source: Source | None = None) -> Finding:
    """The bound that `trials` releases of a mechanism on each neighbour prove; a quarter more choose the event."""
    ours, theirs = experiment.draw(round(trials / (1 - CHOOSING)), OsSource() if source is None else source)
    return lower_bound(ours, theirs, experiment.claim, alpha=alpha, choosing=CHOOSING)


def attack(
    case: Case | Promised,
    *,
    trials: int,
    alpha: float,
    seed: int | None = None,
    trial: Callable[[int, int | None], Line] | None = None,
) -> Answer:
    """The bound that `trials` fits on each neighbour prove, as a dictionary with a `status`.

    "done": a bound was computed. "refused": the request itself is refused, whatever the rows; `why` says by what.
    "not in this version": zones, persons or levels are not there yet. A refusal on some of the runs only is an output
    like any other; what is no refusal is a bug, and raised. With a seed the noise repeats, for tests.
    """
    ready = Neighbouring(case) if trial is None and isinstance(case, Case) else None
    run = trial if trial is not None else ready.trial  # type: ignore[union-attr]
    try:
        why = _refusal(run, seed)
        if why is not None:
            return {"status": why[0], "why": why[1]}
        lines = [[_line(run, which, _seed(seed, i, which)) for i in range(trials)] for which in (0, 1)]
    finally:
        if ready is not None:
            ready.close()
    if all(line[REFUSED] for each in lines for line in each):
        return {"status": REFUSED, "why": "every single fit was refused"}
    return {"status": "done", **_prove(lines, case.claim, alpha).to_dict()}


def _prove(lines: list[list[Line]], claim: Claim, alpha: float) -> Finding:
    half = len(lines[0]) // 2  # names, too, come from the choosing half alone
    names = list(dict.fromkeys(name for each in lines for line in each[:half] for name in line))
    return lower_bound(matrix(lines[0], names), matrix(lines[1], names), claim, alpha=alpha, names=names)


def _seed(seed: int | None, trial: int, which: int) -> int | None:
    return None if seed is None else seed + 2 * trial + which


def _line(run: Callable[[int, int | None], Line], which: int, seed: int | None) -> Line:
    try:
        return {**run(which, seed), REFUSED: 0.0}
    except CoveyError:
        return {REFUSED: 1.0}


def _refusal(run: Callable[[int, int | None], Line], seed: int | None) -> tuple[str, str] | None:
    """Whether the request is refused whatever the rows: on both neighbours, in the same words, by its parameters."""
    words = []
    for which in (0, 1):
        try:
            run(which, _seed(seed, 0, which))
        except ModuleNotFoundError as error:
            return "not in this version", str(error)
        except ParameterError as error:
            words.append((error.parameter, str(error)))
        except CoveyError:  # an output like any other
            return None
    if len(words) < 2 or words[0] != words[1]:
        return None
    return ("not in this version" if words[0][0] in NOT_YET else REFUSED), words[0][1]


def share(alpha: float, many: int) -> float:
    """Bonferroni: what each of many tests may be wrong by if all of them together may be by alpha."""
    return alpha / max(1, many)


def power(finding: Finding) -> float:
    """The bound as a part of what was claimed."""
    return float(np.divide(finding.lower, finding.claimed))
