"""Server-sent events: bounds that close in, curves that fill in."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import ExitStack
from typing import Any

from anyio import to_thread
from starlette.responses import StreamingResponse

from ncirl.errors import NcirlError
from ncirl.web.compare import Opponent
from ncirl.web.desk import Desk
from ncirl.web.jobs import Job
from ncirl.web.refusals import in_a_sentence

__all__ = ["comparison_events", "event_stream", "job_events"]

LOOK_EVERY = 0.1  # seconds
SIGN_OF_LIFE = 10.0  # seconds without an event after which a comment is sent, so that nobody hangs up


def event_stream(events: AsyncIterator[str]) -> StreamingResponse:
    """Return the answer that sends events as they come."""
    return StreamingResponse(events, media_type="text/event-stream", headers={"X-Accel-Buffering": "no"})


def event(name: str, data: dict[str, Any]) -> str:
    """Write one event."""
    return f"event: {name}\ndata: {json.dumps(data, allow_nan=False)}\n\n"


async def job_events(job: Job) -> AsyncIterator[str]:
    """Tell every bound of a job, past and to come, and its end."""
    told, quiet = 0, 0.0
    while True:
        ended = job.ended  # asked first: nothing is added after the end
        fresh = job.bounds[told:]
        for seconds, lower, upper in fresh:
            yield event("bounds", {"seconds": seconds, "lower": lower, "upper": upper})
        told += len(fresh)
        if ended:
            yield event("end", job.view())
            return
        quiet = 0.0 if fresh else quiet + LOOK_EVERY
        if quiet >= SIGN_OF_LIFE:
            quiet = 0.0
            yield ": still there\n\n"
        await asyncio.sleep(LOOK_EVERY)


def comparison_events(desk: Desk, contest_id: str, opponent: Opponent, episodes: int, seed: int) -> AsyncIterator[str]:
    """Tell the points of a comparison, each worked out in a thread, and its end.

    Raises
    ------
    Refused
        At once, when it cannot begin.
    """
    held = ExitStack()
    points = held.enter_context(desk.comparing(contest_id, opponent, episodes, seed))
    about = {"contest": contest_id, "attacker": str(opponent), "episodes": episodes, "seed": seed}

    async def told() -> AsyncIterator[str]:
        end: dict[str, Any] = {**about, "error": None}
        with held:
            try:
                while (point := await to_thread.run_sync(next, points, None)) is not None:
                    end |= point
                    yield event("point", point)
            except NcirlError as error:
                end["error"] = in_a_sentence(error)
        yield event("end", end)

    return told()
