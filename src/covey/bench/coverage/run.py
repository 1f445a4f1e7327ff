"""`covey bench coverage`: do intervals hold as often as they say? Sizes, costs, places, doubt and the excess bound."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import covey
from covey.bench.coverage.bars import bars_table, judge
from covey.bench.coverage.cells import tables_of
from covey.bench.coverage.plots import figures
from covey.bench.coverage.suite import OTHERS, SUITE, find_set, rows_of
from covey.bench.coverage.tasks import BALL, BOXES_UP_TO, GRID_UP_TO, perform
from covey.bench.harness import Found, Paper, Results, Row, Say, Step
from covey.bench.runner import Report, Store, Task
from covey.bench.sets import checksum, data_folder
from covey.bench.utility.tasks import fingerprint_once
from covey.errors import ParameterError

COLUMNS = {"auto": 16, "levels": BOXES_UP_TO, "grid": GRID_UP_TO}  # at most
METHODS = tuple(COLUMNS)
SECONDS = {"fits": (0.15, 4.5e-6, 1e-7), "balls": (0.5, 0.0, 0.0), "reruns": (0.5, 1e-5, 2e-7)}  # a fit, a row, n·k
LONGER = {3: 2.0, 4: 3.0}  # with so many columns; with more there are no boxes


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Everything that decides what is measured: recorded with the results."""

    made_up_rows: int | None = None  # in place of those of every set
    sets: tuple[str, ...] = tuple(each.name for each in SUITE)
    methods: tuple[str, ...] = METHODS
    epsilons: tuple[float, ...] = (0.1, 0.5, 1.0)
    fits: int = 200  # of a cell
    reruns: int = 60
    balls: int = 40
    ball_sets: tuple[str, ...] = ("s1", "lifesci", "gas_emissions", "nyc_pickups_5")
    ball_epsilons: tuple[float, ...] = (0.5, 1.0)
    together: tuple[tuple[str, int], ...] = (("fits", 20), ("balls", 10), ("reruns", 5))  # fits of a task
    code: str = ""  # a fingerprint of the sources that were measured


FULL = Settings()
QUICK = Settings(
    made_up_rows=2_000,
    sets=("unbalance", "lifesci"),
    epsilons=(0.5, 1.0),
    fits=4,
    reruns=2,
    balls=2,
    ball_sets=("lifesci",),
    ball_epsilons=(1.0,),
)


def make_plan(settings: Settings, folder: Path | None) -> list[Step]:
    """Every task. Those of one set come together, so that its rows are read once."""
    plan: list[Step] = []
    for which in (each for each in SUITE if each.name in settings.sets):
        rows = rows_of(which.name, settings.made_up_rows, folder)
        stamp = {"rows": checksum(rows), "covey": covey.__version__, "code": settings.code}
        for epsilon in settings.epsilons:
            for method in (each for each in settings.methods if which.dimension <= COLUMNS[each]):
                cell = {"set": which.name, "k": which.k, "method": method, "epsilon": epsilon, "n": len(rows)}
                plan += steps("fits", cell, stamp, settings.fits, settings)
                if method != "grid" and which.dimension <= BOXES_UP_TO:
                    plan += steps("reruns", cell, stamp, settings.reruns, settings)
        for epsilon in settings.ball_epsilons if which.name in settings.ball_sets else ():
            cell = {"set": which.name, "k": which.k, "method": BALL, "epsilon": epsilon, "n": len(rows)}
            plan += steps("balls", cell, stamp, settings.balls, settings)
    return plan


def steps(kind: str, cell: Row, stamp: Row, many: int, settings: Settings) -> Iterator[Step]:
    """The fits of a cell, some of them in each task."""
    together = dict(settings.together)[kind]
    shared = {**cell, "gate": round(cell["n"] * cell["epsilon"] / cell["k"], 1)}
    for first in range(0, many, together):
        own = {"first": first, "many": min(together, many - first), "n": settings.made_up_rows}
        yield Step(kind, Task(kind, {**cell, **stamp, **own}, f"{kind} {cell['method']} {cell['set']}"), shared)


def cpu_hours(plan: Sequence[Step], done: Store) -> float:
    """Of the tasks that are left, by how long fits took on one core of an ordinary machine: a rough number."""
    total = 0.0
    for step in plan:
        if step.task.key not in done.answers:
            each, row, pair = SECONDS[step.task.kind]
            n, k = min(step.shared["n"], 150_000), step.shared["k"]
            times = LONGER.get(find_set(step.shared["set"]).dimension, 1.0) * step.task.parameters["many"]
            total += times * (each + row * n + pair * n * k)
    return total / 3600


def collect(found: Found) -> Results:
    """A table for each kind of statement, and the bars."""
    tables = tables_of(found)
    named = dict.fromkeys(row["set"] for table in tables.values() for row in table)
    others = {each.name for each in OTHERS}
    return {
        "sets": [
            {"name": name, "d": find_set(name).dimension, "k": find_set(name).k, "new": name in others}
            for name in named
        ],
        "bars": judge(tables),
        "figures": tables,
    }


PAPER = Paper(
    what="how often what releases say about their own errors holds",
    notes={"times": "CPU seconds of a process on one core, of the middle fit of a cell; other programs ran beside it"},
    full=FULL,
    quick=QUICK,
    plan=make_plan,
    perform=perform,
    collect=lambda found, _: collect(found),
    pages={"bars.md": lambda results: bars_table(results["bars"])},
    figures=figures,
    lines=lambda results: [bars_table(results["bars"])],
)


def run(
    *,
    data: Path | None,
    out: Path,
    quick: bool,
    limits: dict[str, Any],
    keep: bool,
    report: Report | None,
    say: Say,
) -> None:
    """Measure what is not measured yet, then write every file. `limits` replace some of the settings."""
    for name, known in (("sets", FULL.sets), ("methods", METHODS)):
        for each in limits.get(name, ()):
            if each not in known:
                raise ParameterError(name, f"{each!r} is none of {', '.join(known)}")
    store = Store(out / "tasks.jsonl")
    stamped = (last_code(store) if keep else None) or fingerprint_once()
    settings = replace(QUICK if quick else FULL, code=stamped, **limits)
    hours = cpu_hours(make_plan(settings, None if quick else data_folder(data)), store)
    say(f"About {hours:.1f} CPU hours are left, on two cores half as many.")
    paper = replace(PAPER, full=settings, quick=settings)
    paper.run(data=data, out=out, quick=quick, report=report, say=say)


def last_code(store: Store) -> str | None:
    """The fingerprint of the sources that were measured last."""
    keys = list(store.answers)
    return str(json.loads(keys[-1].partition(" ")[2])["code"]) if keys else None
