"""The words and numbers of a published page: odds that are never rounded down, text that stays text."""

from __future__ import annotations

import json
import math
import re

import msgspec
import numpy as np
import pytest

from covey import Box, Coreset, Release
from covey.fit.fit import fit
from covey.published.certificate import UNCOVERED
from covey.published.export import contents
from covey.published.levels.words import NOT_COVERED
from covey.published.page.mine import escape_json, in_odds, odds
from covey.published.page.picture import densities
from covey.published.plane import Plane
from covey.published.report import POLICY, SCRIPT, STYLE, certificate_table, hashed, report

BOX = Box(lon=(-30.1, -29.9), lat=(20.7, 20.9))
NASTY = "</script><img src=x onerror=alert(1)>\"'&"


@pytest.fixture(scope="module")
def release() -> Release:
    rng = np.random.default_rng(2)
    rows = np.array([[-30.05, 20.75], [-29.95, 20.85]])[rng.integers(2, size=2000)] + rng.normal(0, 0.006, (2000, 2))
    given = {"algorithm_params": {"keep_synopsis": True}}
    return fit(rows, k=3, epsilon=1.0, bounds=BOX, random_state=1, **given)


def data_of(page: str) -> dict:
    return json.loads(re.search(r'<script class="data" type="application/json">(.*?)</script>', page).group(1))


@pytest.mark.parametrize(("epsilon", "words"), [(0.1, "53 in 100"), (1, "74 in 100"), (5, "99.4 in 100")])
def test_odds_are_never_rounded_down(epsilon, words):
    assert odds(epsilon) == words
    assert float(words.split()[0]) >= 100 / (1 + math.exp(-epsilon))
    assert odds(1000) == "almost certainty"


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
@pytest.mark.parametrize("delta", [1e-6, 1e-3, 0.05])
@pytest.mark.parametrize("share", [0.0, 0.05, 0.1, 0.2, 0.5, 1.0])
def test_no_mechanism_with_a_delta_exceeds_its_odds_more_often_than_they_say(epsilon, delta, share):
    """The worst ones: delta lies on outcomes that are so much likelier than e^epsilon, or on one that tells all.

    `share` is that of the doubt at e^epsilon which these outcomes leave: more than 0.9 is within the odds.
    """
    words = odds(epsilon, delta)
    said, times = re.fullmatch(r"([\d.]+) in 100, but for a chance of at most 1 in ([\d,]+)", words).groups()
    e = math.exp(epsilon)
    doubt = share / (1 + e)
    ratio = math.inf if doubt == 0 else (1 - doubt) / doubt  # of these outcomes, under "in" and under "out"
    q = 0.0 if doubt == 0 else delta / (ratio - e) if ratio > e else 0.0
    p = e * q + delta  # as much as (epsilon, delta) allows
    surer = 1.0 if doubt == 0 else 1 - doubt
    either = p + q  # such outcomes for "in", and their mirror image for "out": whichever is true, p + q of them come
    assert surer <= float(said) / 100 or either <= 1 / int(times.replace(",", ""))
    assert surer <= float(said) / 100 or either > 0.05 / int(times.replace(",", "")), "a bound that means something"


def test_odds_with_a_delta_that_bounds_nothing_say_so():
    assert odds(1.0, 0.1) == odds(1.0, 1.0) == "almost certainty"
    assert odds(1.0, 1e-300).endswith("1 in 1,000,000,000,000")


def test_the_promise_in_odds_follows_the_relation_the_delta_and_the_zones(release):
    certificate = msgspec.structs.replace(release.certificate, seeded=False)
    inside, where, who = in_odds(certificate)
    assert "at most 74 in 100," in inside
    assert "at most 89 in 100." in where, "here or elsewhere: twice epsilon"
    assert "one row" in who
    assert in_odds(release.certificate) == [], "seeded: no promise"
    replaced = msgspec.structs.replace(certificate, neighbours="replace-one", delta=1e-6)
    but_for = "to at most 76 in 100, but for a chance of at most 1 in 100,000"
    assert in_odds(replaced)[0] == f"What your values are, of any two: {but_for}."
    zoned = {**certificate.parameters, "zones": [{"name": NASTY, "epsilon": 0.1, "rate": 0.06}, "damaged"]}
    assert NASTY in in_odds(msgspec.structs.replace(certificate, parameters=zoned))[-1]
    alike = {**certificate.parameters, "zones": [{"name": "park", "epsilon": certificate.epsilon, "rate": 1.0}]}
    assert not any("park" in each for each in in_odds(msgspec.structs.replace(certificate, parameters=alike)))
    looked = {**certificate.parameters, "choice": f"the level was chosen with sight of raw data: {UNCOVERED}"}
    assert "not covered by these odds" in in_odds(msgspec.structs.replace(certificate, parameters=looked))[-1]


