"""`covey bench utility`: the cost of private centres relative to ordinary k-means, set by set and ε by ε.

Writes a JSON document for each system that is measured, and from all of them in the folder a table (table.md) and a
plot (utility.png). A finished run that other sources of Covey made is not used again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from covey.bench import sets
from covey.bench.harness import Experiment, Row, Say, machine, rounded
from covey.bench.harness import run as run_experiment
from covey.bench.peers.figures import SOURCE, diffprivlib_python
from covey.bench.runner import Answer, Report, Store, Task
from covey.bench.utility.plots import small_multiples
from covey.bench.utility.report import Document, markdown, terminal
from covey.bench.utility.tasks import System, baseline_task, fit_task, perform
from covey.errors import ParameterError

WHAT = "cost of private centres relative to ordinary k-means"
EPSILONS, RUNS = (0.1, 0.5, 1.0, 2.0), 10
QUICK_SETS, QUICK_EPSILONS, QUICK_RUNS, QUICK_ROWS = ("s1", "adult_num", "gaussians_64"), (0.5, 1.0), 2, 2000
MOST_RUNS = 1000
STAMP = ("covey", "code")  # what --keep overlooks


@dataclass(frozen=True, kw_only=True)
class Request:
    """What to measure; what is left empty is the whole suite, or the quick one."""

    systems: tuple[str, ...] = ("covey:auto",)
    names: tuple[str, ...] = ()
    epsilons: tuple[float, ...] = ()
    runs: int | None = None
    pure: bool = False
    objective: str = "k-means"
    parameters: dict[str, Any] = field(default_factory=dict)
    quick: bool = False
    keep: bool = False

    def which(self) -> list[sets.DataSet]:
        known = {each.name: each for each in sets.UTILITY}
        names = self.names or (QUICK_SETS if self.quick else tuple(known))
        for name in names:
            if name not in known:
                raise ParameterError("sets", f"{name!r} is none of {', '.join(known)}")
        return [each for each in sets.UTILITY if each.name in names]

    def levels(self) -> tuple[float, ...]:
        levels = self.epsilons or (QUICK_EPSILONS if self.quick else EPSILONS)
        if not all(1e-6 <= each <= 1e4 for each in levels):
            raise ParameterError("eps", "must be numbers between 0.000001 and 10000, separated by commas")
        return tuple(sorted(set(levels)))

    def repeats(self) -> int:
        runs = self.runs if self.runs is not None else QUICK_RUNS if self.quick else RUNS
        if not 1 <= runs <= MOST_RUNS:
            raise ParameterError("runs", f"must be a whole number from 1 to {MOST_RUNS}")
        return runs

    def chosen(self) -> list[System]:
        if self.objective not in ("k-means", "k-median"):
            raise ParameterError("objective", "must be 'k-means' or 'k-median'")
        chosen = [System.parse(each, pure=self.pure, parameters=self.parameters) for each in self.systems]
        if self.objective == "k-median" and not all(each.algorithm for each in chosen):
            raise ParameterError("objective", "k-median is measured for covey:ALGORITHM only")
        return list({each.label: each for each in chosen}.values())


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One place of the table: a system, a set and an ε, and its runs."""

    system: System
    which: sets.DataSet
    size: int
    rows: str  # checksum
    epsilon: float
    baseline: Task
    make: Callable[..., Task]  # the task of a run


def run(request: Request, *, data: Path | None, out: Path, report: Report | None, say: Say) -> None:
    """Measure what is not measured yet, then write every file."""
    systems, which, levels, runs = request.chosen(), request.which(), request.levels(), request.repeats()
    needs_files = not request.quick and any(not each.ball for each in which)
    folder = sets.data_folder(data) if needs_files else None
    store = Store(out / "tasks.jsonl")
    python = None
    if any(each.name == "diffprivlib" for each in systems):
        python = diffprivlib_python(say)
        systems = [each for each in systems if each.name != "diffprivlib" or python is not None]
        if not systems:
            return
    cells = [cell for each in which for cell in cells_of(each, systems, levels, folder, request)]
    old = stamped(store) if request.keep else {}
    tasks: dict[str, Task] = {}
    for cell in cells:
        wanted = [cell.make(run=i) for i in range(runs)]
        missing = [task for task in wanted if answer_of(task, store, old) is None]
        tasks |= {task.key: task for task in (cell.baseline, *missing)}
    end = suffix(request)

    def collect(answers: Store) -> dict[str, Document]:
        documents = {}
        for system in systems:
            name = f"{system.file}{end}.json"
            found = [measured(cell, answers, old) for cell in cells if cell.system is system]
            documents[name] = rounded(describe(system, request, merged(found, out / name, system, request)))
        return documents

    experiment = Experiment(
        opening="{left} runs to do.",
        tasks=list(tasks.values()),
        work=partial(perform, data=folder, python=python),
        collect=collect,
        texts=lambda found: {
            **{name: as_json(each) + "\n" for name, each in found.items()},
            f"table{end}.md": markdown(all_documents(out, found, request)),
        },
        figures=lambda found: iter([(f"utility{end}", small_multiples(all_documents(out, found, request)))]),
        lines=lambda found: map(terminal, found.values()),
    )
    run_experiment(experiment, store=store, out=out, report=report, say=say)


