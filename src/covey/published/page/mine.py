"""What a reader may ask the page itself: which centre is nearest to a place, and what the promise means in odds."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from html import escape
from typing import Any

from covey.geo.clock import hand
from covey.published.certificate import UNCOVERED, Certificate
from covey.published.counted import rows_of, sizes_in_words
from covey.published.places import radii_in_metres
from covey.published.plane import Plane
from covey.published.release import Release
from covey.published.sentences import hollow, nowhere
from covey.text import listing

MOST_COLUMNS = 6  # that somebody would type the values of
PLACEHOLDER = "{:.6g}"
BEYOND = 10  # odds with a delta give up a tenth of the doubt, and hold but for ten deltas
RARE = 10**12  # a chance below one in so many is told as this one


def asks(release: Release) -> bool:
    """Whether a reader can say where they are: by a few columns that are numbers, none of them a hand of a clock."""
    return len(release.columns) <= MOST_COLUMNS and all(hand(name) is None for name in release.columns)


def questions(plane: Plane) -> str:
    """The form, which the script shows: without it nothing could be answered."""
    fields = []
    for i, (name, low, high) in enumerate(zip(plane.columns, plane.lower, plane.upper, strict=True)):
        example = PLACEHOLDER.format(low / 2 + high / 2)
        fields.append(
            f'<label>{escape(name)}<input type="text" inputmode="decimal" autocomplete="off" '
            f'placeholder="{example}" data-column="{i}"></label>'
        )
    how = "Click the map, or type a place" if plane.axes[1] is not None else "Type a value"
    return f"""<section class="mine" hidden><h2>Which centre is mine?</h2>
<p class="ask">{how}. It is worked out in this page: nothing is sent to anybody.</p>
<form>{"".join(fields)}<span class="buttons"><button type="submit">Find it</button>
<button type="button" class="here" hidden>Where I am</button></span></form>
<p class="answer" role="status"></p></section>"""


def answers(release: Release, plane: Plane, labels: Sequence[str]) -> str:
    """What the script needs: the released centres and how distances are measured. No text in it can end the element."""
    domain = release.certificate.domain
    metres = radii_in_metres(release, *plane.names) if plane.geographic else None
    document: dict[str, Any] = {
        "axes": plane.axes,
        "geographic": plane.geographic,
        "lower": list(plane.lower),
        "upper": list(plane.upper),
        "half": list(plane.half),
        "ball": domain["type"] == "ball",
        "centres": release.centres,
        "labels": list(labels),
        "sizes": sizes_in_words(release) if release.sizes is not None else None,
        "rows": rows_of(release.certificate),
        "doubtful": [hollow(release, i) for i in range(len(release.centres))],
        "unplaced": [nowhere(release, i) for i in range(len(release.centres))],
        "radii": metres,  # in metres
    }
    content = json.dumps(document, allow_nan=False, separators=(",", ":"))
    return f'<script class="data" type="application/json">{escape_json(content)}</script>'


def escape_json(content: str) -> str:
    """JSON that is nothing but text to a reader of HTML."""
    for sign in "<>&\u2028\u2029":
        content = content.replace(sign, f"\\u{ord(sign):04x}")
    return content


def in_odds(certificate: Certificate) -> list[str]:
    """The promise for one person, in odds: for somebody who was half sure beforehand. From the certificate alone.

    What a delta does to odds is derived in PRIVACY.md, "What ε and δ mean in odds".
    """
    if certificate.seeded:
        return []
    epsilon, delta = certificate.epsilon, certificate.delta
    where = 2 * epsilon if certificate.neighbours == "add-remove" else epsilon
    spread = 1 + math.exp(min(epsilon, 700.0))
    away = min(1.0, delta * spread) if certificate.neighbours == "add-remove" else delta
    lines = []
    if certificate.neighbours == "add-remove":
        sure = f"somebody who was half sure can become sure to at most {odds(epsilon, delta)}"
        lines.append(f"Whether you are in the data: {sure}, whatever else they know.")
    lines.append(f"What your values are, of any two: to at most {odds(where, away)}.")
    lines.append(f"“You” are {certificate.person}.")
    zones = certificate.parameters.get("zones")
    known = [each for each in zones if isinstance(each, dict)] if isinstance(zones, list) else []
    stricter = [each for each in known if isinstance(own := each.get("epsilon"), int | float) and own < epsilon]
    if names := [str(each["name"]) for each in stricter if isinstance(each.get("name"), str)]:
        lines.append(f"Rows in {listing(names)} are protected more strictly.")
    if UNCOVERED in certificate.statement:
        lines.append("How this release was chosen is not covered by these odds: the certificate says why.")
    return lines


def odds(epsilon: float, delta: float = 0.0) -> str:
    """ "73 in 100", and with a delta how often that may fail; neither is rounded down."""
    doubt = 1 / (1 + math.exp(min(epsilon, 700.0)))  # that stays, at the least
    chance = 1 - (doubt * (1 - 1 / BEYOND) if delta else doubt)
    scale = 10 ** (4 if chance > 0.999 else 1 if chance > 0.99 else 0)
    shown = math.ceil(chance * 100 * scale - 1e-9) / scale
    if shown >= 100 or BEYOND * delta >= 1:
        return "almost certainty"
    once = f", but for a chance of at most 1 in {math.floor(min(1 / (BEYOND * delta), RARE)):,}" if delta else ""
    return f"{shown:g} in 100{once}"
