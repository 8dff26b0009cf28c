"""The application: the files of the page, and below /here/ what it asks for. It needs the extra `drivelab[page]`."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Annotated, Any

from fastapi import FastAPI, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import PlainTextResponse, Response, StreamingResponse
from pydantic import BaseModel, ConfigDict, Field
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.types import Receive, Scope, Send

from drivelab import _core
from drivelab.errors import InputError, OutputError, RunError, WithKeys, raw
from drivelab.errors.keys import as_keys
from drivelab.record_library.call import KINDS
from drivelab.report.json_text import json_text
from drivelab.runs.control import Answer
from drivelab.served import sessions, site
from drivelab.served.shelf import Shelf

EVERY_S = 1.0
"""The time between two events of a stream."""
STREAMS_MAX = 16
_TEXT = 200
_NUMBER_MAX = 2**53

Word = Annotated[str, Field(max_length=_TEXT)]
Number = Annotated[int, Field(ge=0, le=_NUMBER_MAX)]


class _Body(BaseModel):
    """What a request may have, and nothing else."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Tagging(_Body):
    """Tags to be put on a record, or taken off."""

    record: Number
    tags: Annotated[list[Word], Field(min_length=1, max_length=20)]
    remove: bool = False


class Comparing(_Body):
    """Records to be compared with the first of them."""

    records: Annotated[list[Number], Field(min_length=2, max_length=26)]
    threshold: Annotated[float, Field(ge=0, le=1e6, allow_inf_nan=False)] | None = None


class Details(_Body):
    """The details of a fault, as `drivelab fault` has them."""

    lba: Number | None = None
    sectors: Number | None = None
    for_: Annotated[Word | None, Field(alias="for")] = None
    by: Word | None = None
    factor: Number | None = None
    over: Word | None = None
    share: Word | None = None
    every: Word | None = None
    during_write: bool = False


class Fault(_Body):
    """A fault to be injected."""

    action: Word
    member: Annotated[int, Field(ge=0, le=65_535)] = 0
    details: Details = Details()


class Served:
    """What is served, and the streams that are open."""

    def __init__(self, shelf: Shelf, given: Sequence[str]) -> None:
        """Serve a library and the sessions of this machine, also those that are given."""
        self.shelf = shelf
        self.given = given
        self.stopping = asyncio.Event()
        self.streams = 0

    def session(self, named: str) -> sessions.Session:
        """A session by what the page calls it. Raises HTTPException."""
        for one in sessions.sessions(self.given):
            if one.id == named:
                return one
        raise HTTPException(404, "this session has ended; the list of sessions has those that are there")

    async def events(self, session: sessions.Session) -> AsyncIterator[str]:
        """What a session does, once in `EVERY_S`, until it ends."""
        before: Answer | None = None
        while not self.stopping.is_set():
            try:
                now = await run_in_threadpool(session.status)
            except (InputError, RunError) as error:
                yield _event("ended", {"error": _words(error)})
                return
            yield _event("moment", sessions.moment(now, before))
            before = now
            try:
                await asyncio.wait_for(self.stopping.wait(), EVERY_S)
            except TimeoutError:
                continue


class _Stream(StreamingResponse):
    """A stream that is counted as long as it lasts."""

    def __init__(self, served: Served, session: sessions.Session) -> None:
        super().__init__(served.events(session), media_type="text/event-stream")
        self.served = served
        served.streams += 1

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self.served.streams -= 1


def application(served: Served, files: dict[str, bytes]) -> FastAPI:
    """The application, without the door before it."""
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
    _add_library(app, served)
    _add_sessions(app, served)
    _add_files(app, files)
    _add_errors(app)
    return app


def _add_library(app: FastAPI, served: Served) -> None:
    @app.get("/here/state")
    def state() -> Response:
        found = {"version": _core.VERSION, "kinds": list(KINDS), "actions": sessions.actions()}
        return _json({**found, "sessions": sessions.listed(served.given)})

    @app.get("/here/library")
    def listed(
        term: Annotated[list[Word], Query(max_length=20)] = [],  # noqa: B006 - it is not changed
        tag: Annotated[list[Word], Query(max_length=20)] = [],  # noqa: B006
        kind: Annotated[Word | None, Query()] = None,
    ) -> Response:
        return _json(served.shelf.listed(term, kind, tag))

    @app.get("/here/library/{number}")
    def content(number: Number) -> Response:
        return PlainTextResponse(served.shelf.content(number))

    @app.post("/here/library/tag")
    def tag(body: Tagging) -> Response:
        return _json(served.shelf.tagged(body.record, body.tags, remove=body.remove))

    @app.post("/here/library/compare")
    def compare(body: Comparing) -> Response:
        return _json(served.shelf.compared(body.records, body.threshold))


def _add_sessions(app: FastAPI, served: Served) -> None:
    @app.get("/here/sessions")
    def listed() -> Response:
        return _json({"sessions": sessions.listed(served.given)})

    @app.get("/here/sessions/{named}/events")
    async def events(named: Word) -> Response:
        if served.streams >= STREAMS_MAX:
            raise HTTPException(
                503, f"{STREAMS_MAX} streams are open, which is the most: close a window of the page"
            )
        return _Stream(served, served.session(named))

    @app.post("/here/sessions/{named}/fault")
    def fault(named: Word, body: Fault) -> Response:
        details = body.details.model_dump(by_alias=True)
        return _json({"told": served.session(named).act(body.action, body.member, details)})


def _add_files(app: FastAPI, files: dict[str, bytes]) -> None:
    @app.api_route("/{name:path}", methods=["GET", "HEAD"])
    async def file(name: str) -> Response:
        if name not in files:
            raise HTTPException(404, "the page has no such file")
        return Response(files[name], media_type=site.TYPES[f".{(name or 'index.html').rpartition('.')[2]}"])


def _add_errors(app: FastAPI) -> None:
    def wrong(status: int) -> Callable[[Request, Exception], Response]:
        return lambda _, error: _json({"error": _words(error)}, status)

    app.add_exception_handler(InputError, wrong(400))
    app.add_exception_handler(OutputError, wrong(500))
    app.add_exception_handler(RunError, wrong(502))

    async def refused(_: Request, error: Exception) -> Response:
        status = error.status_code if isinstance(error, HTTPException) else 500
        return _json({"error": str(getattr(error, "detail", error))}, status)

    async def invalid(_: Request, error: Exception) -> Response:
        found = error.errors() if isinstance(error, RequestValidationError) else []
        texts = [f"{'.'.join(map(str, one['loc'][1:]))}: {one['msg']}" for one in found[:5]]
        return _json({"error": "; ".join(texts)}, 422)

    app.add_exception_handler(HTTPException, refused)
    app.add_exception_handler(RequestValidationError, invalid)


def _words(error: Exception) -> str:
    return as_keys(raw(error)) if isinstance(error, WithKeys) else str(error)


def _json(value: Any, status: int = 200) -> Response:  # noqa: ANN401 - any JSON
    return Response(json_text(value), status, media_type="application/json")


def _event(name: str, value: dict[str, Any]) -> str:
    """An event of a stream. JSON in one line."""
    return f"event: {name}\ndata: {_line(value)}\n\n"


def _line(value: dict[str, Any]) -> str:
    return json.dumps(value, allow_nan=False)
