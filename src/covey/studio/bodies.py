"""The bodies that a client may send, as the OpenAPI document describes them. Unknown fields are refused."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, StringConstraints

from covey.files import MOST_TITLE_LINES
from covey.studio.settings import MOST_K

Name = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=100, pattern=r"^[^\x00-\x1f\x7f]+$")
]
Objective = Literal["k-means", "k-median"]
K = Annotated[int, Field(strict=True, ge=1, le=MOST_K, description="Number of centres.")]
LevelIndex = Annotated[
    int, Field(strict=True, ge=0, le=19, description="Position of the slider, 0 is the most private.")
]
Site = Annotated[list[FiniteFloat], Field(min_length=1, max_length=16)]
Ends = Annotated[list[FiniteFloat], Field(min_length=1, max_length=16)]
Columns = Annotated[
    list[Annotated[str, StringConstraints(min_length=1, max_length=200)]], Field(min_length=1, max_length=16)
]


class Body(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Problem(BaseModel):
    parameter: str | None
    message: str


class Refused(BaseModel):
    """Every error: what is wrong, in plain words, and which parameter is to blame if one is."""

    error: Problem


class UploadQuery(Body):
    """What an upload is called, only to be shown, and how it is to be read where its header does not say it."""

    name: Annotated[str, StringConstraints(max_length=300)] = ""
    delimiter: Annotated[str, StringConstraints(max_length=3)] | None = None
    decimal: Annotated[str, StringConstraints(max_length=1)] | None = None
    header_line: Annotated[int, Field(ge=1, le=MOST_TITLE_LINES)] | None = None
    encoding: Annotated[str, StringConstraints(max_length=40)] | None = None
    sheet: Annotated[str, StringConstraints(max_length=200)] | None = None
    geometry: Annotated[str, StringConstraints(max_length=200)] | None = None


class LookBody(Body):
    """Confirms what is to be paid for: `epsilon` is the price that was shown, that of a level. `alone` pays for this
    level and shows no other; else all levels up to it are shown."""

    confirm: Literal[True]
    alone: Annotated[bool, Field(strict=True)] = False
    epsilon: Annotated[FiniteFloat, Field(strict=True, gt=0, le=10_000)]


class OwnerBody(Body):
    on: Annotated[bool, Field(strict=True)]


class AlternativesBody(Body):
    """Sets of sites by name, [x, y] as on the map, and a region where none may stand (GeoJSON polygons)."""

    level: LevelIndex
    objective: Objective = "k-median"
    sets: Annotated[
        dict[Name, Annotated[list[Site], Field(min_length=1, max_length=100)]], Field(min_length=1, max_length=12)
    ]
    forbidden: dict[str, Any] | None = None


class SitesBody(Body):
    """How many more sites, beside which that stand; anywhere that is not forbidden, or of a list of candidates."""

    level: LevelIndex
    objective: Objective = "k-median"
    more: Annotated[int, Field(strict=True, ge=1, le=20)] = 1
    fixed: Annotated[list[Site], Field(max_length=80)] = []
    candidates: Annotated[list[Site], Field(min_length=1, max_length=1_000)] | None = None
    forbidden: dict[str, Any] | None = None


class PublishBody(Body):
    level: LevelIndex
    k: K
    objective: Objective = "k-means"
    edges: Annotated[bool, Field(strict=True)] = True
    name: Name = "Private centres"


class ProfileBody(Body):
    """What is in the clusters of a level: columns as `covey profile` takes them, charged with an epsilon of its own."""

    confirm: Literal[True]
    level: LevelIndex
    k: K
    objective: Objective = "k-means"
    edges: Annotated[bool, Field(strict=True)] = True
    columns: Annotated[list[Annotated[str, StringConstraints(max_length=4000)]], Field(min_length=1, max_length=64)]
    epsilon: Annotated[FiniteFloat, Field(gt=0, le=10)]
    delta: Annotated[FiniteFloat, Field(gt=0, lt=1)] | None = None


class Bounds(Body):
    """Public limits of each column, known without looking at the rows."""

    lower: Ends
    upper: Ends


class OpenBody(Body):
    """Declares an upload: which of its columns, within which public bounds, charged to which data set."""

    upload: Annotated[str, StringConstraints(max_length=64)]
    columns: Columns | None = None
    bounds: Bounds
    dataset: Name | None = None


class BatchBody(Body):
    points: Annotated[list[Annotated[list[float | None], Field(min_length=1, max_length=16)]], Field(min_length=1)]


class CloseBody(Body):
    """Declares the batches; without bounds, those of the command line hold."""

    columns: Columns | None = None
    bounds: Bounds | None = None
    dataset: Name | None = None


class LinkBody(Body):
    """Nothing needs to be said of a link."""


class ReleaseBody(Body):
    """A release of its own, charged with its epsilon."""

    k: Annotated[int, Field(strict=True, ge=1, le=MOST_K)]
    epsilon: Annotated[FiniteFloat, Field(gt=0, le=10)]
    delta: Annotated[FiniteFloat, Field(gt=0, lt=1)] | None = None
    algorithm: Annotated[str, StringConstraints(max_length=40)] = "auto"
    objective: Objective = "k-means"
