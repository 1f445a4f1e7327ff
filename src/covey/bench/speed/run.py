"""`covey bench speed`: how long fits and noise take next to their peers, in one run on one machine.

Only ratios within one run mean something: machines differ, and other work on this one makes all times longer. Times
are the best of a few, after one warm-up on few rows. Goals are those that the project has set itself.
"""

from __future__ import annotations

import json
import os
import platform
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from functools import partial
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

import covey
from covey.algorithms.registry import ALGORITHMS
from covey.bench import sets
from covey.bench.harness import Row, rounded
from covey.bench.peers.figures import Diffprivlib, diffprivlib_python
from covey.bench.sets import Floats
from covey.bench.speed.times import best_of, import_seconds, in_own_process, start_seconds
from covey.bench.utility.tasks import delta_of
from covey.errors import DataError, ParameterError
from covey.files import write_whole
from covey.noise.laplace import discrete_laplace
from covey.noise.source import OsSource
from covey.post.random import public_rng
from covey.post.threads import cores

K, EPSILON, BALL_EPSILON = 5, 1.0, 0.8
FITS = ("auto", "hybrid", "grid", "lloyd")
PIECE = 10**6  # rows that a file of many is written and read in
PEER = "scikit-learn KMeans(n_init=1)"


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How much work."""

    rows: tuple[int, ...] = (10**6, 10**7)
    people: int = 5 * 10**6
    ball: tuple[int, ...] = (10**6, 10**7)
    growth: tuple[int, ...] = (10**5, 10**6, 10**7, 10**8)
    parquet: int = 10**8
    draws: int = 10**6
    repeats: int = 3
    turns: int = 7


QUICK = Settings(
    rows=(5_000,),
    people=5_000,
    ball=(5_000,),
    growth=(1_000, 4_000, 16_000),
    parquet=50_000,
    draws=10_000,
    repeats=1,
    turns=1,
)


def clusters(rows: int, *, seed: int = 2016) -> Floats:
    """Five round clusters in [-1, 1]²."""
    rng = public_rng(seed)
    middles = np.array([[-0.6, -0.6], [-0.5, 0.5], [0.0, 0.0], [0.6, -0.4], [0.5, 0.7]])
    return middles[rng.integers(K, size=rows)] + rng.normal(scale=0.08, size=(rows, 2))


def private_fit(
    rows: Any, algorithm: str, *, size: int, k: int = K, epsilon: float = EPSILON, person: Any = None, **more: Any
) -> object:
    """A fit with real noise; δ = n^-1.5 where the algorithm can use one."""
    delta = None if ALGORITHMS[algorithm].guarantee == "pure" else delta_of(size)
    estimator = more.pop("estimator", covey.KMeans)
    made = estimator(k, epsilon=epsilon, delta=delta, bounds=(-1, 1), algorithm=algorithm, **more)
    return made.fit(rows, person=person)


def plain_fit(rows: Floats, *, k: int = K) -> object:
    from sklearn.cluster import KMeans

    return KMeans(k, n_init=1).fit(rows)


def line(work: str, *, seconds: float, peer: str = "", against: float | None = None, **more: Any) -> Row:
    """A row of the table. `goal` is the most that `value` may be; `value` is the ratio to the peer unless given."""
    value = more.pop("value", None if against is None else seconds / against)
    goal = more.pop("goal", None)
    row = {"work": work, "seconds": seconds, "peer": peer, "peer_seconds": against, "value": value, "goal": goal}
    return {**row, "unit": more.pop("unit", "x peer"), "met": None if goal is None else value <= goal, **more}


def fits(settings: Settings, *, python: Path | None, **_: Any) -> list[Row]:
    """Rows in two dimensions against scikit-learn; the fewest also against diffprivlib, if its environment is there."""
    table = []
    for n in settings.rows:
        rows, first = clusters(n), n == settings.rows[0]
        plain_fit(rows[:2000])
        peer = best_of(settings.repeats, partial(plain_fit, rows))
        own: dict[str, Any] = {"algorithm": PEER} if first else {}
        table.append(line(PEER if first else f"{PEER}, {n:,} x 2", seconds=peer, peer=PEER, against=peer, **own))
        for name in FITS if first else FITS[:1]:
            private_fit(rows[:2000], name, size=2000)
            seconds = best_of(settings.repeats, partial(private_fit, rows, name, size=n))
            own = {"goal": 0.5} if name == "auto" else {}
            own |= {"algorithm": name} if first else {}
            table.append(line(f"{name}, {n:,} x 2", seconds=seconds, peer=PEER, against=peer, **own))
        others: list[tuple[str, float | None, dict[str, Any]]] = [
            ("KMedian auto", 0.7, {"estimator": covey.KMedian}),
            ("auto without errors", None, {"errors": "none"}),
        ]
        for work, goal, more in others:
            private_fit(rows[:2000], "auto", size=2000, **more)
            seconds = best_of(settings.repeats, partial(private_fit, rows, "auto", size=n, **more))
            table.append(line(f"{work}, {n:,} x 2", seconds=seconds, peer=PEER, against=peer, goal=goal))
        if first and python is not None:
            process, auto = Diffprivlib(python), table[1]["seconds"]
            process.fit(rows[:2000], k=K, epsilon=EPSILON)
            theirs = process.fit(np.clip(rows, -1, 1), k=K, epsilon=EPSILON)[1]
            process.close()
            table.append(line(f"auto, {n:,} x 2", seconds=auto, peer="diffprivlib", against=theirs, goal=0.05))
    return table


def people(settings: Settings, **_: Any) -> list[Row]:
    """People with five rows each, of which one counts, against the same rows as rows; in turn."""
    n = settings.people
    rows, person = clusters(n), public_rng(1).integers(n // 5, size=n)
    own, others = [], []
    private_fit(rows[:2000], "auto", size=2000, person=person[:2000])
    for _round in range(settings.repeats):
        others.append(best_of(1, lambda: private_fit(rows, "auto", size=n)))
        own.append(best_of(1, lambda: private_fit(rows, "auto", size=n, person=person)))
    work = f"auto, people, m = 1, {n:,} rows x 2"
    return [line(work, seconds=min(own), peer="the same rows as rows", against=min(others), goal=2.0)]


def ball(settings: Settings, *, say: Callable[[str], None], **_: Any) -> list[Row]:
    """`ball-coreset`, whose goals are seconds: 2 s and 20 s on two cores."""
    if "ball-coreset" not in ALGORITHMS:
        say("ball-coreset is skipped: this version does not have it")
        return []
    table = []
    papers = {10**6: (2.0, "the paper: 40 s on 12 cores"), 10**7: (20.0, "the paper: about an hour")}
    for n in settings.ball:
        rows = clusters(n)
        seconds = best_of(1, partial(private_fit, rows, "ball-coreset", size=n, epsilon=BALL_EPSILON))
        goal, peer = papers.get(n, (None, ""))
        table.append(line(f"ball-coreset, {n:,} x 2", seconds=seconds, peer=peer, value=seconds, goal=goal, unit="s"))
    return table


def pieces(n: int) -> Iterator[Floats]:
    for first in range(0, n, PIECE):
        yield clusters(min(PIECE, n - first), seed=first)


def sample(settings: Settings, **_: Any) -> list[Row]:
    """`auto` on a sample for an error of 5%: against a fit of all rows, and against reading the columns of a file."""
    n, table = settings.parquet, []
    fit = partial(private_fit, algorithm="auto", size=n, sample="auto")
    fit(clusters(2000))
    with tempfile.TemporaryDirectory() as folder:
        path, flat = Path(folder) / "rows.parquet", Path(folder) / "rows.npy"
        sets.write_parquet(path, pieces(n))
        mapped = np.lib.format.open_memmap(flat, mode="w+", dtype=np.float64, shape=(n, 2))
        for first, rows in zip(range(0, n, PIECE), pieces(n), strict=True):
            mapped[first : first + PIECE] = rows
        for where, rows in (("memory-mapped", np.load(flat, mmap_mode="r")), ("in memory", np.array(mapped))):
            seconds = best_of(settings.repeats, partial(fit, rows))
            whole = best_of(1, partial(private_fit, rows, "auto", size=n))
            work = f"auto on a sample, {n:,} x 2 {where}"
            table.append(line(work, seconds=seconds, peer="a fit of all rows", against=whole, goal=0.05))
        reading = best_of(settings.repeats, partial(sets.only_read, path))
        seconds = best_of(settings.repeats, partial(fit, str(path)))
    work = f"auto on a sample from Parquet, {n:,} x 2"
    return [*table, line(work, seconds=seconds, peer="reading it", against=reading, goal=1.5)]


def parquet(settings: Settings, **_: Any) -> list[Row]:
    """Fits from a file against reading its two columns, each in a process of its own; peak memory."""
    n, table = settings.parquet, []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.parquet"
        sets.write_parquet(path, pieces(n))
        found = {what: in_own_process(what, path, n) for what in ("read", "read", "grid", "auto")}
    reading = found["read"]["seconds"]
    for name, goal in (("grid", 3.0), ("auto", 1.5)):
        seconds, peak = found[name]["seconds"], found[name]["peak_gib"]
        table.append(
            line(f"{name} from Parquet, {n:,} x 2", seconds=seconds, peer="reading it", against=reading, goal=goal)
        )
        table.append(
            line(f"{name} from Parquet: peak memory", seconds=seconds, value=peak, goal=1.0, unit="GiB", peer="")
        )
    return table


def mnist(settings: Settings, *, data: Path | None, quick: bool, say: Callable[[str], None], **_: Any) -> list[Row]:
    """784 dimensions, k = 10, against scikit-learn, the middle of runs in turn: how many rounds it takes is chance."""
    which = sets.utility_set("mnist_train")
    try:
        rows = sets.load(which, None if quick else sets.data_folder(data), rows=500 if quick else None)
    except DataError as error:
        say(f"mnist is skipped: {error}")
        return []
    both = partial(plain_fit, rows, k=which.k), partial(private_fit, rows, "auto", size=len(rows), k=which.k)
    turns = [[best_of(1, each) for each in both] for _ in range(settings.turns)]
    peer, seconds = map(median, zip(*turns, strict=True))
    work = f"auto, mnist {len(rows):,} x {which.dimension}, k = {which.k}"
    return [line(work, seconds=seconds, peer=PEER, against=peer, goal=0.5)]


def growth(settings: Settings, **_: Any) -> list[Row]:
    """How the time of a fit grows with n: the slope of log(seconds) over log(n); each point in a process of its own."""
    table = []
    for name in ("auto", "grid"):
        times = [
            min(in_own_process(name, None, n)["seconds"] for _ in range(settings.repeats)) for n in settings.growth
        ]
        slope = float(np.polyfit(np.log(settings.growth), np.log(times), 1)[0])
        by_rows = {f"{n:,}": round(each, 4) for n, each in zip(settings.growth, times, strict=True)}
        work = f"{name}: growth from {settings.growth[0]:,} to {settings.growth[-1]:,} rows"
        table.append(
            line(
                work,
                seconds=times[-1],
                peer="the paper: n^1.6 to n^1.7",
                value=slope,
                goal=1.0,
                unit="power of n",
                by_rows=by_rows,
            )
        )
    return table


def noise(settings: Settings, **_: Any) -> list[Row]:
    """Exact noise for a histogram against numpy's float Laplace noise, in turn so that a slow spell hits both."""
    floats, source, n = public_rng(0), OsSource(), settings.draws
    ours, theirs = [], []
    for _round in range(3 * settings.repeats):
        theirs.append(best_of(1, lambda: floats.laplace(size=n)))
        ours.append(best_of(1, lambda: discrete_laplace(n, inverse_scale=Fraction(1), source=source)))
    work = f"exact noise for {n:,} cells"
    return [line(work, seconds=min(ours), peer="numpy float Laplace", against=min(theirs), goal=10.0)]


