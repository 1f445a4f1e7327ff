"""The report of an audit: one HTML file with its pictures in it, a JSON file, and a page for the documents."""

from __future__ import annotations

import base64
import html
import json
import textwrap
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import covey
from covey.audit.cells import ALPHA, Size
from covey.audit.summary import HEADERS, Line, Pairs, lines, weak
from covey.files import write_whole

STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; color: #22303c; max-width: 62rem; margin: 2rem auto; padding: 0 1rem }
h1 { margin-bottom: 0 } h2 { margin-top: 2.2rem } .quiet { color: #5c6b77 }
.verdict { display: inline-block; padding: .3rem .8rem; border-radius: .4rem; color: white; font-weight: 600 }
.passed { background: #2e7d4f } .failed { background: #c0392b }
table { border-collapse: collapse; width: 100%; font-size: 13px }
th { text-align: left; border-bottom: 2px solid #22303c } td { border-bottom: 1px solid #e6eaed; vertical-align: top }
th, td { padding: .25rem .6rem .25rem 0 } tr.bad td { color: #c0392b; font-weight: 600 }
img { max-width: 100%; height: auto } .wide { overflow-x: auto } li { margin: .2rem 0 }
"""
OF_SYSTEMS = ("date", "covey", "confidence", "cells", "fits_of_each_neighbour", "seconds_of_work", "passed")
READING = {
    "lower bound": "What was proven about the true ε from outside, by fits of two neighbouring data sets. Above the "
    "claimed ε it would be a leak. Below, it says how far this attack got, not how private the algorithm is: an "
    "algorithm that releases little of what it paid for, or splits its ε over many steps, is hard to attack.",
    "worst transcript": "The largest exact privacy loss of a recorded run, all steps together, as a part of ε. It "
    "uses what no attacker has, the exact statistics behind every answer; 1 means that the accounting is tight.",
    "replay": "Runs on neighbours with what was released frozen: plans, queries, sizes, branches and errors must be "
    "the same, and every exact statistic must move by at most its declared sensitivity.",
}
METHOD = """
## How a bound is made

Many fits of two neighbours. Half of them choose an event: a threshold on a number of the release, on logistic
regression, or on boosted trees of all its numbers. The other half prove (of a single mechanism's releases four of
five): Clopper-Pearson bounds on the event's two probabilities, combined by Fisher's method, and ln((p - δ)/q). The
events that were chosen are in the report. Bonferroni over everything that is tested, with weights that were fixed
before. For Gaussian noise, the difference of the normal quantiles bounds μ of Gaussian differential privacy.

Single mechanisms show that the attack has power: there a bound of 0.9 of the claim is the rule, and a noise scale
that is 10% too small is caught (`tests/audit/test_blackbox.py`). The exponential mechanism shows all of its ε in
rare events only: from 200,000 releases that prove, by the formula, 0.86 of the claim is to be expected at ε = 0.5, 0.90
at ε = 1, and 0.93 at ε = 2 and 4, give or take 0.03, 0.02 and 0.01.

What the bounds do not say: a fit's bound is that of one attacker, who knows the person's place and all other rows but
not the public random numbers of the run (starts, projections), on three hand-made pairs of data sets. A leak smaller
than the gap between bound and claim is not seen here; replays and transcripts are there for that. Time and memory are
not attacked. Rows are made up, so that nothing private is met.

## Again

    covey audit                                        # minutes
    covey audit --algorithm lloyd --trials 2000        # one algorithm, more often
    make audit                                         # everything: hours on two cores
    covey audit --full --out docs/audit --resume       # goes on where it was interrupted
"""


def write(
    folder: Path,
    done: Pairs,
    *,
    size: Size,
    seconds: float,
    note: str = "",
    packages: Mapping[str, str] | None = None,
) -> None:
    """results.json, report.html and README.md, each written whole. note: what else a reader must know of this run.

    packages: the versions that a system from outside ran with. Of such a run results.json is all: pages are on Covey.
    """
    found = lines(done)
    facts = {**about(done, size=size, seconds=seconds), "note": note}
    if packages is not None:
        facts = {name: facts[name] for name in OF_SYSTEMS} | {"packages": dict(packages)}
    folder.mkdir(parents=True, exist_ok=True)
    cells = [{"kind": cell.kind, "label": cell.label, **cell.parameters, **answer} for cell, answer in done]
    document = {"about": facts, "cells": cells}
    write_whole(folder / "results.json", (json.dumps(document, indent=1, ensure_ascii=False) + "\n").encode())
    if packages is not None:
        return
    from covey.audit.plots import pictures

    write_whole(folder / "report.html", page(found, facts, pictures(done), done).encode())
    beside = sorted(each.name for each in folder.glob("*.md") if each.name != "README.md")
    write_whole(folder / "README.md", markdown(found, facts, done, beside=beside).encode())


def about(done: Pairs, *, size: Size, seconds: float) -> dict[str, Any]:
    """The sizes of a run and when it was."""
    return {
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
        "covey": covey.__version__,
        "confidence": 1 - ALPHA,
        "cells": len(done),
        "fits_of_each_neighbour": size.trials,
        "releases_of_each_neighbour": size.mechanism_trials,
        "seeds_of_replays": size.seeds,
        "seconds_of_work": round(seconds),
        "passed": not any(line.failed for line in lines(done)),
    }


def _sizes(facts: dict[str, Any]) -> str:
    return (
        f"Covey {facts['covey']}, {facts['date']}: {facts['cells']} cells, up to "
        f"{facts['fits_of_each_neighbour']:,} fits of each neighbour, {facts['releases_of_each_neighbour']:,} "
        f"releases of each single mechanism, {facts['seeds_of_replays']} seeds of replays and transcripts for each "
        f"family; {facts['seconds_of_work']:,} seconds of work. All bounds hold at once with confidence "
        f"{facts['confidence']:.0%}."
    )


def page(found: Sequence[Line], facts: dict[str, Any], plots: dict[str, bytes], done: Pairs) -> str:
    """The report as one HTML document that needs no other file."""
    verdict = "passed" if facts["passed"] else "failed"
    parts = [
        f"<!doctype html><html lang=en><meta charset=utf-8><title>Covey: audit {verdict}</title><style>{STYLE}</style>",
        "<meta name=viewport content='width=device-width'>",
        f"<h1>Covey, attacked</h1><p class=quiet>{_text(_sizes(facts))}</p>",
        f"<p><span class='verdict {verdict}'>{verdict}</span></p>",
        f"<p><b>Note.</b> {_text(facts['note'])}</p>" if facts.get("note") else "",
        _list("Problems", [each for line in found for each in line.problems]),
        _table(found),
        "<h2>How to read it</h2><ul>",
        *(f"<li><b>{name}</b>: {_text(words)}</li>" for name, words in READING.items()),
        "</ul>",
        *(_picture(title, data) for title, data in plots.items()),
        _list("Not run", [each for line in found for each in line.missing]),
        _list("Attacks that fell short of 0.9 of the claim", weak(done)),
        _cells(done),
    ]
    return "\n".join(parts) + "</html>\n"


def _text(words: object) -> str:
    return html.escape(str(words))


def _list(title: str, items: Sequence[str]) -> str:
    if not items:
        return ""
    return f"<h2>{_text(title)}</h2><ul>" + "".join(f"<li>{_text(each)}</li>" for each in items) + "</ul>"


def _row(words: Sequence[object], *, bad: bool = False) -> str:
    return f"<tr{' class=bad' if bad else ''}>" + "".join(f"<td>{_text(each)}</td>" for each in words) + "</tr>"


def _table(found: Sequence[Line]) -> str:
    head = "".join(f"<th>{each}</th>" for each in HEADERS)
    body = "".join(_row(line.cells(), bad=line.failed) for line in found)
    return f"<div class=wide><table><tr>{head}</tr>{body}</table></div>"


def _picture(title: str, data: bytes) -> str:
    source = f"data:image/png;base64,{base64.b64encode(data).decode()}"
    return f"<h2>{_text(title)}</h2><img alt='{_text(title)}: bounds as parts of the claim' src='{source}'>"


def _cells(done: Pairs) -> str:
    rows = [
        (
            cell.label,
            f"{answer['claimed']:g}",
            f"{answer['lower']:.4f}",
            answer["event"],
            answer["hits"],
            answer["others"],
        )
        for cell, answer in done
        if "lower" in answer
    ]
    head = "".join(f"<th>{each}</th>" for each in ("cell", "claimed", "bound", "event", "hits", "on the other"))
    body = "".join(_row(row) for row in rows)
    return (
        "<h2>Every bound</h2><details><summary>The event that the choosing part found, and how often it happened on "
        f"the proving part</summary><div class=wide><table><tr>{head}</tr>{body}</table></div></details>"
    )


def markdown(found: Sequence[Line], facts: dict[str, Any], done: Pairs, *, beside: Sequence[str] = ()) -> str:
    """The page of the documents: the table, the sizes of the run, and how to repeat it."""
    verdict = "passed" if facts["passed"] else "**failed**"
    table = [HEADERS, ["---"] * len(HEADERS), *(line.cells() for line in found)]
    missing = [each for line in found for each in line.missing]
    short = weak(done)
    written = [
        "# The latest audit",
        "",
        f"Covey attacks itself: this run {verdict}. {_sizes(facts)}",
        *(["", f"**Note.** {facts['note']}", ""] if facts.get("note") else []),
        "`report.html` has the pictures and every event, `results.json` every number.",
        *([f"Other attacks: {', '.join(f'[{each}]({each})' for each in beside)}."] if beside else []),
        "",
        *("| " + " | ".join(row) + " |" for row in table),
        "",
        *(f"- **{name}**: {words}" for name, words in READING.items()),
        *(["", "Not run:", "", *(f"- {each}" for each in missing)] if missing else []),
        *(["", "Attacks that fell short of 0.9 of the claim:", "", *(f"- {each}" for each in short)] if short else []),
    ]
    return "\n".join([*map(_wrapped, written), METHOD])


def _wrapped(line: str) -> str:
    """A line of the page, no longer than those of the other pages; rows of a table are left as they are."""
    if line.startswith("|"):
        return line
    indent = "  " if line.startswith("- ") else ""
    return textwrap.fill(line, 140, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
