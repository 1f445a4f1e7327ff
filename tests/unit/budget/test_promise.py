"""Promises have a type: what adds up, what is converted at which price, and what a ledger of one type refuses."""

import json
import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from covey import Box, BudgetError, CoveyError, KMeans, Ledger, ParameterError
from covey.budget import Cost, Disjoint, Kind, Plan, Promise, Reserve
from covey.budget.accounting.groups import group_cost, row_cost
from covey.budget.accounting.promise import ZonePromises
from covey.events import Neighbours, Pure
from covey.fit.fit import fit
from covey.fit.slider import fit_levels
from covey.fit.zones import Zones

ADD, REPLACE = Neighbours.ADD_REMOVE, Neighbours.REPLACE_ONE
ROW, DRIVER, REPLACED = Kind(), Kind(unit="driver"), Kind(REPLACE)
RNG = np.random.default_rng(5)
TRIPS = pd.DataFrame({"driver": np.arange(400) // 8, "lon": RNG.uniform(-1, 1, 400), "lat": RNG.uniform(-1, 1, 400)})
BOUNDS = Box(lon=(-1, 1), lat=(-1, 1))
HOME = [(Box(lon=(-0.5, 0), lat=(-0.5, 0)), 0.25)]
WORK = [(Box(lon=(0.5, 0.9), lat=(-0.5, 0)), 0.25)]
ASKED = {"k": 2, "bounds": BOUNDS, "algorithm": "grid", "dataset": "trips"}
AMOUNTS = st.fractions(Fraction(1, 1000), 5)
DELTAS = st.fractions(0, Fraction(1, 1000))


# --- arithmetic -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("other", [DRIVER, REPLACED])
def test_promises_of_different_types_do_not_add_up(other):
    for join in (Promise.__add__, lambda a, b: a.largest(b, Disjoint(None))):
        with pytest.raises(ParameterError, match="do not add up"):
            join(Promise.of(1), Promise.of(1, kind=other))
    assert not Promise.of(1).within(Promise.of(2, kind=other))


def test_promises_of_one_type_add_up_exactly():
    assert sum([Promise.of("0.1", "1e-7")] * 9, Promise.of("0.1", "1e-7")) == Promise.of(1, "1e-6")


def test_a_maximum_needs_a_witness_about_the_same_unit():
    one, two = Promise.of(1, "1e-6", kind=DRIVER), Promise.of(2, kind=DRIVER)
    assert one.largest(two, Disjoint("driver")) == Promise.of(2, "1e-6", kind=DRIVER)
    with pytest.raises(ParameterError, match="another unit"):
        one.largest(two, Disjoint(None))  # disjoint rows: one person's may lie in both sets
    assert Disjoint.declared(["a"], ["b", "c"], unit=None) == Disjoint(None)
    for ours, theirs in ((["a"], ["a"]), ([None], ["a"]), (["a"], [None]), ([None], [None]), (["a", "b"], ["b"])):
        assert Disjoint.declared(ours, theirs, unit=None) is None


@given(AMOUNTS, DELTAS, st.integers(1, 50))
def test_a_group_costs_what_its_chain_of_neighbours_does(epsilon, delta, rows):
    """Step by step: P(D) <= e^ε P(D') + δ, applied to itself."""
    found = group_cost(Cost(epsilon, delta), rows=rows)
    factor, exceptional = 1.0, 0.0
    for _ in range(rows):
        exceptional = float(delta) + math.exp(epsilon) * exceptional
        factor *= math.exp(epsilon)
    assert float(found.epsilon) == pytest.approx(math.log(factor))
    assert float(found.delta) == pytest.approx(min(1.0, exceptional), rel=1e-9)


@given(AMOUNTS, DELTAS, st.integers(1, 10**6))
def test_what_rows_may_cost_is_what_their_group_costs_at_most(epsilon, delta, rows):
    whole = Cost(epsilon, delta)
    back = group_cost(row_cost(whole, rows=rows), rows=rows)
    assert back.within(whole)
    assert back.epsilon == epsilon
    assert float(back.delta) == pytest.approx(float(delta), rel=1e-6, abs=1e-24)


@pytest.mark.parametrize(
    ("given_", "wanted", "steps"),
    [(ROW, ROW, 1), (ROW, REPLACED, 2), (DRIVER, ROW, 2), (DRIVER, REPLACED, 4), (DRIVER, DRIVER, 1)],
)
def test_what_is_proven_converts_at_the_price_of_its_chain(given_, wanted, steps):
    epsilon, delta = Fraction(1, 2), Fraction(1, 10**6)
    found = Promise.of(epsilon, delta, kind=given_).to(wanted)
    assert found.kind == wanted
    assert found.epsilon == steps * epsilon
    assert float(found.delta) == pytest.approx(sum(math.exp(i / 2) for i in range(steps)) * 1e-6, rel=1e-12)
    assert found.delta >= Fraction(math.fsum(math.exp(i / 2) for i in range(steps)) * 1e-6 * (1 - 1e-12))


@pytest.mark.parametrize(
    ("given_", "wanted"),
    [(REPLACED, ROW), (REPLACED, DRIVER), (ROW, DRIVER), (DRIVER, Kind(unit="car")), (Kind(unit="car"), DRIVER)],
)
def test_what_is_not_proven_is_refused(given_, wanted):
    with pytest.raises(ParameterError):
        Promise.of(1, kind=given_).to(wanted)


def test_a_relation_in_words_is_no_way_around_the_rules():
    assert Promise("replace-one", None, 0.1) == Promise.of("0.1", kind=REPLACED)
    with pytest.raises(ParameterError, match="says nothing of adding"):
        Promise("replace-one", None, Fraction(1)).to(ROW)
    for make in (lambda: Kind("replace-one", "driver"), lambda: Promise("replace-one", "driver", Fraction(1))):
        with pytest.raises(ParameterError, match="person"):
            make()
    with pytest.raises(ParameterError, match="neighbours"):
        Promise("nearby", None, Fraction(1))


def test_rows_extend_to_people_with_a_cap_only():
    assert Promise.of("0.25").for_people("driver", cap=4) == Promise.of(1, kind=DRIVER)
    with pytest.raises(ParameterError):
        Promise.of(1, kind=REPLACED).for_people("driver", cap=1)
    with pytest.raises(ParameterError, match="person"):
        Kind(REPLACE, "driver")


def test_the_price_of_a_conversion_is_what_a_row_can_make_of_a_person():
    """Removing one row of somebody else's is removing the person and adding them again: by brute force on a count.

    A mechanism that hides people perfectly but tells whether a person has one row or two: randomised response on
    "is the person absent", "has one row", "has two", e^ε apart from absent either way, so e^2ε apart from one another.
    """
    e = math.exp(0.5)
    laws = {0: [e, e, e * e], 1: [1.0, e * e, e], 2: [e * e, 1.0, e]}  # rows of the person -> weights of three answers
    laws = {rows: np.array(law) / sum(law) for rows, law in laws.items()}

    def loss(a, b):
        return max(abs(math.log(x / y)) for x, y in zip(laws[a], laws[b], strict=True))

    person = max(loss(0, 1), loss(0, 2))
    row = loss(1, 2)
    assert person < row <= 2 * person
    assert row > 1.4 * person, "one epsilon would not do"


# --- reserves ---------------------------------------------------------------------------------------------------------


def test_what_is_handed_on_is_gone():
    reserve = Reserve(Promise.of(1, "1e-6", kind=DRIVER))
    choice = reserve.part(Fraction(1, 20))
    assert choice.promise == Promise.of("0.05", kind=DRIVER)
    assert reserve.left == Promise.of("0.95", "1e-6", kind=DRIVER)
    rows = reserve.for_rows(cap=4)
    assert rows.promise.kind == ROW
    assert rows.promise.epsilon == Fraction(95, 400)
    assert reserve.left.cost == Cost(Fraction(0))
    for more in (lambda: reserve.part(Fraction(1, 10**9)), lambda: reserve.open(Plan((Pure(Fraction(1, 100)),)))):
        with pytest.raises(BudgetError):
            more()
    sample = rows.on_sample(Fraction(1, 10))
    assert sample.promise.epsilon > 5 * rows.promise.epsilon
    assert sample.promise.on_sample(Fraction(1, 10)).within(rows.promise)
    with pytest.raises(BudgetError):
        rows.open(Plan((Pure(Fraction(1, 100)),)))


@given(AMOUNTS, DELTAS, st.integers(1, 1000), st.fractions(Fraction(1, 1000), 1), st.fractions(0, Fraction(1, 2)))
def test_what_is_handed_on_means_no_more_than_was_promised(epsilon, delta, cap, rate, share):
    """Back up the chain, by the conversions alone: sample to rows, rows to people, and the part beside them."""
    whole = Promise.of(epsilon, delta, kind=DRIVER)
    reserve = Reserve(whole)
    part = reserve.part(share * epsilon)
    inner = reserve.for_rows(cap=cap).on_sample(rate)
    again = inner.promise.on_sample(rate).for_people("driver", cap=cap) + part.promise
    assert again.within(whole)
    assert again.epsilon > epsilon - Fraction(cap, 10**8), "and no less, but for rounding"


# --- ledgers ----------------------------------------------------------------------------------------------------------


def test_a_ledger_of_add_remove_refuses_a_fit_of_replace_one():
    """With a total of 2, one of each would be taken for 2, although the second tells the exact number of rows."""
    book = Ledger.memory(dataset="trips", epsilon=2)
    fit(TRIPS, **ASKED, epsilon=1, ledger=book)
    for each in (book, book.converting()):
        with pytest.raises(ParameterError, match="neighbours: a promise for replacing a row says nothing"):
            fit(TRIPS, **ASKED, epsilon=1, neighbours="replace-one", ledger=each)
    assert book.datasets()["trips"].spent.epsilon == 1


def test_a_ledger_of_people_refuses_a_fit_of_rows():
    """Somebody with a hundred rows would have a hundred and one."""
    book = Ledger.memory(dataset="trips", epsilon=2, person="driver")
    fit(TRIPS, **ASKED, epsilon=1, person="driver", ledger=book)
    for each in (book, book.converting()):
        with pytest.raises(ParameterError, match="person='driver', which caps"):
            fit(TRIPS, **ASKED, epsilon=1, ledger=each)
        with pytest.raises(ParameterError, match="person"):
            fit_levels(TRIPS[["lon", "lat"]], bounds=BOUNDS, ledger=each, dataset="trips")
    assert book.datasets()["trips"].spent.epsilon == 1


@pytest.mark.parametrize(
    ("of", "options", "price"),
    [
        ({}, {"person": "driver", "rows_per_person": 3}, 2),
        ({"neighbours": "replace-one"}, {}, 2),
        ({"neighbours": "replace-one"}, {"person": "driver"}, 4),
    ],
)
def test_a_fit_of_another_type_is_converted_once_its_price_is_accepted(of, options, price):
    book = Ledger.memory(dataset="trips", epsilon=4, **of)
    before = book.head
    with pytest.raises(ParameterError, match=f"charged as epsilon {price} and delta 0: accept"):
        fit(TRIPS, **ASKED, epsilon=1, ledger=book, **options)
    assert book.head == before
    release = fit(TRIPS, **ASKED, epsilon=1, ledger=book.converting(), **options)
    assert book.datasets()["trips"].spent.epsilon == price
    assert release.certificate.promise == Promise.of(1, kind=Kind(ADD, options.get("person")))


def test_the_type_of_a_data_set_is_inside_the_chain(tmp_path):
    book = Ledger.create(tmp_path / "x.ledger", dataset="trips", epsilon=2, person="driver")
    book.add("visits", epsilon=1, neighbours="replace-one")
    assert {name: each.kind for name, each in Ledger.open(tmp_path / "x.ledger").datasets().items()} == {
        "trips": DRIVER,
        "visits": REPLACED,
    }
    entry = book.entries()[1]
    assert (entry.relation, entry.unit) == ("add-remove", "driver")
    with pytest.raises(ParameterError, match="person"):
        book.add("both", epsilon=1, neighbours="replace-one", person="driver")
    with pytest.raises(ParameterError, match="neighbours"):
        book.add("none", epsilon=1, neighbours="nearby")


def test_a_fit_without_a_ledger_may_be_of_any_type():
    for options in ({}, {"neighbours": "replace-one"}, {"person": "driver"}):
        assert fit(TRIPS, k=2, bounds=BOUNDS, epsilon=1, algorithm="grid", **options).certificate.epsilon == 1


# --- zones are part of a data set -------------------------------------------------------------------------------------


def zone_totals(book):
    return {name: float(cost.epsilon) for name, cost in book.datasets()["trips"].zones.items()}


def test_the_zones_of_a_data_set_are_bound_by_its_first_charge():
    book = Ledger.memory(dataset="trips", epsilon=10)
    fit(TRIPS, **ASKED, epsilon=1, zones=HOME, ledger=book)
    fit(TRIPS, **ASKED, epsilon=1, zones=HOME, ledger=book)
    assert zone_totals(book) == {"zone 1": 0.5}
    before = book.head
    for zones in (None, WORK, [(HOME[0][0], 0.2)]):
        with pytest.raises(ParameterError, match="zones: data set 'trips' was charged with other zones"):
            fit(TRIPS, **ASKED, epsilon=1, zones=zones, ledger=book)
    with pytest.raises(ParameterError, match="zones"):
        fit_levels(TRIPS[["lon", "lat"]], bounds=BOUNDS, ledger=book, dataset="trips")
    assert book.head == before


def test_zones_that_are_left_out_raise_their_total():
    book = Ledger.memory(dataset="trips", epsilon=10).converting()
    fit(TRIPS, **ASKED, epsilon=1, zones=HOME, ledger=book)
    fit(TRIPS, **ASKED, epsilon=2, ledger=book)
    assert zone_totals(book) == {"zone 1": 2.25}
    fit(TRIPS, **ASKED, epsilon=0.5, zones=WORK, ledger=book)
    assert zone_totals(book) == {"zone 1": 2.75}, "rows at home are outside the zones of that fit"


def test_zones_that_come_later_have_what_was_charged_before():
    book = Ledger.memory(dataset="trips", epsilon=10)
    fit(TRIPS, **ASKED, epsilon=2, ledger=book)
    with pytest.raises(ParameterError, match="zones"):
        fit(TRIPS, **ASKED, epsilon=1, zones=HOME, ledger=book)
    fit(TRIPS, **ASKED, epsilon=1, zones=HOME, ledger=book.converting())
    assert zone_totals(book) == {"zone 1": 2.25}


def test_zones_are_of_the_columns_and_bounds_that_they_were_charged_in():
    """The same polygon is about other rows in other columns: who starts at home ends elsewhere, and has 0.25 + 1."""
    trips = TRIPS.rename(columns={"lon": "to_lon", "lat": "to_lat"}).assign(lon=TRIPS.lat, lat=TRIPS.lon)
    corners = [[-0.5, -0.5], [0, -0.5], [0, 0], [-0.5, 0], [-0.5, -0.5]]
    home = {
        "type": "Feature",
        "properties": {"epsilon": 0.25},
        "geometry": {"type": "Polygon", "coordinates": [corners]},
    }
    places = [(Box((-0.5, 0), (0, 0.5)), 0.25)]  # by position: in the columns of the fit, whatever they are
    start, end = {"lon": (-1, 1), "lat": (-1, 1)}, {"to_lon": (-1, 1), "to_lat": (-1, 1)}
    wider, turned = start | {"lon": (-1, 3)}, dict(reversed(start.items()))
    for zones, other in ((home, end), (home, wider), (places, turned), (places, end)):
        book = Ledger.memory(dataset="trips", epsilon=10)
        asked = {"k": 2, "epsilon": 1, "algorithm": "grid", "dataset": "trips", "zones": zones}
        fit(trips, bounds=Box.of(start), ledger=book, **asked)
        with pytest.raises(ParameterError, match="or in other columns or bounds"):
            fit(trips, bounds=Box.of(other), ledger=book, **asked)
        fit(trips, bounds=Box.of(other), ledger=book.converting(), **asked)
        assert list(zone_totals(book).values()) == [1.25]


def test_zones_of_people_are_of_the_rows_that_are_left():
    """Who is at home in a row without a latitude alone is not if it is left out: 0.25 the one time, 1 the other."""
    trips = TRIPS.assign(lat=np.nan)
    asked = ASKED | {"epsilon": 1, "zones": HOME}
    book = Ledger.memory(dataset="trips", epsilon=10, person="driver")
    fit(trips, **asked, ledger=book, person="driver")
    with pytest.raises(ParameterError, match="or with people of another missing="):
        fit(trips, **asked, ledger=book, person="driver", missing="drop")
    fit(trips, **asked, ledger=book.converting(), person="driver", missing="drop")
    assert zone_totals(book) == {"zone 1": 1.25}
    book = Ledger.memory(dataset="trips", epsilon=10)
    for missing in ("middle", "drop"):  # a row that is left out costs nothing
        fit(trips, **asked, ledger=book, missing=missing)
    assert zone_totals(book) == {"zone 1": 0.5}


def test_the_same_zones_in_other_words_are_the_same(tmp_path):
    """A document or its file, in another order, with the columns named or found: the same rows are in them."""
    features = [
        {
            "type": "Feature",
            "properties": {"epsilon": 0.25, "name": name},
            "geometry": {"type": "Polygon", "coordinates": [[[x, x], [x + 0.2, x], [x, x + 0.2], [x, x]]]},
        }
        for name, x in (("home", -0.5), ("work", 0.5))
    ]
    forward, back = ({"type": "FeatureCollection", "features": each} for each in (features, features[::-1]))
    (tmp_path / "zones.json").write_text(json.dumps(back))
    book = Ledger.memory(dataset="trips", epsilon=10)
    for zones in (forward, str(tmp_path / "zones.json"), Zones.read(forward, lon="lon", lat="lat")):
        fit(TRIPS, **ASKED, epsilon=1, zones=zones, ledger=book)
    assert zone_totals(book) == {"home": 0.75, "work": 0.75}
    with pytest.raises(ParameterError, match="other columns"):
        fit(TRIPS, **ASKED, epsilon=1, zones=Zones.read(forward, lon="lat", lat="lon"), ledger=book)


@pytest.mark.parametrize(
    ("of", "options", "price"), [({}, {"person": "driver"}, 2), ({"neighbours": "replace-one"}, {}, 2)]
)
def test_zones_are_converted_at_the_price_of_all_rows(of, options, price):
    """Somebody's only row at home, taken away: the person leaves the zone, and comes back outside it."""
    book = Ledger.memory(dataset="trips", epsilon=4, **of).converting()
    fit(TRIPS, **ASKED, epsilon=1, zones=HOME, ledger=book, **options)
    assert zone_totals(book) == {"zone 1": price}


def test_nothing_less_than_nothing_is_promised_handed_on_or_charged(tmp_path):
    """A charge below 0 would be refunds, and stand in the chain as an entry that nobody can read any more."""
    for amounts in ((Fraction(-1), Fraction(0)), (Fraction(1), Fraction(-1))):
        with pytest.raises(ParameterError, match="must not be negative"):
            Promise(ADD, None, *amounts)
    reserve = Reserve(Promise.of(1))
    with pytest.raises(CoveyError):
        reserve.part(Fraction(-1))
    assert reserve.left == Promise.of(1)
    with pytest.raises(BudgetError, match="for people"):
        reserve.for_rows(cap=2)
    book = Ledger.create(tmp_path / "x.ledger", dataset="trips", epsilon=2)
    for weaker in (Promise.of(2), Promise.of(1, "1e-9"), Promise.of("0.1", kind=DRIVER)):
        with pytest.raises(ParameterError, match="zones: the promise of 'home'"):
            book.charge("trips", Promise.of(1), purpose="map", zones=ZonePromises("home", (("home", weaker),)))
    assert Ledger.open(tmp_path / "x.ledger").datasets()["trips"].spent == Cost(Fraction(0))


@pytest.mark.parametrize(("epsilon", "delta"), [(10**30, 1), (Fraction(1, 10**200), Fraction(2, 10**6))])
def test_amounts_beyond_all_digits_convert_too(epsilon, delta):
    found = Promise.of(epsilon, "1e-6").to(REPLACED)
    assert found.epsilon == 2 * epsilon
    assert delta <= found.delta <= min(1, delta * (1 + Fraction(1, 10**20)))


# --- estimators -------------------------------------------------------------------------------------------------------


def test_seeded_noise_is_not_charged_to_a_file(tmp_path):
    """Who knows the seed of a trial that was thrown away knows what was stored, and could test guesses against it."""
    book = Ledger.create(tmp_path / "x.ledger", dataset="trips", epsilon=2)
    before = book.head
    with pytest.raises(ParameterError, match=r"random_state: seeded noise is not private"):
        KMeans(2, epsilon=1, bounds=BOUNDS, ledger=book, dataset="trips", random_state=7).fit(TRIPS[["lon", "lat"]])
    with pytest.raises(ParameterError, match="random_state"):
        fit_levels(TRIPS[["lon", "lat"]], bounds=BOUNDS, ledger=book, dataset="trips", random_state=7)
    assert book.head == before
