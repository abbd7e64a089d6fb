"""Parsing by tables gives the same language and the same trees as lark."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from lark.exceptions import UnexpectedInput
from lark.lark import Lark

from constrint.errors import ParseError
from constrint.frontends import parsers as parsers_module
from constrint.frontends.nodes import Node
from constrint.frontends.parsers import parser_of, tables_of
from constrint.frontends.text.syntax import Source, _JoinLines, statements
from constrint.frontends.text.syntax import parser as text_parser
from constrint.support.limits import Budget

ROOT = Path(__file__).resolve().parents[3]
# ruff: noqa: SIM905 - lists of words are easier to read
WORDS = {
    "text": (
        "x y 3 0x1F 1_000 ( ) [ ] { } + - * // % ** == != <= < > -> <-> and or not in .. , : := ; for if "
        "maximize prefer true divides step param enum include bool \"f\" `q` [1,2] \r\n \\\n # @"
    ).split(" "),
    "flatzinc": (
        '[ ] ( ) { } ; : , .. 1 -2 1.5 0x1F x var array of "s" :: true % constraint solve'
    ).split(" "),
}  # fmt: skip


@cache
def sources(language: str) -> list[str]:
    """Texts of the language in this repository."""
    ending = {"text": "constrint", "flatzinc": "fzn"}[language]
    found = sorted({*ROOT.glob(f"kernels/**/*.{ending}"), *ROOT.glob(f"tests/**/*.{ending}")})
    texts = [path.read_text(encoding="utf-8-sig") for path in found]
    return [text for text in texts if len(text) < 8000]


@cache
def parsers(language: str) -> Any:
    """What parses a text by tables, None where there is a mistake in it, and lark's parser of the grammar."""
    if language == "text":
        return by_statements, text_parser()
    return tables_of("flatzinc/flatzinc").parse, parser_of("flatzinc/flatzinc", positions=False)


def by_statements(text: str) -> Node | None:
    """The trees of the statements under one root; None where there is a mistake, which lark finds, too."""
    try:
        return Node("start", [statement.tree for statement in statements(Source(text), Budget())])
    except ParseError:
        return None


def known(parser: Lark, text: str) -> Any:
    """Lark's tree; None if there is a mistake in the text."""
    try:
        return parser.parse(text)
    except UnexpectedInput:
        return None


def check_equal(own: Any, lark: Any, has_places: bool) -> None:
    """Compare two trees, with all places."""
    stack = [(own, lark)]
    while stack:
        one, other = stack.pop()
        if hasattr(other, "children"):
            assert str(one.data) == str(other.data)
            assert len(one.children) == len(other.children)
            stack += zip(one.children, other.children, strict=True)
            if has_places:
                places = [(m.line, m.start_pos, m.end_pos) for m in (one.meta, other.meta)]
                assert places[0] == places[1]
        else:
            assert (str(one), one.type, one.line) == (str(other), other.type, other.line)
            assert (one.start_pos, one.end_pos) == (other.start_pos, other.end_pos)


def broken(rng: random.Random, language: str) -> str:
    """Some lines of a text with words put in and characters left out, or words alone."""
    words = WORDS[language]
    if rng.random() < 0.3:
        return " ".join(rng.choices(words, k=rng.randint(1, 9)))
    lines = rng.choice(sources(language)).split("\n")
    begin = rng.randrange(len(lines))
    text = "\n".join(lines[begin : begin + rng.randint(1, 4)])
    for _ in range(rng.randint(0, 2)):
        place = rng.randrange(len(text) + 1)
        text = text[:place] + rng.choice(words) + text[place + rng.randint(0, 2) :]
    return text


@pytest.mark.parametrize("language", ["text", "flatzinc"])
def test_texts_have_the_same_trees(language: str) -> None:
    parse, lark = parsers(language)
    assert len(sources(language)) >= 5
    for text in sources(language):
        check_equal(parse(text), lark.parse(text), language == "text")


@pytest.mark.parametrize("language", ["text", "flatzinc"])
def test_broken_texts_are_refused_alike(language: str) -> None:
    parse, lark = parsers(language)
    rng = random.Random(31)
    accepted = 0
    for _ in range(1500):
        text = broken(rng, language)
        own, other = parse(text), known(lark, text)
        assert (own is None) == (other is None), text
        if own is not None:
            accepted += 1
            check_equal(own, other, language == "text")
    assert 200 < accepted < 1400


def test_a_long_sum_is_parsed_in_linear_time_and_any_depth() -> None:
    parse, _ = parsers("text")
    tree = parse("y := " + " + ".join(["x"] * 20_000))
    assert len(tree.children[0].children[1].children) == 39_999
    assert parse("y := " + "(" * 5000 + "x" + ")" * 5000) is not None


def test_each_token_is_shown_before_it_is_parsed() -> None:
    seen: list[str] = []

    def watch(token: str) -> None:
        seen.append(str(token))
        if token == "3":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        parsers("flatzinc")[0]("var 3 4", watch)
    assert seen == ["var", "3"]


@pytest.mark.parametrize("content", ["", "[]", '{"grammar": 1}', '{"grammar": "GRAMMAR", "tables": {}}'])
def test_what_is_no_table_is_made_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: str) -> None:
    monkeypatch.setattr(parsers_module, "user_cache", lambda: tmp_path)
    parsers_module.tables_of.cache_clear()
    try:
        expected = parsers_module.tables_of("text/grammar", _JoinLines).parse("x in 1..9")
        (place,) = tmp_path.glob("text-grammar-tables.json")
        grammar = json.loads(place.read_text())["grammar"]
        place.write_text(content.replace('"GRAMMAR"', json.dumps(grammar)))
        parsers_module.tables_of.cache_clear()
        again = parsers_module.tables_of("text/grammar", _JoinLines).parse("x in 1..9")
        check_equal(again, expected, True)
        assert len(place.read_bytes()) > 10_000  # mended
    finally:
        parsers_module.tables_of.cache_clear()


def test_a_text_without_mistakes_is_read_without_lark(tmp_path: Path) -> None:
    program = (
        "import sys; from constrint import Model; m = Model.from_text('x in 1..9; x * x == 9'); "
        "assert m.solve()['x'] == 3; print('lark' in sys.modules)"
    )
    for _ in range(2):  # the first process makes the tables
        said = subprocess.run(
            [sys.executable, "-c", program],
            capture_output=True,
            text=True,
            check=True,
            env={"PATH": "", "XDG_CACHE_HOME": str(tmp_path), "PYTHONPATH": str(ROOT)},
        ).stdout
    assert said == "False\n"
