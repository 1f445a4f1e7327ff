"""The statements of Su et al. 2016 on synthetic sets (figures 2, 6) and on why (figures 3, 4, 7). See claims."""

from __future__ import annotations

import numpy as np

from covey.bench.su16.cells import INTERACTIVE, Claim, Curves, Figures, lower_third, share, upper_third


def heat_maps(figures: Figures, claim: Claim) -> None:
    table = Curves([])
    rows = figures["figure2"] + figures["figure6"]
    table.nicv = {(row["algorithm"], row["d"], row["k"]): row["difference"] for row in rows}
    cells = sorted({(row["d"], row["k"]) for row in rows})
    best = np.stack([table.of(each, cells) for each in INTERACTIVE]).argmin(axis=0)
    claim(
        "2",
        "on the synthetic sets, too, DPLloyd is the best interactive method in most cases",
        "lloyd lowest of the four in more than half of the cells",
        f"in {share((best == 0).mean())} of {len(cells)} cells",
        (best == 0).mean() > 0.5,
    )
    by_theta = {each: table.of(each, cells) for each in ("grid, theta 2", "grid", "grid, theta 50")}
    base = np.array([next(row["baseline"] for row in rows if (row["d"], row["k"]) == cell) for cell in cells])
    least = np.minimum.reduce(list(by_theta.values()))
    near = {each: ((base + values) <= 1.05 * (base + least)).mean() for each, values in by_theta.items()}
    claim(
        "2",
        "theta = 10 works well in most cases",
        "NICV within 5% of the best of theta = 2, 10, 50 in more than half of the cells",
        ", ".join(
            f"{each.replace('grid, ', '') if ',' in each else 'theta 10'} {share(n)}" for each, n in near.items()
        ),
        near["grid"] > 0.5,
    )
    thirds = {
        (each, by): (lower_third(table, each, cells, axis), upper_third(table, each, cells, axis))
        for each in ("grid", "lloyd")
        for axis, by in enumerate("dk")
    }
    grown = {what: more - less for what, (less, more) in thirds.items()}
    claim(
        "2",
        "EUGkM is more sensitive to the dimension, DPLloyd to the number of clusters",
        "from the lower to the upper third of d, grid's mean difference grows by more than lloyd's; of k, lloyd's",
        "; ".join(f"{each} in {by} {less:.3f} to {more:.3f}" for (each, by), (less, more) in thirds.items()),
        grown["grid", "d"] > grown["lloyd", "d"] and grown["lloyd", "k"] > grown["grid", "k"],
    )
    gap = table.of("hybrid", cells), table.of("grid", cells)
    ahead = (gap[0] <= gap[1]).mean()
    claim(
        "6",
        "Hybrid is more scalable than EUGkM with respect to both k and d",
        "hybrid's mean difference to the baseline below grid's in the upper third of d and of k",
        f"mean {gap[0].mean():.4f} against {gap[1].mean():.4f}; hybrid ahead in {share(ahead)} of cells",
        all(upper_third(table, "hybrid", cells, axis) < upper_third(table, "grid", cells, axis) for axis in (0, 1)),
    )


def taken_apart(figures: Figures, claim: Claim) -> None:
    blocks = {(row["set"], row["what"], row["exponent"]): row["nicv"] - row["baseline"] for row in figures["figure3"]}
    sizes = sorted({exponent for _, _, exponent in blocks})
    names = list(dict.fromkeys(name for name, _, _ in blocks))
    shares = [blocks[name, "noise", 0.6] > blocks[name, "aggregation", 0.6] for name in names]
    claim(
        "3",
        "with blocks of N^0.6 rows the error of GkM is dominated by the noise, much above that of the aggregation",
        "at N^0.6, the noise alone adds more to the baseline than the aggregation alone, on each set",
        f"on {sum(shares)} of {len(names)} sets",
        all(shares),
    )
    best = {name: min(sizes, key=lambda size: blocks[name, "gkm", size]) for name in names}
    claim(
        "3",
        "the error of GkM keeps falling as blocks get smaller, until their size is close to k",
        "the best exponent is below 0.6 on each set",
        "best exponents: " + ", ".join(f"{name} {size:g}" for name, size in best.items()),
        max(best.values()) < 0.6,
    )
    trace = {(row["set"], row["what"], row["round"]): row["nicv"] for row in figures["figure4"]}
    last = max(i for _, _, i in trace)
    early = [trace[name, "lloyd", 3] < trace[name, "genetic search", 3] for name in names]
    late = [trace[name, "genetic search", last] < trace[name, "lloyd", last] for name in names]
    claim(
        "4",
        "Lloyd improves much faster than Gene in the first few iterations",
        "Lloyd lower after 3 rounds on each set",
        f"on {sum(early)} of {len(names)} sets",
        all(early),
    )
    claim(
        "4",
        "generally, Gene overtakes Lloyd as the number of iterations increases",
        f"Gene lower than the mean of Lloyd's starts after {last} rounds on more than half of the sets",
        f"on {sum(late)} of {len(names)} sets",
        sum(late) > len(names) / 2,
    )
    goal = 1.01 * next(row["baseline"] for row in figures["figure4"] if row["set"] == "Image")
    first = {
        what: next((i for i in range(1, last + 1) if trace["Image", what, i] <= goal), None)
        for what in ("lloyd", "genetic search")
    }
    lloyd, gene = first["lloyd"], first["genetic search"]
    claim(
        "4",
        "on Image, Lloyd reaches the baseline after three iterations, Gene needs more than 10",
        "mean within 1% of the baseline: Lloyd after at most 3 rounds, Gene after more than 10",
        f"Lloyd after {lloyd or f'more than {last}'}, Gene after {gene or f'more than {last}'}",
        lloyd is not None and lloyd <= 3 and (gene is None or gene > 10),
    )
    cpu = {(row["set"], row["algorithm"]): row["cpu"] for row in figures["figure7"]}
    slower = {name: cpu[name, "grid"] / cpu[name, "lloyd"] for name in names}
    claim(
        "7",
        "DPLloyd runs much faster than EUGkM",
        "lloyd needs less time than grid on each set",
        "grid takes " + ", ".join(f"{value:.1f} ({name})" for name, value in slower.items()) + " times as long",
        min(slower.values()) > 1,
    )
