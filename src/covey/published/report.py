"""What is published as one page to send: a map that moves, centres, the promise. One file that asks for nothing else.

The page's policy lets it run the script that it holds, and load or send nothing; without the script the map, the table
and the promise are there all the same.
"""

from __future__ import annotations

import hashlib
from base64 import b64encode
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

from covey.published.certificate import Certificate, in_full
from covey.published.coreset.coreset import Coreset
from covey.published.counted import counted_words, rows_of, sizes_in_words
from covey.published.page.ground import Ground, ground_of
from covey.published.page.mine import answers, asks, in_odds, questions
from covey.published.page.picture import densities, legend, picture
from covey.published.places import places_in_words
from covey.published.plane import Plane
from covey.published.release import Release
from covey.published.sentences import (
    NOISE,
    centre_labels,
    hollow,
    marks_in_words,
    words_of,
)
from covey.published.show import coordinates_in_words

HERE = Path(__file__).parent / "page"
STYLE, SCRIPT = ((HERE / each).read_text(encoding="utf-8") for each in ("page.css", "page.js"))
SEEDED = '<p class="warning">Made with a known seed: not private. For tests only.</p>'


def hashed(text: str) -> str:
    """What a policy calls a script or a style that may be used."""
    return f"'sha256-{b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


POLICY = (
    f"default-src 'none'; script-src {hashed(SCRIPT)}; style-src {hashed(STYLE)}; img-src data:; base-uri 'none'; "
    "form-action 'none'"
)


def report(
    published: Release | Coreset,
    plane: Plane,
    *,
    name: str,
    about: str,
    coreset: Coreset | None = None,
    meaning: str = "",
    labels: Sequence[str] | None = None,
    zones: Sequence[dict[str, Any]] = (),
    ground: Ground | None = None,
) -> bytes:
    """The whole page. Every text that came from a client or a file is escaped.

    about : a line below the name. coreset : points that are drawn with the centres of a release. meaning : of a level.
    zones : GeoJSON features of public zones. ground : what lies under the map, if not the outlines that are installed.
    """
    certificate = published.certificate
    release = published if isinstance(published, Release) else None
    points = published if isinstance(published, Coreset) else coreset
    under = ground or (ground_of(plane.frame) if plane.geographic else None)
    drawn = picture(release, points, plane, labels, ground=under, zones=zones)
    words = caption(release, points, plane, zoned=bool(zones))
    credit = "" if under is None else f'<p class="soft">{escape(under.credit)}</p>'
    level = f"<p>{escape(meaning)}</p>" if meaning else ""
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="{POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer"><link rel="icon" href="data:,">
<title>{escape(name)}</title><style>{STYLE}</style></head><body class="covey"><main>
<h1>{escape(name)}</h1>
<p class="soft">{escape(about)}</p>{SEEDED if certificate.seeded else ""}
<figure>{drawn}<figcaption>{legend(points, plane)}{words}</figcaption></figure>
{"" if release is None else centres_in_words(release, plane, labels)}
<h2>What was promised</h2>{odds_in_words(certificate)}<p class="promise">{escape(certificate.statement)}</p>
{level}<details><summary>Details for the record</summary>{certificate_table(certificate)}</details>
<p class="soft">Anyone may use, combine and publish this page: nothing computed from it weakens the promise.</p>{credit}
</main><script>{SCRIPT}</script></body></html>
""".encode(errors="replace")


def odds_in_words(certificate: Certificate) -> str:
    lines = "".join(f'<li class="odds">{escape(each)}</li>' for each in in_odds(certificate))
    return f"<ul>{lines}</ul>" if lines else ""


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


def centres_in_words(release: Release, plane: Plane, labels: Sequence[str] | None) -> str:
    """Which centre is mine, the table of the centres, and how far off its numbers may be."""
    names = labels or centre_labels(release)
    ask = questions(plane) + answers(release, plane, names) if asks(release) else ""
    return f"""{ask}<h2>The centres</h2><div class="scroll">{centre_table(release, labels)}</div>
<p class="soft">Numbers of rows are noisy: the noise is what protects each person.</p>
{errors_in_words(release, labels)}"""


def caption(release: Release | None, points: Coreset | None, plane: Plane, *, zoned: bool) -> str:
    """What the map shows, in words."""
    boxes = points is not None and densities(points, plane) is not None
    words = ["Boxes: how dense rows are; what noise hides is left out."] if boxes else []
    words += ["Dots: weighted points that stand for the rows."] if points is not None and not boxes else []
    if release is not None:
        words.append("Discs: the centres.")
        words += ["Lines: which places are nearest to which centre."] if len(plane.columns) == 2 else []
        words += marks_in_words(release)
    words += ["Broken lines: zones, where rows are protected more strictly."] if zoned else []
    words += [] if release is not None or points is None else counted_words(points.certificate)
    words += [] if len(plane.columns) == 2 else [f"Drawn by {' and '.join(plane.names)}."]
    return escape(" ".join(words))


def letters(i: int) -> str:
    """A to Z, then AA, AB, and so on."""
    return (letters(i // 26 - 1) if i >= 26 else "") + "ABCDEFGHIJKLMNOPQRSTUVWXYZ"[i % 26]


def errors_in_words(release: Release, labels: Sequence[str] | None) -> str:
    """How far off the numbers may be, one sentence a line."""
    return "".join(f'<p class="errors">{escape(each)}</p>' for each in words_of(release, labels))


def centre_table(release: Release, labels: Sequence[str] | None = None) -> str:
    columns = coordinates_in_words(release)
    head = "".join(f'<th class="right">{escape(name)}</th>' for name in columns)
    places = places_in_words(release)
    head += f'<th class="right">{rows_of(release.certificate)} (noisy)</th>' + (
        "" if places is None else '<th class="place">place</th>'
    )
    rows = []
    told = zip(labels or centre_labels(release), sizes_in_words(release), strict=True)
    for i, (label, size) in enumerate(told):
        cells = "".join(f'<td class="right">{words[i]}</td>' for words in columns.values())
        doubt = f"; {NOISE}" if hollow(release, i) else ""
        place = "" if places is None else f'<td class="place">{escape(places[i])}</td>'
        rows.append(f'<tr data-centre="{i}"><td>{label}</td>{cells}<td class="right">{size}{doubt}</td>{place}</tr>')
    return f"<table><tr><th>centre</th>{head}</tr>{''.join(rows)}</table>"


def certificate_table(certificate: Certificate) -> str:
    leaves = certificate.leaves()  # of a merge, the releases that it joins
    told = (each.parameters.get("choice") for each in (certificate, *leaves))
    choices = list(dict.fromkeys(each for each in told if isinstance(each, str)))  # of a level, or of any part
    facts = {
        "epsilon": in_full(certificate.epsilon),
        "delta": in_full(certificate.delta),
        "neighbouring data sets": certificate.neighbours,
        "a person is": certificate.person,
        "algorithm": certificate.algorithm,
        **({"how it was chosen": "; ".join(choices)} if choices else {}),
        "data set": "; ".join(dict.fromkeys(each.dataset or "not named" for each in leaves)),
        "ledger": "; ".join(
            dict.fromkeys("none was kept" if each.receipt is None else f"receipt {each.receipt}" for each in leaves)
        ),
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
