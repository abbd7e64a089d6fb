"""The cache of parser tables: same trees and messages, and no harm if it cannot be used."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import lark
import pytest
from lark.lark import Lark

from constrint.frontends import parsers
from constrint.frontends.text.syntax import _JoinLines

TEXT = "x in 1..8 step 2  # odd\nbig: 3 <= x ** 2 and not (x == 5\n or x in {7})\nmaximize x"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:  # type: ignore[misc]
    """Where the tables are kept, in a folder of the test's own."""
    monkeypatch.setattr(parsers, "_place", lambda name: tmp_path / "new" / f"{name}.json")
    parsers.parser_of.cache_clear()
    yield tmp_path / "new" / f"text-grammar-lark-{lark.__version__}.json"
    parsers.parser_of.cache_clear()


def parser() -> Lark:
    """The parser as a fresh process would get it."""
    parsers.parser_of.cache_clear()
    return parsers.parser_of("text/grammar", _JoinLines)


def test_the_kept_parser_gives_the_same_trees(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = parser().parse(TEXT)
    assert place.exists()
    monkeypatch.setattr(parsers, "_made", None)  # the second parser is not made
    kept = parser()
    assert kept.parse(TEXT) == made
    assert kept.parse(TEXT).children[1].meta.column == made.children[1].meta.column == 1  # type: ignore[union-attr]
    assert [token.type for token in kept.lex(TEXT, dont_ignore=True)].count("COMMENT") == 1


def test_keeping_the_tables_leaves_the_parser_its_token_filter(place: Path) -> None:
    made = parser()
    assert place.exists()
    assert "_SEP" not in [token.type for token in made.lex("(x\n== 3)")]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{}",
        b"[]",
        b"\xff\xfe",
        b'{"grammar": 1}',
        b"null",
        '{"grammar": "GRAMMAR", "data": {}, "memo": {}}',
    ],
)
def test_what_is_no_table_is_made_anew(place: Path, content: bytes) -> None:
    expected = parser().parse(TEXT)
    if isinstance(content, str):
        grammar = json.loads(place.read_text())["grammar"]
        content = json.dumps({"grammar": grammar, "data": {}, "memo": {}}).encode()
    place.write_bytes(content)
    assert parser().parse(TEXT) == expected
    assert len(place.read_bytes()) > 10_000  # mended


def test_tables_of_another_grammar_are_not_used(place: Path) -> None:
    expected = parser().parse(TEXT)
    kept = json.loads(place.read_text())
    place.write_text(json.dumps({**kept, "grammar": kept["grammar"] + "\n// older", "memo": {}}))
    assert parser().parse(TEXT) == expected


def test_a_folder_that_cannot_be_written_is_no_obstacle(place: Path) -> None:
    place.parent.parent.joinpath("new").write_text("a file in the way")
    assert parser().parse(TEXT).children
    assert place.parent.is_file()


def test_messages_are_the_same_with_kept_tables(tmp_path: Path) -> None:
    code = "from constrint import Model; Model.from_text('bm in 1..64; bm x == 3')"
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path)}
    messages = [
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment).stderr
        for _ in range(2)
    ]
    assert "a product is written bm * x" in messages[0]
    assert messages[0] == messages[1]
    assert list(tmp_path.glob("constrint/text-grammar-lark-*.json"))
