"""The application: routes that check a request, ask the part that knows, and answer.

Nothing is decided here, and nothing is opened: whatever takes more than a moment, or reads what strangers wrote, runs
in a process of its own. Work starts on POST only.
"""

import re
from collections.abc import AsyncIterator, Collection, Iterable
from contextlib import asynccontextmanager
from importlib.resources import files as packaged
from itertools import accumulate
from pathlib import Path
from typing import Annotated, Any

from anyio import to_thread
from fastapi import APIRouter, Body, Depends, FastAPI, Query, Request
from fastapi import Path as InPath
from fastapi.exceptions import RequestValidationError
from pydantic import Field
from starlette.exceptions import HTTPException
from starlette.middleware.gzip import GZipMiddleware
from starlette.responses import FileResponse, JSONResponse, Response, StreamingResponse
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from ncirl.formats.plain import place
from ncirl.strategies.streams import checked_seed
from ncirl.web import models, requests
from ncirl.web.limits import MOST_FILES, Limits, Refused
from ncirl.web.play import Move, PlayKey, Told
from ncirl.web.security import LOOPBACK, SecurityMiddleware, error_response
from ncirl.web.source import Source, Upload
from ncirl.web.state import AppState

__all__ = ["create_app"]

STATIC = Path(str(packaged("ncirl.web") / "static"))
UPLOADS = "/api/contests"
VENDORED = "vendor/"  # files whose names have their version
KEPT = {"Cache-Control": "public, max-age=31536000, immutable"}  # for a year
SLICE = 2**16  # bytes of a download handed over at a time, so that one not taken costs no more
NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_-]+")
LONGEST_NAME = 60
SUMMARY = "Contests with a hidden intent: look at them, solve them, play them, compare defences."
SOLVE, COMPARE = requests.SolveRequest(), requests.CompareRequest()

