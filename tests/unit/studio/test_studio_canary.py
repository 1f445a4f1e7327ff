"""No raw row and no exact count leaves the studio without the owner's switch; and no request that fits the OpenAPI
document, or half fits it, is answered with a server error, slowly, or with a value of a row."""

from __future__ import annotations

import json
import re
import time
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from studio_client import Asking, asking, csv_of, town

CANARY = (-73.987654321, 40.765432109)
ROWS = 1237
TEXT = "Covert-Quail-7391"
FORMS = {
    "longitude": re.compile(r"73\.987654"),
    "latitude": re.compile(r"40\.765432"),
    "exact count": re.compile(rf"(?<![0-9a-f.]){ROWS}(?![0-9a-f])(?!\.0*[1-9])"),
    "text": re.compile(TEXT),
}


def rows(every: int = 50) -> np.ndarray:
    """A few rows in one place: too few to be a centre of their own."""
    points = town(ROWS)
    points[::every] = CANARY
    return points


def traces(text: str) -> list[str]:
    return [name for name, form in FORMS.items() if form.search(text)]


def test_the_search_can_find():
    assert traces(json.dumps(rows().tolist())) == ["longitude", "latitude"]
    assert traces('{"rows": 1237}') == traces('{"rows": 1237.0}') == ["exact count"]
    assert traces(f"at {TEXT}") == ["text"]
    assert traces('{"id": "a1237f", "size": 1236, "x": 0.1237, "y": 1237.7}') == []


CHANCY = ("api/releases", "api/levels", "api/publi", "api/alternatives", "api/sites")


class Overhearing(Asking):
    """Searches every answer."""

    chance = False  # whether noisy numbers may happen to be exact ones: with an epsilon of 10 there is hardly any noise

    def ask(self, method: str, path: str, **more: Any) -> Any:
        answer = super().ask(method, path, **more)
        told = {name: value for name, value in answer.headers.items() if name != "content-length"}  # may be 1237
        heard, found = answer.text + json.dumps(told), []
        if not (self.chance and answer.status_code < 300 and path.startswith(CHANCY)):
            found = traces(heard)
        assert found == [], (method, path, heard[:300])
        return answer


def overhearing(tmp_path, **changes) -> Overhearing:
    """Seeded, so that no noisy number happens to be the exact one."""
    given_settings = {"seed": 11, "allow_seeded": True, "data": rows(), **changes}
    studio = asking(tmp_path, **given_settings)
    studio.__class__ = Overhearing
    return studio  # type: ignore[return-value]


def test_no_answer_holds_a_row_or_an_exact_count(tmp_path):
    studio = overhearing(tmp_path, data=csv_of(rows(), tmp_path / "x.csv"))
    studio.look()
    for objective in ("k-means", "k-median"):
        for level in range(5):
            for k in (1, 3):
                assert studio.get(f"api/levels/{level}?k={k}&objective={objective}").status_code == 200
    sets = {"a": [[-74.0, 40.8]], "b": [[-74.05, 40.75], [-73.95, 40.74]]}
    for objective in ("k-means", "k-median"):
        assert studio.post("api/alternatives", {"level": 4, "objective": objective, "sets": sets}).status_code == 200
        assert studio.post("api/sites", {"level": 4, "objective": objective, "fixed": sets["b"]}).status_code == 200
    made = studio.post("api/publish", {"level": 4, "k": 5}).json()
    for file in made["files"]:
        assert studio.get(file["url"]).status_code == 200
    for path_ in ("", "docs", "openapi.json", "api/state", "api/ledger", "api/publications", "api/owner/centres"):
        studio.get(path_)
    assert studio.post("api/releases", {"k": 3, "epsilon": 1.0}).status_code == 200


