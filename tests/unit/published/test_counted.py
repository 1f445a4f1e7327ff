"""Numbers of rows as they are shown: which rows count, and never fewer than none, everywhere alike."""

from __future__ import annotations

import csv
import io
import re

import msgspec
import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from covey import Box, PrivateCoreset, Release
from covey.fit.fit import fit
from covey.published.counted import below_none, counted_briefly, counted_words, size_words, sizes_in_words
from covey.published.draw import Sheet, draw_centres, draw_sizes
from covey.published.errors import Errors
from covey.published.export import contents
from covey.published.plane import Plane
from covey.published.report import report
from covey.published.show import show_centres

BOX = Box(lon=(-74.1, -73.9), lat=(40.7, 40.9))


def table() -> pd.DataFrame:
    rng = np.random.default_rng(1)
    rows = np.repeat([[-74.0, 40.8], [-73.95, 40.75]], 400, axis=0) + rng.normal(0, 0.01, (800, 2))
    return pd.DataFrame(rows, columns=["lon", "lat"]).assign(driver=np.arange(800) % 100)


@pytest.fixture(scope="module")
def plain() -> Release:
    return fit(table()[["lon", "lat"]], k=2, epsilon=1.0, bounds=BOX, random_state=1)


@pytest.fixture(scope="module")
def people() -> Release:
    return fit(table(), k=2, epsilon=3.0, bounds=BOX, person="driver", rows_per_person=3, random_state=1)


def noted(release: Release, **notes: object) -> Release:
    parameters = {**release.certificate.parameters, **notes}
    return msgspec.structs.replace(
        release, certificate=msgspec.structs.replace(release.certificate, parameters=parameters)
    )


@pytest.fixture
def negative(plain) -> Release:
    errors = Errors(sizes=[(-64_000.0, 30_879.2), (-40.0, -20.5)], doubtful=[True, True])
    return msgspec.structs.replace(plain, sizes=[-16_680.9, -30.2], errors=errors)


def test_a_column_that_is_called_like_one_of_the_table_is_told_beside_it(capsys):
    rows = table().rename(columns={"lon": "centre", "lat": "place"})[["centre", "place"]]
    made = fit(rows, k=2, epsilon=1.0, bounds=Box(centre=(-74.1, -73.9), place=(40.7, 40.9)), random_state=1)
    errors = msgspec.structs.replace(made.errors, radii=[0.1, None], doubtful=[True, False])
    show_centres(msgspec.structs.replace(made, errors=errors))
    head, _, *lines = capsys.readouterr().out.splitlines()[:4]
    assert head.split() == ["centre", "centre_", "place_", "rows", "(noisy)", "place", "remark"]
    assert [float(each.split()[2]) == pytest.approx(40.8, abs=0.1) for each in lines] == [True, True]
    assert [each.split()[0] for each in lines] == ["0", "1"]


# --- people and samples -----------------------------------------------------------------------------------------------

SAID = "All numbers here are of the rows that count, at most 3 of each person: the data may have more rows."


def test_of_coresets_that_were_added_up_it_is_said_that_some_are_of_a_sample():
    rows = table()[["lon", "lat"]]
    some, every = (
        PrivateCoreset(bounds=BOX, sample=sample, errors="none", random_state=1).fit(rows).coreset_
        for sample in (0.5, None)
    )
    other = PrivateCoreset(bounds=BOX, sample=0.5, errors="none", random_state=2).fit(rows).coreset_
    told = "a random sample was looked at: numbers of rows are scaled up from it to all."
    assert counted_words(some.certificate) == [f"A{told[1:]}"]
    assert counted_words(some.merge(every).certificate) == [f"Of some parts {told}"]
    assert counted_words(some.merge(other).certificate) == [f"Of every part {told}"]
    assert counted_briefly(some.merge(every).certificate)
    assert counted_words(every.certificate) == []


def test_of_people_it_is_said_wherever_sizes_are_shown_which_rows_count(people, capsys):
    assert SAID in people.words
    show_centres(people)
    told = capsys.readouterr().out
    assert "rows that count (noisy)" in told
    assert SAID in " ".join(told.split())
    page = report(people, Plane.of(people), name="x", about="y").decode()
    assert '<th class="right">rows that count (noisy)</th>' in page
    assert SAID in page
    assert re.search(r"Centre 0: [^<]* rows that count, noisy", page)
    sheet = Sheet(people, Plane.of(people), ["0", "1"])
    sheet.finished("x", unit="rows that count", below="")
    drawn = " ".join(text.get_text() for text in sheet.figure.texts)
    assert "Rows that count: at most 3 of each person." in drawn.replace("\n", " ")
    assert "Rows that count (noisy)" in sheet.figure.axes[1].get_title(loc="left")


