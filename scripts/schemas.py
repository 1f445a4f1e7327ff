"""Write the JSON Schemas of the files that Covey publishes, from the types that it reads and writes them with.

    python scripts/schemas.py

docs/reference/schemas/ holds them; a test compares, and holds real files against them.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec

from covey.published import bounds, release
from covey.published.coreset import files as coresets
from covey.published.levels import files as levels
from covey.published.profile import profile
from covey.published.score import score

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "reference" / "schemas"
KINDS = {
    "release": (release.Document, release.FORMAT, release.VERSION),
    "coreset": (coresets.CoresetDocument, coresets.FORMAT, coresets.VERSION),
    "levels": (levels.Document, levels.FORMAT, levels.VERSION),
    "profile": (profile.Document, profile.FORMAT, profile.VERSION),
    "score": (score.Document, score.FORMAT, score.VERSION),
    "bounds": (bounds.Document, bounds.FORMAT, bounds.VERSION),
}


def schema(kind: str) -> dict[str, Any]:
    """The schema of one kind of file, which also says its format and version."""
    document, name, version = KINDS[kind]
    [made], parts = msgspec.json.schema_components([document], ref_template="#/$defs/{name}")
    own = parts.pop(made["$ref"].rpartition("/")[2])
    for part in (own, *parts.values()):
        part["description"] = " ".join(part["description"].split())
    own["properties"] |= {"format": {"const": name}, "version": {"const": version}}
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **own, "title": name, "$defs": parts}


def text(kind: str) -> str:
    return json.dumps(schema(kind), indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for kind in KINDS:
        (FOLDER / f"{kind}.schema.json").write_text(text(kind))
