"""The rules by which `covey bench ipsn17` judges: each turns the tables and a form's curves into a verdict."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from covey.bench.harness import Row
from covey.bench.ipsn17.tables import PAPER_SLOPES, PAPER_TABLE

PAPER_TIMES = {1_000_000: 40.0, 10_000_000: 3600.0}  # seconds that the paper's text reports, k = 5, on 12 cores
STRAIGHT = 0.95  # R² of what is "approximately linear"
Figures = dict[str, list[Row]]
Verdict = tuple[str, bool | None]  # what was measured, and whether that reproduces the statement


@dataclass(frozen=True)
class Form:
    """The names of one form's curves."""

    name: str
    ball: str
    time: str
    four: str  # columns
    net: str


FORMS = (
    Form("printed", "ball, printed form", "ball, printed form and grid", "ball, parts of 10,000", "net, printed form"),
    Form("covey", "ball", "ball", "ball", "net"),
)
Rule = Callable[[Figures, Form], Verdict]


# --- running time -----------------------------------------------------------------------------------------------------


def by_rows(rows: Iterable[Row], variant: str, k: int) -> dict[int, float]:
    return {row["n"]: row["cpu"] for row in rows if row["variant"] == variant and row["k"] == k}


def seconds(tables: Figures, form: Form) -> Verdict:
    found = by_rows(tables["figure3"], form.time, 5)
    both = {n: (found[n], most) for n, most in PAPER_TIMES.items() if n in found}
    said = "; ".join(f"{n:,} rows {cpu:.2g} s" for n, (cpu, _) in both.items())
    return said or "not measured", all(cpu <= most for cpu, most in both.values()) if both else None


def straight_time(figure: str, curve: Callable[[Form], str]) -> Rule:
    def rule(tables: Figures, form: Form) -> Verdict:
        own = {k: by_rows(tables[figure], curve(form), k) for k in (1, 5)}
        fits = {k: fit(np.log(list(each)), np.log(list(each.values()))) for k, each in own.items() if len(each) > 2}
        said = ", ".join(f"k = {k}: R² = {r2:.3f}" for k, (_, r2) in fits.items())
        return said or "not measured", all(r2 >= STRAIGHT for _, r2 in fits.values()) if fits else None

    return rule


def growth(tables: Figures, form: Form) -> Verdict:
    own = {k: by_rows(tables["figure3"], form.time, k) for k in PAPER_SLOPES}
    fits = {k: fit(np.log(list(each)), np.log(list(each.values())))[0] for k, each in own.items() if len(each) > 2}
    said = ", ".join(f"k = {k}: n^{slope:.2f}" for k, slope in fits.items())
    near = all(abs(slope - PAPER_SLOPES[k]) <= 0.2 for k, slope in fits.items())
    return said or "not measured", near if fits else None


def more_centres_more_time(tables: Figures, form: Form) -> Verdict:
    one, five = (by_rows(tables["figure3"], form.time, k) for k in (1, 5))
    apart = {n: five[n] - one[n] for n in sorted(one) if n in five}
    if len(apart) < 2:
        return "not measured", None
    gaps = list(apart.values())
    said = ", ".join(f"{n:,} rows {gap:+.2g} s" for n, gap in apart.items())
    return said, min(gaps) > 0 and gaps[-1] > gaps[0]


def four_columns(tables: Figures, form: Form) -> Verdict:
    two, four = by_rows(tables["figure3"], form.time, 1), by_rows(tables["figure4"], form.four, 1)
    ratios = {n: four[n] / two[n] for n in sorted(two) if n in four}
    if not ratios:
        return "not measured", None
    mean = float(np.exp(np.mean(np.log(list(ratios.values())))))
    return f"{mean:.2g} times the time of two columns", 0.5 <= mean <= 2


def jump(tables: Figures, form: Form) -> Verdict:
    own = sorted((row["n"], row["side"], row["cpu"]) for row in tables["jump"] if row["variant"] == form.time)
    said, good = [], []
    for first, last, beyond in zip(own[::3], own[1::3], own[2::3], strict=True):
        within, over = last[2] / first[2], beyond[2] / last[2]
        said.append(
            f"{last[1]} lines: {within:.2f} times from {first[0]:,} to {last[0]:,} rows, {over:.2f} to {beyond[0]:,}"
        )
        good.append(over >= 1.5 and over > within)
    return "; ".join(said) or "not measured", all(good) if good else None


# --- coreset size -----------------------------------------------------------------------------------------------------


def cells(tables: Figures, form: Form, figure: str = "figure5") -> list[Row]:
    """The cells of a figure with an answer, on the paper's kind of rows and under its relation."""
    return [
        row
        for row in tables[figure]
        if row["variant"] == form.ball
        and row["set"] == "cabs"
        and row["relation"] == "replace-one"
        and not row["refused"]
    ]


def lines(rows: Sequence[Row], along: str) -> list[list[Row]]:
    """Cells that differ in one thing alone, in its order."""
    others = [name for name in ("n", "k", "epsilon") if name != along]
    found: dict[tuple[float, ...], list[Row]] = {}
    for row in sorted(rows, key=lambda each: each[along]):
        found.setdefault(tuple(row[name] for name in others), []).append(row)
    return list(found.values())


