"""CSV: every column is read as text, by the names in the header of its own file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.csv as csv

from cereus.errors import DataError
from cereus.sources.files import Files
from cereus.sources.formats import suffixes_of
from cereus.sources.places import EventFile
from cereus.sources.reading.blocks import NEW_LINE, Span, arrow_owned, blocks
from cereus.sources.reading.texts import TextKinds
from cereus.stream import refuse_repeated

TORN = re.compile(r"Row #(?P<row>\d+): Expected (?P<wanted>\d+) columns, got (?P<there>\d+)")
SEPARATORS = (";", "\t", "|")


class CsvReader:
    """Reads the files of one description."""

    def __init__(self, files: Files) -> None:
        self.files = files

    def look(self, place: EventFile, kinds: TextKinds) -> pa.Schema:
        """The columns of a file, all text; `kinds` sees those whose types are to be inferred."""
        names = self.names(place)
        inferred = [n for n in names if self.files.infer and self.files.given_type(n) is None]
        for table in self.tables(place, names, columns=inferred) if inferred else ():
            kinds.see(zip(inferred, table.columns, strict=True))
        return pa.schema([(name, pa.string()) for name in names])

    def names(self, place: EventFile) -> list[str]:
        """The names of the columns: those of the header, the given ones, or f0, f1, …."""
        if not isinstance(self.files.header, bool):
            return list(self.files.header)
        try:
            # of a file with one line, Arrow takes the line for the header
            parsed = csv.read_csv(
                arrow_owned(self._beginning(place)),
                read_options=csv.ReadOptions(autogenerate_column_names=not self.files.header),
                parse_options=self._parse(place),
            )
            names = list(parsed.column_names)
        except (pa.ArrowInvalid, UnicodeDecodeError) as error:
            raise self._wrong(place, error) from None
        except OSError as error:
            raise DataError(f"cannot read {place.name!r}: {error}") from None
        refuse_repeated(names, f"{place.name!r} has")
        self._check_names(place, names)
        return names

    def _beginning(self, place: EventFile) -> bytes:
        """The first line; if it is part of a header with line ends, the first block."""
        first = next(blocks(place, size=1 << 16), b"")
        return first if self.files.multiline else first.split(NEW_LINE)[0] + NEW_LINE

    def _check_names(self, place: EventFile, names: Sequence[str]) -> None:
        """Check that a file has exactly the declared columns, in any order."""
        declared = self.files.schema
        if declared is None:
            return
        missing = [name for name in declared if name not in names]
        extra = [name for name in names if name not in declared]
        for wrong, what in ((missing, "lacks the column"), (extra, "has one more column,")):
            if wrong:
                raise DataError(
                    f"{place.name!r} {what} {wrong[0]!r}",
                    hint=f"its header is {', '.join(names)}; the schema has {', '.join(declared)}"
                    + self._separator_hint(place, names),
                )

    def tables(
        self,
        place: EventFile,
        names: Sequence[str],
        span: Span | None = None,
        columns: Sequence[str] | None = None,
    ) -> Iterator[pa.Table]:
        """The rows as texts. A line with fewer or more values than there are names is an error."""
        try:
            if self.files.multiline:
                yield from self._streamed(place, names, columns)
                return
            begins = span is None or span.start == 0
            line = 0 if begins else None
            for block in blocks(place, span):
                skip = int(begins and self.files.header is True)
                yield self._parsed(place, block, names, columns, skip, line)
                line = None if line is None else line + block.count(NEW_LINE)
                begins = False
        except OSError as error:
            raise DataError(f"cannot read {place.name!r}: {error}") from None

    def _parsed(
        self,
        place: EventFile,
        block: bytes,
        names: Sequence[str],
        columns: Sequence[str] | None,
        skip: int,
        line: int | None,
    ) -> pa.Table:
        if _has_no_rows(block, skip):
            return _no_rows(names if columns is None else columns)

        def parsed(threads: bool) -> pa.Table:
            return csv.read_csv(
                arrow_owned(block),
                read_options=csv.ReadOptions(
                    column_names=list(names), skip_rows=skip, use_threads=threads
                ),
                parse_options=self._parse(place),
                convert_options=self._convert(names, columns),
            )

        try:
            return parsed(threads=True)
        except pa.ArrowInvalid:
            try:
                return parsed(threads=False)  # it knows the number of the row
            except pa.ArrowInvalid as error:
                raise self._wrong(place, error, line) from None

    def _streamed(
        self, place: EventFile, names: Sequence[str], columns: Sequence[str] | None
    ) -> Iterator[pa.Table]:
        skip = int(self.files.header is True)
        try:
            with place.open() as stream:
                reader = csv.open_csv(
                    stream,
                    read_options=csv.ReadOptions(column_names=list(names), skip_rows=skip),
                    parse_options=self._parse(place),
                    convert_options=self._convert(names, columns),
                )
                for batch in reader:
                    yield pa.Table.from_batches([batch])
        except pa.ArrowInvalid as error:
            if "Empty CSV" not in str(error):
                raise self._wrong(place, error) from None

    def delimiter(self, place: EventFile) -> str:
        tabs = suffixes_of(place.name)[0] == ".tsv"
        return self.files.delimiter or ("\t" if tabs else ",")

    def _parse(self, place: EventFile) -> Any:
        return csv.ParseOptions(
            delimiter=self.delimiter(place), newlines_in_values=self.files.multiline
        )

    def _convert(self, names: Sequence[str], columns: Sequence[str] | None) -> Any:
        return csv.ConvertOptions(
            column_types=dict.fromkeys(names, pa.string()),
            include_columns=None if columns is None else list(columns),
            null_values=list(self.files.nulls),
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
        )

    def _wrong(self, place: EventFile, error: Exception, line: int | None = 0) -> DataError:
        if isinstance(error, UnicodeDecodeError):
            reason, hint = "its header is not UTF-8", "write it anew in UTF-8"
            return DataError(f"cannot read {place.name!r} as csv: {reason}", hint=hint)
        if "invalid UTF8" in str(error):
            return DataError(
                f"cannot read {place.name!r} as csv: it has letters that are not UTF-8",
                hint="write it anew in UTF-8: iconv -f latin1 -t utf-8 old.csv > new.csv",
            )
        torn = TORN.search(str(error))
        if torn is None:
            reason = str(error).splitlines()[0]
            hint = "if texts have line ends, say multiline: Files(…, multiline=True)"
            return DataError(f"cannot read {place.name!r} as csv: {reason}", hint=hint)
        where = "" if line is None else f", line {line + int(torn['row'])}"
        return DataError(
            f"cannot read {place.name!r} as csv{where}: there are {torn['there']} values and "
            f"{torn['wanted']} columns",
            hint=self._separator_hint(place, [""] if torn["wanted"] == "1" else []).strip("; ")
            or "every line has a value for each column; NULL is an empty one",
        )

    def _separator_hint(self, place: EventFile, names: Sequence[str]) -> str:
        """A hint that the separator may be another one, if there is only one column."""
        if len(names) > 1 or self.delimiter(place) != ",":
            return ""
        first = self._beginning(place).split(NEW_LINE)[0].decode("utf-8", "replace")
        used = [each for each in SEPARATORS if each in first]
        called = "tab" if used[:1] == ["\t"] else "".join(used[:1])
        return (
            f'; columns are separated by commas unless you say delimiter="{called}"' if used else ""
        )


def _has_no_rows(block: bytes, skip: int) -> bool:
    after = block.find(NEW_LINE) + 1 if skip else 0
    return (skip and not after) or not block[after : after + 1] or block.isspace()


def _no_rows(names: Sequence[str]) -> pa.Table:
    return pa.schema([(name, pa.string()) for name in names]).empty_table()
