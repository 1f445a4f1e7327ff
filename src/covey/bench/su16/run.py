"""`covey bench su16`: the evaluation of Su et al. 2016, figure by figure, with Covey's algorithms.

Writes results.json, claims.md, and a CSV and a PNG per figure. Finished tasks are kept in tasks.jsonl, so that an
interrupted run goes on where it stopped and a finished one only draws again.
"""

from __future__ import annotations

import csv
import io
import json
import os
import platform
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import covey
from covey.bench import sets
from covey.bench.runner import Store, Task, run_tasks
from covey.bench.su16.claims import claims_lines, claims_table, judge
from covey.bench.su16.settings import FULL, QUICK, Settings
from covey.bench.su16.tasks import perform
from covey.files import write_whole

Row = dict[str, Any]
TIMED = ("lloyd", "grid", "hybrid")


def run(
    *,
    data: Path | None,
    out: Path,
    quick: bool,
    report: Callable[[int, int, str], None] | None,
    say: Callable[[str], None],
) -> None:
    """Measure what is not measured yet, then write every file. `report(done, of, what)` follows the tasks."""
    settings = QUICK if quick else FULL
    folder = None if quick else sets.data_folder(data)
    store = Store(out / "tasks.jsonl")
    plan = make_plan(settings, rows_of(settings, folder))
    tasks = list({task.key: task for _, task, _ in plan}.values())
    ready = sum(task.key in store.answers for task in tasks)
    say(f"{len(tasks)} tasks, {ready} of them already done. Interrupt at any time: a later call goes on.")
    work = partial(perform, data=None if folder is None else str(folder))
    run_tasks(tasks, work=work, store=store, report=report)
    results = collect(plan, store, settings)
    write(results, out)
    drawn = draw(results, out)
    say("\n".join(claims_lines(results["claims"])))
    say("Wrote results.json, claims.md, a CSV" + (" and a PNG per figure." if drawn else " per figure."))
    if not drawn:
        say("The PNGs need matplotlib, which is not installed: pip install 'covey[plot]'")


def rows_of(settings: Settings, folder: Path | None) -> dict[str, str]:
    """The checksum of each set's rows: a task that used other rows is another task."""
    if folder is None:
        rows = settings.made_up_rows or 0
        return {each.name: sets.checksum(sets.made_up(each, rows=rows)) for each in sets.SU16}
    return {each.name: sets.checksum(sets.read(each, folder)) for each in sets.SU16}


def make_plan(settings: Settings, rows: dict[str, str]) -> list[tuple[str, Task, Row]]:
    """Every task of every figure, most important figures first: (figure, task, what its rows of the table share)."""
    plan: list[tuple[str, Task, Row]] = []
    fixed = {"starts": settings.starts, "covey": covey.__version__}
    named = [
        (
            {**fixed, "set": each.name, "rows": rows[each.name], "n": settings.made_up_rows},
            {"set": each.name, "stands_in": what_it_is(each, settings)},
        )
        for each in sets.SU16
    ]

    def add(figure: str, kind: str, source: Row, shared: Row, *, alone: bool = False, **parameters: Any) -> None:
        label = " ".join([kind, *(str(shared[name]) for name in ("set", "algorithm", "d") if name in shared)])
        plan.append((figure, Task(kind, {**source, **parameters}, label, alone), shared))

    for source, shared in named:
        add("kmeans", "kmeans", source, shared)
    for variant, runs in settings.runs:
        for source, shared in named:
            for epsilon in settings.epsilons:
                shares = {**shared, "algorithm": variant, "epsilon": epsilon}
                add("figure1", "fit", source, shares, variant=variant, epsilon=epsilon, runs=runs)
    adult = next(pair for pair in named if pair[1]["set"] == "Adult-num")
    least = settings.epsilons[0]
    shares = {**adult[1], "algorithm": "hybrid, forced", "epsilon": least}
    add("forced", "fit", adult[0], shares, variant="hybrid, forced", epsilon=least, runs=settings.forced_runs)
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


def what_it_is(which: sets.DataSet, settings: Settings) -> str:
    """What the rows are where they are not the paper's own, or nothing."""
    return "made-up clusters" if settings.made_up_rows else which.stands_in


