"""What a worker does for `covey bench utility`: one baseline, or one run of one system."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

import covey
from covey.algorithms import systems as outside
from covey.algorithms.registry import find
from covey.bench.peers.figures import DIFFPRIVLIB, NEEDS, diffprivlib
from covey.bench.runner import Answer, Task
from covey.bench.sets import Floats, load, seed_of, utility_set
from covey.bench.workload import mean_cost
from covey.errors import CoveyError, DataError, ParameterError
from covey.fit.fit import fit
from covey.post.distances import Objective
from covey.post.random import public_rng
from covey.post.starts import sphere_packing
from covey.public import Ball

KMEANS_STARTS, KMEDIAN_STARTS = 10, 5  # of the baselines
PACKAGE = Path(__file__).parents[2]
NO_PART = ("bench/", "studio/", "cli/", "theory/", "audit/", "terminal.py")  # files of Covey that change no answer


@dataclass(frozen=True, kw_only=True)
class System:
    """What is measured: `covey:ALGORITHM`, `diffprivlib`, `sklearn`, or `MODULE:FUNCTION` from outside."""

    name: str
    parameters: dict[str, Any] = field(default_factory=dict)
    pure: bool = False

    @classmethod
    def parse(cls, text: str, *, pure: bool, parameters: dict[str, Any] | None = None) -> System:
        """Refuses what does not exist; an algorithm that needs no δ is pure whatever was asked for."""
        given = parameters or {}
        if text in ("diffprivlib", "sklearn"):
            if given:
                raise ParameterError("algorithm_params", f"{text} is run as it is; parameters are for covey:ALGORITHM")
            return cls(name=text, pure=text == "diffprivlib")
        kind, colon, algorithm = text.partition(":")
        if not colon:
            raise ParameterError(
                "system", "must be covey:ALGORITHM (such as covey:auto), diffprivlib, sklearn or MODULE:FUNCTION"
            )
        if kind != "covey":
            if given:
                raise ParameterError(
                    "algorithm_params", f"{text} is called as it is; parameters are for covey:ALGORITHM"
                )
            return cls(name=outside.load(text).name, pure=pure)
        row = find(algorithm)
        row.check_parameters(given)
        if pure and row.guarantee == "approximate":
            raise ParameterError("pure", f"{algorithm!r} promises (epsilon, delta) only")
        idle = not row.with_delta.items() <= given.items()  # a form that leaves a δ unused
        return cls(name=text, parameters=given, pure=pure or idle or row.guarantee == "pure")

    @property
    def algorithm(self) -> str | None:
        return self.name.removeprefix("covey:") if self.name.startswith("covey:") else None

    @property
    def outside(self) -> outside.System | None:
        return outside.load(self.name) if ":" in self.name and self.algorithm is None else None

    @property
    def label(self) -> str:
        own = "".join(f", {name}={value}" for name, value in sorted(self.parameters.items()))
        return self.name + own + (", pure" if self.pure and ":" in self.name else "")

    @property
    def version(self) -> str:
        """Of what is measured, as far as it is known: what a peer is pinned to."""
        if self.name == "diffprivlib":
            return ", ".join(each.replace("==", " ") for each in NEEDS)
        if self.name == "sklearn":
            return f"scikit-learn {metadata.version('scikit-learn')}"
        return f"covey {covey.__version__}" if self.outside is None else self.outside.version

    @property
    def code(self) -> str:
        """The state of its sources, if answers depend on it; other answers are then made again."""
        if self.outside is not None:
            return self.outside.code
        return fingerprint_once() if self.algorithm else ""

    @property
    def file(self) -> str:
        """The name of its results, fit for any disk."""
        return "".join(c if c.isalnum() or c in "=." else "-" for c in self.label.replace(", ", "-"))


def fingerprint() -> str:
    """Changes whenever a source of Covey changes that a fit might run."""
    digest = hashlib.sha256()
    for path in sorted(PACKAGE.rglob("*.py")):
        name = path.relative_to(PACKAGE).as_posix()
        if not name.startswith(NO_PART):
            digest.update(name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:12]


def perform(task: Task, *, data: Path | None, python: Path | None) -> Answer:
    """Do one task. `data` is the folder of the sets, `python` the interpreter of diffprivlib's environment."""
    asked = task.parameters
    rows = rows_of(asked["set"], asked["n"], data)
    which = utility_set(asked["set"])
    objective: Objective = asked["objective"]
    chosen: dict[str, Any] = {}
    started, cpu = time.perf_counter(), time.process_time()
    if task.kind == "baseline":
        centres = BASELINES[objective](rows, k=which.k)
    elif asked["system"] == "sklearn":
        centres = plain_kmeans(rows, k=which.k, starts=1, seed=seed_of("sklearn", which.name, asked["run"]))
    elif asked["system"] == "diffprivlib":
        assert python is not None
        centres, seconds, cpu = diffprivlib(python).fit(rows, k=which.k, epsilon=asked["epsilon"])
        return {"cost": mean_cost(rows, centres, objective), "seconds": seconds, "cpu": cpu}
    elif not asked["system"].startswith("covey:"):
        system, edge = outside.load(asked["system"]), np.ones(rows.shape[1])
        promise = {"epsilon": asked["epsilon"], "delta": asked["delta"], "bounds": (-edge, edge)}
        try:
            centres = system.centres(rows, k=which.k, **promise)
        except DataError:  # it breaks the contract: nothing can be judged
            raise
        except Exception as error:
            return {"refused": f"{type(error).__name__}: {error}"}
    else:
        try:
            release = fit(
                rows,
                k=which.k,
                epsilon=asked["epsilon"],
                delta=asked["delta"],
                bounds=Ball(1.0) if which.ball else (-1.0, 1.0),
                algorithm=asked["system"].partition(":")[2],
                algorithm_params=asked["parameters"],
                objective=objective,
                random_state=None,  # real noise
                errors="none",  # centres are the same with them
            )
        except CoveyError as error:  # it refuses such a set: an answer too, and the same every time
            return {"refused": str(error)}
        centres = np.array(release.centres)
        chosen = {"chosen": release.certificate.parameters.get("chosen")}
    times = {"seconds": time.perf_counter() - started, "cpu": time.process_time() - cpu}
    return {"cost": mean_cost(rows, centres, objective), **times, **chosen}


