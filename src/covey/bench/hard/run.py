"""`covey bench utility --suite hard`: costs relative to no privacy where that is hard, with medians and worst runs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

import covey
from covey.bench.hard.cases import PEOPLE, Case, all_cases, quick_cases
from covey.bench.hard.families import FAMILIES, family
from covey.bench.harness import Found, Paper, Results, Row, Step, markdown_table
from covey.bench.plots import INK, log_axis, panels_of, png_of
from covey.bench.runner import Answer, Task
from covey.bench.sets import Floats, load, read, seed_of, table_of, utility_set
from covey.bench.utility.report import figure, geometric_mean
from covey.bench.utility.tasks import BASELINES, delta_of, fingerprint_once
from covey.bench.workload import mean_cost
from covey.fit.fit import fit
from covey.post.random import public_rng
from covey.public import Ball

HOURS = "Half a CPU hour for all of it, on two cores half as much."
SHARED = ("group", "case", "epsilon")


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Everything that decides what is measured: recorded with the results."""

    cases: tuple[Case, ...] = tuple(all_cases())
    epsilons: tuple[float, ...] = (0.1, 0.5, 1.0)
    made_up_rows: int | None = None


QUICK = Settings(cases=tuple(quick_cases()), epsilons=(1.0,), made_up_rows=2_000)


def make_plan(settings: Settings, _: Path | None) -> list[Step]:
    """Each case's baselines, and its runs."""
    steps = []
    for case in settings.cases:
        asked = {name: value for name, value in asdict(case).items() if name not in ("group", "draws", "runs")}
        of_rows = {"set": case.set, "n": case.n, "objective": case.objective, "made_up": settings.made_up_rows}
        for draw in range(case.draws):
            task = Task("baseline", {**of_rows, "draw": draw, "covey": covey.__version__}, f"baseline {case.set}")
            steps.append(Step("baselines", task, {**of_rows, "draw": draw}))
        for epsilon in settings.epsilons:
            shared = {"group": case.group, "case": case.label, "epsilon": epsilon, **of_rows}
            for run in range(case.runs):
                own = {"draw": run % case.draws, "run": run, "epsilon": epsilon, "code": fingerprint_once()}
                task = Task("fit", {**asked, **of_rows, **own}, f"{case.group}: {case.set}")
                steps.append(Step("fits", task, {**shared, "draw": own["draw"]}))
    return steps


def perform(task: Task, *, data: Path | None) -> Answer:
    """The cost of a set's centres without privacy, or of one release."""
    asked = task.parameters
    source = (asked["set"], asked["n"], asked["made_up"], asked["draw"], data)
    rows, k = rows_of(*source), k_of(asked["set"])
    if task.kind == "baseline":
        return {"cost": mean_cost(rows, BASELINES[asked["objective"]](rows, k=k), asked["objective"])}
    people: Row = {}
    if asked["rows_per_person"] is not None:
        people = {"person": ids_of(asked["set"], data), "rows_per_person": asked["rows_per_person"]}
    release = fit(
        rows,
        k=k,
        epsilon=asked["epsilon"],
        delta=None if asked["pure"] else delta_of(len(rows)),
        bounds=Ball(1.0) if asked["set"] == "gaussians_64" else (-1.0, 1.0),
        objective=asked["objective"],
        neighbours=asked["relation"],
        random_state=None,  # real noise
        errors="none",  # centres are the same with them
        **people,
    )
    return {"cost": mean_cost(rows, np.array(release.centres), asked["objective"])}


def k_of(name: str) -> int:
    if name in PEOPLE:
        return PEOPLE[name][1].k
    return family(name).k if is_family(name) else utility_set(name).k


def is_family(name: str) -> bool:
    return any(each.name == name for each in FAMILIES)


@lru_cache(maxsize=4)
def rows_of(name: str, n: int | None, made_up: int | None, draw: int, data: Path | None) -> Floats:
    """The rows of a case; with `n`, so many of them, always the same."""
    if is_family(name):
        return family(name).rows(draw, made_up)
    rows = read(PEOPLE[name][1], data or Path(".")) if name in PEOPLE else load(utility_set(name), data, rows=made_up)
    chosen = None if n is None else public_rng(seed_of("few", name, n)).choice(len(rows), n, replace=False)
    return rows if chosen is None else rows[np.sort(chosen)]


@lru_cache(maxsize=1)
def ids_of(name: str, data: Path | None) -> Any:
    column, which = PEOPLE[name]
    return table_of((data or Path(".")) / f"{which.file}.parquet", [column])[:, 0].astype(np.int64)


