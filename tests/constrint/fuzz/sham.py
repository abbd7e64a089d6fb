"""A format that violates the whole contract: the harness must report it."""

from __future__ import annotations

from typing import Any

from constrint.errors import ModelError
from fuzz.harness import NAME, Format


def read(data: bytes) -> list[bytes]:
    """What the input says."""
    word = data.decode()
    if word == "loop":
        while True:
            pass
    if word == "large":
        return [b"x" * 1000] * 10**9
    if word == "traceback":
        raise ValueError(word)
    if word == "nowhere":
        raise ModelError("something is wrong")
    if word == "surrogate":
        raise ModelError(f"{NAME}:1: \ud800")
    if word == "refused":
        raise ModelError(f"{NAME}:1: no")
    return []


def use(given: list[bytes]) -> None:
    """Nothing."""


def grammar() -> Any:
    """Inputs that are accepted."""
    from hypothesis import strategies as st

    return st.text("ab")


FORMAT = Format("fuzz.sham", read, use, grammar, ("word",))
