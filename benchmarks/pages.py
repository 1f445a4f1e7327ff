"""Fills the pages: what stands between `<!-- from: NAME -->` and `<!-- end -->` is taken from results, never typed.

    python benchmarks/pages.py            # fill all pages
    python benchmarks/pages.py --check    # name those that would change

NAME is the path of a Markdown file, which is shown as it is, or one of VIEWS, which make a table or a sentence of
result files or of public formulas. tests/unit/test_pages.py fills the pages again and finds no difference.
"""

from __future__ import annotations

import csv
import json
import math
import re
import textwrap
from collections.abc import Callable, Iterable
from fractions import Fraction
from pathlib import Path
from typing import Any

import click

from covey.algorithms.kit import after_size
from covey.algorithms.max_cover import cover_of, reach_of, share_out
from covey.bench.harness import markdown_table
from covey.bench.peers.figures import PEERS, PUBLISHED, VERSIONS
from covey.bench.su16 import page as su16
from covey.bench.utility.report import geometric_mean
from covey.bench.workload import unit_box
from covey.budget.accounting.amplify import Cost, inner_cost
from covey.files import write_whole
from covey.noise.cover import printed_cost
from covey.public import Neighbours
from covey.queries.cover import Cover
from covey.text import plain
from covey.theory.group import group_privacy

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results"
MARK = re.compile(r"(<!-- from: (\S+) -->\n)(.*?)(<!-- end -->)", flags=re.DOTALL)
WIDTH = 140


def pages() -> list[Path]:
    return sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])


def fill(page: str) -> str:
    """The page with everything between marks made anew."""
    return MARK.sub(lambda found: f"{found[1]}\n{content(found[2])}\n\n{found[4]}", page)


def content(name: str) -> str:
    text = VIEWS[name]() if name in VIEWS else (ROOT / name).read_text(encoding="utf-8")
    return "\n".join(map(wrapped, text.strip().splitlines()))


def wrapped(line: str) -> str:
    """Lines of at most 140 characters; tables stay as they are."""
    if line.startswith("|") or len(line) <= WIDTH:
        return line
    indent = "  " if line.startswith("- ") else ""
    return textwrap.fill(line, WIDTH, subsequent_indent=indent, break_on_hyphens=False, break_long_words=False)


def results(name: str) -> Any:
    return json.loads((RESULTS / name).read_text(encoding="utf-8"))


