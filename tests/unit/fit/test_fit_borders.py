"""Borders of what a fit takes, and what is handed from one step of it to the next."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from covey import Ball, Box
from covey.algorithms import zoned as by_zone
from covey.algorithms.registry import ALGORITHMS
from covey.budget.accounting.plan import Reserve
from covey.budget.accounting.promise import Kind, Promise
from covey.errors import FormatError, ParameterError
from covey.fit import slider, zones
from covey.fit.cap import LEAST_EPSILON, each_row
from covey.fit.certify import of_sample
from covey.fit.fit import check_request, fit
from covey.fit.rehearse import cube_of
from covey.fit.sample import read_sample
from covey.fit.session import Session
from covey.fit.slider import fit_levels
from covey.fit.zones import Zones
from covey.public import Person, resolve_bounds

SQUARE = Box(x=(-1, 1), y=(-1, 1))
DOMAIN = resolve_bounds(SQUARE, names=("x", "y"), width=2)
ROWS = pd.DataFrame(np.random.default_rng(1).uniform(-1, 1, (60, 2)), columns=["x", "y"])
TRIANGLE = {"type": "Polygon", "coordinates": [[[-0.5, -0.5], [0.5, -0.5], [0, 0.5], [-0.5, -0.5]]]}


def feature(geometry):
    return {"type": "Feature", "properties": {"epsilon": 0.5}, "geometry": geometry}


def request(**more):
    asked = {"k": 2, "epsilon": 1.0, "delta": None, "algorithm": "grid", "algorithm_params": None}
    asked |= {"objective": "k-means", "neighbours": "add-remove", "person": Person(), "engine": "auto"}
    return check_request(**asked | more)


def test_every_choice_of_errors_has_a_fingerprint_of_its_own_and_the_usual_one_is_unmarked():
    told = {errors: request(errors=errors).fingerprint(DOMAIN, seed=None) for errors in ("quick", "full", "none")}
    assert len(set(told.values())) == 3
    assert "errors" not in told["quick"]  # keys of ledgers from before errors were told


@pytest.mark.parametrize(
    "more",
    [
        {"k": 3},
        {"epsilon": 2.0},
        {"delta": 1e-6},
        {"algorithm": "lloyd"},
        {"algorithm_params": {"theta": 12.0}},
        {"objective": "k-median"},
        {"neighbours": "replace-one"},
        {"person": Person("who", 1)},
        {"person": Person("who", 2)},
        {"sample": 0.5},
        {"missing": "drop"},
        {"choice": "k was chosen by looking"},
    ],
    ids=str,
)
def test_every_parameter_is_in_the_fingerprint(more):
    assert request(**more).fingerprint(DOMAIN, seed=None) != request().fingerprint(DOMAIN, seed=None)


def test_so_are_the_seed_the_domain_and_how_a_file_is_read():
    plain = request().fingerprint(DOMAIN, seed=None)
    others = ({"seed": 1}, {"reading": {"sheet": 2}}, {"reading": {"sheet": 3}}, {"reading": {"header": False}})
    told = {request().fingerprint(DOMAIN, **{"seed": None, **other}) for other in others}
    assert len(told | {plain}) == 5
    assert "reading" not in plain  # keys of ledgers from before files were told how to be read
    for box in (Box(x=(-1, 1), y=(-1, 2)), Box(x=(-1, 1), z=(-1, 1))):
        domain = resolve_bounds(box, names=("x", "y", "z"), width=3)
        assert request().fingerprint(domain, seed=None) != plain


def test_the_order_in_which_parameters_are_given_changes_no_key():
    one, other = {"theta": 5.0, "starts": 3}, {"starts": 3, "theta": 5.0}
    told = [request(algorithm_params=each).fingerprint(DOMAIN, seed=None) for each in (one, other)]
    assert told[0] == told[1] == json.dumps(json.loads(told[0]), sort_keys=True)


def test_unknown_errors_are_refused_by_name():
    with pytest.raises(ParameterError, match="errors"):
        request(errors="some")


def test_rows_in_memory_are_not_streamed():
    with pytest.raises(ParameterError, match="'files' reads paths"):
        fit(ROWS, k=2, epsilon=1.0, bounds=SQUARE, engine="files", random_state=1)


def test_reruns_of_a_ball_are_in_the_unit_ball():
    release = fit(ROWS, k=2, epsilon=1.0, bounds=Ball(radius=3.0, columns=("x", "y")), algorithm="grid", random_state=1)
    assert cube_of(release.certificate) == {"bounds": Ball(radius=1.0)}


@pytest.mark.parametrize(("most", "taken"), [(3, True), (2, False)])
def test_too_many_corners_of_zones_are_refused(monkeypatch, most, taken):
    monkeypatch.setattr(zones, "MOST_EDGES", most)
    known = Zones.read(feature_collection(TRIANGLE), lon="x", lat="y")
    if taken:
        known.on(DOMAIN)
    else:
        with pytest.raises(ParameterError, match="corners"):
            known.on(DOMAIN)


def feature_collection(*geometries):
    return {"type": "FeatureCollection", "features": [feature(each) for each in geometries]}


def test_what_is_wrong_about_a_zones_geometry_is_said_of_zones():
    with pytest.raises(FormatError, match=r"^zones: "):
        Zones.read(feature_collection({"type": "Point", "coordinates": [0, 0]}))


@pytest.mark.parametrize(
    ("target", "taken"), [("auto:1", True), ("auto:0.001", True), ("auto:1.01", False), ("auto:0.0009", False)]
)
def test_the_error_of_an_automatic_sample_is_from_a_thousandth_to_one(target, taken):
    if taken:
        assert read_sample(target).target == Fraction(target.partition(":")[2])
    else:
        with pytest.raises(ParameterError, match="sample"):
            read_sample(target)


def test_numbers_of_rows_of_a_sample_are_scaled_to_all_rows_and_its_bounds_are_marked():
    told = of_sample({"rows_inside": 30, "rows_outside": 2, "k_means_cost_at_most": 5.0, "side": 4}, 10.0)
    assert (told["rows_inside"], told["rows_outside"], told["side"]) == (300.0, 20.0, 4)


def test_each_row_of_a_person_gets_at_least_a_millionth():
    reserve = Reserve(Promise.of(10 * LEAST_EPSILON, Fraction(0), kind=Kind(unit="who")))
    assert each_row(reserve, 10).promise.epsilon == Fraction(1, 10**6)
    with pytest.raises(ParameterError, match="rows_per_person"):
        each_row(reserve, 11)


@pytest.mark.parametrize("engine", ["memory", "files"])
def test_levels_are_worked_on_where_was_asked(engine, monkeypatch, tmp_path):
    ROWS.to_csv(tmp_path / "rows.csv", index=False)
    asked = []
    door = Session.door
    monkeypatch.setattr(
        Session, "door", lambda self, *a, **named: asked.append(named["engine"]) or door(self, *a, **named)
    )
    fit_levels(tmp_path / "rows.csv", bounds=SQUARE, per_axis=4, engine=engine, random_state=1)
    assert asked == [engine]


def test_levels_ask_whether_to_go_on_while_rows_are_read():
    asked = []
    watch = slider._Watch(None, lambda: bool(asked.append("?")))
    for piece in watch.table(slider.open_table(ROWS)).pieces(("x", "y")):
        piece()
    assert asked
    assert slider._Watch(None, None).table("the table itself") == "the table itself"


def test_with_people_and_zones_a_synopsis_says_nothing_of_its_noise(monkeypatch):
    """By zone it is a coreset; where there are too many numbers for that, it is of kept rows: noise is of others."""
    people = ROWS.assign(who=np.arange(60) // 2)
    asked = {"k": 2, "epsilon": 1.0, "bounds": SQUARE, "algorithm": "grid", "random_state": 1, "person": "who"}
    asked["algorithm_params"] = {"keep_synopsis": True}
    drawn, plain = [(Box((-1, 0), (-1, 1)), 0.5)], fit(people, **asked)
    counted_up = fit(people, zones=drawn, **asked)
    assert counted_up.synopsis is None
    assert counted_up.coreset.noise is None
    monkeypatch.setattr(by_zone, "MOST_CELLS", 1)
    assert fit(people, zones=drawn, **asked).synopsis.noise is None
    assert plain.synopsis.noise is not None


@pytest.mark.parametrize(("x", "taken"), [(1e6, True), (1.001e6, False), (-1.02e6, False)])
def test_a_corner_beyond_a_million_half_widths_is_in_other_units(x, taken):
    far = {"type": "Polygon", "coordinates": [[[0, 0], [x, 0], [0, 0.5], [0, 0]]]}
    known = Zones.read(feature_collection(far), lon="x", lat="y")
    if taken:
        known.on(DOMAIN)
    else:
        with pytest.raises(ParameterError, match="zones"):
            known.on(DOMAIN)


def test_a_door_opens_only_the_engines_that_an_algorithm_has(monkeypatch):
    asked = []
    table = slider.open_table(ROWS)
    engine = type(table).engine
    monkeypatch.setattr(
        type(table), "engine", lambda self, *a, **named: asked.append((a, named)) or engine(self, *a, **named)
    )
    session = Session(None, None, promise=Promise.of(1), zones=None, purpose="", fingerprint="", numbers=1, seed=1)
    session.door(table, DOMAIN, Reserve(Promise.of(1)), engine="memory", engines=("memory",))
    assert asked == [(("memory", DOMAIN), {"engines": ("memory",)})]


def test_a_way_to_the_rows_must_silence_numpy_before_it_can_pay():
    session = Session(None, None, promise=Promise.of(1), zones=None, purpose="test", fingerprint="", numbers=1, seed=1)
    for settings in ({}, {"all": "raise"}, {"all": "ignore", "under": "warn"}):
        with np.errstate(**settings), pytest.raises(RuntimeError, match="numpy"):
            session.charge()
    with np.errstate(all="ignore"):
        session.charge()


def test_a_certificate_says_how_a_choice_was_made():
    told = fit(ROWS, k=2, epsilon=1.0, bounds=SQUARE, algorithm="grid", random_state=1, choice="by looking")
    assert told.certificate.parameters["choice"] == "by looking"
    plain = fit(ROWS, k=2, epsilon=1.0, bounds=SQUARE, algorithm="grid", random_state=1)
    assert "choice" not in plain.certificate.parameters


def test_a_grid_counted_up_by_zones_is_published_as_a_coreset():
    asked = {"k": 2, "epsilon": 1.0, "bounds": SQUARE, "algorithm": "grid", "random_state": 1}
    asked["algorithm_params"] = {"keep_synopsis": True}
    zoned, plain = fit(ROWS, zones=[(Box((-1, 0), (-1, 1)), 0.5)], **asked), fit(ROWS, **asked)
    assert (zoned.synopsis is None, zoned.coreset is None) == (True, False)
    assert (plain.synopsis is None, plain.coreset is None) == (False, True)


def test_the_certificate_of_an_algorithm_from_elsewhere_says_whose_it_is_beside_all_else(monkeypatch):
    monkeypatch.setitem(ALGORITHMS, "grid", replace(ALGORITHMS["grid"], origin="elsewhere 1.0"))
    told = fit(ROWS, k=2, epsilon=1.0, bounds=SQUARE, algorithm="grid", random_state=1).certificate.parameters
    assert told["algorithm_by"] == "elsewhere 1.0"
    assert {"k", "cells_per_axis", "theta", "rows_inside"} <= set(told)
