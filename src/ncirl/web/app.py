"""The application: routes that check a request, ask the part that knows, and answer.

Nothing is decided here, and nothing is opened: whatever takes more than a moment, or reads what strangers wrote, runs
in a process of its own. Work starts on POST only.
"""

from __future__ import annotations

import re
from asyncio import wrap_future
from collections.abc import AsyncIterator, Collection, Iterable, Iterator
from contextlib import asynccontextmanager
from importlib.resources import files as packaged
from pathlib import Path
from typing import Annotated, Any

from anyio import to_thread
from fastapi import Body, FastAPI, Query, Request
from fastapi import Path as InPath
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import FileResponse, JSONResponse, Response, StreamingResponse
from starlette.staticfiles import StaticFiles

from ncirl.errors import NcirlError
from ncirl.formats.plain import place
from ncirl.web import models
from ncirl.web.desk import Desk
from ncirl.web.events import event_stream, job_events
from ncirl.web.limits import Limits
from ncirl.web.refusals import Refused, in_a_sentence
from ncirl.web.security import LOOPBACK, Guard, problem
from ncirl.web.source import Source

__all__ = ["create_app"]

UPLOADS = "/api/contests"
SLICE = 2**16  # bytes of a download handed over at a time, so that one not taken costs no more
NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_-]+")
LONGEST_NAME = 60
SUMMARY = "Contests with a hidden intent: look at them, solve them, play them, compare defences."
SOLVE, COMPARE = models.SolveRequest(), models.CompareRequest()

ContestId = Annotated[models.Id, InPath(description="Of a contest: as listed, or as whoever opened it was told.")]
JobId = Annotated[models.Id, InPath(description="Of a solve or a comparison, as whoever started it was told.")]


def create_app(
    limits: Limits | None = None,
    *,
    files: Iterable[Source] = (),
    hosts: Collection[str] | None = LOOPBACK,
    warm: bool = True,
) -> FastAPI:
    """Return the application.

    Parameters
    ----------
    limits : Limits, optional
        What visitors may ask for.
    files : iterable of Source
        What to show beside the examples.
    hosts : collection of str, optional
        Names the server may be called by; None for any.
    warm : bool
        Whether to solve the examples when the server starts.
    """
    bounds = limits or Limits()
    desk = Desk(bounds, files)

    @asynccontextmanager
    async def running(_: FastAPI) -> AsyncIterator[None]:
        try:
            await to_thread.run_sync(desk.begin)
            if warm:
                desk.warm()
            yield
        finally:
            await to_thread.run_sync(desk.close)

    app = FastAPI(
        title="ncirl",
        summary=SUMMARY,
        lifespan=running,
        openapi_url="/api/openapi.json",
        docs_url=None,  # these pages load script from elsewhere
        redoc_url=None,
        responses={status: {"model": models.Problem} for status in (400, 403, 408, 413, 421, 422)},
    )
    app.state.desk = desk
    app.add_middleware(Guard, hosts=hosts, limits=bounds, upload=UPLOADS)
    _handle_errors(app)
    _add_contests(app, desk)
    _add_jobs(app, desk)
    _add_play(app, desk)
    _add_page(app)
    return app


def _handle_errors(app: FastAPI) -> None:
    @app.exception_handler(Refused)
    async def refused(_: Request, error: Refused) -> JSONResponse:
        return problem(error.status, str(error))

    @app.exception_handler(NcirlError)
    async def wrong(_: Request, error: NcirlError) -> JSONResponse:
        return problem(422, in_a_sentence(error))

    @app.exception_handler(RequestValidationError)
    async def malformed(_: Request, error: RequestValidationError) -> JSONResponse:
        first = error.errors()[0]
        where = place([step for step in first["loc"] if step not in ("body", "query", "path")])
        return problem(422, f"{where or 'request'}: {first['msg']}", where or None)

    @app.exception_handler(HTTPException)
    async def plain(_: Request, error: HTTPException) -> JSONResponse:
        answer = problem(error.status_code, str(error.detail))
        answer.headers.update(error.headers or {})
        return answer


