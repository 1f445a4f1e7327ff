"""`covey bench ipsn17`: the evaluation of Feldman, Xiang, Zhu and Rus 2017 (IPSN), with Covey's `ball-coreset`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import covey
from covey.algorithms.registry import ALGORITHMS
from covey.bench.harness import Found, Paper, Results, Row, Step, markdown_table
from covey.bench.ipsn17.plots import figures
from covey.bench.ipsn17.tasks import SETS, VARIANTS, perform, whole
from covey.bench.runner import Answer, Task
from covey.bench.sets import checksum

SHARED = ("set", "n", "k", "variant", "relation", "epsilon")
RELATIONS = ("replace-one", "add-remove")
PAPER_TABLE = {  # the smallest feasible epsilon that the paper reports, by (k, n)
    (1, 100_000): 0.02,
    (1, 500_000): 0.01,
    (1, 1_000_000): 0.007,
    (5, 100_000): 0.8,
    (5, 500_000): 0.3,
    (5, 1_000_000): 0.15,
    (10, 100_000): 3.5,
    (10, 500_000): 1.0,
    (10, 1_000_000): 0.6,
}
PAPER_SLOPES = {1: 1.6, 5: 1.7}


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Everything that decides what is measured: recorded with every result."""

    made_up: bool = False
    runs: int = 10
    sizes: tuple[int, ...] = (100_000, 500_000, 1_000_000)
    ladders: tuple[tuple[int, tuple[float, ...]], ...] = (  # k, and the epsilons of figure 5
        (1, (0.0005, 0.001, 0.002, 0.004, 0.007, 0.01, 0.02, 0.05, 0.1, 0.5)),
        (5, (0.005, 0.01, 0.02, 0.04, 0.08, 0.15, 0.3, 0.8, 2.0)),
        (10, (0.01, 0.02, 0.04, 0.08, 0.15, 0.3, 0.6, 1.0, 3.5)),
    )
    printed: tuple[tuple[int, tuple[float, ...]], ...] = ((1, (0.05, 0.2)), (5, (0.8, 2.0, 5.0)), (10, (3.5, 10.0)))
    printed_runs: int = 2
    taxi_rows: int = 93_246
    centres: tuple[int, ...] = (1, 2, 5, 10, 15, 20)  # k of figure 6
    centres_epsilons: tuple[float, ...] = (0.15, 0.5, 2.0)
    compared: tuple[int, ...] = (20_000, 100_000, 300_000, 1_000_000)  # n of figure 7
    compared_k: int = 5
    compared_epsilon: float = 0.5
    time_sizes: tuple[int, ...] = (100_000, 300_000, 1_000_000, 3_000_000, 10_000_000)
    time_sizes_4d: tuple[int, ...] = (30_000, 100_000, 300_000, 1_000_000)
    time_k: tuple[int, ...] = (1, 5)
    time_runs: int = 3


FULL = Settings()
QUICK = Settings(
    made_up=True,
    runs=2,
    sizes=(3_000, 9_000),
    ladders=((1, (0.05, 1.0)), (5, (0.01, 1.0, 4.0))),
    printed=((1, (4.0,)),),
    printed_runs=1,
    taxi_rows=2_000,
    centres=(1, 3),
    centres_epsilons=(1.0,),
    compared=(4_000, 8_000),
    compared_epsilon=2.0,
    time_sizes=(2_000, 8_000),
    time_sizes_4d=(2_000, 8_000),
    time_runs=1,
)


def make_plan(settings: Settings, folder: Path | None) -> list[Step]:
    """Every task of every figure. Tasks on the same rows come together, so that they are read once."""
    plan: list[Step] = []
    sums = {name: "made up" if folder is None else checksum(whole(name, folder)) for name in SETS}

    def add(figure: str, kind: str, which: str, n: int, k: int, **more: Any) -> None:
        own = {"set": which, "n": n, "k": k, "rows": sums[which], "covey": covey.__version__, **more}
        task = Task(kind, own, f"{figure} n = {n:,}", alone=kind == "time")
        plan.append(Step(figure, task, {name: own.get(name) for name in SHARED}))

    def add_error(figure: str, which: str, n: int, k: int, *, runs: int, **more: Any) -> None:
        add("baseline", "baseline", which, n, k)
        add(figure, "error", which, n, k, runs=runs, **more)

    for which, n in (*(("cabs", n) for n in settings.sizes), ("taxi", settings.taxi_rows)):
        for k, ladder in settings.ladders:
            for relation in RELATIONS:
                for epsilon in ladder:
                    more = {"variant": "ball", "relation": relation, "epsilon": epsilon}
                    add_error("figure5", which, n, k, runs=settings.runs, **more)
        for k, ladder in settings.printed if n == settings.sizes[0] else ():
            for epsilon in ladder:
                more = {"variant": "ball, printed form", "relation": "replace-one", "epsilon": epsilon}
                add_error("figure5", which, n, k, runs=settings.printed_runs, **more)
    for k in settings.centres:
        for epsilon in settings.centres_epsilons:
            more = {"variant": "ball", "relation": "replace-one", "epsilon": epsilon}
            add_error("figure6", "cabs", settings.sizes[-1], k, runs=settings.runs, **more)
    for n in settings.compared:
        for variant in ("ball", "net"):
            if VARIANTS[variant][0] in ALGORITHMS:
                more = {"variant": variant, "relation": "replace-one", "epsilon": settings.compared_epsilon}
                add_error("figure7", "cabs", n, settings.compared_k, runs=settings.runs, **more)
    timing: Row = {"relation": "replace-one", "runs": settings.time_runs}
    budget = 4.0 if settings.made_up else 1.0
    for k in settings.time_k:
        for n in settings.time_sizes:
            add("figure3", "time", "cabs", n, k, variant="ball", epsilon=0.8, **timing)
        for n in settings.time_sizes_4d:
            for variant in ("ball", "ball, parts of 10,000"):
                add("figure4", "time", "trips", n, k, variant=variant, epsilon=budget, **timing)
    return plan


