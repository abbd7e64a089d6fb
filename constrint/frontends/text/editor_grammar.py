"""The TextMate grammar of the language, which VS Code and others colour texts by; made from the registries.

`python -m constrint.frontends.text.editor_grammar FILE` writes it.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from constrint.expr.written import KEYWORD_SCOPES
from constrint.frontends.text.calls import AGGREGATES, CALLED
from constrint.frontends.text.global_calls import NAMES


def grammar() -> dict[str, Any]:
    """The grammar as a JSON document."""
    functions = sorted({*AGGREGATES, *CALLED, *NAMES})
    keywords = [_rule(scope, rf"\b(?:{'|'.join(words)})\b") for scope, words in KEYWORD_SCOPES.items()]
    patterns = [
        _rule("comment.line.number-sign", r"#.*$"),
        _rule("string.quoted.double", r'"[^"\r\n]*"'),
        _rule("variable.other.quoted", r"`[^`\r\n]+`"),
        _rule("constant.numeric", r"\b(?:0[xX][0-9a-fA-F]+(?:_[0-9a-fA-F]+)*|[0-9]+(?:_[0-9]+)*)\b"),
        *keywords,
        _rule("support.function", rf"\b(?:{'|'.join(functions)})\b(?=\s*\()"),
        _rule("entity.name.function", r"\b[^\W\d]\w*(?=\([^()]*\)\s*:=)"),
        _rule("entity.name.tag", r"\b[^\W\d]\w*(?=\s*:(?!=))"),
        _rule("keyword.operator", r":=|<->|->|\.\.|[=!<>]=|\*\*|//|[<>+\-*%]"),
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
    Path(sys.argv[1]).write_text(text(), encoding="utf-8")
