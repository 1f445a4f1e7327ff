"""The rules for figures 1 and 5 of Su et al. 2016: NICV against epsilon. See claims."""

from __future__ import annotations

import numpy as np

from covey.bench.su16.cells import INTERACTIVE, View, listed, share

Verdict = tuple[str, bool]


# --- interactive methods (figure 1) -----------------------------------------------------------------------------------


def lloyd_is_best(view: View) -> Verdict:
    best = of_four(view).argmin(axis=0)
    counts = ", ".join(f"{each} {(best == i).sum()}" for i, each in enumerate(INTERACTIVE))
    return f"lowest in {share((best == 0).mean())} of {best.size} cells ({counts})", (best == 0).mean() > 0.5


def genetic_is_ahead_on_s1_alone(view: View) -> Verdict:
    lloyd, *_, genetic = of_four(view)
    ahead = [cell for cell, better in zip(view.cells(), genetic < lloyd, strict=True) if better]
    only = all(name == "S1" and epsilon < 0.15 for name, epsilon in ahead)
    return f"genetic ahead at {listed(ahead)}", bool(ahead) and only


def gkm_is_worst(view: View) -> Verdict:
    worst = (of_four(view).argmax(axis=0) == 1).mean()
    return f"highest in {share(worst)} of {len(view.cells())} cells", worst >= 0.9


def gkm_3k_is_better(view: View) -> Verdict:
    better = view.curves.ratio("gkm", "gkm-3k", view.cells())
    return f"{better:.2f}", better >= 1.5


def gkm_3k_against_genetic(view: View) -> Verdict:
    against = {name: view.curves.ratio("gkm-3k", "genetic", view.on(name)) for name in view.sets}
    overall = view.curves.ratio("gkm-3k", "genetic", view.cells())
    said = f"{overall:.2f} overall; " + ", ".join(f"{name} {value:.2f}" for name, value in against.items())
    return said, 0.5 <= overall <= 2 and against["TIGER"] < 1 and against["Lifesci"] < 1


def of_four(view: View) -> np.ndarray:
    return np.stack([view.curves.of(each, view.cells()) for each in INTERACTIVE])


# --- the grid against DPLloyd (figure 1) ------------------------------------------------------------------------------


def grid_is_ahead_at_small_epsilon(view: View) -> Verdict:
    small = view.cells(most=0.2)
    ratios = {name: view.curves.ratio("lloyd", "grid", view.on(name, most=0.2)) for name in view.sets}
    ahead = (view.curves.of("grid", small) < view.curves.of("lloyd", small)).mean()
    said = ", ".join(f"{name} {value:.3g}" for name, value in ratios.items())
    return f"{said}; grid ahead in {share(ahead)} of cells", min(ratios.values()) > 1


def gap_narrows(view: View) -> Verdict:
    first, last = view.epsilons[0], view.epsilons[-1]
    ends = {
        name: [view.curves.ratio("lloyd", "grid", [(name, epsilon)]) for epsilon in (first, last)] for name in view.sets
    }
    said = ", ".join(f"{name} {at_first:.3g} to {at_last:.3g}" for name, (at_first, at_last) in ends.items())
    return said, all(abs(np.log(at_last)) < abs(np.log(at_first)) for at_first, at_last in ends.values())


def lloyd_is_ahead(view: View) -> Verdict:
    ahead = (view.curves.of("lloyd", view.cells()) < view.curves.of("grid", view.cells())).mean()
    return f"in {share(ahead)} of {len(view.cells())} cells", ahead >= 0.9


# --- Hybrid (figure 5) ------------------------------------------------------------------------------------------------


def hybrid_is_as_good(view: View) -> Verdict:
    cells = view.cells(least=0.5)
    beyond = view.curves.of("hybrid", cells) / np.minimum(view.curves.of("grid", cells), view.curves.of("lloyd", cells))
    worse = [cell for cell, ratio in zip(cells, beyond, strict=True) if ratio > 1.01]
    as_good = 1 - len(worse) / len(cells)
    said = f"in {share(as_good)} of {len(cells)} cells; worst {beyond.max():.3f} times"
    return said + (f"; not at {listed(worse)}" if worse else ""), as_good >= 0.9


def hybrid_is_best(view: View) -> Verdict:
    table = np.stack([view.curves.of(each, view.cells()) for each in ("hybrid", "grid", "lloyd")])
    best = (table.argmin(axis=0) == 0).mean()
    return f"in {share(best)} of {len(view.cells())} cells", best > 0.5


def gowalla_at_a_larger_epsilon(view: View) -> Verdict:
    at = [("Gowalla", 0.7)]
    hybrid, grid = (float(view.curves.of(each, at)[0]) for each in ("hybrid", "grid"))
    made = float(view.curves.of("hybrid", at, "refined")[0])
    said = f"hybrid {hybrid:.5f}, grid {grid:.5f}; the round was made in {share(made)} of the runs"
    return said, hybrid <= grid and made > 0.5


def round_pays_on_adult(view: View) -> Verdict:
    """Where Hybrid falls back it is the grid, measured on its own."""
    at = [("Adult-num", view.epsilons[0])]
    back, forced, hybrid = (float(view.curves.of(each, at)[0]) for each in ("grid", "hybrid, forced", "hybrid"))
    made = share(float(view.curves.of("hybrid", at, "refined")[0]))
    said = (
        f"falls back {back:.3f}, forced {forced:.3f}; hybrid itself {hybrid:.3f}, with the round in {made} of its runs"
    )
    return said, forced < back
