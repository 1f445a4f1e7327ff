"""What docs/papers/su16.md shows of the results: tables and sentences, made by benchmarks/pages.py."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from covey.bench.harness import Results, Row, markdown_table
from covey.bench.su16.cells import COVEY, HIGH, LOW, PRINTED, SUFFIX, Cells
from covey.bench.su16.claims import FALSE, UNTESTED, WIDEST, own_sets

FIGURES = {"figure1": "1, 5", "figure2": "2, 6", "forced": "5, forced", "kmeans": "1, 3 to 5", "heat kmeans": "2, 6"}
PAPER_RUNS = {"lloyd": "30 starts x 100", "grid": "10", "hybrid": "10 x 10"}  # of the others 100


def by_statement(claims: Iterable[Row]) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for row in claims:
        found.setdefault(row["paper"], []).append(row)
    return found


def tally(results: Results) -> str:
    """How many statements were reproduced, in words and by form."""
    judged = [[row["reproduced"] for row in rows] for rows in by_statement(results["claims"]).values()]
    always, ever = sum(map(all, judged)), sum(map(any, judged))
    sentence = (
        f"**Of {len(judged)} statements {always} were reproduced in every form that was run, {ever - always} in one of "
        f"two and {len(judged) - ever} in none.** By form, and why not:"
    )
    rows = []
    for form in dict.fromkeys(row["form"] for row in results["claims"]):
        own = [row for row in results["claims"] if row["form"] == form]
        counts = [sum(row["why_not"] == why for row in own) for why in ("", FALSE, UNTESTED)]
        rows.append([form, str(len(own)), *map(str, counts)])
    return f"{sentence}\n\n{markdown_table(['form', 'statements', 'reproduced', FALSE, UNTESTED], rows)}"


def sets(results: Results) -> str:
    """The sets, and what the rows are."""
    heads = ["set", "rows in the paper", "rows here", "d", "k", "baseline", "what the rows are"]
    own = own_sets(results["sets"])
    rows = []
    for each in results["sets"]:
        wide = (
            "" if each["name"] in own else f"the same rows, in bounds up to {each['times_as_wide']:.1f} times as wide"
        )
        what = each["stands_in"] or wide or "the same rows"
        counts = [f"{each['rows_in_the_paper']:,}", f"{each['rows']:,}", str(each["d"]), str(each["k"])]
        rows.append([each["name"], *counts, f"{each['baseline']:.5f}", what])
    return markdown_table(heads, rows)


def rows_of_its_own(results: Results) -> str:
    names = " and ".join(own_sets(results["sets"]))
    return (
        f"The paper's own sets, by this rule, are {names}: its rows, in bounds at most {WIDEST:g} times as wide as the "
        "rows along any column."
    )


def failed(results: Results) -> str:
    """Statements that were not reproduced, by why."""
    lines = []
    for why in (FALSE, UNTESTED):
        lines += ["", f"**{why.capitalize()}:**", ""]
        for paper, rows in by_statement(results["claims"]).items():
            forms = [row["form"] for row in rows if row["why_not"] == why]
            others = [row["form"] for row in rows if row["reproduced"]]
            if forms:
                held = f"; reproduced {' and '.join(others)}" if others else ""
                lines.append(f"- {paper} ({' and '.join(forms)}{held}).")
    return "\n".join(lines).strip()


def swaps(results: Results) -> str:
    """What Covey's swaps of centres are worth: NICV as printed over NICV with swaps."""
    rows = [row for row in results["figures"]["figure1"] if row["algorithm"].startswith("grid")]
    cells = Cells(rows, axes=("set", "epsilon"), value="nicv")
    found = []
    for name in LOW + HIGH:
        own = [cell for cell in cells.all if cell[0] == name]
        found.append([name, *(f"{cells.ratio('grid' + SUFFIX, 'grid', part):.3f}" for part in (own, own[-1:]))])
    return markdown_table(["NICV of `grid` without swaps, times", "all ε", "the largest ε"], found)


