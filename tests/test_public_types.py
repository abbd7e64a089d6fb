"""Public signatures say what they take: none has `Any` where a type, a union or `object` says it."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import constrint
import kerneltune

PACKAGES = (constrint, kerneltune)
ANY = re.compile(r"\bAny\b")
ARRAY = re.compile(r"ndarray\[Any, Any\]|NDArray\[Any\]")
KEPT = {
    # Expressions, or arrays of them, by what is reduced; numbers or lists of them, by the shape; as numpy's
    *("ExprArray.dot", "ExprArray.trace"),
    *("ExprArray.tolist", "ExprArray.values"),
    # Integers, fractions, sets, members of enumerations, or tuples of them, by what was asked for
    *(f"Result.{name}" for name in ("values", "items", "to_dict", "get", "objective", "bound", "violation")),
}
FORWARDED = {"read"}  # hands its options on to the reader of a format


def public(package: ModuleType) -> Iterator[tuple[str, object]]:
    """Functions and classes, and the methods and properties of classes, by their names."""
    for name in package.__all__:
        found = getattr(package, name)
        if not inspect.isclass(found):
            yield name, found
            continue
        for base in inspect.getmro(found):
            if base.__module__.partition(".")[0] not in ("constrint", "kerneltune"):
                continue
            yield name, base
            for attribute, value in vars(base).items():
                value = getattr(value, "__func__", getattr(value, "fget", value))
                if not attribute.startswith("_") and inspect.isfunction(value):
                    yield f"{name}.{attribute}", value


def says_any(annotation: object) -> bool:
    """Whether it stands anywhere but for the shape and the type of an array."""
    return bool(ANY.search(ARRAY.sub("", str(annotation))))


def unsaid(name: str, found: object) -> list[str]:
    """The parameters, results and attributes of something public that are `Any`."""
    about = {} if not callable(found) else getattr(inspect.unwrap(found), "__annotations__", {})
    if inspect.isclass(found):
        attributes = {f"{name}.{key}": value for key, value in about.items() if not key.startswith("_")}
        return [key for key, value in attributes.items() if says_any(value) and key not in KEPT]
    return [
        f"{name}: {key}"
        for key, value in about.items()
        if says_any(value)
        and not (key == "return" and name in KEPT)
        and not (key == "options" and name in FORWARDED)
    ]


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.__name__)
def test_no_public_signature_says_any(package: ModuleType) -> None:
    found = [line for name, one in public(package) for line in unsaid(name, one)]
    assert found == []


def test_any_is_found_wherever_it_stands() -> None:
    class Sham:
        kept: int
        grid: np.ndarray[Any, Any]
        wide: Any
        several: list[Any] | None

    def sham(one: int, other: Any) -> Any | None: ...

    assert unsaid("Sham", Sham) == ["Sham.wide", "Sham.several"]
    assert unsaid("sham", sham) == ["sham: other", "sham: return"]
