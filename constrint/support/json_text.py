"""Reading JSON within limits: nesting, digits and size are checked before anything is built."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from constrint.support.limits import Budget, recursion_room

_BRACKETS = re.compile(r'"(?:[^"\\]++|\\.)*+"|[\[{]|[\]}]')
_HALF = re.compile(r"\\u[dD][89a-fA-F]|[\ud800-\udfff]")


def read_json(
    text: str, budget: Budget, pairs: Callable[[list[tuple[str, Any]]], dict[str, Any]] | None = None
) -> Any:
    """The JSON of a text.

    Args:
        text: The JSON.
        budget: The limits of reading.
        pairs: Makes an object from its names and values.

    Returns:
        The value.

    Raises:
        ValueError: The text is not JSON, or a string has a lone surrogate.
    """
    depth = 0
    for match in _BRACKETS.finditer(text):
        budget.look_after()
        bracket = match[0]
        if bracket in ("[", "{"):
            depth += 1
            budget.depth(depth)
        elif bracket in ("]", "}"):
            depth -= 1
    budget.look_after(len(text) // 100)

    def integer(word: str) -> int:
        budget.look_after()
        budget.digits(word)
        return int(word)

    with recursion_room(budget.frames):
        found = json.loads(text, parse_int=integer, object_pairs_hook=pairs)
        if _HALF.search(text):
            json.dumps(found, ensure_ascii=False).encode()
    return found
