"""Hints: values that a solution is likely to have."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeAlias

from constrint.errors import ModelError
from constrint.expr import BoolVar
from constrint.expr.array_operators import elements_of
from constrint.expr.arrays import ExprArray
from constrint.modelling.result import Result
from constrint.support.arguments import integer

if TYPE_CHECKING:
    from constrint.modelling.declarations import Declarations

Hint: TypeAlias = "Mapping[Any, Any] | Result"
"""Values by variable or by name, or an earlier result."""


def _elements(item: tuple[object, object]) -> Iterable[tuple[object, object]]:
    """The variables of an array beside its values; any other item by itself."""
    key, value = item
    if not isinstance(key, ExprArray):
        return [item]
    if isinstance(value, Mapping):
        return _labelled(key, value)
    if hasattr(value, "to_numpy"):
        from constrint.expr.alignment import paired

        key, value = paired(key, value)
    flat, shape = elements_of(value) or ([value], ())
    if shape != key.shape:
        raise ModelError(f"the hint of an array of the shape {key.shape} has the shape {shape}")
    return zip(key.flat, flat, strict=True)


def _labelled(key: ExprArray, values: Mapping[object, object]) -> list[tuple[object, object]]:
    """The elements of an array beside the values of their labels."""
    found: list[tuple[object, object]] = []
    for label, value in values.items():
        part = key[label]
        found += _elements((part, value)) if isinstance(part, ExprArray) else [(part, value)]
    return found


def hints_of(model: Declarations, given: Hint) -> dict[str, int]:
    """The hinted values by variable name; raises `ModelError` for other keys and values."""
    if isinstance(given, Result):
        if not given:
            raise ModelError(f"a result without a solution is not a hint: its status is {given.status.value}")
        return {name: value for name, value in given.numbers.items() if name in model.variables}
    if not isinstance(given, Mapping):
        raise ModelError(f"a hint is a mapping of variables to values, such as {{x: 3}}, not {given!r}")
    hints: dict[str, int] = {}
    for key, value in chain.from_iterable(map(_elements, given.items())):
        name = key if isinstance(key, str) else getattr(key, "name", None)
        symbol = model.symbols.get(str(name))
        if symbol is not None and (key is symbol or isinstance(key, str)):
            hints |= symbol.numbers(value)
            continue
        known = model.variables.get(name) if isinstance(name, str) else None
        if known is None or (known is not key and not isinstance(key, str)):
            raise ModelError(
                f"{key!r} is not a variable of this model: hint variables, by themselves or by name"
            )
        hints[known.name] = integer(value, f"the hint of '{name}'")
        if isinstance(known, BoolVar) and hints[known.name] not in (0, 1):
            raise ModelError(f"the hint of '{name}' is {value}: a Boolean variable is 0 or 1")
    return hints
