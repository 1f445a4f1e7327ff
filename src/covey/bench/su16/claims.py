"""The statements of Su et al. 2016 next to what was measured. Each rule is fixed here; each verdict is computed.

A rule turns the paper's words into a test on the numbers ("most" is more than half, "almost all" at least 90%,
"small" is an epsilon of at most 0.2, "larger" at least 0.5). Low-dimensional sets are the paper's four.
"""

from __future__ import annotations

import numpy as np

from covey.bench.su16.apart import heat_maps, taken_apart
from covey.bench.su16.cells import HIGH, INTERACTIVE, LOW, Claim, Curves, Figures, Row, listed, share


def judge(figures: Figures, forced: list[Row]) -> list[Row]:
    """Every claim: the paper's words, the rule, what was measured, and whether that reproduces it."""
    claims: list[Row] = []

    def claim(figure: str, paper: str, rule: str, measured: str, reproduced: bool) -> None:
        verdict = {"paper": paper, "rule": rule, "measured": measured, "reproduced": bool(reproduced)}
        claims.append({"figure": figure, **verdict})

    curves = Curves(figures["figure1"] + figures["figure5"])
    interactive(curves, claim)
    grid_against_lloyd(curves, claim)
    hybrid_against_both(curves, forced, claim)
    heat_maps(figures, claim)
    taken_apart(figures, claim)
    return claims


def interactive(curves: Curves, claim: Claim) -> None:
    cells = curves.cells(LOW + HIGH)
    table = np.stack([curves.of(each, cells) for each in INTERACTIVE])
    best, worst = table.argmin(axis=0), table.argmax(axis=0)
    others = {each: int((best == i).sum()) for i, each in enumerate(INTERACTIVE)}
    counts = ", ".join(f"{each} {count}" for each, count in others.items())
    claim(
        "1",
        "DPLloyd is the best interactive method in most cases",
        "lloyd lowest of the four in more than half of the cells",
        f"lowest in {share((best == 0).mean())} of {len(cells)} cells ({counts})",
        (best == 0).mean() > 0.5,
    )
    ahead = [cell for cell, genetic, lloyd in zip(cells, table[3], table[0], strict=True) if genetic < lloyd]
    claim(
        "1",
        "DPLloyd is worse than PGkM only on S1 below an epsilon of 0.15",
        "genetic below lloyd somewhere on S1 below 0.15, and nowhere else",
        f"genetic ahead at {listed(ahead)}",
        bool(ahead) and all(name == "S1" and epsilon < 0.15 for name, epsilon in ahead),
    )
    claim(
        "1",
        "GkM is always much worse than the others",
        "gkm highest of the four in at least 90% of the cells",
        f"highest in {share((worst == 1).mean())} of {len(cells)} cells",
        (worst == 1).mean() >= 0.9,
    )
    better = curves.ratio("gkm", "gkm-3k", cells)
    claim(
        "1",
        "GkM-3K performs much better than GkM",
        "geometric mean of NICV(GkM)/NICV(GkM-3K) at least 1.5",
        f"{better:.2f}",
        better >= 1.5,
    )
    against = {name: curves.ratio("gkm-3k", "genetic", curves.cells([name])) for name in LOW + HIGH}
    overall = curves.ratio("gkm-3k", "genetic", cells)
    claim(
        "1",
        "GkM-3K is competitive with PGkM and sometimes far ahead, such as on TIGER and Lifesci",
        "geometric mean of NICV(GkM-3K)/NICV(PGkM) between 1/2 and 2 overall, and below 1 on these two",
        f"{overall:.2f} overall; " + ", ".join(f"{name} {value:.2f}" for name, value in against.items()),
        0.5 <= overall <= 2 and against["TIGER"] < 1 and against["Lifesci"] < 1,
    )