def sheet(name: str) -> list[dict[str, str]]:
    with (RESULTS / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def percent(share: float) -> str:
    return f"{share:.0%}"


def listed(words: Iterable[str]) -> str:
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last


# --- accuracy ---------------------------------------------------------------------------------------------------------


def utility_means() -> dict[str, dict[float, float]]:
    found = {}
    for label, file in (("with δ = n^-1.5", "covey-auto.json"), ("pure ε", "covey-auto-pure.json")):
        cells = results(f"utility/{file}")["cells"]
        epsilons = sorted({cell["epsilon"] for cell in cells})
        found[label] = {e: geometric_mean([c["ratio"] for c in cells if c["epsilon"] == e]) for e in epsilons}
    return found


def utility() -> str:
    """Geometric means over the sets, by epsilon."""
    means = utility_means()
    epsilons = list(next(iter(means.values())))
    rows = [[label, *(f"{own[epsilon]:.3f}" for epsilon in epsilons)] for label, own in means.items()]
    return markdown_table(["`auto`", *(f"ε = {epsilon:g}" for epsilon in epsilons)], rows)


def utility_sentence() -> str:
    cells = results("utility/covey-auto.json")["cells"]
    means, runs = utility_means()["with δ = n^-1.5"], {cell["runs"] for cell in cells}
    more = listed(f"{means[epsilon] - 1:.1%}" for epsilon in (1.0, 0.5, 0.1))
    return (
        f"On the {len({cell['set'] for cell in cells})} sets of the benchmark, private centres cost {more} more than "
        f"ordinary k-means at ε = 1, 0.5 and 0.1 (geometric means, {min(runs)} runs or more each, δ = n^-1.5)."
    )


def nothing() -> str:
    """auto against knowing nothing: over all cells, the worst median, and how many 95th percentiles exceed 1.1."""
    rows = []
    for part in results("nothing.json")["parts"]:
        for d in sorted({cell["d"] for cell in part["cells"]}):
            cells = [cell for cell in part["cells"] if cell["d"] == d]
            words = [part["form"], part["relation"], part["objective"], str(d), str(len(cells))]
            for name in ("middle", "better"):
                medians, highs = zip(*(cell[name] for cell in cells), strict=True)
                over = [str(sum(each > limit for each in own)) for own, limit in ((medians, 1.02), (highs, 1.1))]
                words += [f"{max(medians):.2f}", f"{over[0]}, {over[1]}"]
            words.append(str(sum(cell["better"][1] > 1.1 * cell["luck"] for cell in cells)))
            rows.append(words)
    ends = [
        f"{what} (against the {name})"
        for name in ("middle", "better of both")
        for what in ("worst median", "cells with a median above 1.02, a 95th percentile above 1.1")
    ]
    ends.append("cells with a 95th percentile above 1.1 times its own (the better of both)")
    return markdown_table(["form", "relation", "objective", "columns", "cells", *ends], rows)


def hard() -> str:
    """Of the hard suite's groups, the geometric means of the cells' means, medians and worst runs, by epsilon."""
    groups: dict[str, list[str]] = {}
    for row in results("hard/results.json")["groups"]:
        told = f"{row['mean']:.3f}; {row['median']:.3f}; {row['worst']:.2f}"
        groups.setdefault(row["group"], [str(row["cells"])]).append(told)
    head = ["cases", "how many", *(f"ε = {epsilon}: mean; median; worst run" for epsilon in ("0.1", "0.5", "1"))]
    return markdown_table(head, [[name, *cells] for name, cells in groups.items()])


def families() -> str:
    """The families by auto as it was at an earlier commit and as it is: geometric means, and their quotients."""
    found = results("families.json")
    head = [
        "ε",
        *(f"commit {found['commits'][each]}" for each in ("then", "now")),
        "now, relative to then",
        "by medians",
    ]
    rows = []
    for row in found["means"]:
        cells = [cell for cell in found["cells"] if cell["epsilon"] == row["epsilon"]]
        medians = [geometric_mean([cell[each]["median"] for cell in cells]) for each in ("now", "then")]
        words = [f"{row['then']:.3f}", f"{row['now']:.3f}", f"{row['relative']:.3f} ± {row['se']:.3f}"]
        rows.append([f"{row['epsilon']:g}", *words, f"{medians[0] / medians[1]:.3f}"])
    return markdown_table(head, rows)


def spare() -> str:
    """auto with centres to spare against without: means of both, and the mean quotient of pairs."""
    rows = []
    for cell in results("spare.json")["cells"]:
        means = [f"{sum(cell[each]) / cell['runs']:.3g}" for each in ("without", "with")]
        words = [cell["set"], cell["objective"], f"{cell['epsilon']:g}", str(cell["runs"]), *means]
        same = cell["with"] == cell["without"]
        rows.append([*words, "none are used" if same else f"{cell['change']:.3f} ± {cell['se']:.3f}"])
    return markdown_table(["set", "objective", "ε", "pairs", "without", "with", "quotient"], rows)


def measured() -> list[dict[str, Any]]:
    """Every document of `covey bench utility` among the results, on the real sets, for k-means."""
    found = [json.loads(path.read_text(encoding="utf-8")) for path in sorted((RESULTS / "utility").glob("*.json"))]
    return [each for each in found if each["objective"] == "k-means" and not each["quick"]]


def entries() -> list[dict[str, Any]]:
    """What a leaderboard compares: measured systems and published figures, each with its ratios by (set, epsilon)."""
    found = []
    for each in measured():
        cells = [cell for cell in each["cells"] if "ratio" in cell]
        found.append(
            {
                "system": f"`{each['label']}`",
                "version": each.get("version") or f"covey {each['machine']['covey']}",
                "promise": "ε" if each["pure"] else "ε, δ = n^-1.5",
                "runs": f"{min(cell['runs'] for cell in cells)}",
                "ratios": {(cell["set"], cell["epsilon"]): cell["ratio"] for cell in cells},
            }
        )
    for peer in PEERS:
        ratios = {(name, e): by[peer] for name, levels in PUBLISHED.items() for e, by in levels.items()}
        promise, runs = ("ε", "3") if peer == "IBM" else ("ε, δ = n^-1.5", "3" if peer == "Google" else "6")
        found.append(
            {
                "system": f"{peer} (published)",
                "version": VERSIONS[peer],
                "promise": promise,
                "runs": runs,
                "ratios": ratios,
            }
        )
    return found


def shared_sets() -> tuple[list[str], list[float]]:
    """The sets and epsilons that all of them were measured at."""
    common = set.intersection(*(set(each["ratios"]) for each in entries()))
    return sorted({name for name, _ in common}), sorted({epsilon for _, epsilon in common})


def leaderboard() -> str:
    """Geometric means over the shared sets, the lowest at the largest shared epsilon first."""
    names, epsilons = shared_sets()
    rows = []
    for each in entries():
        means = [geometric_mean([each["ratios"][name, epsilon] for name in names]) or 0.0 for epsilon in epsilons]
        own = len({name for name, _ in each["ratios"]})
        words = [each["system"], each["version"], each["promise"], each["runs"], str(own)]
        rows.append((means[::-1], [*words, *(f"{mean:.2f}" for mean in means)]))
    heads = ["system", "version", "promise", "runs", "sets", *(f"ε = {epsilon:g}" for epsilon in epsilons)]
    return markdown_table(heads, [row for _, row in sorted(rows)])


def leaderboard_sentence() -> str:
    names, _ = shared_sets()
    return f"Means are over the {len(names)} sets that all of them were measured on: {listed(names)}."


# --- audits of others -------------------------------------------------------------------------------------------------


def others() -> str:
    """Proven lower bounds on what a system from outside spends, next to what it was asked for."""
    cells = [cell for run in ("two", "one") for cell in results(f"others/{run}/results.json")["cells"]]
    rows = [
        [
            str(cell["k"]),
            str(cell["columns"]),
            f"{cell['claimed']:g}",
            f"{cell['lower']:.2f}",
            cell["event"].partition(",")[0],
            f"{cell['hits']:,} and {cell['others']:,} of {cell['trials']:,}",
            "**leak**" if cell["failed"] else "none found",
        ]
        for cell in cells
    ]
    heads = ["k", "columns", "ε asked for", "ε, at least", "event", "how often, on either neighbour", "finding"]
    return markdown_table(heads, rows)


def others_sentence() -> str:
    about = [results(f"others/{run}/results.json")["about"] for run in ("two", "one")]
    versions = about[0]["packages"]
    named = listed(f"{name} {versions[name]}" for name in ("diffprivlib", "scikit-learn", "numpy"))
    return (
        f"{named}; {about[0]['fits_of_each_neighbour']:,} fits of each neighbour, half of which chose the event and "
        f"half of which prove. All bounds of a command hold at once with confidence {about[0]['confidence']:.0%}."
    )


def others_budget() -> str:
    """What the mechanisms of one fit are told, with one centre and epsilon = 1."""
    rows = [
        [str(row["columns"]), f"{row['count']:.4f}", f"{row['column']:.4f}", str(row["rounds"]), f"{row['spent']:.3f}"]
        for row in results("others/budget.json")["rows"]
    ]
    return markdown_table(["columns", "ε of a count", "ε of a column's sum", "rounds", "together"], rows)


# --- the forecast -----------------------------------------------------------------------------------------------------


def forecast() -> str:
    kept = results("plan_check.json")
    columns = ("cells", "in_range", "below_high", "within_a_factor_of_2", "within_30_percent")
    rows = []
    for group, words in (("shares", ""), ("shares_of_new_sets", ", new sets")):
        for what, name in (("cost", "extra cost"), ("size", "size error"), ("place", "place error")):
            own = [kept[group][what][column] for column in columns]
            rows.append([name + words, *(str(each) if isinstance(each, int) else percent(each) for each in own)])
    heads = ["error", "fits", "in the range", "below its upper end", "the middle within a factor of 2", "within 30%"]
    return markdown_table(heads, rows)


def forecast_sentence() -> str:
    made, kept = results("plan.json")["rows"], results("plan_check.json")["cells"]
    cases = len({cell["set"] for cell in kept})
    return (
        f"It is a regression on {len(made):,} fits of made-up mixtures of 1 to 100 columns, with a line for the middle "
        f"and one for either tenth. It was then compared with {len(kept)} fits of public sets ({cases} cases), of "
        "which it has seen none."
    )


def forecast_places() -> str:
    kept = results("plan.json")
    fits = [dict(zip(kept["columns"], row, strict=True)) for row in kept["rows"]]
    many = [fit for fit in fits if fit["n"] * fit["epsilon"] / fit["k"] >= 1000 and fit["d"] <= 4 and fit["place"]]
    worst = sorted(many, key=lambda fit: -fit["place"])[: round(len(many) / 10)]
    moved = sum(fit["itself"] >= fit["place"] / 2 for fit in worst)
    return (
        "Of the made-up fits with n·ε/k ≥ 1,000 and up to 4 columns, take the tenth with the largest place errors: in "
        f"{moved} of these {len(worst)}, ordinary k-means with other starts moved at least half as far by itself."
    )


# --- zones ------------------------------------------------------------------------------------------------------------


def zones() -> str:
    """Costs with the stricter of the zones, as multiples of those without any."""
    found = results("zones/zones.json")["found"]
    means = [
        [name, *(f"{own[f'{way}, 0.1']['mean']:.3f}" for way in ("kept rows", "counted up"))]
        for name, own in found.items()
    ]
    return markdown_table(["", "kept rows alone", "counted up"], means)


# --- speed ------------------------------------------------------------------------------------------------------------


def work(name: str) -> dict[str, Any]:
    return next(row for row in results("speed.json")["table"] if row["work"] == name)


def files() -> str:
    """10^8 rows from a file, against reading them."""
    auto = work("auto from Parquet, 100,000,000 x 2")
    rows = [["reading them with pyarrow", f"{auto['peer_seconds']:.1f} s", "1", ""]]
    for name in ("grid", "auto"):
        own, memory = work(f"{name} from Parquet, 100,000,000 x 2"), work(f"{name} from Parquet: peak memory")
        rows.append([f"`{name}`", f"{own['seconds']:.1f} s", f"{own['value']:.1f}x", f"{memory['value']:.2f} GiB"])
    own = work("auto on a sample from Parquet, 100,000,000 x 2")
    against = f"{own['value']:.2f}x of {own['peer_seconds']:.1f} s, measured apart"
    rows.append(['`auto` on a sample (`sample="auto"`)', f"{own['seconds']:.1f} s", against, ""])
    heads = ["10^8 x 2 rows from one Parquet file", "time", "against reading the columns", "peak memory"]
    return markdown_table(heads, rows)


def samples() -> str:
    """Fits of a sample, against what they spare."""
    rows = [row for row in results("speed.json")["table"] if row["part"] == "sample"]
    cells = [[row["work"], f"{row['seconds']:.2f}", row["peer"], f"{row['peer_seconds']:.2f}"] for row in rows]
    return markdown_table(["work", "a sample for 5%", "against", ""], cells)


def growth() -> str:
    powers = [f"n^{work(f'{name}: growth from 100,000 to 100,000,000 rows')['value']:.2f}" for name in ("auto", "grid")]
    load = results("speed.json")["load_average_before"]
    return (
        f"Time grows like {powers[0]} (`auto`) and {powers[1]} (`grid`) from 10^5 to 10^8 rows in memory (other work "
        f"on the machine: a load of {load:.1f} on {results('speed.json')['cores']} cores)."
    )


def parts() -> str:
    """Where the processor seconds of a fit went, before and after."""
    return _parts("before", "after")


def parts_again() -> str:
    """The same, for the changes of decision 0036: both measured in one hour, beside other work."""
    return _parts("earlier", "later")


def _parts(*labels: str) -> str:
    kept = results("parts.json")["versions"]
    sizes = list(kept[labels[0]])
    rows = [
        [name, *(f"{kept[when][size][name]:.2f}" for size in sizes for when in labels)]
        for name in kept[labels[0]][sizes[0]]
    ]
    return markdown_table(["processor seconds", *(f"{size} rows, {when}" for size in sizes for when in labels)], rows)


def whole_fits() -> str:
    """Processor seconds of whole fits and imports, before and after decision 0036."""
    return _whole("earlier", "later")


def fits_of_rows() -> str:
    """The same, before and after decision 0040."""
    return _whole("all steps", "fewer steps")


def _whole(*labels: str) -> str:
    kept = results("parts.json")["whole"]
    rows = [[name, *(f"{kept[when][name]:.2f}" for when in labels)] for name in kept[labels[0]]]
    return markdown_table(["processor seconds", *labels], rows)


def spark() -> str:
    kept = results("spark.json")
    rows = [[f"`{row['algorithm']}`", f"{row['files']:.1f} s", f"{row['spark']:.0f} s"] for row in kept["table"]]
    rows.append(["start-up, not counted above", "", f"{kept['start_seconds']:.0f} s"])
    return markdown_table([f"{kept['rows']:,} x 2 rows", "streamed from files", "Spark"], rows)


def timing() -> str:
    """What an observer of the processor time gains."""
    kept = results("timing.json")["pairs"]
    rows = [
        [name, f"{row['difference_percent']:+.1f}%", f"{row['advantage']:.2f}", f"{row['advantage_by_chance']:.2f}"]
        for name, row in kept.items()
    ]
    return markdown_table(["pair", "middle time", "advantage", "by chance, up to"], rows)


def studio_page() -> str:
    """From the slider's event to the paint, on a large screen."""
    kept = results("studio_4k.json")
    moves = {
        "the slider, to the next level": "slider_to_neighbour_s",
        "the slider, in leaps": "slider_in_leaps_s",
        "another number of centres": "number_of_centres_s",
    }
    rows = [[name, f"{kept[key]['median']:.2f} s", f"{kept[key]['largest']:.2f} s"] for name, key in moves.items()]
    machine = (
        f"{kept['rows']:,} rows on a screen of 3840 x 2160 pixels, drawn in software by Chromium on "
        f"{kept['machine']['cores']} cores that were busy with other work (load {kept['machine']['load']:.0f})."
    )
    return markdown_table(["from the input to the paint", "middle", "largest"], rows) + "\n\n" + machine


def levels() -> str:
    """What centres of each level cost, over `auto` at the epsilon of the least private one."""
    kept = results("levels.json")
    rows = [
        [f"`{each['set']}`", str(each["k"])]
        + [f"{ratio:.3f}" for ratio in each["ratios"][:-1]]
        + [f"{each['ratios'][-1]:.4f} ± {each['error']:.4f}", f"{each['ascending']} of {each['runs']}"]
        for each in kept["sets"]
    ]
    missed = [each["set"] for each in kept["sets"] if each["ratios"][-1] > kept["goal"]]
    rest = f"all but {', '.join(missed)} reach it." if missed else "all of them reach it."
    goal = f"The goal is at most {kept['goal']} at ε = 2: {rest}"
    header = ["set", "k", "ε = 0.1", "0.25", "0.5", "1", "2", "detail ascends"]
    return markdown_table(header, rows) + "\n\n" + goal


# --- sites, groups, papers --------------------------------------------------------------------------------------------


def sites() -> str:
    rows = [
        [f"{row['people']:,}", str(row["k"])]
        + [f"{row[each]:.2f} ± {row[each + '_se']:.2f}" for each in ("k-median", "k-means")]
        for row in results("sites.json")["table"]
    ]
    return markdown_table(["people", "k", "k-median", "k-means"], rows)


def group() -> str:
    """A group of 100 in a sample of 1%, an algorithm of epsilon 0.5."""
    found = group_privacy(epsilon=0.5, rate=0.01, group=100)
    best = found.best_threshold(1e-6)
    two = found.curve[2]
    rows = [
        ["naive: as if there were no sampling", found.naive],
        ["threshold T = 2", two],
        [f"threshold T = {best.threshold}, the best for δ = 10^-6", best],
        ["amplified: one person's promise, a hundred times", found.amplified],
    ]
    shown = [[name, f"{each.epsilon:.3g}", f"{each.delta:.2g}"] for name, each in rows]
    return markdown_table(["promise", "ε for the group", "δ for the group"], shown)


def group_sentence() -> str:
    """A group of 20 in a sample of 5%, an algorithm of epsilon 4."""
    found = group_privacy(epsilon=4, rate=0.05, group=20)
    best = found.best_threshold(1e-3)
    return (
        f"Here ε = {best.epsilon:g} (T = {best.threshold}) and {found.epsilon_at(1e-3):.2f} at δ = 0.001, against "
        f"{found.amplified.epsilon:.2f} amplified and {found.naive.epsilon:g} naive:"
    )


def amplification() -> str:
    """What an inner epsilon a sample allows, for one of 1 in all."""
    rows = []
    for rate in ("0.5", "0.1", "0.01", "0.001"):
        inner = float(inner_cost(Cost(Fraction(1), Fraction(0)), rate=Fraction(rate)).epsilon)
        times = 1 / (float(rate) * inner)
        rows.append([rate, f"{inner:.2f}", f"{times:.2g}" if times < 100 else f"{times:.0f}"])
    return markdown_table(["rate", "inner ε, if the whole is ε = 1", "noise is as for all rows at ε = 1, times"], rows)


def thinned() -> str:
    """What rows of a zone of 0.1, thinned at home for releases of 1, are promised by releases of other sums."""
    rate = math.expm1(0.1) / math.expm1(1)
    sums = (0.5, 1.0, 2.0, 5.0)
    told = [plain(math.log1p(rate * math.expm1(each)) - 1e-12, up=True) for each in sums]
    head = ["ε_zone 0.1, thinned for ε = 1", f"E = {sums[0]:g}", *(f"{each:g}" for each in sums[1:])]
    return markdown_table(head, [["a row in the zone", *told], ["any other row", *(f"{each:g}" for each in sums)]])


def aaai21_flat() -> str:
    """How many rows a grid point needs to be found, at epsilon = 1, by the formulas of the picks."""
    n, domain = 50_000, unit_box(5)
    left, delta = after_size(Fraction(1), Neighbours.ADD_REMOVE), Fraction(n**-1.5)
    stated, exact = (
        share_out(left, delta, k=64, domain=unit_box(100), averages="sums", final_round=True, bound=bound).picks
        for bound in ("stated", "exact")
    )
    points = [
        Cover(domain, (round(radius / math.sqrt(5) * domain.limit),), reach_of(5, 1.0), 1).points(0)
        for radius in (0.1, 0.4)
    ]
    need = [math.log(many) / float(stated.rate) for many in points]
    printed = float(stated.event().epsilon) / (printed_cost(Fraction(1), stated.delta))  # linear in its epsilon
    return (
        f"At ε = 1 the picks get {float(stated.event().epsilon):.2g}, δ_E is {ten_to(float(stated.delta))}, and so "
        f"ε_E/2 is {float(stated.rate):.3g}: on the grid of radius 0.1 ({ten_to(points[0])} points in five dimensions) "
        f"a point needs about {round(need[0], -1):,.0f} rows, on that of radius 0.4 still {round(need[1], -1):,.0f}. "
        f"With the printed bound the picks would need {float(stated.epsilon) / printed:.1f} times as many rows; with "
        f'`bound="exact"` about {float(stated.rate / exact.rate):.1f} times.'
    )


def aaai21_measured() -> str:
    """Which commit measured what, and when."""
    found: dict[str, list[str]] = {}
    for row in results("aaai21/results.json")["figures"]["figure1"]:
        found.setdefault(row["measured"], []).append(row["algorithm"])
    rows = [[*when.split(maxsplit=1), "; ".join(dict.fromkeys(names))] for when, names in sorted(found.items())]
    return markdown_table(["day", "commit", "what"], rows)


def aaai21_literal() -> str:
    """What a program would touch that enumerates rows and offsets anew for every pick."""
    rows = {row["dimensions"]: row for row in results("aaai21/results.json")["figures"]["growth"] if row["growth"] == 1}
    steps = [rows[d + 1]["covering"] / rows[d]["covering"] for d in sorted(rows) if d + 1 in rows]
    many, picks = rows[5]["covering"], 64 * len(cover_of(unit_box(5), size=50_000, growth=1.0, k=64).sides)
    return (
        f"A row is covered by about {geometric_mean(steps):.1f} times as many grid points with each dimension. A "
        f"literal program, which enumerates rows and offsets for every pick, would touch 50,000 x {many:,} points "
        f"{picks:,} times at k = 64: {ten_to(50_000 * many * picks, digits=1)}."
    )


def lloyd_forms() -> str:
    """NICV of the forms of lloyd over that of the printed one, by set."""
    kept = sheet("lloyd/forms.csv")
    forms = [("even", "gaussian"), ("increasing", "laplace"), ("increasing", "gaussian")]
    rows = []
    for name in dict.fromkeys(row["set"] for row in kept):
        own = {
            (row["shares"], row["noise"], row["epsilon"]): row["times_printed"] for row in kept if row["set"] == name
        }
        levels = list(dict.fromkeys(level for *_, level in own))
        rows.append([name, *("; ".join(own[*form, level] for level in levels) for form in forms)])
    heads = [f"{shares} shares, {noise} noise" for shares, noise in forms]
    return markdown_table([f"NICV over the printed form's, ε = {'; '.join(levels)}", *heads], rows)


def hybrid_rule() -> str:
    """How far each way of hybrid is above the better of never and always making the round, on public sets."""
    kept = [row for row in sheet("hybrid/rule.csv") if row["rows"] != "made up"]
    rows = []
    for way, words in (
        ("expected", "Covey's rule"),
        ("printed", "inequality (15)"),
        ("always", "always"),
        ("never", "never"),
    ):
        above = [float(row[way]) / min(float(row["never"]), float(row["always"])) for row in kept]
        rows.append([words, f"{geometric_mean(above):.3f}", f"{max(above):.2f}"])
    sets = len({row["set"] for row in kept})
    return markdown_table([f"NICV over the better way's, {sets} public sets", "geometric mean", "worst"], rows)


def ten_to(value: float, *, digits: int = 2) -> str:
    """1.8·10^8"""
    number, power = f"{value:.{digits - 1}e}".split("e")
    return f"{number}·10^{int(power)}"


def took(paper: str) -> Callable[[], str]:
    def words() -> str:
        minutes = results(f"{paper}/results.json")["machine"]["seconds_of_work"] / 60
        return f"All of it took {minutes:.0f} minutes of busy cores; the quick version takes under a minute."

    return words


def blocki21_runs() -> str:
    kept = results("blocki21/results.json")["settings"]
    return f"k-means and k-median at ε = {kept['epsilon']:g}, {kept['runs']} runs of each cell, of {kept['n']:,} rows."


def of_su16(view: Callable[[Any], str]) -> Callable[[], str]:
    return lambda: view(results("su16/results.json"))


def ipsn17_runs() -> str:
    """How often each cell was run, by figure, form and rows; a cell that was refused stops at once."""
    found: dict[tuple[str, str, str], dict[tuple[int, int], int]] = {}
    for figure in ("figure5", "figure6", "figure7", "figure8"):
        for row in results("ipsn17/results.json")["figures"][figure]:
            key = figure[-1], row["variant"], row.get("relation", "replace-one")
            cell = row["n"], row["k"]
            found.setdefault(key, {})[cell] = max(found.get(key, {}).get(cell, 0), row["runs"])
    rows = []
    for key, cells in found.items():
        by_runs: dict[int, set[int]] = {}
        for (n, _), runs in cells.items():
            by_runs.setdefault(runs, set()).add(n)
        for runs, sizes in sorted(by_runs.items(), reverse=True):
            rows.append([*key, ", ".join(f"{n:,}" for n in sorted(sizes)), str(runs)])
    return markdown_table(["figure", "form", "neighbours", "rows", "runs"], rows)


def how_many() -> str:
    """How often the number of clusters is found, by columns."""
    rows = [
        [
            str(row["columns"]),
            f"{row['exact']} of {row['fits']}",
            f"{row['within_one']} of {row['fits']}",
            f"{row['not_told']} of {row['fits']}",
            f"{row['even_not_told']} of {row['even_fits']}",
        ]
        for row in results("how_many.json")["table"]
    ]
    return markdown_table(["columns", "exactly", "within 1", "not told", "even rows: not told"], rows)


def bounds_ranges() -> str:
    """How private ranges compare to those of the rows."""
    found = results("bounds.json")
    rows = [
        [
            f"{row['strength']:,}",
            percent(row["within_factor_2"]),
            f"{row['median_ratio']:.2f}",
            percent(row["cut_at_most_2_percent"]),
            percent(row["no_range"] / row["tries"]),
            percent(fresh["within_factor_2"]),
        ]
        for row, fresh in zip(found["ranges"], found["fresh_ranges"], strict=True)
    ]
    heads = ["rows x ε of the column", "within a factor of 2 of the range from 1% to 99%", "median ratio"]
    last = f"within a factor of 2: {found['fresh_columns']} columns of other sets"
    return markdown_table([*heads, "of those found, cut at most 2% of the rows", "no range", last], rows)


def bounds_fits() -> str:
    """What fits lose by private bounds."""
    rows = [
        [
            row["set"],
            f"{row['rows']:,}",
            str(row["columns"]),
            "no range" if row["private"] is None else f"{row['private']:.3f}",
            f"{row['public']:.3f}",
            f"{row['quantiles']:.3f}",
            "" if row["private"] is None else f"{row['private'] / row['public']:.3f}",
        ]
        for row in results("bounds.json")["fits"]
    ]
    return markdown_table(
        ["set", "rows", "columns", "private bounds", "public bounds", "1% to 99%", "private to public"], rows
    )


def bounds_sentence() -> str:
    fits = [row for row in results("bounds.json")["fits"] if row["private"] is not None]
    ratios = [row["private"] / row["public"] for row in fits]
    most = sum(ratio > 1.05 for ratio in ratios)
    mean = geometric_mean(ratios)
    return (
        f"The geometric mean of the {len(ratios)} ratios is {mean:.3f}; {most or 'none'} of them "
        f"{'is' if most == 1 else 'are'} above 1.05, and the largest is {max(ratios):.3f}."
    )


VIEWS: dict[str, Callable[[], str]] = {
    "how-many": how_many,
    "bounds-ranges": bounds_ranges,
    "bounds-fits": bounds_fits,
    "bounds-sentence": bounds_sentence,
    "studio-page": studio_page,
    "levels": levels,
    "zones": zones,
    "utility": utility,
    "utility-sentence": utility_sentence,
    "nothing": nothing,
    "hard": hard,
    "families": families,
    "spare": spare,
    "leaderboard": leaderboard,
    "leaderboard-sentence": leaderboard_sentence,
    "others": others,
    "others-sentence": others_sentence,
    "others-budget": others_budget,
    "forecast": forecast,
    "forecast-sentence": forecast_sentence,
    "forecast-places": forecast_places,
    "files": files,
    "samples": samples,
    "growth": growth,
    "parts": parts,
    "parts-again": parts_again,
    "whole-fits": whole_fits,
    "fits-of-rows": fits_of_rows,
    "spark": spark,
    "timing": timing,
    "sites": sites,
    "group": group,
    "group-sentence": group_sentence,
    "ipsn17-runs": ipsn17_runs,
    "amplification": amplification,
    "thinned": thinned,
    "lloyd-forms": lloyd_forms,
    "hybrid-rule": hybrid_rule,
    "blocki21-runs": blocki21_runs,
    "aaai21-flat": aaai21_flat,
    "aaai21-measured": aaai21_measured,
    "aaai21-literal": aaai21_literal,
    **{f"{paper}-work": took(paper) for paper in ("aaai21", "blocki21")},
    **{name: of_su16(view) for name, view in su16.VIEWS.items()},
}


@click.command()
@click.option("--check", is_flag=True, help="Change nothing; name the pages that would change.")
def main(check: bool) -> None:
    """Fill every page from the results."""
    changed = [page for page in pages() if fill(page.read_text(encoding="utf-8")) != page.read_text(encoding="utf-8")]
    for page in changed:
        if not check:
            write_whole(page, fill(page.read_text(encoding="utf-8")).encode())
        click.echo(page.relative_to(ROOT).as_posix())
    raise SystemExit(1 if check and changed else 0)


if __name__ == "__main__":
    main()
