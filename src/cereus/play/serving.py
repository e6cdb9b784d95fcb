"""Serves the playground until it is stopped, and opens it in the browser."""

from __future__ import annotations

import socket
import webbrowser
from typing import Any

import uvicorn

from cereus.errors import CereusError
from cereus.play.data import GivenFiles
from cereus.play.process import PlayLimits
from cereus.play.server import HOSTS, Playground


def serve(
    files: GivenFiles, limits: PlayLimits, first: dict[str, Any], *, port: int, browser: bool
) -> None:
    """Serve on the loopback interface, and nowhere else."""
    playground = Playground(files, limits, first)
    listening = listen(port)
    address = f"http://{HOSTS[0]}:{listening.getsockname()[1]}/?token={playground.token}"
    print(f"the playground is {address}\nstop it with Ctrl-C", flush=True)
    if browser:
        webbrowser.open(address)
    settings = uvicorn.Config(playground.app(), log_level="warning", access_log=False)
    uvicorn.Server(settings).run([listening])


def listen(port: int) -> socket.socket:
    listening = socket.socket()
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((HOSTS[0], port))
        listening.listen()  # a browser that comes before the server is ready waits for it
    except OSError as error:
        listening.close()
        hint = "choose another one, or leave --port out"
        raise CereusError(f"cannot listen on port {port}: {error.strerror}", hint=hint) from None
    return listening
