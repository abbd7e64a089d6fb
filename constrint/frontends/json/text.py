"""From JSON text to its document, with the limits and with errors that name the place."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from constrint.errors import ModelError, ParseError, shown
from constrint.support.limits import Budget, LimitExceeded, exceeded, recursion_room

DEEPEST = 5_000
"""Deeper nesting might overflow the machine stack in the parser of Python's library."""
_NESTING = re.compile(r'"(?:[^"\\]|\\.)*+"|[\[{]|[\]}]', re.DOTALL)


class _TwiceError(ValueError):
    """A name occurs twice in one object."""


def parsed(text: str, filename: str, budget: Budget, number: Callable[[str], Any]) -> Any:
    """The document of a text.

    Args:
        text: The text.
        filename: Its name in messages.
        budget: The limits of reading.
        number: Converts a number with a fraction or exponent, NaN and Infinity; it may raise `ValueError`
            with a message.

    Raises:
        ParseError: The text is not JSON.
        ModelError: A name occurs twice in one object, or `number` refused.
    """
    most = budget.limits.digits

    def integer(digits: str) -> int:
        budget.look_after()
        if most is not None and len(digits) > most:
            budget.digits(len(digits.lstrip("-")), lambda: _place(text, digits, filename))
        return int(digits)

    def pairs(members: list[tuple[str, Any]]) -> dict[str, Any]:
        budget.look_after(len(members))
        found = dict(members)
        if len(found) < len(members):
            names = [name for name, _ in members]
            twice = next(name for name in names if names.count(name) > 1)
            raise _TwiceError(f"the name '{shown(twice)}' occurs twice in one object")
        return found

    limit = budget.limits.depth
    try:
        with recursion_room(DEEPEST if limit is None else min(4 * limit, DEEPEST)):
            return json.loads(
                text, parse_float=number, parse_constant=number, parse_int=integer, object_pairs_hook=pairs
            )
    except json.JSONDecodeError as error:
        raise ParseError(
            f"this is not JSON: {error.msg}",
            filename=filename,
            line=error.lineno,
            column=error.colno,
            source_line=text.split("\n")[error.lineno - 1],
        ) from None
    except RecursionError:
        raise _too_deep(text, filename, limit) from None
    except ValueError as error:
        raise ModelError(f"{filename}: {shown(str(error))}") from None


def _place(text: str, digits: str, filename: str) -> str:
    start = max(text.find(digits), 0)
    return f"{filename}:{text.count(chr(10), 0, start) + 1}:{start - text.rfind(chr(10), 0, start)}"


def _too_deep(text: str, filename: str, limit: int | None) -> LimitExceeded:
    """The error for too deep nesting, placed at the bracket."""
    most = DEEPEST if limit is None else min(limit, DEEPEST)
    depth = 0
    for found in _NESTING.finditer(text):
        bracket = found.group()
        depth += (bracket in "[{") - (bracket in "]}")
        if depth > most:
            line = text.count("\n", 0, found.start()) + 1
            column = found.start() - text.rfind("\n", 0, found.start())
            return exceeded("depth", most, f"{filename}:{line}:{column}")
    return exceeded("depth", most, filename)
