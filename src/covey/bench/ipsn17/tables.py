"""The tables of `covey bench ipsn17`: errors, Table 2 beside the paper's, and how time grows with the rows."""

from __future__ import annotations

import numpy as np

from covey.bench.harness import Row, markdown_table
from covey.bench.ipsn17.tasks import SETS
from covey.bench.runner import Answer

RELATIONS = ("replace-one", "add-remove")
PAPER_TABLE = {  # the smallest feasible epsilon that the paper reports, by (k, n)
    (1, 100_000): 0.02,
    (1, 500_000): 0.01,
    (1, 1_000_000): 0.007,
    (5, 100_000): 0.8,
    (5, 500_000): 0.3,
    (5, 1_000_000): 0.15,
    (10, 100_000): 3.5,
    (10, 500_000): 1.0,
    (10, 1_000_000): 0.6,
}
PAPER_SLOPES = {1: 1.6, 5: 1.7}


def summary(answer: Answer, base: float) -> Row:
    """error = (cost - cost*)/cost*, its standard error, the coreset's points and those of negative weight."""
    errors = np.array(answer["costs"]) / base - 1
    if answer["refused"] or len(errors) == 0:
        return {"refused": True, "error": None, "se": None, "size": None, "runs": len(errors)}
    se = float(errors.std(ddof=1)) / len(errors) ** 0.5 if len(errors) > 1 else 0.0
    more = {name: float(np.mean(answer[f"{name}s"])) for name in ("size", "round")}
    negative = float(np.mean(answer["negative"]))
    return {
        "refused": False,
        "error": float(errors.mean()),
        "se": se,
        **more,
        "negative": negative,
        "runs": len(errors),
    }


def table2(rows: list[Row]) -> list[Row]:
    """For every k and n: the smallest epsilon from which on no run is refused and the mean error is below 1."""
    table = []
    keys = dict.fromkeys((row["set"], row["n"], row["k"], row["variant"], row["relation"]) for row in rows)
    for key in keys:
        own = [r for r in rows if (r["set"], r["n"], r["k"], r["variant"], r["relation"]) == key]
        smallest, at = None, None
        for row in sorted(own, key=lambda r: -r["epsilon"]):
            if row["refused"] or row["error"] >= 1:
                break
            smallest, at = row["epsilon"], row["error"]
        which, n, k, variant, relation = key
        paper = PAPER_TABLE.get((k, n)) if which == "cabs" else None
        shared = {"set": which, "n": n, "k": k, "variant": variant, "relation": relation}
        table.append({**shared, "smallest_epsilon": smallest, "error_there": at, "paper": paper})
    return table


def table2_text(table: list[Row]) -> str:
    """Table 2 as a Markdown table: k by n, the paper's value beside ours."""
    lines = []
    for row in sorted(table, key=lambda each: (each["set"], each["n"], each["variant"], each["k"])):
        if row["relation"] != "replace-one":
            continue
        same = [r for r in table if all(r[name] == row[name] for name in ("set", "n", "k", "variant"))]
        found = {r["relation"]: r["smallest_epsilon"] for r in same}
        shown = [
            f"{found[each]:g}" if found.get(each) is not None else "none of those tried" if each in found else "-"
            for each in RELATIONS
        ]
        paper = "-" if row["paper"] is None else f"{row['paper']:g}"
        lines.append([str(row["k"]), f"{row['n']:,} {row['set']}", row["variant"], paper, *shown])
    return markdown_table(["k", "rows", "form", "paper", *RELATIONS], lines)


def slopes(rows: list[Row]) -> list[Row]:
    """The slope of log(CPU seconds) against log(n), by least squares, for each curve of figures 3 and 4."""
    table = []
    for key in dict.fromkeys((row["set"], row["variant"], row["k"]) for row in rows):
        own = [row for row in rows if (row["set"], row["variant"], row["k"]) == key]
        x, y = np.log([row["n"] for row in own]), np.log([row["cpu"] for row in own])
        last = max(own, key=lambda row: row["n"])
        paper = PAPER_SLOPES.get(key[2]) if key[0] == "cabs" else None
        table.append(
            {
                "set": key[0],
                "variant": key[1],
                "k": key[2],
                "slope": float(np.polyfit(x, y, 1)[0]),
                "paper": paper,
                "largest": last["n"],
                "seconds": last["cpu"],
            }
        )
    return table


def slopes_text(table: list[Row]) -> str:
    """The growth of the running time as a Markdown table."""
    lines = []
    for row in table:
        paper = "-" if row["paper"] is None else f"n^{row['paper']:g}"
        shown = [f"n^{row['slope']:.2f}", paper, f"{row['largest']:,}", f"{row['seconds']:.2f}"]
        lines.append([str(SETS[row["set"]].dimension), str(row["k"]), row["variant"], *shown])
    return markdown_table(["columns", "k", "form", "growth", "paper", "rows", "seconds"], lines)
