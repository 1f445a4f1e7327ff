"""`covey bench su16`: the evaluation of Su et al. 2016, figure by figure, with Covey's algorithms."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

import covey
from covey.bench import sets
from covey.bench.harness import Found, Paper, Results, Row, Step, claims_table
from covey.bench.runner import Answer, Task
from covey.bench.su16.claims import claims_lines, judge
from covey.bench.su16.plots import figures
from covey.bench.su16.settings import FULL, QUICK, Settings
from covey.bench.su16.tasks import perform

TIMED = ("lloyd", "grid", "grid, printed", "hybrid", "hybrid, printed")
FORCED = ("hybrid, forced", "hybrid, forced, printed")


def make_plan(settings: Settings, folder: Path | None) -> list[Step]:
    """Every task of every figure, most important figures first."""
    plan: list[Step] = []
    fixed, n = {"starts": settings.starts, "covey": covey.__version__}, settings.made_up_rows
    named = []
    for each in sets.SU16:
        rows = sets.load(each, folder, rows=n)
        shared = {"set": each.name, "stands_in": what_it_is(each, settings)}
        source = {**fixed, "set": each.name, "rows": sets.checksum(rows), "n": n}  # other rows, another task
        named.append((source, shared))
        plan.append(Step("kmeans", Task("kmeans", source, f"kmeans {each.name}"), {**shared, **width(rows)}))

    def add(figure: str, kind: str, source: Row, shared: Row, *, alone: bool = False, **parameters: Any) -> None:
        label = " ".join([kind, *(str(shared[name]) for name in ("set", "algorithm", "d") if name in shared)])
        plan.append(Step(figure, Task(kind, {**source, **parameters}, label, alone), shared))

    for variant, runs in settings.runs:
        for source, shared in named:
            for epsilon in settings.epsilons:
                shares = {**shared, "algorithm": variant, "epsilon": epsilon}
                add("figure1", "fit", source, shares, variant=variant, epsilon=epsilon, runs=runs)
    adult = next(pair for pair in named if pair[1]["set"] == "Adult-num")
    least = settings.epsilons[0]
    for variant in FORCED:
        shares = {**adult[1], "algorithm": variant, "epsilon": least}
        add("forced", "fit", adult[0], shares, variant=variant, epsilon=least, runs=settings.forced_runs)
    for source, shared in named:
        add(
            "figure3",
            "blocks",
            source,
            shared,
            epsilon=settings.block_epsilon,
            exponents=list(settings.block_exponents),
            runs=settings.block_runs,
        )
        for run in range(settings.search_runs):
            add("figure4", "search", source, {**shared, "run": run}, rounds=settings.search_rounds, run=run)
    for d in settings.heat_sizes:
        for k in settings.heat_sizes:
            made = sets.checksum(sets.gaussian_clusters(d=d, k=k, n=settings.heat_rows)[0])
            size: Row = {"d": d, "k": k}
            source = {**fixed, **size, "n": settings.heat_rows, "rows": made}
            add("heat kmeans", "kmeans", source, size)
            for variant, runs in settings.heat_runs:
                shares = {**size, "algorithm": variant}
                add("figure2", "fit", source, shares, variant=variant, epsilon=settings.heat_epsilon, runs=runs)
    for source, shared in named:
        parameters = {"epsilon": settings.time_epsilon, "variants": list(TIMED), "runs": settings.time_runs}
        add("figure7", "time", source, shared, alone=True, **parameters)
    return plan


def width(rows: sets.Floats) -> Row:
    """How much wider the bounds of a set are than its rows, along the column where they are widest."""
    return {"times_as_wide": float((2 / np.ptp(rows, axis=0)).max())}


def what_it_is(which: sets.DataSet, settings: Settings) -> str:
    """What the rows are where they are not the paper's own, or nothing."""
    return "made-up clusters" if settings.made_up_rows else which.stands_in


