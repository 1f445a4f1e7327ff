"""Rehearse, then pay: made-up rows first, one level alone or several, and certificates that state what was shown."""

from __future__ import annotations

import json
import time

import numpy as np
import pandas as pd
import pytest

from covey import Ledger
from covey.public import Person
from covey.published.levels.words import CHOICES
from studio_client import BOUNDS, Asking, asking, csv_of, town

ALONE, SLIDER, RAW, LATER = CHOICES
ROWS = "rows=3000&k=3"


def pay(studio: Asking, epsilon: float, *, alone: bool) -> None:
    job = studio.post("api/look", {"confirm": True, "epsilon": epsilon, "alone": alone})
    assert job.status_code == 202, job.text
    studio.wait(job.json()["id"])


def published(studio: Asking, level: int) -> tuple[dict, dict]:
    """What the state said that the certificate would state, and the certificate."""
    told = studio.get("api/state").json()["levels"][level]["certified"]
    made = studio.post("api/publish", {"level": level, "k": 3}).json()
    return told, studio.get(made["files"][0]["url"]).json()["certificate"]


def test_a_rehearsal_reads_no_row_and_pays_nothing(tmp_path):
    file = csv_of(town(), tmp_path / "town.csv")
    one, other = asking(tmp_path, data=file), asking(tmp_path, data=town(50, seed=5))
    file.unlink()
    for level in (0, 4):
        shown = [studio.get(f"api/rehearsal/{level}?{ROWS}") for studio in (one, other)]
        assert [each.status_code for each in shown] == [200, 200]
        assert shown[0].content == shown[1].content, "it would be the same of any rows"
    document = shown[0].json()
    assert len(document["centres"]) == 3
    assert abs(document["expected"]["rows_noisy"] - 3000) < 300
    assert one.get("api/ledger").json()["entries"] == []
    assert one.post("api/publish", {"level": 0, "k": 3}).status_code == 409, "made-up rows are not published"
    assert one.get(f"api/rehearsal/5?{ROWS}").status_code == 404
    assert one.get("api/rehearsal/1?rows=0").status_code == 422


def test_a_rehearsal_shows_each_level_as_it_would_be_bought_and_how_far_off_it_is(tmp_path):
    studio = asking(tmp_path)
    found = studio.get(f"api/rehearsal/1?{ROWS}").json()
    assert (found["name"], found["epsilon"]) == ("very private", 0.25)
    end = time.monotonic() + 200
    while (places := studio.get(f"api/rehearsal/1/places?{ROWS}").json())["state"] == "running":
        assert time.monotonic() < end
        time.sleep(0.02)
    assert len(places["radii"]) == 3


def test_a_public_file_can_be_rehearsed_on(tmp_path):
    public = csv_of(town(2000, seed=9), tmp_path / "public.csv")
    studio = asking(tmp_path, public=str(public), public_name="public.csv")
    assert studio.get("api/state").json()["rehearsal"] == "public.csv"
    found = studio.get("api/rehearsal/4?k=3").json()
    middles = np.array([[-74.05, 40.75], [-73.95, 40.74], [-74.0, 40.85]])
    away = np.abs(np.array(found["centres"])[:, None] - middles).max(axis=2).min(axis=0)
    assert (away < 0.005).all()


def test_people_rehearse_with_as_many_rows_as_count(tmp_path):
    frame = pd.DataFrame({"driver": np.arange(3000) % 500, "lon": town()[:, 0], "lat": town()[:, 1]})
    studio = asking(tmp_path, data=frame, person=Person("driver", 3))
    assert "any one person" in studio.get(f"api/rehearsal/3?{ROWS}").json()["meaning"]


def test_one_level_alone_costs_its_own_epsilon_and_the_certificate_states_it(tmp_path):
    studio = asking(tmp_path)
    offer = studio.get("api/state").json()["offers"][0]
    assert (offer["alone"]["factor"], offer["looking"]["factor"], offer["alone"]["chosen"]) == ("1.11", "1.11", ALONE)
    pay(studio, 0.1, alone=True)
    assert [each["epsilon"] for each in studio.get("api/ledger").json()["entries"]] == [0.1]
    told, certificate = published(studio, 0)
    assert told == offer["alone"]
    assert (certificate["epsilon"], certificate["parameters"]["chosen"]) == (0.1, ALONE)
    assert certificate["parameters"]["levels"] == [["most private", 0.1]]
    assert studio.get("api/levels/1").status_code == 404, "no other level was made"


