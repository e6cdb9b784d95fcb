"""`cereus run`: a query over files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Literal

import pyarrow as pa
import typer

from cereus.cli import inputs
from cereus.cli import options as opt
from cereus.cli.as_json import json_errors, run_fields, write_json
from cereus.cli.engines import Engine, chosen_engine
from cereus.cli.groups import ColumnOptions, LanguageOptions, ReadOptions, expanded, is_given
from cereus.cli.local import Outcome, run_local
from cereus.cli.several import CommandQueries, query_texts
from cereus.cli.view import columns_to_show, err, matches_table, out, print_table, rate_text
from cereus.engine.results.time_order import TIME
from cereus.errors import CereusError, DataError, did_you_mean
from cereus.many import QuerySet
from cereus.notices import needed_types, unseen_types
from cereus.query import Query
from cereus.spark.starting.session import need_pyspark
from cereus.syntax.mentioned import mentioned
from cereus.syntax.parameters import check_all_mentioned, for_text
from cereus.writing.target import Target, check_room, target_of

PIPELINE = ".toml"
WHY = 'nothing was found; to see why, write "cereus why" instead of "cereus run"'
PIPELINE_ENGINES: dict[Engine, Literal["spark", "local"]] = {
    Engine.SPARK: "spark",
    Engine.LOCAL: "local",
}


class MatchOrder(StrEnum):
    TIME = TIME


@expanded
@json_errors
def run(
    query: Annotated[
        str | None,
        typer.Argument(
            metavar="QUERY|PIPELINE.toml",
            help=f"The query, or a file with it: {opt.QUERY_FILES}. "
            "A path that ends in .toml is a whole pipeline.",
            show_default=False,
        ),
    ] = None,
    events: Annotated[
        list[str] | None,
        typer.Argument(metavar="INPUT…", help=opt.INPUTS, show_default=False),
    ] = None,
    *,
    queries: Annotated[
        list[str] | None,
        typer.Option(
            "--query",
            "-q",
            metavar="QUERY",
            help="A query; repeatable: several run in one pass, in one language or in several "
            "(sase:PATTERN …). All arguments are inputs then.",
            show_default=False,
        ),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Write all matches to this file (.parquet, .csv, .json, .arrow), to a folder "
            "(matches/, matches.csv/), or to standard output (-).",
            show_default=False,
        ),
    ] = None,
    output_format: opt.OutputFormat = None,
    columns: ColumnOptions,
    language: LanguageOptions,
    reading: ReadOptions,
    engine: Annotated[
        Engine,
        typer.Option(
            help="Where to run: in this process, on Spark, or (auto) in this process what fits it."
        ),
    ] = Engine.AUTO,
    master: opt.Master = None,
    sort: opt.Sort = False,
    tie: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN",
            help="On Spark, what orders events of one time (files keep their own order).",
            show_default=False,
        ),
    ] = None,
    flat: Annotated[
        bool,
        typer.Option("--flat", help="Columns like a_price for variables that hold one event."),
    ] = False,
    order: Annotated[
        MatchOrder | None,
        typer.Option(help="Put all matches in this order: that of time.", show_default=False),
    ] = None,
    limit_shown: Annotated[
        int, typer.Option(min=0, help="How many matches to show when none are written.")
    ] = 5,
    overwrite: opt.Overwrite = False,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="For a pipeline: check and show it, without running it."),
    ] = False,
    metrics: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="For a pipeline: write the metrics of every query there, as JSON lines.",
            show_default=False,
        ),
    ] = None,
    json: Annotated[
        bool, typer.Option("--json", help="Write the results as one JSON object instead.")
    ] = False,
) -> None:
    """Find all matches of queries in files of events, or run a pipeline."""
    if not queries and query is not None and query.lower().endswith(PIPELINE):
        for_queries = any((events, output, output_format, tie, sort, overwrite, flat, order))
        grouped = is_given(columns) or is_given(language) or is_given(reading)
        _refuse_beside_pipeline(for_queries or grouped, json=json)
        from cereus.cli.pipeline import run_pipeline

        run_pipeline(
            query,
            master=master,
            dry_run=dry_run,
            metrics=metrics,
            engine=PIPELINE_ENGINES.get(engine),
        )
        return
    if dry_run or metrics is not None:
        raise CereusError("--dry-run and --metrics are for pipelines", hint="cereus run FILE.toml")
    if json and output is not None and str(output) == "-":
        raise CereusError(
            "matches and their summary cannot both be written to -", hint="name a file"
        )
    paths = _inputs(query, events or [], queries or [])
    files = reading.files(paths)
    target = None if output is None else target_of(output, output_format)
    commanded = CommandQueries(query_texts(queries or [str(query)]), several=bool(queries))
    command = _Command(commanded, columns, language, flat, tie or ())
    check_all_mentioned(language.params, (each.text for each in commanded.texts.values()))
    command.compiled(None)  # errors in a text are reported before anything is read
    if target is not None:
        check_room(target, paths, overwrite=overwrite)
    shown, named = limit_shown if target is None else 0, bool(queries)
    choice = chosen_engine(engine, paths, master=master, time=columns.time)
    if engine is Engine.AUTO:
        choice.announce()
    if choice.engine is Engine.LOCAL:
        read = inputs.events_of(files, inputs.ordered_by(columns.time), sort=sort)
        compiled = command.checked(read.schema)
        outcomes = run_local(compiled, read, target, shown, named=named, order=order)
    else:
        need_pyspark()
        from cereus.cli.on_spark import run_on_spark

        _need_order(columns.time)
        outcomes, compiled = run_on_spark(
            command.checked,
            files,
            target,
            shown,
            master=master or "local[*]",
            tie=tie or (),
            named=named,
            check=command.compiled,
            order=order,
        )
    if json:
        write_json(ok=True, **run_fields(choice, output, outcomes, compiled))
    else:
        command.report(outcomes, compiled, target)


@dataclass(frozen=True)
class _Command:
    """The queries of a command, with the options that they are compiled with."""

    queries: CommandQueries
    columns: ColumnOptions
    language: LanguageOptions
    flat: bool
    tie: Sequence[str]

    def compiled(self, schema: pa.Schema | None) -> QuerySet:
        texts, dialect = self.queries.texts.values(), self.language.dialect
        typed = any(inputs.is_typed(each, dialect) for each in texts)
        described = self.columns.described(schema, typed=typed)
        made = self.queries.compiled(
            lambda each: inputs.compiled(
                each,
                dialect,
                described,
                schema,
                self.language.settings,
                self.language.limits,
                for_text(self.language.params, each.text),
            )
        )
        return made.flat(schema) if self.flat and schema is not None else made

    def checked(self, schema: pa.Schema) -> QuerySet:
        """The queries for events with these columns, after a check of `--tie`; warns of them."""
        query_set = self.compiled(schema)
        _check_tie(self.tie, schema)
        for name, each in query_set.queries.items():
            self.queries.warn(name, each.warnings)
        return query_set

    def report(
        self, outcomes: Mapping[str, Outcome], compiled: QuerySet, target: Target | None
    ) -> None:
        for name, outcome in outcomes.items():
            report(outcome, compiled[name], target, name if self.queries.several else None)
            unseen: tuple[str, ...] = ()
            if outcome.types:
                unseen = unseen_types(needed_types(compiled[name].compiled), outcome.types)
                self.queries.warn(name, unseen)
            alone = not (outcome.counts.rows or unseen or self.queries.several)
            if alone and outcome.events:
                err.print(WHY, style="dim", highlight=False, soft_wrap=True)


def _refuse_beside_pipeline(for_queries: bool, *, json: bool) -> None:
    """Refuse options for queries over files, which a pipeline file has instead."""
    if json:
        hint = "--metrics FILE writes how a pipeline is doing"
        raise CereusError("--json is for queries over files", hint=hint)
    if for_queries:
        hint = "leave out all but --engine, --master, --dry-run and --metrics"
        raise CereusError("a pipeline says inputs, columns and outputs itself", hint=hint)


def _inputs(query: str | None, events: list[str], queries: list[str]) -> list[str]:
    """The inputs: with --query all arguments, else all except the first."""
    paths = [*([query] if queries and query is not None else []), *events]
    if query is None and not queries:
        hint = "cereus run QUERY INPUT…, or cereus run PIPELINE.toml"
        raise CereusError("there is nothing to run", hint=hint)
    if not paths:
        raise CereusError("no input was given", hint="name files or directories of events")
    return paths


def _need_order(time: str | None) -> None:
    """Refuse a run without an order before Spark starts, which takes a while."""
    if time is None:
        raise CereusError(
            "on Spark the events of files have no order: which column says it?",
            hint="say --time COLUMN, or --engine local for the order of the files",
        )


def _check_tie(tie: Sequence[str], schema: pa.Schema) -> None:
    """Check the tie columns. Only Spark orders by them, but a wrong name is wrong everywhere."""
    for name in tie:
        if name not in schema.names:
            raise DataError(
                f"--tie {name}: the events have no such column",
                hint=did_you_mean(name, schema.names),
            )


def report(outcome: Outcome, query: Query, target: Target | None, name: str | None = None) -> None:
    """Some matches as a table, how many there are, and how fast that was; `name` is shown where
    there are several queries."""
    counts = outcome.counts
    if outcome.first:
        many, one = counts.called, "row" if counts.called == "rows" else "match"
        more = len(outcome.first) < counts.rows
        title = f"{len(outcome.first)} of the {many}" if more else f"all {many}"
        title = title if name is None else f"{name}: {title}"
        first = main_columns(query, outcome.columns)
        needed = {*first, *mentioned(query.text, outcome.columns)}
        columns = columns_to_show(outcome.columns, first)
        print_table(matches_table(outcome.first, columns, title, one, needed))
    where = f" written to {target}" if target is not None else ""
    console = err if target is not None and target.standard_output else out
    console.print(
        f"{'' if name is None else f'{name}: '}"
        f"[bold]{counts}[/bold]{where} · "
        f"{rate_text(outcome.events, outcome.seconds)}",
        highlight=False,
        soft_wrap=True,
    )


def main_columns(query: Query, names: list[str]) -> list[str]:
    """Time, type and keys."""
    first = [query.stream.time, query.stream.type, *(path[0] for path in query.keys)]
    return [name for name in first if name in names]
