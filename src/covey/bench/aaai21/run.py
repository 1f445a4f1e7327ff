"""`covey bench aaai21`: the experiments of Nguyen, Chaturvedi and Xu (AAAI 2021): cost against k on two sets."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np

import covey
from covey.bench.aaai21.plots import figures
from covey.bench.aaai21.tasks import SYSTEMS, perform
from covey.bench.harness import Found, Paper, Results, Row, Step, claims_table, markdown_table
from covey.bench.runner import Answer, Task

SETS = ("64 Gaussians", "MNIST")
PLAIN = "k-means (not private)"
FORMS = {  # of max cover and its comparator: in the paper both end with NOISY-AVG, and a round of it
    "as printed: NOISY-AVG": ("max-cover, NOISY-AVG", "jl-candidates, NOISY-AVG"),
    "corrected: noisy sums and counts": ("max-cover", "jl-candidates"),
}
NO_ROUND = ", no last round"


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Everything that decides what is measured: recorded with the results."""

    made_up_rows: int | None = None  # small made-up rows in place of either set
    ks: tuple[int, ...] = (4, 8, 16, 32, 48, 64)
    round_k: int = 16  # where the last round is left out, for comparison
    epsilon: float = 1.0
    runs: tuple[tuple[str, int], ...] = (  # the paper's five, for all
        *((name, 5) for pair in FORMS.values() for name in pair),
        ("lloyd", 5),
        *((name + NO_ROUND, 5) for name in FORMS["as printed: NOISY-AVG"]),
        *((name, 5) for name in ("jl-candidates, pure ε", "auto", "max-cover, exact bound")),
    )
    plain_runs: int = 5
    growth_picks: int = 16
    growth_rows: tuple[int, ...] = (12_500, 25_000, 50_000)
    growth_dimensions: tuple[int, ...] = (3, 4, 5, 6)
    growth_ratios: tuple[float, ...] = (1.0, 0.7, 0.5)


FULL = Settings()
QUICK = Settings(
    made_up_rows=1_500,
    ks=(2, 6),
    round_k=6,
    runs=tuple((name, 1) for name in SYSTEMS),
    plain_runs=1,
    growth_picks=4,
    growth_rows=(500, 1_000),
    growth_dimensions=(2, 3),
    growth_ratios=(1.0, 0.7),
)


def make_plan(settings: Settings) -> list[Step]:
    """Every task, run after run; the times come last, alone."""
    plan: list[Step] = []
    fixed = {"n": settings.made_up_rows, "covey": covey.__version__}
    cells = [(name, k) for k in settings.ks for name in SETS]
    for name, k in cells:
        plain = Task("lloyd", {**fixed, "set": name, "k": k, "runs": settings.plain_runs}, f"{PLAIN} {name}")
        plan.append(Step("figure1", plain, {"set": name, "k": k, "algorithm": PLAIN}))
    most = max(runs for _, runs in settings.runs)
    for each, (system, runs), (name, k) in product(range(most), settings.runs, cells):
        if each < runs and (k == settings.round_k or not system.endswith(NO_ROUND)):
            own = {**fixed, "set": name, "k": k, "system": system, "epsilon": settings.epsilon, "run": each}
            shared = {"set": name, "k": k, "algorithm": system}
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
            asked = {**own, "picks": settings.growth_picks, "covey": covey.__version__}
            plan.append(Step("growth", Task("growth", asked, "growth", alone=True), {"what": what, **own}))
    return plan


def collect(found: Found) -> Results:
    """Both figures as tables, and the paper's statements next to what was measured."""
    cells: dict[tuple[str, int, str], list[Answer]] = {}
    for shared, answer in found["figure1"]:
        cells.setdefault((shared["set"], shared["k"], shared["algorithm"]), []).append(answer)
    table = []
    for (name, k, algorithm), answers in cells.items():
        costs = [cost for each in answers for cost in each["costs"]]
        row: Row = {"set": name, "k": k, "algorithm": algorithm, "runs": len(costs)}
        row |= {"cost": float(np.mean(costs)), "deviation": float(np.std(costs))}
        row["measured"] = "; ".join(sorted({each["measured"] for each in answers}))
        seconds = [each["cpu"] for each in answers if "cpu" in each]
        table.append(row | ({"cpu": float(np.mean(seconds))} if seconds else {}))
    growth = [{**shared, **answer} for shared, answer in found["growth"]]
    return {"claims": judge(table), "figures": {"figure1": table, "growth": growth}}


