"""A publication as one page to print or send: map as inline SVG, centres, certificate. No script, no links."""

from __future__ import annotations

import math
from html import escape
from typing import Any

import numpy as np

from covey.published.certificate import in_full
from covey.published.coreset.coreset import Coreset
from covey.published.release import Release
from covey.published.sentences import NOISE, places_in_words, sizes_in_words, words_of
from covey.studio.data import Opened
from covey.studio.view import heaviest_first, regions
from covey.text import number

WIDTH, LEAST_HEIGHT, MOST_HEIGHT = 760.0, 240.0, 900.0
MOST_POINTS = 2_500
LARGEST_DOT = 9.0
STYLE = """
:root { color-scheme: light dark; --ink: #1d2733; --soft: #5b6878; --paper: #fff; --line: #cfd6de; --land: #f2f5f7;
  --dot: #3b78b8; --mark: #b3411e; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6ebf0; --soft: #a4b0bd; --paper: #14191f; --line: #3a4653;
  --land: #1c232b; --dot: #7db3e8; --mark: #f08a5d; } }
body { margin: 0 auto; padding: 1.5rem 1rem 3rem; max-width: 48rem; background: var(--paper); color: var(--ink);
  font: 16px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.5rem; margin: 0; } h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; } p { margin: .5rem 0; }
.soft { color: var(--soft); } figure { margin: 1.2rem 0; } figcaption { color: var(--soft); font-size: .85rem; }
svg { width: 100%; height: auto; display: block; border: 1px solid var(--line); border-radius: 4px; }
.land { fill: var(--land); } .region { fill: none; stroke: var(--soft); stroke-width: .7; }
.dot { fill: var(--dot); fill-opacity: .45; } .mark { fill: var(--mark); stroke: var(--paper); stroke-width: 1.5; }
.mark.hollow { fill: var(--paper); stroke: var(--mark); stroke-width: 2.5; }
.ring { fill: var(--mark); fill-opacity: .12; stroke: var(--mark); stroke-width: 1.2; }
.letter { font: 600 13px system-ui, sans-serif; fill: #fff; text-anchor: middle; dominant-baseline: central; }
.mark.hollow + .letter { fill: var(--mark); }
.edge { font: 11px system-ui, sans-serif; fill: var(--soft); }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .3rem .6rem .3rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
td.right, th.right { text-align: right; } .scroll { overflow-x: auto; } .promise { font-size: 1.05rem; }
.warning { border: 2px solid var(--mark); padding: .5rem .8rem; border-radius: 4px; }
"""


