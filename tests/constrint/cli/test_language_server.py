"""The language server, spoken to by its protocol on the standard input and output of a process."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from constrint.frontends.text.editing import Survey
from constrint.support.limits import budget_for

pytest.importorskip("pygls")

MODEL = """include "parts.constrint"
param n
enum colour := {red, blue}
x[1..n, colour] in 0..9
é, k in 1..4
total := sum(x[i, c] * w for i in 1..n for c in colour)
area(a, b) := a * b
area(k, total) <= 40
maximize   k
"""
PARTS = "w := 3\n"


class Client:
    """An editor: sends requests and notes what the server publishes."""

    def __init__(self, folder: Path) -> None:
        command = [sys.executable, "-m", "constrint.cli", "lsp"]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=folder)
        self.number = 0
        self.diagnostics: dict[str, list[dict[Any, Any]]] = {}

    def send(self, method: str, params: object, number: int | None = None) -> None:
        message = {"jsonrpc": "2.0", "method": method, "params": params}
        if number is not None:
            message["id"] = number
        data = json.dumps(message).encode()
        assert self.process.stdin is not None
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(data), data))
        assert self.process.stdin is not None
        self.process.stdin.flush()

    def receive(self) -> dict[Any, Any]:
        length = 0
        while line := self.process.stdout.readline().strip():  # type: ignore[union-attr]
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
        assert self.process.stdout is not None
        message = json.loads(self.process.stdout.read(length))
        if message.get("method") == "textDocument/publishDiagnostics":
            self.diagnostics[message["params"]["uri"]] = message["params"]["diagnostics"]
        return message  # type: ignore[no-any-return]

    def request(self, method: str, params: object) -> object:
        self.number += 1
        self.send(method, params, self.number)
        while (message := self.receive()).get("id") != self.number:
            pass
        assert "error" not in message, message
        return message["result"]

    def mistakes(self, uri: str) -> list[dict[Any, Any]]:
        """What is published next for a document."""
        self.diagnostics.pop(uri, None)
        while uri not in self.diagnostics:
            self.receive()
        return self.diagnostics[uri]


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    (tmp_path / "model.constrint").write_text(MODEL, encoding="utf-8")
    (tmp_path / "model.json").write_text('{"n": 3}', encoding="utf-8")
    (tmp_path / "parts.constrint").write_text(PARTS, encoding="utf-8")
    one = Client(tmp_path)
    result = one.request(
        "initialize",
        {"processId": None, "rootUri": tmp_path.as_uri(), "capabilities": {}},
    )
    one.capabilities = result["capabilities"]  # type: ignore[attr-defined, index]
    one.send("initialized", {})
    yield one
    one.request("shutdown", None)
    one.send("exit", None)
    assert one.process.wait(20) == 0


def opened(client: Client, uri: str, text: str) -> list[dict[Any, Any]]:
    document = {"uri": uri, "languageId": "constrint", "version": 1, "text": text}
    client.send("textDocument/didOpen", {"textDocument": document})
    return client.mistakes(uri)


def at(uri: str, line: int, text: str, word: str, nth: int = 0) -> dict[Any, Any]:
    """The position of a word on a line, both counted from 0."""
    place = -1
    for _ in range(nth + 1):
        place = text.split("\n")[line].index(word, place + 1)
    return {"textDocument": {"uri": uri}, "position": {"line": line, "character": place}}


def changed(client: Client, uri: str, version: int, text: str) -> list[dict[Any, Any]]:
    document = {"uri": uri, "version": version}
    client.send("textDocument/didChange", {"textDocument": document, "contentChanges": [{"text": text}]})
    return client.mistakes(uri)


def test_an_editor_s_session(client: Any, tmp_path: Path) -> None:
    uri = (tmp_path / "model.constrint").as_uri()
    for name in ("hoverProvider", "definitionProvider", "documentFormattingProvider", "completionProvider"):
        assert name in client.capabilities
    assert opened(client, uri, MODEL) == []

    def hover(line: int, word: str, nth: int = 0) -> str:
        found = client.request("textDocument/hover", at(uri, line, MODEL, word, nth))
        return found["contents"]["value"] if found else ""

    assert "x[1..3, {red, blue}] in 0..9" in hover(5, "x")
    assert "k in 1..4" in hover(7, "k")
    assert "enum colour := {red, blue}" in hover(3, "colour")
    assert "area(a, b) := a * b" in hover(7, "area")
    assert "n := 3" in hover(3, "n")
    assert "i in 1..n" in hover(5, "i", 0)
    assert "0 of no terms" in hover(5, "sum")
    assert hover(7, "<=") == ""

    def definition(line: int, word: str, nth: int = 0) -> tuple[str, int, int] | None:
        found = client.request("textDocument/definition", at(uri, line, MODEL, word, nth))
        return found and (found["uri"].rpartition("/")[2], *found["range"]["start"].values())

    assert definition(7, "k") == ("model.constrint", 4, 3)
    assert definition(7, "total") == ("model.constrint", 5, 0)
    assert definition(7, "area") == ("model.constrint", 6, 0)
    assert definition(5, "w") == ("parts.constrint", 0, 0)
    assert definition(5, "c]") == ("model.constrint", 5, MODEL.split("\n")[5].index("c in colour"))
    assert definition(6, "a", 3) == ("model.constrint", 6, 5)
    assert definition(7, "40") is None

    edits = client.request(
        "textDocument/formatting",
        {"textDocument": {"uri": uri}, "options": {"tabSize": 4, "insertSpaces": True}},
    )
    assert [edit["newText"] for edit in edits] == [MODEL.replace("maximize   k", "maximize k")]

    words = client.request("textDocument/completion", at(uri, 7, MODEL, "area"))
    assert {"area", "total", "forall", "cumulative", "maximize", "red"} <= {word["label"] for word in words}


def test_mistakes_are_marked(client: Client, tmp_path: Path) -> None:
    uri = (tmp_path / "model.constrint").as_uri()
    opened(client, uri, MODEL)
    (one,) = changed(client, uri, 2, MODEL + "𝒳 in 1..2; kk == 1")
    assert "'kk' is not declared" in one["message"]
    assert "did you mean 'k'" in one["message"]
    assert one["severity"] == 1
    # The mathematical letter takes two of the units that editors count.
    assert one["range"] == {"start": {"line": 9, "character": 12}, "end": {"line": 9, "character": 14}}
    several = changed(client, uri, 3, "q in 1..unknown\nq == 2\ny == 2\nz bool\nz + 1\nparam m\nm == 2\n")
    assert [(one["range"]["start"]["line"], one["severity"]) for one in several] == [
        (0, 1),
        (2, 1),
        (4, 1),
        (5, 3),
    ]
    (one,) = changed(client, uri, 4, "x == (1\n")
    assert "'(' is never closed" in one["message"]
    (one,) = changed(client, uri, 5, "forall(i > 0 for i in 1..10 ** 12)")
    assert "more than" in one["message"]
    assert one["range"]["start"] == {"line": 0, "character": 22}
    (tmp_path / "parts.constrint").write_text("w == 3\n", encoding="utf-8")
    (one, *_) = changed(client, uri, 6, MODEL)
    assert "parts.constrint:1:1: 'w' is not declared" in one["message"]
    assert one["range"]["start"]["line"] == 0
    assert changed(client, uri, 7, "") == []


def test_texts_that_are_not_open_are_not_read(client: Client, tmp_path: Path) -> None:
    for uri in ("file:///dev/zero", (tmp_path / "model.constrint").as_uri(), (tmp_path / "none").as_uri()):
        place = {"textDocument": {"uri": uri}, "position": {"line": 0, "character": 0}}
        assert client.request("textDocument/hover", place) is None
        assert client.request("textDocument/definition", place) is None
        assert client.request("textDocument/completion", place) == []
        options = {"tabSize": 2, "insertSpaces": True}
        formatting = {"textDocument": {"uri": uri}, "options": options}
        assert not client.request("textDocument/formatting", formatting)


def test_a_wrong_length_loses_one_message(client: Any, tmp_path: Path) -> None:
    uri = (tmp_path / "model.constrint").as_uri()
    assert opened(client, uri, "x in 0..1") == []
    junk = b'{"jsonrpc": "2.0", "method": "none", "params": {}}'
    client.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(junk) - 9, junk))
    client.process.stdin.flush()
    assert (
        "x in 0..1" in client.request("textDocument/hover", at(uri, 0, "x in 0..1", "x"))["contents"]["value"]
    )


def test_long_texts_are_answered_at_once() -> None:
    """The statements at a place are found without a walk through all."""
    lines = [f"x{i} in 0..9" for i in range(4000)]
    lines += [f"c{i}: sum(x{i} * j for j in 1..2) <= {i}" for i in range(4000)]
    survey = Survey("\n".join(lines), "t", budget_for(None, 60))
    assert survey.mistakes == []
    begun = time.process_time()
    for line in range(1, 8000, 40):
        assert survey.hover(line, 1) or line > 4000
    assert survey.hover(4001, lines[4000].index("j") + 1) == "```constrint\nj in 1..2\n```"
    assert survey.hover(7000, lines[6999].index("j") + 1) == "```constrint\nj in 1..2\n```"
    assert time.process_time() - begun < 0.5
