"""`covey audit`: the table, the exit code, the files, and going on after an interruption."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from click.testing import CliRunner

from covey.audit import cells, report
from covey.audit.blackbox import attack_mechanism
from covey.audit.cells import Cell, Size, plan, work
from covey.audit.summary import HEADERS, beyond, lines, weak
from covey.bench import runner
from covey.cli.main import cli
from covey.errors import ParameterError
from covey.noise.source import SeededSource

SMALL = Size(
    trials=40, epsilons=(1.0,), pairs=("one or none",), seeds=1, mechanism_epsilons=(1.0,), mechanism_trials=2_000
)
FIT = {
    "algorithm": "lloyd",
    "neighbours": "add-remove",
    "pair": "one or none",
    "front": "",
    "epsilon": 1.0,
    "objective": "k-means",
}


def bound(lower, *, claimed=1.0, **more):
    answer = {"status": "done", "claimed": claimed, "lower": lower, "kind": "epsilon", "delta": 0.0, "event": "x"}
    return {**answer, "hits": 3, "others": 1, "trials": 10, "alpha": 0.01, "failed": lower > claimed, **more}


def told(*answers, kind="fit", parameters=FIT):
    return [(Cell(kind, parameters, f"{kind} {i}"), answer) for i, answer in enumerate(answers)]


# --- the verdict ------------------------------------------------------------------------------------------------------


def test_a_line_shows_the_best_bound_of_each_claim():
    (line,) = lines(told(bound(0.2), bound(0.5), bound(1.0, claimed=4.0)))
    assert line.bounds == (("ε = 1", 0.5), ("ε = 4", 1.0))
    assert not line.failed
    assert len(line.cells()) == len(HEADERS)


def test_what_was_only_replayed_is_passed_too():
    whole = {"status": "done", "pairs": 5, "diverged": 0, "failed": False, "what": []}
    (line,) = lines(told(whole, kind="replay", parameters=TAPE))
    assert line.cells()[-2:] == ["5 pairs, none diverged", "passed"]


TAPE = {"algorithm": "lloyd", "neighbours": "add-remove"}
DIVERGED = {"status": "done", "pairs": 5, "diverged": 1, "failed": True, "what": ["corner, seed 3: plan"]}
LOST = {"status": "done", "drawn": 1.2, "chosen": None, "event": 1.0, "failed": True, "what": ["lost 1.2"]}


@pytest.mark.parametrize(
    ("some", "words"),
    [
        (told(bound(0.2), bound(1.01)), "above the claimed 1"),
        (told({"status": "error", "why": "TypeError: boom"}, bound(0.1)), "boom"),
        (told({"status": "refused", "why": "depth: must be given"}), "nothing was attacked"),
        (told(bound(0.1)) + told(DIVERGED, kind="replay", parameters=TAPE), "seed 3"),
        (told(bound(0.1)) + told(LOST, kind="transcript", parameters=TAPE), "lost 1.2"),
    ],
)
def test_what_goes_wrong_fails(some, words):
    (line,) = lines(some)
    assert line.failed
    assert line.cells()[-1] == "FAILED"
    assert any(words in each for each in line.problems)


def test_what_is_not_in_this_version_is_said_and_fails_nothing():
    (line,) = lines(told({"status": "not in this version", "why": "zones: later"}))
    assert not line.failed
    assert line.missing == ("fit 0: zones: later",)
    assert line.cells()[-1] == "not in this version"


def test_a_weak_attack_on_a_single_mechanism_is_said():
    named = {"name": "count", "epsilon": 1.0}
    assert weak(told(bound(0.8, single=True), kind="mechanism", parameters=named))
    assert not weak(told(bound(0.95, single=True), kind="mechanism", parameters=named))


def test_a_claim_that_so_few_fits_cannot_refute_is_said():
    """A system that gives a row away passed a claim of 10, with 40 fits: 20 prove no more than about 1.2."""
    few, enough = bound(0.5, claimed=10.0, trials=20), bound(0.5, claimed=1.0, trials=200)
    [words] = beyond(told(few, enough))
    assert words.startswith("fit 0: they can prove 1.")
    assert words.endswith("passes whatever it does")
    assert not beyond(told({"status": "refused", "why": "depth: must be given"}))


def test_a_failure_shows_in_all_three_files(tmp_path):
    report.write(tmp_path, told(bound(1.5), bound(0.2)), size=SMALL, seconds=1.0)
    assert "failed" in (tmp_path / "README.md").read_text()
    page = (tmp_path / "report.html").read_text()
    assert "class='verdict failed'" in page
    assert page.count("data:image/png;base64,") == 1
    assert not json.loads((tmp_path / "results.json").read_text())["about"]["passed"]


# --- the cells --------------------------------------------------------------------------------------------------------


def test_what_breaks_in_a_cell_is_its_answer():
    answer = work(Cell("fit", {**FIT, "algorithm": "no such", "delta": 0.0, "trials": 40, "alpha": 0.1}, ""))
    assert answer["status"] == "error"


def test_every_mechanism_has_a_cell_that_works(monkeypatch):
    monkeypatch.setattr(cells, "attack_mechanism", partial(attack_mechanism, source=SeededSource(1)))
    some = [cell for cell in plan(SMALL) if cell.kind == "mechanism" and "exponential" not in cell.label]
    answers = [work(cell) for cell in some]
    assert len(answers) >= 9
    assert [answer["status"] for answer in answers] == ["done"] * len(answers)
    assert not any(answer["failed"] for answer in answers)


@pytest.mark.parametrize("bad", [{"trials": 0}, {"seeds": 0}, {"epsilons": ()}, {"epsilons": (0.0,)}])
def test_a_size_of_nothing_is_refused(bad):
    with pytest.raises(ParameterError):
        plan(replace(SMALL, **bad))


# --- the command ------------------------------------------------------------------------------------------------------


def audit(*arguments):
    return CliRunner().invoke(cli, ["audit", *arguments])


def here(tasks, *, work, store, workers):
    """The tasks, done in this process: another one takes seconds to start."""
    for task in tasks:
        store.add(task, work(task), 0.1)
        yield task


def test_the_command_writes_goes_on_and_fails_when_it_must(tmp_path, monkeypatch):
    monkeypatch.setattr(cells, "USUAL", SMALL)
    monkeypatch.setattr(cells, "ALPHA", 1e-9)  # noise is fresh here: with 1% the audit would fail now and then
    with monkeypatch.context() as patch:
        patch.setattr(runner, "_answers", here)
        done = audit("--algorithm", "blocks", "--out", str(tmp_path), "--workers", "1")
    assert done.exit_code == 0, done.output
    assert "passed" in done.output
    assert "none diverged" in done.output
    kept = tmp_path / "cells.jsonl"
    first = kept.read_bytes()
    answers = first.splitlines()
    assert len(answers) == len(json.loads((tmp_path / "results.json").read_text())["cells"]) == 6

    kept.write_bytes(b"\n".join(answers[:-1]) + b'\n{"task": "torn')  # killed while it wrote the last one
    assert audit("--algorithm", "blocks", "--out", str(tmp_path), "--resume", "--workers", "1").exit_code == 0
    again = kept.read_bytes().splitlines()
    assert again[:-1] == answers[:-1]
    assert json.loads(again[-1])["task"] == json.loads(answers[-1])["task"]

    worse = json.loads(again[-1])
    worse["answer"] |= {"lower": 2.0, "failed": True}
    kept.write_bytes(b"\n".join([*again[:-1], json.dumps(worse).encode()]) + b"\n")
    failed = audit("--algorithm", "blocks", "--out", str(tmp_path), "--resume")
    assert failed.exit_code == 1
    assert "FAILED" in failed.output


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--resume"], "--out"),
        (["--trials", "3"], "trials"),
        (["--algorithm", "kmeans"], "must be one of"),
        (["--epsilon", "-1"], "epsilon"),
    ],
)
def test_a_wrong_option_is_refused_before_anything_runs(arguments, words):
    done = audit(*arguments)
    assert done.exit_code != 0
    assert words in done.output + str(done.exception)


def test_the_page_of_the_documents_is_what_its_results_say():
    """Its table and the sizes of its run; the rest of the page is on how to read them."""
    folder = Path(__file__).parents[2] / "docs" / "audit"
    kept, text = json.loads((folder / "results.json").read_text()), (folder / "README.md").read_text()
    done = [
        (Cell("mechanism" if "name" in each else "fit" if "lower" in each else each["kind"], each, each["label"]), each)
        for each in kept["cells"]
    ]
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert rows[2:] == [f"| {' | '.join(line.cells())} |" for line in lines(done)]
    assert " ".join(report._sizes(kept["about"]).split()) in " ".join(text.split())