def test_no_answer_repeats_what_was_uploaded_or_sent(tmp_path):
    studio = overhearing(tmp_path)
    table = csv_of(rows(), tmp_path / "x.csv").read_text()
    lines = table.splitlines()
    named = "\n".join(["lon,lat,who", *(f"{line},{TEXT}" for line in lines[1:])])
    features = [
        {"type": "Feature", "geometry": {"type": "Point", "coordinates": each}, "properties": {"who": TEXT}}
        for each in rows().tolist()
    ]
    bodies = [
        table,
        named,
        "\n".join(lines[1:]),  # no header line: the first row
        "\n".join(named.splitlines()[1:]),
        table + f'"{TEXT}',
        json.dumps({"type": "FeatureCollection", "features": features}),
        json.dumps({"type": "FeatureCollection", "features": features})[:-3],
        json.dumps({"type": TEXT, "features": features}),
    ]
    for body in bodies:
        answer = studio.ask("POST", "api/uploads?name=a.csv", content=body.encode())
        if answer.status_code == 201:
            bounds = {"lower": [-74.1, 40.7], "upper": [-73.9, 40.9]}
            opened = {"upload": answer.json()["id"], "columns": ["lon", "lat"], "bounds": bounds}
            assert studio.post("api/open", opened).status_code == 200
            studio.look()
            studio.get("api/levels/4?k=3")
            wrong = {**opened, "columns": ["lon", "who"]}
            assert studio.post("api/open", wrong).status_code == 422
    points = rows().tolist()
    assert studio.post("api/batches", {"points": points}).json() == {"accepted": True}
    for bad in ([*points, [1.0]], [*points, [TEXT, 1.0]], [[TEXT]], {TEXT: points}):
        assert studio.post("api/batches", {"points": bad}).status_code == 422
    studio.post("api/batches/close", {"bounds": {"lower": [-74.1, 40.7], "upper": [-73.9, 40.9]}})
    studio.look()
    studio.get("api/levels/4?k=3")


def test_with_the_switch_on_only_centres_are_added(tmp_path):
    studio = asking(tmp_path, data=rows(every=3), seed=11)
    studio.post("api/owner", {"on": True})
    assert traces(studio.get("api/owner/centres?k=1").text) == []
    assert "longitude" in traces(studio.get("api/owner/centres?k=7").text), "a third of all rows stand in one place"
    assert traces(studio.get("api/state").text) == []


# --- fuzz -------------------------------------------------------------------------------------------------------------

NUMBERS = st.sampled_from([0, 1, -1, 2.0, 2, 5, 40.8, -74.0, 0.5, 1e-300, 1e300, 2**63, 10**30, -0.0, 1.5])
TEXTS = st.one_of(
    st.sampled_from(
        ["", "a", "k-means", "auto", "lloyd", "max-cover", "..", "../x", "\u0000", "é" * 50, "x" * 400, "NaN"]
    ),
    st.text(max_size=8),
)
CALM = st.sampled_from([2.0, 0.5, 1, -74.0, 40.8, -73.95])
ANYTHING = st.recursive(
    st.one_of(st.none(), st.booleans(), NUMBERS, TEXTS),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(TEXTS, inner, max_size=3)),
    max_leaves=8,
)
RING = [[-74.06, 40.74], [-74.04, 40.74], [-74.04, 40.76], [-74.06, 40.74]]


def geojson() -> st.SearchStrategy[Any]:
    """Polygons that are nearly right."""
    rings = st.one_of(st.just([RING]), st.just(RING), ANYTHING)
    geometry = st.fixed_dictionaries(
        {"type": st.sampled_from(["Polygon", "MultiPolygon", "Point"]), "coordinates": rings}
    )
    properties = st.one_of(st.fixed_dictionaries({"epsilon": st.one_of(NUMBERS, ANYTHING)}), ANYTHING)
    feature = st.fixed_dictionaries({"type": st.just("Feature"), "geometry": geometry, "properties": properties})
    features = st.lists(st.one_of(feature, ANYTHING), max_size=3)
    good = {"type": "Feature", "geometry": {"type": "Polygon", "coordinates": [RING]}, "properties": {"epsilon": 0.5}}
    features = st.one_of(st.just([good]), features)
    return st.fixed_dictionaries({"type": st.just("FeatureCollection"), "features": features})


