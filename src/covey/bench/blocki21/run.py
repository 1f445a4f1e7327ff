"""`covey bench blocki21`: what Blocki, Grigorescu and Mukherjee (ISIT 2021) say of samples and groups, measured."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

import covey
from covey.bench.blocki21.claims import cell, judge
from covey.bench.blocki21.plots import figures
from covey.bench.blocki21.tasks import SETS, perform
from covey.bench.harness import Found, Paper, Results, Row, Step, claims_table, markdown_table
from covey.bench.runner import Task

OBJECTIVES = ("k-means", "k-median")
ADD, REPLACE = "add-remove", "replace-one"


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Everything that decides what is measured: recorded with the results."""

    sets: tuple[str, ...] = tuple(SETS)
    epsilon: float = 1.0
    runs: int = 10
    n: int = 1_000_000
    ks: tuple[int, ...] = (5, 20)
    samples: tuple[int, ...] = (1_000, 10_000, 100_000)
    rows: tuple[int, ...] = (30_000, 100_000, 1_000_000)
    few: int = 10_000  # the sample whose cost is followed as the rows become more
    time_rows: tuple[int, ...] = (10**6, 10**7, 10**8)
    time_sample: int = 100_000
    time_runs: int = 3
    groups: tuple[tuple[float, tuple[int, ...]], ...] = ((0.5, (10, 100, 1_000)), (4.0, (10, 100)))  # by ε
    rates: tuple[float, ...] = (0.001, 0.01, 0.1)
    shares: tuple[float, ...] = (0.1, 0.5, 1.0)  # of rows that are drawn, with and without putting them back


FULL = Settings()
QUICK = Settings(
    sets=("clusters",),
    runs=2,
    n=6_000,
    ks=(5,),
    samples=(500, 2_000),
    rows=(3_000, 6_000),
    few=1_000,
    time_rows=(10_000, 40_000),
    time_sample=1_000,
    time_runs=1,
    groups=((0.5, (10, 40)),),
    rates=(0.01, 0.1),
)


def make_plan(settings: Settings) -> list[Step]:
    """Every task; those on the same rows come together."""
    plan: list[Step] = []
    version = {"covey": covey.__version__}

    def add(figure: str, kind: str, **own: Any) -> None:
        label = f"{figure} {own.get('n', '')}"
        plan.append(Step(figure, Task(kind, {**own, **version}, label, alone=kind == "time"), own))

    def add_fits(figure: str, **own: Any) -> None:
        by_size = [(ADD, each) for each in (*settings.samples, None)]
        by_rows = [(ADD, None), *((relation, each) for relation in (ADD, REPLACE) for each in (settings.few, "auto"))]
        for relation, sample in by_size if figure == "samples" else by_rows:
            more = {"sample": sample, "relation": relation, "epsilon": settings.epsilon, "runs": settings.runs}
            add(figure, "fit", **own, **more)

    for which in settings.sets:
        for n in sorted({settings.n, *settings.rows}):
            for objective in OBJECTIVES:
                for k in settings.ks if n == settings.n else ():
                    add_fits("samples", which=which, n=n, k=k, objective=objective)
                if n in settings.rows:
                    add_fits("rows", which=which, n=n, k=settings.ks[0], objective=objective)
    for epsilon, groups in settings.groups:
        for rate, group in product(settings.rates, groups):
            add("group", "group", epsilon=epsilon, rate=rate, group=group)
    for share in settings.shares:
        add("copies", "copies", epsilon=1.0, share=share, n=1_000)
    fixed = {"k": settings.ks[0], "sample": settings.time_sample, "epsilon": settings.epsilon}
    for n in settings.time_rows:
        add("times", "time", n=n, **fixed, runs=settings.time_runs)
    return plan


def collect(found: Found, settings: Settings) -> Results:
    """All figures as tables, and the paper's statements next to what was measured."""
    best: dict[tuple[Any, ...], float] = {}
    for own, answer in found["samples"] + found["rows"]:
        best[cell(own)] = min(*answer["costs"], best.get(cell(own), np.inf))
    tables: dict[str, list[Row]] = {}
    for figure in ("samples", "rows"):
        tables[figure] = [{**own, **summary(answer, best[cell(own)])} for own, answer in found[figure]]
    tables["times"] = [{**own, **answer} for own, answer in found["times"]]
    tables["group"] = [{**own, **step} for own, answer in found["group"] for step in answer["curve"]]
    ends = ("naive", "enough", "amplified", "largest_loss")
    tables["promises"] = [{**own, **{name: answer[name] for name in ends}} for own, answer in found["group"]]
    tables["copies"] = [{**own, **answer} for own, answer in found["copies"]]
    sets = [{"name": name, "stands_in": text} for name, text in SETS.items() if name in settings.sets]
    return {"sets": sets, "claims": judge(tables), "figures": tables}


