"""Features crossed: every two values of any two features meet in some fit, and each fit is held to the same rules.

What is refused is refused before the charge, by the name of the parameter. What is not says in its certificate whom it
protects, repeats under its key at no cost and the same to the byte from any engine, is bound by its key to every
parameter, and asks the same questions of a neighbour.
"""

from __future__ import annotations

import json
from functools import partial
from itertools import combinations, product

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from covey import Box, KMeans, KMedian, Ledger, PrivateCoreset
from covey.audit.draws import put
from covey.audit.replay import moved
from covey.audit.tape import Tape
from covey.audit.watch import Watched
from covey.errors import CoveyError, LedgerError
from covey.fit.session import heard_by
from covey.fit.slider import fit_levels
from covey.private.narrowed.zones import Coins
from covey.private.owner import OwnersView
from covey.public import Neighbours, Person, resolve_bounds
from covey.published.levels.files import to_json
from covey.queries.zoned import ByPersonsZone

FEATURES: dict[str, tuple[object, ...]] = {
    "what": ("k-means", "k-median", "coreset", "levels"),
    "neighbours": ("add-remove", "replace-one"),
    "unit": ("row", "person, 1", "person, 3", "person, some without an id"),
    "zones": (False, True),
    "sample": (None, 0.5),
    "engine": ("memory", "files"),
    "key": (None, "monday"),
    "owner": (False, True),
}
NAMES = ("who", "x", "y")
BOUNDS = {"x": (-1, 1), "y": (-1, 1)}
ZONES = [(Box((-1.0, 0.0), (-1.0, 1.0)), 0.5)]
OTHERS = {  # another value of each parameter, to which a key is not bound
    "epsilon": 1.5,
    "n_clusters": 3,
    "missing": "drop",
    "random_state": 8,
    "bounds": {"x": (-1, 1), "y": (-2, 1)},
    "scale": {"x": 2},
    "neighbours": "replace-one",
    "rows_per_person": 2,
    "sample": 0.25,
    "errors": "none",
    "zones": [(Box((-1.0, 0.0), (-1.0, 1.0)), 0.25)],
    "levels": [("low", 0.5), ("high", 1.5)],
    "per_axis": 8,
}
Cell = dict[str, object]
CELLS = [dict(zip(FEATURES, values, strict=True)) for values in product(*FEATURES.values())]


def refusal(cell: Cell) -> str | None:
    """The parameter by whose name a cell is refused, by what the guides say."""
    people, replacing = cell["unit"] != "row", cell["neighbours"] == "replace-one"
    if cell["what"] == "levels":  # which have no samples, and one relation
        asked = [name for name in ("neighbours", "sample") if cell[name] != FEATURES[name][0]]
        return asked[0] if asked else "zones" if people and cell["zones"] else None
    if replacing and people:
        return "person"
    return "zones" if replacing and cell["zones"] else None


def pairs(cell: Cell) -> set[tuple[tuple[str, object], tuple[str, object]]]:
    return set(combinations(cell.items(), 2))


def chosen(cells: list[Cell]) -> list[Cell]:
    """Few of these cells with every pair of values that they have, greedily."""
    missing, found = set().union(*map(pairs, cells)), []
    while missing:
        found.append(max(cells, key=lambda cell: len(pairs(cell) & missing)))
        missing -= pairs(found[-1])
    return found


ACCEPTED = chosen([cell for cell in CELLS if refusal(cell) is None])
REFUSED = chosen([cell for cell in CELLS if refusal(cell) is not None])


def words(cell: Cell) -> str:
    return " ".join(str(value) for value in cell.values())


def settings_of(cell: Cell) -> Cell:
    """A cell as the parameters of a fit."""
    made: Cell = {"bounds": BOUNDS, "random_state": 7, "engine": cell["engine"]}
    if cell["unit"] != "row":
        made |= {"person": "who", "rows_per_person": 3 if cell["unit"] == "person, 3" else 1}
    if cell["zones"]:
        made["zones"] = ZONES
    if cell["what"] == "levels":
        made |= {"levels": [("low", 0.5), ("high", 1.0)], "per_axis": 4}
        made |= {name: cell[name] for name in ("neighbours", "sample") if cell[name] != FEATURES[name][0]}
        return made
    return made | {"epsilon": 1.0, "n_clusters": 2, "neighbours": cell["neighbours"], "sample": cell["sample"]}