def shaped(schema: dict[str, Any], document: dict[str, Any], *, wild: bool) -> st.SearchStrategy[Any]:
    """Values of a schema; if wild, sometimes anything at all in the place of a part."""
    name = schema.get("$ref", "").rpartition("/")[2]
    one = document["components"]["schemas"][name] if name else schema
    if "anyOf" in one:
        good: st.SearchStrategy[Any] = st.one_of([shaped(each, document, wild=wild) for each in one["anyOf"]])
    elif "const" in one or "enum" in one:
        good = st.sampled_from(one.get("enum") or [one["const"]])
    elif "properties" in one:
        fields = {key: shaped(each, document, wild=wild) for key, each in one["properties"].items()}
        needed = set(one.get("required", ()))
        good = st.fixed_dictionaries(
            {key: each for key, each in fields.items() if key in needed},
            optional={key: each for key, each in fields.items() if key not in needed},
        )
    elif one.get("type") == "array":
        inner = one.get("items", {})
        least, most = (2, 2) if inner.get("type") == "number" and not wild else (min(2, one.get("minItems", 0)), 3)
        good = st.lists(shaped(inner, document, wild=wild), min_size=least, max_size=most)
    elif "patternProperties" in one:
        names = TEXTS if wild else st.sampled_from("abc")
        values = next(iter(one["patternProperties"].values()))
        good = st.dictionaries(names, shaped(values, document, wild=wild), min_size=1, max_size=3)
    elif one.get("type") == "object":
        good = geojson()
    elif one.get("type") == "integer":
        good = st.integers(int(one.get("minimum", -3)), min(6, int(one.get("maximum", 9))))
    else:
        kinds = {"number": NUMBERS if wild else CALM, "string": TEXTS, "boolean": st.booleans(), "null": st.none()}
        good = kinds.get(one.get("type", ""), ANYTHING)
    return st.one_of(good, good, good, good, good, ANYTHING) if wild else good


@pytest.fixture(scope="module")
def fuzzed(tmp_path_factory):
    """A studio before its look and one after it."""
    before = overhearing(tmp_path_factory.mktemp("before"))
    after = overhearing(tmp_path_factory.mktemp("after"))
    after.look()
    made = after.post("api/publish", {"level": 2, "k": 3}).json()
    before.chance = after.chance = True
    return before, after, made["id"], after.get("openapi.json").json()


@settings(max_examples=200, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_no_request_breaks_the_studio(fuzzed, data):
    before, after, publication, document = fuzzed
    path = data.draw(st.sampled_from(sorted(document["paths"])))
    method = data.draw(st.sampled_from(sorted(document["paths"][path])))
    operation = document["paths"][path][method]
    query, wild = {}, data.draw(st.booleans())
    for parameter in operation.get("parameters", ()):
        value = data.draw(shaped(parameter["schema"], document, wild=wild))
        if parameter["in"] == "path":
            known = st.sampled_from([publication, "release.json", "report.html", "0", "4"])
            text = data.draw(st.one_of(known, st.just(str(value))))
            path = path.replace(f"{{{parameter['name']}}}", quoted(text) or "x")
        elif data.draw(st.booleans()):
            query[parameter["name"]] = str(value).encode("utf-8", "replace").decode()
    more: dict[str, Any] = {"params": query} if query else {}
    for kind, body in operation.get("requestBody", {}).get("content", {}).items():
        if kind == "application/json":
            more["content"] = json.dumps(data.draw(shaped(body["schema"], document, wild=wild))).encode()
            more["headers"] = {"Content-Type": kind}
        else:
            start = data.draw(st.sampled_from([b"", b"lon,lat\n", b"PAR1", b'{"type":', b"a,a\n1,2\n"]))
            more["content"] = start + data.draw(st.binary(max_size=40))
    for studio in (before, after) if path != "/api/look" else (after,):  # one of them stays before its look
        began = time.process_time()
        answer = studio.ask(method.upper(), path.removeprefix("/"), **more)
        assert answer.status_code < 500, (method, path, more, answer.text)
        assert time.process_time() - began < 5
        if answer.status_code >= 400:
            assert set(answer.json()["error"]) == {"parameter", "message"}
            assert 0 < len(answer.json()["error"]["message"]) < 600
        if path == "/api/owner":
            studio.post("api/owner", {"on": False})


def quoted(text: str) -> str:
    from urllib.parse import quote

    return quote(text.encode("utf-8", "replace"), safe="")