@lru_cache(maxsize=2)
def rows_of(name: str, n: int | None, data: Path | None) -> Floats:
    return load(utility_set(name), data, rows=n)


def plain_kmeans(rows: Floats, *, k: int, starts: int = 1, seed: int = 0, first: Floats | None = None) -> Floats:
    """Centres without privacy. first : those to begin with, so that the optimum that they are near is found."""
    from sklearn.cluster import KMeans

    init = "k-means++" if first is None else first
    model = KMeans(k, init=init, n_init=starts, random_state=seed % 2**32).fit(rows)
    return np.asarray(model.cluster_centers_, dtype=np.float64)


def best_kmeans(rows: Floats, *, k: int) -> Floats:
    return plain_kmeans(rows, k=k, starts=KMEANS_STARTS, seed=0)


def best_kmedian(rows: Floats, *, k: int) -> Floats:
    """Non-private k-median of all rows, the best of several starts and of k-means."""
    from covey.post.kmedian import weighted_kmedian

    edge, rng = np.ones(rows.shape[1]), public_rng(0)
    starts = [sphere_packing(k, lower=-edge, upper=edge, rng=rng) for _ in range(KMEDIAN_STARTS)]
    starts.append(plain_kmeans(rows, k=k, starts=1, seed=0))
    weights = np.ones(len(rows))
    return weighted_kmedian(rows, weights, k=k, lower=-edge, upper=edge, starts=np.stack(starts)).centres


BASELINES: dict[str, Callable[..., Floats]] = {"k-means": best_kmeans, "k-median": best_kmedian}


def baseline_task(*, name: str, rows: str, n: int | None, objective: str) -> Task:
    """Does not depend on Covey's sources, but for k-median on its version: Covey itself clusters there."""
    by = f"scikit-learn {metadata.version('scikit-learn')}" if objective == "k-means" else f"covey {covey.__version__}"
    starts = KMEANS_STARTS if objective == "k-means" else KMEDIAN_STARTS
    parameters = {"set": name, "rows": rows, "n": n, "objective": objective, "by": by, "starts": starts}
    return Task("baseline", parameters, f"baseline {name}")


def fit_task(
    system: System, *, name: str, rows: str, n: int | None, size: int, objective: str, epsilon: float, run: int
) -> Task:
    """One run, with everything that its answer depends on. scikit-learn knows no ε: all ε share its runs."""
    shared = {"set": name, "rows": rows, "n": n, "objective": objective, "system": system.name, "run": run}
    label = f"{system.label} {name}"
    if system.name == "sklearn":
        return Task("fit", {**shared, "version": metadata.version("scikit-learn")}, label)
    if system.name == "diffprivlib":
        return Task("fit", {**shared, "epsilon": epsilon, "version": DIFFPRIVLIB}, label)
    own = {"delta": None if system.pure else delta_of(size), "parameters": system.parameters, "code": system.code}
    stamp = {"covey": covey.__version__} if system.algorithm else {"version": system.version}
    return Task("fit", {**shared, "epsilon": epsilon, **own, **stamp}, label)


def delta_of(size: int) -> float:
    """n^-1.5, with three digits."""
    return float(f"{size**-1.5:.3g}")


@lru_cache(maxsize=1)
def fingerprint_once() -> str:
    """One run measures one state of the sources, even if they are edited meanwhile."""
    return fingerprint()
