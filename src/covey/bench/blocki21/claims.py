"""The statements of Blocki et al. 2021 next to what was measured. Each rule is fixed here; each verdict is computed.

"Small" is a sample of 10,000 rows, "about the same" within 5%, "negligible" a delta of 10^-6, "much smaller" a quarter,
"often" more than half.
"""

from __future__ import annotations

from itertools import groupby
from typing import Any

from covey.bench.harness import Row

Tables = dict[str, list[Row]]
SMALL, ABOUT = 10_000, 0.05
CURVE = ("which", "objective", "k", "relation")


def judge(tables: Tables) -> list[Row]:
    """Every claim: the paper's words, the form, the rule, what was measured, and whether that reproduces it."""
    return [
        *of_samples(tables),
        *of_size(tables),
        of_time(tables["times"]),
        of_copies(tables["copies"]),
        *of_groups(tables),
    ]


def claim(paper: str, form: str, rule: str, measured: str, reproduced: bool) -> Row:
    return {"paper": paper, "form": form, "rule": rule, "measured": measured, "reproduced": bool(reproduced)}


def cell(row: Row) -> tuple[Any, ...]:
    """Rows, k and objective: what has one best cost, the lowest of all runs."""
    return tuple(row[name] for name in ("which", "n", "k", "objective"))


def curves(rows: list[Row], by: str) -> list[list[Row]]:
    """The rows of every curve, by ascending `by`."""

    def key(row: Row) -> tuple[str, ...]:
        return tuple(str(row[name]) for name in CURVE)

    return [sorted(own, key=lambda row: row[by]) for _, own in groupby(sorted(rows, key=key), key=key)]


def of_samples(tables: Tables) -> list[Row]:
    told = [row for row in tables["samples"] if row["told"] is not None]
    most = max(row["sample"] for row in told)
    enough = [row for row in told if row["sample"] >= min(SMALL, most)]
    least = min(row["told"] for row in enough)
    falls = curves(told, "size")
    fallen = [own for own in falls if own[-1]["excess"] <= own[0]["excess"]]
    everywhere = f"{len(fallen)} of {len(falls)} curves"
    return [
        claim(
            "for a small sample, the average cost on it is about that on all rows",
            "any",
            f"from {SMALL:,} rows, within 5% in at least 90% of the runs of every cell",
            f"in {least:.0%} of the runs of the worst of {len(enough)} cells",
            least >= 0.9,
        ),
        claim(
            "the cost is at most α times the best, plus γ + ε, by the size of the sample",
            "Poisson, add-remove",
            "the excess of the largest sample at most that of the smallest, in every curve",
            everywhere,
            len(fallen) == len(falls),
        ),
    ]


def of_size(tables: Tables) -> list[Row]:
    """A sample whose size hardly depends on n is enough, under either relation."""
    found = []
    whole = {cell(row): row for row in tables["rows"] if row["sample"] is None}
    for form, relation in (
        ("as printed: without replacement, replace-one", "replace-one"),
        ("corrected for a private n: Poisson, add-remove", "add-remove"),
    ):
        own = [row for row in tables["rows"] if row["relation"] == relation]
        few = curves([row for row in own if isinstance(row["sample"], int)], "n")
        grown = max((1 + each[-1]["excess"]) / (1 + each[0]["excess"]) for each in few)
        usual = [row for row in own if row["sample"] == "auto"]
        more = [(1 + row["excess"]) / (1 + whole[cell(row)]["excess"]) - 1 for row in usual]
        found += [
            claim(
                "a sample of poly(α, k, ln n) rows suffices: hardly more for more rows",
                form,
                "a fixed sample costs at most 2% more for the largest n than for the smallest, in every curve",
                f"at most {100 * (grown - 1):+.1f}%",
                grown <= 1.02,
            ),
            claim(
                "the clustering of the sample costs little more than that of all rows",
                form,
                'sample="auto" (for 5%) costs at most 5% more than a fit of all rows, in every cell',
                f"at most {100 * max(more):+.1f}% in {len(more)} cells",
                max(more) <= ABOUT,
            ),
        ]
    return found


def of_time(rows: list[Row]) -> Row:
    first, *_, last = sorted(rows, key=lambda row: row["n"])
    times, all_of_it = last["sample_cpu"] / first["sample_cpu"], last["all_cpu"] / first["all_cpu"]
    return claim(
        "the time is that of the sample, T(s), and not of all rows, T(n)",
        "Poisson, add-remove",
        "a fit of a fixed sample takes at most twice as long for the largest n as for the smallest",
        f"{times:.2g} times as long for {last['n'] / first['n']:,.0f} times as many rows; of all rows {all_of_it:.2g}",
        times <= 2,
    )


def of_copies(rows: list[Row]) -> Row:
    worst = max(rows, key=lambda row: row["share"])
    return claim(
        "rows must be sampled without replacement to preserve privacy",
        "any",
        "drawn with replacement, as often as there are rows, a person can lose more than ε; without, never",
        "; ".join(f"{row['share']:g}·n rows: {row['put_back']:.3g} against {row['kept_out']:.3g}" for row in rows)
        + f", for ε = {worst['epsilon']:g}",
        worst["put_back"] > worst["epsilon"] >= max(row["kept_out"] for row in rows) - 1e-9,
    )


def of_groups(tables: Tables) -> list[Row]:
    steps, promises = tables["group"], tables["promises"]
    told = {form: [row for row in steps if row[form] is not None] for form in ("printed", "finer")}
    broken = {form: sum(row["truth"] > row[form] + 1e-12 for row in own) for form, own in told.items()}
    beyond = sum(row["largest_loss"] > row["amplified"] + 1e-9 for row in promises)
    small = [row for row in promises if 4 * row["enough"] <= row["group"]]
    better = [row for row in promises if row["amplified"] < row["enough"] * row["epsilon"]]
    return [
        claim(
            "a group of g is promised (Tε, P[more than T of it in the sample])",
            "as printed",
            "no mechanism that was computed by brute force loses more",
            f"{broken['printed']} of {len(told['printed'])} thresholds broken",
            broken["printed"] == 0,
        ),
        claim(
            "a group of g is promised (Tε, P[more than T of it in the sample])",
            "sharper: the finer δ, and g times the amplified ε",
            "no mechanism that was computed by brute force loses more",
            f"{broken['finer']} of {len(steps)} finer deltas and {beyond} of {len(promises)} amplified bounds broken",
            broken["finer"] == beyond == 0,
        ),
        claim(
            "δ is often negligible even for T much smaller than g: a much stronger promise than gε",
            "as printed",
            "δ at most 10^-6 with T at most g/4 in more than half of the cells",
            f"in {len(small)} of {len(promises)}; the amplified ε, with δ = 0, is less still in {len(better)}",
            len(small) > len(promises) / 2,
        ),
    ]