def test_of_a_picture_the_unit_is_the_rows_that_count(people, monkeypatch):
    units = []
    monkeypatch.setattr(Sheet, "finished", lambda *_, **words: units.append(words["unit"]) or b"")
    contents(people, "png", name="")
    assert units == ["rows that count"]


def test_a_coreset_of_people_says_so_too():
    made = PrivateCoreset(2, epsilon=3.0, bounds=BOX, person="driver", rows_per_person=3).fit(table()).coreset_
    page = contents(made, "html", name="x").decode()
    assert SAID in page
    assert "rows that count per km²" in page
    assert SAID in made.kmeans(2).words


def test_where_each_row_is_a_person_nothing_is_said(plain, capsys):
    show_centres(plain)
    told = capsys.readouterr().out
    assert "rows (noisy)" in told
    assert "that count" not in told
    assert counted_words(plain.certificate) == []


def test_levels_note_it_elsewhere_and_a_merge_nowhere(people):
    levels = noted(people, people={}, rows_per_person=7)
    del levels.certificate.parameters["people"]
    assert "at most 7 of each person" in counted_words(levels.certificate)[0]
    for rubbish in ({}, "three", {"rows_per_person": "many"}, {"rows_per_person": -1}):
        assert "at most so many of each person" in counted_words(noted(people, people=rubbish).certificate)[0]


@pytest.mark.parametrize(
    ("sample", "said"),
    [
        ({"kind": "poisson", "rate": 0.5}, True),
        ({"kind": "poisson", "rate": 1.0}, False),
        ({"kind": "without replacement", "size": 10, "of": 20}, True),
        ({"kind": "without replacement", "size": 20, "of": 20}, False),
        ("rubbish", False),
    ],
)
def test_of_a_sample_it_is_said_that_numbers_are_scaled_up(plain, sample, said):
    told = "A random sample was looked at: numbers of rows are scaled up from it to all."
    certificate = noted(plain, sample=sample).certificate
    assert counted_words(certificate) == ([told] if said else [])
    assert counted_briefly(certificate) == (["Numbers are scaled up from a random sample."] if said else [])


def test_a_sample_is_scaled_up_as_is_said():
    rows = np.random.default_rng(2).uniform([-74.1, 40.7], [-73.9, 40.9], (4000, 2))
    found = fit(rows, k=2, epsilon=5.0, bounds=BOX, sample=0.5, random_state=1)
    assert sum(found.sizes) == pytest.approx(4000, rel=0.1)
    assert any("scaled up" in each for each in found.words)


# --- no fewer than none -----------------------------------------------------------------------------------------------


def test_no_number_of_rows_is_shown_below_none():
    assert size_words(-16_680.9, (-64_000.0, 30_879.2)) == "0 (0 to 30,880)"
    assert size_words(-30.2, (-40.0, -20.5)) == "0 (0 to 0)"
    assert size_words(-30.2, None) == "0"
    assert size_words(24.1, (-12.5, 60.2)) == "24 (0 to 61)"


def test_words_tables_files_and_pictures_keep_one_rule(negative, capsys):
    assert sizes_in_words(negative) == ["0 (0 to 30,880)", "0 (0 to 0)"]
    show_centres(negative)
    assert "-16,681" not in capsys.readouterr().out
    rows = list(csv.DictReader(io.StringIO(contents(negative, "csv", name="").decode())))
    files = (rows, negative.to_frame().to_dict("records"), [f["properties"] for f in negative.to_geojson()["features"]])
    for each in files:
        found = [[int(row[name]) for name in ("size", "size_low", "size_high")] for row in each]
        assert found == [[0, 0, 30_880], [0, 0, 0]]
    panel, axes = Figure().add_subplot(), Figure().add_subplot()
    draw_sizes(panel, negative, "AB")
    assert min(panel.get_xlim()) > -3_000
    assert [tuple(line.get_xdata()) for line in panel.lines] == [(0, 30_880), (0, 0)]
    draw_centres(axes, negative, Plane.of(negative), "AB")
    assert [text.get_text() for text in axes.texts] == ["A", "0", "B", "0"]
    page = contents(negative, "html", name="x").decode()
    assert "-16,681" not in page
    assert "may be negative" not in page
    assert negative.sizes == [-16_680.9, -30.2], "as noise left it"
    assert b"-16680.9" in negative.to_json()


def test_what_is_told_as_0_is_said(negative):
    assert negative.words[1] == "Noise took the numbers of rows of centres 0 and 1 below 0: they are told as 0."
    once = msgspec.structs.replace(negative, sizes=[5.0, -30.2])
    assert below_none(once, "AB") == ["Noise took the number of rows of centre B below 0: it is told as 0."]
    assert below_none(msgspec.structs.replace(negative, sizes=[5.0, -0.4]), "AB") == []
    bare = msgspec.structs.replace(negative, errors=None)
    assert any("below 0" in each for each in bare.words)