def fitted(what: object, data: object, **settings: object) -> bytes:
    """The document that a fit leaves behind."""
    if what == "levels":
        return to_json(fit_levels(data, **settings))
    of = {"k-means": KMeans, "k-median": KMedian, "coreset": PrivateCoreset}[str(what)]
    return of(**settings).fit(data).release_.to_json()


def rows_of(unit: object, *, without: str | None = None) -> pa.Table:
    """Forty people with three rows each, some in the zone and some not; without one of them for the neighbour."""
    rng = np.random.default_rng(5)
    who = [f"p{i // 3}" for i in range(120)]
    x, y = rng.uniform(-1, 1, (2, 120))
    stays = np.array([each != without for each in who])
    ids = [None if "without" in str(unit) and i % 10 == 0 else each for i, each in enumerate(who)]
    return pa.table({"who": ids, "x": x, "y": y}).filter(stays)


def ledger_of(cell: Cell) -> Ledger:
    """A ledger for the type of a cell's promise."""
    kind = {"neighbours": cell["neighbours"], "person": None if cell["unit"] == "row" else "who"}
    if cell["neighbours"] == "replace-one":
        kind["person"] = None
    return Ledger.memory(dataset="trips", epsilon=100, **kind)


@pytest.fixture
def file_of(tmp_path):
    def write(unit: object, **more: str) -> str:
        path = tmp_path / f"rows{len(list(tmp_path.iterdir()))}.parquet"
        pq.write_table(rows_of(unit, **more), path)
        return str(path)

    return write


def test_every_two_values_of_any_two_features_meet():
    met = set().union(*map(pairs, (*ACCEPTED, *REFUSED)))
    assert met == set().union(*map(pairs, CELLS))
    refused_alone = {
        *(("levels", "replace-one"), ("levels", 0.5)),
        *(("replace-one", True), *(("replace-one", unit) for unit in FEATURES["unit"][1:])),
    }
    together = set().union(*map(pairs, ACCEPTED))
    never = {(a, b) for (_, a), (_, b) in met - together}
    assert never == refused_alone


@pytest.mark.parametrize("cell", REFUSED, ids=words)
def test_what_is_refused_is_refused_by_name_before_rows_and_charge(cell, watched):
    table, ledger = watched(np.zeros((9, 2)), broken=True), ledger_of(cell)
    table.names = NAMES
    asked = {**settings_of(cell), "engine": "auto"}  # a table that is watched is in memory
    with pytest.raises((CoveyError, TypeError), match=str(refusal(cell))):
        fitted(cell["what"], table, ledger=ledger.with_key(cell["key"]), dataset="trips", **asked)
    assert table.read == 0
    assert "charge" not in {entry.kind for entry in ledger.entries()}


def changed(cell: Cell) -> Cell:
    """Each parameter of a cell with another value, where no other rule refuses that."""
    settings = settings_of(cell)
    own = {name for name in OTHERS if name in settings} | {"scale"}
    if cell["neighbours"] == "add-remove":
        own.add("missing")
    if cell["what"] != "levels":
        own.add("errors")
    if cell["unit"] != "row" or cell["zones"] or cell["neighbours"] == "replace-one":
        own.discard("neighbours")
    return {name: OTHERS[name] for name in own if OTHERS[name] != settings.get(name)}


@pytest.mark.parametrize("cell", ACCEPTED, ids=words)
def test_a_fit_repeats_and_its_key_is_bound_to_every_parameter(cell, file_of):
    data, settings, ledger = file_of(cell["unit"]), settings_of(cell), ledger_of(cell)
    asked = partial(fitted, cell["what"], data, ledger=ledger.with_key("monday"), dataset="trips")
    first = asked(**settings)
    if cell["owner"]:
        OwnersView(data, resolve_bounds(BOUNDS, names=NAMES, width=3)).nonprivate_centres(2)
    assert asked(**settings | {"engine": "files" if cell["engine"] == "memory" else "memory"}) == first
    for name, value in changed(cell).items():
        with pytest.raises(LedgerError, match="key"):
            asked(**settings | {name: value})
    assert [entry.kind for entry in ledger.entries()].count("charge") == 1
    assert float(ledger.datasets()["trips"].spent.epsilon) == 1


