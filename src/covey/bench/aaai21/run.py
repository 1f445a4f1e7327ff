"""`covey bench aaai21`: the experiments of Nguyen, Chaturvedi and Xu (AAAI 2021): cost against k on two sets."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import covey
from covey.algorithms.registry import ALGORITHMS
from covey.bench.aaai21.plots import figures
from covey.bench.aaai21.tasks import SYSTEMS, perform
from covey.bench.harness import Found, Paper, Results, Row, Step, claims_table
from covey.bench.runner import Answer, Task

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


def make_plan(settings: Settings) -> list[Step]:
    """Every task; algorithms that do not exist are left out."""
    plan: list[Step] = []
    fixed = {"n": settings.made_up_rows, "covey": covey.__version__}
    for k in settings.ks:
        for name in SETS:
            source = {**fixed, "set": name, "k": k}
            plain = Task("lloyd", {**source, "runs": settings.plain_runs}, f"{PLAIN} {name}")
            plan.append(Step("figure1", plain, {"set": name, "k": k, "algorithm": PLAIN}))
            for system, runs in settings.runs:
                if SYSTEMS[system][0] not in ALGORITHMS:
                    continue
                shared = {"set": name, "k": k, "algorithm": system}
                for each in range(runs):
                    own = {**source, "system": system, "epsilon": settings.epsilon, "run": each}
                    plan.append(Step("figure1", Task("fit", own, f"{system} {name}"), shared))
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
            plan.append(Step("growth", task, {"what": what, **own}))
    return plan


def collect(found: Found) -> Results:
    """Both figures as tables, and the paper's statements next to what was measured."""
    cells: dict[tuple[str, int, str], list[Answer]] = {}
    for shared, answer in found["figure1"]:
        cells.setdefault((shared["set"], shared["k"], shared["algorithm"]), []).append(answer)
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
    growth = [{**shared, **answer} for shared, answer in found["growth"]]
    return {"claims": judge(table), "figures": {"figure1": table, "growth": growth}}


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


def lines(results: Results) -> list[str]:
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


PAPER = Paper(
    what="Nguyen, Chaturvedi, Xu 2021, redone with Covey",
    notes={"shared": "other programs may have run at the same time: times are CPU times"},
    full=FULL,
    quick=QUICK,
    plan=lambda settings, _: make_plan(settings),
    perform=perform,
    collect=lambda found, _: collect(found),
    pages={"claims.md": lambda results: claims_table(results["claims"])},
    figures=figures,
    lines=lines,
)