def sizes_grow(tables: Figures, form: Form) -> Verdict:
    said, good = [], []
    own = cells(tables, form)
    for along in ("n", "epsilon", "k"):
        among = [*own, *cells(tables, form, "figure6")] if along == "k" else own  # the ladders share few epsilons
        steps = [
            b["size"] - a["size"] for line in lines(among, along) for a, b in pairwise(line) if a[along] < b[along]
        ]
        larger, smaller = (np.mean([sign * step > 1e-9 for step in steps]) if steps else 0.0 for sign in (1, -1))
        said.append(f"{along}: larger in {larger:.0%}, smaller in {smaller:.0%} of {len(steps)}")
        good.append(not steps or (larger > 0.5 and smaller <= 0.05))
    return "; ".join(said), all(good) if own else None


def sizes_straight(tables: Figures, form: Form) -> Verdict:
    long = [line for line in lines(cells(tables, form), "epsilon") if len(line) > 2]
    fits = [fit(np.log([row["epsilon"] for row in line]), np.array([row["size"] for row in line]))[1] for line in long]
    said = f"least R² {min(fits):.3f} of {len(fits)} curves" if fits else "too few cells"
    return said, min(fits) >= STRAIGHT if fits else None


def stages(tables: Figures, form: Form) -> Verdict:
    same: dict[int, list[bool]] = {}
    for row in tables["stages"]:
        if row["variant"] == form.ball:
            steps = [a == b for a, b in pairwise(row["rounds"]) if a >= row["k"]]
            same.setdefault(row["k"], []).extend(steps)
    shares = {k: float(np.mean(each)) for k, each in same.items() if each}
    said = ", ".join(f"k = {k}: in {share:.0%}" for k, share in shares.items())
    most = shares.get(1, 0.0)
    clear = most > 0.5 and all(share < most for k, share in shares.items() if k > 1)
    return said or "not measured", clear if len(shares) > 1 else None


def a_point_a_round(tables: Figures, form: Form) -> Verdict:
    own = cells(tables, form)
    equal = sum(row["size"] == row["round"] for row in own)
    return f"in {equal} of {len(own)} cells", equal == len(own) if own else None


# --- utility ----------------------------------------------------------------------------------------------------------


def errors_fall(tables: Figures, form: Form) -> Verdict:
    long = [line for line in lines(cells(tables, form), "epsilon") if len(line) > 2]
    found = [rank_correlation([row["epsilon"] for row in line], [row["error"] for row in line]) for line in long]
    said = f"from {min(found):.2f} to {max(found):.2f} in {len(found)} curves" if found else "too few cells"
    return said, max(found) <= -0.9 if found else None


def errors_waver(tables: Figures, form: Form) -> Verdict:
    own = [line for line in lines(cells(tables, form), "epsilon") if line[0]["k"] == 1]
    steps = [b["error"] >= 0.99 * a["error"] for line in own for a, b in pairwise(line)]
    return f"in {sum(steps)} of {len(steps)} steps", any(steps) if steps else None


def few_points(tables: Figures, form: Form) -> Verdict:
    own = [row["size"] for row in cells(tables, form) if row["k"] == 1 and row["epsilon"] <= 0.1]
    return f"at most {max(own):g}" if own else "not measured", max(own) < 10 if own else None


def smallest(tables: Figures, form: Form) -> dict[tuple[int, int], float | None]:
    return {(row["k"], row["n"]): row["smallest_epsilon"] for row in tables["table2"] if row["variant"] == form.ball}


def feasible_values(tables: Figures, form: Form) -> Verdict:
    own = smallest(tables, form)
    ratios = [found / PAPER_TABLE[at] for at, found in own.items() if found is not None and at in PAPER_TABLE]
    wanted = [at for at in own if at in PAPER_TABLE]
    if not wanted:
        return "not measured", None
    span = f", {min(ratios):.2g} to {max(ratios):.2g} times the paper's" if ratios else ""
    near = sum(0.5 <= ratio <= 2 for ratio in ratios)
    return f"{near} of {len(wanted)}{span}", near == len(wanted)


def feasible_order(tables: Figures, form: Form) -> Verdict:
    own = {at: found if found is not None else np.inf for at, found in smallest(tables, form).items()}
    ks, ns = (sorted({at[i] for at in own}) for i in (0, 1))
    if len(ks) < 2 or len(ns) < 2:
        return "not measured", None
    in_n = [own[k, b] <= own[k, a] for k in ks for a, b in pairwise(ns)]
    in_k = [own[a, n] <= own[b, n] for n in ns for a, b in pairwise(ks)]
    ends = [own[k, ns[-1]] < own[k, ns[0]] for k in ks] + [own[ks[0], n] < own[ks[-1], n] for n in ns]
    said = f"{sum(in_n)} of {len(in_n)} steps in n, {sum(in_k)} of {len(in_k)} in k"
    return f"{said}; strictly in {sum(ends)} of {len(ends)}", all(in_n) and all(in_k) and all(ends)