def grid_against_lloyd(curves: Curves, claim: Claim) -> None:
    small = curves.cells(LOW, most=0.2)
    ratios = {name: curves.ratio("lloyd", "grid", curves.cells([name], most=0.2)) for name in LOW}
    ahead = (curves.of("grid", small) < curves.of("lloyd", small)).mean()
    claim(
        "1",
        "EUGkM clearly outperforms DPLloyd on the four low-dimensional sets at small epsilon",
        "geometric mean of NICV(lloyd)/NICV(grid) for epsilon up to 0.2 above 1 on each",
        ", ".join(f"{name} {value:.3g}" for name, value in ratios.items()) + f"; grid ahead in {share(ahead)} of cells",
        min(ratios.values()) > 1,
    )
    first_last = curves.epsilons[0], curves.epsilons[-1]
    ends, printed = (
        {name: [curves.ratio("lloyd", grid, [(name, epsilon)]) for epsilon in first_last] for name in LOW}
        for grid in ("grid", "grid, no swaps")
    )
    claim(
        "1",
        "their gap becomes smaller as epsilon increases",
        "NICV(lloyd)/NICV(grid) nearer to 1 at the largest epsilon than at the smallest, on each of the four",
        "; without swaps: ".join(
            ", ".join(f"{name} {first:.3g} to {last:.3g}" for name, (first, last) in each.items())
            for each in (ends, printed)
        ),
        all(abs(np.log(last)) < abs(np.log(first)) for first, last in ends.values()),
    )
    cells = curves.cells(HIGH)
    ahead = (curves.of("lloyd", cells) < curves.of("grid", cells)).mean()
    claim(
        "1",
        "DPLloyd outperforms EUGkM on the two high-dimensional sets at almost all epsilon",
        "lloyd below grid in at least 90% of the cells",
        f"in {share(ahead)} of {len(cells)} cells",
        ahead >= 0.9,
    )


def hybrid_against_both(curves: Curves, forced: list[Row], claim: Claim) -> None:
    larger = curves.cells(LOW + HIGH, least=0.5)
    both = np.minimum(curves.of("grid", larger), curves.of("lloyd", larger))
    as_good = (curves.of("hybrid", larger) <= 1.01 * both).mean()
    claim(
        "5",
        "at larger epsilon Hybrid is at least as good as both",
        "for epsilon from 0.5, within 1% of the better of grid and lloyd in at least 90% of the cells",
        f"in {share(as_good)} of {len(larger)} cells; worst {(curves.of('hybrid', larger) / both).max():.3f} times",
        as_good >= 0.9,
    )
    high = curves.cells(HIGH)
    table = np.stack([curves.of(each, high) for each in ("hybrid", "grid", "lloyd")])
    best = (table.argmin(axis=0) == 0).mean()
    claim(
        "5",
        "on the high-dimensional sets Hybrid outperforms the other two in most cases",
        "hybrid lowest in more than half of the cells",
        f"in {share(best)} of {len(high)} cells",
        best > 0.5,
    )
    at = [("Gowalla", 0.7)]
    refined = curves.refined[at[0]]
    hybrid, grid = float(curves.of("hybrid", at)[0]), float(curves.of("grid", at)[0])
    claim(
        "5",
        "Gowalla at 0.7: Hybrid 0.02172, EUGkM 0.02174",
        "hybrid at most grid, with the round made in most runs (other rows, so other values)",
        f"hybrid {hybrid:.5f}, grid {grid:.5f}; the round was made in {share(refined)} of the runs",
        hybrid <= grid and refined > 0.5,
    )
    least = forced[0]["epsilon"]
    back, on = float(curves.of("hybrid", [("Adult-num", least)])[0]), forced[0]["nicv"]
    claim(
        "5",
        "Adult-num at 0.05: 0.370 when Hybrid falls back, 0.244 if the round is made",
        "the forced round gives a lower NICV",
        f"falls back {back:.3f}, forced {on:.3f}",
        on < back,
    )


def claims_lines(claims: list[Row]) -> list[str]:
    """The claims for a terminal: a verdict, the paper's words, what was measured."""
    verdicts = {True: "reproduced    ", False: "not reproduced"}
    return [f"{verdicts[each['reproduced']]}  {each['paper']} [{each['measured']}]" for each in claims]
