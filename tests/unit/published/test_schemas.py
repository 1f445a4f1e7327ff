"""The JSON Schemas of docs/reference/schemas: made from the types, and true of real files."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import jsonschema
import numpy as np
import pandas as pd
import pytest

from covey import Box, KMeans, PrivateCoreset, Release
from covey.levels import fit_levels
from covey.published.bounds import FoundBounds

ROOT = Path(__file__).parents[3]
SPEC = importlib.util.spec_from_file_location("schemas_of_files", ROOT / "scripts" / "schemas.py")
assert SPEC is not None
assert SPEC.loader is not None
schemas = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(schemas)

BOX = Box(lon=(-1, 1), lat=(-1, 1))


def stored(kind: str) -> str:
    return (ROOT / "docs" / "reference" / "schemas" / f"{kind}.schema.json").read_text(encoding="utf-8")


def refused(document: object, kind: str) -> list[str]:
    return [error.message for error in jsonschema.Draft202012Validator(json.loads(stored(kind))).iter_errors(document)]


@pytest.mark.parametrize("kind", schemas.KINDS)
def test_a_schema_is_what_the_types_say(kind):
    assert stored(kind) == schemas.text(kind)
    jsonschema.Draft202012Validator.check_schema(json.loads(stored(kind)))


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> dict[str, list[dict]]:
    """Real files of each kind, from a few rows."""
    folder = tmp_path_factory.mktemp("schemas")
    rows = np.random.default_rng(1).normal(0, 0.2, (300, 2))
    usual = {"epsilon": 1, "bounds": BOX, "random_state": 1}
    KMeans(2, **usual).fit(rows).release_.save(folder / "release.1.json")
    kept = {"keep_synopsis": True}
    KMeans(2, algorithm="grid", algorithm_params=kept, **usual).fit(rows).release_.save(folder / "release.2.json")
    coreset = PrivateCoreset(n_clusters=2, **usual).fit(rows).coreset_
    coreset.save(folder / "coreset.1.json")
    coreset.kmedian(2, fixed=[[0.5, 0.5]], random_state=1).save(folder / "release.3.json")
    fit_levels(rows, bounds=BOX, random_state=1).save(folder / "levels.1.json")
    named = pd.DataFrame(rows, columns=["lon", "lat"]).assign(mode="bike")
    release = Release.load(folder / "release.1.json")
    columns = ["mode=bike|car", "lon"]
    release.profile(named, columns=columns, epsilon=9, random_state=1).save(folder / "profile.1.json")
    release.profile(named, columns=["mode=private"], epsilon=9, delta=1e-6, random_state=1).save(
        folder / "profile.2.json"
    )
    release.score(named, epsilon=1, within=20_000, random_state=1).save(folder / "score.1.json")
    found = FoundBounds({"lon": (0.0, 1.0), "lat": None}, release.certificate)
    (folder / "bounds.1.json").write_bytes(found.to_json())
    return {kind: [json.loads(path.read_text()) for path in sorted(folder.glob(f"{kind}.*"))] for kind in schemas.KINDS}


@pytest.mark.parametrize("kind", schemas.KINDS)
def test_real_files_are_as_their_schema_says(files, kind):
    assert files[kind]
    assert [refused(document, kind) for document in files[kind]] == [[]] * len(files[kind])


@pytest.mark.parametrize("kind", schemas.KINDS)
def test_what_is_not_such_a_file_is_refused(files, kind):
    [document, *_] = files[kind]
    assert refused({**document, "version": 2}, kind)
    assert refused({**document, "certificate": {**document["certificate"], "epsilon": "1"}}, kind)
    assert refused({name: value for name, value in document.items() if name != "statement"}, kind)


def test_the_example_of_the_page_is_as_the_schema_says():
    page = (ROOT / "docs" / "reference" / "release-format.md").read_text(encoding="utf-8")
    assert refused(json.loads(page.partition("```json\n")[2].partition("```")[0]), "release") == []
