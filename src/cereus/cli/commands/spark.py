"""`cereus spark …`: about Spark itself."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.text import Text

from cereus.cli.help import PlainFlags
from cereus.cli.view import out

app = typer.Typer(
    name="spark",
    cls=PlainFlags,
    no_args_is_help=True,
    help="About Spark itself.",
    add_completion=False,
    rich_markup_mode="rich",
)

STYLES = {"ok": "green", "warning": "bold yellow", "problem": "bold red"}


@app.callback()
def spark() -> None:
    """About Spark itself."""


@app.command()
def doctor(
    master: Annotated[str, typer.Option(metavar="URL", help="The Spark master.")] = "local[*]",
    directory: Annotated[
        list[str] | None,
        typer.Option(
            "--dir",
            metavar="DIR",
            help="A directory that jobs will write to (checkpoints, warehouse); repeatable.",
            show_default=False,
        ),
    ] = None,
    start: Annotated[
        bool, typer.Option(help="Start Spark, ask its workers, and run a small match.")
    ] = True,
) -> None:
    """Check Java, versions, memory, Arrow and write access, and say what to do."""
    from cereus.spark.starting.doctor import CheckState, Finding, examine

    def shown(finding: Finding) -> None:
        text = Text.assemble((f"{finding.state.value:8}", STYLES[finding.state]))
        text.append(f" {finding.check}: ", "bold").append(finding.description)
        if finding.advice is not None:
            text.append(f"\n         → {finding.advice}", "cyan")
        out.print(text, soft_wrap=True)

    worst = CheckState.GOOD
    for finding in examine(
        master=master, directories=directory or ["spark-warehouse"], start=start
    ):
        shown(finding)
        if worst is not CheckState.WRONG and finding.state is not CheckState.GOOD:
            worst = finding.state
    endings = {
        CheckState.GOOD: "all is well",
        CheckState.WARNING: "it works; see the warnings",
        CheckState.WRONG: "there are problems",
    }
    out.print(Text(endings[worst], STYLES[worst]))
    if worst is CheckState.WRONG:
        raise typer.Exit(1)