def imports(settings: Settings, **_: Any) -> list[Row]:
    """The first command: a new process that imports `KMeans`, against one that imports scikit-learn's."""
    codes = ("import covey; covey.KMeans", "from sklearn.cluster import KMeans")
    times = [[start_seconds(code) for code in codes] for _ in range(1 + settings.repeats)][1:]  # in turn
    ours, theirs = (min(each) for each in zip(*times, strict=True))
    more = {"value": ours - theirs, "goal": 0.1, "unit": "s more"}
    return [line("import of KMeans", seconds=ours, peer="import of scikit-learn's", against=theirs, **more)]


PARTS: dict[str, Callable[..., list[Row]]] = {
    "fits": fits,
    "people": people,
    "imports": imports,
    "ball": ball,
    "mnist": mnist,
    "growth": growth,
    "sample": sample,
    "parquet": parquet,
    "noise": noise,
}


def run(
    *,
    data: Path | None,
    out: Path,
    quick: bool,
    parts: Sequence[str],
    with_diffprivlib: bool,
    say: Callable[[str], None],
) -> None:
    """Measure the parts and write one JSON document, with other parts as they were; lines are printed when known."""
    for name in parts:
        if name not in PARTS:
            raise ParameterError("parts", f"{name!r} is none of {', '.join(PARTS)}")
    settings, load = QUICK if quick else Settings(), os.getloadavg()[0]
    python = diffprivlib_python(say) if with_diffprivlib else None
    table = measured_before(out, parts, quick=quick)
    for name in parts or PARTS:
        for row in PARTS[name](settings, data=data, quick=quick, python=python, say=say):
            if quick:
                row["goal"] = row["met"] = None  # goals are for the full sizes
            table.append({"part": name, **row})
            say(in_words(row))
    table.sort(key=lambda row: list(PARTS).index(row["part"]))
    write_whole(out, (json.dumps(document(table, settings, quick=quick, load=load), indent=1) + "\n").encode())
    say(f"Wrote {out.name}")


