"""The pages and answers of the playground, over HTTP, for this machine only.

A browser is let in by a token in the address, which becomes a cookie. Requests that change nothing
but cost time (running queries) are POSTs from the page itself: other sites can neither read the
answers nor send them.
"""

from __future__ import annotations

import asyncio
import io
import json
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import cache
from importlib.resources import files
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from cereus.errors import CereusError
from cereus.pictures.graphs import library
from cereus.play.answers import ANSWERS
from cereus.play.data import GivenFiles
from cereus.play.process import PlayLimits, Worker
from cereus.play.samples import SAMPLES
from cereus.play.uploads import Uploads
from cereus.writing.json_text import json_text

POLICY = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self' 'unsafe-inline'",  # what the editor and the charts set themselves
        "img-src 'self' data:",
        "connect-src 'self'",
        "form-action 'none'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    ]
)
"""What a browser lets the page do: nothing is loaded from elsewhere, and no script is inline."""
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
HOSTS = ["127.0.0.1", "localhost"]
KINDS = {"css": "text/css", "html": "text/html", "js": "text/javascript"}
STATIC = {
    "play.css": "cereus.play.static",
    "play.js": "cereus.play.static",
    "editor.js": "cereus.play.static",
    "page.css": "cereus.report",
    "table.js": "cereus.report",
    "charts.js": "cereus.report",
}
"""The files of the page, and the packages that they are in."""
WHILE_TYPING = ("start", "check", "complete", "copies", "rows")
"""Short requests, which must not wait for a query that runs."""
LEAST_SECONDS = 30
"""The least seconds for a short request: the limit for a query does not apply to these, on a busy
machine."""
MOST_BYTES_POSTED = 1 << 20
"""The most bytes of a request."""
CLOSED = "The address that `cereus play` printed opens the playground; this one lacks its token.\n"

Handler = Callable[[Request], Awaitable[Response]]


