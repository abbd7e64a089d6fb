"""The TextMate grammar of the language, which VS Code and others colour texts by; made from the keywords.

A name before a bracket is a function, so a new function changes nothing here.
`python -m constrint.frontends.text.editor_grammar FILE` writes it.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from constrint.expr.written import KEYWORD_SCOPES


def grammar() -> dict[str, Any]:
    """The grammar as a JSON document."""
    keywords = [_rule(scope, rf"\b(?:{'|'.join(words)})\b") for scope, words in KEYWORD_SCOPES.items()]
    patterns = [
        _rule("comment.line.number-sign", r"#.*$"),
        _rule("string.quoted.double", r'"[^"\r\n]*"'),
        _rule("variable.other.quoted", r"`[^`\r\n]+`"),
        _rule(
            "constant.numeric", r"\b(?:0[xX][0-9a-fA-F]+(?:_[0-9a-fA-F]+)*|[0-9]+(?:_[0-9]+)*(?:\.[0-9]+)?)\b"
        ),
        *keywords,
        _rule("entity.name.function", r"\b[^\W\d]\w*(?=\([^()]*\)\s*:=)"),
        _rule("support.function", r"\b[^\W\d]\w*(?=\s*\()"),
        _rule("entity.name.tag", r"\b[^\W\d]\w*(?=\s*:(?!=))"),
        _rule("keyword.operator", r":=|<->|->|\.\.|[=!<>]=|\*\*|//|[<>+\-*/%]"),
        _rule("variable.other", r"\b[^\W\d]\w*\b"),
    ]
    return {
        "$schema": "https://raw.githubusercontent.com/martinring/tmlanguage/master/tmlanguage.json",
        "name": "constrint",
        "scopeName": "source.constrint",
        "fileTypes": ["constrint"],
        "patterns": patterns,
    }


def _rule(scope: str, match: str) -> dict[str, str]:
    return {"name": f"{scope}.constrint", "match": match}


def text() -> str:
    """The grammar as it stands in its file."""
    return json.dumps(grammar(), indent=2) + "\n"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Write the grammar of the constrint language for editors.")
    parser.add_argument("file", type=Path, help="editors/vscode/syntaxes/constrint.tmLanguage.json")
    parser.parse_args().file.write_text(text(), encoding="utf-8")