def report(release: Release, coreset: Coreset, data: Opened, *, name: str, level: str, meaning: str) -> bytes:
    """The whole page. Every text that came from a client or a file is escaped."""
    certificate = release.certificate
    seeded = '<p class="warning">Made with a known seed: not private. For tests only.</p>' if certificate.seeded else ""
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(name)}</title><style>{STYLE}</style></head><body>
<h1>{escape(name)}</h1>
<p class="soft">{len(release.centres)} centres ({escape(release.objective)}) of {escape(data.name)}, privacy level
&ldquo;{escape(level)}&rdquo;</p>{seeded}
<figure>{picture(release, coreset, data)}<figcaption>{caption(data)}</figcaption></figure>
<h2>The centres</h2><div class="scroll">{centre_table(release, data)}</div>
<p class="soft">Numbers of rows are noisy: the noise is what protects each person. A small one may be negative.</p>
{errors_in_words(release)}
<h2>What was promised</h2><p class="promise">{escape(certificate.statement)}</p>
<p>The level by itself, had it been chosen in advance: {escape(meaning)}</p>{certificate_table(release)}
<p class="soft">Anyone may use, combine and publish this page: nothing computed from it weakens the promise.</p>
</body></html>
""".encode(errors="replace")


def caption(data: Opened) -> str:
    flat = data.domain.dimension == 2
    words = "Dots: the private coreset, larger where more rows are. Letters: the centres."
    words += " Lines: which places are nearest to which centre." if flat else ""
    words += " Hollow: may be only noise. Rings: where a centre probably is, as far as noise goes."
    if not flat:
        words += f" Drawn by {' and '.join(data.columns[i] for i in data.axes if i is not None)}."
    return escape(words)


def letters(i: int) -> str:
    """A to Z, then AA, AB, and so on."""
    return (letters(i // 26 - 1) if i >= 26 else "") + "ABCDEFGHIJKLMNOPQRSTUVWXYZ"[i % 26]


class Frame:
    """From the units of the data to those of the picture; y upwards. A map is stretched as at its middle latitude."""

    def __init__(self, data: Opened) -> None:
        lower, upper = data.corners()
        east, north = data.axes
        self.left, self.right = lower[east], upper[east]
        self.bottom, self.top = (-1.0, 1.0) if north is None else (lower[north], upper[north])
        shape = (self.top - self.bottom) / (self.right - self.left) if data.geographic else 0.7
        if data.geographic:
            shape /= max(0.1, math.cos(math.radians((self.top + self.bottom) / 2)))
        self.height = min(MOST_HEIGHT, max(LEAST_HEIGHT, WIDTH * shape))

    def __call__(self, points: Any) -> list[tuple[float, float]]:
        x, y = np.asarray(points, dtype=np.float64).reshape(-1, 2).T
        across = (x - self.left) / (self.right - self.left) * WIDTH
        down = (self.top - y) / (self.top - self.bottom) * self.height
        return list(zip(np.round(across, 1).tolist(), np.round(down, 1).tolist(), strict=True))


def picture(release: Release, coreset: Coreset, data: Opened) -> str:
    frame = Frame(data)
    parts = [f'<rect class="land" width="{WIDTH:g}" height="{frame.height:.0f}"/>']
    for feature in regions(release, data)["features"]:
        corners = " ".join(f"{x:g},{y:g}" for x, y in frame(feature["geometry"]["coordinates"][0]))
        parts.append(f'<polygon class="region" points="{corners}"/>')
    heavy = [i for i in heaviest_first(coreset.weights, MOST_POINTS).tolist() if coreset.weights[i] > 0]
    if heavy:
        sizes = LARGEST_DOT * np.sqrt(coreset.weights[heavy] / coreset.weights[heavy].max())
        places = frame(data.flat(coreset.points[heavy]))
        parts += [
            f'<circle class="dot" cx="{x:g}" cy="{y:g}" r="{size:.1f}"/>'
            for (x, y), size in zip(places, sizes.tolist(), strict=True)
            if size >= 0.3
        ]
    parts += rings(release, frame, data)
    doubtful = release.errors.doubtful if release.errors is not None and release.errors.doubtful else ()
    for i, (x, y) in enumerate(frame(data.flat(release.centres))):
        hollow = " hollow" if i < len(doubtful) and doubtful[i] else ""
        parts.append(f'<circle class="mark{hollow}" cx="{x:g}" cy="{y:g}" r="11"/>')
        parts.append(f'<text class="letter" x="{x:g}" y="{y:g}">{letters(i)}</text>')
    parts += edges(frame, data)
    label = f"Map of {len(release.centres)} private centres and the private coreset"
    return f'<svg viewBox="0 0 {WIDTH:g} {frame.height:.0f}" role="img" aria-label="{label}">{"".join(parts)}</svg>'


def rings(release: Release, frame: Frame, data: Opened) -> list[str]:
    """Where each centre probably is, where that is determined."""
    radii = release.errors.radii if release.errors is not None and release.errors.radii else ()
    half, (east, north) = data.domain.unit, data.axes
    across = WIDTH / (frame.right - frame.left) * half[east]
    up = 0.0 if north is None else frame.height / (frame.top - frame.bottom) * half[north]
    places = zip(frame(data.flat(release.centres)), radii, strict=False)
    return [
        f'<ellipse class="ring" cx="{x:g}" cy="{y:g}" rx="{radius * across:.1f}" ry="{radius * up:.1f}"/>'
        for (x, y), radius in places
        if radius is not None
    ]


def errors_in_words(release: Release) -> str:
    """How far off the numbers may be, one sentence a line."""
    labels = [letters(i) for i in range(len(release.centres))]
    return "".join(f'<p class="errors">{escape(each)}</p>' for each in words_of(release, labels))


def edges(frame: Frame, data: Opened) -> list[str]:
    """The ends of both axes, so that the picture can be placed."""
    east, north = data.axes
    across = frame.right - frame.left
    name = escape(data.columns[east])
    low = f'<text class="edge" x="6" y="{frame.height - 6:.0f}">{name} {number(frame.left, across)}</text>'
    right = f'<text class="edge" x="{WIDTH - 6:g}" y="{frame.height - 6:.0f}" text-anchor="end">'
    parts = [low, f"{right}{name} {number(frame.right, across)}</text>"]
    if north is not None:
        up, name = frame.top - frame.bottom, escape(data.columns[north])
        parts.append(f'<text class="edge" x="6" y="14">{name} {number(frame.top, up)}</text>')
        parts.append(f'<text class="edge" x="6" y="{frame.height - 22:.0f}">{name} {number(frame.bottom, up)}</text>')
    return parts


def centre_table(release: Release, data: Opened) -> str:
    lower, upper = data.corners()
    head = "".join(f'<th class="right">{escape(name)}</th>' for name in release.columns)
    places = places_in_words(release)
    head += '<th class="right">rows (noisy)</th>' + ("" if places is None else '<th class="place">place</th>')
    doubtful = release.errors.doubtful if release.errors is not None and release.errors.doubtful else ()
    rows = []
    for i, (centre, size) in enumerate(zip(release.centres, sizes_in_words(release), strict=True)):
        cells = "".join(
            f'<td class="right">{number(x, high - low)}</td>' for x, low, high in zip(centre, lower, upper, strict=True)
        )
        doubt = f"; {NOISE}" if i < len(doubtful) and doubtful[i] else ""
        place = "" if places is None else f'<td class="place">{escape(places[i])}</td>'
        rows.append(f'<tr><td>{letters(i)}</td>{cells}<td class="right">{size}{doubt}</td>{place}</tr>')
    return f"<table><tr><th>centre</th>{head}</tr>{''.join(rows)}</table>"


def certificate_table(release: Release) -> str:
    certificate = release.certificate
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
    for zone in certificate.parameters.get("zones", ()):
        promise = f"rows there are promised epsilon = {in_full(zone['epsilon'])}; {zone['rate']:.3g} of them were kept"
        rows.append((f"zone {zone['name']}", promise))
    cells = "".join(f"<tr><th>{escape(name)}</th><td>{escape(value)}</td></tr>" for name, value in rows)
    return f"<table>{cells}</table>"
