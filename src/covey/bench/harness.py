"""The one way from tasks to files that every benchmark goes: measure what is missing, collect, write, draw, tell.

An `Experiment` says what is to be done and what becomes of the answers; a `Paper` makes one of its full or its quick
settings. Finished tasks are kept in tasks.jsonl, so that an interrupted run goes on where it stopped and a finished
one only draws again. Every file is written whole or not at all.
"""

from __future__ import annotations

import csv
import io
import json
import os
import platform
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import covey
from covey.bench import sets
from covey.bench.runner import Answer, Report, Store, Task, run_tasks
from covey.errors import MissingError, need
from covey.files import write_whole

Row = dict[str, Any]
Results = dict[str, Any]
Say = Callable[[str], None]
Found = dict[str, list[tuple[Row, Answer]]]  # by figure: what the rows of a task share, and its answer
NO_VERDICT = "Made-up rows and few repeats: a check of the command, and no verdict on any statement."
HEADS = {each: each for each in ("figure", "paper", "form", "rule", "measured")} | {
    "paper": "the paper says"
}  # of a claim
LAST = {"why_not": "if not"}  # after the verdict


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """What is to be done, and what becomes of the answers."""

    tasks: Sequence[Task]
    work: Callable[[Task], Answer]  # another process must be able to import it
    collect: Callable[[Store], Results]
    texts: Callable[[Results], Mapping[str, str]]  # by the name of the file
    figures: Callable[[Results], Iterator[tuple[str, bytes]]]  # name and PNG; may import matplotlib, an extra
    lines: Callable[[Results], Iterable[str]]  # for the terminal
    opening: str = "{all} tasks, {ready} of them already done."


class Step(NamedTuple):
    """A task of a paper, the figure that it is for, and what the rows of the table that come from it share."""

    figure: str
    task: Task
    shared: Row


@dataclass(frozen=True, kw_only=True)
class Paper:
    """The evaluation of a paper: what is measured, how it is summarised, and what is written besides results.json."""

    what: str
    full: Any  # dataclasses with everything that decides what is measured: recorded with the results
    quick: Any
    plan: Callable[[Any, Path | None], list[Step]]  # by settings and the folder of the sets; None: rows are made up
    perform: Callable[..., Answer]  # perform(task, data=folder)
    collect: Callable[[Found, Any], Results]  # "figures", tables of rows by name, and whatever else there is to say
    pages: dict[str, Callable[[Results], str]]  # by the name of the file
    figures: Callable[[Results], Iterator[tuple[str, bytes]]]
    lines: Callable[[Results], Iterable[str]]
    notes: dict[str, str] = field(default_factory=dict)  # on the machine's times

    def run(self, *, data: Path | None, out: Path, quick: bool, report: Report | None, say: Say) -> None:
        """Measure what is not measured yet, then write every file. `report(done, of, what)` follows the tasks."""
        settings = self.quick if quick else self.full
        folder = None if quick else sets.data_folder(data)
        store = Store(out / "tasks.jsonl")
        steps = self.plan(settings, folder)
        experiment = Experiment(
            tasks=list({step.task.key: step.task for step in steps}.values()),
            work=partial(self.perform, data=folder),
            collect=lambda answers: self.results(steps, answers, settings) | ({"claims": []} if quick else {}),
            texts=self.texts,
            figures=self.figures,
            lines=(lambda results: [*self.lines(results), NO_VERDICT]) if quick else self.lines,
        )
        run(experiment, store=store, out=out, report=report, say=say)

    def results(self, steps: Sequence[Step], store: Store, settings: Any) -> Results:
        """Everything that was measured, after the settings and the machine."""
        found: Found = defaultdict(list)
        for figure, task, shared in steps:
            found[figure].append((shared, store.answers[task.key]))
        own = self.collect(found, settings)
        spent = round(sum(store.seconds[step.task.key] for step in steps), 1)
        first = {name: own[name] for name in ("sets",) if name in own}
        about = {"settings": asdict(settings), "machine": {**machine(), **self.notes, "seconds_of_work": spent}}
        return {"what": self.what, **first, **about, **own}

    def texts(self, results: Results) -> dict[str, str]:
        short = rounded(results)
        judged = results.get("claims") != []
        pages = {name: page(results) + "\n" for name, page in self.pages.items() if judged or name != "claims.md"}
        sheets = {f"{name}.csv": sheet(table) for name, table in short["figures"].items()}
        return {"results.json": one_row_a_line(short) + "\n", **pages, **sheets}


def run(experiment: Experiment, *, store: Store, out: Path, report: Report | None, say: Say) -> None:
    """Do the tasks that the store has no answer for, then write and draw everything and tell what was found."""
    ready = sum(task.key in store.answers for task in experiment.tasks)
    many = len(experiment.tasks)
    opening = experiment.opening.format(all=many, ready=ready, left=many - ready)
    say(f"{opening} Interrupt at any time: a later call goes on.")
    run_tasks(experiment.tasks, work=experiment.work, store=store, report=report)
    results = experiment.collect(store)
    texts = experiment.texts(results)
    for name, text in texts.items():
        write_whole(out / name, text.encode())
    tables = any(name.endswith(".csv") for name in texts)
    missing = None
    try:
        need("plot", "The PNG per figure" if tables else "The plot")
        for name, png in experiment.figures(results):
            write_whole(out / f"{name}.png", png)
    except MissingError as error:
        missing = error
    say("\n".join(experiment.lines(results)))
    written = ", ".join(name for name in texts if not name.endswith(".csv"))
    say(f"Wrote {written}" + (f", a CSV{' and a PNG' if missing is None else ''} per figure." if tables else ""))
    if missing is not None:
        say(str(missing))


def machine() -> Row:
    """Where the numbers were measured."""
    versions = {"python": platform.python_version(), "numpy": np.__version__, "covey": covey.__version__}
    return {"cpus": os.cpu_count(), **versions}


def rounded(value: Any, *, digits: int = 6) -> Any:
    """The same as JSON would give it back, with fewer digits."""
    return json.loads(json.dumps(value), parse_float=lambda text: float(f"{float(text):.{digits}g}"))


def one_row_a_line(value: Any) -> str:
    """JSON in which every row of a table has a line of its own: short, and fit for comparing two runs."""
    nested = isinstance(value, dict) and any(isinstance(each, dict | list) for each in value.values())
    if nested and isinstance(value, dict):
        inner = ",\n".join(f"{json.dumps(name)}: {one_row_a_line(each)}" for name, each in value.items())
        return f"{{\n{inner}\n}}"
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return "[\n" + ",\n".join(map(json.dumps, value)) + "\n]"
    return json.dumps(value)


def sheet(table: Sequence[Row]) -> str:
    """Rows as CSV; a column for every name that any row has."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(dict.fromkeys(key for row in table for key in row)), lineterminator="\n")
    writer.writeheader()
    writer.writerows(table)
    return text.getvalue()


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [f"| {' | '.join(row)} |" for row in (header, *rows)]
    return "\n".join([lines[0], "|---" * len(header) + "|", *lines[1:]])


def claims_table(claims: Sequence[Row]) -> str:
    """A paper's statements as a Markdown table: its words, the rule, what was measured, and the verdict."""
    heads = {name: head for name, head in HEADS.items() if name in claims[0]}
    last = {name: head for name, head in LAST.items() if name in claims[0]}
    rows = [
        [*(each[name] for name in heads), "yes" if each["reproduced"] else "no", *(each[name] for name in last)]
        for each in claims
    ]
    return markdown_table([*heads.values(), "reproduced", *last.values()], rows)