def collect(plan: list[tuple[str, Task, Row]], store: Store, settings: Settings) -> dict[str, Any]:
    """All figures as tables, the settings, the machine, and the paper's claims next to what was measured."""
    answers: dict[str, list[tuple[Row, Row]]] = {}
    for figure, task, shared in plan:
        answers.setdefault(figure, []).append((shared, store.answers[task.key]))
    base = {shared["set"]: answer for shared, answer in answers["kmeans"]}
    heat_base = {(shared["d"], shared["k"]): answer["baseline"] for shared, answer in answers["heat kmeans"]}
    curves = [
        {**shared, **answer, "baseline": base[shared["set"]]["baseline"]} for shared, answer in answers["figure1"]
    ]
    heat = []
    for shared, answer in answers["figure2"]:
        baseline = heat_base[shared["d"], shared["k"]]
        heat.append({**shared, **answer, "baseline": baseline, "difference": answer["nicv"] - baseline})
    figures: dict[str, list[Row]] = {
        "figure1": [row for row in curves if row["algorithm"] != "hybrid"],
        "figure2": [row for row in heat if row["algorithm"] != "hybrid"],
        "figure3": [
            {**shared, **row, "baseline": base[shared["set"]]["baseline"]}
            for shared, answer in answers["figure3"]
            for row in answer["table"]
        ],
        "figure4": traces(base, answers["figure4"], settings.search_rounds),
        "figure5": [row for row in curves if row["algorithm"] in TIMED],
        "figure6": [row for row in heat if row["algorithm"] in ("grid", "hybrid")],
        "figure7": [
            {**shared, "algorithm": variant, "cpu": answer["cpu"][variant], "wall": answer["wall"][variant]}
            for shared, answer in answers["figure7"]
            for variant in TIMED
        ],
    }
    forced = [{**shared, **answer} for shared, answer in answers["forced"]]
    return {
        "what": "Su et al. 2016, redone with Covey",
        "sets": [
            {
                "name": each.name,
                "rows": base[each.name]["size"],
                "d": each.dimension,
                "k": each.k,
                "rows_in_the_paper": each.paper_rows,
                "stands_in": what_it_is(each, settings),
                "baseline": base[each.name]["baseline"],
            }
            for each in sets.SU16
        ],
        "settings": asdict(settings),
        "machine": {
            "cpus": os.cpu_count(),
            "python": platform.python_version(),
            "numpy": np.__version__,
            "covey": covey.__version__,
            "shared": "other programs may have run at the same time: compare times within one run only",
            "seconds_of_work": round(sum(store.seconds[task.key] for _, task, _ in plan), 1),
        },
        "claims": judge(figures, forced),
        "figures": figures,
        "forced": forced,
    }


def traces(base: dict[str, Row], found: list[tuple[Row, Row]], rounds: int) -> list[Row]:
    """NICV by round, from 1: Lloyd's algorithm (mean of all starts) and the genetic search (mean of all runs)."""
    table = []
    stands_in = {shared["set"]: shared["stands_in"] for shared, _ in found}
    for name, answer in base.items():
        lloyd = answer["by_round"] + answer["by_round"][-1:] * rounds
        gene = np.mean([each["by_round"] for shared, each in found if shared["set"] == name], axis=0).tolist()
        for what, values in (("lloyd", lloyd[1 : rounds + 1]), ("genetic search", gene)):
            table += [
                {
                    "set": name,
                    "stands_in": stands_in[name],
                    "what": what,
                    "round": i,
                    "nicv": value,
                    "baseline": answer["baseline"],
                }
                for i, value in enumerate(values, start=1)
            ]
    return table


def write(results: dict[str, Any], out: Path) -> None:
    rounded = json.loads(json.dumps(results), parse_float=lambda text: float(f"{float(text):.6g}"))
    write_whole(out / "results.json", (one_row_a_line(rounded) + "\n").encode())
    write_whole(out / "claims.md", (claims_table(results["claims"], results["sets"]) + "\n").encode())
    for name, table in rounded["figures"].items():
        text = io.StringIO()
        sheet = csv.DictWriter(text, list(dict.fromkeys(key for row in table for key in row)), lineterminator="\n")
        sheet.writeheader()
        sheet.writerows(table)
        write_whole(out / f"{name}.csv", text.getvalue().encode())


def one_row_a_line(value: Any) -> str:
    """JSON in which every row of a table has a line of its own: short, and fit for comparing two runs."""
    nested = isinstance(value, dict) and any(isinstance(each, dict | list) for each in value.values())
    if nested and isinstance(value, dict):
        inner = ",\n".join(f"{json.dumps(name)}: {one_row_a_line(each)}" for name, each in value.items())
        return f"{{\n{inner}\n}}"
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return "[\n" + ",\n".join(map(json.dumps, value)) + "\n]"
    return json.dumps(value)


def draw(results: dict[str, Any], out: Path) -> bool:
    """The PNGs; False where matplotlib is not installed."""
    try:
        from covey.bench.plots import su16_figures

        for name, png in su16_figures(results):
            write_whole(out / f"{name}.png", png)
    except ImportError:
        return False
    return True
