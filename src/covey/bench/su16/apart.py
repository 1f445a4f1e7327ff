"""The rules for synthetic sets (figures 2, 6) and for why (figures 3, 4, 7) of Su et al. 2016. See claims."""

from __future__ import annotations

import numpy as np

from covey.bench.su16.cells import INTERACTIVE, PRINTED, SUFFIX, View, share

Verdict = tuple[str, bool]
THETAS = {"theta 2": "grid, theta 2", "theta 10": "grid", "theta 50": "grid, theta 50"}


# --- synthetic sets (figures 2 and 6) ---------------------------------------------------------------------------------


def lloyd_is_best(view: View) -> Verdict:
    cells = view.heat.all
    best = (np.stack([view.heat.of(each, cells) for each in INTERACTIVE]).argmin(axis=0) == 0).mean()
    return f"in {share(best)} of {len(cells)} cells", best > 0.5


def theta_10_is_good(view: View) -> Verdict:
    base = view.heat.of("grid", view.heat.all, "baseline")
    nicv = {words: base + view.heat.of(each, view.heat.all) for words, each in THETAS.items()}
    least = np.minimum.reduce(list(nicv.values()))
    near = {words: (values <= 1.05 * least).mean() for words, values in nicv.items()}
    return ", ".join(f"{words} {share(part)}" for words, part in near.items()), near["theta 10"] > 0.5


def grid_minds_d_and_lloyd_k(view: View) -> Verdict:
    thirds = {
        (each, by): [view.heat.third(each, axis, upper=upper) for upper in (False, True)]
        for each in ("grid", "lloyd")
        for axis, by in enumerate("dk")
    }
    grown = {what: more - less for what, (less, more) in thirds.items()}
    said = "; ".join(f"{each} in {by} {less:.3f} to {more:.3f}" for (each, by), (less, more) in thirds.items())
    return said, grown["grid", "d"] > grown["lloyd", "d"] and grown["lloyd", "k"] > grown["grid", "k"]


def hybrid_scales_better(view: View) -> Verdict:
    hybrid, grid = (view.heat.of(each, view.heat.all) for each in ("hybrid", "grid"))
    said = (
        f"mean {hybrid.mean():.4f} against {grid.mean():.4f}; hybrid ahead in {share((hybrid <= grid).mean())} of cells"
    )
    thirds = [[view.heat.third(each, axis, upper=True) for each in ("hybrid", "grid")] for axis in (0, 1)]
    return said, all(ours < theirs for ours, theirs in thirds)


# --- blocks and genetic search taken apart (figures 3 and 4) ----------------------------------------------------------


def noise_dominates(view: View) -> Verdict:
    added = added_by_blocks(view)
    more = [added[name, "noise", 0.6] > added[name, "aggregation", 0.6] for name in view.sets]
    return f"on {sum(more)} of {len(more)} sets", all(more)


def smaller_blocks_are_better(view: View) -> Verdict:
    added = added_by_blocks(view)
    sizes = sorted({exponent for _, _, exponent in added})
    best = {name: min(sizes, key=lambda size: added[name, "gkm", size]) for name in view.sets}
    said = "best exponents: " + ", ".join(f"{name} {size:g}" for name, size in best.items())
    return said, max(best.values()) < 0.6


def added_by_blocks(view: View) -> dict[tuple[str, str, float], float]:
    return {
        (row["set"], row["what"], row["exponent"]): row["nicv"] - row["baseline"] for row in view.figures["figure3"]
    }


def lloyd_is_faster_at_first(view: View) -> Verdict:
    trace = by_round(view)
    early = [trace[name, "lloyd", 3] < trace[name, "genetic search", 3] for name in view.sets]
    return f"on {sum(early)} of {len(early)} sets", all(early)


def gene_overtakes(view: View) -> Verdict:
    trace = by_round(view)
    last = max(i for _, _, i in trace)
    late = {name: trace[name, "genetic search", last] < trace[name, "lloyd", last] for name in view.sets}
    where = ", ".join(name for name, lower in late.items() if lower) or "none"
    return f"after {last} rounds on {sum(late.values())} of {len(late)} sets ({where})", sum(late.values()) > len(
        late
    ) / 2


def image_after_three_rounds(view: View) -> Verdict:
    trace = by_round(view)
    last = max(i for _, _, i in trace)
    goal = 1.01 * next(row["baseline"] for row in view.figures["figure4"] if row["set"] == "Image")
    lloyd, gene = (
        next((i for i in range(1, last + 1) if trace["Image", what, i] <= goal), last + 1)
        for what in ("lloyd", "genetic search")
    )
    said = ", ".join(
        f"{name} after {first if first <= last else f'more than {last}'}"
        for name, first in (("Lloyd", lloyd), ("Gene", gene))
    )
    return said, lloyd <= 3 and gene > 10


def by_round(view: View) -> dict[tuple[str, str, int], float]:
    return {(row["set"], row["what"], row["round"]): row["nicv"] for row in view.figures["figure4"]}


# --- times (figure 7) -------------------------------------------------------------------------------------------------


def lloyd_takes_less_time(view: View) -> Verdict:
    cpu = {(row["set"], row["algorithm"]): row["cpu"] for row in view.figures["figure7"]}
    grid = "grid" + (SUFFIX if view.form == PRINTED else "")
    slower = {name: cpu[name, grid] / cpu[name, "lloyd"] for name in view.sets}
    said = ", ".join(f"{value:.1f} ({name})" for name, value in slower.items())
    return f"grid takes {said} times as long", min(slower.values()) > 1
