"""`covey bench ipsn17`: the evaluation of Feldman, Xiang, Zhu and Rus 2017 (IPSN), with Covey's `ball-coreset`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import covey
from covey.bench.harness import Found, Paper, Results, Row, Step
from covey.bench.ipsn17.claims import claims_lines, claims_text, judge
from covey.bench.ipsn17.plots import figures
from covey.bench.ipsn17.settings import FULL, QUICK, Settings, runs_for
from covey.bench.ipsn17.tables import slopes, slopes_text, summary, table2, table2_text
from covey.bench.ipsn17.tasks import SETS, perform, printed_side, rounds, whole
from covey.bench.runner import Task
from covey.bench.sets import checksum

SHARED = ("set", "n", "k", "variant", "relation", "epsilon")
ERRORS = ("figure5", "figure6", "figure7")
FORMS = ("ball", "ball, printed form")
AROUND = (0.6, 0.95, 1.05)  # times a threshold: twice the same grid, then the next
STEP = 1.1  # of epsilon, where stages of the coreset's size are looked for


class Plan:
    """The tasks of every figure. Tasks on the same rows come together, so that they are read once."""

    def __init__(self, settings: Settings, folder: Path | None) -> None:
        self.settings = settings
        self.steps: list[Step] = []
        self._sums = {name: "made up" if folder is None else checksum(whole(name, folder)) for name in SETS}

    def add(self, figure: str, kind: str, which: str, n: int, k: int, **more: Any) -> None:
        own = {"set": which, "n": n, "k": k, "rows": self._sums[which], "covey": covey.__version__, **more}
        task = Task(kind, own, f"{figure} n = {n:,}", alone=kind == "time")
        self.steps.append(Step(figure, task, {name: own.get(name) for name in SHARED}))

    def error(self, figure: str, which: str, n: int, k: int, variant: str, **more: Any) -> None:
        self.add("baseline", "baseline", which, n, k)
        self.add(figure, "error", which, n, k, variant=variant, **{"relation": "replace-one", **more})

    def time(self, figure: str, which: str, n: int, k: int, variant: str, epsilon: float, runs: int) -> None:
        self.add(figure, "time", which, n, k, variant=variant, epsilon=epsilon, relation="replace-one", runs=runs)

    def ladders(self) -> None:
        """Figure 5 and Table 2."""
        its = self.settings
        least = min(its.sizes)
        for which, n in (*(("cabs", n) for n in sorted(its.sizes, reverse=True)), ("taxi", its.taxi_rows)):
            for k, ladder in its.ladders:
                runs = its.taxi_runs if which == "taxi" else runs_for(its.runs, n, k)
                for epsilon in ladder:
                    self.error("figure5", which, n, k, "ball", epsilon=epsilon, runs=runs)
                    if n == least:
                        own = {"relation": "add-remove", "epsilon": epsilon, "runs": its.other_runs}
                        self.error("figure5", which, n, k, "ball", **own)
            for k, ladder in its.printed if which == "cabs" else ():
                for epsilon in ladder:
                    self.error("figure5", which, n, k, "ball, printed form", epsilon=epsilon, runs=its.other_runs)

    def comparisons(self) -> None:
        """Figures 6 and 7."""
        its = self.settings
        for variant, centres in zip(FORMS, (its.centres, its.centres_printed), strict=True):
            for k in centres:
                for epsilon in its.centres_epsilons:
                    self.error("figure6", "cabs", its.sizes[-1], k, variant, epsilon=epsilon, runs=its.other_runs)
        for n in its.compared:
            for variant in (*FORMS, "net", "net, printed form"):
                own = {"epsilon": its.compared_epsilon, "runs": runs_for(its.compared_runs, n, its.compared_k)}
                self.error("figure7", "cabs", n, its.compared_k, variant, **own)

    def maps(self) -> None:
        """Figure 8."""
        its = self.settings
        self.add("ground", "ground", "taxi", its.taxi_rows, its.map_k, shown=6_000)
        levels = (its.map_levels, its.map_runs), (its.map_levels_printed, its.map_runs_printed)
        for variant, (epsilons, runs) in zip(FORMS, levels, strict=True):
            for epsilon in epsilons:
                own = {"variant": variant, "epsilon": epsilon, "runs": runs}
                self.add("figure8", "map", "taxi", its.taxi_rows, its.map_k, **own)

    def times(self) -> None:
        """Figures 3 and 4, and the jump where the paper's grid gets finer."""
        its, printed = self.settings, "ball, printed form and grid"
        for k in its.time_k:
            for n in its.time_sizes:
                self.time("figure3", "cabs", n, k, "ball", 0.8, its.time_runs)
            for n in its.time_sizes_printed:
                self.time("figure3", "cabs", n, k, printed, 0.8, 1)
            for n in its.time_sizes_4d:
                for variant, runs in (("ball", its.time_runs), ("ball, parts of 10,000", 1)):
                    self.time("figure4", "trips", n, k, variant, 4.0 if its.made_up else 1.0, runs)
        for threshold in its.thresholds:
            for part in AROUND:
                for variant, runs in (("ball", its.time_runs), (printed, 1)):
                    self.time("jump", "cabs", int(part * threshold), its.time_k[0], variant, 0.8, runs)