# What the description of the interface says beside the models.
FILE = {"content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}}
EVENT = {"event": {"type": "string", "enum": ["bounds", "point", "end"]}, "data": {"type": "string"}}
EVENTS = {"text/event-stream": {"schema": {"type": "object", "properties": EVENT, "required": list(EVENT)}}}


def _problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    return {status: {"model": models.Problem} for status in statuses}


def create_app(
    limits: Limits | None = None,
    *,
    files: Iterable[Source] = (),
    hosts: Collection[str] | None = LOOPBACK,
    warm: bool = True,
) -> FastAPI:
    """Return the application.

    `files` are shown beside the examples, which are solved at the start if `warm`; `hosts` are the names the server may
    be called by, None for any.
    """
    bounds = limits or Limits()
    state = AppState(bounds, files)

    @asynccontextmanager
    async def running(_: FastAPI) -> AsyncIterator[None]:
        try:
            await to_thread.run_sync(state.open_examples)
            if warm:
                state.solve_examples()
            yield
        finally:
            await to_thread.run_sync(state.close)

    app = FastAPI(
        title="ncirl",
        summary=SUMMARY,
        version=models.API_VERSION,
        lifespan=running,
        openapi_url="/api/openapi.json",
        docs_url=None,  # these pages load script from elsewhere
        redoc_url=None,
        responses=_problems(400, 403, 408, 413, 421, 422),
        exception_handlers={Refused: _refused, RequestValidationError: _malformed, HTTPException: _plain},
    )
    app.state.app_state = state
    app.add_middleware(SecurityMiddleware, hosts=hosts, limits=bounds, upload=UPLOADS)
    app.include_router(router)
    app.mount("/static", GZipMiddleware(PageFiles(directory=STATIC)), name="static")
    return app


class PageFiles(StaticFiles):
    """The files of the page; browsers ask again for those of the package, and keep those whose names have a version."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        """Return a file."""
        answer = await super().get_response(path, scope)
        if path.startswith(VENDORED):
            answer.headers.update(KEPT)
        return answer


async def _refused(_: Request, error: Refused) -> JSONResponse:
    return error_response(error.status, str(error), error.field, error.offered)


async def _malformed(_: Request, error: RequestValidationError) -> JSONResponse:
    first = error.errors()[0]
    where = place([step for step in first["loc"] if step not in ("body", "query", "path")])
    return error_response(422, f"{where or 'request'}: {first['msg']}", where or None)


async def _plain(_: Request, error: HTTPException) -> JSONResponse:
    answer = error_response(error.status_code, str(error.detail))
    answer.headers.update(error.headers or {})
    return answer


async def _state(request: Request) -> AppState:
    state: AppState = request.app.state.app_state
    return state


State = Annotated[AppState, Depends(_state)]
ContestId = Annotated[requests.Id, InPath(description="Of a contest: as listed, or as whoever opened it was told.")]
JobId = Annotated[requests.Id, InPath(description="Of a solve or a comparison, as whoever started it was told.")]
Names = list[Annotated[str, Field(max_length=500)]]
FileNames = Annotated[
    Names,
    Query(default_factory=list, max_length=MOST_FILES, description="Of each file; its ending tells the format."),
]
FileSizes = Annotated[
    list[Annotated[int, Field(ge=0, le=2**53)]],
    Query(default_factory=list, max_length=MOST_FILES, description="Bytes of each file, where there are several."),
]
Start = Annotated[
    Names, Query(default_factory=list, max_length=MOST_FILES, description="Where attackers begin, for an import.")
]
Goals = Annotated[
    Names, Query(default_factory=list, max_length=MOST_FILES, description="What attackers may want, for an import.")
]
Steps = Annotated[
    Names, Query(default_factory=list, max_length=MOST_FILES, description="Kinds of edges that are steps.")
]

router = APIRouter()


@router.get(UPLOADS, response_model=models.ContestList, tags=["look"])
async def contests(state: State) -> dict[str, Any]:
    """List the examples; what visitors opened is known to them only."""
    return {"contests": [contest.entry() for contest in state.contests.examples()]}


@router.post(
    UPLOADS,
    status_code=201,
    response_model=models.Contest,
    responses=_problems(429),
    tags=["look"],
    openapi_extra={"requestBody": {"required": True, **FILE}},
)
async def upload(
    state: State, request: Request, name: FileNames, size: FileSizes, initial: Start, goal: Goals, step: Steps
) -> dict[str, Any]:
    """Open a game, an attack graph or a policy: the body is the file. Keep the id, it is told to nobody else.

    Files of other tools are imported as an attack graph: one, or those of one graph one after the other, or a zip
    archive of them. `field` of a refusal is `goal` where another start, other goals or other steps may help, and
    `offered` has candidates.
    """

    async def taken() -> Upload:
        return Upload(_parts(await request.body(), name, size), tuple(initial), tuple(goal), tuple(step))

    return (await state.upload(taken)).view()


def _parts(body: bytes, names: list[str], sizes: list[int]) -> tuple[Source, ...]:
    """Take the files of a body apart."""
    if not sizes and len(names) <= 1:
        return (Source(names[0] if names else "", body),)
    if len(names) != len(sizes) or sum(sizes) != len(body):
        raise Refused(422, "size: give one for each name; together they are the bytes of the body", "size")
    ends = list(accumulate(sizes))
    return tuple(Source(name, body[end - size : end]) for name, size, end in zip(names, sizes, ends, strict=True))


@router.get(UPLOADS + "/{contest_id}", response_model=models.Contest, responses=_problems(404), tags=["look"])
async def contest(state: State, contest_id: ContestId) -> dict[str, Any]:
    """Return everything about a contest."""
    return state.contests.get(contest_id).view()


@router.get(
    UPLOADS + "/{contest_id}/policy",
    response_class=Response,
    responses={**_problems(404), 200: FILE, **_problems(409)},
    tags=["solve"],
)
async def policy(state: State, contest_id: ContestId) -> StreamingResponse:
    """Return the policy file of a contest that is solved."""
    contest = state.contests.get(contest_id)
    raw = contest.solved_policy().raw or b""
    name = NOT_IN_NAMES.sub("-", contest.title)[:LONGEST_NAME]
    kept = {"Content-Disposition": f'attachment; filename="{name}.ncirl"', "Content-Length": str(len(raw))}
    slices = (raw[at : at + SLICE] for at in range(0, len(raw), SLICE))
    return StreamingResponse(slices, media_type="application/octet-stream", headers=kept)


@router.post(
    UPLOADS + "/{contest_id}/solve",
    status_code=202,
    response_model=models.Started,
    responses=_problems(404, 429),
    tags=["solve"],
)
async def solve(
    state: State, contest_id: ContestId, asked: Annotated[requests.SolveRequest, Body()] = SOLVE
) -> dict[str, Any]:
    """Start to solve a contest, from the start or the middle of an incident; what comes of it is one of its own."""
    return {"job": state.solve(contest_id, asked.gap, asked.time_limit, tuple(asked.holding)).id}


@router.post(
    UPLOADS + "/{contest_id}/find",
    response_model=models.FoundView,
    responses=_problems(404),
    tags=["look"],
)
async def find(state: State, contest_id: ContestId, asked: requests.FindRequest) -> Response:
    """Search all exploits and conditions of a contest's attack graph, drawn or folded."""
    return Response(await state.find(contest_id, asked.text), media_type="application/json")


@router.post(
    UPLOADS + "/{contest_id}/compare",
    status_code=202,
    response_model=models.Started,
    responses=_problems(404, 429, 409),
    tags=["compare"],
)
async def compare(
    state: State, contest_id: ContestId, asked: Annotated[requests.CompareRequest, Body()] = COMPARE
) -> dict[str, Any]:
    """Start to play defenders on the same draws, on a contest that is solved."""
    seed = checked_seed(asked.seed)
    return {"job": state.compare(contest_id, asked.attacker, asked.episodes, seed).id, "seed": seed}


@router.get("/api/jobs/{job_id}", response_model=models.JobView, responses=_problems(404), tags=["jobs"])
async def job(state: State, job_id: JobId) -> dict[str, Any]:
    """Say how far a solve or a comparison is."""
    return state.jobs.get(job_id).view()


@router.delete("/api/jobs/{job_id}", response_model=models.JobView, responses=_problems(404), tags=["jobs"])
async def cancel(state: State, job_id: JobId) -> dict[str, Any]:
    """Ask a solve to stop, and what it has found so far becomes a contest; end a comparison."""
    return state.jobs.cancel(job_id).view()


@router.get(
    "/api/jobs/{job_id}/events",
    response_class=StreamingResponse,
    responses={**_problems(404), 200: {"description": "Server-sent events.", "content": EVENTS}},
    tags=["jobs"],
)
async def events(state: State, job_id: JobId) -> StreamingResponse:
    """Send `bounds` of a solve or a `point` of a comparison's curves as they come, then `end` with the job."""
    told = state.jobs.get(job_id).stream()
    return StreamingResponse(told, media_type="text/event-stream", headers={"X-Accel-Buffering": "no"})


@router.post("/api/play", response_model=models.PlayView, responses=_problems(404, 409), tags=["play"])
async def play(state: State, asked: requests.PlayRequest) -> Response:
    """Replay a play from its seed and moves, and say where it stands."""
    return Response(await state.play(asked.contest, _key(asked)), media_type="application/json")


@router.post(
    "/api/resolve", status_code=202, response_model=models.Started, responses=_problems(404, 409, 429), tags=["play"]
)
async def resolve(state: State, asked: requests.ResolveRequest) -> dict[str, Any]:
    """Start to look for a better defence of a whole graph from where a play stands; it becomes a contest of its own."""
    return {"job": state.resolve(asked.contest, _key(asked), asked.time_limit).id}


def _key(asked: requests.PlayRequest) -> PlayKey:
    if asked.seed is None and asked.moves:
        raise Refused(422, "seed: moves belong to a play; give its seed, which its first answer tells", "seed")
    return PlayKey(asked.role, asked.intent, checked_seed(asked.seed), tuple(map(_move, asked.moves)))


def _move(move: str | list[str] | requests.ToldMove | None) -> Move:
    if isinstance(move, requests.ToldMove):
        blocked = None if move.blocked is None else tuple(move.blocked)
        return Told(tuple(move.attempted), blocked, tuple(move.new), tuple(move.alerts))
    return tuple(move) if isinstance(move, list) else move


@router.api_route("/", methods=["GET", "HEAD"], include_in_schema=False)
async def page() -> FileResponse:
    """Return the page."""
    return FileResponse(STATIC / "index.html")
