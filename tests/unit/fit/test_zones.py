"""Zones: what is refused, what is kept, what is promised; thinning at a node; fits and the command line with zones."""

import json
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from click.testing import CliRunner

import covey
from covey import Box, FormatError, KMeans, LedgerError, ParameterError, PrivateCoreset
from covey.cli.main import cli
from covey.fit.zones import Zones, keeping, read_zones
from covey.geo import thin
from covey.noise.source import SeededSource
from covey.private.narrowed.zones import ALWAYS, ZonedTable
from covey.private.tables.frames import ArrayTable
from covey.public import Domain, Neighbours, Person, resolve_bounds

SQUARE = Box((-1, 1), (-1, 1))
DOMAIN = resolve_bounds(SQUARE, names=None, width=2)


def collection(*zones):
    return {
        "type": "FeatureCollection",
        "features": [
            {"type": "Feature", "properties": properties, "geometry": {"type": "Polygon", "coordinates": rings}}
            for properties, rings in zones
        ],
    }


def ring(low, high):
    return [[low, low], [high, low], [high, high], [low, high], [low, low]]


HOME = collection(({"epsilon": 0.2, "name": "home"}, [ring(-0.75, -0.25)]))


@pytest.mark.parametrize(
    ("zone", "whole"), [("0.1", "1"), ("0.5", "2"), ("0.999999", "1"), ("0.000001", "3"), ("1", "30")]
)
def test_the_rate_is_the_certified_quotient_rounded_down(zone, whole):
    with localcontext(prec=80):
        exact = (Decimal(zone).exp() - 1) / (Decimal(whole).exp() - 1) * 2**64
        assert keeping(Fraction(zone), Fraction(whole)) == int(exact)


def test_equal_epsilons_keep_every_row():
    assert keeping(Fraction(1), Fraction(1)) == ALWAYS


def laplace(strength, reach=400):
    p = np.exp(-strength)
    return (1 - p) / (1 + p) * p ** np.abs(np.arange(-reach, reach + 1))


def worst(rate, strength):
    """The worst log-ratio of a noisy count with a row that is kept at this rate, and without it."""
    without = laplace(strength)
    with_row = (1 - rate) * without + rate * np.roll(without, 1)
    inner = slice(50, -50)
    return np.abs(np.log(with_row[inner] / without[inner])).max()


@pytest.mark.parametrize(("zone", "whole"), [(0.2, 1.0), (0.05, 0.3), (1.0, 2.0)])
def test_a_row_in_a_zone_enjoys_the_zones_epsilon_exactly(zone, whole):
    rate = keeping(Fraction(str(zone)), Fraction(str(whole))) / ALWAYS
    assert worst(rate, whole) == pytest.approx(zone, abs=1e-9)
    assert worst(1.1 * rate, whole) > 1.03 * zone


# --- reading ----------------------------------------------------------------------------------------------------------


def test_levels_by_name_and_holes():
    zones = collection(({"level": "most private"}, [ring(-0.8, 0.8), ring(-0.2, 0.2)]))
    regions = Zones.read(zones).on(DOMAIN)
    assert regions.areas[0].epsilon == Fraction(1, 10)
    scaled = np.rint(np.array([[0.5, 0.5], [0.0, 0.0], [0.9, 0.0], [0.8, 0.0]]).T * DOMAIN.limit).astype(np.int32)
    assert regions.index(scaled).tolist() == [1, 0, 0, 1]  # inside, in the hole, outside, on the border


def test_a_buffer_makes_zones_of_points_and_widens_those_of_polygons():
    domain = resolve_bounds(Box(lon=(6.8, 7.1), lat=(50.8, 51.1)), names=("lon", "lat"), width=2)
    school = {"type": "Point", "coordinates": [6.95, 50.95]}
    document = {"type": "Feature", "properties": {"epsilon": 0.1, "buffer_metres": 200}, "geometry": school}
    (zone,) = Zones.read(document).zones
    near, far = [6.95, 50.95 + 199 / 111_320], [6.95, 50.95 + 210 / 111_320]
    assert zone.region.contains([near, far]).tolist() == [True, False]
    thinning = read_zones(document, epsilon=Fraction(1), domain=domain)
    assert len(thinning.regions.areas) == 1
    with pytest.raises(FormatError, match="zones: buffer_metres"):
        Zones.read({**document, "properties": {"epsilon": 0.1, "buffer_metres": -1}})
    with pytest.raises(FormatError, match="zones: must be GeoJSON made of Polygon"):
        Zones.read({**document, "properties": {"epsilon": 0.1}})


