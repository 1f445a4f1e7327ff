"""What is in the clusters on the slider: asked once the look is paid for, charged by itself, refused before that."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("fastapi", reason="the studio's packages are not installed: pip install 'covey[studio]'")

from covey import Box, Ledger
from covey.published.profile.profile import Profile
from studio_client import asking

ASKED = {
    "confirm": True,
    "level": 0,
    "k": 2,
    "columns": ["mode=bike|car", "shop=private"],
    "epsilon": 0.5,
    "delta": 1e-6,
}


@pytest.fixture
def studio(tmp_path):
    rng = np.random.default_rng(1)
    rows = pd.DataFrame({"x": rng.choice([0.2, 0.8], 2000) + rng.normal(0, 0.02, 2000), "y": rng.random(2000)})
    rows["mode"] = np.where(rows.x > 0.5, "bike", "car")
    rows["shop"] = np.where(rows.x > 0.5, "<b>bakery</b>", "bank")
    book = Ledger.memory()
    book.add("city", epsilon=3, delta=1e-5)
    return asking(tmp_path, data=rows, bounds=Box(x=(0, 1), y=(0, 1)), ledger=book, dataset="city")


def test_a_profile_of_the_slider_is_charged_and_told(studio):
    assert studio.post("api/profile", ASKED).status_code == 409
    studio.look()
    spent = studio.get("api/ledger").json()["datasets"]["city"]["spent"]
    answer = studio.post("api/profile", ASKED)
    assert answer.status_code == 201, answer.text
    found = answer.json()
    assert [each["name"] for each in found["columns"]] == ["mode", "shop"]
    assert set(found["columns"][1]["cells"]) == {"<b>bakery</b>", "bank", "other"}
    assert np.shape(found["columns"][0]["shares"]) == (2, 3, 3)
    assert len(found["sentences"]) == 2
    profile = Profile.from_json(found["document"].encode())
    assert profile.certificate.statement == found["statement"]
    assert "released before" in found["statement"]
    after = studio.get("api/ledger").json()
    assert after["datasets"]["city"]["spent"] == spent + 0.5
    assert after["datasets"]["city"]["spent_delta"] == 1e-6
    assert after["entries"][-1]["purpose"] == "profile of released centres"


@pytest.mark.parametrize(
    ("change", "status", "words"),
    [
        ({"confirm": False}, 422, ""),
        ({"columns": []}, 422, ""),
        ({"columns": ["mod=bike"]}, 422, "no column 'mod'"),
        ({"delta": None}, 422, "private"),
        ({"epsilon": 2.5}, 409, ""),
        ({"level": 9}, 404, "no such level"),
    ],
)
def test_what_is_wrong_is_refused_and_costs_nothing(studio, change, status, words):
    studio.look()
    spent = studio.get("api/ledger").json()["datasets"]["city"]["spent"]
    answer = studio.post("api/profile", {**ASKED, **change})
    assert answer.status_code == status, answer.text
    assert words in json.dumps(answer.json())
    assert studio.get("api/ledger").json()["datasets"]["city"]["spent"] == spent
