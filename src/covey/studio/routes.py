"""The JSON API. A route says what it takes and hands it to the studio; who may ask was decided by the guard before.

Heavy work runs on threads (plain `def`), so that the page stays responsive; only the upload is a coroutine, to stream.
"""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Body, Depends, Path, Query, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import FileResponse, Response

from covey.published.report import POLICY
from covey.studio import bodies
from covey.studio.alternatives import compare_sites, find_sites
from covey.studio.api_page import api_page
from covey.studio.gazetteer import find_places
from covey.studio.places import Asked
from covey.studio.publications import TYPES
from covey.studio.refusals import Json, Refusal
from covey.studio.settings import MOST_K, MOST_ROWS, USUAL_K, USUAL_ROWS
from covey.studio.studio import Studio

router = APIRouter(responses={"4XX": {"model": bodies.Refused, "description": "Refused, in plain words."}})
SANDBOX = f"{POLICY}; sandbox allow-scripts; frame-ancestors 'none'"  # its own script alone, without our origin


def the_studio(request: Request) -> Studio:
    studio: Studio = request.app.state.studio
    return studio


Here = Annotated[Studio, Depends(the_studio)]
Key = Annotated[str, Path(max_length=64)]
Level = Annotated[int, Path(ge=0, le=19)]
FileName = Annotated[str, Path(max_length=100)]
Centres = Annotated[int, Query(ge=1, le=MOST_K, description="Number of centres.")]


def asked(
    level: Level,
    k: Annotated[int, Query(ge=1, le=MOST_K, description="Number of centres.")] = USUAL_K,
    objective: bodies.Objective = "k-means",
    edges: Annotated[bool, Query(description="Whether narrow boxes at the edge help to find centres.")] = True,
) -> Asked:
    """What of a level is to be shown."""
    return level, k, objective, edges


Wanted = Annotated[Asked, Depends(asked)]
Revision = Annotated[int | None, Query(ge=0, description="Of the state that was seen; 409 if it is not the last.")]
MadeUp = Annotated[int, Query(ge=1, le=MOST_ROWS, description="Made-up rows; not published.")]


@router.get("/api/state", tags=["look"])
def state(studio: Here) -> Json:
    """Everything the page needs to start: what is open, the levels and their price, the job, the zones."""
    return Json(studio.state())


@router.get("/api/rehearsal/{level}", tags=["look"])
def rehearsal(studio: Here, wanted: Wanted, rows: MadeUp = USUAL_ROWS) -> Json:
    """A level, bought alone, of so many made-up rows in the same bounds. Nothing is read and nothing is paid."""
    return Json(studio.rehearsal(wanted[0], rows).document((0, *wanted[1:])))


@router.get("/api/rehearsal/{level}/places", tags=["look"])
def rehearsed_places(studio: Here, wanted: Wanted, rows: MadeUp = USUAL_ROWS) -> Json:
    """How far the centres of a rehearsal may be off; while that is found out, the state is "running": ask again."""
    return Json(studio.rehearsal(wanted[0], rows).places.ask((0, *wanted[1:])))


@router.post("/api/look", status_code=202, tags=["look"])
def look(studio: Here, body: bodies.LookBody) -> Json:
    """Pay the price that was shown: for one level alone, or for all up to it. Asked for twice, it is paid once."""
    return Json(studio.look(body.epsilon, alone=body.alone), status_code=202)


@router.get("/api/job/{job}", tags=["look"])
def job_state(studio: Here, job: Key) -> Json:
    """How far the computation is."""
    return Json(studio.job(job).describe())


@router.delete("/api/job/{job}", tags=["look"])
def cancel_job(studio: Here, job: Key) -> Json:
    """Stop the computation. What was charged stays charged."""
    found = studio.job(job)
    found.cancel()
    return Json(found.describe())


@router.get("/api/levels/{level}", tags=["look"])
def level(studio: Here, wanted: Wanted) -> Json:
    """What a level would publish: coreset points, centres, noisy sizes, regions, and what to expect of it. Free."""
    return Json(studio.level(wanted))


@router.get("/api/places/{level}", tags=["look"])
def places(studio: Here, wanted: Wanted) -> Json:
    """How far a level's centres may be off; while reruns find out, the state is "running": ask again. Free."""
    return Json(studio.places(wanted))


@router.get("/api/how-many/{level}", tags=["look"])
def how_many(studio: Here, level: Level, objective: bodies.Objective = "k-means") -> Json:
    """How many clusters a level shows, in words, and what 2 to 20 centres cost with their intervals. Free."""
    return Json(studio.views_of(level).curves.document(level, objective))


@router.get("/api/rehearsal/{level}/how-many", tags=["look"])
def rehearsed_how_many(
    studio: Here, level: Level, objective: bodies.Objective = "k-means", rows: MadeUp = USUAL_ROWS
) -> Json:
    """The same of a rehearsal."""
    return Json(studio.rehearsal(level, rows).curves.document(0, objective))


@router.post("/api/owner", tags=["owner"])
def owner(studio: Here, body: bodies.OwnerBody) -> Json:
    """The owner's view, on or off. Once on, publications say that the level was chosen with sight of raw data."""
    studio.set_owner(body.on)
    return Json(studio.state())


@router.get("/api/owner/centres", tags=["owner"])
def owner_centres(studio: Here, k: Centres = USUAL_K) -> Json:
    """Centres WITHOUT privacy, of at most 100,000 rows; refused unless the owner's view is on."""
    return Json({"centres": studio.owner_centres(k), "private": False})


@router.put("/api/zones", tags=["zones"])
def set_zones(studio: Here, zones: Annotated[dict[str, Any], Body()], revision: Revision = None) -> Json:
    """Regions with a stricter promise: GeoJSON polygons, each with the property `epsilon`. Only before the look."""
    studio.set_zones(zones, revision=revision)
    return Json(studio.state())


