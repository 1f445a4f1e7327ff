"""From the fits of each cell to its row in a table: what part of what was said was so, with its standard error."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from covey.bench.harness import Found, Row
from covey.post.errors.reruns import LEAST_EXCESS

COSTS = ("own_means", "own_median", "sites_means", "sites_median")
WAYS = ("way_means", "way_median")
Fits = list[dict[str, Any]]


def tables_of(found: Found) -> dict[str, list[Row]]:
    """A table for each thing that releases say, with a row for each cell."""
    fits, reruns, balls = (by_cell(found[figure]) for figure in ("fits", "reruns", "balls"))
    return {
        "sizes": [{**cell, **sizes(own, cell["k"])} for cell, own in fits if "sizes_held" in own[0]],
        "costs": [{**cell, **row} for cell, own in fits if "ratio" not in own[0] for row in costs(own, COSTS)],
        "ways": [{**cell, **row} for cell, own in fits if "ratio" not in own[0] for row in costs(own, WAYS)],
        "differences": [{**cell, **row} for cell, own in fits if "ratio" not in own[0] for row in differences(own)],
        "doubt": [{**cell, **doubt(own)} for cell, own in fits if "phantoms" in own[0]],
        "places": [{**cell, **places(own)} for cell, own in reruns],
        "excess": [{**cell, **excess(own)} for cell, own in reruns],
        "beyond": [{**cell, **beyond(own)} for cell, own in fits if "ratio" in own[0]],
        "balls": [{**cell, **beyond(own)} for cell, own in balls],
        "times": [
            {**cell, "what": what, "seconds": middle(each.get(f"seconds_{what}") for each in own)}
            for cells, names in ((fits, ("sizes", "costs")), (reruns, ("reruns",)))
            for cell, own in cells
            for what in names
            if f"seconds_{what}" in own[0]
        ],
    }


def by_cell(answers: Sequence[tuple[Row, Any]]) -> list[tuple[Row, Fits]]:
    cells: dict[tuple[Any, ...], tuple[Row, Fits]] = {}
    for shared, answer in answers:
        cells.setdefault(tuple(shared.values()), (shared, []))[1].extend(answer["fits"])
    return list(cells.values())


def share(held: Sequence[float], of: Sequence[float], *, name: str = "held") -> Row:
    """The part of all that held, with a standard error: those of one fit go together."""
    many, total = len(of), float(sum(of))
    if not total:
        return {name: None, "se": None, "of": 0}
    part = sum(held) / total
    gaps = np.array(held) - part * np.array(of)
    together = float(np.sqrt(np.square(gaps).sum())) / total * (many / max(many - 1, 1)) ** 0.5
    pulled = (sum(held) + 1) / (total + 2)
    return {name: part, "se": max(together, (pulled * (1 - pulled) / total) ** 0.5), "of": int(total)}


def middle(values: Iterable[float | None]) -> float | None:
    known = [each for each in values if each is not None]
    return float(np.median(known)) if known else None


def sizes(fits: Fits, k: int) -> Row:
    joint = share([each["joint_held"] for each in fits], [1] * len(fits), name="joint")
    return {
        **share([each["sizes_held"] for each in fits], [k] * len(fits)),
        "joint": joint["joint"],
        "half_width": middle(each["size_width"] for each in fits),
    }


def costs(fits: Fits, names: Sequence[str]) -> list[Row]:
    """A row for each pair of centres and objective; `told` is the part of the fits that show a number."""
    rows = []
    for name in names:
        told = [each[name] for each in fits if name in each]
        whose, objective = name.split("_")
        row: Row = {"centres": whose, "objective": f"k-{objective}", "told": len(told) / len(fits)}
        row |= share([held for held, _, _ in told], [1] * len(told))
        row["ratio"] = float(np.mean([ratio for _, ratio, _ in told])) if told else None
        rows.append({**row, "half_width": middle(wide for _, _, wide in told)})
    return rows


def differences(fits: Fits) -> list[Row]:
    """A row for each objective; `off` is by how much a difference is off on average, as a part of the sites' cost."""
    rows = []
    for objective in ("means", "median"):
        told = [each[f"difference_{objective}"] for each in fits if f"difference_{objective}" in each]
        row: Row = {"objective": f"k-{objective}", "told": len(told) / len(fits)}
        row |= share([held for held, _, _ in told], [1] * len(told))
        row["off"] = float(np.mean([off for _, off, _ in told])) if told else None
        rows.append({**row, "half_width": middle(wide for _, _, wide in told)})
    return rows


def doubt(fits: Fits) -> Row:
    names = ("phantoms", "phantoms_called_real", "real", "real_doubted")
    return {name: sum(each[name] for each in fits) for name in names}


def places(fits: Fits) -> Row:
    found = sum(each["found"] for each in fits)
    told = [each["places"] for each in fits]
    return {
        **share([each["places_held"] for each in fits], told),
        "told": sum(told) / found if found else None,
        "radius": middle(each["radius"] for each in fits),
    }


def excess(fits: Fits) -> Row:
    """Of the fits that tell a bound. `times` is the middle one over what nine in ten stay below, or the least one.

    `alike` is the part of all fits whose own optimum is as good as the best that is known.
    """
    told = [each for each in fits if each["excess_bound"] is not None]
    true, bounds = (np.array([each[name] for each in told]) for name in ("excess", "excess_bound"))
    high, bound = (float(np.quantile(true, 0.9)), float(np.median(bounds))) if told else (None, None)
    return {
        **share((true <= bounds).tolist(), [1] * len(told)),
        "told": len(told) / len(fits),
        "alike": sum(each["alike"] for each in fits) / len(fits),
        "true_middle": float(np.median([each["excess"] for each in fits])),
        "true_high": high,
        "bound": bound,
        "times": None if high is None or bound is None else bound / max(high, LEAST_EXCESS),
    }


def beyond(fits: Fits) -> Row:
    """Coresets without cells: of those that are not flagged, the cost told over the true one, and their brackets."""
    told = [each for each in fits if not each["flagged"]]
    return {
        **share([each["held"] for each in told], [1] * len(told)),
        **{name: middle(each[name] for each in told) for name in ("ratio", "low", "high")},
        "flagged": 1 - len(told) / len(fits),
    }
