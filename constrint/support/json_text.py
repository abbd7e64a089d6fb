"""From JSON text to its document, within limits and with errors that name the place."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from typing import Any

from constrint.errors import ModelError, ParseError, shown
from constrint.support.limits import Budget, exceeded, recursion_room

MOST_LEVELS = 5_000
"""Deeper nesting might overflow the machine stack in the parser of Python's library."""
_BRACKETS = re.compile(r'"(?:[^"\\]++|\\.)*+"|[\[{]|[\]}]', re.DOTALL)
_HALF = re.compile(r"\\u[dD][89a-fA-F]|[\ud800-\udfff]")


class _RepeatedError(ValueError):
    """A name occurs twice in one object."""


def read_json(
    text: str,
    filename: str,
    budget: Budget,
    *,
    number: Callable[[str], object] | None = None,
    levels: int = 1,
    is_text: bool = True,
) -> object:
    """The document of a text.

    Args:
        text: The JSON.
        filename: Its name in messages.
        budget: The limits of reading.
        number: Converts a number with a fraction or exponent, NaN and Infinity; it may raise `ValueError`
            with a message. They become floats by default.
        levels: Levels of JSON for one of the limit of depth.
        is_text: Whether strings with lone surrogates are refused.

    Raises:
        ParseError: The text is not JSON.
        ModelError: A name occurs twice in one object, a string is no text, or `number` refused.
        LimitExceeded: The text exceeds a limit.
    """
    _check_depth(text, filename, budget, levels)
    budget.count_steps(len(text) // 100)
    most = budget.limits.digits

    def integer(digits: str) -> int:
        budget.count_steps()
        if most is not None and len(digits) > most:
            budget.digits(len(digits.lstrip("-")), lambda: _place(text, max(text.find(digits), 0), filename))
        return int(digits)

    def pairs(members: list[tuple[str, Any]]) -> dict[str, Any]:
        budget.count_steps(len(members))
        found = dict(members)
        if len(found) < len(members):
            twice = Counter(name for name, _ in members).most_common(1)[0][0]
            raise _RepeatedError(f"the name '{shown(twice)}' occurs twice in one object")
        return found

    try:
        with recursion_room(MOST_LEVELS + 100):
            found = json.loads(
                text, parse_float=number, parse_constant=number, parse_int=integer, object_pairs_hook=pairs
            )
            if is_text and _HALF.search(text):
                json.dumps(found, ensure_ascii=False).encode()
    except json.JSONDecodeError as error:
        raise ParseError(
            f"this is not JSON: {error.msg}",
            filename=filename,
            line=error.lineno,
            column=error.colno,
            source_line=text.split("\n")[error.lineno - 1],
        ) from None
    except UnicodeEncodeError:
        raise ModelError(f"{filename}: a string has a lone surrogate, which is not a character") from None
    except ValueError as error:
        raise ModelError(f"{filename}: {shown(str(error))}") from None
    return found


def _check_depth(text: str, filename: str, budget: Budget, levels: int) -> None:
    """Refuse too deep nesting, at its bracket, before anything is built."""
    limit = budget.limits.depth
    most = MOST_LEVELS if limit is None else min(levels * limit, MOST_LEVELS)
    depth = 0
    for found in _BRACKETS.finditer(text):
        budget.count_steps()
        bracket = found[0]
        depth += (bracket in "[{") - (bracket in "]}")
        if depth > most:
            named = MOST_LEVELS if limit is None else min(limit, MOST_LEVELS)
            raise exceeded("depth", named, _place(text, found.start(), filename))


def _place(text: str, start: int, filename: str) -> str:
    """A place of a text in messages."""
    return f"{filename}:{text.count(chr(10), 0, start) + 1}:{start - text.rfind(chr(10), 0, start)}"
