"""A query that takes too long, or too much memory, stops nothing: the next one is answered."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from cereus.play.data import GivenFiles
from cereus.play.process import ENDED, PlayLimits, Worker

pytest.importorskip("altair")

SMALL = "SELECT * WHERE SELL AS s FILTER s[volume > 4000]"
LARGE = "SELECT NEXT * WHERE (SELL OR BUY)+ ; SELL+"  # matches of hundreds of events
ENDLESS = "SELECT MAX * WHERE BUY+ AS b FILTER b.price > prev(b.price)"


def request(text: str) -> dict[str, Any]:
    stream = {"type": "type", "time": "ts", "keys": []}
    return {"text": text, "dialect": "ceql", "data": "market", **stream}


async def answered(worker: Worker) -> bool:
    return bool((await worker.ask("run", request(SMALL)))["total"] > 0)


def run(limits: PlayLimits, session: Callable[[Worker], Awaitable[None]]) -> None:
    async def whole() -> None:
        worker = Worker(GivenFiles(), limits)
        try:
            await session(worker)
        finally:
            await worker.close()

    # in a thread: a browser that another test drives has a loop in this one
    with ThreadPoolExecutor(1) as pool:
        pool.submit(asyncio.run, whole()).result()


def test_what_takes_too_long_is_ended_and_the_next_is_answered() -> None:
    async def session(worker: Worker) -> None:
        late = await worker.ask("run", request(ENDLESS))
        assert late["error"] == "stopped: it took longer than 1 seconds"
        worker.limits = PlayLimits(seconds=60)
        assert await answered(worker)

    run(PlayLimits(seconds=1), session)


@pytest.mark.long
def test_what_needs_too_much_memory_is_ended_and_the_next_is_answered() -> None:
    async def session(worker: Worker) -> None:
        large = await worker.ask("run", request(LARGE))
        assert "memory" in large["error"]
        assert await answered(worker)

    run(PlayLimits(seconds=120, megabytes=10), session)


@pytest.mark.long
def test_one_may_stop_it() -> None:
    async def session(worker: Worker) -> None:
        await worker.begin()
        waiting = asyncio.create_task(worker.ask("run", request(ENDLESS)))
        await asyncio.sleep(0.5)
        await worker.stop()
        assert (await waiting)["error"] == ENDED
        assert await answered(worker)

    run(PlayLimits(seconds=120), session)
