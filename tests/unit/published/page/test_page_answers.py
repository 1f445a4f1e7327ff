"""What the page's script says of the nearest centre, run by node without a browser."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

import covey.studio
from covey.published.report import SCRIPT

pytestmark = pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
WORDS = Path(covey.studio.__file__).parent / "page" / "js" / "words.js"
DATA: dict[str, Any] = {
    "labels": ["A", "B"],
    "sizes": ["5 (1 to 9)", "6"],
    "rows": "rows that count",
    "doubtful": [False, False],
    "geographic": True,
    "centres": [[0, 0], [1, 1]],
    "lower": [-9, -9],
    "upper": [9, 9],
}


def node(program: str) -> str:
    done = subprocess.run(
        ["node", "--input-type=module", "-e", program], capture_output=True, text=True, check=True, timeout=120
    )
    return done.stdout.strip()


def answer(**given: object) -> str:
    """The words about a place 141 m from A and 1,273 m from B."""
    [body] = re.findall(r"^  function answer\(place\) \{.*?^  \}\n", SCRIPT, flags=re.DOTALL | re.MULTILINE)
    return node(f"""
const data = {json.dumps(DATA | given)};
const nearest = () => [{{ index: 0 }}, {{ index: 1 }}];
const metres = (a, b) => Math.hypot(a[0] - b[0], a[1] - b[1]) * 1000;
const distance = (value) => `${{value.toFixed(0)}} m`;
const mark = () => {{}};
const say = (words) => console.log(words);
{body}
answer([0.1, 0.1]);
""")


@pytest.mark.parametrize(
    ("unplaced", "radii", "end"),
    [
        ([False, False], [10, 10], "Next: centre B, 1273 m."),
        ([False, False], [1000, 1000], "leaves open whether centre B, 1273 m away, is nearer."),
        ([False, True], [10, None], "The place of centre B is not determined, so which is nearer is left open."),
        ([True, True], [None, None], "The place of centre A is not determined, so which is nearer is left open."),
        ([False, False], None, "Next: centre B, 1273 m."),
    ],
)
def test_a_centre_without_a_place_is_not_taken_for_the_most_exact_one(unplaced, radii, end):
    assert answer(unplaced=unplaced, radii=radii).endswith(end)


def test_of_people_the_rows_are_those_that_count():
    told = answer(unplaced=[False, False], radii=None)
    assert "About 5 (1 to 9) rows that count are nearest to it." in told


def test_the_studio_shows_no_number_of_rows_below_none():
    program = f"import('{WORDS.as_uri()}').then((m) => console.log(m.between(-16680.9, [-64000, 30879.2])))"
    assert node(program) == "0 (0 to 30,880)"


def words(call: str) -> str:
    return node(f"import('{WORDS.as_uri()}').then((m) => console.log({call}))")


@pytest.mark.parametrize(
    ("size", "interval", "off", "grade"),
    [
        (400, (380, 420), 20, "null"),
        (5, (-15, 25), 20, "red"),
        (-16_680.9, (-20_000, 3319.1), 3319.1, "red"),  # told as 0, however far below the noise took it
    ],
)
def test_the_studio_says_how_far_off_a_size_is_as_it_is_told(size, interval, off, grade):
    given = f"{size}, {json.dumps(interval)}"
    assert float(words(f"m.off({given})")) == off
    assert words(f"String(m.grade(m.doubt({given})))") == grade


def test_the_studio_says_where_noise_leaves_every_share_outside_open():
    share = {"share": 0.5, "low": 0.0, "high": 1.0, "whose": "rows"}
    assert "is not known: noise leaves all open" in words(f"m.outsideWords({json.dumps(share)})")
    share |= {"share": 0.123, "high": 0.3, "whose": "rows that zones kept"}
    told = words(f"m.outsideWords({json.dumps(share)})")
    assert told.startswith("About 12.3% of the rows that zones kept (under 0.1% to 30%) lie outside the bounds")


def test_a_small_share_is_told_with_the_ends_of_its_interval_which_it_is_not_the_middle_of():
    program = f"import('{WORDS.as_uri()}').then((m) => console.log(m.shareBetween([0.004, 0, 0.0912])))"
    assert node(program) == "0% (0 to 10)"


@pytest.mark.parametrize(
    ("value", "told"), [(0.1234, "0.1234"), (0.1 + 0.2, "0.3"), (1.0049, "1.0049"), (10000, "10000")]
)
def test_what_is_paid_and_stated_is_told_with_all_its_digits(value, told):
    """Three digits said that 1.0049 costs 1."""
    assert node(f"import('{WORDS.as_uri()}').then((m) => console.log(m.inFull({value!r})))") == told
