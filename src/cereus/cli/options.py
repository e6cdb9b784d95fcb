"""The arguments and options that several commands share."""

from __future__ import annotations

from typing import Annotated

import typer

from cereus.cli.help import one_of
from cereus.cli.inputs import LIMITS
from cereus.language.protocol import OptionKind
from cereus.language.registry import default_name, languages, names, suffixes
from cereus.sources.formats import COMPRESSIONS, FORMATS
from cereus.stream import UNITS
from cereus.writing.target import FORMATS as WRITTEN

QUERY_FILES = (
    f"a path that ends in {', '.join(f'.{name}' for name in suffixes())} or .txt, or @FILE"
)
OPTIONS = "; ".join(
    f"Of {language.name}: " + ", ".join(f"{each.name} ({each.help})" for each in typed)
    for language in languages()
    if (typed := [each for each in language.options if each.kind is not OptionKind.OBJECT])
)
"""The options of each language."""
QueryText = Annotated[
    str,
    typer.Argument(
        metavar="QUERY",
        help=f"The query, or a file with it: {QUERY_FILES}. DIALECT: may stand in front.",
        show_default=False,
    ),
]
INPUTS = (
    "Files, directories, patterns or URLs of events (Parquet, CSV, JSON lines, Arrow, ORC), or - "
    "for standard input."
)
Inputs = Annotated[list[str], typer.Argument(metavar="INPUT…", help=INPUTS, show_default=False)]
Dialect = Annotated[
    str | None,
    typer.Option(
        help=f"The language of the query: {', '.join(names())}. By default the one that the "
        f"suffix of its file names, else {default_name()}.",
        show_default=False,
        autocompletion=one_of(names()),
    ),
]
TypeColumn = Annotated[
    str | None,
    typer.Option(
        "--type",
        metavar="COLUMN",
        help="The column with an event's type, by default 'type'; 'none': all are EVENTs.",
        show_default=False,
    ),
]
TimeColumn = Annotated[
    str | None,
    typer.Option(
        "--time", metavar="COLUMN", help="The column with an event's time.", show_default=False
    ),
]
KeyColumns = Annotated[
    list[str] | None,
    typer.Option(
        "--key",
        metavar="COLUMN",
        help="Match each value of this column on its own (as PARTITION BY does); repeatable.",
        show_default=False,
    ),
]
StreamColumn = Annotated[
    str | None,
    typer.Option(
        "--stream",
        metavar="COLUMN",
        help="The column with the name of an event's stream, for queries FROM several.",
        show_default=False,
    ),
]
Unit = Annotated[
    str | None,
    typer.Option(
        metavar="UNIT",
        help="What one unit of a numeric time column is: s, ms, us or ns.",
        show_default=False,
        autocompletion=one_of(UNITS),
    ),
]
Limits = Annotated[
    list[str] | None,
    typer.Option(
        "--limit",
        metavar="NAME=N",
        help=f"How much of one thing a run may hold: {', '.join(LIMITS)}; repeatable.",
        show_default=False,
        autocompletion=one_of(f"{name}=" for name in LIMITS),
    ),
]
Params = Annotated[
    list[str] | None,
    typer.Option(
        "--param",
        metavar="NAME=VALUE",
        help="The value of a parameter :NAME of the query, written as there: 5, 'a text', "
        "TRUE, ('a', 'b'); a bare word is a text; repeatable.",
        show_default=False,
    ),
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="OPTION",
        help=f"An option of the language; repeatable, and OPTION=no turns one off. {OPTIONS}.",
        show_default=False,
    ),
]

Sort = Annotated[
    bool, typer.Option("--sort", help="Put the events in order of time first (in memory).")
]
Master = Annotated[
    str | None, typer.Option(metavar="URL", help="The Spark master; by default local[*].")
]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace the output if it exists.")]
AsJson = Annotated[bool, typer.Option("--json", help="Write one JSON object instead.")]

# ---------------------------------------------------------------- files

INPUT = "How files are read"
Where = Annotated[
    str | None,
    typer.Option(
        "--where",
        metavar="CONDITION",
        help="Match only the events for which this is true; the others are not there at all.",
        show_default=False,
    ),
]
Types = Annotated[
    list[str] | None,
    typer.Option(
        "--types",
        metavar="COLUMN=TYPE",
        help="The type of a column, which is not inferred then: price=double; repeatable.",
        rich_help_panel=INPUT,
        show_default=False,
    ),
]
AsText = Annotated[
    bool,
    typer.Option(
        "--as-text",
        help="Infer no types of CSV and JSON texts.",
        rich_help_panel=INPUT,
    ),
]
InputFormat = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="FORMAT",
        help=f"The format of the input, if no suffix tells it: {', '.join(FORMATS)}.",
        rich_help_panel=INPUT,
        show_default=False,
    ),
]
OutputFormat = Annotated[
    str | None,
    typer.Option(
        "--output-format",
        metavar="FORMAT",
        help=f"The format of the output, if no suffix tells it: {', '.join(WRITTEN)}.",
        show_default=False,
    ),
]
Header = Annotated[
    str | None,
    typer.Option(
        "--header",
        metavar="A,B,…",
        help="The names of the columns of CSV, whose first line has none.",
        rich_help_panel=INPUT,
        show_default=False,
    ),
]
Delimiter = Annotated[
    str | None,
    typer.Option(
        "--delimiter",
        metavar="CHARACTER",
        help="What separates the columns of CSV: a comma, or in .tsv files a tab.",
        rich_help_panel=INPUT,
        show_default=False,
    ),
]
Nulls = Annotated[
    list[str] | None,
    typer.Option(
        "--null",
        metavar="TEXT",
        help="A text that stands for NULL in CSV, instead of the empty one; repeatable.",
        rich_help_panel=INPUT,
        show_default=False,
    ),
]
Multiline = Annotated[
    bool,
    typer.Option(
        "--multiline", help="Quoted texts of CSV may have line ends.", rich_help_panel=INPUT
    ),
]
TimeFormat = Annotated[
    str | None,
    typer.Option(
        "--time-format",
        metavar="FORMAT",
        help="How times are written, beside ISO 8601: %d.%m.%Y %H:%M:%S.",
        rich_help_panel=INPUT,
        show_default=False,
    ),
]
Decimal = Annotated[
    str | None,
    typer.Option(
        "--decimal",
        metavar="SIGN",
        help="The sign before decimals, if it is a comma: --decimal , reads 1.234,50.",
        rich_help_panel=INPUT,
        show_default=False,
    ),
]
Compression = Annotated[
    str | None,
    typer.Option(
        "--compression",
        metavar="NAME",
        help=f"The compression of the input, if no suffix tells it: {', '.join(COMPRESSIONS)}.",
        rich_help_panel=INPUT,
        show_default=False,
    ),
]
