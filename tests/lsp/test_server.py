"""The language server: what it says of a text, and that it speaks the protocol."""

from __future__ import annotations

import asyncio
import html
import json
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cereus.errors import CereusError
from cereus.language.registry import language, names
from cereus.lsp import features
from cereus.lsp.colours import COLOURED, coloured
from cereus.lsp.features import Surroundings
from cereus.lsp.known import surroundings_of

CEQL = language("ceql")


def test_an_error_stands_at_its_place() -> None:
    text = "SELECT *\nWHERE A FILTER b[x > 1]"
    (problem,) = features.problems(text, CEQL)
    assert text[problem.start : problem.end].startswith("b")
    assert problem.error and "not bound" in problem.message


def test_warnings_of_a_good_text() -> None:
    (problem,) = features.problems("SELECT * WHERE A ; B", CEQL)
    assert not problem.error and "WITHIN" in problem.message
    assert features.problems("", CEQL) == []


def test_files_of_sql_have_clauses_and_other_statements() -> None:
    sql = language("match_recognize")
    clause = "-- rising\nMATCH_RECOGNIZE (ORDER BY t MEASURES 1 AS n PATTERN (a b) DEFINE a AS {})"
    assert features.problems(clause.format("x > 1"), sql) == []
    (problem,) = features.problems(clause.format("x >"), sql)
    assert problem.error
    assert features.problems("SELECT a FROM t WHERE b", sql) == []
    assert features.problems("CREATE TABLE match_recognize (a INT)", sql) == []


def test_hover_says_what_it_asks() -> None:
    assert features.meaning("SELECT * WHERE A ; B+", CEQL) == "An A, then one or more Bs."
    assert features.meaning("SELECT WHERE", CEQL) is None


def test_completion_knows_keywords_functions_and_names() -> None:
    text = "SELECT * WHERE SELLING AS s ; SE"
    words = dict(features.completions(text, len(text), CEQL))
    assert words["SELLING"] == "name" and words["SELECT"] == "keyword"
    assert all(word.lower().startswith("se") for word in words)
    assert dict(features.completions("ab", 2, CEQL))["abs"] == "function"


@pytest.mark.parametrize(
    ("name", "some"),
    [
        ("ceql", "FOLLOWED TIMEOUTS REGEXP SKIP PAST"),
        ("match_recognize", "RUNNING FINAL DESC CLASSIFIER PREV UNKNOWN MATCH_NUMBER"),
        ("sase", "skip_till_any_match STREAM SEQ"),
        ("par", "REPEAT TRY UNLESS SILENT"),
        ("sremo", "DETECT EPS SKIP"),
        ("algebra", "BETWEEN"),
    ],
)
def test_the_words_of_a_language_are_completed(name: str, some: str) -> None:
    words = features.keywords(language(name))
    assert set(some.split()) <= set(words)
    assert "grammar" not in words  # of a comment in a grammar


def test_strategies_are_completed() -> None:
    from cereus.languages.ceql.text import OPERATORS
    from cereus.languages.sase.tree import Strategy

    assert set(OPERATORS) <= set(features.keywords(CEQL))
    assert {each.value for each in Strategy} <= set(features.keywords(language("sase")))


@pytest.mark.parametrize("name", names())
def test_every_language_has_keywords_or_none(name: str) -> None:
    assert isinstance(features.keywords(language(name)), tuple)


def test_a_text_without_a_file_is_in_the_language_that_the_editor_names() -> None:
    assert features.language_of("/Untitled-1", "sase").name == "sase"
    assert features.language_of("/Untitled-1", "sql").name == "match_recognize"
    assert features.language_of("/rule.par", "sase").name == "par"
    assert features.language_of("/Untitled-1", "plaintext").name == "ceql"


