"""`cereus funnel`: how far each key came through a row of steps."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from cereus.cli import inputs
from cereus.cli import options as opt
from cereus.cli.engines import Engine, announce_spark, chosen_engine
from cereus.cli.groups import ReadOptions, expanded
from cereus.cli.view import out, print_table, show_warning
from cereus.errors import CereusError
from cereus.funnels.funnel import NUMBERS, Funnel, cell_text, funnel
from cereus.notices import shown_elsewhere
from cereus.show.funnel import funnel_chart
from cereus.show.pictures import save
from cereus.sources import Files
from cereus.writing.target import check_room, target_of
from cereus.writing.writers import write_table

NARROWEST = 10
"""A column of texts is at least this wide, if its texts are."""


@expanded
def run_funnel(
    events: opt.Inputs,
    *,
    step: Annotated[
        list[str],
        typer.Option(
            "--step",
            "-s",
            metavar="STEP",
            help="A step, in their order: a type, VIEW, one with a condition, PAY\\[amount > 10], "
            "*\\[page = '/'], or NAME=STEP; repeatable.",
            show_default=False,
        ),
    ],
    key: Annotated[
        list[str],
        typer.Option(
            metavar="COLUMN", help="Who goes through the funnel; repeatable.", show_default=False
        ),
    ],
    time: Annotated[
        str,
        typer.Option(metavar="COLUMN", help="The column with an event's time.", show_default=False),
    ],
    within: Annotated[
        str | None,
        typer.Option(
            metavar="LENGTH",
            help="The most time from the first step to any other: '1 hour'.",
            show_default=False,
        ),
    ] = None,
    gap: Annotated[
        list[str] | None,
        typer.Option(
            metavar="LENGTH",
            help="The most time from a step to the next: one for all, or one for each ('none': no "
            "limit).",
            show_default=False,
        ),
    ] = None,
    by: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN",
            help="Report its values at the first step apart; repeatable.",
            show_default=False,
        ),
    ] = None,
    period: Annotated[
        str | None,
        typer.Option(
            metavar="PERIOD",
            help="Report apart when the first step was: hour, day, week, month, quarter or year.",
            show_default=False,
        ),
    ] = None,
    type: opt.TypeColumn = None,
    unit: opt.Unit = None,
    where: opt.Where = None,
    param: opt.Params = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="Write the steps to this file: .parquet, .csv, .json or .arrow; or a chart: "
            ".html, .svg or .png.",
            show_default=False,
        ),
    ] = None,
    overwrite: opt.Overwrite = False,
    reading: ReadOptions,
    sort: opt.Sort = False,
    engine: Annotated[Engine, typer.Option(help="Where to run, as for cereus run.")] = Engine.AUTO,
    master: opt.Master = None,
) -> None:
    """How far each key came through steps in order: conversions, drop-off, time per step."""
    options: dict[str, Any] = {
        "key": key,
        "time": time,
        "within": within,
        "gaps": _gaps(gap or []),
        "by": by or (),
        "period": period,
        "type": inputs.column_or_none(type or inputs.DEFAULT_TYPE),
        "unit": unit,
        "where": where,
        "params": inputs.params_of(param or ()),
    }
    files = reading.files(events)
    choice = chosen_engine(engine, events, master=master, time=time)
    if engine is Engine.AUTO:
        choice.announce()
    if choice.engine is Engine.SPARK:
        made = _on_spark(files, _steps(step), master or "local[*]", options)
    else:
        with shown_elsewhere():
            made = funnel(files, _steps(step), sort=sort, **options)
    print_table(funnel_table(made), uncut=True)
    for warning in made.warnings:
        show_warning(warning)
    if output is not None:
        _write(made, output, events, overwrite=overwrite)


def _steps(steps: list[str]) -> dict[str, str]:
    """Steps by their names: `paid=PAY[amount > 10]`."""
    named: dict[str, str] = {}
    for text in steps:
        name, equals, step = text.partition("=")
        is_named = bool(equals) and "[" not in name
        name, step = (name.strip(), step) if is_named else (text, text)
        if name in named:
            raise CereusError(f"two steps are called {name!r}", hint=f"name one: again={step}")
        named[name] = step
    return named


def _gaps(gaps: list[str]) -> str | list[str | None] | None:
    each = [None if gap.lower() == inputs.NO_COLUMN else gap for gap in gaps]
    return each[0] if len(each) == 1 else each or None


def _on_spark(files: Files, steps: dict[str, str], master: str, options: dict[str, Any]) -> Funnel:
    from cereus import spark as cs
    from cereus.spark.raised import spark_errors

    with spark_errors():
        announce_spark()
        return cs.funnel(cs.read(files, session=cs.session(master)), steps, **options)


def funnel_table(made: Funnel) -> Table:
    names, rows = made.steps.column_names, made.steps.to_pylist()
    table = Table(box=SIMPLE_HEAD)
    for name in names:
        words = name.split("_")
        if name in NUMBERS:  # a number is never cut, a long name of a step is folded
            width = max(map(len, words))
            table.add_column("\n".join(words), justify="right", min_width=width, no_wrap=True)
        else:
            longest = max((len(cell_text(name, row[name])) for row in rows), default=0)
            width = min(NARROWEST, max(len(name), longest))
            table.add_column(name, min_width=width, overflow="fold")
    for row in rows:
        table.add_row(*(Text(cell_text(name, row[name])) for name in names))
    return table


def _write(made: Funnel, output: Path, events: list[str], *, overwrite: bool) -> None:
    if output.suffix.lower() in (".html", ".svg", ".png"):
        save(funnel_chart(made), output)
    else:
        target = target_of(str(output))
        check_room(target, events, overwrite=overwrite)
        write_table(target, made.steps)
    out.print(f"written to {output}", highlight=False, soft_wrap=True)
