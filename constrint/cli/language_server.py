"""The language server behind `constrint lsp`: mistakes, hover, definitions, completion and formatting."""

from __future__ import annotations

import os
import sys
from asyncio import TimerHandle, get_running_loop
from pathlib import Path
from time import perf_counter
from typing import BinaryIO, cast
from urllib.parse import unquote, urlparse

from lsprotocol import types as lsp
from pygls.lsp.server import LanguageServer
from pygls.uris import from_fs_path
from pygls.workspace import TextDocument

from constrint.cli.framing import Messages
from constrint.errors import ConstrintError, Position
from constrint.frontends.text.editing import Survey
from constrint.frontends.text.format import format_text
from constrint.support.limits import budget_for, decoded, read_bytes
from constrint.support.version import version

SECONDS = 5.0
"""How long one reading of a text may take."""
SOON, PAUSE = 0.1, 0.3
"""A text that took more than so many seconds is read again after so many without a change."""
_KINDS = {
    "name": lsp.CompletionItemKind.Variable,
    "function": lsp.CompletionItemKind.Function,
    "keyword": lsp.CompletionItemKind.Keyword,
}


def make_server() -> LanguageServer:
    """The server; `start_io` runs it on standard input and output."""
    server = LanguageServer("constrint", version())
    surveys = _Surveys(server)
    _follow_texts(server, surveys)
    _answer_questions(server, surveys)
    return server


class _Surveys:
    """Analyses of the open texts; kept until the texts change."""

    def __init__(self, server: LanguageServer) -> None:
        self._server = server
        self._known: dict[str, Survey] = {}
        self._seconds: dict[str, float] = {}  # of the last reading
        self._waiting: dict[str, TimerHandle] = {}

    def of(self, document: TextDocument) -> Survey:
        """The survey of the present text."""
        if document.uri not in self._known:
            begun = perf_counter()
            self._known[document.uri] = Survey(document.source, _path(document), budget_for(None, SECONDS))
            self._seconds[document.uri] = perf_counter() - begun
        return self._known[document.uri]

    def opened(self, uri: str) -> TextDocument | None:
        """The document that the editor has opened by this name; files are not read for it."""
        found: TextDocument | None = self._server.workspace.text_documents.get(unquote(uri))
        return found

    def forget(self, uri: str) -> None:
        """The text has changed or is closed."""
        self._known.pop(uri, None)
        waiting = self._waiting.pop(uri, None)
        if waiting is not None:
            waiting.cancel()

    def changed(self, uri: str) -> None:
        """Send the mistakes of a text: at once, or once a long one has not been changed for a while."""
        self.forget(uri)
        if self._seconds.get(uri, 0.0) < SOON:
            self.publish(uri)
        else:
            self._waiting[uri] = get_running_loop().call_later(PAUSE, self.publish, uri)

    def publish(self, uri: str) -> None:
        """Send the mistakes of a text that has changed."""
        self.forget(uri)
        document = self.opened(uri)
        if document is None:
            return
        found = [_diagnostic(document, *mistake) for mistake in self.of(document).mistakes]
        given = lsp.PublishDiagnosticsParams(uri=uri, diagnostics=found)
        self._server.text_document_publish_diagnostics(given)


def _follow_texts(server: LanguageServer, surveys: _Surveys) -> None:
    @server.feature(lsp.TEXT_DOCUMENT_DID_OPEN)
    def opened(given: lsp.DidOpenTextDocumentParams) -> None:
        surveys.publish(given.text_document.uri)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CHANGE)
    def changed(given: lsp.DidChangeTextDocumentParams) -> None:
        surveys.changed(given.text_document.uri)

    @server.feature(lsp.TEXT_DOCUMENT_DID_SAVE)
    def saved(given: lsp.DidSaveTextDocumentParams) -> None:
        surveys.publish(given.text_document.uri)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CLOSE)
    def closed(given: lsp.DidCloseTextDocumentParams) -> None:
        surveys.forget(given.text_document.uri)


