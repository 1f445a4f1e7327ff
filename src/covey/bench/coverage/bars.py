"""What was asked of the errors before anything was measured, and whether it is so: by rule, cell by cell."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from covey.bench.harness import Row, markdown_table

ENOUGH = 20  # numbers that a cell must have shown to be judged on its own
ENOUGH_ROWS, MANY_ROWS = 100, 200  # rows x epsilon for each centre
Tables = dict[str, list[Row]]


@dataclass(frozen=True, kw_only=True)
class Bar:
    """What must hold in every cell of some: a number between two ends."""

    what: str
    bar: str  # as it was set
    table: str
    number: Callable[[Row], float | None]
    low: float = float("-inf")
    high: float = float("inf")
    where: Callable[[Row], bool] = bool  # any row
    counted: bool = True  # the number is a part of many, and has its standard error

    def error(self, row: Row) -> float:
        return float(row.get("se") or 0.0) if self.counted else 0.0

    def judged(self, tables: Tables) -> Row:
        rows = [row for row in tables.get(self.table, ()) if self.where(row) and self.number(row) is not None]
        missed = sorted((row for row in rows if self._off(row) > 0), key=self._off, reverse=True)
        near = sum(self._off(row) <= 2 * self.error(row) for row in missed)
        return {
            "what": self.what,
            "bar": self.bar,
            "cells": len(rows),
            "missed": len(missed),
            "near": near,
            "worst": "; ".join(map(self._words, missed[:3])),
            "met": not missed if rows else None,
        }

    def _off(self, row: Row) -> float:
        number = self.number(row)
        assert number is not None
        return max(self.low - number, number - self.high, 0.0)

    def _words(self, row: Row) -> str:
        number = self.number(row)
        error = f" ± {self.error(row):.2f}" if self.error(row) else ""
        parts = [row["set"], row["method"], f"ε = {row['epsilon']:g}"]
        parts += [str(row[name]) for name in ("centres", "objective", "what") if name in row]
        assert number is not None
        return f"{' '.join(parts)}: {number:,.{2 if abs(number) < 100 else 0}f}{error}"


def _fine(row: Row) -> bool:
    return bool(row["method"] != "grid" and row["gate"] >= ENOUGH_ROWS)


def _shown(row: Row) -> bool:
    return bool(row["of"] >= ENOUGH)


def _time(what: str, limit: float) -> Bar:
    return Bar(
        what=f"time, {what}",
        bar=f"< {limit:g} s in the middle fit (CPU)",
        table="times",
        number=lambda row: row["seconds"],
        high=limit,
        where=lambda row: bool(row["what"] == what),
        counted=False,
    )


def _band(what: str, table: str, *, told: str = "a number is shown") -> Bar:
    """Of 90% intervals that are shown only where they can be."""
    return Bar(
        what=f"{what}, 90%",
        bar=f".85 to .99 wherever {told} ({ENOUGH} times or more)",
        table=table,
        number=lambda row: row["held"],
        low=0.85,
        high=0.99,
        where=_shown,
    )


BARS = (
    Bar(
        what="sizes, 90%",
        bar=".87 to .96 in every auto and levels cell with nε/k ≥ 100",
        table="sizes",
        number=lambda row: row["held"],
        low=0.87,
        high=0.96,
        where=_fine,
    ),
    Bar(
        what="sizes, 90%",
        bar="≥ .80 elsewhere",
        table="sizes",
        number=lambda row: row["held"],
        low=0.80,
        where=lambda row: not _fine(row),
    ),
    _band("costs", "costs"),
    Bar(
        what="costs, bias",
        bar="at most 5% at nε/k ≥ 200",
        table="costs",
        number=lambda row: None if row["ratio"] is None else row["ratio"] - 1,
        low=-0.05,
        high=0.05,
        where=lambda row: _shown(row) and row["gate"] >= MANY_ROWS,
        counted=False,
    ),
    Bar(
        what="costs, gate",
        bar=f"no number is shown ({ENOUGH} times or more) in a cell below .80",
        table="costs",
        number=lambda row: row["held"],
        low=0.80,
        where=_shown,
    ),
    _band("differences of costs", "differences", told="one is shown"),
    _band("how far rows are on average", "ways", told="it is told"),
    Bar(
        what="places, 90%",
        bar="≥ .87 given that the cluster was found",
        table="places",
        number=lambda row: row["held"],
        low=0.87,
        where=_shown,
    ),
    Bar(
        what="a real centre doubted",
        bar="≤ .05 at nε/k ≥ 200",
        table="doubt",
        number=lambda row: row["real_doubted"] / row["real"] if row["real"] else None,
        high=0.05,
        where=lambda row: row["gate"] >= MANY_ROWS,
    ),
    Bar(
        what="excess bound, 90%",
        bar="≥ .88 at nε/k ≥ 100, wherever one is told",
        table="excess",
        number=lambda row: row["held"],
        low=0.88,
        where=lambda row: row["gate"] >= ENOUGH_ROWS,
    ),
    Bar(
        what="excess bound, how tight",
        bar="the middle bound is within a factor of 2 of what nine in ten fits stay below, or of 0.5%, at nε/k ≥ 100",
        table="excess",
        number=lambda row: row["times"],
        low=0.5,
        high=2.0,
        where=lambda row: row["gate"] >= ENOUGH_ROWS,
        counted=False,
    ),
    Bar(
        what="costs beyond four columns",
        bar="told over true .9 to 1.15, in the middle of the fits that are not flagged",
        table="beyond",
        number=lambda row: row["ratio"],
        low=0.9,
        high=1.15,
        counted=False,
    ),
    _band("the band of costs beyond four columns", "beyond", told="one is shown"),
    Bar(
        what="the bracket of `ball-coreset`",
        bar="holds in ≥ .9",
        table="balls",
        number=lambda row: row["held"],
        low=0.9,
    ),
    *(_time(what, limit) for what, limit in (("sizes", 0.05), ("costs", 0.5), ("reruns", 2.0))),
)


def judge(tables: Tables) -> list[Row]:
    """Every bar, in the order of the table, with what misses it."""
    verdicts = [bar.judged(tables) for bar in BARS]
    verdicts.insert(8, _phantoms(tables["doubt"]))
    return verdicts


def _phantoms(rows: Sequence[Row]) -> Row:
    """The one bar on all cells together."""
    many, called = (sum(row[name] for row in rows) for name in ("phantoms", "phantoms_called_real"))
    parts = []
    for method in dict.fromkeys(row["method"] for row in rows):
        own = [row for row in rows if row["method"] == method]
        of = sum(row["phantoms"] for row in own)
        if of:
            parts.append(f"{method} {sum(row['phantoms_called_real'] for row in own) / of:.3f} of {of:,}")
    return {
        "what": "a phantom called real",
        "bar": "≤ .05 of all",
        "cells": 1 if many else 0,
        "missed": int(bool(many) and called > 0.05 * many),
        "near": 0,
        "worst": ", ".join(parts),
        "met": called <= 0.05 * many if many else None,
    }


def bars_table(bars: Sequence[Row]) -> str:
    rows = []
    for bar in bars:
        met = "not measured" if bar["met"] is None else "yes" if bar["met"] else "no"
        near = f" ({bar['near']} within 2 standard errors)" if bar["near"] else ""
        rows.append([bar["what"], bar["bar"], str(bar["cells"]), f"{bar['missed']}{near}", bar["worst"] or "-", met])
    return markdown_table(["what", "bar", "cells", "missed in", "worst", "met"], rows)
