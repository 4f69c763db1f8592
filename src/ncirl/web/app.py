"""The application: routes that check a request, ask the part that knows, and answer.

Nothing is decided here. Whatever takes more than a moment runs in a thread or a worker process.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Iterable
from contextlib import asynccontextmanager
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any

from anyio import CapacityLimiter, to_thread
from fastapi import Body, FastAPI, Query, Request
from fastapi import Path as InPath
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import FileResponse, JSONResponse, Response, StreamingResponse
from starlette.staticfiles import StaticFiles

from ncirl.errors import NcirlError
from ncirl.formats.plain import place
from ncirl.web import models
from ncirl.web.compare import Opponent
from ncirl.web.desk import Desk
from ncirl.web.events import comparison_events, event_stream, job_events
from ncirl.web.limits import MOST_EPISODES, Limits
from ncirl.web.opening import Opened
from ncirl.web.play import Asked
from ncirl.web.refusals import Refused, in_a_sentence
from ncirl.web.security import LOOPBACK, Guard, problem, too_large
from ncirl.web.view import contest_entry, contest_view, play_view

__all__ = ["create_app"]

UPLOADS = "/api/contests"
PLAYERS = 2  # threads that play: more would only wait for each other
SUMMARY = "Contests with a hidden intent: look at them, solve them, play them, compare defences."
DEFAULTS = models.SolveRequest()

ContestId = Annotated[models.Id, InPath(description="Of a contest, as listed.")]
JobId = Annotated[models.Id, InPath(description="Of a solve.")]


def create_app(
    limits: Limits | None = None,
    *,
    opened: Iterable[Opened] = (),
    hosts: Collection[str] | None = LOOPBACK,
    warm: bool = True,
) -> FastAPI:
    """Return the application.

    Parameters
    ----------
    limits : Limits, optional
        What visitors may ask for.
    opened : iterable of Opened
        Files to show beside the examples.
    hosts : collection of str, optional
        Names the server may be called by; None for any.
    warm : bool
        Whether to solve the examples when the server starts.
    """
    bounds = limits or Limits()
    desk = Desk(bounds, opened)

    @asynccontextmanager
    async def running(_: FastAPI) -> AsyncIterator[None]:
        if warm:
            desk.warm()
        try:
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
        responses={status: {"model": models.Problem} for status in (400, 403, 413, 421, 422)},
    )
    app.state.desk = desk
    app.add_middleware(Guard, hosts=hosts, body=bounds.body, upload=UPLOADS)
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
    openers = CapacityLimiter(1)
    missing: dict[int | str, dict[str, Any]] = {404: {"model": models.Problem}}

    @app.get(UPLOADS, response_model=models.ContestList, tags=["look"])
    async def contests() -> dict[str, Any]:
        """List what can be looked at."""
        return {"contests": [contest_entry(contest) for contest in desk.contests.all()]}

    @app.post(
        UPLOADS,
        status_code=201,
        response_model=models.Contest,
        responses={429: {"model": models.Problem}},
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
        """Open a game, an attack graph or a policy: the body is the file."""
        raw = await _body(request, desk.limits.upload)
        if openers.statistics().tasks_waiting >= desk.limits.queue:
            raise Refused(429, "too many files are waiting to be opened; try again in a minute")
        return await to_thread.run_sync(lambda: contest_view(desk.open(name, raw)), limiter=openers)

    @app.get(UPLOADS + "/{contest_id}", response_model=models.Contest, responses=missing, tags=["look"])
    def contest(contest_id: ContestId) -> dict[str, Any]:
        """Return everything about a contest."""
        return contest_view(desk.contests.get(contest_id))

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
    async def policy(contest_id: ContestId) -> Response:
        """Return the policy file of a contest that is solved."""
        raw = desk.contests.arena(contest_id).raw
        kept = {"Content-Disposition": f'attachment; filename="{contest_id}.ncirl"'}
        return Response(raw, media_type="application/octet-stream", headers=kept)

    @app.post(
        UPLOADS + "/{contest_id}/solve",
        status_code=202,
        response_model=models.Started,
        responses={**missing, 429: {"model": models.Problem}},
        tags=["solve"],
    )
    def solve(contest_id: ContestId, settings: Annotated[models.SolveRequest, Body()] = DEFAULTS) -> dict[str, Any]:
        """Start to solve a contest; what comes of it is a contest of its own."""
        return {"job": desk.solve(contest_id, settings.gap, settings.time_limit).id}


def _add_jobs(app: FastAPI, desk: Desk) -> None:
    missing: dict[int | str, dict[str, Any]] = {404: {"model": models.Problem}}

    @app.get("/api/jobs/{job_id}", response_model=models.JobView, responses=missing, tags=["solve"])
    async def job(job_id: JobId) -> dict[str, Any]:
        """Say how far a solve is."""
        return desk.jobs.get(job_id).view()

    @app.delete("/api/jobs/{job_id}", response_model=models.JobView, responses=missing, tags=["solve"])
    async def cancel(job_id: JobId) -> dict[str, Any]:
        """Ask a solve to stop; what it has found so far becomes a contest."""
        return desk.jobs.cancel(job_id).view()

    @app.get(
        "/api/jobs/{job_id}/events",
        response_class=StreamingResponse,
        responses={**missing, 200: _stream_of("bounds", "end")},
        tags=["solve"],
    )
    async def events(job_id: JobId) -> StreamingResponse:
        """Send `bounds` as they are found, then `end` with the solve as it ended."""
        return event_stream(job_events(desk.jobs.get(job_id)))


def _add_play(app: FastAPI, desk: Desk) -> None:
    players = CapacityLimiter(PLAYERS)
    unsolved: dict[int | str, dict[str, Any]] = {404: {"model": models.Problem}, 409: {"model": models.Problem}}

    @app.post("/api/play", response_model=models.PlayView, responses=unsolved, tags=["play"])
    async def play(asked: models.PlayRequest) -> JSONResponse:
        """Replay a play from its seed and moves, and say where it stands."""
        moves = tuple(tuple(move) if isinstance(move, list) else move for move in asked.moves)
        wanted = Asked(desk.contests.arena(asked.contest), asked.role, asked.intent, asked.seed, moves)

        def answer() -> JSONResponse:
            return JSONResponse(play_view(desk.plays.replay(wanted)))

        return answer() if desk.plays.is_quick(wanted) else await to_thread.run_sync(answer, limiter=players)

    @app.get(
        "/api/compare",
        response_class=StreamingResponse,
        responses={
            **unsolved,
            200: _stream_of("point", "end"),
            429: {"model": models.Problem},
        },
        tags=["compare"],
    )
    async def compare(
        contest: Annotated[models.Id, Query(description="A contest that is solved.")],
        episodes: Annotated[int, Query(ge=1, le=MOST_EPISODES)] = 500,
        seed: Annotated[int, Query(ge=0, le=2**53 - 1)] = 0,
        attacker: Annotated[Opponent, Query(description="Whom the defenders meet.")] = Opponent.BEST_RESPONSE,
    ) -> StreamingResponse:
        """Play defenders on the same draws and send a `point` of their curves from time to time, then `end`."""
        return event_stream(comparison_events(desk, contest, attacker, episodes, seed))


def _add_page(app: FastAPI) -> None:
    folder = Path(str(files("ncirl.web") / "static"))

    @app.api_route("/", methods=["GET", "HEAD"], include_in_schema=False)
    async def page() -> FileResponse:
        return FileResponse(folder / "index.html")

    app.mount("/static", StaticFiles(directory=folder), name="static")


def _stream_of(*names: str) -> dict[str, Any]:
    """Describe a stream of events; the data of each is JSON."""
    parts = {"event": {"type": "string", "enum": list(names)}, "data": {"type": "string"}}
    schema = {"type": "object", "properties": parts, "required": list(parts)}
    return {"description": "Server-sent events.", "content": {"text/event-stream": {"schema": schema}}}


async def _body(request: Request, limit: int) -> bytes:
    """Read a request as it comes, and no further than the limit."""
    parts, size = [], 0
    async for part in request.stream():
        parts.append(part)
        size += len(part)
        if size > limit:
            raise too_large(limit)
    return b"".join(parts)