def judge(table: list[Row]) -> list[Row]:
    """The paper's statements, each with a rule and a verdict that is computed, in either form."""
    cost = {(row["set"], row["k"], row["algorithm"]): row["cost"] for row in table}
    ks = sorted({row["k"] for row in table})
    claims = []
    for form, pair in FORMS.items():
        ratios = {(name, k): _ratio(cost, name, k, pair) for name in SETS for k in ks}
        behind = [f"{name} at k = {k}" for (name, k), ratio in ratios.items() if ratio <= 1]
        claims.append(
            {
                "paper": "max cover achieves a lower k-means objective than Balcan et al. on both sets",
                "form": form,
                "rule": "the mean cost of max-cover below that of jl-candidates in every cell",
                "measured": f"in {len(ratios) - len(behind)} of {len(ratios)} cells; geometric mean of the ratio "
                + ", ".join(f"{name} {_mean([ratios[name, k] for k in ks]):.2f}" for name in SETS)
                + (f"; not on {', '.join(behind)}" if behind else ""),
                "reproduced": not behind,
            }
        )
    for form, pair in FORMS.items():
        falls = {
            name: [1 - cost[name, ks[-1], system] / cost[name, ks[0], system] for system in (PLAIN, *pair)]
            for name in SETS
        }
        claims.append(
            {
                "paper": "more centres lower the cost of ordinary k-means, but not that of the private algorithms",
                "form": form,
                "rule": "from the smallest to the largest k, k-means falls by more than twice what either of them does",
                "measured": "; ".join(
                    f"{name}: k-means {share(plain)}, max-cover {share(ours)}, jl-candidates {share(theirs)}"
                    for name, (plain, ours, theirs) in falls.items()
                ),
                "reproduced": all(plain > 2 * max(private) for plain, *private in falls.values()),
            }
        )
    form, pair = next(iter(FORMS.items()))
    (k,) = {each for _, each, system in cost if system.endswith(NO_ROUND)}
    gains = {f"{name} {each}": _ratio(cost, name, k, (each, each + NO_ROUND)) for each in pair for name in SETS}
    claims.append(
        {
            "paper": "a last round of private Lloyd yielded better results for both algorithms",
            "form": form,
            "rule": f"at k = {k}, the mean cost with the round below that without it, on both sets, for both",
            "measured": "without it, times as much: " + ", ".join(f"{each} {gain:.2f}" for each, gain in gains.items()),
            "reproduced": min(gains.values()) > 1,
        }
    )
    return claims


def _ratio(cost: dict[tuple[str, int, str], float], name: str, k: int, pair: tuple[str, str]) -> float:
    """How many times as much the second of a pair costs."""
    return cost[name, k, pair[1]] / cost[name, k, pair[0]]


def _mean(ratios: list[float]) -> float:
    return float(np.exp(np.mean(np.log(ratios))))


def share(value: float) -> str:
    return f"{100 * value:+.0f}%".replace("+", "-", 1) if value > 0 else f"{-100 * value:+.0f}%"


def costs_text(results: Results) -> str:
    """A table for each set: the mean cost and the deviation of the runs, by k."""
    table = results["figures"]["figure1"]
    ks = sorted({row["k"] for row in table})
    texts = []
    for name in SETS:
        lines = []
        for algorithm in dict.fromkeys(row["algorithm"] for row in table):
            own = {row["k"]: row for row in table if (row["set"], row["algorithm"]) == (name, algorithm)}
            cells = [_cost_and_deviation(own[k]) if k in own else "" for k in ks]
            lines.append([algorithm, str(next(iter(own.values()))["runs"]), *cells])
        texts.append(markdown_table([name, "runs", *(f"k = {k}" for k in ks)], lines))
    return "\n\n".join(texts)


def _cost_and_deviation(row: Row) -> str:
    """A single run has no deviation."""
    deviation = float(f"{row['deviation']:.1g}")
    return f"{row['cost']:.3g} ± {deviation:g}" if row["runs"] > 1 else f"{row['cost']:.3g}"


def times_text(results: Results) -> str:
    """CPU seconds: of a fit by set and k, and of the picks alone by n, d' and ϵ."""
    table, growth = results["figures"]["figure1"], results["figures"]["growth"]
    seconds = {(row["algorithm"], row["set"], row["k"]): row["cpu"] for row in table if "cpu" in row}
    ks = sorted({row["k"] for row in table})
    ends = [(name, k) for name in SETS for k in (ks[0], ks[-1])]
    systems = [each for each in dict.fromkeys(row["algorithm"] for row in table) if (each, *ends[0]) in seconds]
    fits = [[each, *(f"{seconds[each, *cell]:.2g}" for cell in ends)] for each in systems]
    picks = [
        [f"{row['n']:,}", str(row["dimensions"]), f"{row['growth']:g}", f"{row['covering']:,}", f"{row['cpu']:.2g}"]
        for row in {(each["n"], each["dimensions"], each["growth"]): each for each in growth}.values()
    ]
    return "\n\n".join(
        [
            markdown_table(["CPU seconds of one fit", *(f"{name}, k = {k}" for name, k in ends)], fits),
            markdown_table(["n", "d'", "ϵ", "grid points that cover a row", "CPU seconds of all picks"], picks),
        ]
    )


def lines(results: Results) -> list[str]:
    """What the terminal shows: the cost of every algorithm by k, and the verdicts."""
    table = results["figures"]["figure1"]
    ks = sorted({row["k"] for row in table})
    made_up = " (made-up rows)" if results["settings"]["made_up_rows"] else ""
    text = []
    for name in SETS:
        text.append(f"{name}{made_up}: mean squared distance by k")
        text.append("  " + "".ljust(40) + "".join(f"{k:>10}" for k in ks))
        for algorithm in dict.fromkeys(row["algorithm"] for row in table):
            own = {row["k"]: row["cost"] for row in table if (row["set"], row["algorithm"]) == (name, algorithm)}
            cells = "".join(f"{format(own[k], '.4g') if k in own else '':>10}" for k in ks)
            text.append("  " + algorithm.ljust(40) + cells)
    for claim in results["claims"]:
        verdict = "reproduced" if claim["reproduced"] else "not reproduced"
        text.append(f"{verdict}: {claim['paper']} ({claim['form']}; {claim['measured']})")
    return text


PAPER = Paper(
    what="Nguyen, Chaturvedi, Xu 2021, redone with Covey",
    notes={"shared": "other programs may have run at the same time: times are CPU times"},
    full=FULL,
    quick=QUICK,
    plan=lambda settings, _: make_plan(settings),
    perform=perform,
    collect=lambda found, _: collect(found),
    pages={
        "claims.md": lambda results: claims_table(results["claims"]),
        "costs.md": costs_text,
        "times.md": times_text,
    },
    figures=figures,
    lines=lines,
)