def test_an_editor_is_served(tmp_path: Path) -> None:
    pytest.importorskip("pygls")
    from lsprotocol import types as lsp
    from pygls.lsp.client import LanguageClient

    uri = (tmp_path / "q.ceql").as_uri()
    received: list[lsp.PublishDiagnosticsParams] = []

    async def session() -> tuple[
        lsp.ServerCapabilities, lsp.Hover | None, list[lsp.TextEdit], lsp.SemanticTokens | None
    ]:
        client = LanguageClient("test", "1")
        arrived = asyncio.Event()

        @client.feature(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        def _(params: lsp.PublishDiagnosticsParams) -> None:
            received.append(params)
            arrived.set()

        await client.start_io(sys.executable, "-m", "cereus.cli.main", "lsp")
        bytes_first = lsp.GeneralClientCapabilities(position_encodings=["utf-8", "utf-16"])
        can = lsp.ClientCapabilities(general=bytes_first)
        started = await client.initialize_async(lsp.InitializeParams(capabilities=can))
        client.initialized(lsp.InitializedParams())
        text = "select * /* 🌵 */ where 🌵 ; A"
        client.text_document_did_open(
            lsp.DidOpenTextDocumentParams(lsp.TextDocumentItem(uri, "ceql", 1, text))
        )
        await asyncio.wait_for(arrived.wait(), 60)
        client.text_document_did_change(
            lsp.DidChangeTextDocumentParams(
                lsp.VersionedTextDocumentIdentifier(2, uri),
                [lsp.TextDocumentContentChangeWholeDocument("select * where A ; B")],
            )
        )
        document = lsp.TextDocumentIdentifier(uri)
        hover = await client.text_document_hover_async(
            lsp.HoverParams(document, lsp.Position(0, 3))
        )
        edits = await client.text_document_formatting_async(
            lsp.DocumentFormattingParams(document, lsp.FormattingOptions(2, True))
        )
        client.text_document_did_change(
            lsp.DidChangeTextDocumentParams(
                lsp.VersionedTextDocumentIdentifier(3, uri),
                [lsp.TextDocumentContentChangeWholeDocument("-- 🌵\r\nselect * /* a\nb */ where")],
            )
        )
        colours = await client.text_document_semantic_tokens_full_async(
            lsp.SemanticTokensParams(document)
        )
        await client.shutdown_async(None)
        client.exit(None)
        await client.stop()
        return started.capabilities, hover, list(edits or []), colours

    with ThreadPoolExecutor() as threads:  # whatever loop another test has left in this one
        capable, hover, edits, colours = threads.submit(lambda: asyncio.run(session())).result(120)
    sync = capable.text_document_sync
    assert isinstance(sync, lsp.TextDocumentSyncOptions)
    assert sync.change == lsp.TextDocumentSyncKind.Full  # parts would be counted by pygls
    assert capable.position_encoding == "utf-8"
    assert received[0].diagnostics[0].range.start == lsp.Position(0, 26)
    assert hover is not None and hover.contents.value == "An A, then a B."  # type: ignore[union-attr]
    assert edits and edits[0].new_text == "SELECT *\nWHERE A ; B\n"
    comment, keyword = COLOURED.index("comment"), COLOURED.index("keyword")
    assert colours is not None
    assert list(colours.data) == [
        *(0, 0, 7, comment, 0),
        *(1, 0, 6, keyword, 0),
        *(0, 9, 4, comment, 0),
        *(1, 0, 4, comment, 0),
        *(0, 5, 5, keyword, 0),
    ]


def test_markdown_of_a_hover_shows_every_sign() -> None:
    lsp = pytest.importorskip("lsprotocol.types")
    from cereus.lsp.server import _content

    formats = [lsp.MarkupKind.Markdown, lsp.MarkupKind.PlainText]
    hover = lsp.HoverClientCapabilities(content_format=formats)
    reads = lsp.ClientCapabilities(text_document=lsp.TextDocumentClientCapabilities(hover=hover))
    shown = _content("A <b>*x*</b>\n1. [a](b) _c_", reads)
    assert shown.kind is lsp.MarkupKind.Markdown
    assert not set("<>*[]()./").intersection(shown.value)
    assert html.unescape(shown.value) == "A <b>*x*</b>  \n1. [a](b) _c_"
    assert _content("A <b>", lsp.ClientCapabilities()).value == "A <b>"


# ---------------------------------------------------------------- colours


def colours_of(text: str, dialect: str = "ceql", **known: Any) -> list[tuple[str, str]]:
    every = coloured(text, language(dialect), Surroundings(**known))
    return [(text[start:end], kind) for start, end, kind in every]


def test_words_are_coloured_by_what_they_are() -> None:
    text = "SELECT * WHERE SELL AS s FILTER s[vol > 2.5e3 AND s.type = 'it''s' AND abs(x) > y]"
    schema = pa.schema({"vol": pa.int64()})
    assert colours_of(text, schema=schema, types=("SELL",)) == [
        ("SELECT", "keyword"),
        ("WHERE", "keyword"),
        ("SELL", "type"),
        ("AS", "keyword"),
        ("FILTER", "keyword"),
        ("vol", "property"),
        ("2.5e3", "number"),
        ("AND", "keyword"),
        ("type", "property"),
        ("'it''s'", "string"),
        ("AND", "keyword"),
        ("abs", "function"),
    ]


@pytest.mark.parametrize("text", ["'open", "/* open\n\n more", '"', "`", "'a''", "1..", "é.ß "])
def test_a_text_that_is_being_typed_has_colours(text: str) -> None:
    every = list(coloured(text, CEQL))
    assert all(text[start:end].strip("\r\n") for start, end, _ in every)
    assert all("\n" not in text[start:end] for start, end, _ in every)
    assert every == sorted(every)


def test_sql_around_a_clause_has_no_colours() -> None:
    assert colours_of("SELECT a FROM t", "match_recognize") == []
    assert colours_of("MATCH_RECOGNIZE (", "match_recognize") == [("MATCH_RECOGNIZE", "keyword")]


def test_vs_code_starts_the_server_for_every_language() -> None:
    folder = Path(__file__).parents[2] / "editors" / "vscode"
    package = json.loads((folder / "package.json").read_text())
    given = package["contributes"]["languages"]
    suffixes = {each["id"]: set(each["extensions"]) for each in given} | {"sql": {".sql"}}
    assert suffixes == {
        suffix: {f".{suffix}"} for name in names() for suffix in language(name).suffixes
    }
    assert set(package["activationEvents"]) == {f"onLanguage:{name}" for name in suffixes}
    assert all((folder / each["configuration"]).is_file() for each in given)
    for name in suffixes:
        assert f'"{name}"' in (folder / package["main"]).read_text()


# ---------------------------------------------------------------- what is known of the events

QUERY = "SELECT * WHERE SELL AS s FILTER s[vol > 1] WITHIN 5 seconds"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    columns = {
        "type": ["SELL", "BUY"],
        "volume": [1, 2],
        "ts": pa.array([1, 2], pa.timestamp("s")),
    }
    pq.write_table(pa.table(columns), tmp_path / "trades.parquet")
    (tmp_path / "inner").mkdir()
    return tmp_path


def checked(text: str, folder: Path, **given: object) -> list[str]:
    known = surroundings_of(text, str(folder / "inner" / "q.ceql"), given)
    return [each.message for each in features.problems(text, CEQL, known)]


def test_comments_say_which_events(folder: Path) -> None:
    text = f"-- schema: ../trades.parquet\n-- time: ts\n{QUERY}"
    (message,) = checked(text, folder)
    assert "volume" in message
    known = surroundings_of(text, str(folder / "inner" / "q.ceql"), {})
    assert known.types == ("BUY", "SELL")
    assert dict(features.completions(text + " BU", len(text) + 3, CEQL, known))["BUY"] == "type"
    assert checked(text.replace("vol ", "volume "), folder) == []


def test_a_type_column_that_the_events_do_not_have(folder: Path) -> None:
    """The name may still be being typed; `none` says that there is none, as on the command line."""
    query = "SELECT * WHERE * AS a FILTER a[volume > 3]"
    head = "-- schema: ../trades.parquet\n-- time: ts\n-- type: "
    assert checked(f"{head}none\n{query}", folder) == []
    (message,) = checked(f"{head}typ\n{query}", folder)
    assert "the type column 'typ' is not in the events" in message


def test_a_file_of_the_folder_says_which_events(folder: Path) -> None:
    (folder / "cereus.toml").write_text('[events]\nschema = "trades.parquet"\ntime = "ts"\n')
    (message,) = checked(QUERY, folder)
    assert "volume" in message
    (folder / "cereus.toml").write_text('[events.schema]\nvol = "double"\ntype = "text"\n')
    assert "time" in checked(QUERY, folder)[0]


def test_the_editor_says_which_events(folder: Path) -> None:
    given = {"schema": str(folder / "trades.parquet"), "time": "ts"}
    (message,) = checked(QUERY, folder, **given)
    assert "volume" in message
    assert "WITHIN" not in "".join(checked(QUERY, folder))  # nothing is known: no error


def test_a_schema_that_is_not_there_is_an_error(folder: Path) -> None:
    with pytest.raises(CereusError, match="no file"):
        checked(f"-- schema: gone.parquet\n{QUERY}", folder)


@pytest.mark.parametrize(
    ("told", "message"),
    [
        ("events = 5", "no table"),
        ("[events", "cannot read"),
        ("[events]\nschema = ['a']", "names no columns"),
        ("[events]\nschema = '.'", "is a folder"),
        ("[events]\nschema = '/dev/zero'", "is no file"),
        ("[events]\nschema = '/**/*.parquet'", "is no file"),
        ("[events]\nschema = 'bytes.parquet'", "bytes.parquet"),
        ("[events]\nschema = 'bytes.txt'", "cannot read"),
        ("[events]\ntime = 5", "named by a text"),
        ("[events]\nkeys = 7", "named by"),
    ],
)
def test_what_makes_no_sense_about_the_events_is_an_error(
    folder: Path, told: str, message: str
) -> None:
    """Of the file that says it, not of the server: an editor shows it."""
    (folder / "bytes.parquet").write_bytes(b"\xff\xfe")
    (folder / "bytes.txt").write_bytes(b"\xff\xfe")
    (folder / "cereus.toml").write_text(told)
    with pytest.raises(CereusError, match=message):
        checked(QUERY, folder)


def test_a_file_of_the_folder_in_other_signs_is_an_error(folder: Path) -> None:
    (folder / "cereus.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(CereusError, match="cannot read"):
        checked(QUERY, folder)