def measured_before(out: Path, parts: Sequence[str], *, quick: bool) -> list[Row]:
    """What a file of results holds of other parts, if some are measured again."""
    if not parts or not out.exists():
        return []
    before = json.loads(out.read_text())
    return [row for row in before["table"] if before["quick"] is quick and row["part"] not in parts]


def document(table: Sequence[Row], settings: Settings, *, quick: bool, load: float) -> dict[str, Any]:
    own = [row for row in table if "algorithm" in row]
    return {
        "what": "seconds of one fit, best of a few; goals are the most that a value may be",
        "quick": quick,
        "rows": settings.rows[0],
        "columns": 2,
        "k": K,
        "epsilon": EPSILON,
        "seconds": {row["algorithm"]: round(row["seconds"], 4) for row in own},
        "times_scikit_learn": {row["algorithm"]: round(row["value"], 2) for row in own if row["algorithm"] != PEER},
        "table": rounded(table, digits=4),
        "settings": asdict(settings),
        "import_covey_cli_seconds": round(import_seconds(1 if quick else 10), 4),
        "cores": cores(),
        "cpus": os.cpu_count(),
        "load_average_before": round(load, 2),  # other work on the machine makes all times longer
        "machine": platform.machine(),
        "python": platform.python_version(),
        "versions": {name: version(name) for name in ("covey", "numpy", "scikit-learn", "pyarrow", "click")},
    }


def in_words(row: Row) -> str:
    value = "" if row["value"] is None else f"{row['value']:8.2f} {row['unit']}"
    verdict = "" if row["met"] is None else f"  goal {row['goal']:g}: {'met' if row['met'] else 'MISSED'}"
    peer = f"  ({row['peer']})" if row["peer"] else ""
    return f"{row['work']:46} {row['seconds']:9.3f} s {value}{verdict}{peer}"
