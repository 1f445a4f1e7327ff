"""What is audited: every algorithm of the registry, the slider, and questions about released centres. With the settings
that audits run them with.

A new row of the registry is a target at once: the row says what a run needs, and what leads it to further questions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from covey import __version__
from covey.algorithms.registry import ALGORITHMS, Algorithm
from covey.algorithms.registry import find as find_algorithm
from covey.audit.draws import put
from covey.audit.families import ROWS_PER_PERSON, Floats, Pair, Rng
from covey.audit.tape import Tape
from covey.audit.watch import Watched
from covey.fit import slider as levels
from covey.fit.fit import fit
from covey.fit.profile import make_profile
from covey.fit.score import make_score
from covey.fit.session import heard_by
from covey.private.narrowed.zones import Coins
from covey.private.tables.frames import FrameTable
from covey.public import Ball, Box, Neighbours, resolve_bounds
from covey.published.certificate import Certificate
from covey.published.levels.files import to_json
from covey.published.release import Release

SLIDER = "the slider"
CLUSTERS = (1, 2, 3)
DELTA = 1e-4
TEXT = "text"
EPSILONS = (0.1, 1.0, 3.0, 50.0)
ZONED = 2  # so many clusters are looked for in zones
QUICK: dict[str, Any] = {"candidates": 20, "parents": 3, "starts": 3}  # where a run has them, it is short


@dataclass(frozen=True)
class Target:
    """Something that is fitted to private rows: its promise, and how an audit has it run.

    settings(relation, rng, d): drawn from the generator, with the epsilon that was promised under "epsilon".
    run(tape, settings): the document that is released, while the tape runs along.
    """

    name: str
    guarantee: str
    relations: tuple[Neighbours, ...]
    people: bool
    settings: Callable[[Neighbours, Rng, int], dict[str, Any]]
    run: Callable[[Tape, Mapping[str, Any]], bytes]


def find(name: str) -> Target:
    return OTHERS[name]() if name in OTHERS else _of(find_algorithm(name))


def names() -> list[str]:
    """All targets there are."""
    return [*ALGORITHMS, *OTHERS]


def _of(row: Algorithm) -> Target:
    def settings(relation: Neighbours, rng: Rng, d: int) -> dict[str, Any]:
        own = {name: value for name, value in QUICK.items() if name in row.parameters} | dict(row.few_rows)
        variants = row.variants + (row.add_remove_variants if relation is Neighbours.ADD_REMOVE else ())
        own |= variants[int(rng.integers(len(variants)))]
        own |= row.needs(-np.ones(d), np.ones(d), 1 + max(CLUSTERS), rng)
        some_delta = row.guarantee == "approximate" or (row.guarantee == "either" and rng.random() < 0.5)
        k, epsilon = int(rng.choice(CLUSTERS)), float(rng.choice(EPSILONS))
        zoned = relation is Neighbours.ADD_REMOVE and k == ZONED
        return {
            "k": k,
            "epsilon": epsilon,
            "delta": DELTA if some_delta else None,
            "objective": str(rng.choice(row.objectives)),
            "bounds": Ball(radius=1.0) if rng.random() < 0.2 else (-1, 1),
            "neighbours": str(relation),
            "algorithm_params": own,
            **({"zones": _zones(d, epsilon)} if zoned else {}),
        }

    def run(tape: Tape, settings: Mapping[str, Any]) -> bytes:
        own = settings["algorithm_params"] | (dict(row.with_delta) if settings["delta"] else {})
        with heard_by(partial(Watched.over, tape=tape)), put(Coins, "keep", _all_stay):
            return fit(algorithm=row.name, **{**settings, "algorithm_params": own}).to_json()

    return Target(row.name, row.guarantee, row.neighbours, True, settings, run)


def _zones(d: int, epsilon: float) -> list[tuple[Box, float]]:
    """Two zones that overlap and leave half of the domain to nobody."""
    rest = [(-1.0, 1.0)] * (d - 1)
    return [(Box((-1.0, 0.0), *rest), epsilon / 2), (Box((-0.5, 0.0), *rest), epsilon / 4)]


def _all_stay(_: Coins, numbers: NDArray[np.uint8], __: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Coins of a zone that keep everybody, rows and people. What follows must be private whoever is kept
    (narrowed/zones.md); with coins of their own, all other rows would be kept or not by what stands before them, which
    is no leak but hides all."""
    return np.ones(len(numbers), dtype=np.bool_)


def _slider() -> Target:
    def settings(_: Neighbours, rng: Rng, __: int) -> dict[str, Any]:
        most = float(rng.choice(EPSILONS))
        return {"epsilon": most, "bounds": Ball(radius=1.0) if rng.random() < 0.2 else (-1, 1)}

    def run(tape: Tape, settings: Mapping[str, Any]) -> bytes:
        most = settings["epsilon"]
        named = [(f"level {part}", most * part / 4) for part in (1, 2, 4)]
        asked = {name: value for name, value in settings.items() if name != "epsilon"}

        with heard_by(partial(Watched.over, tape=tape)):
            return to_json(levels.fit_levels(levels=named, **asked))

    return Target(SLIDER, "pure", (Neighbours.ADD_REMOVE,), True, settings, run)