def too_large(tables: Figures, form: Form) -> Verdict:
    own = smallest(tables, form)
    if (10, 100_000) not in own:
        return "not measured", None
    found = own[10, 100_000]
    return "none that was tried is enough" if found is None else f"{found:g}", found is None or found > 1


def errors_by_centres(tables: Figures, form: Form) -> dict[float, list[Row]]:
    own = cells(tables, form, "figure6")
    found = {epsilon: [row for row in own if row["epsilon"] == epsilon] for epsilon in {row["epsilon"] for row in own}}
    return {epsilon: rows for epsilon, rows in sorted(found.items()) if len(rows) > 2}


def errors_grow_with_centres(tables: Figures, form: Form) -> Verdict:
    own = errors_by_centres(tables, form)
    found = {e: rank_correlation([r["k"] for r in rows], [r["error"] for r in rows]) for e, rows in own.items()}
    said = ", ".join(f"ε = {epsilon:g}: {value:.2f}" for epsilon, value in found.items())
    return said or "too few cells", min(found.values()) >= 0.9 if found else None


def faster_at_small_epsilon(tables: Figures, form: Form) -> Verdict:
    own = errors_by_centres(tables, form)
    slopes = {
        e: fit(np.array([r["k"] for r in rows]), np.array([r["error"] for r in rows]))[0] for e, rows in own.items()
    }
    said = ", ".join(f"ε = {epsilon:g}: {slope:.3g} a centre" for epsilon, slope in slopes.items())
    falling = all(a > b for a, b in pairwise(slopes.values()))
    return said or "too few cells", falling if len(slopes) > 1 else None


# --- the comparison with the coreset of 2009, and the map -------------------------------------------------------------


def compared(tables: Figures, form: Form) -> list[tuple[Row, Row]]:
    found = {(row["variant"], row["n"]): row for row in tables["figure7"] if not row["refused"]}
    ns = sorted({n for _, n in found})
    return [(found[form.ball, n], found[form.net, n]) for n in ns if {(form.ball, n), (form.net, n)} <= found.keys()]


def clearly_smaller(tables: Figures, form: Form) -> Verdict:
    both = compared(tables, form)
    good = [net["error"] - ball["error"] > 2 * np.hypot(ball["se"], net["se"]) for ball, net in both]
    said = "; ".join(f"{ball['n']:,} rows {ball['error']:.3g} against {net['error']:.3g}" for ball, net in both)
    return said or "refused", all(good) if both else None


def size_ratio(tables: Figures, form: Form) -> Verdict:
    both = compared(tables, form)
    ratios = [net["size"] / ball["size"] for ball, net in both]
    said = ", ".join(f"{ball['n']:,} rows {ratio:.0f}" for (ball, _), ratio in zip(both, ratios, strict=True))
    return said or "refused", all(20 <= ratio <= 40 for ratio in ratios) if both else None


def signs(tables: Figures, form: Form) -> Verdict:
    both = compared(tables, form)
    shares = [net["negative"] / net["size"] for _, net in both]
    ours = sum(ball["negative"] for ball, _ in both)
    said = f"{min(shares):.0%} to {max(shares):.0%} of the net's, {ours:g} of the balls'" if both else "refused"
    return said, min(shares) > 0 and ours == 0 if both else None


def levels(tables: Figures, form: Form) -> list[Row]:
    own = [row for row in tables["figure8"] if row["variant"] == form.ball]
    return sorted(own, key=lambda row: -row["epsilon"])


def fewer_points(tables: Figures, form: Form) -> Verdict:
    own = levels(tables, form)
    said = ", ".join(f"ε = {row['epsilon']:g}: {row['size']:.3g}" for row in own)
    return said, all(a["size"] > b["size"] for a, b in pairwise(own)) if len(own) > 1 else None


def nothing_outside(tables: Figures, form: Form) -> Verdict:
    own = levels(tables, form)
    said = ", ".join(
        f"ε = {row['epsilon']:g}: {row['outside']:.2g} outside, none in {row['all_inside']:.0%}" for row in own
    )
    return said, own[0]["all_inside"] < 0.5 < own[-1]["all_inside"] if own else None


# --- numbers and words ------------------------------------------------------------------------------------------------


def fit(x: np.typing.ArrayLike, y: np.typing.ArrayLike) -> tuple[float, float]:
    """Slope and R² of a straight line by least squares."""
    across, up = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    slope, start = np.polyfit(across, up, 1)
    rest = np.square(up - start - slope * across).sum()
    whole = np.square(up - up.mean()).sum()
    return float(slope), float(1 - rest / whole) if whole > 0 else 1.0


def rank_correlation(x: Sequence[float], y: Sequence[float]) -> float:
    """Spearman's: the correlation of ranks."""
    ranks = [np.argsort(np.argsort(each)) for each in (x, y)]
    return round(float(np.corrcoef(ranks[0], ranks[1])[0, 1]), 9)  # 9 in 10 is 0.9, whatever the last bit