def collect(answers: Found) -> Results:
    """All figures as tables, Table 2 beside the paper's, and slopes."""
    best = {(shared["set"], shared["n"], shared["k"]): answer["cost"] for shared, answer in answers["baseline"]}
    tables: dict[str, list[Row]] = {}
    for figure in ("figure3", "figure4"):
        tables[figure] = [{**shared, **answer} for shared, answer in answers[figure]]
    for figure in ("figure5", "figure6", "figure7"):
        tables[figure] = [
            {**shared, **summary(answer, best[shared["set"], shared["n"], shared["k"]])}
            for shared, answer in answers[figure]
        ]
    return {
        "sets": [
            {"name": each.name, "file": each.file, "d": each.dimension, "stands_in": each.stands_in}
            for each in SETS.values()
        ],
        "table2": table2(tables["figure5"]),
        "slopes": slopes([*tables["figure3"], *tables["figure4"]]),
        "figures": tables,
    }


def summary(answer: Answer, base: float) -> Row:
    """error = (cost - cost*)/cost*, its standard error, and the coreset's size."""
    errors = np.array(answer["costs"]) / base - 1
    if answer["refused"] or len(errors) == 0:
        return {"refused": True, "error": None, "se": None, "size": None, "runs": len(errors)}
    se = float(errors.std(ddof=1)) / len(errors) ** 0.5 if len(errors) > 1 else 0.0
    size = float(np.mean(answer["sizes"]))
    return {"refused": False, "error": float(errors.mean()), "se": se, "size": size, "runs": len(errors)}


def table2(rows: list[Row]) -> list[Row]:
    """For every k and n: the smallest epsilon from which on no run is refused and the mean error is below 1."""
    table = []
    keys = dict.fromkeys((row["set"], row["n"], row["k"], row["variant"], row["relation"]) for row in rows)
    for key in keys:
        own = [r for r in rows if (r["set"], r["n"], r["k"], r["variant"], r["relation"]) == key]
        smallest, at = None, None
        for row in sorted(own, key=lambda r: -r["epsilon"]):
            if row["refused"] or row["error"] >= 1:
                break
            smallest, at = row["epsilon"], row["error"]
        which, n, k, variant, relation = key
        paper = PAPER_TABLE.get((k, n)) if which == "cabs" else None
        shared = {"set": which, "n": n, "k": k, "variant": variant, "relation": relation}
        table.append({**shared, "smallest_epsilon": smallest, "error_there": at, "paper": paper})
    return table


def table2_text(table: list[Row]) -> str:
    """Table 2 as a Markdown table: k by n, the paper's value beside ours."""
    lines = []
    for row in table:
        if row["relation"] != "replace-one":
            continue
        same = [r for r in table if all(r[name] == row[name] for name in ("set", "n", "k", "variant"))]
        found = {r["relation"]: r["smallest_epsilon"] for r in same}
        shown = [
            f"{found[each]:g}" if found.get(each) is not None else "none tried" if each in found else "-"
            for each in RELATIONS
        ]
        paper = "-" if row["paper"] is None else f"{row['paper']:g}"
        lines.append([str(row["k"]), f"{row['n']:,} {row['set']}", row["variant"], paper, *shown])
    return markdown_table(["k", "rows", "form", "paper", *RELATIONS], lines)


def slopes(rows: list[Row]) -> list[Row]:
    """The slope of log(CPU seconds) against log(n), by least squares, for each curve of figures 3 and 4."""
    table = []
    for key in dict.fromkeys((row["set"], row["variant"], row["k"]) for row in rows):
        own = [row for row in rows if (row["set"], row["variant"], row["k"]) == key]
        x, y = np.log([row["n"] for row in own]), np.log([row["cpu"] for row in own])
        last = max(own, key=lambda row: row["n"])
        paper = PAPER_SLOPES.get(key[2]) if key[0] == "cabs" else None
        table.append(
            {
                "set": key[0],
                "variant": key[1],
                "k": key[2],
                "slope": float(np.polyfit(x, y, 1)[0]),
                "paper": paper,
                "largest": last["n"],
                "seconds": last["cpu"],
            }
        )
    return table


def slopes_text(table: list[Row]) -> str:
    """The growth of the running time as a Markdown table."""
    lines = []
    for row in table:
        paper = "-" if row["paper"] is None else f"n^{row['paper']:g}"
        shown = [f"n^{row['slope']:.2f}", paper, f"{row['largest']:,}", f"{row['seconds']:.2f}"]
        lines.append([str(SETS[row["set"]].dimension), str(row["k"]), row["variant"], *shown])
    return markdown_table(["columns", "k", "form", "growth", "paper", "rows", "seconds"], lines)


PAPER = Paper(
    what="Feldman, Xiang, Zhu, Rus 2017 (IPSN), redone with Covey",
    notes={"times": "CPU seconds of a process on one core, the best of the runs; wall times are in the tables"},
    full=FULL,
    quick=QUICK,
    plan=make_plan,
    perform=perform,
    collect=lambda answers, _: collect(answers),
    pages={
        "table2.md": lambda results: table2_text(results["table2"]),
        "slopes.md": lambda results: slopes_text(results["slopes"]),
    },
    figures=figures,
    lines=lambda results: [table2_text(results["table2"]), slopes_text(results["slopes"])],
)
