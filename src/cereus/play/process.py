"""A process that answers, with a limit on time: one that takes too long, or ends, is replaced."""

from __future__ import annotations

import asyncio
import json
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from cereus.play.data import GivenFiles

LONGEST_LINE = 1 << 28
STARTING_SECONDS = 120
ENDED = (
    "the process that runs queries has ended: it was stopped, or needed more memory than it may use"
)


@dataclass(frozen=True)
class PlayLimits:
    """What a query may use.

    seconds    for one answer
    megabytes  of memory, beside what the program itself needs
    rows       events that are read of a file
    """

    seconds: float = 10
    megabytes: int = 2_000
    rows: int = 1_000_000


class Worker:
    """One process, which answers one request after the other."""

    def __init__(
        self, files: GivenFiles, limits: PlayLimits, uploads: Mapping[str, str] | None = None
    ) -> None:
        self.files, self.limits = files, limits
        self.uploads = uploads or {}
        self._process: Process | None = None
        self._one = asyncio.Lock()

    async def ask(self, name: str, given: dict[str, Any]) -> dict[str, Any]:
        """The answer, or an error if it takes too long."""
        line = json.dumps({"ask": name, "given": given}) + "\n"
        async with self._one:
            process = await self._ready()
            try:
                async with asyncio.timeout(self.limits.seconds):
                    reply = await _exchange(process, line)
            except TimeoutError:
                await self._end()
                return {"error": f"stopped: it took longer than {self.limits.seconds:g} seconds"}
            except BaseException:
                await self._end()  # its answer would be taken for that to the next request
                raise
            if reply is None or reply.get("end"):
                await self._end()
            return reply or {"error": ENDED}

    async def stop(self) -> None:
        """End the process at once; waiting requests get an error."""
        if self._process is not None and self._process.returncode is None:
            self._process.kill()

    async def begin(self) -> None:
        """Start the process, so that the first answer comes soon."""
        async with self._one:
            await self._ready()

    async def close(self) -> None:
        await self.stop()
        await self._end()

    async def _ready(self) -> Process:
        if self._process is not None and self._process.returncode is None:
            return self._process
        settings = {
            "files": asdict(self.files),
            "uploads": dict(self.uploads),
            "rows": self.limits.rows,
            "megabytes": self.limits.megabytes,
        }
        command = [sys.executable, "-m", "cereus.play.worker", json.dumps(settings)]
        self._process = await asyncio.create_subprocess_exec(
            *command, stdin=PIPE, stdout=PIPE, stderr=DEVNULL, limit=LONGEST_LINE
        )
        async with asyncio.timeout(STARTING_SECONDS):
            await _reply(self._process)
        return self._process

    async def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            if process.returncode is None:
                process.kill()
            await process.wait()


async def _exchange(process: Process, line: str) -> dict[str, Any] | None:
    """The answer to a line; None if there is none, because the process has ended."""
    assert process.stdin is not None
    try:
        process.stdin.write(line.encode())
        await process.stdin.drain()
    except (BrokenPipeError, ConnectionResetError):
        return None
    return await _reply(process)


async def _reply(process: Process) -> dict[str, Any] | None:
    assert process.stdout is not None
    line = await process.stdout.readline()
    reply: dict[str, Any] | None = json.loads(line) if line.endswith(b"\n") else None
    return reply
