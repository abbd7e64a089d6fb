"""Rules for the values of options that Python code gives: a wrong one is named at once, with what it must be.

A rule takes a value and gives None, or what the value must be.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

from kerneltune.errors import InputError

Rule = Callable[[object], str | None]
LONGEST_SHOWN = 80  # most characters shown of a wrong value


def check(values: Mapping[str, object], rules: Mapping[str, Rule]) -> None:
    """Check named values, each by the rule of its name.

    Raises:
        InputError: A value breaks its rule.
    """
    for name, value in values.items():
        wanted = rules[name](value) if name in rules else None
        if wanted is not None:
            shown = repr(value)
            shown = shown if len(shown) <= LONGEST_SHOWN else f"{shown[:LONGEST_SHOWN]}…"
            raise InputError(f"{name} is {shown}, but must be {wanted}")


def plain(values: Mapping[str, Any]) -> dict[str, Any]:
    """The values, NumPy's numbers as Python's, which JSON can keep."""
    return {name: value.item() if _is_scalar(value) else value for name, value in values.items()}


def flag(value: object) -> str | None:
    """True or False."""
    return None if isinstance(value, bool) else "True or False"


def text(value: object) -> str | None:
    """A text that is not empty."""
    return None if isinstance(value, str) and value.strip() else "a text"


def any_text(value: object) -> str | None:
    """A text, which may be empty."""
    return None if isinstance(value, str) else "a text"


def path(value: object) -> str | None:
    """A path, as text or as an object."""
    return None if isinstance(value, str | os.PathLike) and bool(os.fspath(value)) else "a file's path"


def function(value: object) -> str | None:
    """Anything that can be called."""
    return None if callable(value) else "a function"


def mapping(value: object) -> str | None:
    """A mapping from names to values."""
    fits = isinstance(value, Mapping) and all(isinstance(key, str) for key in value)
    return None if fits else "a mapping from names to values, such as a dict"


def iterable(value: object) -> str | None:
    """Values in an order; a text is one value."""
    return None if isinstance(value, Iterable) else "a list of values"


def whole(least: int) -> Rule:
    """A whole number that is not less than another."""

    def rule(value: object) -> str | None:
        fits = isinstance(value, int) and not isinstance(value, bool) and value >= least
        return None if fits else f"a whole number of {least} or more"

    return rule


def number(least: float, above: bool = False) -> Rule:
    """A finite number that is not less than another, or greater than it."""

    def rule(value: Any) -> str | None:
        fits = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
        if fits and (value > least if above else value >= least):
            return None
        return f"a number above {least:g}" if above else f"a number of {least:g} or more"

    return rule


def optional(rule: Rule) -> Rule:
    """None, or what another rule allows."""
    return lambda value: None if value is None else _or(rule(value), "None")


def either(*rules: Rule) -> Rule:
    """A rule that allows a value that any of some rules allows."""

    def rule(value: object) -> str | None:
        wanted = [one(value) for one in rules]
        return None if None in wanted else " or ".join(one for one in wanted if one is not None)

    return rule


def each(rule: Rule) -> Rule:
    """A collection of what a rule allows; a text is none."""

    def of_all(value: object) -> str | None:
        if isinstance(value, str | bytes | Mapping) or not isinstance(value, Collection):
            return "a list"
        wanted = next((found for found in map(rule, value) if found is not None), None)
        return None if wanted is None else f"a list of values, of which each is {wanted}"

    return of_all


def values_of(rule: Rule) -> Rule:
    """A mapping from names to what a rule allows."""

    def of_all(value: Any) -> str | None:
        wanted = mapping(value)
        if wanted is not None:
            return wanted
        found = next((found for found in map(rule, value.values()) if found is not None), None)
        return None if found is None else f"a mapping in which each value is {found}"

    return of_all


def with_methods(*names: str) -> Rule:
    """An object with some methods."""

    def rule(value: object) -> str | None:
        fits = all(callable(getattr(value, name, None)) for name in names)
        return None if fits else f"an object with {' and '.join(f'`{name}`' for name in names)}"

    return rule


def with_some_of(*names: str) -> Rule:
    """A class or an object with at least one of some methods."""

    def rule(value: object) -> str | None:
        fits = any(callable(getattr(value, name, None)) for name in names)
        return (
            None if fits else f"a class or an object with one of {', '.join(f'`{name}`' for name in names)}"
        )

    return rule


def instance(kind: type) -> Rule:
    """An object of a class."""
    return lambda value: None if isinstance(value, kind) else f"a `{kind.__name__}`"


def anything(value: object) -> str | None:
    """No rule: the value is checked where it is read."""
    return None


def _is_scalar(value: object) -> bool:
    return (
        type(value).__module__ == "numpy" and getattr(value, "shape", None) == () and hasattr(value, "item")
    )


def _or(wanted: str | None, other: str) -> str | None:
    return None if wanted is None else f"{wanted}, or {other}"