def test_boxes_may_limit_some_columns_of_many():
    domain = resolve_bounds(Box(a=(0, 1), b=(0, 1), c=(0, 1)), names=("a", "b", "c"), width=3)
    regions = Zones.read([(Box(b=(0.5, 1)), 0.1)]).on(domain)
    rows = np.array([[0, 0], [domain.limit // 2, -domain.limit // 2], [0, 0]], dtype=np.int32)
    assert regions.index(rows).tolist() == [1, 0]


@pytest.mark.parametrize(
    ("zones", "words"),
    [
        ({"type": "Polygon", "coordinates": [ring(0, 1)]}, "FeatureCollection"),
        (collection(({}, [ring(0, 1)])), "epsilon"),
        (collection(({"level": "loud"}, [ring(0, 1)])), "most private"),
        (collection(({"epsilon": -1}, [ring(0, 1)])), "zone 1"),
        (collection(({"epsilon": True}, [ring(0, 1)])), "zone 1"),
        (collection(({"epsilon": "a"}, [ring(0, 1)])), "zone 1"),
        (collection(({"epsilon": 2}, [ring(0, 1)])), "below"),
        (collection(({"epsilon": 0.1}, [[[0, 0], [1, 1]]])), "three corners"),
        (collection(({"epsilon": 0.1}, [ring(1e9, 2e9)])), "units"),
        (collection(), "at least one"),
        ({"type": "FeatureCollection", "features": [3]}, "epsilon"),
        ({"type": "FeatureCollection"}, "FeatureCollection"),
        ([(Box(z=(0, 1)), 0.1)], "columns"),
        ([Box((0, 1))], "pairs"),
        (5, "GeoJSON"),
        ("no/such/file.geojson", "cannot read"),
    ],
)
def test_what_is_wrong_with_zones_is_said(zones, words):
    with pytest.raises((ParameterError, FormatError), match=words) as caught:
        read_zones(zones, epsilon=Fraction(1), domain=DOMAIN)
    assert str(caught.value).startswith("zones")


def test_polygons_need_to_know_their_columns():
    domain = resolve_bounds(Box(east=(-1, 1), north=(-1, 1)), names=("east", "north"), width=2)
    with pytest.raises(ParameterError, match=r"zones.*'east', 'north'"):
        read_zones(HOME, epsilon=Fraction(1), domain=domain)
    assert read_zones(Zones.read(HOME, lon="north", lat="east"), epsilon=Fraction(1), domain=domain).regions.areas


def test_zones_need_add_remove_and_a_cap_that_is_known():
    for rest in ({"neighbours": Neighbours.REPLACE_ONE}, {"person": Person("driver", "auto")}):
        with pytest.raises(ParameterError, match="zones"):
            read_zones(HOME, epsilon=Fraction(1), domain=DOMAIN, **rest)


def test_a_zone_that_could_keep_nobody_is_refused():
    with pytest.raises(ParameterError, match="no row could be kept"):
        read_zones([(SQUARE, 1e-6)], epsilon=Fraction(100), domain=DOMAIN)


# --- thinning ---------------------------------------------------------------------------------------------------------


def zoned(rows, key=b"k" * 32, zones=HOME, epsilon=1):
    thinning = read_zones(zones, epsilon=Fraction(epsilon), domain=DOMAIN)
    return ZonedTable(ArrayTable(rows), thinning.coins, key, DOMAIN)


def read(table):
    return np.concatenate([piece() for piece in table.pieces(None)], axis=1)


@pytest.fixture(scope="module")
def rows():
    return np.random.default_rng(1).uniform(-1, 1, (400_000, 2))


def test_every_pass_sees_the_same_rows_and_another_key_other_ones(rows):
    table = zoned(rows)
    once = read(table)
    assert np.array_equal(once, read(table))
    assert table.rows() == once.shape[1]
    assert not np.array_equal(once, read(zoned(rows, key=b"j" * 32)))
    outside = ~((rows >= -0.75) & (rows <= -0.25)).all(axis=1)
    assert np.array_equal(np.unique(once[0])[-5:], np.unique(rows[:, 0])[-5:])
    kept_outside = ~((once >= -0.75) & (once <= -0.25)).all(axis=0)
    assert kept_outside.sum() == outside.sum()


def test_places_are_counted_among_the_kept(rows):
    table = zoned(rows)
    kept = read(table)
    wanted = np.arange(5, kept.shape[1] + 1000, 997)
    for blocks in ([wanted], [wanted[:10], wanted[10:11], wanted[11:]]):
        found = np.concatenate([piece() for piece in table.chosen(None, iter(blocks))], axis=1)
        assert np.array_equal(found, kept[:, wanted[wanted < kept.shape[1]]])


def test_only_the_domains_columns_can_be_read(rows):
    with pytest.raises(covey.BudgetError, match="columns"):
        next(zoned(rows).pieces(["a"]))


# --- a node -----------------------------------------------------------------------------------------------------------


def test_a_node_thins_its_own_rows():
    rows = np.random.default_rng(2).uniform(-1, 1, (40_000, 2))
    inside = ((rows >= -0.75) & (rows <= -0.25)).all(axis=1)
    kept = thin(rows, HOME, epsilon=1.0)
    again = thin(rows, HOME, epsilon=1.0)
    rate = np.expm1(0.2) / np.expm1(1)
    expected = inside.sum() * rate
    assert abs(len(kept) - (~inside).sum() - expected) < 6 * expected**0.5
    assert not np.array_equal(kept, again)
    frame = pd.DataFrame(rows, columns=["lon", "lat"]).assign(note="a")
    thinned = thin(frame, HOME, epsilon=1.0)
    assert list(thinned.columns) == ["lon", "lat", "note"]
    assert (~inside).sum() < len(thinned) < len(frame)
    assert len(thin(rows.tolist(), HOME, epsilon=1.0)) < len(rows)
    with pytest.raises(ParameterError, match="zones"):
        thin(rows, None, epsilon=1.0)
    with pytest.raises(ParameterError, match="zones"):
        thin(rows, HOME, epsilon=0.1)
    with pytest.raises(covey.DataError, match="covey thin"):
        thin("track.csv", HOME, epsilon=1.0)


def test_a_thinned_table_holds_no_category_of_the_rows_that_stay():
    places = [f"Elm Street {i:03}" for i in range(400)]
    at = np.full((400, 2), -0.5)
    at[::4] = 0.5
    frame = pd.DataFrame({"lon": at[:, 0], "lat": at[:, 1], "at": pd.Categorical(places)})
    frame.index = pd.MultiIndex.from_arrays([places, range(400)])
    kept = thin(frame, HOME, epsilon=1.0)
    assert 100 <= len(kept) < 300
    assert sorted(kept["at"].cat.categories) == sorted(kept["at"])
    assert sorted(kept.index.levels[0]) == sorted(kept["at"])
    assert set(thin(frame.set_index("at"), HOME, epsilon=1.0).index.categories) < set(places)
    table = pa.table({"lon": at[:, 0], "lat": at[:, 1], "at": pa.array(places).dictionary_encode()})
    sink = pa.BufferOutputStream()
    thinned = thin(table, HOME, epsilon=1.0)
    with pa.ipc.new_file(sink, thinned.schema) as file:
        file.write_table(thinned)
    told = [each for each in places if each.encode() in bytes(sink.getvalue())]
    assert told == thinned["at"].to_pylist()


def test_a_type_that_lists_its_values_does_not_tell_of_rows_that_stay():
    places = [f"Elm Street {i:03}" for i in range(100)]
    at = {"lon": [-0.5] * 10 + [0.5] * 90, "lat": [-0.5] * 10 + [0.5] * 90}
    coded = pa.array(places).dictionary_encode()
    kept = thin(pd.DataFrame(at).assign(at=pd.Series(coded, dtype=pd.ArrowDtype(coded.type))), HOME, epsilon=1.0)
    assert 10 <= len(kept) < 100
    assert str(kept["at"].dtype) == "string[pyarrow]"
    listed = pl.DataFrame(at).with_columns(at=pl.Series(places, dtype=pl.Enum(places)))
    assert thin(listed, HOME, epsilon=1.0).schema["at"] == pl.String
    within = pa.StructArray.from_arrays([coded], ["at"])
    for data in (
        pa.table({**at, "in": within}),
        pd.DataFrame(at).assign(**{"in": pd.Series(within, dtype=pd.ArrowDtype(within.type))}),
        listed.select("lon", "lat", pl.concat_list("at").alias("in")),
    ):
        with pytest.raises(covey.DataError, match="column 'in' holds categories"):
            thin(data, HOME, epsilon=1.0)


@pytest.mark.parametrize("late", [pl.DataFrame.lazy, lambda frame: frame.to_arrow().to_reader()])
def test_a_query_is_not_thinned(late):
    """It would run again, after the coins were thrown, and might give other rows, or the same in another order."""
    frame = pl.DataFrame({"lon": [0.5] * 50, "lat": [0.5] * 50})
    with pytest.raises(covey.DataError, match="points: are rows in memory"):
        thin(late(frame), HOME, epsilon=1.0)


# --- fits -------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def two_places():
    rng = np.random.default_rng(3)
    return np.concatenate([rng.normal(-0.5, 0.05, (20_000, 2)), rng.normal(0.5, 0.05, (20_000, 2))])


def test_a_name_that_no_document_could_hold_is_replaced(two_places):
    zones = collection(({"epsilon": 0.2, "name": "h\ud800me"}, [ring(-0.75, -0.25)]))
    model = KMeans(2, epsilon=1.0, bounds=SQUARE, algorithm="grid", zones=zones, random_state=1).fit(two_places)
    assert model.release_.certificate.parameters["zones"][0]["name"] == "h?me"


def test_a_fit_with_zones_says_so(two_places):
    model = KMeans(2, epsilon=1.0, bounds=SQUARE, algorithm="grid", zones=HOME, random_state=1).fit(two_places)
    certificate = model.release_.certificate
    assert [(z["name"], z["epsilon"]) for z in certificate.parameters["zones"]] == [("home", 0.2)]
    assert "zone" in certificate.statement
    assert "0.2" in certificate.statement
    assert "sum of both epsilons" in certificate.parameters["zones_note"]
    assert "20" not in json.dumps(certificate.parameters["zones_note"])


def test_a_coreset_with_zones_and_a_sample(two_places):
    coreset = (
        PrivateCoreset(epsilon=1.0, bounds=SQUARE, zones=HOME, sample=0.5, random_state=1).fit(two_places).coreset_
    )
    assert coreset.certificate.parameters["zones"][0]["epsilon"] == 0.2
    assert coreset.total == pytest.approx(40_000, rel=0.1)


def test_delta_is_thinned_too(two_places):
    model = KMeans(2, epsilon=1.0, delta=1e-6, bounds=SQUARE, zones=HOME, algorithm="max-cover", random_state=1)
    zone = model.fit(two_places).release_.certificate.parameters["zones"][0]
    assert zone["delta"] == pytest.approx(1e-6 * zone["rate"])


def test_a_key_is_bound_to_the_zones(two_places, tmp_path):
    ledger = covey.Ledger.create(tmp_path / "l", dataset="d", epsilon=3).with_key("once")
    parameters = {"n_clusters": 2, "epsilon": 1.0, "bounds": SQUARE, "algorithm": "grid", "ledger": ledger}
    first = KMeans(**parameters, dataset="d", zones=HOME).fit(two_places).release_
    assert KMeans(**parameters, dataset="d", zones=HOME).fit(two_places).release_ == first
    with pytest.raises(LedgerError):
        KMeans(**parameters, dataset="d").fit(two_places)


def test_memory_and_files_keep_the_same_rows(two_places, tmp_path):
    frame = pd.DataFrame(two_places, columns=["lon", "lat"])
    frame.to_parquet(tmp_path / "rows.parquet")
    bounds = Box(lon=(-1, 1), lat=(-1, 1))
    made = [
        KMeans(2, epsilon=1.0, bounds=bounds, algorithm="lloyd", zones=HOME, random_state=5, engine=engine)
        .fit(str(tmp_path / "rows.parquet"))
        .release_
        for engine in ("memory", "files")
    ]
    assert made[0].centres == made[1].centres


def test_the_command_line_takes_zones(two_places, tmp_path):
    pd.DataFrame(two_places, columns=["lon", "lat"]).to_csv(tmp_path / "rows.csv", index=False)
    (tmp_path / "zones.geojson").write_text(json.dumps(HOME))
    arguments = ["fit", str(tmp_path / "rows.csv"), "-k", "2", "--epsilon", "1", "--bounds", "lon=-1:1,lat=-1:1"]
    done = CliRunner().invoke(cli, [*arguments, "--zones", str(tmp_path / "zones.geojson"), "--json"])
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["certificate"]["parameters"]["zones"][0]["name"] == "home"
    assert CliRunner().invoke(cli, [*arguments, "--zones", "nowhere.geojson"]).exit_code != 0


def test_the_source_draws_one_key_for_all_passes(rows):
    thinning = read_zones(HOME, epsilon=Fraction(1), domain=DOMAIN)
    a, b = (read(thinning.table(ArrayTable(rows), SeededSource(9))) for _ in range(2))
    assert np.array_equal(a, b)


@pytest.mark.parametrize(
    ("names", "lon", "lat"),
    [
        (("lon", "lat"), (0.0, 360.0), (-60.0, 60.0)),
        (("lon", "lat"), (0.0, 9.0), (0.0, 99.0)),
        (None, (0.0, 50.0), (0.0, 50.0)),
    ],
)
def test_metres_are_for_columns_of_degrees(names, lon, lat):
    school = {"type": "Point", "coordinates": [2.0, 3.0]}
    zones = Zones.read({"type": "Feature", "properties": {"epsilon": 0.1, "buffer_metres": 200}, "geometry": school})
    middle, half = ([(low + high) / 2 for low, high in (lon, lat)], [(high - low) / 2 for low, high in (lon, lat)])
    with pytest.raises(ParameterError, match="buffer_metres needs"):
        zones.on(Domain(tuple(middle), tuple(half), names))
    assert zones.on(Domain((0.0, 0.0), (180.0, 90.0), ("lon", "lat"))).areas
