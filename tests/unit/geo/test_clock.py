"""A clock's hand as two columns: what bounds mean by it, and how a centre is told."""

import math

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from covey import Box, CoveyError, KMeans
from covey.cli.main import cli
from covey.geo.clock import Hand, hand, source_of, told
from covey.geo.metric import measured
from covey.public import Person
from covey.published.report import centre_table

COLUMNS = ("x", "cos hour(when)", "sin hour(when)")


def domain_of(bounds, scale=None, names=("x", "when")):
    return measured(bounds, scale, person=Person(), names=names, width=len(names or "xy"))


@pytest.mark.parametrize("bounds", [{"x": (0, 4), "hour(when)": (0, 24)}, Box.of({"x": (0, 4), "hour(when)": [0, 24]})])
def test_an_hour_is_two_columns_whose_bounds_are_those_of_a_circle(bounds):
    domain = domain_of(bounds, {"hour(when)": 2})
    assert domain.columns == COLUMNS
    assert domain.half == (2.0, 1.0, 1.0)
    assert domain.scale == (0.5, 1.0, 1.0)
    assert hand(COLUMNS[1]) == Hand("cos", "hour(when)", "hour", "when")
    assert [source_of(each) for each in COLUMNS] == ["x", "when", "when"]


@pytest.mark.parametrize(
    ("bounds", "names", "words"),
    [
        ({"hour(when)": (0, 12)}, ("x", "when"), "from 0 to 24"),
        ({"weekday(when)": (1, 7)}, ("x", "when"), "from 0 to 7"),
        ({"hour(when)": 24}, ("x", "when"), "from 0 to 24"),
        ({"hour(wen)": (0, 24)}, ("x", "when"), "wen"),
        ({"hour(when)": (0, 24)}, None, "columns with names"),
        ({"cos hour(when)": (-1, 1)}, ("cos hour(when)", "when"), "rename"),
    ],
)
def test_what_is_no_circle_is_refused_before_anything_is_read(bounds, names, words):
    with pytest.raises(CoveyError, match=rf"^bounds: .*{words}"):
        domain_of(bounds, names=names)


def test_a_column_that_is_called_so_is_itself():
    assert domain_of({"hour(when)": (0, 10)}, names=("hour(when)", "x")).columns == ("hour(when)",)


def test_the_table_closes_and_says_missing():
    found = Hand("cos", "hour(a)", "hour", "a").numbers(np.array([0, 360, 720, 1080, -1]))
    assert found[:4].tolist() == [1.0, 0.0, -1.0, 0.0]
    assert math.isnan(found[4])
    everyday = Hand("sin", "weekday(a)", "weekday", "a").numbers(np.arange(7))
    assert everyday == pytest.approx(np.sin(2 * np.pi * np.arange(7) / 7))


@pytest.mark.parametrize(("minute", "words"), [(0, "00:00"), (495, "08:15"), (1439, "23:59"), (1439.6, "00:00")])
def test_a_centre_is_told_by_where_it_points_to(minute, words):
    angle = 2 * math.pi * minute / 1440
    assert told(COLUMNS, (7.0, 0.6 * math.cos(angle), 0.6 * math.sin(angle))) == {"cos hour(when)": words}
    week = ("cos weekday(when)", "sin weekday(when)")
    assert told(week, (math.cos(-0.1), math.sin(-0.1))) == {"cos weekday(when)": "Mon"}
    assert told(COLUMNS[:2], (0, 1)) == {}


def test_a_short_hand_points_nowhere():
    assert told(COLUMNS, (7.0, -0.3, 0.2)) == {"cos hour(when)": "no one hour"}
    working = np.exp(2j * np.pi * np.arange(5) / 7).mean()  # Monday to Friday, all alike
    assert told(("cos weekday(a)", "sin weekday(a)"), (working.real, working.imag)) == {"cos weekday(a)": "no one day"}


def test_dates_that_nobody_could_read_are_told_of_the_release_alone(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pd.DataFrame({"when": ["01.05.2024 08:15", "02.05.2024 17:30"] * 300}).to_csv("rows.csv", index=False)
    asked = ["fit", "rows.csv", "-k", "2", "--epsilon", "2", "--bounds", "hour(when)=0:24", "--seed", "1"]
    shown = CliRunner().invoke(cli, asked).output
    assert "No centre points anywhere in hour(when)" in " ".join(shown.split())


def test_midnight_is_one_cluster_and_the_command_shows_hours(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    minutes = np.concatenate([rng.normal(0, 20, 1000), rng.normal(720, 20, 1000)])
    when = pd.Timestamp("2024-05-01") + pd.to_timedelta(np.round(minutes), unit="min")
    rows = pd.DataFrame({"when": when})
    bounds = {"hour(when)": (0, 24)}
    model = KMeans(2, epsilon=2.0, bounds=bounds, random_state=0).fit(rows)
    hours = {next(iter(told(model.release_.columns, each).values()))[:2] for each in model.release_.centres}
    assert len(hours & {"11", "12"}) == len(hours & {"23", "00"}) == 1
    assert len(set(model.predict(rows)[:1000])) == 1
    assert "cos " not in centre_table(model.release_)
    assert next(iter(hours)) + ":" in centre_table(model.release_)
    monkeypatch.chdir(tmp_path)
    rows.to_csv("rows.csv", index=False)
    asked = ["fit", "rows.csv", "-k", "2", "--epsilon", "2", "--bounds", "hour(when)=0:24", "--seed", "1"]
    shown = CliRunner().invoke(cli, asked)
    assert shown.exit_code == 0, shown.output
    assert "hour(when)" in shown.output
    assert any(f" {hour}:" in shown.output for hour in ("11", "12"))
    assert "at an end of the range" not in shown.output
    assert "points anywhere" not in shown.output
