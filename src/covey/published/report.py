"""What is published as one page to print or send: map as inline SVG, centres, certificate. No script, no links."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from covey.published.certificate import Certificate, in_full
from covey.published.coreset.coreset import Coreset
from covey.published.plane import Plane
from covey.published.release import Release
from covey.published.sentences import (
    NOISE,
    centre_labels,
    hollow,
    marks_in_words,
    places_in_words,
    sizes_in_words,
    words_of,
)
from covey.published.show import coordinates_in_words
from covey.text import number

WIDTH, LEAST_HEIGHT, MOST_HEIGHT = 760.0, 240.0, 900.0
MOST_POINTS = 2_500
LARGEST_DOT = 9.0
STYLE = """
.covey { color-scheme: light dark; --ink: #1d2733; --soft: #5b6878; --paper: #fff; --line: #cfd6de; --land: #f2f5f7;
  --dot: #3b78b8; --mark: #b3411e; background: var(--paper); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
@media (prefers-color-scheme: dark) { .covey { --ink: #e6ebf0; --soft: #a4b0bd; --paper: #14191f; --line: #3a4653;
  --land: #1c232b; --dot: #7db3e8; --mark: #f08a5d; } }
body.covey { margin: 0 auto; padding: 1.5rem 1rem 3rem; max-width: 48rem; }
div.covey { padding: .8rem; max-width: 48rem; }
.covey h1 { font-size: 1.5rem; margin: 0; } .covey h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; }
.covey p { margin: .5rem 0; } .covey .soft { color: var(--soft); } .covey figure { margin: 1.2rem 0; }
.covey figcaption { color: var(--soft); font-size: .85rem; }
.covey svg { width: 100%; height: auto; display: block; border: 1px solid var(--line); border-radius: 4px; }
.covey .land { fill: var(--land); } .covey .region { fill: none; stroke: var(--soft); stroke-width: .7; }
.covey .dot { fill: var(--dot); fill-opacity: .45; }
.covey .mark { fill: var(--mark); stroke: var(--paper); stroke-width: 1.5; }
.covey .mark.hollow { fill: var(--paper); stroke: var(--mark); stroke-width: 2.5; }
.covey .ring { fill: var(--mark); fill-opacity: .12; stroke: var(--mark); stroke-width: 1.2; }
.covey .letter { font: 600 13px system-ui, sans-serif; fill: #fff; text-anchor: middle; dominant-baseline: central; }
.covey .mark.hollow + .letter { fill: var(--mark); }
.covey .edge { font: 11px system-ui, sans-serif; fill: var(--soft); }
.covey table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
.covey th, .covey td { text-align: left; padding: .3rem .6rem .3rem 0; border-bottom: 1px solid var(--line);
  vertical-align: top; }
.covey td.right, .covey th.right { text-align: right; } .covey .scroll { overflow-x: auto; }
.covey .promise { font-size: 1.05rem; }
.covey .warning { border: 2px solid var(--mark); padding: .5rem .8rem; border-radius: 4px; }
"""
SEEDED = '<p class="warning">Made with a known seed: not private. For tests only.</p>'


def report(
    published: Release | Coreset,
    plane: Plane,
    *,
    name: str,
    about: str,
    coreset: Coreset | None = None,
    meaning: str = "",
    labels: Sequence[str] | None = None,
) -> bytes:
    """The whole page. Every text that came from a client or a file is escaped.

    about : a line below the name. coreset : points that are drawn with the centres of a release. meaning : of a level.
    """
    certificate = published.certificate
    release = published if isinstance(published, Release) else None
    points = published if isinstance(published, Coreset) else coreset
    centres = "" if release is None else centres_in_words(release, labels)
    level = f"<p>The level by itself, had it been chosen in advance: {escape(meaning)}</p>" if meaning else ""
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(name)}</title><style>{STYLE}</style></head><body class="covey">
<h1>{escape(name)}</h1>
<p class="soft">{escape(about)}</p>{SEEDED if certificate.seeded else ""}
<figure>{picture(release, points, plane, labels)}<figcaption>{caption(release, points, plane)}</figcaption></figure>
{centres}
<h2>What was promised</h2><p class="promise">{escape(certificate.statement)}</p>
{level}{certificate_table(certificate)}
<p class="soft">Anyone may use, combine and publish this page: nothing computed from it weakens the promise.</p>
</body></html>
""".encode(errors="replace")


def fragment(published: Release | Coreset) -> str:
    """What a notebook shows: the map, the centres and the promise, styled apart from the page around it."""
    plane, certificate = Plane.of(published), published.certificate
    release = published if isinstance(published, Release) else None
    points = published if isinstance(published, Coreset) else None
    table = "" if release is None else f'<div class="scroll">{centre_table(release)}</div>'
    return (
        f'<div class="covey"><style>{STYLE}</style>{SEEDED if certificate.seeded else ""}'
        f"<figure>{picture(release, points, plane)}</figure>{table}"
        f"<p>{escape(certificate.statement)}</p></div>"
    )


def centres_in_words(release: Release, labels: Sequence[str] | None) -> str:
    """The table of the centres, and how far off its numbers may be."""
    return f"""<h2>The centres</h2><div class="scroll">{centre_table(release, labels)}</div>
<p class="soft">Numbers of rows are noisy: the noise is what protects each person. A small one may be negative.</p>
{errors_in_words(release, labels)}"""


def caption(release: Release | None, points: Coreset | None, plane: Plane) -> str:
    words = [] if points is None else ["Dots: the private coreset, larger where more rows are."]
    if release is not None:
        words.append("Marks: the centres." if points is None else "Letters: the centres.")
        words += ["Lines: which places are nearest to which centre."] if len(plane.columns) == 2 else []
        words += marks_in_words(release)
    if points is not None and (points.weights < 0).any():
        words.append("Points of negative weight are not drawn.")
    words += [] if len(plane.columns) == 2 else [f"Drawn by {' and '.join(plane.names)}."]
    return escape(" ".join(words))


def letters(i: int) -> str:
    """A to Z, then AA, AB, and so on."""
    return (letters(i // 26 - 1) if i >= 26 else "") + "ABCDEFGHIJKLMNOPQRSTUVWXYZ"[i % 26]


def heaviest_first(weights: NDArray[np.float64], most: int) -> NDArray[np.intp]:
    """The places of the heaviest weights, in their own order; all of them if there are few."""
    if len(weights) <= most:
        return np.arange(len(weights))
    return np.sort(np.argpartition(-weights, most)[:most])


class Frame:
    """From the units of the data to those of the picture; y upwards. A map is stretched as at its middle latitude."""

    def __init__(self, plane: Plane) -> None:
        self.left, self.bottom, self.right, self.top = plane.frame
        shape = (self.top - self.bottom) / (self.right - self.left) if plane.geographic else 0.7
        if plane.geographic:
            shape /= max(0.1, math.cos(math.radians((self.top + self.bottom) / 2)))
        self.height = min(MOST_HEIGHT, max(LEAST_HEIGHT, WIDTH * shape))

    def __call__(self, points: Any) -> list[tuple[float, float]]:
        x, y = np.asarray(points, dtype=np.float64).reshape(-1, 2).T
        across = (x - self.left) / (self.right - self.left) * WIDTH
        down = (self.top - y) / (self.top - self.bottom) * self.height
        return list(zip(np.round(across, 1).tolist(), np.round(down, 1).tolist(), strict=True))


def picture(release: Release | None, points: Coreset | None, plane: Plane, labels: Sequence[str] | None = None) -> str:
    """The map as SVG: points of a coreset by weight, and centres with their regions."""
    frame = Frame(plane)
    parts = [f'<rect class="land" width="{WIDTH:g}" height="{frame.height:.0f}"/>']
    for feature in [] if release is None else plane.regions(release.centres):
        corners = " ".join(f"{x:g},{y:g}" for x, y in frame(feature["geometry"]["coordinates"][0]))
        parts.append(f'<polygon class="region" points="{corners}"/>')
    parts += [] if points is None else dots(points, frame, plane)
    parts += [] if release is None else [*rings(release, frame, plane), *marks(release, frame, plane, labels)]
    parts += edges(frame, plane)
    what = [] if release is None else [f"{len(release.centres)} private centres"]
    what += [] if points is None else ["the private coreset"]
    label = f"Map of {' and '.join(what)}"
    return f'<svg viewBox="0 0 {WIDTH:g} {frame.height:.0f}" role="img" aria-label="{label}">{"".join(parts)}</svg>'


def dots(points: Coreset, frame: Frame, plane: Plane) -> list[str]:
    """The heaviest points of a coreset."""
    heavy = [i for i in heaviest_first(points.weights, MOST_POINTS).tolist() if points.weights[i] > 0]
    if not heavy:
        return []
    sizes = LARGEST_DOT * np.sqrt(points.weights[heavy] / points.weights[heavy].max())
    return [
        f'<circle class="dot" cx="{x:g}" cy="{y:g}" r="{size:.1f}"/>'
        for (x, y), size in zip(frame(plane.flat(points.points[heavy])), sizes.tolist(), strict=True)
        if size >= 0.3
    ]


def marks(release: Release, frame: Frame, plane: Plane, labels: Sequence[str] | None) -> list[str]:
    """A disc with its name at each centre."""
    parts = []
    for i, ((x, y), label) in enumerate(
        zip(frame(plane.flat(release.centres)), labels or centre_labels(release), strict=True)
    ):
        look = "mark hollow" if hollow(release, i) else "mark"
        parts.append(f'<circle class="{look}" cx="{x:g}" cy="{y:g}" r="11"/>')
        parts.append(f'<text class="letter" x="{x:g}" y="{y:g}">{label}</text>')
    return parts


def rings(release: Release, frame: Frame, plane: Plane) -> list[str]:
    """Where each centre probably is, where that is determined."""
    radii = release.errors.radii if release.errors is not None and release.errors.radii else ()
    half, (east, north) = plane.half, plane.axes
    across = WIDTH / (frame.right - frame.left) * half[east]
    up = 0.0 if north is None else frame.height / (frame.top - frame.bottom) * half[north]
    places = zip(frame(plane.flat(release.centres)), radii, strict=False)
    return [
        f'<ellipse class="ring" cx="{x:g}" cy="{y:g}" rx="{radius * across:.1f}" ry="{radius * up:.1f}"/>'
        for (x, y), radius in places
        if radius is not None
    ]


def errors_in_words(release: Release, labels: Sequence[str] | None) -> str:
    """How far off the numbers may be, one sentence a line."""
    return "".join(f'<p class="errors">{escape(each)}</p>' for each in words_of(release, labels))


def edges(frame: Frame, plane: Plane) -> list[str]:
    """The ends of both axes, so that the picture can be placed."""
    east, north = plane.axes
    across = frame.right - frame.left
    name = escape(plane.columns[east])
    low = f'<text class="edge" x="6" y="{frame.height - 6:.0f}">{name} {number(frame.left, across)}</text>'
    right = f'<text class="edge" x="{WIDTH - 6:g}" y="{frame.height - 6:.0f}" text-anchor="end">'
    parts = [low, f"{right}{name} {number(frame.right, across)}</text>"]
    if north is not None:
        up, name = frame.top - frame.bottom, escape(plane.columns[north])
        parts.append(f'<text class="edge" x="6" y="14">{name} {number(frame.top, up)}</text>')
        parts.append(f'<text class="edge" x="6" y="{frame.height - 22:.0f}">{name} {number(frame.bottom, up)}</text>')
    return parts


def centre_table(release: Release, labels: Sequence[str] | None = None) -> str:
    columns = coordinates_in_words(release)
    head = "".join(f'<th class="right">{escape(name)}</th>' for name in columns)
    places = places_in_words(release)
    head += '<th class="right">rows (noisy)</th>' + ("" if places is None else '<th class="place">place</th>')
    rows = []
    told = zip(labels or centre_labels(release), sizes_in_words(release), strict=True)
    for i, (label, size) in enumerate(told):
        cells = "".join(f'<td class="right">{words[i]}</td>' for words in columns.values())
        doubt = f"; {NOISE}" if hollow(release, i) else ""
        place = "" if places is None else f'<td class="place">{escape(places[i])}</td>'
        rows.append(f'<tr><td>{label}</td>{cells}<td class="right">{size}{doubt}</td>{place}</tr>')
    return f"<table><tr><th>centre</th>{head}</tr>{''.join(rows)}</table>"


def certificate_table(certificate: Certificate) -> str:
    facts = {
        "epsilon": in_full(certificate.epsilon),
        "delta": in_full(certificate.delta),
        "neighbouring data sets": certificate.neighbours,
        "a person is": certificate.person,
        "algorithm": certificate.algorithm,
        "how it was chosen": str(certificate.parameters.get("choice", "in advance")),
        "data set": certificate.dataset or "not named",
        "ledger": "none was kept" if certificate.receipt is None else f"receipt {certificate.receipt}",
        "made by": f"Covey {certificate.covey}",
    }
    rows = list(facts.items())
    zones = certificate.parameters.get("zones")
    for zone in zones if isinstance(zones, list) else ():
        match zone:
            case {"name": str() as name, "epsilon": int() | float() as epsilon, "rate": int() | float() as rate}:
                promise = f"rows there are promised epsilon = {in_full(epsilon)}; {rate:.3g} of them were kept"
                rows.append((f"zone {name}", promise))
    cells = "".join(f"<tr><th>{escape(name)}</th><td>{escape(value)}</td></tr>" for name, value in rows)
    return f"<table>{cells}</table>"