def _add_contests(app: FastAPI, desk: Desk) -> None:
    missing: dict[int | str, dict[str, Any]] = {404: {"model": models.Problem}}
    busy: dict[int | str, dict[str, Any]] = {429: {"model": models.Problem}}
    uploads = 0

    @app.get(UPLOADS, response_model=models.ContestList, tags=["look"])
    async def contests() -> dict[str, Any]:
        """List the examples; what visitors opened is known to them only."""
        return {"contests": [contest.entry() for contest in desk.contests.examples()]}

    @app.post(
        UPLOADS,
        status_code=201,
        response_model=models.Contest,
        responses=busy,
        tags=["look"],
        openapi_extra={
            "requestBody": {
                "required": True,
                "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
            }
        },
    )
    async def upload(
        request: Request,
        name: Annotated[str, Query(max_length=500, description="The file's name: its ending tells the format.")] = "",
    ) -> dict[str, Any]:
        """Open a game, an attack graph or a policy: the body is the file. Keep the id, it is told to nobody else."""
        nonlocal uploads
        if uploads > desk.limits.queue:  # before anything is read: each may be large
            raise Refused(429, "too many files are waiting to be opened; try again in a minute")
        uploads += 1
        try:
            raw = await request.body()
            return desk.keep(name, raw, await wrap_future(desk.open(name, raw))).view()
        finally:
            uploads -= 1

    @app.get(UPLOADS + "/{contest_id}", response_model=models.Contest, responses=missing, tags=["look"])
    async def contest(contest_id: ContestId) -> dict[str, Any]:
        """Return everything about a contest."""
        return desk.contests.get(contest_id).view()

    @app.get(
        UPLOADS + "/{contest_id}/policy",
        response_class=Response,
        responses={
            **missing,
            200: {"content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}},
            409: {"model": models.Problem},
        },
        tags=["solve"],
    )
    async def policy(contest_id: ContestId) -> StreamingResponse:
        """Return the policy file of a contest that is solved."""
        contest, source = desk.contests.policy(contest_id)
        raw = source.raw or b""
        name = NOT_IN_NAMES.sub("-", contest.title)[:LONGEST_NAME]
        kept = {"Content-Disposition": f'attachment; filename="{name}.ncirl"', "Content-Length": str(len(raw))}
        return StreamingResponse(_slices(raw), media_type="application/octet-stream", headers=kept)

    @app.post(
        UPLOADS + "/{contest_id}/solve",
        status_code=202,
        response_model=models.Started,
        responses={**missing, **busy},
        tags=["solve"],
    )
    async def solve(contest_id: ContestId, asked: Annotated[models.SolveRequest, Body()] = SOLVE) -> dict[str, Any]:
        """Start to solve a contest; what comes of it is a contest of its own."""
        return {"job": desk.solve(contest_id, asked.gap, asked.time_limit).id}

    @app.post(
        UPLOADS + "/{contest_id}/compare",
        status_code=202,
        response_model=models.Started,
        responses={**missing, **busy, 409: {"model": models.Problem}},
        tags=["compare"],
    )
    async def compare(
        contest_id: ContestId, asked: Annotated[models.CompareRequest, Body()] = COMPARE
    ) -> dict[str, Any]:
        """Start to play defenders on the same draws, on a contest that is solved."""
        return {"job": desk.compare(contest_id, asked.attacker, asked.episodes, asked.seed).id}


def _add_jobs(app: FastAPI, desk: Desk) -> None:
    missing: dict[int | str, dict[str, Any]] = {404: {"model": models.Problem}}

    @app.get("/api/jobs/{job_id}", response_model=models.JobView, responses=missing, tags=["jobs"])
    async def job(job_id: JobId) -> dict[str, Any]:
        """Say how far a solve or a comparison is."""
        return desk.jobs.get(job_id).view()

    @app.delete("/api/jobs/{job_id}", response_model=models.JobView, responses=missing, tags=["jobs"])
    async def cancel(job_id: JobId) -> dict[str, Any]:
        """Ask a solve to stop, and what it has found so far becomes a contest; end a comparison."""
        return desk.jobs.cancel(job_id).view()

    @app.get(
        "/api/jobs/{job_id}/events",
        response_class=StreamingResponse,
        responses={**missing, 200: _stream_of("bounds", "point", "end")},
        tags=["jobs"],
    )
    async def events(job_id: JobId) -> StreamingResponse:
        """Send `bounds` of a solve or a `point` of a comparison's curves as they come, then `end` with the job."""
        return event_stream(job_events(desk.jobs.get(job_id)))


def _add_play(app: FastAPI, desk: Desk) -> None:
    unsolved: dict[int | str, dict[str, Any]] = {404: {"model": models.Problem}, 409: {"model": models.Problem}}

    @app.post("/api/play", response_model=models.PlayView, responses=unsolved, tags=["play"])
    async def play(asked: models.PlayRequest) -> Response:
        """Replay a play from its seed and moves, and say where it stands."""
        told = await wrap_future(desk.play(asked.contest, asked.model_dump()))
        return Response(told, media_type="application/json")


def _add_page(app: FastAPI) -> None:
    folder = Path(str(packaged("ncirl.web") / "static"))

    @app.api_route("/", methods=["GET", "HEAD"], include_in_schema=False)
    async def page() -> FileResponse:
        return FileResponse(folder / "index.html")

    app.mount("/static", StaticFiles(directory=folder), name="static")


def _stream_of(*names: str) -> dict[str, Any]:
    """Describe a stream of events; the data of each is JSON."""
    parts = {"event": {"type": "string", "enum": list(names)}, "data": {"type": "string"}}
    schema = {"type": "object", "properties": parts, "required": list(parts)}
    return {"description": "Server-sent events.", "content": {"text/event-stream": {"schema": schema}}}


def _slices(raw: bytes) -> Iterator[bytes]:
    return (raw[at : at + SLICE] for at in range(0, len(raw), SLICE))
