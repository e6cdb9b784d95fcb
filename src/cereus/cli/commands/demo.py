"""`cereus demo`: a million market events, one pattern, Spark on this machine."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import pyarrow as pa
import pyarrow.parquet as pq
import typer
from rich.panel import Panel
from rich.syntax import Syntax

from cereus.cli.engines import Engine, announce_spark
from cereus.cli.local import Outcome, run_local
from cereus.cli.run import report
from cereus.cli.view import err, out, show_warning
from cereus.demo import market_events
from cereus.errors import CereusError
from cereus.many import QuerySet
from cereus.query import compile
from cereus.sources import Files, source
from cereus.stream import Stream

STORY = (
    "A large order sells a name; an unbroken run of two or more buys of the same name follows, "
    "and another large order sells into it: all within ten seconds."
)
QUERY = """\
SELECT block, bids, exit FROM Market
WHERE SELL AS block : (BUY : BUY:+) AS bids : SELL AS exit
FILTER block[volume >= 800] AND exit[volume >= 800]
PARTITION BY name
WITHIN 10 seconds
"""
STREAM = Stream(type="type", time="ts")
NAME, SHOWN = "demo", 5


def demo(
    events: Annotated[int, typer.Option(min=1, help="How many events to make.")] = 1_000_000,
    directory: Annotated[Path, typer.Option(help="Where to put the events and the query.")] = Path(
        "demo"
    ),
    engine: Annotated[
        Engine,
        typer.Option(help="Where to match; auto is Spark, where there is one."),
    ] = Engine.AUTO,
    seed: Annotated[int, typer.Option(help="The seed the events are drawn from.")] = 7,
) -> None:
    """Make market events, find a pattern in them, show some of the matches."""
    out.print(Panel(Syntax(QUERY.rstrip(), "sql", background_color="default"), title="CEQL"))
    out.print(STORY, highlight=False)
    path = _events(events, seed, directory)
    outcomes, queries = _matched(path, engine)
    report(outcomes[NAME], queries[NAME], None)
    by_hand = f"cereus run {directory / 'query.ceql'} {path} --time ts --tie id"
    out.print(
        f"[dim]again, by hand:[/dim] {by_hand}",
        highlight=False,
        soft_wrap=True,
    )


def _events(count: int, seed: int, directory: Path) -> Path:
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "query.ceql").write_text(QUERY, encoding="utf-8")
    path = directory / "events.parquet"
    begin = time.perf_counter()
    with err.status(f"making {count:,} market events"):
        pq.write_table(market_events(count, seed=seed), path)
    seconds = time.perf_counter() - begin
    out.print(f"{count:,} market events written to {path} in {seconds:.1f} s", highlight=False)
    return path


def _matched(path: Path, engine: Engine) -> tuple[dict[str, Outcome], QuerySet]:
    def compiler(schema: pa.Schema) -> QuerySet:
        return QuerySet({NAME: compile(QUERY, stream=STREAM, schema=schema)})

    if engine is not Engine.LOCAL:
        try:
            from cereus.cli.on_spark import run_on_spark

            announce_spark()
            start_spark(path)
            return run_on_spark(compiler, Files(path), None, SHOWN, master="local[*]", tie=["id"])
        except (CereusError, ImportError, RuntimeError) as problem:
            if engine is Engine.SPARK:
                raise
            show_warning(f"Spark cannot run here, so this process does: {problem}")
    events = source([str(path)], STREAM)
    queries = compiler(events.schema)
    return run_local(queries, events, None, SHOWN), queries


def start_spark(path: Path) -> None:
    """Start a session, and do one small run, so that the measured time is that of matching."""
    from cereus import spark as cs

    few = cs.session().read.parquet(str(path.absolute())).limit(1000)
    cs.match(few, compile(QUERY, stream=STREAM), tie="id").count()
