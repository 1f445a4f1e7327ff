"""Errors as a client sees them, {"error": {"parameter", "message"}}: in plain words, never with a value of a row."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import msgspec
from fastapi import Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from covey.errors import BudgetError, CoveyError, LedgerError, ParameterError, place_of
from covey.text import in_commands, printable

USUAL = {
    404: "there is nothing here; GET openapi.json lists what there is",
    405: "this address does not take that method; GET openapi.json lists what it takes",
    400: "the body is not a JSON document",
}


PLAIN = {  # by how the kind of an error begins, as pydantic names it; limits are those that we set
    "missing": "is missing",
    "extra_forbidden": "is not known here",
    "int": "must be a whole number",
    "float": "must be a number",
    "finite_number": "must be a number",
    "bool": "must be true or false",
    "string_type": "must be text",
    "string_too_short": "must have at least {min_length} letters",
    "string_too_long": "must have at most {max_length} letters",
    "string_pattern": "must be one line of text",
    "greater_than_equal": "must be at least {ge}",
    "greater_than": "must be above {gt}",
    "less_than_equal": "must be at most {le}",
    "less_than": "must be below {lt}",
    "too_short": "must have at least {min_length} entries",
    "too_long": "must have at most {max_length} entries",
    "literal_error": "must be {expected}",
    "list": "must be a list",
    "dict": "must be an object with names",
    "model": "must be an object with names",
}


class Json(Response):
    """A JSON document. NaN and infinities become null; nothing is escaped into HTML, which nosniff makes safe."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        return content if isinstance(content, bytes) else msgspec.json.encode(content)


class Refusal(Exception):
    """A request that is refused, with its status and, where one is to blame, the parameter."""

    def __init__(self, status: int, message: str, *, parameter: str | None = None, retry: int | None = None) -> None:
        super().__init__(message)
        self.status, self.message, self.parameter, self.retry = status, message, parameter, retry

    def response(self) -> Json:
        headers = {} if self.retry is None else {"Retry-After": str(self.retry)}
        return Json(body(self.message, self.parameter), status_code=self.status, headers=headers)


def body(message: str, parameter: str | None = None) -> dict[str, Any]:
    return {"error": {"parameter": parameter, "message": printable(in_commands(message))}}


@contextmanager
def one_at_a_time(work: threading.Lock) -> Iterator[None]:
    """Refuse to wait for others who compute a release: ask again."""
    if not work.acquire(blocking=False):
        raise Refusal(429, "another release is being computed; ask again in a moment", retry=1)
    try:
        yield
    finally:
        work.release()


def refusal_of(error: CoveyError) -> Refusal:
    """An error of the library as an answer: 409 where the state or the budget is in the way, 422 else."""
    if isinstance(error, ParameterError):
        words = str(error).removeprefix(f"{error.parameter}: ")
        return Refusal(422, words, parameter=error.parameter)
    return Refusal(409 if isinstance(error, BudgetError | LedgerError) else 422, str(error))


def bug(error: BaseException) -> str:
    """What may be said of an error that nobody foresaw: its kind and place, never its message."""
    place = place_of(error, otherwise="the studio")
    return f"a bug in Covey: {type(error).__name__} in {place}; nothing more is said, for it may hold values"


async def on_refusal(_: Request, error: Exception) -> Response:
    assert isinstance(error, Refusal)
    return error.response()


async def on_covey_error(_: Request, error: Exception) -> Response:
    assert isinstance(error, CoveyError)
    return refusal_of(error).response()


async def on_http_error(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    words = USUAL.get(error.status_code, str(error.detail))
    return Json(body(words), status_code=error.status_code, headers=error.headers)


async def on_invalid(_: Request, error: Exception) -> Response:
    """The first thing that is wrong about a body or a query, without what was in it."""
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    if first["type"] == "json_invalid":
        return Json(body(USUAL[400]), status_code=400)
    where = [str(part) for part in first["loc"] if part not in ("body", "query", "path", "header")]
    return Json(body(in_plain_words(first["type"], first.get("ctx") or {}), named(where)), status_code=422)


def in_plain_words(kind: str, limits: Mapping[str, Any]) -> str:
    """What a validator found, as a person would say it; its own words are for programmers."""
    for beginning, words in PLAIN.items():
        if kind.startswith(beginning):
            return words.format(**limits)
    return "is not what is asked for here"


def named(parts: Sequence[str]) -> str | None:
    """`sets.north` for what is to blame; a name that a client chose is cut short."""
    return ".".join(part[:40] for part in parts[:4]) or None


async def on_bug(_: Request, error: Exception) -> Response:
    return Json(body(bug(error)), status_code=500)