def summary(answer: Row, best: float) -> Row:
    """Excess = cost/best - 1 with its standard error, and in how many runs another sample told the cost within 5%."""
    excess = np.array(answer["costs"]) / best - 1
    parts = np.array(answer["parts"])
    return {
        "size": answer["size"],
        "excess": float(excess.mean()),
        "se": float(excess.std(ddof=1)) / len(excess) ** 0.5,
        "told": float((np.abs(parts - 1) <= 0.05).mean()) if len(parts) else None,
    }


def excess_text(results: Results) -> str:
    """Excess cost by size of the sample, a line for each set, objective and k."""
    table = results["figures"]["samples"]
    samples = list(dict.fromkeys(row["sample"] for row in table))
    lines = []
    for key in dict.fromkeys((row["which"], row["objective"], row["k"]) for row in table):
        own = {row["sample"]: row for row in table if (row["which"], row["objective"], row["k"]) == key}
        lines.append([f"{key[0]}, {key[1]}, k = {key[2]}", *(percent(own[each]) for each in samples)])
    return markdown_table(["excess cost", *("all rows" if each is None else f"{each:,}" for each in samples)], lines)


def rows_text(results: Results) -> str:
    """Excess cost by the number of rows, for a fixed sample, the usual one and all rows."""
    table = results["figures"]["rows"]
    many = list(dict.fromkeys(row["n"] for row in table))
    lines = []
    for key in dict.fromkeys((row["which"], row["objective"], row["relation"], row["sample"]) for row in table):
        names = ("which", "objective", "relation", "sample")
        own = {row["n"]: row for row in table if tuple(row[name] for name in names) == key}
        sizes = ", ".join(f"{own[n]['size']:,.0f}" for n in many)
        sample = {None: "all rows", "auto": f"auto ({sizes})"}.get(key[3]) or f"{key[3]:,}"
        lines.append([", ".join(key[:3]), sample, *(percent(own[n]) for n in many)])
    return markdown_table(["excess cost", "sample", *(f"n = {n:,}" for n in many)], lines)


def percent(row: Row) -> str:
    return f"{100 * row['excess']:.1f} ± {100 * row['se']:.1f}%"


def times_text(results: Results) -> str:
    lines = [[f"{r['n']:,}", f"{r['sample_cpu']:.2g}", f"{r['all_cpu']:.2g}"] for r in results["figures"]["times"]]
    sample = results["settings"]["time_sample"]
    return markdown_table(["n", f"CPU seconds, a sample of {sample:,}", "all rows"], lines)


def groups_text(results: Results) -> str:
    """For every rate and group: the promises, and what a mechanism that loses all it may does lose."""
    lines = [
        [
            f"{row['epsilon']:g}",
            f"{row['rate']:g}",
            f"{row['group']:,}",
            f"{row['naive']:g}",
            f"T = {row['enough']}: {row['enough'] * row['epsilon']:g}",
            f"{row['amplified']:.3g}",
            f"{row['largest_loss']:.3g}",
        ]
        for row in results["figures"]["promises"]
    ]
    heads = ["ε", "ξ", "g", "naive ε", "threshold ε, δ at most 10^-6", "amplified ε", "largest loss of the mechanism"]
    return markdown_table(heads, lines)


def lines(results: Results) -> list[str]:
    """What the terminal shows: the tables and the verdicts."""
    verdicts = [
        f"{'reproduced' if claim['reproduced'] else 'not reproduced'}: {claim['paper']} ({claim['measured']})"
        for claim in results["claims"]
    ]
    return [excess_text(results), rows_text(results), times_text(results), groups_text(results), *verdicts]


PAPER = Paper(
    what="Blocki, Grigorescu, Mukherjee 2021: samples and groups, measured with Covey",
    notes={"shared": "other programs may have run at the same time: times are CPU times"},
    full=FULL,
    quick=QUICK,
    plan=lambda settings, _: make_plan(settings),
    perform=perform,
    collect=collect,
    pages={
        "claims.md": lambda results: claims_table(results["claims"]),
        "excess.md": excess_text,
        "rows.md": rows_text,
        "times.md": times_text,
        "groups.md": groups_text,
    },
    figures=figures,
    lines=lines,
)
