"""The errors of a release in plain words, in tables, and on maps."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.patches import Ellipse

from covey import Box, Release
from covey.fit.fit import fit
from covey.published.counted import size_words, sizes_in_words
from covey.published.draw import COLOURS, draw_centres, draw_places, draw_sizes
from covey.published.errors import Errors
from covey.published.page.picture import picture
from covey.published.places import centre_properties, places_in_words
from covey.published.plane import Plane
from covey.published.sentences import (
    NOWHERE,
    constraint_words,
    distance_words,
    excess_words,
    how_many_words,
    marks_in_words,
    of_costs,
)
from covey.published.show import show_release

KNOWN = Errors(
    sizes=[(3990.4, 4249.7), (-12.5, 60.2)],
    joint_sizes=[(3900.0, 4300.0), (-30.0, 80.0)],
    doubtful=[False, True],
    costs={"k-means": (1234.5, 1200.0, 1270.0)},
    distances={"mean_m": (1312.0, 1280.0, 1344.0)},
    radii=[0.05, None],
    excess=0.05,
)


@pytest.fixture(scope="module")
def made():
    rng = np.random.default_rng(1)
    rows = np.clip(
        np.repeat([[-74.0, 40.8], [-73.95, 40.75]], 400, axis=0) + rng.normal(0, 0.01, (800, 2)), -74.1, 40.9
    )
    return fit(rows, k=2, epsilon=1.0, bounds=Box(lon=(-74.1, -73.9), lat=(40.7, 40.9)), random_state=1)


@pytest.fixture
def release(made):
    return msgspec.structs.replace(made, sizes=[4120.3, 24.1], errors=KNOWN)


def untold(release, **reasons: str) -> Release:
    given = {
        **release.certificate.parameters,
        "not_told": {name.replace("_", " "): why for name, why in reasons.items()},
    }
    return msgspec.structs.replace(release, certificate=msgspec.structs.replace(release.certificate, parameters=given))


def test_words_say_what_is_stored(release):
    assert release.words == [
        "Each interval holds 9 times in 10; those that hold all at once are wider (joint).",
        "Centre 1 may be only noise.",
        "A centre is probably (9 times in 10) as near as is said to where it would be without noise.",
        "Probably (9 times in 10) up to 5% worse than without privacy, if no cluster was missed.",
        "A row is 1.312 km (1.280 to 1.344; 9 times in 10) from its centre on average. Centres that were found on the "
        "same counts look a little better than they are.",
    ]


def test_the_scaled_cost_is_told_on_request_and_where_no_distance_is_known(release):
    said = (
        "The k-means cost is about 1,234 (1,200 to 1,270; 9 times in 10), with half of lat's range as the unit. "
        "Centres that were found on the same counts look a little better than they are."
    )
    assert of_costs(release, scaled=True)[-1] == said
    old = msgspec.structs.replace(release, errors=msgspec.structs.replace(KNOWN, distances=None))
    assert old.words[-1] == said


@pytest.mark.parametrize(
    ("objective", "words"),
    [
        ("k-means", "A row is 2.500 (2.250 to 2.750; 9 times in 10) from its centre in root mean square, in the units"),
        ("k-median", "A row is 1.500 (1.250 to 1.750; 9 times in 10) from its centre on average, in the units"),
    ],
)
def test_elsewhere_distances_are_in_the_units_of_the_data(release, objective, words):
    told = {"mean": (1.5, 1.25, 1.75), "rms": (2.5, 2.25, 2.75)}
    known = msgspec.structs.replace(KNOWN, distances=told)
    assert distance_words(msgspec.structs.replace(release, errors=known, objective=objective)).startswith(words)


def test_what_cannot_be_told_is_said_with_its_reason(release):
    few = msgspec.structs.replace(release, errors=msgspec.structs.replace(KNOWN, costs=None, distances=None))
    few = untold(few, **{"k-means_cost": "there are too few rows for this level of privacy"})
    assert few.words[-1] == "The k-means cost cannot be told: there are too few rows for this level of privacy."
    nothing = untold(msgspec.structs.replace(release, errors=None), errors="no counts")
    assert nothing.words == ["How far off these numbers are cannot be told: no counts."]
    assert msgspec.structs.replace(untold(release), errors=None).words == []
    odd = msgspec.structs.replace(release.certificate, parameters={"k": 2, "not_told": "rubbish"})
    assert msgspec.structs.replace(release, errors=None, certificate=odd).words == []


def limited(release, **limits) -> Release:
    notes = {**release.certificate.parameters, "constraints": limits}
    return msgspec.structs.replace(release, certificate=msgspec.structs.replace(release.certificate, parameters=notes))


def test_limits_are_told_with_what_they_cost(release):
    more = {"fixed alone": [50.0, 40.0, 60.0], "anywhere": [-10.0, -12.0, -8.0]}
    assert constraint_words(limited(release, fixed=1, forbidden_polygons=2, more_than_found=more)) == [
        "Limits: the first centre was given; all others were found, outside 2 forbidden polygons.",
        "The given places alone would cost 50 more (40 to 60; 9 times in 10).",
        "2 centres anywhere would cost 10 less (8 to 12; 9 times in 10).",
    ]
    shares = constraint_words(limited(release, fixed=1, costs={"found": [200.0, 190.0, 210.0]}, more_than_found=more))
    assert shares[1:] == [
        "The given places alone would cost 25% more (20% to 30%; 9 times in 10).",
        "2 centres anywhere would cost 5% less (4% to 6%; 9 times in 10).",
    ]
    hidden = constraint_words(limited(release, fixed=1, costs={"found": [0.07, None, None]}, more_than_found=more))
    why = "by what share cannot be told: noise hides what these cost."
    assert hidden[1:] == [
        f"The given places alone would cost more, {why}",
        f"2 centres anywhere would cost less, {why}",
    ]
    large = constraint_words(limited(release, fixed=1, costs={"found": [20.0, 19.0, 21.0]}, more_than_found=more))
    assert large[1] == "The given places alone would cost 250% more (200% to 300%; 9 times in 10)."
    close = {"fixed alone": [30.2, 29.6, 30.8]}
    assert (
        "151% more (148% to 154%;"
        in constraint_words(limited(release, fixed=1, costs={"found": [20.0, 19.0, 21.0]}, more_than_found=close))[1]
    )
    narrow = {"fixed alone": [24.5, 24.21, 24.79]}
    [_, told] = constraint_words(
        limited(release, fixed=1, costs={"found": [200.0, 190.0, 210.0]}, more_than_found=narrow)
    )
    assert "would cost 12% more (12% to 13%;" in told, "not 12% to 12%"
    listed = constraint_words(limited(release, candidates=60, numbers=[4, 17]))
    assert listed == ["Limits: centres were chosen from 60 places (numbers 4 and 17, counted from 0)."]
    chosen = {**release.certificate.parameters, "site_numbers": [3]}
    of_list = msgspec.structs.replace(
        release, certificate=msgspec.structs.replace(release.certificate, parameters=chosen)
    )
    assert constraint_words(of_list) == ["Limits: centres are places of the list (number 3, counted from 0)."]
    same = {"anywhere": [-10.0, -12.0, 8.0]}
    assert constraint_words(limited(release, candidates=1200, allowed_polygons=1, more_than_found=same)) == [
        "Limits: centres were chosen from 1,200 places, inside 1 allowed polygon.",
        "2 centres anywhere cannot be told apart from these by their cost.",
    ]
    unknown = limited(release, fixed=2, more_than_found={"fixed alone": [50.0, None, None]})
    assert "noise hides their costs" in constraint_words(unknown)[1]
    assert "50 more (error unknown)" in constraint_words(msgspec.structs.replace(unknown, errors=None))[1]
    assert constraint_words(release) == []


@pytest.mark.parametrize(
    "rubbish",
    [
        {"fixed": "two", "candidates": -1, "more_than_found": 3},
        {"fixed": [1], "more_than_found": {"anywhere": "much", "fixed alone": [1]}},
        {"more_than_found": {"anywhere": [None, None, None], "fixed alone": ["a", "b", "c"]}},
        {"fixed": 10**400, "candidates": 10**400, "more_than_found": {"anywhere": [10**400] * 3}},
    ],
)
def test_rubbish_in_limits_is_not_read(release, rubbish):
    assert constraint_words(limited(release, **rubbish)) == ["Limits: centres were found."]


def test_words_compute_nothing(made, monkeypatch):
    monkeypatch.setattr("covey.fit.rehearse.rehearsed", lambda _: pytest.fail("a rerun"))
    assert "without privacy" not in " ".join(made.words)
    assert places_in_words(made) is None
    assert "radius_m" not in made.to_geojson()["features"][0]["properties"]


def test_sizes_with_their_interval():
    assert size_words(4120.3, (3990.4, 4249.7)) == "4,120 (3,990 to 4,250)"
    assert size_words(24.1, (-12.5, 60.2)) == "24 (0 to 61)"
    assert size_words(24.1, None) == "24"
    assert size_words(None, None) == "not released"


@pytest.mark.parametrize(("excess", "words"), [(0.05, "5%"), (0.0234, "2.4%"), (0.0001, "0.1%"), (2.25, "230%")])
def test_an_excess_is_never_said_without_its_condition(excess, words):
    assert (
        excess_words(excess)
        == f"Probably (9 times in 10) up to {words} worse than without privacy, if no cluster was missed"
    )


def test_where_reruns_bound_no_excess_that_is_said(release):
    errors = msgspec.structs.replace(release.errors, excess=None)
    lines = msgspec.structs.replace(release, errors=errors).words
    assert "How much worse than without privacy cannot be told at this level of privacy." in lines


def test_places_in_metres_on_a_map_and_in_units_elsewhere(release):
    assert places_in_words(release) == ["probably within 560 m", NOWHERE]
    elsewhere = msgspec.structs.replace(release, columns=["x", "y"])
    assert places_in_words(elsewhere) == ["probably within 0.0067 in x and 0.005 in y", NOWHERE]


def test_columns_that_are_no_degrees_have_no_metres(release):
    domain = {"type": "box", "lower": [-5e5, 0], "upper": [5e5, 1e6]}
    projected = msgspec.structs.replace(
        release, certificate=msgspec.structs.replace(release.certificate, domain=domain)
    )
    assert "radius_m" not in projected.to_geojson()["features"][0]["properties"]
    assert places_in_words(projected)[0] == "probably within 25,000 in lon and 25,000 in lat"


def test_many_columns_are_told_by_their_ranges():
    domain = {"type": "box", "lower": [0.0] * 5, "upper": [1.0] * 5}
    rows = np.random.default_rng(1).random((200, 5))
    wide = fit(rows, k=1, epsilon=1.0, bounds=(0, 1), random_state=1)
    wide = msgspec.structs.replace(wide, errors=Errors(radii=[0.06]))
    assert wide.certificate.domain == domain
    assert places_in_words(wide) == ["probably within 3% of each column's range"]


def test_geojson_says_what_is_known_and_nothing_else(release):
    first, second = (each["properties"] for each in release.to_geojson()["features"])
    known = {name: value for name, value in first.items() if name not in ("cluster", "lon", "lat")}
    assert known == {
        "size": 4120,
        "size_low": 3990,
        "size_high": 4250,
        "doubtful": False,
        "place": "probably within its radius",
        "radius_m": 557,
    }
    assert second["doubtful"] is True
    assert second["size_low"] == 0
    assert second["place"] == "not determined"
    assert "radius_m" not in second
    unasked = msgspec.structs.replace(release, errors=msgspec.structs.replace(KNOWN, radii=None))
    assert "place" not in unasked.to_geojson()["features"][1]["properties"]
    bare = msgspec.structs.replace(release, errors=None, sizes=None)
    assert set(bare.to_geojson()["features"][0]["properties"]) == {"cluster", "lon", "lat"}


def test_columns_called_like_properties_do_not_replace_them(release):
    named = msgspec.structs.replace(release, columns=["size", "doubtful"])
    assert centre_properties(named)[1]["size"] == 24
    assert centre_properties(named)[1]["doubtful"] is True


def test_errors_follow_their_centres(release):
    turned = KNOWN.in_order([1, 0])
    assert turned.sizes == KNOWN.sizes[::-1]
    assert turned.joint_sizes == KNOWN.joint_sizes[::-1]
    assert turned.doubtful == [True, False]
    assert turned.radii == [None, 0.05]
    assert (turned.costs, turned.excess) == (KNOWN.costs, KNOWN.excess)
    assert Errors(doubtful=[True, False]).in_order([1, 0]) == Errors(doubtful=[False, True])


def test_the_table_marks_places_and_doubts(release, capsys):
    show_release(release)
    told = capsys.readouterr().out
    first, second = told.splitlines()[4:6]
    assert "4,120 (3,990 to 4,250)" in first
    assert "probably within 560 m" in first
    assert "may be only noise" not in first
    assert second.rstrip().endswith("place not determined   may be only noise")
    assert "if no cluster was missed" in " ".join(told.split())
    show_release(msgspec.structs.replace(release, errors=None))
    assert "to 4,250" not in capsys.readouterr().out


def test_a_drawing_has_rings_whiskers_and_hollow_discs(release, monkeypatch):
    monkeypatch.setattr("covey.fit.rehearse.rehearsed", lambda _: pytest.fail("a rerun"))
    axes = Figure().add_subplot()
    plane = Plane.of(release)
    draw_places(axes, release, plane)
    rings = [each for each in axes.patches if isinstance(each, Ellipse)]
    assert {(round(each.width, 6), round(each.height, 6)) for each in rings} == {(0.01321, 0.01)}  # of equal metres
    draw_centres(axes, release, plane, "AB")
    faces = [tuple(each.get_facecolor()[0][:3]) for each in axes.collections]
    assert faces[1] == (1.0, 1.0, 1.0) != faces[0]
    panel = Figure().add_subplot()
    draw_sizes(panel, release, "AB")
    assert [tuple(line.get_xdata()) for line in panel.lines] == [(3990, 4250), (0, 61)]
    assert "Hollow: may be only noise" in " ".join(marks_in_words(release))
    bare = msgspec.structs.replace(release, errors=None)
    assert marks_in_words(bare) == []
    draw_places(panel, bare, plane)
    assert not panel.patches
    assert len(COLOURS) > 2
    assert sizes_in_words(bare) == ["4,120", "24"]


def with_radii(release, *radii: float | None, **more) -> Release:
    return msgspec.structs.replace(release, errors=msgspec.structs.replace(KNOWN, radii=list(radii), **more))


def test_a_centre_without_a_place_has_a_mark_of_its_own(release):
    assert "“?”, no ring: place not determined." in marks_in_words(release)
    lost, found = with_radii(release, None, None), with_radii(release, 0.05, 0.05)
    assert not any("Rings" in each for each in marks_in_words(lost))
    assert "“?”, no ring: place not determined." in marks_in_words(lost)
    assert not any("?" in each for each in marks_in_words(found))
    for each, marks in ((release, 1), (lost, 2), (found, 0)):
        axes = Figure().add_subplot()
        draw_centres(axes, each, Plane.of(each), "AB")
        assert [text.get_text() for text in axes.texts].count("?") == marks
        drawn = picture(each, None, Plane.of(each))
        assert drawn.count('<text class="unplaced"') == marks
        assert drawn.count("place not determined</title>") == marks


def test_nothing_is_said_of_places_where_none_is_determined(release):
    assert any("as near as is said" in each for each in release.words)
    assert not any("as near as is said" in each for each in with_radii(release, None, None).words)


def test_files_tell_how_far_places_may_be_off_in_columns_that_are_no_map(release):
    elsewhere = msgspec.structs.replace(release, columns=["r", "place"])
    assert places_in_words(elsewhere)[0] == "probably within 0.0067 in r and 0.005 in place"
    first, second = centre_properties(elsewhere)
    assert first["r radius"] == pytest.approx(0.0066, rel=0.01)
    assert first["place radius"] == pytest.approx(0.005)
    assert (first["place"], second["place"]) == ("probably within its radius", "not determined")
    assert first["place_"] == release.centres[0][1]
    assert not {"r radius", "place radius", "radius_m"} & set(second)
    assert list(elsewhere.to_frame()["r radius"].isna()) == [False, True]
    taken = centre_properties(msgspec.structs.replace(release, columns=["r", "r radius"]))[0]
    assert taken["r radius"] == release.centres[0][1]
    assert taken["r radius_"] == pytest.approx(0.0066, rel=0.01)


def test_why_a_centre_with_rows_may_be_only_noise_is_said_where_it_is(release):
    def said(*sizes: tuple[float, float], doubtful: list[bool]) -> bool:
        known = msgspec.structs.replace(KNOWN, sizes=list(sizes), doubtful=doubtful)
        words = msgspec.structs.replace(release, errors=known).words
        return any("does not clear a centre" in each for each in words)

    assert said((388.0, 1357.0), (-5.0, 60.0), doubtful=[True, False])
    assert not said((388.0, 1357.0), (-5.0, 60.0), doubtful=[False, True])
    assert not said((388.0, 1357.0), (5.0, 60.0), doubtful=[False, False])


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("How many clusters there are cannot be told: of 2 to 8, none.", None),
        ("5 clusters fit best.", "How many clusters: 5 clusters fit best."),
    ],
)
def test_how_many_clusters_is_not_said_twice(release, words, told):
    notes = {**release.certificate.parameters, "how_many": {"words": words, "k": None}}
    asked = msgspec.structs.replace(release, certificate=msgspec.structs.replace(release.certificate, parameters=notes))
    assert how_many_words(asked) == [told or words]
