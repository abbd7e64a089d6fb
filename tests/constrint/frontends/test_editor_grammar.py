"""The TextMate grammar has the words of the language, and marks each token as what it is."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from constrint.expr.written import KEYWORDS
from constrint.frontends.text.calls import AGGREGATES, CALLED
from constrint.frontends.text.editor_grammar import grammar, text
from constrint.frontends.text.global_calls import NAMES
from constrint.frontends.text.syntax import parser

FOLDER = Path(__file__).parents[3] / "editors" / "vscode"
COMMAND = (
    "python -m constrint.frontends.text.editor_grammar editors/vscode/syntaxes/constrint.tmLanguage.json"
)


def test_the_file_is_what_the_language_says() -> None:
    kept = (FOLDER / "syntaxes" / "constrint.tmLanguage.json").read_text(encoding="utf-8")
    assert kept == text(), f"run {COMMAND}"


def scope_of(line: str, word: str) -> str:
    """The scope of the first rule that matches at the word, where the line is read from the left."""
    rules = [(rule["name"], re.compile(rule["match"])) for rule in grammar()["patterns"]]
    place, wanted = 0, line.index(word)
    while place < len(line):
        found = [
            (match.start(), order, name, match)
            for order, (name, rule) in enumerate(rules)
            if (match := rule.search(line, place)) and match.end() > match.start()
        ]
        if not found:
            return ""
        start, _, name, match = min(found, key=lambda one: one[:2])
        if start <= wanted < match.end():
            return name.removesuffix(".constrint")  # type: ignore[no-any-return]
        place = match.end()
    return ""


@pytest.mark.parametrize("word", sorted(KEYWORDS))
def test_keywords(word: str) -> None:
    assert scope_of(f"x {word} y", word).startswith(("keyword", "storage", "constant"))
    assert scope_of(f"zz{word} y", word) == "variable.other"
    assert scope_of(f"`{word}` y", word) == "variable.other.quoted"
    assert scope_of(f"y # {word}", word) == "comment.line.number-sign"


@pytest.mark.parametrize("name", [*AGGREGATES, *CALLED, *NAMES])
def test_functions(name: str) -> None:
    assert scope_of(f"y == {name}(x)", name) == "support.function"
    assert scope_of(f"y == {name} + x", name) == "variable.other"


@pytest.mark.parametrize(
    ("line", "word", "scope"),
    [
        ("x in 0x1F..2_000", "0x1F", "constant.numeric"),
        ("x in 0x1F..2_000", "2_000", "constant.numeric"),
        ("x in 0x1F..2_000", "..", "keyword.operator"),
        ("b -> x // 2 ** 3", "->", "keyword.operator"),
        ("b -> x // 2 ** 3", "//", "keyword.operator"),
        ('include "a.constrint"', '"a', "string.quoted.double"),
        ("area(a, b) := a * b", "area", "entity.name.function"),
        ("y == area(3, 4) + 1", "area", "support.function"),
        ("rows: x == 3", "rows", "entity.name.tag"),
        ("rows := 3", "rows", "variable.other"),
    ],
)
def test_tokens(line: str, word: str, scope: str) -> None:
    assert scope_of(line, word) == scope


def test_the_extension_names_its_files() -> None:
    package = json.loads((FOLDER / "package.json").read_text(encoding="utf-8"))
    contributed = package["contributes"]
    paths = [
        package["main"],
        contributed["grammars"][0]["path"],
        contributed["languages"][0]["configuration"],
    ]
    assert all((FOLDER / path).is_file() for path in paths)
    json.loads((FOLDER / "language-configuration.json").read_text(encoding="utf-8"))


def test_every_word_of_the_grammar_is_a_keyword() -> None:
    patterns = [terminal.pattern for terminal in parser().terminals]
    words = {pattern.value for pattern in patterns if pattern.type == "str" and pattern.value.isidentifier()}
    assert words == KEYWORDS, "the words of grammar.lark stand in KEYWORD_SCOPES"