def _answer_questions(server: LanguageServer, surveys: _Surveys) -> None:
    @server.feature(lsp.TEXT_DOCUMENT_HOVER)
    def hover(given: lsp.HoverParams) -> lsp.Hover | None:
        document = surveys.opened(given.text_document.uri)
        if document is None:
            return None
        place = _place(document, given.position)
        text = surveys.of(document).hover(*place)
        if text is None:
            return None
        return lsp.Hover(contents=lsp.MarkupContent(kind=lsp.MarkupKind.Markdown, value=text))

    @server.feature(lsp.TEXT_DOCUMENT_DEFINITION)
    def definition(given: lsp.DefinitionParams) -> lsp.Location | None:
        document = surveys.opened(given.text_document.uri)
        if document is None:
            return None
        found = surveys.of(document).definition(*_place(document, given.position))
        if found is None:
            return None
        if found.file == _path(document):
            return lsp.Location(uri=document.uri, range=_range_of(document, found))
        uri = from_fs_path(str(Path(found.file).resolve()))
        if uri is None:
            return None
        other = surveys.opened(uri) or _included(server, uri, found.file)
        return None if other is None else lsp.Location(uri=uri, range=_range_of(other, found))

    @server.feature(lsp.TEXT_DOCUMENT_COMPLETION)
    def complete(given: lsp.CompletionParams) -> list[lsp.CompletionItem]:
        document = surveys.opened(given.text_document.uri)
        if document is None:
            return []
        words = dict(surveys.of(document).completions())
        return [lsp.CompletionItem(label=word, kind=_KINDS[kind]) for word, kind in words.items()]

    @server.feature(lsp.TEXT_DOCUMENT_FORMATTING)
    def formatted(given: lsp.DocumentFormattingParams) -> list[lsp.TextEdit]:
        document = surveys.opened(given.text_document.uri)
        if document is None:
            return []
        try:
            text = format_text(document.source, filename=_path(document), budget=budget_for(None, SECONDS))
        except ConstrintError:
            return []  # the mistake is reported where it stands
        if text == document.source:
            return []
        everything = lsp.Range(lsp.Position(0, 0), lsp.Position(len(document.lines), 0))
        return [lsp.TextEdit(range=everything, new_text=text)]


def serve() -> None:
    """Serve one editor on standard input and output, until it leaves."""
    # The server closes what it writes to, and the command flushes its standard output afterwards.
    with os.fdopen(os.dup(sys.stdout.fileno()), "wb") as output:
        make_server().start_io(cast(BinaryIO, Messages(sys.stdin.buffer)), output)


def _included(server: LanguageServer, uri: str, file: str) -> TextDocument | None:
    """A file that an open text includes; None if it cannot be read any more."""
    try:
        text = decoded(read_bytes(file, budget_for(None, SECONDS)), file)
    except (ConstrintError, OSError, ValueError):
        return None
    return TextDocument(uri, text, position_codec=server.workspace.position_codec)


def _path(document: TextDocument) -> str:
    """The path of a document; its address where it is in no file."""
    parts = urlparse(document.uri)
    return str(document.path) if parts.scheme == "file" else unquote(document.uri)


def _place(document: TextDocument, position: lsp.Position) -> tuple[int, int]:
    """Line and column, from 1, of a position, whose characters the editor counts in its own units."""
    found = document.position_codec.position_from_client_units(document.lines, position)
    return found.line + 1, found.character + 1


def _range(document: TextDocument, line: int, column: int, end: int) -> lsp.Range:
    found = lsp.Range(lsp.Position(line - 1, column - 1), lsp.Position(line - 1, end - 1))
    return document.position_codec.range_to_client_units(document.lines, found)


def _range_of(document: TextDocument, place: Position) -> lsp.Range:
    same_line = place.end_line in (None, place.line)
    return _range(document, place.line, place.column, (same_line and place.end_column) or place.column + 1)


def _diagnostic(
    document: TextDocument, line: int, column: int, message: str, is_open: bool
) -> lsp.Diagnostic:
    """A mistake, marked from its place to the end of the word or sign there."""
    lines = document.lines
    rest = lines[line - 1][column - 1 :].rstrip() if line <= len(lines) else ""
    word = len(rest) - len(rest.lstrip("_0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"))
    severity = lsp.DiagnosticSeverity.Information if is_open else lsp.DiagnosticSeverity.Error
    return lsp.Diagnostic(
        range=_range(document, line, column, column + max(1, word)),
        message=message,
        severity=severity,
        source="constrint",
    )