def test_the_table_says_how_a_level_was_chosen_where_it_was_and_what_a_merge_joins(release):
    """A fit was said to be chosen in advance, and so was a merge of a level that was chosen with sight of raw data."""
    plain = msgspec.structs.replace(release.certificate, dataset="A", receipt="r1", parameters={})
    assert "chosen" not in certificate_table(plain)
    raw = msgspec.structs.replace(plain, dataset="B", receipt=None, parameters={"choice": NOT_COVERED})
    merged = msgspec.structs.replace(plain, dataset=None, receipt=None, parts=[plain, raw])
    told = certificate_table(merged)
    assert f"<th>how it was chosen</th><td>{NOT_COVERED}</td>" in told
    assert "<td>A; B</td>" in told
    assert "<td>receipt r1; none was kept</td>" in told


def test_no_name_of_a_data_set_a_column_or_a_zone_becomes_markup(release):
    strange = msgspec.structs.replace(release, columns=[NASTY, "lat"])
    ring = [[-30, 20.75], [-29.95, 20.75], [-29.95, 20.8], [-30, 20.75]]
    zone = {"properties": {"name": NASTY}, "geometry": {"type": "Polygon", "coordinates": [ring]}}
    page = report(strange, Plane.of(strange), name=NASTY, about=NASTY, meaning=NASTY, zones=[zone]).decode()
    assert "<img" not in page
    assert page.count("</script>") == page.count("<script") == 2
    assert page.count("&lt;/script&gt;&lt;img") >= 5
    assert json.loads(escape_json(json.dumps({"a": NASTY + "\u2028"}))) == {"a": NASTY + "\u2028"}
    assert not set("<>&") & set(escape_json(json.dumps(NASTY)))


def test_the_policy_names_the_script_and_the_style_and_lets_nothing_else_in(release):
    page = contents(release, "html", name="x").decode()
    assert f'content="{POLICY}"' in page
    assert "'unsafe" not in POLICY
    assert "default-src 'none'" in POLICY
    for text in (SCRIPT, STYLE):
        assert hashed(text) in POLICY
        assert f">{text}</" in page
    assert not re.search(r'\sstyle="|\son\w+="', page), "the policy would not let them work"


def test_the_page_asks_with_what_the_release_holds_and_no_more(release):
    found = data_of(contents(release, "html", name="x").decode())
    assert found["centres"] == release.centres
    assert found["half"] == release.scale()[1].tolist()
    assert found["doubtful"] == release.doubtful.tolist()
    assert set(found) == {
        "axes", "geographic", "lower", "upper", "half", "ball", "centres", "labels", "sizes", "rows", "doubtful",
        "unplaced", "radii",
    }  # fmt: skip


def test_boxes_are_those_that_stand_out_by_rows_per_square_kilometre(release):
    coreset = Coreset.of(release)
    shown, density, most = densities(coreset, Plane.of(release))
    thresholds = np.broadcast_to(coreset.noise.thresholds, coreset.weights.shape)
    assert (coreset.weights[shown] > np.maximum(thresholds[shown], 0)).all()
    wide, high = coreset.cells[shown[0]]
    y = coreset.points[shown[0], 1]
    area = wide * high * 111.32**2 * math.cos(math.radians(y))
    assert density[0] == pytest.approx(coreset.weights[shown[0]] / area)
    assert math.log10(most) == pytest.approx(round(math.log10(most)))


def test_columns_that_are_hands_of_a_clock_are_not_asked_for(release):
    clock = msgspec.structs.replace(release, columns=["cos hour(a)", "sin hour(a)"])
    page = contents(clock, "html", name="x").decode()
    assert 'class="mine"' not in page
    assert 'class="data"' not in page