def test_the_slider_goes_as_far_as_was_paid_for_and_every_level_of_it_costs_the_last(tmp_path):
    studio = asking(tmp_path)
    offer = studio.get("api/state").json()["offers"][2]["looking"]
    pay(studio, 0.5, alone=False)
    state = studio.get("api/state").json()
    assert [each["epsilon"] for each in state["levels"]] == [0.1, 0.25, 0.5]
    told, certificate = published(studio, 0)
    assert told == offer == {"epsilon": 0.5, "delta": 0.0, "factor": "1.65", "chosen": SLIDER}
    assert (certificate["epsilon"], certificate["parameters"]["chosen"]) == (0.5, SLIDER)


@pytest.mark.parametrize("first", ["a look", "a release", "an earlier run"])
def test_in_advance_is_said_only_where_nothing_of_the_data_set_was_seen_before(tmp_path, first):
    book = Ledger.create(tmp_path / "city.ledger", dataset="trips", epsilon=10)
    studio = asking(tmp_path, ledger=book, dataset="trips")
    if first == "a look":
        pay(studio, 0.25, alone=True)
    else:
        assert studio.post("api/releases", {"k": 2, "epsilon": 0.25, "algorithm": "lloyd"}).status_code == 200
    if first == "an earlier run":
        studio = asking(tmp_path, ledger=Ledger.open(tmp_path / "city.ledger"), dataset="trips")
    offer = studio.get("api/state").json()["offers"][2]["alone"]
    pay(studio, 0.5, alone=True)
    told, certificate = published(studio, 0)
    assert told == offer == {"epsilon": 0.75, "delta": 0.0, "factor": "2.12", "chosen": LATER}
    assert (certificate["epsilon"], certificate["parameters"]["chosen"]) == (0.75, LATER)
    assert "sum of all of them" in certificate["parameters"]["choice"]


def test_after_the_owners_view_no_level_is_chosen_in_advance(tmp_path):
    studio = asking(tmp_path)
    studio.post("api/owner", {"on": True})
    assert studio.get("api/state").json()["offers"][1]["alone"]["chosen"] == RAW
    pay(studio, 0.25, alone=True)
    told, certificate = published(studio, 0)
    assert told["chosen"] == certificate["parameters"]["chosen"] == RAW


def test_levels_alone_have_keys_of_their_own_and_are_not_paid_twice(tmp_path):
    book = Ledger.create(tmp_path / "city.ledger", dataset="trips", epsilon=0.8)
    for epsilon in (0.25, 0.5, 0.25):
        studio = asking(tmp_path, ledger=Ledger.open(tmp_path / "city.ledger"), dataset="trips", key="monday")
        pay(studio, epsilon, alone=True)
    assert float(book.datasets()["trips"].spent.epsilon) == 0.75


def test_a_zone_that_is_not_stricter_than_the_level_is_refused_before_anything_is_paid(tmp_path):
    shape = {"type": "Polygon", "coordinates": [[[-74.06, 40.74], [-74.04, 40.74], [-74.04, 40.76], [-74.06, 40.74]]]}
    zone = {"type": "Feature", "properties": {"epsilon": 0.1}, "geometry": shape}
    studio = asking(tmp_path)
    studio.ask("PUT", "api/zones", json={"type": "FeatureCollection", "features": [zone]})
    answer = studio.post("api/look", {"confirm": True, "epsilon": 0.1, "alone": True})
    assert answer.status_code == 422
    assert "stricter" in answer.json()["error"]["message"]
    assert studio.get("api/ledger").json()["entries"] == []
    assert [studio.get(f"api/rehearsal/{level}?{ROWS}").status_code for level in (0, 3)] == [200, 200]


def test_rows_outside_the_bounds_are_told_and_their_boxes_can_be_left_out(tmp_path):
    rng = np.random.default_rng(2)
    beyond = np.column_stack([np.full(900, -73.0), rng.normal(40.8, 0.01, 900)])
    studio = asking(tmp_path, data=np.concatenate([town(), beyond]), bounds=BOUNDS, seed=7, allow_seeded=True)
    studio.look()
    found = studio.get("api/levels/4?k=4").json()
    assert found["outside"]["low"] < 900 / 3900 < found["outside"]["high"]
    assert 0 < sum(found["edge"]) < len(found["edge"])
    assert max(x for x, _ in found["centres"]) > -73.91
    without = studio.get("api/levels/4?k=4&edges=false").json()
    assert max(x for x, _ in without["centres"]) < -73.92
    made = studio.post("api/publish", {"level": 4, "k": 4, "edges": False}).json()
    release = json.loads(studio.get(made["files"][0]["url"]).content)
    assert release["certificate"]["parameters"]["edges"] is False
    assert [x for x, _ in release["centres"]] == pytest.approx([x for x, _ in without["centres"]], abs=1e-5)
