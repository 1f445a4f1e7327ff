"""The demo: a made-up city of 200,000 people, clustered privately, explained, and drawn.

The city comes from a public generator with a fixed seed: the same streets for everyone, and nobody lives there. It
stands at 0° N 0° E, in the open sea, so that no map mistakes it for a real place. Only the noise is fresh.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from covey.errors import DataError, MissingError, need
from covey.files import write_whole
from covey.fit.fit import fit
from covey.post.kmeans import cost, weighted_kmeans
from covey.post.random import public_rng
from covey.public import Box
from covey.published.release import Release
from covey.published.show import show_centres
from covey.terminal import progress_bar, say
from covey.text import paragraph

Points = NDArray[np.float64]

PEOPLE = 200_000
BOX = Box(lon=(-0.16, 0.16), lat=(-0.10, 0.10))
EPSILON = 1.0
CITY_SEED = 7
RIVER_HALF_WIDTH = 0.0035


@dataclass(frozen=True)
class District:
    """A neighbourhood: its middle, its half-length and half-width in degrees, its direction, its share of people."""

    middle: tuple[float, float]
    length: float
    width: float
    turn: float
    share: float
    block: float  # the distance between its streets


CITY = (
    District((0.000, 0.010), 0.0105, 0.0090, 0.35, 0.27, 0.0020),  # the old town
    District((0.072, -0.034), 0.0170, 0.0070, -0.45, 0.16, 0.0026),  # the harbour, along the river
    District((-0.042, 0.062), 0.0095, 0.0095, 0.00, 0.12, 0.0022),  # the university
    District((-0.112, -0.022), 0.0065, 0.0180, 0.20, 0.10, 0.0036),  # the mills
    District((-0.028, -0.066), 0.0210, 0.0100, 0.10, 0.16, 0.0030),  # the garden suburb
    District((0.104, 0.054), 0.0080, 0.0080, 0.80, 0.12, 0.0024),  # the new towers
    District((0.128, -0.078), 0.0050, 0.0040, 0.30, 0.07, 0.0018),  # a village, small and dense
)
ROADS = ((0, 1), (0, 2), (0, 3), (0, 4), (0, 5), (1, 6), (2, 3), (4, 1), (5, 1))
ON_ROADS, ANYWHERE = 0.06, 0.03


def river(lon: Points) -> Points:
    """The latitude of the middle of the river."""
    return -0.014 - 0.20 * lon + 0.016 * np.sin(38 * lon + 0.6)


def make_city(people: int = PEOPLE, *, seed: int = CITY_SEED) -> Points:
    """Positions (lon, lat) of made-up people: in districts, along roads, a few anywhere; none in the river."""
    rng = public_rng(seed)
    on_roads, anywhere = round(people * ON_ROADS), round(people * ANYWHERE)
    shares = np.array([each.share for each in CITY])
    crowd = rng.multinomial(people - on_roads - anywhere, shares / shares.sum())
    parts = [live_in(district, count, rng) for district, count in zip(CITY, crowd, strict=True)]
    parts.append(drive(on_roads, rng))
    parts.append(rng.uniform([-0.158, -0.098], [0.158, 0.098], size=(anywhere, 2)))
    return off_the_river(np.concatenate(parts), rng)


def live_in(district: District, count: int, rng: Any) -> Points:
    along, across = rng.normal(size=(2, count)) * [[district.length], [district.width]]
    on_a_street = rng.random(count) < 0.6  # the others are in courtyards and gardens
    lengthwise = rng.random(count) < 0.5
    jitter = rng.normal(scale=district.block / 16, size=count)
    across = np.where(on_a_street & lengthwise, street(across, district.block) + jitter, across)
    along = np.where(on_a_street & ~lengthwise, street(along, district.block) + jitter, along)
    cos, sin = np.cos(district.turn), np.sin(district.turn)
    return np.stack([along * cos - across * sin, along * sin + across * cos], axis=1) + district.middle


def street(place: Points, block: float) -> Points:
    return np.rint(place / block) * block


def road(start: int, end: int, steps: Points) -> Points:
    """Points along a gently bent road between two districts."""
    a, b = np.array(CITY[start].middle), np.array(CITY[end].middle)
    bend = np.array([a[1] - b[1], b[0] - a[0]]) * 0.12 * (-1) ** (start + end)
    return a + steps[:, None] * (b - a) + (4 * steps * (1 - steps))[:, None] * bend


def drive(count: int, rng: Any) -> Points:
    which = rng.integers(len(ROADS), size=count)
    places = rng.random(count)
    points = np.empty((count, 2))
    for i, (start, end) in enumerate(ROADS):
        points[which == i] = road(start, end, places[which == i])
    return points + rng.normal(scale=0.0004, size=points.shape)


def off_the_river(points: Points, rng: Any) -> Points:
    """Whoever would stand in the water stands on the nearer bank."""
    away = points[:, 1] - river(points[:, 0])
    bank = np.where(away < 0, -1, 1) * (RIVER_HALF_WIDTH + rng.exponential(0.0008, size=len(points)))
    moved = points.copy()
    moved[:, 1] = np.where(np.abs(away) < RIVER_HALF_WIDTH, points[:, 1] - away + bank, points[:, 1])
    return moved


def run(folder: str | os.PathLike[str], *, seed: int | None = None) -> Release:
    """Make the city, cluster it privately, explain the result, and write release.json, centres.geojson and map.png."""
    target = make_folder(folder)
    points = make_city()
    with progress_bar(show=True) as progress:
        asked: dict[str, Any] = {"k": len(CITY), "epsilon": EPSILON, "bounds": BOX, "errors": "full"}
        release = fit(points, **asked, random_state=seed, progress=progress)
    release = largest_first(release)
    files = {"release.json": release.to_json(), "centres.geojson": geojson(release)}
    drawing = draw(release, points)
    if drawing is not None:
        files["map.png"] = drawing
    for name, content in files.items():
        write_whole(target / name, content)
    explain(release, how_far_off(release, points), [str(target / name) for name in files])
    return release


def make_folder(folder: str | os.PathLike[str]) -> Path:
    target = Path(folder)
    try:
        target.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"out: cannot make the folder {str(target)!r}: {error.strerror}") from None
    if not os.access(target, os.W_OK):
        raise DataError(f"out: cannot write to the folder {str(target)!r}")
    return target


def largest_first(release: Release) -> Release:
    """The same release, its centres in order of their noisy sizes."""
    import msgspec

    sizes = release.sizes or [0.0] * len(release.centres)
    order = sorted(range(len(sizes)), key=lambda i: -sizes[i])
    return msgspec.structs.replace(
        release,
        centres=[release.centres[i] for i in order],
        sizes=[sizes[i] for i in order],
        errors=None if release.errors is None else release.errors.in_order(order),
    )


def geojson(release: Release) -> bytes:
    return (json.dumps(release.to_geojson(), indent=2) + "\n").encode()


def draw(release: Release, points: Points) -> bytes | None:
    """The map, or None where matplotlib is not installed."""
    from covey.published.draw import city_map

    lon = np.linspace(*BOX.ranges[0], 400)
    steps = np.linspace(0, 1, 60)
    try:
        need("plot", "map.png")
        return city_map(
            release,
            letters=letters(release),
            made_up_points=points,
            river=np.stack([lon, river(lon)], axis=1),
            river_half_width=RIVER_HALF_WIDTH,
            roads=[road(start, end, steps) for start, end in ROADS],
        )
    except MissingError as missing:
        say(str(missing))
        return None


def how_far_off(release: Release, points: Points) -> float:
    """How much larger the cost is than that of k-means without privacy. Only made-up data may be asked this."""
    middle, unit = release.scale()

    def scaled(places: Any) -> Points:
        return (np.asarray(places) - middle) / unit

    rows, ones, centres = scaled(points), np.ones(len(points)), scaled(release.centres)
    starts = np.stack([centres, scaled([district.middle for district in CITY])])
    best = weighted_kmeans(rows, ones, k=len(CITY), lower=[-1, -1], upper=[1, 1], starts=starts)
    return cost(rows, ones, centres) / best.cost - 1


def letters(release: Release) -> Sequence[str]:
    return "ABCDEFGHIJKLMNOPQRSTUVWXYZ"[: len(release.centres)]


def explain(release: Release, loss: float, files: Sequence[str]) -> None:
    """The result in the words of a city planner."""
    k, factor = len(release.centres), np.exp(EPSILON)
    worse = f"{loss:.2%}" if loss >= 0.0001 else "less than 0.01%"
    write(
        f"A made-up city of {PEOPLE:,} people, each of whom sent one GPS position. Where are its {k} centres of life? "
        "Covey answers without giving anyone away."
    )
    show_centres(release, unit="people", names=letters(release))
    write(
        "\nEach centre is a place around which people live; its number says about how many belong to it. Both are a "
        "little wrong on purpose: the noise is what hides each person; how wrong, the release says itself. Here the "
        f"{k} places serve the city {worse} "
        "worse than the best that looking at everyone could find. (Only a made-up city may be asked that.)"
    )
    write(
        "What was promised to each person: these files would look almost the same if you had never sent your position. "
        f"No result becomes more than {factor:.2f} times as likely, or as unlikely, because of you, whatever else "
        "the reader knows. Even the number of people is hidden."
    )
    write(
        "How to use it: publish the files, put them on a map, compute with them as you like; that reveals nothing "
        "more. But asking the same people again spends privacy again: on real data, keep a ledger (covey ledger init)."
    )
    write(f"The certificate says: {release.certificate.statement}")
    sys.stdout.write(f"Wrote {', '.join(files)}\n")


def write(text: str) -> None:
    """A paragraph and an empty line."""
    gap = "\n" if text.startswith("\n") else ""
    sys.stdout.write(f"{gap}{paragraph(text)}\n\n")
