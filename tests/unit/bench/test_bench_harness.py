"""The harness of all benchmarks: it writes, draws and tells alike, and what was measured once gives the same files."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from covey.bench import harness
from covey.bench.aaai21 import run as aaai21
from covey.bench.blocki21 import claims as blocki21_claims
from covey.bench.blocki21 import run as blocki21
from covey.bench.coverage import bars
from covey.bench.coverage import run as coverage
from covey.bench.harness import Experiment, Paper
from covey.bench.ipsn17 import run as ipsn17
from covey.bench.runner import Store, Task
from covey.bench.su16 import run as su16
from covey.bench.su16.claims import judge
from covey.bench.utility import run as utility
from covey.bench.utility.report import markdown

RESULTS = Path(__file__).parents[3] / "benchmarks" / "results"
PAPERS = {
    "su16": su16.PAPER,
    "ipsn17": ipsn17.PAPER,
    "aaai21": aaai21.PAPER,
    "blocki21": blocki21.PAPER,
    "coverage": coverage.PAPER,
}


def in_this_process(tasks, *, work, store, report):
    for task in tasks:
        if task.key not in store.answers:
            store.add(task, work(task), 1.0)


def test_what_is_done_is_not_done_again_and_all_is_written_and_told(tmp_path, monkeypatch):
    monkeypatch.setattr(harness, "run_tasks", in_this_process)
    tasks = [Task("twice", {"x": x}) for x in (1, 2, 3)]
    store = Store(tmp_path / "tasks.jsonl")
    store.add(tasks[0], {"y": 2}, 1.0)
    experiment = Experiment(
        tasks=tasks,
        work=lambda task: {"y": 2 * task.parameters["x"]},
        collect=lambda answers: {"ys": [answers.answers[task.key]["y"] for task in tasks]},
        texts=lambda results: {"a.json": json.dumps(results["ys"]), "b.csv": "x\n"},
        figures=lambda _: iter([("plot", b"png")]),
        lines=lambda results: map(str, results["ys"]),
    )
    said: list[str] = []
    harness.run(experiment, store=store, out=tmp_path, report=None, say=said.append)
    opening = "3 tasks, 1 of them already done. Interrupt at any time: a later call goes on."
    assert said == [opening, "2\n4\n6", "Wrote a.json, a CSV and a PNG per figure."]
    assert (tmp_path / "a.json").read_text() == "[2, 4, 6]"
    assert (tmp_path / "plot.png").read_bytes() == b"png"


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"a.json": "1", "b.csv": "x\n"}, ["Wrote a.json, a CSV per figure.", "The PNG per figure needs matplotlib"]),
        ({"a.json": "1"}, ["Wrote a.json", "The plot needs matplotlib"]),
    ],
)
def test_without_matplotlib_all_but_the_figures_is_written(tmp_path, monkeypatch, files, words):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    experiment = Experiment(
        tasks=[],
        work=lambda _: {},
        collect=lambda _: {},
        texts=lambda _: files,
        figures=lambda _: iter([("plot", b"png")]),
        lines=lambda _: [],
    )
    said: list[str] = []
    harness.run(experiment, store=Store(tmp_path / "t.jsonl"), out=tmp_path, report=None, say=said.append)
    assert said[2] == words[0]
    assert said[3].startswith(words[1])
    assert {path.name for path in tmp_path.iterdir()} == {"t.jsonl", *files}


@pytest.mark.parametrize("name", PAPERS)
def test_the_results_that_were_measured_give_every_file_again_to_the_byte(name):
    paper: Paper = PAPERS[name]
    texts = paper.texts(json.loads((RESULTS / name / "results.json").read_text()))
    assert {path.name for path in (RESULTS / name).iterdir() if path.suffix in (".json", ".md", ".csv")} == set(texts)
    for file, text in texts.items():
        assert text.encode() == (RESULTS / name / file).read_bytes(), file


def test_verdicts_on_what_was_measured_come_out_the_same():
    for name, judged in (
        ("su16", lambda results: judge(results["figures"], results["forced"], results["sets"])),
        ("aaai21", lambda results: aaai21.judge(results["figures"]["figure1"])),
        ("blocki21", lambda results: blocki21_claims.judge(results["figures"])),
    ):
        results = json.loads((RESULTS / name / "results.json").read_text())
        assert judged(results) == results["claims"]
    results = json.loads((RESULTS / "coverage" / "results.json").read_text())
    assert bars.judge(results["figures"]) == results["bars"]


def test_the_documents_of_utility_give_its_table_and_themselves_again():
    documents = utility.all_documents(RESULTS / "utility", {}, utility.Request())
    assert markdown(documents).encode() == (RESULTS / "utility" / "table.md").read_bytes()
    for each in documents:
        file = utility.System(name=each["system"], parameters=each["parameters"], pure=each["pure"]).file
        assert utility.as_json(each) + "\n" == (RESULTS / "utility" / f"{file}.json").read_text()
    assert len(documents) == 3
