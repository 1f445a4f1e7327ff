"""`covey bench aaai21`: the experiments of Nguyen, Chaturvedi and Xu (AAAI 2021): cost against k on two sets.

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
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import covey
from covey.algorithms.registry import ALGORITHMS
from covey.bench import sets
from covey.bench.aaai21.plots import aaai21_figures
from covey.bench.aaai21.tasks import SYSTEMS, perform
from covey.bench.runner import Store, Task, run_tasks
from covey.bench.su16.run import one_row_a_line
from covey.files import write_whole

Row = dict[str, Any]
SETS = ("64 Gaussians", "MNIST")
PLAIN = "k-means (not private)"


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Everything that decides what is measured: recorded with the results."""

    made_up_rows: int | None = None  # small made-up rows in place of either set
    ks: tuple[int, ...] = (4, 16, 64)
    epsilon: float = 1.0
    runs: tuple[tuple[str, int], ...] = (
        ("max-cover", 2),
        ("max-cover, exact bound", 1),
        ("max-cover, NOISY-AVG", 1),
        ("jl-candidates", 1),
        ("lloyd", 2),
        ("auto", 2),
    )
    plain_runs: int = 2
    growth_picks: int = 16
    growth_rows: tuple[int, ...] = (12_500, 25_000, 50_000)
    growth_dimensions: tuple[int, ...] = (3, 4, 5)
    growth_ratios: tuple[float, ...] = (1.0, 0.7)


FULL = Settings()
QUICK = Settings(
    made_up_rows=1_500,
    ks=(2, 6),
    runs=tuple((name, 1) for name in SYSTEMS),
    plain_runs=1,
    growth_picks=4,
    growth_rows=(500, 1_000),
    growth_dimensions=(2, 3),
    growth_ratios=(1.0, 0.7),
)


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
    plan = make_plan(settings)
    tasks = list({task.key: task for _, task, _ in plan}.values())
    ready = sum(task.key in store.answers for task in tasks)
    say(f"{len(tasks)} tasks, {ready} of them already done. Interrupt at any time: a later call goes on.")
    run_tasks(tasks, work=partial(perform, data=None if folder is None else str(folder)), store=store, report=report)
    results = collect(plan, store, settings)
    write(results, out)
    drawn = draw(results, out)
    say("\n".join(lines(results)))
    say("Wrote results.json, claims.md, a CSV" + (" and a PNG per figure." if drawn else " per figure."))
    if not drawn:
        say("The PNGs need matplotlib, which is not installed: pip install 'covey[plot]'")


