"""The constants that a constraint file may use, of which it has to use none."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TypeVar

Value = TypeVar("Value")
_WORD = re.compile(r"\w+")


def named_in(text: str, offered: Mapping[str, Value]) -> dict[str, Value]:
    """Those of the offered constants that a text names: constrint refuses ones without a use."""
    words = set(_WORD.findall(re.sub(r"#.*", "", text)))
    return {name: value for name, value in offered.items() if name in words}
