"""Python expressions as syntax trees, within limits; nothing is evaluated."""

from __future__ import annotations

import ast
import re
import warnings

from constrint.errors import ModelError
from constrint.support.limits import Budget

_TOKENS = re.compile(
    r"(?P<text>'(?:[^'\\\n]++|\\.)*+'|\"(?:[^\"\\\n]++|\\.)*+\")|(?P<number>[0-9][0-9_]*)|[\[({]|[\])}]"
)
_WARNED_OF = re.compile(r"[0-9.][^\W\d]|\\")  # numbers that end in a word, and escapes
_SHORT = 18  # digits; shorter numbers are not counted


def parsed(text: str, what: str, budget: Budget | None = None) -> ast.expr:
    """The syntax tree of one expression.

    Args:
        text: The expression; several lines count as one.
        what: Start of the message for invalid text.
        budget: The limits of reading; the usual ones by default.

    Returns:
        The tree.

    Raises:
        ModelError: The text is not an expression, or is nested too deeply.
    """
    budget = budget or Budget()
    depth = 0
    for match in _TOKENS.finditer(text):
        token = match[0]
        if token in ("[", "(", "{"):
            depth += 1
            budget.depth(depth, what)
        elif token in ("]", ")", "}"):
            depth -= 1
        elif match["number"] and len(token) > _SHORT:
            budget.digits(token, what)
    budget.node(len(text) // 8, what)
    line = text.strip().replace("\n", " ")
    try:
        if not _WARNED_OF.search(line):
            return ast.parse(line, mode="eval").body
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # `1is 2` and the like are refused by name later
            return ast.parse(line, mode="eval").body
    except SyntaxError as problem:
        raise ModelError(f"{what}: {problem.msg}") from problem
    except ValueError as problem:  # a NUL character, or a lone surrogate
        raise ModelError(f"{what}: {ascii(str(problem))[1:-1]}") from problem
    except (RecursionError, MemoryError):
        raise ModelError(f"{what}: it is nested too deeply") from None


def shortened(text: str) -> str:
    """A text for a message."""
    return ascii(text) if len(text) <= 60 else f"{ascii(text[:59])[:-1]}…'"