def collect(answers: Found, settings: Settings) -> Results:
    """All figures as tables, and the paper's claims next to what was measured."""
    base = {shared["set"]: {**shared, **answer} for shared, answer in answers["kmeans"]}
    heat_base = {(shared["d"], shared["k"]): answer["baseline"] for shared, answer in answers["heat kmeans"]}
    curves = [
        {**shared, **told(answer), "baseline": base[shared["set"]]["baseline"]} for shared, answer in answers["figure1"]
    ]
    heat = []
    for shared, answer in answers["figure2"]:
        baseline = heat_base[shared["d"], shared["k"]]
        heat.append({**shared, **told(answer), "baseline": baseline, "difference": answer["nicv"] - baseline})
    tables: dict[str, list[Row]] = {
        "figure1": [row for row in curves if not row["algorithm"].startswith("hybrid")],
        "figure2": [row for row in heat if not row["algorithm"].startswith("hybrid")],
        "figure3": [
            {**shared, **row, "baseline": base[shared["set"]]["baseline"]}
            for shared, answer in answers["figure3"]
            for row in answer["table"]
        ],
        "figure4": traces(base, answers["figure4"], settings.search_rounds),
        "figure5": [row for row in curves if row["algorithm"] in TIMED],
        "figure6": [row for row in heat if row["algorithm"] in TIMED and row["algorithm"] != "lloyd"],
        "figure7": [
            {**shared, "algorithm": variant, "cpu": answer["cpu"][variant], "wall": answer["wall"][variant]}
            for shared, answer in answers["figure7"]
            for variant in answer["cpu"]
        ],
    }
    forced = [{**shared, **told(answer)} for shared, answer in answers["forced"]]
    about = [
        {
            "name": each.name,
            "rows": base[each.name]["size"],
            "d": each.dimension,
            "k": each.k,
            "rows_in_the_paper": each.paper_rows,
            "stands_in": what_it_is(each, settings),
            "times_as_wide": base[each.name]["times_as_wide"],
            "baseline": base[each.name]["baseline"],
        }
        for each in sets.SU16
    ]
    return {
        "sets": about,
        "measured": when(answers),
        "claims": judge(tables, forced, about),
        "figures": tables,
        "forced": forced,
    }


def told(answer: Answer) -> Answer:
    """An answer as tables have it; when it was measured is told for all cells of an algorithm together."""
    return {name: value for name, value in answer.items() if name != "measured"}


def when(answers: Found) -> list[Row]:
    """On which day and by which commit the cells of an algorithm were measured, by figure."""
    counts = Counter(
        (figure, shared.get("algorithm", ""), answer["measured"])
        for figure, found in answers.items()
        for shared, answer in found
    )
    heads = ("figure", "algorithm", "measured", "cells")
    return [dict(zip(heads, (*what, cells), strict=True)) for what, cells in counts.items()]


def traces(base: dict[str, Row], found: list[tuple[Row, Answer]], rounds: int) -> list[Row]:
    """NICV by round, from 1: Lloyd's algorithm (mean of all starts) and the genetic search (mean of all runs)."""
    table = []
    stands_in = {shared["set"]: shared["stands_in"] for shared, _ in found}
    for name, answer in base.items():
        lloyd = answer["by_round"] + answer["by_round"][-1:] * rounds
        gene = np.mean([each["by_round"] for shared, each in found if shared["set"] == name], axis=0).tolist()
        for what, values in (("lloyd", lloyd[1 : rounds + 1]), ("genetic search", gene)):
            shared = {"set": name, "stands_in": stands_in[name], "what": what}
            for i, value in enumerate(values, start=1):
                table.append({**shared, "round": i, "nicv": value, "baseline": answer["baseline"]})
    return table


def claims_page(results: Results) -> str:
    """The claims, and which sets are stand-ins."""
    stand_ins = "; ".join(f"{each['name']} ({each['stands_in']})" for each in results["sets"] if each["stands_in"])
    return f"{claims_table(results['claims'])}\n\nNot the paper's own rows: {stand_ins}."


PAPER = Paper(
    what="Su et al. 2016, redone with Covey",
    notes={"shared": "other programs may have run at the same time: compare times within one run only"},
    full=FULL,
    quick=QUICK,
    plan=make_plan,
    perform=perform,
    collect=collect,
    pages={"claims.md": claims_page},
    figures=figures,
    lines=lambda results: claims_lines(results["claims"]),
)