def cells_of(
    which: sets.DataSet, systems: Sequence[System], levels: Sequence[float], folder: Path | None, request: Request
) -> list[Cell]:
    """All places of the table on one set, whose rows are read once."""
    n = QUICK_ROWS if request.quick else None
    rows = sets.load(which, folder, rows=n)
    source: Row = {"name": which.name, "rows": sets.checksum(rows), "n": n, "objective": request.objective}
    baseline = baseline_task(**source)
    return [
        Cell(
            system=system,
            which=which,
            size=len(rows),
            rows=source["rows"],
            epsilon=epsilon,
            baseline=baseline,
            make=partial(fit_task, system, **source, size=len(rows), epsilon=epsilon),
        )
        for system in systems
        for epsilon in levels
    ]


def suffix(request: Request) -> str:
    return "" if request.objective == "k-means" else f"-{request.objective}"


def unstamped(key: str) -> str:
    """A task's key without the state of the sources that did it."""
    kind, _, text = key.partition(" ")
    parameters = {name: value for name, value in json.loads(text).items() if name not in STAMP}
    return f"{kind} {json.dumps(parameters, sort_keys=True)}"


def stamped(store: Store) -> dict[str, str]:
    """For every task but for the state of the sources, the newest that was done."""
    return {unstamped(key): key for key in store.answers}


def answer_of(task: Task, store: Store, old: dict[str, str]) -> tuple[str, Answer] | None:
    """The key and the answer of a task, or of the same with other sources if `old` knows it."""
    key = task.key if task.key in store.answers else old.get(unstamped(task.key)) if old else None
    return None if key is None else (key, store.answers[key])


def measured(cell: Cell, store: Store, old: dict[str, str]) -> Row:
    """The mean of all runs there are of a cell, also of those that an earlier call with more runs made."""
    found = [each for i in range(MOST_RUNS) if (each := answer_of(cell.make(run=i), store, old)) is not None]
    answers = [answer for _, answer in found]
    parameters = [json.loads(key.partition(" ")[2]) for key, _ in found]
    baseline = store.answers[cell.baseline.key]["cost"]
    row: Row = {
        "set": cell.which.name,
        "k": cell.which.k,
        "n": cell.size,
        "d": cell.which.dimension,
        "rows": cell.rows,
        "epsilon": cell.epsilon,
        "delta": parameters[0].get("delta"),
        "code": sorted({each["code"] for each in parameters if "code" in each}),
        "baseline": baseline,
    }
    refused = [each["refused"] for each in answers if "refused" in each]
    if refused:
        return {**row, "refused": refused[0]}
    ratios = np.array([each["cost"] / baseline for each in answers])
    error = float(ratios.std(ddof=1)) / len(ratios) ** 0.5 if len(ratios) > 1 else None
    chosen = sorted({each["chosen"] for each in answers if each.get("chosen")})
    seconds, cpu = (np.median([each[clock] for each in answers]) for clock in ("seconds", "cpu"))
    return {
        **row,
        "runs": len(ratios),
        "ratio": float(ratios.mean()),
        "se": error,
        "seconds": float(seconds),
        "cpu": float(cpu),  # what a busy machine does not change much
        **({"chosen": chosen} if chosen else {}),
    }


def merged(found: list[Row], path: Path, system: System, request: Request) -> list[Row]:
    """What was measured now, and what an earlier call with other sets or ε measured with the same sources."""
    have = {(row["set"], row["epsilon"]) for row in found}
    document = read_document(path)
    before = document["cells"] if document is not None and document["quick"] is request.quick else []
    for row in before:
        current = not row["code"] or row["code"] == [system.code]
        if (row["set"], row["epsilon"]) not in have and (current or request.keep):
            found.append(row)
    place = {each.name: i for i, each in enumerate(sets.UTILITY)}
    return sorted(found, key=lambda row: (place.get(row["set"], len(place)), row["epsilon"]))


def describe(system: System, request: Request, cells: list[Row]) -> Document:
    return {
        "what": WHAT,
        "system": system.name,
        "label": system.label,
        "version": system.version,
        "parameters": system.parameters,
        "pure": system.pure,
        "objective": request.objective,
        "quick": request.quick,
        "published": SOURCE,
        "machine": machine(),
        "cells": cells,
    }


def as_json(document: Document) -> str:
    """One line per cell: short, and fit for comparing two runs."""
    head = json.dumps({name: value for name, value in document.items() if name != "cells"}, indent=1)
    lines = ",\n".join(map(json.dumps, document["cells"]))
    return f'{head[:-2]},\n "cells": [\n{lines}\n]\n}}'


def read_document(path: Path) -> Document | None:
    """A document of this benchmark, or None for any other file."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return document if isinstance(document, dict) and document.get("what") == WHAT else None


def all_documents(out: Path, new: dict[str, Document], request: Request) -> list[Document]:
    """Every system measured in this folder in the same way: Covey's first, `auto` before the others."""
    before = {path.name: each for path in sorted(out.glob("*.json")) if (each := read_document(path)) is not None}
    documents = {**before, **new}.values()
    alike = [each for each in documents if (each["objective"], each["quick"]) == (request.objective, request.quick)]
    return sorted(alike, key=place_of)


def place_of(document: Document) -> tuple[bool, bool, str]:
    name = document["system"]
    return not name.startswith("covey:"), name != "covey:auto", document["label"]