def collect(found: Found) -> Results:
    """Of every case the mean of its runs, their median and the worst, and the geometric means of the groups."""
    best = {tuple(shared.values()): answer["cost"] for shared, answer in found["baselines"]}
    runs: dict[tuple[Any, ...], list[float]] = defaultdict(list)
    for shared, answer in found["fits"]:
        group, case, epsilon, *of_rows = shared.values()
        runs[group, case, epsilon].append(answer["cost"] / best[tuple(of_rows)])
    cells: list[Row] = []
    for place, ratios in runs.items():
        error = float(np.std(ratios, ddof=1)) / len(ratios) ** 0.5 if len(ratios) > 1 else None
        middle, worst = float(np.median(ratios)), max(ratios)
        numbers = {"runs": len(ratios), "mean": float(np.mean(ratios)), "se": error, "median": middle, "worst": worst}
        cells.append({**dict(zip(SHARED, place, strict=True)), **numbers})
    return {"groups": list(means(cells)), "figures": {"cells": cells}}


def means(cells: list[Row]) -> Iterator[Row]:
    for group, epsilon in dict.fromkeys((row["group"], row["epsilon"]) for row in cells):
        own = [row for row in cells if (row["group"], row["epsilon"]) == (group, epsilon)]
        of = {name: geometric_mean([row[name] for row in own]) for name in ("mean", "median", "worst")}
        yield {"group": group, "epsilon": epsilon, "cells": len(own), **of}


def groups_table(results: Results) -> str:
    """Geometric means over the cases of a group."""
    rows = [
        [row["group"], f"{row['epsilon']:g}", str(row["cells"]), *(figure(row[each]) for each in NUMBERS)]
        for row in results["groups"]
    ]
    return markdown_table(["cases", "ε", "how many", "mean", "median", "worst run"], rows)


def cells_table(results: Results) -> str:
    """Every case: mean ± standard error, median, worst run, for each ε."""
    cells = results["figures"]["cells"]
    levels = sorted({row["epsilon"] for row in cells})
    found = {(row["group"], row["case"], row["epsilon"]): row for row in cells}
    rows = []
    for group, case in dict.fromkeys((row["group"], row["case"]) for row in cells):
        told = [found[group, case, each] for each in levels]
        words = [f"{figure(row['mean'], row['se'])}; {figure(row['median'])}; {figure(row['worst'])}" for row in told]
        rows.append([group, case, *words])
    return markdown_table(["group", "case", *(f"ε = {each:g}" for each in levels)], rows)


NUMBERS = ("mean", "median", "worst")


def figures(results: Results) -> Iterator[tuple[str, bytes]]:
    """A panel for each group: the median of every case as a dot, and a line up to its worst run."""
    cells = results["figures"]["cells"]
    groups = list(dict.fromkeys(row["group"] for row in cells))
    drawn, panels = panels_of(len(groups), 1, size=(9.0, 2.4 * len(groups)))
    colours = ("#D55E00", "#0072B2", "#009E73")
    levels = sorted({row["epsilon"] for row in cells})
    for panel, group in zip(panels, groups, strict=True):
        names = list(dict.fromkeys(row["case"] for row in cells if row["group"] == group))
        for place, (level, colour) in enumerate(zip(levels, colours, strict=False)):
            own = [row for row in cells if (row["group"], row["epsilon"]) == (group, level)]
            x = [names.index(row["case"]) + 0.2 * (place - 1) for row in own]
            panel.vlines(x, [row["median"] for row in own], [row["worst"] for row in own], color=colour, linewidth=1)
            panel.plot(x, [row["median"] for row in own], "o", color=colour, markersize=4, label=f"ε = {level:g}")
        panel.set_title(group, fontsize=9, color=INK, loc="left")
        panel.set_xticks(range(len(names)), names, rotation=20, ha="right", fontsize=7)
        panel.set_xlim(-0.6, len(names) - 0.4)
        panel.axhline(1.0, color=INK, linewidth=0.7)
        log_axis(panel, few=4, digits=4)
    panels[0].legend(fontsize=8, frameon=False)
    drawn.supylabel("cost relative to no privacy: median, up to the worst run", fontsize=8.5, color=INK)
    yield "hard", png_of(drawn)


PAPER = Paper(
    what="the cost of `auto` relative to no privacy, where that is hard",
    full=Settings(),
    quick=QUICK,
    plan=make_plan,
    perform=perform,
    collect=lambda found, _: collect(found),
    pages={"groups.md": groups_table, "cells.md": cells_table},
    figures=figures,
    lines=lambda results: [groups_table(results)],
)
