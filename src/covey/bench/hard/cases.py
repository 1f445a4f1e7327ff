"""What the hard suite asks: every case is a set, a way to ask for privacy, and how often it is run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from covey.bench.hard.families import FAMILIES
from covey.bench.sets import UTILITY, DataSet

FEW_SETS = ("s1", "gowalla_places", "house_rgb", "adult_num", "lifesci", "letter", "gas_emissions", "nyc_trips")
FEW_ROWS = (1_000, 5_000)
CAPS: tuple[int | str, ...] = (1, 10, 50, "auto")
UNCERTAIN = ("unbalance",)  # one run in ten decides
SLOW = ("mnist_train",)
PEOPLE = {
    "gowalla check-ins": ("user", DataSet(name="", file="gowalla_visits", bounds=UTILITY[1].bounds, k=5)),
    "sf_cab": (
        "cab",
        DataSet(
            name="",
            file="sf_cab_trips",
            bounds=(("pickup_lon", -122.75, -121.9), ("pickup_lat", 37.2, 38.1)),
            k=8,
        ),
    ),
}


@dataclass(frozen=True, kw_only=True)
class Case:
    """group : the table that it is in. rows_per_person : of people; None where a row is the unit. draws : of a family,
    whose runs go through them in turn."""

    group: str
    set: str
    relation: str = "add-remove"
    objective: str = "k-means"
    pure: bool = False
    n: int | None = None
    rows_per_person: int | str | None = None
    draws: int = 1
    runs: int = 20

    @property
    def label(self) -> str:
        of_rows = "" if self.n is None else f", {self.n:,} rows"
        return self.set + of_rows + ("" if self.rows_per_person is None else f", m = {self.rows_per_person}")


def all_cases() -> Iterator[Case]:
    """In the order of the tables."""
    for group, asked in (
        ("the suite, with a δ", {}),
        ("the suite, pure", {"pure": True}),
        ("the suite, replace-one", {"relation": "replace-one"}),
        ("the suite, k-median", {"objective": "k-median"}),
    ):
        for each in UTILITY:
            runs = 5 if each.name in SLOW else 40 if each.name in UNCERTAIN else 20
            yield Case(group=group, set=each.name, runs=runs, **asked)
    for name in PEOPLE:
        for most in CAPS:
            yield Case(group="people", set=name, rows_per_person=most)
    for name in FEW_SETS:
        for n in FEW_ROWS:
            yield Case(group="few rows", set=name, n=n)
    for kind in FAMILIES:
        yield Case(group="families", set=kind.name, draws=5)


def quick_cases() -> Iterator[Case]:
    """One of each kind, on few rows."""
    for case in (
        Case(group="the suite, with a δ", set="s1"),
        Case(group="the suite, replace-one", set="s1", relation="replace-one"),
        Case(group="the suite, k-median", set="s1", objective="k-median", pure=True),
        Case(group="families", set="rings", draws=2),
    ):
        yield Case(**{**vars(case), "runs": 2})