def make_plan(settings: Settings) -> list[tuple[str, Task, Row]]:
    """Every task: (figure, task, what its row of the table shares). Algorithms that do not exist are left out."""
    plan: list[tuple[str, Task, Row]] = []
    fixed = {"n": settings.made_up_rows, "covey": covey.__version__}
    for k in settings.ks:
        for name in SETS:
            source = {**fixed, "set": name, "k": k}
            plain = Task("lloyd", {**source, "runs": settings.plain_runs}, f"{PLAIN} {name}")
            plan.append(("figure1", plain, {"set": name, "k": k, "algorithm": PLAIN}))
            for system, runs in settings.runs:
                if SYSTEMS[system][0] not in ALGORITHMS:
                    continue
                shared = {"set": name, "k": k, "algorithm": system}
                for each in range(runs):
                    own = {**source, "system": system, "epsilon": settings.epsilon, "run": each}
                    plan.append(("figure1", Task("fit", own, f"{system} {name}"), shared))
    middle = settings.growth_rows[len(settings.growth_rows) // 2]
    usual = {"n": middle, "dimensions": settings.growth_dimensions[-2], "growth": settings.growth_ratios[0]}
    for what, values in (
        ("n", settings.growth_rows),
        ("dimensions", settings.growth_dimensions),
        ("growth", settings.growth_ratios),
    ):
        for value in values:
            own = {**usual, what: value}
            task = Task("growth", {**own, "picks": settings.growth_picks, "covey": covey.__version__}, "growth")
            plan.append(("growth", task, {"what": what, **own}))
    return plan


def collect(plan: list[tuple[str, Task, Row]], store: Store, settings: Settings) -> dict[str, Any]:
    """Both figures as tables, the settings, the machine, and the paper's statements next to what was measured."""
    cells: dict[tuple[str, int, str], list[Row]] = {}
    for figure, task, shared in plan:
        if figure == "figure1":
            cells.setdefault((shared["set"], shared["k"], shared["algorithm"]), []).append(store.answers[task.key])
    table = []
    for (name, k, algorithm), answers in cells.items():
        costs = [c for each in answers for c in each.get("costs", [each["cost"]] if "cost" in each else [])]
        row: Row = {"set": name, "k": k, "algorithm": algorithm, "runs": len(costs)}
        row |= {"cost": float(np.mean(costs)), "deviation": float(np.std(costs))} if costs else {"cost": None}
        seconds = [each["cpu"] for each in answers if "cpu" in each]
        row |= {"cpu": float(np.mean(seconds))} if seconds else {}
        refused = [each["refused"] for each in answers if "refused" in each]
        row |= {"refused": refused[0]} if refused else {}
        table.append(row)
    growth = [{**shared, **store.answers[task.key]} for figure, task, shared in plan if figure == "growth"]
    return {
        "what": "Nguyen, Chaturvedi, Xu 2021, redone with Covey",
        "settings": asdict(settings),
        "machine": {
            "cpus": os.cpu_count(),
            "python": platform.python_version(),
            "numpy": np.__version__,
            "covey": covey.__version__,
            "shared": "other programs may have run at the same time: times are CPU times",
            "seconds_of_work": round(sum(store.seconds[task.key] for _, task, _ in plan), 1),
        },
        "claims": judge(table),
        "figures": {"figure1": table, "growth": growth},
    }


def judge(table: list[Row]) -> list[Row]:
    """The paper's two statements, each with a rule and a verdict that is computed."""
    cost = {(row["set"], row["k"], row["algorithm"]): row["cost"] for row in table if row["cost"] is not None}
    ks = sorted({row["k"] for row in table})
    claims = []
    both = [
        (name, k) for name in SETS for k in ks if (name, k, "jl-candidates") in cost and (name, k, "max-cover") in cost
    ]
    if both:
        ratios = [cost[name, k, "jl-candidates"] / cost[name, k, "max-cover"] for name, k in both]
        ahead = sum(ratio > 1 for ratio in ratios)
        claims.append(
            {
                "paper": "max cover achieves a lower k-means objective than Balcan et al. on both sets",
                "rule": "max-cover below jl-candidates in every cell",
                "measured": f"in {ahead} of {len(both)} cells; geometric mean of the ratio "
                f"{float(np.exp(np.mean(np.log(ratios)))):.2f}",
                "reproduced": ahead == len(both),
            }
        )
    falls = {}
    for system in ("max-cover", PLAIN):
        falls[system] = [
            1 - cost[name, ks[-1], system] / cost[name, ks[0], system] for name in SETS if (name, ks[0], system) in cost
        ]
    claims.append(
        {
            "paper": "more centres lower the cost of ordinary k-means, but not that of the private algorithms",
            "rule": "from the smallest to the largest k, ordinary k-means falls by more than twice what max-cover does",
            "measured": "; ".join(
                f"{name}: k-means {share(plain)}, max-cover {share(private)}"
                for name, plain, private in zip(SETS, falls[PLAIN], falls["max-cover"], strict=True)
            ),
            "reproduced": all(p > 2 * q for p, q in zip(falls[PLAIN], falls["max-cover"], strict=True)),
        }
    )
    return claims


def share(value: float) -> str:
    return f"{100 * value:+.0f}%".replace("+", "-", 1) if value > 0 else f"{-100 * value:+.0f}%"


def lines(results: dict[str, Any]) -> list[str]:
    """What the terminal shows: the cost of every algorithm by k, and the verdicts."""
    table = results["figures"]["figure1"]
    ks = sorted({row["k"] for row in table})
    made_up = " (made-up rows)" if results["settings"]["made_up_rows"] else ""
    text = []
    for name in SETS:
        text.append(f"{name}{made_up}: mean squared distance by k")
        text.append("  " + "".ljust(26) + "".join(f"{k:>10}" for k in ks))
        for algorithm in dict.fromkeys(row["algorithm"] for row in table):
            own = {row["k"]: row["cost"] for row in table if (row["set"], row["algorithm"]) == (name, algorithm)}
            cells = "".join("   refused" if own[k] is None else f"{own[k]:>10.4g}" for k in ks)
            text.append("  " + algorithm.ljust(26) + cells)
    for claim in results["claims"]:
        verdict = "reproduced" if claim["reproduced"] else "not reproduced"
        text.append(f"{verdict}: {claim['paper']} ({claim['measured']})")
    return text


def write(results: dict[str, Any], out: Path) -> None:
    rounded = json.loads(json.dumps(results), parse_float=lambda text: float(f"{float(text):.6g}"))
    write_whole(out / "results.json", (one_row_a_line(rounded) + "\n").encode())
    heads = ("paper", "rule", "measured", "reproduced")
    page = ["| the paper says | rule | measured | reproduced |", "|---|---|---|---|"]
    for claim in results["claims"]:
        cells = [{True: "yes", False: "no"}.get(claim[head], claim[head]) for head in heads]
        page += [f"| {' | '.join(cells)} |"]
    write_whole(out / "claims.md", ("\n".join(page) + "\n").encode())
    for name, table in rounded["figures"].items():
        text = io.StringIO()
        sheet = csv.DictWriter(text, list(dict.fromkeys(key for row in table for key in row)), lineterminator="\n")
        sheet.writeheader()
        sheet.writerows(table)
        write_whole(out / f"{name}.csv", text.getvalue().encode())


def draw(results: dict[str, Any], out: Path) -> bool:
    """The PNGs; False where matplotlib is not installed."""
    try:
        for name, png in aaai21_figures(results):
            write_whole(out / f"{name}.png", png)
    except ImportError:
        return False
    return True
