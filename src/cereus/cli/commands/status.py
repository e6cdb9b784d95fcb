"""`cereus status`: how a live pipeline is doing."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from cereus.cli.as_json import errors_as_json, write_json
from cereus.cli.pipeline import live_table
from cereus.cli.view import out
from cereus.errors import CereusError

STYLES = {"running": "green", "stopped": "", "failed": "bold red", "gone": "bold red"}
MEANINGS = {
    "running": "it runs as process {pid} on {host}",
    "stopped": "it was stopped; the next start goes on from the checkpoint",
    "failed": "it has failed: {error}",
    "gone": "process {pid} is no longer there; the next start goes on from the checkpoint",
}


def status(
    pipeline: Annotated[
        Path, typer.Argument(metavar="PIPELINE", help="A pipeline file, or its checkpoint.")
    ],
    as_json: Annotated[bool, typer.Option("--json", help="As JSON, for programs.")] = False,
) -> None:
    """Show how a live pipeline is doing: its process, and each of its queries.

    The exit code is 0 if it runs or was stopped, and 2 if it failed or has disappeared."""
    from cereus.spark.pipeline.run.status import read_status

    with errors_as_json(as_json):
        current = read_status(_checkpoint(pipeline))
    if as_json:
        write_json(ok=True, **asdict(current))
    else:
        line = Text(current.state, STYLES[current.state])
        line.append(f": {MEANINGS[current.state].format(**asdict(current))}", "default")
        out.print(line, soft_wrap=True)
        if current.queries:
            out.print(live_table(current.metrics))
    if current.state in ("failed", "gone"):
        raise typer.Exit(2)


def _checkpoint(path: Path) -> Path:
    """The checkpoint of a pipeline file; a directory is returned as it is."""
    if path.is_dir():
        return path
    from cereus.spark.pipeline import document

    given = document.read(path).values.get("checkpoint")
    if not isinstance(given, str):
        raise CereusError(
            f"{str(path)!r} has no checkpoint", hint="only live pipelines have a status"
        )
    if "://" in given:
        raise CereusError(
            "the checkpoint is not on this machine, and so there is no status",
            hint='metrics = "metrics.jsonl" or prometheus = "9400" tell how it is doing',
        )
    return path.absolute().parent / Path(given).expanduser()