@router.delete("/api/zones", tags=["zones"])
def clear_zones(studio: Here, revision: Revision = None) -> Json:
    """Remove the zones. Only before the look."""
    studio.set_zones(None, revision=revision)
    return Json(studio.state())


@router.post("/api/alternatives", tags=["compare"])
def alternatives(studio: Here, body: bodies.AlternativesBody) -> Json:
    """Compare sets of sites on the private coreset of a level. Free, as often as wanted."""
    sets = {str(name): sites for name, sites in body.sets.items()}
    return Json(compare_sites(*studio.coreset(body.level), sets, objective=body.objective, forbidden=body.forbidden))


@router.post("/api/sites", tags=["compare"])
def sites(studio: Here, body: bodies.SitesBody) -> Json:
    """Find the best places for more sites beside those that stand, on the private coreset of a level. Free."""
    return Json(find_sites(*studio.coreset(body.level), **body.model_dump(exclude={"level"})))


@router.post("/api/profile", status_code=201, tags=["look"])
def profile(studio: Here, body: bodies.ProfileBody) -> Json:
    """What is in the clusters of a level, by other columns: a question to the rows, charged and answered at once."""
    asked = (body.level, body.k, body.objective, body.edges)
    found = studio.profile(asked, columns=body.columns, epsilon=body.epsilon, delta=body.delta)
    return Json(found, status_code=201)


@router.post("/api/publish", status_code=201, tags=["publish"])
def publish(studio: Here, body: bodies.PublishBody) -> Json:
    """Write the release, a map layer and a page to send. The look was charged; this costs nothing more."""
    return Json(studio.publish((body.level, body.k, body.objective, body.edges), body.name), status_code=201)


@router.get("/api/publications", tags=["publish"])
def publications(studio: Here) -> Json:
    """Everything in the folder of publications."""
    return Json({"publications": studio.publications.listed()})


@router.get("/api/publications/{publication}/{file}", tags=["publish"])
def publication_file(studio: Here, publication: Key, file: FileName) -> Response:
    """One file of a publication, by the name that GET api/publications tells."""
    content, ending = studio.publications.content(publication, file)
    headers = {"Content-Security-Policy": SANDBOX} if ending == ".html" else {}
    return Response(content, media_type=TYPES[ending], headers=headers)


@router.get("/api/ledger", tags=["publish"])
def ledger(studio: Here) -> Json:
    """What was spent, when, on what; and the publications, which cost nothing beyond the look they are of."""
    return Json(studio.ledger())


@router.post(
    "/api/uploads",
    status_code=201,
    tags=["data"],
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
        }
    },
)
async def upload(request: Request, studio: Here, query: Annotated[bodies.UploadQuery, Query()]) -> Json:
    """Send a file as the body: CSV with a header line, Parquet, or GeoJSON points. Its kind is found by its content."""
    how = query.model_dump(exclude={"name"}, exclude_none=True)
    part = await studio.uploads.receive(query.name, request.stream(), how)
    taken = await run_in_threadpool(studio.uploads.keep, query.name, part, how, in_use=studio.data_in_use)
    return Json({"id": taken.id, "columns": list(taken.columns)}, status_code=201)


@router.get("/api/gazetteer", tags=["data"])
def gazetteer(name: Annotated[str, Query(min_length=2, max_length=80, description="How it begins.")]) -> Json:
    """Places of a name and bounds around them, from a public list: where to look for the data, not where it is."""
    return Json({"places": find_places(name)})


@router.post("/api/open", tags=["data"])
def open_upload(studio: Here, body: bodies.OpenBody) -> Json:
    """Make an upload the open data set. Columns and bounds are declared here; nothing is computed from rows."""
    studio.open_upload(body.upload, body.columns, body.bounds.lower, body.bounds.upper, body.dataset)
    return Json(studio.state())


@router.post("/api/batches", tags=["base station"])
def batch(studio: Here, body: bodies.BatchBody) -> Json:
    """Append rows to the collection. A missing number is null."""
    studio.batches.add(body.points)
    return Json({"accepted": True})


@router.post("/api/batches/close", tags=["base station"])
def close_batches(studio: Here, body: bodies.CloseBody | None = None) -> Json:
    """Make the collection the open data set and begin an empty one."""
    given = body or bodies.CloseBody()
    ends = None if given.bounds is None else (given.bounds.lower, given.bounds.upper)
    studio.close_batches(given.columns, ends, given.dataset)
    return Json(studio.state())


@router.post("/api/releases", tags=["base station"])
def release(studio: Here, body: bodies.ReleaseBody) -> Json:
    """A release of the open data set, charged with its epsilon, as `covey fit` makes it."""
    return Json(studio.release(**body.model_dump()))


@router.post("/api/links", status_code=201, tags=["base station"])
def link(studio: Here, _: bodies.LinkBody | None = None) -> Json:
    """Another address that opens the page once, for another browser."""
    return Json({"address": studio.settings.new_link()}, status_code=201)


@router.get("/api/basemap", tags=["look"])
def basemap(studio: Here) -> Response:
    """The base map that was given on the command line as a file; of tiles, the range of bytes that is asked for."""
    given = studio.settings.basemap
    if given.path is not None:
        return FileResponse(given.path, media_type="application/octet-stream")
    if given.content is None:
        raise Refusal(404, "no base map was given as a file")
    return Json(given.content)


@router.get("/openapi.json", include_in_schema=False)
def openapi(request: Request) -> Json:
    return Json(request.app.openapi())


@router.get("/docs", include_in_schema=False)
def docs(request: Request) -> Response:
    return Response(api_page(request.app.openapi()), media_type="text/html")