def make_plan(settings: Settings, folder: Path | None) -> list[Step]:
    """Every task of every figure."""
    plan = Plan(settings, folder)
    plan.comparisons()
    plan.maps()
    plan.ladders()
    plan.times()
    return plan.steps


def stages(settings: Settings) -> list[Row]:
    """How many balls there are as epsilon grows in small steps, for every k and n."""
    table = []
    for variant, ladders in zip(FORMS, (settings.ladders, settings.printed), strict=True):
        for k, ladder in ladders:
            steps = int(np.log(ladder[-1] / ladder[0]) / np.log(STEP)) + 1
            epsilons = [float(f"{ladder[0] * STEP**i:.4g}") for i in range(steps)]
            for n in settings.sizes:
                own: Row = {"n": n, "k": k, "variant": variant}
                table.append({**own, "epsilons": epsilons, "rounds": rounds(epsilons=epsilons, **own)})
    return table


def collect(answers: Found, settings: Settings) -> Results:
    """All figures as tables, Table 2 beside the paper's, slopes, and the paper's claims."""
    best = {(shared["set"], shared["n"], shared["k"]): answer["cost"] for shared, answer in answers["baseline"]}
    tables: dict[str, list[Row]] = {}
    for figure in ("figure3", "figure4"):
        tables[figure] = [{**shared, **answer} for shared, answer in answers[figure]]
    for figure in ERRORS:
        tables[figure] = [
            {**shared, **summary(answer, best[shared["set"], shared["n"], shared["k"]])}
            for shared, answer in answers[figure]
        ]
    tables["jump"] = [{**shared, "side": printed_side(shared["n"]), **answer} for shared, answer in answers["jump"]]
    tables["stages"] = stages(settings)
    levels = [{**shared, **answer} for shared, answer in answers["figure8"]]
    tables["figure8"] = [
        {
            **{name: row[name] for name in SHARED if name != "relation"},
            "runs": len(row["sizes"]),
            "size": float(np.mean(row["sizes"])),
            "outside": float(np.mean(row["outside"])),
            "all_inside": float(np.mean(np.array(row["outside"]) == 0)),
        }
        for row in levels
    ]
    found = {"table2": table2(tables["figure5"]), "slopes": slopes([*tables["figure3"], *tables["figure4"]])}
    return {
        "sets": [
            {"name": each.name, "file": each.file, "d": each.dimension, "stands_in": each.stands_in}
            for each in SETS.values()
        ],
        **found,
        "claims": judge(tables, found["table2"]),
        "figures": tables,
        "map": {
            "ground": answers["ground"][0][1],
            "levels": [drawn(row) for row in levels if row["variant"] == "ball"],
        },
    }


def drawn(row: Row) -> Row:
    """What figure 8 shows of a level: its first run."""
    return {name: row[name] for name in ("epsilon", "points", "weights", "centres")}


PAPER = Paper(
    what="Feldman, Xiang, Zhu, Rus 2017 (IPSN), redone with Covey",
    notes={
        "times": "CPU seconds of a process on one core, the best of the runs; wall times are in the tables",
        "shared": "a busy machine: other programs ran at the same time",
    },
    full=FULL,
    quick=QUICK,
    plan=make_plan,
    perform=perform,
    collect=collect,
    pages={
        "claims.md": lambda results: claims_text(results["claims"]),
        "table2.md": lambda results: table2_text(results["table2"]),
        "slopes.md": lambda results: slopes_text(results["slopes"]),
    },
    figures=figures,
    lines=lambda results: [*claims_lines(results["claims"]), slopes_text(results["slopes"])],
)