@pytest.mark.parametrize("cell", ACCEPTED, ids=words)
def test_the_certificate_says_whom_it_protects_and_what_was_done(cell, file_of):
    key, settings = cell["key"], settings_of(cell)
    asked = partial(fitted, cell["what"], file_of(cell["unit"]), dataset="trips")
    document = asked(ledger=ledger_of(cell).with_key(key), **settings)
    assert asked(ledger=ledger_of(cell).with_key(None), **settings) == document
    told = json.loads(document)["certificate"]
    assert (told["neighbours"], told["epsilon"], told["delta"]) == (cell["neighbours"], 1, 0)
    assert told["unit"] == settings.get("person")
    assert told["person"] == str(Person(settings.get("person"), settings.get("rows_per_person", 1)))
    assert ("zones" in told["parameters"]) == cell["zones"]
    assert ("sample" in told["parameters"]) == (cell["sample"] is not None)
    assert told["seeded"] is True
    assert told["dataset"] == "trips"
    assert not {"engine", "key", "owner"} & {*told, *told["parameters"]}


@pytest.mark.parametrize("unit", ["row", "person, 3"])
def test_spark_gives_the_same_release_and_is_bound_by_the_same_key(unit, spark):
    cell = {**CELLS[0], "unit": unit, "key": "monday"}
    settings, ledger = settings_of(cell), ledger_of(cell)
    rows = rows_of(unit)
    first = fitted("k-means", rows, ledger=ledger_of(cell), dataset="trips", **settings)
    asked = partial(fitted, "k-means", spark.createDataFrame(rows.to_pandas()), dataset="trips")
    settings["engine"] = "spark"
    assert asked(ledger=ledger.with_key("monday"), **settings) == first
    with pytest.raises(LedgerError, match="key"):
        asked(ledger=ledger.with_key("monday"), **settings | {"epsilon": 1.5})
    assert [entry.kind for entry in ledger.entries()].count("charge") == 1


@pytest.mark.parametrize("cell", [cell for cell in ACCEPTED if cell["sample"] is None], ids=words)
def test_the_same_questions_are_asked_of_a_neighbour(cell, file_of):
    """A row of nobody, or a person with all rows, is away; under replace-one a row is another."""
    settings = {**settings_of(cell), "engine": "memory"}
    tapes: list[Tape] = []
    for away in (None, "p7"):
        tape = Tape(seed=7, played=tapes[0] if tapes else None)
        data = neighbour(cell, away)
        with heard_by(partial(Watched.over, tape=tape)), put(Coins, "keep", all_stay):
            tape.end(fitted(cell["what"], data, **settings))
        tapes.append(tape)
    by_person = cell["zones"] and cell["unit"] != "row"
    assert any(isinstance(query, ByPersonsZone) for query in tapes[1].queries) == by_person
    rows = settings.get("rows_per_person", 1)
    steps = [pair for pair in zip(tapes[0].steps, tapes[1].steps, strict=True) if pair[0].kind]
    assert steps
    for ours, theirs in steps:
        assert moved(ours, theirs, Neighbours(cell["neighbours"]), rows)[1] == ""


def neighbour(cell: Cell, away: str | None) -> pa.Table:
    """The rows, and without a person; of rows without people one is away, or another under replace-one."""
    if cell["unit"] != "row" or away is None:
        return rows_of(cell["unit"], without=away)
    whole = rows_of("row").to_pydict()
    if cell["neighbours"] == "replace-one":
        whole["x"][21], whole["y"][21] = 0.9, -0.9
        return pa.table(whole)
    return pa.table({name: values[:21] + values[22:] for name, values in whole.items()})


def all_stay(_coins: Coins, numbers: np.ndarray, _words: np.ndarray) -> np.ndarray:
    """Coins of a zone that keep everybody, as in audits: what follows is private whoever is kept."""
    return np.ones(len(numbers), dtype=np.bool_)