def _question(name: str, ask: Callable[[Release, Any, dict[str, Any]], bytes], *, delta: float | None = None) -> Target:
    """A question about centres that were released: `ask` is given them, the rows and the terms."""

    def settings(relation: Neighbours, rng: Rng, d: int) -> dict[str, Any]:
        return {
            "centres": rng.uniform(-1.0, 1.0, (int(rng.choice(CLUSTERS)), d)).tolist(),
            "epsilon": float(rng.choice(EPSILONS)),
            "bounds": Ball(radius=1.0) if rng.random() < 0.2 else (-1, 1),
            "neighbours": str(relation),
            **({} if delta is None else {"delta": delta}),
        }

    def run(tape: Tape, settings: Mapping[str, Any]) -> bytes:
        terms = {name: value for name, value in settings.items() if name not in ("data", "centres", "bounds")}
        release = _released(settings["centres"], settings["bounds"])
        with heard_by(partial(Watched.over, tape=tape)):
            return ask(release, settings["data"], terms)

    return Target(name, "pure" if delta is None else "approximate", tuple(Neighbours), True, settings, run)


def _released(centres: list[list[float]], bounds: Any) -> Release:
    """Centres as a release has them."""
    columns = [f"x{axis}" for axis in range(len(centres[0]))]
    certificate = Certificate(
        algorithm="lloyd",
        parameters={"k": len(centres)},
        epsilon=1.0,
        delta=0.0,
        neighbours="add-remove",
        person="one row",
        domain=resolve_bounds(bounds, names=columns, width=len(columns)).describe(),
        seeded=True,
        covey=__version__,
    )
    return Release(objective="k-means", columns=columns, centres=centres, sizes=None, certificate=certificate)


def _named(data: Any, columns: list[str]) -> Any:
    """Rows with names of their columns, which a file has already."""
    if not isinstance(data, np.ndarray):
        return data

    def reader(name: str) -> Callable[[Any], Any]:
        return lambda places: data[places, columns.index(name)]

    return FrameTable(columns, len(data), reader, reader, reader, reader)


def _profile() -> Target:
    def ask(release: Release, rows: Any, terms: dict[str, Any]) -> bytes:
        columns = dict.fromkeys(release.columns[:2], (-1.0, 1.0, 5))
        named = _named(rows, release.columns)
        return make_profile(release, named, columns=columns, **QUESTION | terms).to_json()

    return _question("profile", ask)


def _categories() -> Target:
    """A profile of a column whose categories are found: the one of a file that tells a row's first number, roughly."""

    def ask(release: Release, rows: Any, terms: dict[str, Any]) -> bytes:
        columns = {TEXT: "private", release.columns[0]: (-1.0, 1.0, 5)}
        with TemporaryDirectory() as folder:
            if isinstance(rows, np.ndarray):
                rows = _file(Path(folder), release.columns, [("", row) for row in rows.tolist()])
            return make_profile(release, rows, columns=columns, **QUESTION | terms).to_json()

    return _question("private categories", ask, delta=DELTA)


def _bounds() -> Target:
    """A fit with private bounds: first the ranges of all columns, then a plain algorithm within them."""

    def settings(relation: Neighbours, rng: Rng, _: int) -> dict[str, Any]:
        epsilon = float(rng.choice(EPSILONS))
        return {"k": int(rng.choice(CLUSTERS)), "epsilon": epsilon, "bounds": (-1, 1), "neighbours": str(relation)}

    def run(tape: Tape, settings: Mapping[str, Any]) -> bytes:
        data = settings["data"]
        names = (
            [f"x{axis}" for axis in range(data.shape[1])]
            if isinstance(data, np.ndarray)
            else settings["bounds"].columns
        )
        asked = {**settings, "data": _named(data, names), "bounds": dict.fromkeys(names, "private")}
        with heard_by(partial(Watched.over, tape=tape)):
            return fit(algorithm="lloyd", algorithm_params={"rounds": 1}, **asked).to_json()

    return Target("private bounds", "pure", tuple(Neighbours), True, settings, run)


def _score() -> Target:
    def ask(release: Release, rows: Any, terms: dict[str, Any]) -> bytes:
        others = {"moved": (-np.array(release.centres)).tolist()}
        asked: dict[str, Any] = {"public_centres": others, "within": 0.25, "clip": 0.75}
        return make_score(release, _named(rows, release.columns), **asked, **QUESTION | terms).to_json()

    return _question("score", ask)


QUESTION: dict[str, Any] = dict.fromkeys(("person", "rows_per_person", "ledger", "dataset"))
OTHERS = {
    SLIDER: _slider,
    "profile": _profile,
    "private categories": _categories,
    "score": _score,
    "private bounds": _bounds,
}


@contextmanager
def data_of(pair: Pair, person: Floats | None, bounds: Any) -> Iterator[dict[str, Any]]:
    """The rows of a data set as a fit takes them; with people, as a file with a column of ids."""
    if pair.ids is None:
        rows = pair.rows if person is None else np.insert(pair.rows, pair.place, person, axis=0)
        yield {"data": rows}
        return
    lines = list(zip(pair.ids, pair.rows.tolist(), strict=True))
    if person is not None:
        lines[pair.place : pair.place] = [("the one", row) for row in pair.persons.tolist()]
    names = tuple(f"x{axis}" for axis in range(pair.rows.shape[1]))
    box = Ball(radius=1.0, columns=names) if isinstance(bounds, Ball) else Box.of(dict.fromkeys(names, (-1.0, 1.0)))
    with TemporaryDirectory() as folder:
        file = _file(Path(folder), names, lines)
        yield {"data": file, "bounds": box, "person": "id", "rows_per_person": ROWS_PER_PERSON}


def _file(folder: Path, names: Sequence[str], lines: list[tuple[str, list[float]]]) -> Path:
    """Rows with whose they are as a CSV, which has a column of text besides."""
    written = [",".join([name, *map(repr, row), f"about {row[0]:.1f}"]) for name, row in lines]
    file = folder / "rows.csv"
    file.write_text("\n".join([",".join(["id", *names, TEXT]), *written, ""]))
    return file