def adult(results: Results) -> str:
    """Adult-num at the smallest epsilon: never a round, always one, and what the two rules do."""
    curves = [row for row in results["figures"]["figure5"] if row["set"] == "Adult-num"]
    least = min(row["epsilon"] for row in curves)
    found = {row["algorithm"]: row for row in [*curves, *results["forced"]] if row["epsilon"] == least}
    ways = (("never a round", "grid"), ("always", "hybrid, forced"), ("by the rule of the form", "hybrid"))
    rows = []
    for form, suffix in ((PRINTED, SUFFIX), (COVEY, "")):
        own = [found[name + suffix] for _, name in ways]
        rows.append([form, *(f"{row['nicv']:.3f} ± {row['se']:.3f}" for row in own), f"{own[-1]['refined']:.0%}"])
    return markdown_table([f"Adult-num, ε = {least:g}", *(words for words, _ in ways), "rounds made"], rows)


def runs(results: Results) -> str:
    """How often each cell was run, in the paper and here."""
    settings = results["settings"]
    starts = settings["starts"]
    rows = []
    for figures, own in (("1, 5", settings["runs"]), ("2, 6", settings["heat_runs"])):
        by_many: dict[tuple[str, str], list[str]] = {}
        for name, many in own:
            paper = PAPER_RUNS.get(name.split(",")[0], "100")
            here = f"{starts} starts x {many}" if name == "lloyd" else str(many)
            by_many.setdefault((paper, here), []).append(name)
        rows += [[figures, "; ".join(names), *key] for key, names in by_many.items()]
    rows += [
        ["3", "each of the three", "not stated", str(settings["block_runs"])],
        ["4", "the genetic search", "not stated", str(settings["search_runs"])],
        ["7", "each", "as figure 1", f"median of {settings['time_runs']}"],
    ]
    return f"{markdown_table(['figure', 'algorithm', 'paper', 'here'], rows)}\n\n{left_out(results)}"


def cells(results: Results) -> dict[tuple[Any, ...], Row]:
    """Every cell of fits once, though several figures show it."""
    axes = ("set", "d", "k", "epsilon", "algorithm")
    shown = (row for name in ("figure1", "figure2", "figure5", "figure6") for row in results["figures"][name])
    return {tuple(row.get(axis) for axis in axes): row for row in shown}


def left_out(results: Results) -> str:
    """What the paper's own number of runs would take in the cells that have fewer, and the least that any cell has."""
    found = cells(results)
    wanted = {"lloyd": 100 * results["settings"]["starts"], "grid": 10}
    seconds = sum(
        max(0, wanted.get(algorithm.split(",")[0], 100) - row["runs"]) * row["cpu"]
        for (*_, algorithm), row in found.items()
    )
    least = min(*(row["runs"] for row in found.values()), results["settings"]["search_runs"])
    paper = "The paper's own number in every cell of figures 1, 2, 5 and 6 would take"
    more = f"{paper} {seconds / 60:.0f} minutes of a core more."
    whole = "Every cell of figures 1, 2, 5 and 6 has at least the paper's own number."
    return f"No cell has fewer than {least} runs. {more if seconds else whole}"


def measured(results: Results) -> str:
    """Which commit measured what, and when."""
    found: dict[str, dict[str, list[str]]] = {}
    parts = Counter((row["figure"], row["algorithm"]) for row in results["measured"])
    for row in results["measured"]:
        names = found.setdefault(row["measured"], {}).setdefault(FIGURES.get(row["figure"], row["figure"][-1]), [])
        name = row["algorithm"] or ("baseline" if "kmeans" in row["figure"] else "all")
        names.append(name if parts[row["figure"], row["algorithm"]] == 1 else f"{name} ({row['cells']} cells)")
    rows = [
        [*when.split(maxsplit=1), figure, "; ".join(dict.fromkeys(names))]
        for when, by_figure in sorted(found.items())
        for figure, names in by_figure.items()
    ]
    return markdown_table(["day", "commit", "figures", "what"], rows)


def work(results: Results) -> str:
    """The processor time of all fits, which the tables have."""
    minutes = sum(row["cpu"] * row["runs"] for row in cells(results).values()) / 60
    fits = f"The fits of figures 1, 2, 5 and 6 took {minutes:.0f} minutes of processor time"
    return f"{fits}; the quick version takes under a minute."


VIEWS: dict[str, Callable[[Results], str]] = {
    "su16-tally": tally,
    "su16-sets": sets,
    "su16-own": rows_of_its_own,
    "su16-failed": failed,
    "su16-swaps": swaps,
    "su16-adult": adult,
    "su16-runs": runs,
    "su16-measured": measured,
    "su16-work": work,
}
