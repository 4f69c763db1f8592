"""Server-sent events: bounds that close in, curves that fill in."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

from starlette.responses import StreamingResponse

from ncirl.web.jobs import Job

__all__ = ["event_stream", "job_events"]

LOOK_EVERY = 0.1  # seconds
SIGN_OF_LIFE = 10.0  # seconds without an event after which a comment is sent, so that nobody hangs up


def event_stream(events: AsyncIterator[str]) -> StreamingResponse:
    """Return the answer that sends events as they come."""
    return StreamingResponse(events, media_type="text/event-stream", headers={"X-Accel-Buffering": "no"})


def event(name: str, data: dict[str, Any]) -> str:
    """Write one event."""
    return f"event: {name}\ndata: {json.dumps(data, allow_nan=False)}\n\n"


async def job_events(job: Job) -> AsyncIterator[str]:
    """Tell everything that a job told, past and to come, and its end."""
    told, quiet = 0, 0.0
    while True:
        ended = job.ended  # asked first: nothing is added after the end
        fresh = job.events[told:]
        for name, data in fresh:
            yield event(name, data)
        told += len(fresh)
        if ended:
            yield event("end", job.view())
            return
        quiet = 0.0 if fresh else quiet + LOOK_EVERY
        if quiet >= SIGN_OF_LIFE:
            quiet = 0.0
            yield ": still there\n\n"
        await asyncio.sleep(LOOK_EVERY)
