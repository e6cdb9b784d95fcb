"""The language server: editors send requests over standard input and output, `features` has the
answers."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import Any

from lsprotocol import types as lsp
from pygls.lsp.server import LanguageServer
from pygls.workspace import TextDocument

import cereus
from cereus.errors import CereusError
from cereus.language.protocol import Language
from cereus.lsp import features
from cereus.lsp.colours import COLOURED, coloured
from cereus.lsp.features import Surroundings, TextProblem
from cereus.lsp.known import surroundings_of
from cereus.lsp.places import LINE_END, offset_of, range_of

SIGN = re.compile(r"[^\w\s,;:]", re.ASCII)
"""What Markdown may read as more than a letter."""
KINDS = {
    "keyword": lsp.CompletionItemKind.Keyword,
    "function": lsp.CompletionItemKind.Function,
    "name": lsp.CompletionItemKind.Variable,
    "column": lsp.CompletionItemKind.Field,
    "type": lsp.CompletionItemKind.Class,
}


def make_server() -> LanguageServer:
    sync_kind = lsp.TextDocumentSyncKind.Full
    server = LanguageServer("cereus", cereus.__version__, text_document_sync_kind=sync_kind)
    given: dict[str, Any] = {}

    @server.feature(lsp.INITIALIZE)
    def started(params: lsp.InitializeParams) -> None:
        options = params.initialization_options
        given.update(options if isinstance(options, dict) else {})

    @server.feature(lsp.TEXT_DOCUMENT_DID_OPEN)
    def opened(params: lsp.DidOpenTextDocumentParams) -> None:
        _publish(server, params.text_document.uri, given)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CHANGE)
    def changed(params: lsp.DidChangeTextDocumentParams) -> None:
        _publish(server, params.text_document.uri, given)

    @server.feature(lsp.TEXT_DOCUMENT_HOVER)
    def hover(params: lsp.HoverParams) -> lsp.Hover | None:
        document = server.workspace.get_text_document(params.text_document.uri)
        words = features.meaning(document.source, _language(document), _known(document, given))
        if words is None:
            return None
        return lsp.Hover(_content(words, server.client_capabilities))

    @server.feature(lsp.TEXT_DOCUMENT_COMPLETION, lsp.CompletionOptions(trigger_characters=["."]))
    def complete(params: lsp.CompletionParams) -> lsp.CompletionList:
        document = server.workspace.get_text_document(params.text_document.uri)
        offset = offset_of(document, params.position)
        words = features.completions(
            document.source, offset, _language(document), _known(document, given)
        )
        items = [lsp.CompletionItem(word, kind=KINDS[kind]) for word, kind in words]
        return lsp.CompletionList(is_incomplete=False, items=items)

    @server.feature(lsp.TEXT_DOCUMENT_FORMATTING)
    def layout(params: lsp.DocumentFormattingParams) -> list[lsp.TextEdit]:
        document = server.workspace.get_text_document(params.text_document.uri)
        after = features.laid_out(document.source, _language(document))
        if after is None or after == document.source:
            return []
        return [lsp.TextEdit(range_of(document, 0, len(document.source)), after)]

    @server.feature(
        lsp.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL, lsp.SemanticTokensLegend(list(COLOURED), [])
    )
    def colours(params: lsp.SemanticTokensParams) -> lsp.SemanticTokens:
        document = server.workspace.get_text_document(params.text_document.uri)
        return lsp.SemanticTokens(_tokens(document, _known(document, given)))

    return server


def _content(words: str, client: lsp.ClientCapabilities) -> lsp.MarkupContent:
    """A text for the editor: Markdown if it reads that, since VS Code breaks plain text inside
    words."""
    hover = client.text_document.hover if client.text_document else None
    if hover is None or lsp.MarkupKind.Markdown not in (hover.content_format or ()):
        return lsp.MarkupContent(lsp.MarkupKind.PlainText, words)
    escaped = SIGN.sub(lambda sign: f"&#{ord(sign[0])};", words).replace("\n", "  \n")
    return lsp.MarkupContent(lsp.MarkupKind.Markdown, escaped)


def _tokens(document: TextDocument, known: Surroundings) -> list[int]:
    """Five numbers for each coloured word: how many lines and units it is after the one before, its
    length, its kind, and no modifiers."""
    numbers: list[int] = []
    text, before = document.source, 0
    units = document.position_codec.client_num_units
    for start, end, kind in coloured(text, _language(document), known):
        between = LINE_END.split(text[before:start])
        place = len(between) - 1, units(between[-1])
        numbers += [*place, units(text[start:end]), COLOURED.index(kind), 0]
        before = start
    return numbers


def _language(document: TextDocument) -> Language:
    return features.language_of(document.path, document.language_id)


def _publish(server: LanguageServer, uri: str, given: dict[str, Any]) -> None:
    document = server.workspace.get_text_document(uri)
    text = document.source
    try:
        known = surroundings_of(text, document.path, given)
        problems = features.problems(text, _language(document), known)
    except CereusError as error:  # of what is said about the events
        problems = [TextProblem(0, len(text.partition("\n")[0]), str(error))]
    shown = [_diagnostic(document, each) for each in problems]
    server.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, shown))


def _known(document: TextDocument, given: dict[str, Any]) -> Surroundings:
    with suppress(CereusError):  # a diagnostic reports it
        return surroundings_of(document.source, document.path, given)
    return Surroundings()


def _diagnostic(document: TextDocument, problem: TextProblem) -> lsp.Diagnostic:
    severity = lsp.DiagnosticSeverity.Error if problem.error else lsp.DiagnosticSeverity.Warning
    place = range_of(document, problem.start, problem.end)
    return lsp.Diagnostic(place, problem.message, severity=severity, source="cereus")


def serve(**options: Any) -> None:
    """Answer an editor until it has closed the connection."""
    make_server().start_io(**options)