class Playground:
    """The handlers, the token and the two processes: for short questions, and for queries."""

    def __init__(self, files: GivenFiles, limits: PlayLimits, first: dict[str, Any]) -> None:
        self.token = secrets.token_urlsafe(24)
        self.first = first
        patient = replace(limits, seconds=max(limits.seconds, LEAST_SECONDS))
        self.uploads = Uploads()
        self.typing = Worker(files, patient, self.uploads.paths)
        self.running = Worker(files, limits, self.uploads.paths)
        self._background: set[asyncio.Task[Any]] = set()

    def app(self) -> Starlette:
        handlers: dict[tuple[str, str], Handler] = {
            ("/", "GET"): self.page,
            ("/static/vega.js", "GET"): self.vega,
            ("/static/{name}", "GET"): self.static,
            ("/samples/{name}.parquet", "GET"): self.sample,
            ("/ask/{name}", "POST"): self.ask,
            ("/upload/{name:path}", "POST"): self.upload,
            ("/stop", "POST"): self.stop,
        }
        routes = [
            Route(path, self.guarded(handler), methods=[method])
            for (path, method), handler in handlers.items()
        ]
        middleware = [Middleware(TrustedHostMiddleware, allowed_hosts=HOSTS)]
        return Starlette(routes=routes, middleware=middleware, lifespan=self.lifespan)

    @asynccontextmanager
    async def lifespan(self, app: Starlette) -> AsyncIterator[None]:
        for job in (self.typing.begin(), self.running.begin(), asyncio.to_thread(vega_script)):
            task = asyncio.ensure_future(job)
            self._background.add(task)
            task.add_done_callback(self._background.discard)
        yield
        for task in tuple(self._background):
            task.cancel()
        await asyncio.gather(self.typing.close(), self.running.close())
        self.uploads.close()

    # ------------------------------------------------------------ who may ask

    def guarded(self, handler: Handler) -> Handler:
        """A handler that needs the token, with headers that keep the browser from anything else."""

        async def answered(request: Request) -> Response:
            if not self._known(request):
                response: Response = PlainTextResponse(CLOSED, 403)
            elif request.method == "POST" and not _same_origin(request):
                response = PlainTextResponse("only the page itself may ask\n", 403)
            else:
                response = await handler(request)
            response.headers.update(HEADERS)
            return response

        return answered

    def _known(self, request: Request) -> bool:
        shown = [request.cookies.get(_cookie(request), ""), request.query_params.get("token", "")]
        return any(secrets.compare_digest(each.encode(), self.token.encode()) for each in shown)

    # ------------------------------------------------------------ handlers

    async def page(self, request: Request) -> Response:
        """The page; with the token in the address, first a cookie and the address without it."""
        if "token" not in request.query_params:
            return _file("index.html", "cereus.play.static")
        response = RedirectResponse("/", 303)
        response.set_cookie(_cookie(request), self.token, httponly=True, samesite="lax")
        return response

    async def static(self, request: Request) -> Response:
        name = request.path_params["name"]
        if name not in STATIC:
            return PlainTextResponse("there is no such file\n", 404)
        return _file(name, STATIC[name])

    async def vega(self, request: Request) -> Response:
        script = await asyncio.to_thread(vega_script)
        return Response(script, media_type=KINDS["js"])

    async def sample(self, request: Request) -> Response:
        """The events of a sample, to try the copied texts with."""
        name = request.path_params["name"]
        if name not in SAMPLES:
            return PlainTextResponse("there is no such sample\n", 404)
        content = await asyncio.to_thread(_parquet, name)
        shown = {"Content-Disposition": f'attachment; filename="{name}.parquet"'}
        return Response(content, media_type="application/vnd.apache.parquet", headers=shown)

    async def ask(self, request: Request) -> Response:
        name = request.path_params["name"]
        if name not in ANSWERS:
            return PlainTextResponse("there is no such question\n", 404)
        given = await _body(request)
        if given is None:
            return PlainTextResponse("an object in JSON is needed\n", 400)
        worker = self.typing if name in WHILE_TYPING else self.running
        answer = await worker.ask(name, given)
        return _json({**answer, **({"first": self.first} if name == "start" else {})})

    async def upload(self, request: Request) -> Response:
        """Take an uploaded file. Both processes read it, within their limits."""
        try:
            name, path = await self.uploads.keep(request.path_params["name"], request.stream())
        except CereusError as error:
            return _json({"error": str(error)})
        given = {"name": name, "path": path}
        answer = await self.typing.ask("upload", given)
        if "error" not in answer:
            answer = await self.running.ask("upload", given)
        if "error" not in answer:
            self.uploads.paths[name] = path  # for the processes that may replace these
            return _json(answer)
        Path(path).unlink()
        where = f"{Path(path).parent}/"  # the path means nothing to whoever gave the file
        return _json({what: str(text).replace(where, "") for what, text in answer.items()})

    async def stop(self, request: Request) -> Response:
        await self.running.stop()
        return _json({})


async def _body(request: Request) -> dict[str, Any] | None:
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > MOST_BYTES_POSTED:
            return None
    try:
        given = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return given if isinstance(given, dict) and _is_flat(given) else None


def _is_flat(given: dict[str, Any]) -> bool:
    """Whether the values are single ones, and lists of these: nothing asks for more."""
    items = chain.from_iterable(v if isinstance(v, list) else (v,) for v in given.values())
    return not any(isinstance(each, list | dict) for each in items)


def _json(value: dict[str, Any]) -> Response:
    """An answer, in ASCII: a text may contain half a letter, which has no bytes."""
    return Response(json_text(value), media_type="application/json")


def _cookie(request: Request) -> str:
    """The name of the cookie. Cookies ignore ports, and there may be two playgrounds."""
    return f"cereus_play_{request.url.port or 80}"


def _same_origin(request: Request) -> bool:
    return request.headers.get("origin") == f"{request.url.scheme}://{request.headers.get('host')}"


def _file(name: str, package: str) -> Response:
    content = files(package).joinpath(name).read_bytes()
    return Response(content, media_type=KINDS[name.rpartition(".")[2]])


def _parquet(name: str) -> bytes:
    file = io.BytesIO()
    pq.write_table(SAMPLES[name].events(), file)
    return file.getvalue()


@cache
def vega_script() -> str:
    """The script that draws the charts in the browser, from the library that draws them in
    files."""
    return str(library("vl_convert").javascript_bundle())
